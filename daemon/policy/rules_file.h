/*
 * Reads the heads of a rules file: the id, subject and message of each rule.
 *
 * The inspector gets the whole text.  It compiles the tree-sitter patterns after the heads; the
 * heads are comments there.  rules/python.scm begins with a description of heads.
 */
#pragma once

#include <stddef.h>

#include "proto/base/arena.h"
#include "proto/base/err.h"
#include "proto/internal/inspectmsg.h"

#define RULES_FILE_MAX ((size_t)256 << 10)

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

/* Reads a text; what it returns lives in the arena.  `text` need not stay. */
int rules_file_parse(struct arena *arena, const char *text, size_t len, struct rules_file *ret_file,
	struct err *err);
