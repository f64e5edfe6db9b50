/*
 * The runner for tests that are data: one test for each file in a folder of tests/cases/.
 *
 * A case has three parts, divided by lines that contain only `---`: usually the rule, the input
 * and the expected result.  A kind of case is a file cases_<kind>.c that defines run_case().  The
 * files are in tests/cases/<kind>/ and end in `.case`.
 */

#ifndef CED_TESTS_CASES_H
#define CED_TESTS_CASES_H

#include <stddef.h>

#define CASE_PARTS 3

struct test_case {
	const char *name;             /* the file's name without `.case` */
	const char *part[CASE_PARTS]; /* each ends with a NUL that is not counted */
	size_t part_len[CASE_PARTS];
};

/* Runs one case; uses the macros of check.h. */
void run_case(const struct test_case *test);

#endif
