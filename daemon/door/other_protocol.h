/*
 * Detects clients that do not speak MessagePack-RPC: HTTP, JSON or typed text.  A request never
 * begins with a text character, so the first byte of a client decides.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "proto/base/buf.h"

bool other_protocol_is_text(const char *bytes, size_t len);

/*
 * Appends one line that names the protocol, in a format that the client shows its user.  Returns -1
 * without memory.
 */
int other_protocol_answer(const char *bytes, size_t len, struct buf *buf);
