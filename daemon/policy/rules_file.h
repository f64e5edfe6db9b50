/*
 * The heads of a rules file: what each rule is called, looks at and says.
 *
 * The patterns behind the heads are tree-sitter's business and go to the inspector as they are;
 * heads are comments to it.  rules/python.scm opens with the form of a head.
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
	const char *finds;  /* as it is written */
	const char *list;   /* NULL when its subject needs none, or has words of its own */
	const char **words; /* those */
	size_t word_count;
	const char *beside; /* id of the rule that must have found something too, or NULL */
	const char *number; /* what the policy calls the rule's number, or NULL … */
	uint32_t fixed;     /* … when it has one of its own */
	struct inspect_rule how;
};

struct rules_file {
	struct rule *rules; /* in the order of the file, by how.start */
	size_t count;
};

/* Reads a text; what it returns lives in the arena.  `text` need not stay. */
int rules_file_parse(struct arena *arena, const char *text, size_t len, struct rules_file *ret_file,
	struct err *err);
