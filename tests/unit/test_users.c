#include <string.h>

#include "cli/base/users.h"
#include "tests/check.h"

TEST(a_user_is_a_name_or_a_number)
{
	struct err err = ERR_INIT;
	uint32_t uid = 7;

	CHECK_EQ_INT(users_parse("root", &uid, &err), 0);
	CHECK_EQ_INT(uid, 0);
	CHECK_EQ_INT(users_parse("4294967294", &uid, &err), 0);
	CHECK_EQ_INT(uid, 4294967294);
}

TEST(nobody_is_taken_for_somebody_else)
{
	static const char *const wrong[] = { "no-such-user-here", "", "-1", "4294967295",
		"99999999999999999999", "1001x", "root " };
	struct err err = ERR_INIT;
	uint32_t uid = 7;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		CHECK_EQ_INT(users_parse(wrong[i], &uid, &err), -1);
		CHECK(err.text[0]);
	}
	CHECK_EQ_INT(uid, 7);
	CHECK_EQ_INT(users_parse("no-such-user-here", &uid, &err), -1);
	CHECK_STR(err.text, "this host has no user \"no-such-user-here\"; a uid will do as well");
}
