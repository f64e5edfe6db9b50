#include "daemon/inspector/shared_fields.h"

#include <string.h>

#include "proto/base/container.h"

static const struct shared_field shared_fields[] = {
	/* a file's name is the first */
	{ "bash", "file_redirect", "destination", true },
	{ "bash", "redirected_statement", "redirect", false },
	{ "bash", "heredoc_redirect", "redirect", false },
	{ "bash", "if_statement", "condition", false },
	{ "bash", "while_statement", "condition", false },
	{ "bash", "for_statement", "value", false },
	{ "bash", "c_style_for_statement", "initializer", false },
	{ "bash", "c_style_for_statement", "condition", false },
	{ "bash", "c_style_for_statement", "update", false },
	{ "bash", "case_item", "value", false },
	{ "bash", "binary_expression", "right", false },
	{ "javascript", "switch_case", "body", false },
	{ "javascript", "switch_default", "body", false },
	{ "python", "dict_pattern", "key", false },
	{ "python", "for_in_clause", "right", false },
};

static bool is_name(const char *name, const char *other)
{
	return name && strcmp(name, other) == 0;
}

const struct shared_field *shared_field_find(
	const char *language, const char *kind, const char *name, size_t len)
{
	for (size_t i = 0; i < COUNT_OF(shared_fields); i++) {
		const struct shared_field *row = &shared_fields[i];

		if (is_name(language, row->language) && (!kind || is_name(kind, row->kind)) &&
			strlen(row->field) == len && memcmp(row->field, name, len) == 0)
			return row;
	}
	return NULL;
}
