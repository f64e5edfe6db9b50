/*
 * Masks secrets in the texts of one request: those that the caller named (encodings.h) and those that patterns
  * recognise (pattern_book.h). A secret is replaced by "[masked:NAME]", NAME being
 * the pattern, or "secret" for one that was named; line breaks in it stay, so that line numbers
 * keep their meaning.
 *
 * A text without secrets is not copied. A text that cannot be masked for lack of memory is withheld. Patterns
  * have a budget of work: when it is used up, everything from the word of a pattern to the next space is
  * masked. Secrets have a budget too, since they have thousands of encodings: when it is used up, the rest of
  * the text is masked.
 */
#pragma once

#include "daemon/redact/pattern_book.h"

#define REDACT_WORK_SHORT UINT64_C(20000)   /* of patterns: about a millisecond, in the loop */
#define REDACT_WORK_LONG  UINT64_C(4000000) /* 0.2 s, on a thread */
#define REDACT_LOOKS      UINT64_C(16)      /* of secrets, for each of work: about as long */

/* Where a text ends in the midst of something; may be joined with |. */
enum redact_cut {
	REDACT_CUT_FRONT = 1,
	REDACT_CUT_END = 2,
};

struct redactor {
	const struct pattern_book *book;
	const struct multi_match *secrets; /* or NULL */
	struct arena *arena;
	uint64_t work;  /* left to patterns */
	uint64_t looks; /* and to secrets */
	uint64_t masks;
	bool spent; /* the budget was used up: more was masked than necessary */
};

/* Keeps all three; `secrets` may be NULL.  With REDACT_WORK_LONG. */
void redactor_init(struct redactor *redactor, const struct pattern_book *book,
	const struct multi_match *secrets, struct arena *arena);

/* Sets the budget from here on. */
void redactor_allow(struct redactor *redactor, uint64_t work);

/* Each replaces what it is given where there is something to mask, and returns true then. */
bool redact_bytes(struct redactor *redactor, struct bytes *bytes, unsigned cut);
bool redact_text(struct redactor *redactor, const char **text, unsigned cut);

/*
 * Masks these bytes, which continue `in_front` bytes that stand before them and are not kept.
 */
bool redact_behind(struct redactor *redactor, struct bytes *bytes, size_t in_front, unsigned cut);

/* Keys and texts of a tree. */
const struct value *redact_value(struct redactor *redactor, const struct value *value);

/* The same with the patterns alone, and REDACT_WORK_SHORT. */
const struct value *redact_by_patterns(
	const struct pattern_book *book, struct arena *arena, const struct value *value);
