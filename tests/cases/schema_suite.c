/*
 * The official test suite of JSON Schema: all required files of draft 2020-12, then the optional
 * ones, whose result is told and not judged.
 *
 *	CED_SCHEMA_SUITE=FOLDER     a checkout of json-schema-org/JSON-Schema-Test-Suite, in place
 *	                            of the one that Debian packages
 *
 * What needs other documents is refused, as docs/PROTOCOL.md says, and named.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/cleanup.h"
#include "proto/base/err.h"
#include "proto/base/fdio.h"
#include "proto/json.h"
#include "proto/schema.h"

#define FILE_MAX    (4U << 20)
#define ARENA_BYTES (256U << 20)
#define DRAFT       "tests/draft2020-12"
#define PACKAGED    "/usr/share/perl5/auto/share/dist/Test-JSON-Schema-Acceptance"

struct tally {
	unsigned right, wrong, elsewhere;
	bool judged;
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

static void try_group(struct tally *tally, const char *file, const struct value *group)
{
	const struct value *tests = value_get(group, "tests");
	const char *name = value_as_text(value_get(group, "description"));
	__attribute__((cleanup(arena_done))) struct arena arena;
	struct schema_mistake mistake = { .message = NULL };
	const struct schema *schema = NULL;
	struct err err = ERR_INIT;

	arena_init(&arena, ARENA_BYTES);
	if (schema_compile(&arena, value_get(group, "schema"), SCHEMA_JSON, &schema, &mistake,
		    &err) == 0) {
		for (size_t i = 0; i < tests->list.count; i++)
			hold(tally, file, name, &arena, schema, tests->list.items[i]);
		return;
	}
	if (mistake.elsewhere) {
		tally->elsewhere += (unsigned)tests->list.count;
		tell(tally, file, name, "refused, since it needs another document");
		return;
	}
	tally->wrong += (unsigned)tests->list.count;
	tell(tally, file, name, mistake.message ? mistake.message : err.text);
}

static void try_file(struct tally *tally, const char *folder, const char *name)
{
	__attribute__((cleanup(arena_done))) struct arena arena;
	auto_free char *text = NULL;
	size_t len = 0;
	struct value *groups = NULL;
	struct err err = ERR_INIT;
	char path[4096];

	cut_printf(path, sizeof(path), "%s/%s", folder, name);
	arena_init(&arena, ARENA_BYTES);
	if (read_file(path, FILE_MAX, &text, &len, &err) < 0 ||
		json_parse(&arena, text, len, NULL, &groups, &err) != 0) {
		tally->wrong++;
		tell(tally, name, "the file", err.text);
		return;
	}
	for (size_t i = 0; i < groups->list.count; i++)
		try_group(tally, name, groups->list.items[i]);
}

static int is_json(const struct dirent *entry)
{
	size_t len = strlen(entry->d_name);

	return len > 5 && strcmp(entry->d_name + len - 5, ".json") == 0;
}

static int try_folder(struct tally *tally, const char *root, const char *part)
{
	struct dirent **entries = NULL;
	char folder[4000];
	int count;

	cut_printf(folder, sizeof(folder), "%s/" DRAFT "%s", root, part);
	count = scandir(folder, &entries, is_json, alphasort);
	for (int i = 0; i < count; i++) {
		try_file(tally, folder, entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	return count;
}

int main(void)
{
	const char *suite = getenv("CED_SCHEMA_SUITE");
	struct tally required = { .judged = true };
	struct tally optional = { .judged = false };

	if (!suite)
		suite = PACKAGED;
	if (try_folder(&required, suite, "") <= 0) {
		printf("1..1\nnot ok 1 - the suite is there\n# nothing in %s/" DRAFT
		       ": ./dev setup test installs it\n",
			suite);
		return EXIT_FAILURE;
	}
	(void)try_folder(&optional, suite, "/optional");
	(void)try_folder(&optional, suite, "/optional/format");
	printf("1..1\n%s 1 - all required tests of draft 2020-12: %u right, %u wrong, %u refused since "
	       "they need other documents\n",
		required.wrong ? "not ok" : "ok", required.right, required.wrong,
		required.elsewhere);
	printf("# optional, not judged: %u right, %u otherwise, %u refused\n", optional.right,
		optional.wrong, optional.elsewhere);
	return required.wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}
