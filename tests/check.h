/*
 * The test harness.  Tests register themselves; main() in check_main.c runs them and prints TAP.
 *
 * A failed check leaves its function by `return`, so cleanup attributes run and the leak checkers
 * stay meaningful.  Therefore checks are allowed only in functions that return void: in a TEST, or
 * in a helper after which the test asks check_ok() before it goes on.
 *
 *   TEST(an_empty_buffer_has_no_bytes)
 *   {
 *           CHECK_EQ_INT(buf_len(&buf), 0);
 *   }
 */

#ifndef CED_TESTS_CHECK_H
#define CED_TESTS_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct check_test {
	const char *name;
	void (*run)(void);
	struct check_test *next;
};

#define TEST(title)                                                               \
	static void title(void);                                                  \
	__attribute__((constructor)) static void register_##title(void)           \
	{                                                                         \
		static struct check_test test = { .name = #title, .run = title }; \
		check_register(&test);                                            \
	}                                                                         \
	static void title(void)

/* Ends the function unless `condition` holds. */
#define CHECK(condition)                                              \
	do {                                                          \
		if (!(condition)) {                                   \
			check_failed(__FILE__, __LINE__, #condition); \
			return;                                       \
		}                                                     \
	} while (0)

/* Compares integers of any kind: first the actual value, then the expected one. */
#define CHECK_EQ_INT(found, hoped)                                                                 \
	do {                                                                                       \
		if (!check_ints(__FILE__, __LINE__, #found, (intmax_t)(found), (intmax_t)(hoped))) \
			return;                                                                    \
	} while (0)

/* Texts; NULL is equal only to NULL. */
#define CHECK_STR(found, hoped)                                                 \
	do {                                                                    \
		if (!check_texts(__FILE__, __LINE__, #found, (found), (hoped))) \
			return;                                                 \
	} while (0)

/* Ends a test that cannot run here.  `reason` must stay valid until the test has ended. */
#define SKIP(reason)                   \
	do {                           \
		check_skipped(reason); \
		return;                \
	} while (0)

/* Adds a test to the end of the list.  Keeps the pointer until the program ends. */
void check_register(struct check_test *test);

/* The name of the running test, and whether all its checks have held so far. */
const char *check_title(void);
bool check_ok(void);

/* Called by the macros only. */
void check_failed(const char *file, int line, const char *what);
bool check_ints(const char *file, int line, const char *what, intmax_t found, intmax_t hoped);
bool check_texts(
	const char *file, int line, const char *what, const char *found, const char *hoped);
void check_skipped(const char *reason);

#endif
