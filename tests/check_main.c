/*
 * Runs the registered tests in the order they were written, and prints the results in TAP.
 *
 *   test_buf              runs all
 *   test_buf NAME ...     runs these
 *   test_buf --list       names all
 *
 * Exit status: 0 all passed, 1 some failed, 77 all were skipped (ctest then says "skipped").
 */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tests/check.h"

#define EXIT_ALL_SKIPPED 77

static struct check_test *first;
static struct check_test **end = &first;

static const struct check_test *running;
static bool failed;
static const char *skip_reason;

void check_register(struct check_test *test)
{
	*end = test;
	end = &test->next;
}

const char *check_title(void)
{
	return running->name;
}

bool check_ok(void)
{
	return !failed;
}

void check_failed(const char *file, int line, const char *what)
{
	failed = true;
	printf("# %s:%d: does not hold: %s\n", file, line, what);
}

bool check_ints(const char *file, int line, const char *what, intmax_t found, intmax_t hoped)
{
	if (found == hoped)
		return true;

	failed = true;
	printf("# %s:%d: %s is %jd, not %jd\n", file, line, what, found, hoped);
	return false;
}

bool check_texts(const char *file, int line, const char *what, const char *found, const char *hoped)
{
	if (found == hoped || (found && hoped && strcmp(found, hoped) == 0))
		return true;

	failed = true;
	printf("# %s:%d: %s\n#   is  \"%s\"\n#   not \"%s\"\n", file, line, what,
		found ? found : "(null)", hoped ? hoped : "(null)");
	return false;
}

void check_skipped(const char *reason)
{
	skip_reason = reason;
}

static bool wanted(const struct check_test *test, int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (strcmp(test->name, argv[i]) == 0)
			return true;
	}
	return argc < 2;
}

static int list(void)
{
	for (const struct check_test *test = first; test; test = test->next)
		printf("%s\n", test->name);
	return 0;
}

static void run(const struct check_test *test, unsigned number)
{
	running = test;
	failed = false;
	skip_reason = NULL;
	test->run();

	printf("%s %u - %s%s%s\n", failed ? "not ok" : "ok", number, test->name,
		skip_reason && !failed ? " # SKIP " : "",
		skip_reason && !failed ? skip_reason : "");
}

int main(int argc, char **argv)
{
	unsigned ran = 0, failures = 0, skips = 0;

	/*
	 * Flushes after each line, so that a child forked by a test never repeats its parent's
	 * output.
	 */
	(void)setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc == 2 && strcmp(argv[1], "--list") == 0)
		return list();

	for (const struct check_test *test = first; test; test = test->next) {
		if (!wanted(test, argc, argv))
			continue;
		run(test, ++ran);
		failures += failed;
		skips += !failed && skip_reason;
	}
	printf("1..%u\n", ran);
	if (ran == 0 || failures > 0)
		return 1;
	return skips == ran ? EXIT_ALL_SKIPPED : 0;
}
