/*
 * Regular expressions with a work limit.  The only file that knows PCRE2 is pattern.c.
 *
 * The dialect is that of JSON Schema: ECMAScript's with the `u` flag as far as PCRE2 can give it;
 * a pattern is searched for, not anchored.  Known differences: \s and \S look at ASCII only, and
 * \p{...} knows PCRE2's short names (\p{Lu}), not the long ones.
 *
 * Work is counted while the expression runs, by place in the pattern and by distance in the text,
 * so a verdict does not depend on the clock; when the budget is spent the search gives up, and the
 * caller takes that for the unsafe answer.
 *
 * A compiled pattern lives in its arena and may be used by several threads at once.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/err.h"

#define PATTERN_LEN_MAX          1024
/* A pattern that refers back to a group can compare without end: it sees only so long a text. */
#define PATTERN_BACKREF_TEXT_MAX 4096

struct pattern;

enum pattern_answer {
	PATTERN_NO,
	PATTERN_YES,
	PATTERN_GAVE_UP,
	PATTERN_BEGUN, /* pattern_in_bytes() alone: as far as the bytes go, and they end too early */
};

/* Compiles into the arena.  ERR_INVALID with the place when it is no pattern, ERR_MEMORY. */
int pattern_compile(struct arena *arena, const char *text, size_t len,
	const struct pattern **ret_pattern, struct err *err);

/* What it takes of the arena. */
size_t pattern_size(const struct pattern *pattern);

/*
 * Looks for the pattern in valid UTF-8.  Takes what it costs from *work (one unit is some 50 ns)
 * and gives up when that is not enough; *work is then 0.
 */
enum pattern_answer pattern_search(
	const struct pattern *pattern, const char *text, size_t len, uint64_t *work);

/*
 * The same for bytes of any kind, in Perl's dialect: `.`, classes and counts are about bytes, and \K
 * leaves out what stands before it.
 */
int pattern_compile_bytes(struct arena *arena, const char *text, size_t len,
	const struct pattern **ret_pattern, struct err *err);

/* Bytes of a text, from `start` up to and without `end`. */
struct pattern_span {
	size_t start;
	size_t end;
};

/* As pattern_search(), from span->end on; on PATTERN_YES *span is what was found. */
enum pattern_answer pattern_find(const struct pattern *pattern, const char *text, size_t len,
	struct pattern_span *span, uint64_t *work);

/* How to look for a pattern in bytes; may be joined with |. */
enum pattern_look {
	PATTERN_ANYWHERE = 0,
	PATTERN_HERE = 1, /* it must begin at span->end */
	PATTERN_IS_CUT =
		2, /* more bytes stood behind these: what may be a beginning is PATTERN_BEGUN */
};

/*
 * As pattern_find(), with a pattern of pattern_compile_bytes().  What is found begins no later than
 * at span->start.
 */
enum pattern_answer pattern_in_bytes(const struct pattern *pattern, const char *bytes, size_t len,
	unsigned look, struct pattern_span *span, uint64_t *work);
