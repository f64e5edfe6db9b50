/*
 * Masks secrets in the texts of one request: those that the caller named (encodings.h) and those
 * that patterns recognise (pattern_book.h).  A secret is replaced by "[masked:NAME]".  NAME is the
 * pattern, or "secret" for a named secret.  Line breaks in it stay, so that line numbers stay
 * valid.
 *
 * A text without secrets is not copied.  A text that cannot be masked for lack of memory is
 * withheld.
 *
 * Patterns have a budget of work.  When it is used up, everything from the word of a pattern to
 * the next space is masked.  Secrets have a budget too, since they have thousands of encodings.
 * When it is used up, the rest of the text is masked.
 */
#pragma once

#include "daemon/redact/pattern_book.h"

#define REDACT_WORK_SHORT UINT64_C(20000)   /* of patterns: about a millisecond, in the loop */
#define REDACT_WORK_LONG  UINT64_C(4000000) /* 0.2 s, on a thread */
#define REDACT_LOOKS      UINT64_C(16)      /* comparisons with secrets per unit of work */

/* At which ends a text was cut, so that a secret may be incomplete there; joined with |. */
enum redact_cut {
	REDACT_CUT_FRONT = 1,
	REDACT_CUT_END = 2,
};

struct redactor {
	const struct pattern_book *book;
	const struct multi_match *secrets; /* or NULL */
	struct arena *arena;
	uint64_t work;  /* left for patterns */
	uint64_t looks; /* left for secrets */
	uint64_t masks;
	bool spent; /* the budget was used up: more was masked than necessary */
	bool facts; /* what comes now is the daemon's: keys stay, and only named secrets are masked */
};

/* Keeps all three pointers; `secrets` may be NULL.  The budget is REDACT_WORK_LONG. */
void redactor_init(struct redactor *redactor, const struct pattern_book *book,
	const struct multi_match *secrets, struct arena *arena);

/* Sets the budget from here on. */
void redactor_allow(struct redactor *redactor, uint64_t work);

/* If there is something to mask, each replaces its text with a masked copy and returns true. */
bool redact_bytes(struct redactor *redactor, struct bytes *bytes, unsigned cut);
bool redact_text(struct redactor *redactor, const char **text, unsigned cut);

/* Masks these bytes.  The `in_front` bytes before them in memory are searched, but not kept. */
bool redact_behind(struct redactor *redactor, struct bytes *bytes, size_t in_front, unsigned cut);

/* Masks the keys and texts of a tree. */
const struct value *redact_value(struct redactor *redactor, const struct value *value);

/* The same with the patterns alone, and REDACT_WORK_SHORT. */
const struct value *redact_by_patterns(
	const struct pattern_book *book, struct arena *arena, const struct value *value);
