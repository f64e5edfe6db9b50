/*
 * Reads rules: files with tree-sitter patterns and a head for each rule, which has its id, what it
 * finds and its message.  rules/python.scm begins with a description of heads.
 *
 * The inspector gets the whole text and compiles the patterns; the heads are comments there.
 *
 * The rules of each language are one text: the shipped file, and after it the operator's files
 * `<language>.<anything>.scm`, in the order of their names.
 *
 * A line `;@ <file>` precedes each file, so that an error in the text can be reported with its
 * file.
 */
#pragma once

#include <stddef.h>

#include "proto/base/arena.h"
#include "proto/base/err.h"
#include "proto/internal/inspectmsg.h"

#define RULES_FILE_MAX ((size_t)256 << 10)
#define RULE_FILES_MAX 256U /* of an operator's folder */

struct rule {
	const char *id;
	const char *message;
	const char *hint;   /* or NULL */
	const char *finds;  /* as written in the file */
	const char *list;   /* NULL when the rule needs none, or has words of its own */
	const char **words; /* these words */
	size_t word_count;
	const char *beside; /* id of the rule that must have found something too, or NULL */
	const char *number; /* the name of the rule's number in policies, or NULL … */
	uint32_t fixed;     /* … and then the number itself */
	struct inspect_rule how;
};

struct rules_file {
	struct rule *rules; /* in the order of the file, by how.start */
	size_t count;
};

/* Reads the heads of one text; what it returns lives in the arena.  `text` need not stay. */
int rules_file_parse(struct arena *arena, const char *text, size_t len, struct rules_file *ret_file,
	struct err *err);

struct rule_source {
	const char *language;
	const char *rules; /* patterns and heads */
	size_t rules_len;
	const char *scope;
	size_t scope_len;
	struct rule *heads; /* `start` counts from the beginning of `rules` */
	size_t head_count;
};

/*
 * Reads the rules of every language that has shipped ones; `folder` may be NULL.  A file for
 * another language is rejected.  The results live in the arena.
 */
int rule_sources_load(struct arena *arena, const char *folder, struct rule_source **ret_texts,
	size_t *ret_count, struct err *err);
