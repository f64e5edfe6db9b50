/*
 * A program's text as a tree, and queries over it.  Only this module and query.c know tree-sitter.
 *
 * A struct syntax is one language: its grammar and the two compiled queries that the daemon sent.
 * It holds one program at a time.  Callers see matches: the number of the pattern, and the byte
 * ranges of its captures as enum capture.  All work is bounded by an effort (effort.h).  If it
 * is spent, or tree-sitter would lose matches, the answer is "late", and the program is denied.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/inspector/effort.h"
#include "daemon/inspector/findings.h"
#include "proto/base/err.h"

/* The meaning of a capture.  A capture whose name begins with _ is for #any-of? only. */
enum capture {
	CAPTURE_NONE,
	/* in rules */
	CAPTURE_NAME, /* @name: is looked up in the list; two make one path */
	CAPTURE_AT,   /* @at: where the finding is, and the word; else that is the first @name */
	CAPTURE_IMPORT_MODULE, /* @import.module: an import binds its first name to it … */
	CAPTURE_IMPORT_MEMBER, /* @import.member: … or this name to that member of it … */
	CAPTURE_IMPORT_ALIAS,  /* @import.alias: … or this name instead */
	CAPTURE_SUBSTITUTION, /* @substitution: a substitution of the shell, whose inside is checked */
	/* in scope, about single names */
	CAPTURE_ATTRIBUTE, /* @attribute: the name of an attribute */
	CAPTURE_KEYWORD,   /* @keyword: the name of an argument in a call */
	CAPTURE_STORE,     /* @store: is given a value here */
	CAPTURE_PART,      /* @part: an attribute of it is used */
	CAPTURE_HARMLESS,  /* @harmless: what it is used for here does no harm */
	CAPTURE_CALLED,    /* @called: is called here */
	CAPTURE_OWN,       /* @own: words in this range that are excused as the function's own */
	CAPTURE_SUM, /* @sum: if it is $((...)), as the shell reads it, its words are no commands */
	/* in scope, about where names are the program's own */
	CAPTURE_BIND, /* @bind: makes the name local to the function it stands in … */
	CAPTURE_IMPORTED, /* @imported: the same, by an import: what it brings is looked at by other rules */
	CAPTURE_IN,     /* @in: … or to this range … */
	CAPTURE_BLOCK,  /* @block: … or to this range, but not in the body of a class … */
	CAPTURE_AFTER,  /* @after: … or, not in a class, from behind this … */
	CAPTURE_WITHIN, /* @within: … to the end of this */
	CAPTURE_LATER,  /* @later: … or in every function, if nothing calls one before this … */
	CAPTURE_CALL,   /* @call: … as this might, outside of functions */
	CAPTURE_UNBIND, /* @unbind: no name in here is ever taken for the program's own */
	CAPTURE_STATEMENT, /* @statement: one statement of one line, as the tree sees it */
	CAPTURE_FUNCTION,  /* @function: the body of a function */
	CAPTURE_CLASS,     /* @class: the body of a class */
	CAPTURE_COUNT,
};

#define MATCH_CAPTURES_MAX 8U

struct match {
	uint32_t pattern;
	uint32_t count;
	struct {
		enum capture what;
		struct place at;
	} captures[MATCH_CAPTURES_MAX];
};

enum syntax_query {
	SYNTAX_RULES,
	SYNTAX_SCOPE,
	SYNTAX_QUERY_COUNT
};

struct syntax;
typedef void syntax_on_match(void *context, const struct match *match);

/* Needs the name of a language that is built in.  The texts are only borrowed. */
struct syntax *syntax_new(const char *language, const char *const texts[SYNTAX_QUERY_COUNT],
	const size_t lens[SYNTAX_QUERY_COUNT], struct err *err);
void syntax_free(struct syntax *syntax);

uint32_t syntax_pattern_count(const struct syntax *syntax, enum syntax_query which);

/* Where in its text the pattern begins. */
uint32_t syntax_pattern_start(
	const struct syntax *syntax, enum syntax_query which, uint32_t pattern);

/*
 * Parses a program, after forgetting the last.  Keeps `code` and `effort` until syntax_forget();
 * the queries spend that effort too.  False: late.
 */
bool syntax_parse(struct syntax *syntax, const char *code, size_t len, struct effort *effort);

/* Adds findings for the first places that the grammar could not read. */
void syntax_add_unreadable(struct syntax *syntax, struct findings *findings);

/* Calls `on_match` for every match.  False when late. */
bool syntax_run(
	struct syntax *syntax, enum syntax_query which, syntax_on_match *on_match, void *context);

/* Frees the tree.  May be called again. */
void syntax_forget(struct syntax *syntax);
