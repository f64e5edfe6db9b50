/*
 * What a program displays, beside its output: the value of its last expression, and what it passes
 * to display().
 *
 * A program sends items, one msgpack map after the other: {main: bool, data: {type: content}}.
 * `main` marks the value of the last expression.  `data` has the same content in several media
 * types, such as text/plain and image/png; whoever shows it chooses one.  Content is str or bin.
 * That of application/json and of types that end with +json is any value without bin.
 *
 * The program may send anything.  So a list says nothing but what the program says of itself, and
 * everything in it is hostile: see docs/THREATS.md.
 */
#pragma once

#include "proto/job/job.h"

#define JOB_DISPLAY_ITEMS_MAX 256
#define JOB_DISPLAY_TYPES_MAX 16  /* of one item */
#define JOB_DISPLAY_DEPTH_MAX 16  /* lists and maps inside one another, the item included */
#define JOB_DISPLAY_NAME_MAX  127 /* bytes of a type */
/* of all JSON values: as text in the store they may take six times as much */
#define JOB_DISPLAY_JSON_MAX  ((size_t)8 << 20)

/*
 * Reads items into result->display.  The first one that cannot be read ends the list and sets
 * display_broken.  `cut`: bytes are missing at the end because of a limit, so half an item is no
 * fault of the program.  A list that is not all sets display_truncated.
 *
 * Values point into `bytes`, which must live as long as the result.  The function writes to them
 * and to bytes[len].  The arena bounds the memory of the values; when it is full, the rest counts
 * as unreadable.
 */
void job_display_read(
	struct arena *arena, char *bytes, size_t len, bool cut, struct job_result *result);

/* A media type without parameters, in small letters. */
bool job_display_is_type(const char *type, size_t len);

/* Whether the content of this type is a JSON value. */
bool job_display_is_json(const char *type);

/*
 * The list of a record without what only records have.  Gives NULL when the record has none, or
 * the arena is full.
 */
const struct value *job_display_of_record(struct arena *arena, const struct value *list);

/* How many bytes a list or an item has, roughly.  NULL has none. */
size_t job_display_bytes(const struct value *display);
