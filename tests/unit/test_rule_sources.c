#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/inspector/inspector.h"
#include "daemon/policy/rule_sources.h"
#include "daemon/policy/rulebook.h"
#include "tests/check.h"

static char folder[] = "/tmp/ced-test-rules-XXXXXX";
static char file_path[128];

static void make_folder(const char *name, const char *text)
{
	FILE *file;

	(void)strcpy(folder, "/tmp/ced-test-rules-XXXXXX");
	CHECK(mkdtemp(folder));
	(void)snprintf(file_path, sizeof(file_path), "%s/%s", folder, name);
	file = fopen(file_path, "we");
	CHECK(file);
	(void)fputs(text, file);
	CHECK_EQ_INT(fclose(file), 0);
}

static void drop_folder(void)
{
	(void)unlink(file_path);
	(void)rmdir(folder);
}

/* Loads a folder with this file.  Returns the error; "" if it loads and an inspector accepts it. */
static const char *complaint_about(const char *name, const char *text)
{
	static struct err err;
	struct inspector *inspector = NULL;
	struct rulebook *book;

	err = (struct err)ERR_INIT;
	make_folder(name, text);
	book = rulebook_load(folder, &err);
	if (book)
		inspector = inspector_new(book->message.bytes + sizeof(struct inspect_head),
			book->message.len - sizeof(struct inspect_head), &err);
	if (inspector)
		err.text[0] = '\0';
	inspector_free(inspector);
	rulebook_free(book);
	drop_folder();
	return err.text;
}

static const char good[] = ";;; python.house.names\n"
			   ";;; finds   word in { foo bar }\n"
			   ";;; unless  attribute bound\n"
			   ";;; message no foo here\n"
			   "(identifier) @name\n";

TEST(the_shipped_languages_have_rules)
{
	struct arena arena;
	struct rule_source *texts;
	struct err err = ERR_INIT;
	size_t count = 0;

	arena_init(&arena, (size_t)16 << 20);
	CHECK_EQ_INT(rule_sources_load(&arena, NULL, &texts, &count, &err), 0);
	CHECK_EQ_INT(count, 3);
	for (size_t i = 0; i < count; i++) {
		CHECK(texts[i].head_count > 10);
		for (size_t h = 0; h < texts[i].head_count; h++)
			CHECK(memcmp(texts[i].rules + texts[i].heads[h].how.start, ";;;", 3) == 0);
	}
	arena_done(&arena);
}

TEST(an_operators_file_stands_behind_the_shipped_one)
{
	struct arena arena;
	struct rule_source *texts;
	struct err err = ERR_INIT;
	size_t count = 0;
	bool found = false;

	arena_init(&arena, (size_t)16 << 20);
	make_folder("python.house.scm", good);
	CHECK_EQ_INT(rule_sources_load(&arena, folder, &texts, &count, &err), 0);
	drop_folder();
	for (size_t i = 0; i < count; i++) {
		const struct rule *last = &texts[i].heads[texts[i].head_count - 1];

		if (strcmp(texts[i].language, "python") != 0)
			continue;
		found = true;
		CHECK_STR(last->id, "python.house.names");
		CHECK_EQ_INT(last->word_count, 2);
		CHECK(strncmp(texts[i].rules + last->how.start, ";;; python.house", 16) == 0);
		CHECK(strstr(texts[i].rules, ";@ python.house.scm\n"));
	}
	CHECK(found);
	arena_done(&arena);
	CHECK_STR(complaint_about("python.house.scm", good), "");
}

TEST(a_file_with_a_fault_is_refused_and_told_with_its_line)
{
	static const struct {
		const char *name;
		const char *text;
		const char *words[2];
	} rows[] = {
		{ "cobol.house.scm", good, { "cobol.house.scm", "language" } },
		{ "house.scm", good, { "house.scm", "language" } },
		{ "python.a.scm", ";;; python.a\n;;; finds nonsense\n",
			{ "python.a.scm", "line 2" } },
		{ "python.a.scm", ";;; python.a\n;;; finds word in { a\n;;; message m\n",
			{ "line 2", "}" } },
		{ "python.a.scm", ";;; python.a\n;;; finds any\n;;; message m\n(nonsense) @name\n",
			{ "python.a.scm line 4", "no such node" } },
		{ "python.a.scm", ";;; python.a\n;;; finds any\n;;; message m\n(identifier @name\n",
			{ "python.a.scm line", "no query" } },
		{ "python.a.scm",
			";;; python.a\n;;; finds any\n;;; message m\n(identifier) @nonsense\n",
			{ "@nonsense", "capture" } },
		{ "python.a.scm",
			";;; python.a\n;;; finds any\n;;; beside python.b\n;;; message m\n(identifier) "
			"@name\n",
			{ "python.a", "python.b" } },
		{ "python.a.scm",
			";;; python.a\n;;; finds word in a.list\n;;; message m\n(identifier) @name\n",
			{ "needs the list", "a.list" } },
		{ "python.a.scm",
			";;; python.a\n;;; finds any\n;;; number a.number\n;;; message m\n(identifier) @name\n",
			{ "needs the number", "a.number" } },
		{ "python.a.scm", ";;; python.a\n;;; finds opaque\n;;; message m\n(string) @name\n",
			{ "python.a", "opaque" } },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *complaint = complaint_about(rows[i].name, rows[i].text);

		for (int w = 0; w < 2; w++)
			if (!strstr(complaint, rows[i].words[w]))
				CHECK_STR(complaint, rows[i].words[w]);
	}
}

TEST(a_number_may_stand_in_the_rule)
{
	CHECK_STR(complaint_about("bash.a.scm", ";;; bash.a\n;;; finds opaque\n;;; number 12\n;;; "
						"message m\n(word) @name\n"),
		"");
}
