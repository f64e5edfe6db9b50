/*
 * Masks secrets in one request's texts: those that the caller named (forms.h) and what the house's
 * patterns recognise (pattern_book.h).  In the place of a secret stands "[masked:NAME]", NAME being
 * the pattern, or "secret" for one that was named; line breaks in it stay, so that line numbers
 * keep their meaning.
 *
 * What has nothing to mask is left as it is and costs no memory.  What cannot be masked for want of
 * memory is withheld.  Patterns have a budget of work: when it is spent, everything from a
 * pattern's word to the next space is masked in its place.  So have secrets, whose forms are
 * thousands: when theirs is spent, all that has not been looked through is masked.
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
	bool spent; /* the work was not enough: more was masked than had to be */
};

/* Keeps all three; `secrets` may be NULL.  With REDACT_WORK_LONG. */
void redactor_init(struct redactor *redactor, const struct pattern_book *book,
	const struct multi_match *secrets, struct arena *arena);

/* It may do so much from here on. */
void redactor_allow(struct redactor *redactor, uint64_t work);

/* Each replaces what it is given where there is something to mask, and returns true then. */
bool redact_bytes(struct redactor *redactor, struct bytes *bytes, unsigned cut);
bool redact_text(struct redactor *redactor, const char **text, unsigned cut);

/*
 * The last `len` of these bytes are kept, what is in front of them is not: it only tells what they
 * are the end of.
 */
bool redact_behind(struct redactor *redactor, struct bytes *bytes, size_t in_front, unsigned cut);

/* Keys and texts of a tree. */
const struct value *redact_value(struct redactor *redactor, const struct value *value);

/* The same with the patterns alone, and REDACT_WORK_SHORT. */
const struct value *redact_by_patterns(
	const struct pattern_book *book, struct arena *arena, const struct value *value);
