/*
 * One compiled query: its patterns, what its captures mean, its conditions, and where its patterns
 * can begin.  A part of syntax.c, which alone uses it.
 *
 * When all patterns begin at nodes of known kinds (roots.h), those that we can go through ourselves
 * (shape.h) are taken out of tree-sitter's hands; for the others it goes over the whole tree, if
 * that has a node where one can begin.
 */
#pragma once

#include <tree_sitter/api.h>

#include "daemon/inspector/nodes.h"
#include "daemon/inspector/shape.h"
#include "daemon/inspector/syntax.h"

#define WORDS_OF_ANY_MAX 12U

/*
 * (#any-of? @_capture "word" ...): the pattern counts only when the name is one of these;
 * #not-any-of?: only when it is none of them.
 */
struct any_of {
	bool not ;
	uint32_t capture;
	uint32_t count;                      /* 0: no condition */
	const char *words[WORDS_OF_ANY_MAX]; /* live as long as the query */
	size_t lens[WORDS_OF_ANY_MAX];
};

/* Where one of our own patterns can begin. */
struct start {
	uint32_t pattern;
	uint32_t step; /* in shapes */
	uint32_t next; /* of the same kind: 1 + its number, or 0 */
};

/* What can begin at nodes of one kind. */
struct kind {
	uint32_t starts; /* 1 + the number of the first, or 0 */
	bool deep;       /* a pattern that is tree-sitter's */
};

struct query {
	TSQuery *query;
	enum capture *captures;    /* by tree-sitter's number */
	struct any_of *conditions; /* by pattern */
	bool anywhere;             /* patterns may begin anywhere: what stands below says nothing */
	struct kind *kinds;        /* by symbol; the last is that of what cannot be read */
	uint32_t kind_count;
	struct shapes shapes;
	struct start *starts;
	uint32_t start_count;
};

/* Compiles.  To be followed by query_done() even when it fails; the text is only borrowed. */
int query_init(struct query *query, const TSLanguage *language, const char *text, size_t len,
	struct err *err);
void query_done(struct query *query);

/* Only of a query whose patterns do not begin anywhere. */
const struct kind *query_kind(const struct query *query, TSSymbol symbol);

/* Adds what the query needs to know of a tree. */
void query_wish(const struct query *query, bool *plain, bool *holders);

/* Whether the pattern's condition holds for the text that it is about. */
bool query_allows(const struct query *query, uint32_t pattern, const char *text, size_t len);

/* Whether the condition of what tree-sitter has matched holds. */
bool query_holds(const struct query *query, const char *code, const TSQueryMatch *raw);

void query_fill(const struct query *query, const TSQueryMatch *raw, struct match *ret_match);
