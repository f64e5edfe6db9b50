/*
 * One compiled query of tree-sitter, what its captures mean, and the conditions of its patterns.
 * Only syntax.c uses it.
 */
#pragma once

#include <tree_sitter/api.h>

#include "daemon/inspector/syntax.h"

#define WORDS_OF_ANY_MAX 16U

/*
 * (#any-of? @_capture "word" ...): the pattern counts only when the name is one of these words.
 * #not-any-of?: only when it is none of them.
 */
struct any_of {
	bool not ;
	uint32_t capture;
	uint32_t count;                      /* 0: no condition */
	const char *words[WORDS_OF_ANY_MAX]; /* live as long as the query */
	size_t lens[WORDS_OF_ANY_MAX];
};

struct query {
	TSQuery *query;
	enum capture *captures;    /* by tree-sitter's number */
	struct any_of *conditions; /* by pattern */
};

/* Compiles.  The caller calls query_done() even when this fails; the text is only borrowed. */
int query_init(struct query *query, const TSLanguage *language, const char *text, size_t len,
	struct err *err);
void query_done(struct query *query);

/* Whether the condition of the matched pattern holds. */
bool query_holds(const struct query *query, const char *code, const TSQueryMatch *raw);

void query_fill(const struct query *query, const TSQueryMatch *raw, struct match *ret_match);
