/*
 * The text of a configuration as a tree of items, each with the line that it stands on.
 *
 *	name = value
 *	name = {value, "another value"}
 *	name { ...items... }
 *	name title { ...items... }
 *
 * A value is a word or is written in quotes.  `#` and `//` begin a comment that ends with the line;
 * a comment between slash-star and star-slash may be longer.  Line ends mean nothing else.
 *
 * This file knows what the text looks like and nothing about settings; config_keys.c has those.
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
	const char *title; /* of a section; "" without one */
	unsigned line;
	enum config_shape shape;
	const struct config_value *values; /* in their order */
	unsigned value_count;
	struct config_item *items; /* of a section, in their order */
	struct config_item *next;
	uint64_t number; /* config_keys.c: its value, where the setting is a number */
};

/*
 * Gives a section without a name that holds the items of the whole text, all of it in `arena`; or NULL
 * with an err that begins with "line N: ".
 */
struct config_item *config_text_read(struct arena *arena, const char *text, struct err *err);
