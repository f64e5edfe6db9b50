/*
 * The official test suite of JSON Schema, for each draft that we know: all required files, then the
 * optional ones, whose result is told and not judged.
 *
 *	CED_SCHEMA_SUITE=FOLDER     a checkout of json-schema-org/JSON-Schema-Test-Suite, in place
 *	                            of the one that Debian packages
 *
 * A schema that asks for another document gets it as a caller would send it along: under $defs, with
 * its $id.  The suite's remotes/ are such documents, and so are the drafts' own metaschemas, which
 * metaschemas.py takes from a Debian package.  A refused schema is named, and is wrong in a required
 * file.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/cleanup.h"
#include "proto/base/container.h"
#include "proto/base/err.h"
#include "proto/base/fdio.h"
#include "proto/json.h"
#include "proto/schema/schema.h"

#define FILE_MAX    (4U << 20)
#define ARENA_BYTES (256U << 20)
#define REMOTE      "http://localhost:1234/"
#define PACKAGED    "/usr/share/perl5/auto/share/dist/Test-JSON-Schema-Acceptance"

static const struct draft {
	const char *folder;
	const char *uri;
} drafts[] = {
	{ "draft2020-12", "https://json-schema.org/draft/2020-12/schema" },
	{ "draft2019-09", "https://json-schema.org/draft/2019-09/schema" },
	{ "draft7", "http://json-schema.org/draft-07/schema#" },
};

struct tally {
	unsigned right, wrong, refused;
	bool judged;
	const struct draft *draft;
	const char *suite;
};

static void tell(const struct tally *tally, const char *file, const char *group, const char *what)
{
	if (tally->judged)
		printf("# %s: %s: %s\n", file, group, what);
}

static void hold(struct tally *tally, const char *file, const char *group, struct arena *arena,
	const struct schema *schema, const struct value *test)
{
	bool wanted = value_as_bool(value_get(test, "valid"), false);
	struct schema_report report = { .count = 0 };
	struct err err = ERR_INIT;
	bool found = schema_check(arena, schema, value_get(test, "data"), &report, &err) == 0 &&
		     report.count == 0;

	if (found == wanted) {
		tally->right++;
		return;
	}
	tally->wrong++;
	tell(tally, file, group, value_as_text(value_get(test, "description")));
}

/* ---- documents that are sent along ---------------------------------------------------------- */

static struct value *read_json(struct arena *arena, const char *path)
{
	auto_free char *text = NULL;
	size_t len = 0;
	struct value *value = NULL;
	struct err err = ERR_INIT;

	if (read_file(path, FILE_MAX, &text, &len, &err) < 0 ||
		json_parse(arena, text, len, NULL, &value, &err) != 0)
		return NULL;
	return value;
}

static bool is_called(const struct value *document, const char *uri)
{
	const char *id = value_as_text(value_get(document, "$id"));
	size_t len = strlen(uri);

	return id && strncmp(id, uri, len) == 0 && (!id[len] || strcmp(id + len, "#") == 0);
}

static struct value *description_called(struct arena *arena, const char *uri)
{
	struct value *list;
	char path[4096];

	cut_printf(path, sizeof(path), "%s/tests/metaschemas.json", getenv("CED_BUILD"));
	list = read_json(arena, path);
	for (size_t i = 0; list && i < list->list.count; i++)
		if (is_called(list->list.items[i], uri))
			return list->list.items[i];
	return NULL;
}

static struct value *remote_called(const struct tally *tally, struct arena *arena, const char *uri)
{
	char path[4096];

	if (strncmp(uri, REMOTE, strlen(REMOTE)) != 0)
		return NULL;
	cut_printf(path, sizeof(path), "%s/remotes/%s", tally->suite, uri + strlen(REMOTE));
	return read_json(arena, path);
}

static bool put(struct arena *arena, struct value *map, const char *key, const char *text)
{
	struct value *value = value_text(arena, text);

	return value && value_map_put(arena, map, key, value) == 0;
}

/* Puts a document into a schema's $defs, under its own $id or that which it is asked for by. */
static bool send_document(struct arena *arena, struct value *schema, const char *uri,
	struct value *document, const struct draft *draft)
{
	struct value *documents = (struct value *)value_get(schema, "$defs");

	if (!documents) {
		documents = value_map(arena);
		if (!documents || value_map_put(arena, schema, "$defs", documents) < 0)
			return false;
	}
	if (value_get(documents, uri))
		return false;
	if (!value_get(document, "$schema") && !put(arena, document, "$schema", draft->uri))
		return false;
	if (!value_get(document, "$id") && !put(arena, document, "$id", uri))
		return false;
	return value_map_put(arena, documents, arena_strdup(arena, uri), document) == 0;
}

/* A document may have another $id than what it is asked for by: a schema of that name leads to it. */
static bool send_along(
	const struct tally *tally, struct arena *arena, struct value *schema, const char *uri)
{
	struct value *document = description_called(arena, uri);
	const char *id;

	if (!document)
		document = remote_called(tally, arena, uri);
	if (!document)
		return false;
	id = value_as_text(value_get(document, "$id"));
	if (id && !is_called(document, uri)) {
		struct value *other = value_map(arena);

		if (!other || !put(arena, other, "$ref", id) ||
			!send_document(arena, schema, uri, other, tally->draft))
			return false;
		uri = id;
	}
	return send_document(arena, schema, uri, document, tally->draft);
}

static int compile(const struct tally *tally, struct arena *arena, struct value *text,
	const struct schema **ret_schema, struct schema_mistake *ret_mistake)
{
	struct err err = ERR_INIT;
	int answer;

	if (value_is(text, VALUE_MAP) && !value_get(text, "$schema") &&
		!put(arena, text, "$schema", tally->draft->uri))
		return -1;
	do {
		*ret_mistake = (struct schema_mistake){ .message = NULL };
		answer = schema_compile(arena, text, SCHEMA_JSON, ret_schema, ret_mistake, &err);
	} while (answer > 0 && ret_mistake->elsewhere &&
		 send_along(tally, arena, text, ret_mistake->elsewhere));
	return answer;
}

/* ---- the walk through the suite ------------------------------------------------------------- */

static void try_group(
	struct tally *tally, const char *file, struct arena *arena, const struct value *group)
{
	const struct value *tests = value_get(group, "tests");
	const char *name = value_as_text(value_get(group, "description"));
	struct schema_mistake mistake = { .message = NULL };
	const struct schema *schema = NULL;

	if (compile(tally, arena, (struct value *)value_get(group, "schema"), &schema, &mistake) ==
		0) {
		for (size_t i = 0; i < tests->list.count; i++)
			hold(tally, file, name, arena, schema, tests->list.items[i]);
		return;
	}
	tally->refused += (unsigned)tests->list.count;
	tell(tally, file, name, mistake.message ? mistake.message : "no memory");
}

static void try_file(struct tally *tally, const char *folder, const char *name)
{
	__attribute__((cleanup(arena_done))) struct arena arena;
	const struct value *groups;
	char path[4096];

	cut_printf(path, sizeof(path), "%s/%s", folder, name);
	arena_init(&arena, ARENA_BYTES);
	groups = read_json(&arena, path);
	if (!groups) {
		tally->wrong++;
		tell(tally, name, "the file", "cannot be read");
		return;
	}
	for (size_t i = 0; i < groups->list.count; i++)
		try_group(tally, name, &arena, groups->list.items[i]);
}

static int is_json(const struct dirent *entry)
{
	size_t len = strlen(entry->d_name);

	return len > 5 && strcmp(entry->d_name + len - 5, ".json") == 0;
}

static int try_folder(struct tally *tally, const char *part)
{
	struct dirent **entries = NULL;
	char folder[4000];
	int count;

	cut_printf(
		folder, sizeof(folder), "%s/tests/%s%s", tally->suite, tally->draft->folder, part);
	count = scandir(folder, &entries, is_json, alphasort);
	for (int i = 0; i < count; i++) {
		try_file(tally, folder, entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	return count;
}

static bool try_draft(const char *suite, const struct draft *draft, size_t number)
{
	struct tally required = { .judged = true, .draft = draft, .suite = suite };
	struct tally optional = { .judged = false, .draft = draft, .suite = suite };
	bool good = try_folder(&required, "") > 0 && !required.wrong && !required.refused;

	(void)try_folder(&optional, "/optional");
	(void)try_folder(&optional, "/optional/format");
	printf("%s %zu - all required tests of %s: %u right, %u wrong, %u refused\n",
		good ? "ok" : "not ok", number, draft->folder, required.right, required.wrong,
		required.refused);
	if (!required.right)
		printf("# nothing in %s/tests/%s: ./dev setup test installs it\n", suite,
			draft->folder);
	printf("# optional, not judged: %u right, %u otherwise, %u refused\n", optional.right,
		optional.wrong, optional.refused);
	return good;
}

int main(void)
{
	const char *suite = getenv("CED_SCHEMA_SUITE");
	bool good = true;

	printf("1..%zu\n", COUNT_OF(drafts));
	for (size_t i = 0; i < COUNT_OF(drafts); i++)
		good = try_draft(suite ? suite : PACKAGED, &drafts[i], i + 1) && good;
	return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
