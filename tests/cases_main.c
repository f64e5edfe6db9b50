/*
 * Finds the files of the folder named by CED_CASES and registers one test for each of them, before
 * check_main.c looks for tests.
 */

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cases.h"
#include "tests/check.h"

#define CASE_BYTES_MAX (1 << 20)

static glob_t files;

/* Cuts `text` at the first line that contains only `---`.  Returns the text after it, or NULL. */
static char *cut_part(char *text)
{
	for (char *line = text; line; line = strchr(line, '\n')) {
		if (*line == '\n')
			line++;
		if (strncmp(line, "---\n", 4) != 0)
			continue;
		*line = '\0';
		return line + 4;
	}
	return NULL;
}

static void run_text(const char *name, char *text)
{
	struct test_case test = { .name = name };

	for (int i = 0; i < CASE_PARTS; i++) {
		char *next = cut_part(text);

		CHECK(next || i == CASE_PARTS - 1);
		test.part[i] = text;
		test.part_len[i] = strlen(text);
		text = next;
	}
	run_case(&test);
}

/* The running test has the name of its file; this looks up the file's path in the list. */
static void run_file(void)
{
	static char text[CASE_BYTES_MAX];
	char path[4096];
	size_t len;
	FILE *file;

	(void)snprintf(path, sizeof(path), "%s/%s.case", getenv("CED_CASES"), check_title());
	file = fopen(path, "re");
	CHECK(file);
	len = fread(text, 1, sizeof(text) - 1, file);
	(void)fclose(file);
	CHECK(len < sizeof(text) - 1);
	text[len] = '\0';
	run_text(check_title(), text);
}

static void register_file(char *path, struct check_test *test)
{
	char *name = strrchr(path, '/') + 1;

	*strrchr(name, '.') = '\0';
	test->name = name;
	test->run = run_file;
	check_register(test);
}

__attribute__((constructor)) static void register_files(void)
{
	const char *folder = getenv("CED_CASES");
	static struct check_test *tests;
	char pattern[4096];

	if (!folder)
		return;
	(void)snprintf(pattern, sizeof(pattern), "%s/*.case", folder);
	if (glob(pattern, 0, NULL, &files) != 0)
		return;

	tests = calloc(files.gl_pathc, sizeof(*tests));
	for (size_t i = 0; tests && i < files.gl_pathc; i++)
		register_file(files.gl_pathv[i], &tests[i]);
}
