#include <errno.h>
#include <string.h>

#include "proto/base/err.h"
#include "proto/base/utf8.h"
#include "tests/check.h"

TEST(an_error_says_what_happened_and_returns_minus_one)
{
	struct err err = ERR_INIT;

	CHECK_EQ_INT(err_set(&err, ERR_MISSING, "run %d", 7), -1);
	CHECK_EQ_INT(err.code, ERR_MISSING);
	CHECK_STR(err.text, "run 7");
	CHECK_EQ_INT(err_set(NULL, ERR_MISSING, "nobody listens"), -1);
	CHECK_EQ_INT(err_wrap(NULL, "nobody"), -1);
	CHECK_EQ_INT(err_sys(NULL, "nobody"), -1);
	CHECK_EQ_INT(err_pass(NULL, &err), -1);
}

TEST(a_system_error_names_errno_and_keeps_it)
{
	struct err err = ERR_INIT;

	errno = ENOSPC;
	CHECK_EQ_INT(err_sys(&err, "write %s", "log"), -1);
	CHECK_EQ_INT(err.code, ERR_SYSTEM);
	CHECK_EQ_INT(err.sys_errno, ENOSPC);
	CHECK_EQ_INT(errno, ENOSPC);
	CHECK_STR(err.text, "write log: No space left on device");
	errno = 99999;
	(void)err_sys(&err, "odd");
	CHECK_STR(err.text, "odd: unknown error");
}

TEST(wrapping_puts_context_in_front_and_keeps_the_code)
{
	struct err err = ERR_INIT;

	errno = EACCES;
	(void)err_sys(&err, "open");
	CHECK_EQ_INT(err_wrap(&err, "policy %s", "strict"), -1);
	CHECK_STR(err.text, "policy strict: open: Permission denied");
	CHECK_EQ_INT(err.code, ERR_SYSTEM);
	CHECK_EQ_INT(err.sys_errno, EACCES);
}

TEST(an_error_can_be_made_from_its_own_text)
{
	struct err err = ERR_INIT;

	(void)err_set(&err, ERR_INVALID, "inner");
	(void)err_set(&err, ERR_CORRUPT, "outer(%s)", err.text);
	CHECK_STR(err.text, "outer(inner)");
	(void)err_wrap(&err, "%s again", err.text);
	CHECK_STR(err.text, "outer(inner) again: outer(inner)");
}

TEST(a_long_text_is_cut_with_a_mark)
{
	struct err err = ERR_INIT;

	(void)err_set(&err, ERR_INVALID, "%0600d", 1);
	CHECK_EQ_INT(strlen(err.text), ERR_TEXT_MAX - 1);
	CHECK_STR(err.text + ERR_TEXT_MAX - 6, "00...");
	(void)err_wrap(&err, "context");
	CHECK_EQ_INT(strlen(err.text), ERR_TEXT_MAX - 1);
	CHECK(strncmp(err.text, "context: 000", 12) == 0);
}

TEST(a_cut_never_splits_a_character)
{
	char buffer[16];

	for (unsigned size = 1; size <= sizeof(buffer); size++) {
		cut_printf(buffer, size, "a%s", "éüñ€𝄞é€𝄞ß");
		CHECK(strlen(buffer) < size);
		CHECK(utf8_is_valid(buffer, strlen(buffer)));
	}
	CHECK_STR(buffer, "aéüñ€...");
	cut_printf(buffer, 0, "nothing is touched");
	CHECK_STR(buffer, "aéüñ€...");
}

TEST(a_text_that_just_fits_is_not_cut)
{
	char buffer[6];

	cut_printf(buffer, sizeof(buffer), "%s", "12345");
	CHECK_STR(buffer, "12345");
	cut_printf(buffer, sizeof(buffer), "%s", "123456");
	CHECK_STR(buffer, "12...");
}

TEST(every_code_has_a_word)
{
	for (int code = ERR_NONE; code <= ERR_UNSUPPORTED; code++)
		CHECK(err_word((enum err_code)code) && *err_word((enum err_code)code));
	CHECK_STR(err_word(ERR_TOO_BIG), "too_big");
	CHECK_STR(err_word((enum err_code)9999), "unknown");
}
