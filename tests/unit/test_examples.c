#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/examples.h"
#include "tests/check.h"

TEST(an_example_matches_what_it_says_and_no_less)
{
	const char *found = "deny\na.b 1:8 deny os\na.c 2:1 deny x y\n";

	CHECK(examples_match(found, found));
	CHECK(examples_match("deny\n", found));
	CHECK(examples_match("deny\na.b\na.c 2:1\n", found));
	CHECK(!examples_match("ask\n", found));
	CHECK(!examples_match("deny\na.b 1:8\n", found));
	CHECK(!examples_match("deny\na.b 1:8\na.c 2:1 de\n", found));
	CHECK(!examples_match("deny\na.b\na.c\na.d\n", found));
	CHECK(examples_match("allow\n", "allow\n"));
	CHECK(!examples_match("", "allow\n"));
}

static char folder[] = "/tmp/ced-test-examples-XXXXXX";

static int add(const char *name, const char *text, struct arena *arena, struct example_cases *cases,
	struct err *err)
{
	char path[128];
	FILE *file;
	int r;

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "we");
	if (!file)
		return -2;
	(void)fputs(text, file);
	(void)fclose(file);
	r = examples_add(arena, folder, cases, err);
	(void)unlink(path);
	return r;
}

TEST(a_folder_of_examples_is_read)
{
	struct example_cases cases = { 0 };
	struct err err = ERR_INIT;
	struct arena arena;

	arena_init(&arena, (size_t)16 << 20);
	(void)strcpy(folder, "/tmp/ced-test-examples-XXXXXX");
	CHECK(mkdtemp(folder));
	CHECK_EQ_INT(
		add("one.case", "language: bash\nbytes: escaped\n---\necho \\x41\n---\nallow\n",
			&arena, &cases, &err),
		0);
	CHECK_EQ_INT(cases.count, 1);
	CHECK_STR(cases.items[0].name, "one");
	CHECK_STR(cases.items[0].policy, "standard");
	CHECK_STR(cases.items[0].language, "bash");
	CHECK_EQ_INT(cases.items[0].code_len, 7);
	CHECK(memcmp(cases.items[0].code, "echo A\n", 7) == 0);
	CHECK_STR(cases.items[0].expected, "allow\n");
	CHECK_EQ_INT(add("two.case", "policy: x\n---\nno end\n", &arena, &cases, &err), -1);
	CHECK(strstr(err.text, "two.case"));
	(void)rmdir(folder);
	arena_done(&arena);
}

TEST(a_verdict_is_written_as_examples_are)
{
	struct arena arena;
	struct value *verdict, *findings, *finding;

	arena_init(&arena, (size_t)1 << 20);
	verdict = value_map(&arena);
	findings = value_list(&arena);
	finding = value_map(&arena);
	(void)value_map_put(&arena, finding, "rule", value_text(&arena, "a.b"));
	(void)value_map_put(&arena, finding, "line", value_int(&arena, 3));
	(void)value_map_put(&arena, finding, "column", value_int(&arena, 4));
	(void)value_map_put(&arena, finding, "severity", value_text(&arena, "ask"));
	(void)value_map_put(&arena, finding, "text", value_text(&arena, ""));
	(void)value_list_add(&arena, findings, finding);
	(void)value_map_put(&arena, verdict, "decision", value_text(&arena, "ask"));
	(void)value_map_put(&arena, verdict, "findings", findings);
	CHECK_STR(examples_write(&arena, verdict), "ask\na.b 3:4 ask\n");
	arena_done(&arena);
}
