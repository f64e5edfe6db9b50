/*
 * The patterns that recognise secrets which the caller did not name.  They come from the shipped
 * file (patterns.json) and from an operator's file of the same form.
 *
 *	{ "patterns": [
 *	  { "name": "house-token",
 *	    "words": ["HT-"],             a secret contains one of these
 *	    "pattern": "HT-[0-9a-f]{32}", PCRE2 over bytes; text before \K is not masked
 *	    "any_case": false,            of the words
 *	    "before": 0, "after": 4096,   how far around a word to look
 *	    "matches": [["id ", "HT-0123456789abcdef0123456789abcdef", "."]],
 *	    "passes": ["HT-SQL"] },
 *	  { "name": "jwt", "off": true }  turns off an earlier pattern
 *	] }
 *
 * When a file is read, each pattern is tested with its own examples, and rejected if one fails.
 * The book is read-only afterwards; any thread may use it.  The loop counts who holds it.
 */
#pragma once

#include "daemon/redact/multi_match.h"
#include "proto/base/err.h"
#include "proto/digest.h"
#include "proto/schema/pattern.h"
#include "proto/value.h"

#define REDACT_RULES_MAX 256U

struct redact_rule {
	const char *name;
	const struct pattern *pattern;
	size_t before, after;
	bool off;
	bool any_case;
	const struct value *words, *matches, *passes;
};

struct pattern_book {
	struct arena arena;
	struct redact_rule *rules;
	size_t count;
	struct multi_match *words; /* the mark of a word is the index of its rule */
	unsigned holders;
	char digest[DIGEST_TEXT_LEN + 1]; /* of all texts that it was read from */
};

/*
 * Reads the shipped patterns and those in the file `path`, which may be NULL.  The caller holds the
 * book.  NULL with *err.
 */
struct pattern_book *pattern_book_load(const char *path, struct err *err);
struct pattern_book *pattern_book_hold(struct pattern_book *book);
void pattern_book_release(struct pattern_book *book); /* accepts NULL */

/* Whether both were read from the same texts. */
bool pattern_book_is_same(const struct pattern_book *book, const struct pattern_book *other);

/* Makes a book from one text alone, for tests. */
struct pattern_book *pattern_book_parse(const char *text, size_t len, struct err *err);
