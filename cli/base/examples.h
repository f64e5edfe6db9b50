/*
 * Examples for policies, one in each file NAME.case, in three parts between lines of `---`:
 *
 *	policy: house              settings: policy, language (python), bytes (plain or escaped,
 *	---                        where \xHH in the program stands for one byte)
 *	import foo
 *	---
 *	deny                       the decision, then each finding: rule line:column severity text
 *	python.house.names 1:8
 *
 * The end of a finding may be left out after its rule; without findings only the decision counts.
 */
#pragma once

#include <stddef.h>

#include "proto/base/arena.h"
#include "proto/base/err.h"
#include "proto/value.h"

struct example_case {
	const char *name; /* the file's, without .case */
	const char *policy;
	const char *language;
	const char *code;
	size_t code_len;
	const char *expected; /* the third part */
};

struct example_cases {
	struct example_case *items;
	size_t count;
};

#define EXAMPLES_MAX 4096

/* Adds a file, or each .case file of a folder in the order of their names. */
int examples_add(
	struct arena *arena, const char *path, struct example_cases *cases, struct err *err);

/* A verdict as an example would have it written. */
const char *examples_write(struct arena *arena, const struct value *verdict);

/* True when the result is the expected one. */
bool examples_match(const char *expected, const char *found);
