/*
 * Parses the text of a configuration into a tree of items, each with its line.
 *
 *	name = value
 *	name = {value, "another value"}
 *	name { ...items... }
 *	name title { ...items... }
 *
 * A value is a word or a text in quotes.  `#` and `//` begin a comment that ends with the line.  A
 * comment between slash-star and star-slash may be longer.
 *
 * A value or a title must be on the line of its name.  Otherwise a line end has no meaning.
 *
 * This module knows the syntax but no settings; setting.h has those.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/err.h"

#define CONFIG_DEPTH_MAX 8 /* sections within sections */

struct config_value {
	const char *text;
	unsigned line;
	const struct config_value *next;
};

enum config_shape {
	CONFIG_IS_VALUE,
	CONFIG_IS_LIST,
	CONFIG_IS_SECTION,
};

struct config_item {
	const char *name;
	const char *title; /* of a section; "": it has none */
	unsigned file;     /* index of the file, which config_file.c sets */
	unsigned line;
	enum config_shape shape;
	const struct config_value *values; /* in the order of the text */
	unsigned value_count;
	struct config_item *items; /* of a section, in the order of the text */
	struct config_item *next;
	uint64_t number; /* set by setting_check() where the setting is a number */
};

/*
 * Returns a section without a name that holds all items of the text.  All memory is in `arena`.
 * NULL: the text is invalid, and *err begins with "line N: ".
 */
struct config_item *config_text_read(struct arena *arena, const char *text, struct err *err);
