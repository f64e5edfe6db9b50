#include "daemon/policy/rule_sources.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/buf.h"
#include "proto/base/cleanup.h"
#include "proto/base/embedded.h"
#include "proto/base/fdio.h"

extern const struct embedded policy_rules[];

#define TEXT_MAX ((size_t)2 << 20) /* all files of one language */

struct loading {
	struct arena *arena;
	const char *folder;
	struct dirent **entries;
	int entry_count;
	struct rule_source *text; /* the one in progress */
	struct buf rules;
	struct err *err;
};

/* ---- one file ------------------------------------------------------------------------------ */

static int no_memory(struct err *err)
{
	return err_set(err, ERR_MEMORY, "no memory for rules");
}

/* Adds the heads of one file, with positions in the whole text. */
static int add_heads(struct loading *loading, const struct rules_file *file, size_t start)
{
	struct rule_source *text = loading->text;
	size_t count = text->head_count + file->count;
	struct rule *heads = arena_array(loading->arena, struct rule, count + 1);

	if (!heads)
		return no_memory(loading->err);
	if (text->head_count > 0)
		memcpy(heads, text->heads, text->head_count * sizeof(*heads));
	for (size_t i = 0; i < file->count; i++) {
		heads[text->head_count + i] = file->rules[i];
		heads[text->head_count + i].how.start += (uint32_t)start;
	}
	text->heads = heads;
	text->head_count = count;
	return 0;
}

static int add_file(struct loading *loading, const char *name, const char *bytes, size_t len)
{
	const char *line = arena_printf(loading->arena, "\n;@ %s\n", name);
	struct rules_file file;
	size_t start;

	if (!line)
		return no_memory(loading->err);
	if (rules_file_parse(loading->arena, bytes, len, &file, loading->err) < 0)
		return err_wrap(loading->err, "%s", name);
	if (buf_append(&loading->rules, line, strlen(line)) < 0)
		return no_memory(loading->err);
	start = loading->rules.len;
	if (buf_append(&loading->rules, bytes, len) < 0)
		return err_set(loading->err, ERR_TOO_BIG, "more than %zu bytes of rules", TEXT_MAX);
	return add_heads(loading, &file, start);
}

/* ---- an operator's files -------------------------------------------------------------------- */

static const char *ending_of(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot ? dot : "";
}

static int is_rules_file(const struct dirent *entry)
{
	return entry->d_name[0] != '.' && strcmp(ending_of(entry->d_name), ".scm") == 0;
}

/* "python.house.scm" has rules for python. */
static bool is_for(const char *name, const char *language)
{
	size_t len = strlen(language);

	return strncmp(name, language, len) == 0 && name[len] == '.';
}

static int add_from(struct loading *loading, const char *name)
{
	const char *path = arena_printf(loading->arena, "%s/%s", loading->folder, name);
	auto_free char *bytes = NULL;
	size_t len = 0;

	if (!path)
		return no_memory(loading->err);
	if (read_file(path, RULES_FILE_MAX, &bytes, &len, loading->err) < 0)
		return err_wrap(loading->err, "rules");
	return add_file(loading, name, bytes, len);
}

static int add_operators(struct loading *loading)
{
	for (int i = 0; i < loading->entry_count; i++) {
		const char *name = loading->entries[i]->d_name;

		if (is_for(name, loading->text->language) && add_from(loading, name) < 0)
			return -1;
	}
	return 0;
}

static int check_names(const struct loading *loading, const struct rule_source *texts, size_t count)
{
	for (int i = 0; i < loading->entry_count; i++) {
		const char *name = loading->entries[i]->d_name;
		bool known = false;

		for (size_t l = 0; l < count; l++)
			known = known || is_for(name, texts[l].language);
		if (!known)
			return err_set(loading->err, ERR_INVALID,
				"%s: a file of rules is called LANGUAGE.NAME.scm, and has a "
				"language that there are rules for",
				name);
	}
	return 0;
}

/* ---- one language --------------------------------------------------------------------------- */

static const struct embedded *find_shipped(const char *name)
{
	const struct embedded *row = policy_rules;

	while (row->name && strcmp(row->name, name) != 0)
		row++;
	return row->name ? row : NULL;
}

/* "python.scm" has the rules for python; NULL for any other file. */
static const char *language_of(struct arena *arena, const struct embedded *row)
{
	const char *dot = strchr(row->name, '.');

	if (!dot || strcmp(dot, ".scm") != 0)
		return NULL;
	return arena_copy(arena, row->name, (size_t)(dot - row->name));
}

static int make_text(struct loading *loading, const struct embedded *row, const char *language)
{
	const char *scope_name = arena_printf(loading->arena, "%s.scope.scm", language);
	const struct embedded *scope = scope_name ? find_shipped(scope_name) : NULL;
	struct rule_source *text = loading->text;

	if (!scope)
		return err_set(loading->err, ERR_INVALID, "%s has rules, but no %s.scope.scm",
			language, language);
	text->language = language;
	text->scope = (const char *)scope->bytes;
	text->scope_len = scope->len;
	loading->rules.len = 0;
	if (add_file(loading, row->name, (const char *)row->bytes, row->len) < 0 ||
		add_operators(loading) < 0)
		return -1;
	text->rules = arena_copy(loading->arena, loading->rules.bytes, loading->rules.len);
	text->rules_len = loading->rules.len;
	return text->rules ? 0 : no_memory(loading->err);
}

static int make_texts(struct loading *loading, struct rule_source *texts, size_t *ret_count)
{
	size_t count = 0;

	for (const struct embedded *row = policy_rules; row->name; row++) {
		const char *language = language_of(loading->arena, row);

		if (!language)
			continue;
		if (count == INSPECT_LANGUAGES_MAX)
			return err_set(loading->err, ERR_TOO_BIG, "too many languages");
		loading->text = &texts[count++];
		if (make_text(loading, row, language) < 0)
			return -1;
	}
	*ret_count = count;
	return check_names(loading, texts, count);
}

int rule_sources_load(struct arena *arena, const char *folder, struct rule_source **ret_texts,
	size_t *ret_count, struct err *err)
{
	struct loading loading = { .arena = arena, .folder = folder, .err = err };
	struct rule_source *texts = arena_array(arena, struct rule_source, INSPECT_LANGUAGES_MAX);
	int r;

	if (!texts)
		return no_memory(err);
	if (folder)
		loading.entry_count = scandir(folder, &loading.entries, is_rules_file, alphasort);
	if (loading.entry_count < 0)
		return err_sys(err, "rules in %s", folder);
	buf_init(&loading.rules, TEXT_MAX);
	r = loading.entry_count > (int)RULE_FILES_MAX
		    ? err_set(err, ERR_TOO_BIG, "more than %u files of rules", RULE_FILES_MAX)
		    : make_texts(&loading, texts, ret_count);
	buf_done(&loading.rules);
	for (int i = 0; i < loading.entry_count; i++)
		free(loading.entries[i]);
	free(loading.entries);
	if (r == 0)
		*ret_texts = texts;
	return r;
}
