/*
 * Regular expressions with a work limit.  Only pattern.c uses PCRE2.
 *
 * The dialect is that of JSON Schema: ECMAScript with the `u` flag, as far as PCRE2 supports it.
 * Patterns are not anchored.  Known differences: \s and \S cover ASCII only.  \p{...} supports only
 * PCRE2's own names, such as \p{Lu}, and the long names of general categories.  [:alpha:] in a class
 * is PCRE2's.  `.` matches U+2028 and U+2029.  [] with a quantifier matches nothing.  A group in a group
 * that is repeated keeps what it matched before.  What ECMAScript does not have is refused where it would
 * change what the pattern means (ecmascript.h), and so are its pairs of surrogates, lookbehinds without a
 * fixed length, and [^\W\p{Lu}].
 *
 * The matcher counts its work, by place in the pattern and by distance in the text.  So the result
 * does not depend on the clock.  When the budget is used up, the search gives up, and the caller
 * must take the unsafe case as the answer.
 *
 * A compiled pattern lives in its arena and may be used by several threads at once.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/err.h"

#define PATTERN_LEN_MAX          1024
/*
 * A pattern with back references can take very long, so it only searches texts up to this length.
 */
#define PATTERN_BACKREF_TEXT_MAX 4096

struct pattern;

enum pattern_answer {
	PATTERN_NO,
	PATTERN_YES,
	PATTERN_GAVE_UP,
	PATTERN_NO_MEMORY,
	PATTERN_BEGUN, /* only from pattern_in_bytes(): the bytes end inside a possible match */
};

/*
 * Compiles into the arena.  Fails with ERR_INVALID and the place of the mistake, or with
 * ERR_MEMORY.
 */
int pattern_compile(struct arena *arena, const char *text, size_t len,
	const struct pattern **ret_pattern, struct err *err);

/* Returns the bytes that the pattern takes in the arena. */
size_t pattern_size(const struct pattern *pattern);

/*
 * Searches valid UTF-8 for the pattern.  Subtracts the cost from *work (one unit is about 50 ns,
 * and 250 ns in the costliest patterns that we know).
 * When *work is too small, gives up and sets *work to 0.
 */
enum pattern_answer pattern_search(
	const struct pattern *pattern, const char *text, size_t len, uint64_t *work);

/*
 * As pattern_compile(), for arbitrary bytes and in Perl's dialect.  `.`, classes and counts are
 * about bytes.  \K excludes the text before it from the match.
 */
int pattern_compile_bytes(struct arena *arena, const char *text, size_t len,
	const struct pattern **ret_pattern, struct err *err);

/* The bytes of a text from `start` up to, but not including, `end`. */
struct pattern_span {
	size_t start;
	size_t end;
};

/* As pattern_search(), from span->end on.  On PATTERN_YES *span is the match. */
enum pattern_answer pattern_find(const struct pattern *pattern, const char *text, size_t len,
	struct pattern_span *span, uint64_t *work);

/* How to search bytes for a pattern.  Flags can be combined with |. */
enum pattern_look {
	PATTERN_ANYWHERE = 0,
	PATTERN_HERE = 1, /* it must begin at span->end */
	PATTERN_IS_CUT =
		2, /* more bytes followed these: a match that may continue there is PATTERN_BEGUN */
};

/*
 * As pattern_find(), with a pattern from pattern_compile_bytes().  The match begins at span->start
 * or earlier.
 */
enum pattern_answer pattern_in_bytes(const struct pattern *pattern, const char *bytes, size_t len,
	unsigned look, struct pattern_span *span, uint64_t *work);
