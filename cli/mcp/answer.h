/*
 * The answer to a call of a tool: a short text for a model, the same facts as structured content,
 * and pictures.
 *
 * What a program wrote is hostile.  Every text of it goes through safe_append(), so that nothing
 * in it is invisible, and is cut to a head and a tail.
 */
#pragma once

#include <stdbool.h>

#include "proto/base/buf.h"
#include "proto/fill.h"
#include "proto/value.h"

struct answer {
	struct arena *arena;
	struct buf text;
	struct fill facts;      /* the structured content */
	struct value *pictures; /* content items of their own */
	size_t picture_bytes;
	bool failed; /* isError */
};

void answer_init(struct answer *answer, struct arena *arena);
void answer_done(struct answer *answer);

/* Adds to the text.  A %s from outside must be output_text(). */
void answer_say(struct answer *answer, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Adds a safe copy of a fact; nothing for NULL and nil. */
void answer_put(struct answer *answer, const char *key, const struct value *value);

/*
 * A safe text of what a program wrote: the head of `front`, and the end of `tail`, which may be
 * NULL, or else of `front`.  `total` bytes were there.  *ret_cut: some of them are left out.
 */
const char *answer_shorten(struct arena *arena, const struct value *front, const struct value *tail,
	int64_t total, bool *ret_cut);

/* Adds a picture if it is one that models read; says so if it is too large or one too many. */
bool answer_picture(struct answer *answer, const char *type, const struct value *bytes);

/* Any bytes as text that can be read and does nothing; see safe_append(). */
struct value *answer_safe(struct arena *arena, const char *bytes, size_t len);

/* Bytes as base64 text. */
struct value *answer_base64(struct arena *arena, const void *bytes, size_t len);

/* {content, structuredContent?, isError}, or NULL without memory. */
struct value *answer_finish(struct answer *answer);

/* The same for a failure that has only a text. */
struct value *answer_failure(struct arena *arena, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
