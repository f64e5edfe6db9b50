#include "proto/method/role.h"
#include "tests/check.h"

TEST(each_role_has_its_word)
{
	CHECK_STR(role_word(ROLE_USER), "user");
	CHECK_STR(role_word(ROLE_APPROVER), "approver");
	CHECK_STR(role_word(ROLE_ADMIN), "admin");
}

TEST(the_highest_of_several_is_named)
{
	CHECK_STR(role_highest(ROLE_BIT(ROLE_USER)), "user");
	CHECK_STR(role_highest(ROLE_BIT(ROLE_USER) | ROLE_BIT(ROLE_APPROVER)), "approver");
	CHECK_STR(role_highest(ROLES_ALL), "admin");
	CHECK_STR(role_highest(0), "none");
}
