/*
 * What a process of a shell displays (ced-display): a media type, NUL, its content.
 *
 * It becomes an item as harnesses send them (docs/decisions/0094-display.md), so everything behind
 * this knows one format.
 */
#pragma once

#include <stddef.h>

#include "proto/base/arena.h"
#include "proto/base/buf.h"

/* JSON is read in the loop, so it has a bound of its own. */
#define SHELL_DISPLAY_JSON_MAX ((size_t)256 << 10)

/* Appends the item.  NULL, or why this is none; the sentence may be in the arena. */
const char *shell_display_write(
	struct arena *arena, const char *body, size_t len, struct buf *ret_item);
