#include <unistd.h>

#include "daemon/settings/roles.h"
#include "tests/check.h"

#define USER     ROLE_BIT(ROLE_USER)
#define APPROVER ROLE_BIT(ROLE_APPROVER)
#define ADMIN    ROLE_BIT(ROLE_ADMIN)

static const uint32_t GIDS[] = { 100, 4200, 4300 };

static unsigned of(const struct roles *roles, uint32_t uid)
{
	return roles_of(roles, uid, GIDS, 3);
}

static void name(struct role_list *list, const char *word)
{
	struct err err = ERR_INIT;

	CHECK_EQ_INT(roles_name(list, false, word, &err), 0);
}

TEST(where_nobody_is_named_everybody_is_a_user_and_root_and_the_daemon_are_all)
{
	static const struct roles roles;

	CHECK_EQ_INT(of(&roles, 4001), USER);
	CHECK_EQ_INT(of(&roles, 0), USER | APPROVER | ADMIN);
	CHECK_EQ_INT(of(&roles, getuid()), USER | APPROVER | ADMIN);
}

TEST(where_users_are_named_nobody_else_is_one)
{
	struct roles roles = { 0 };

	name(&roles.users[ROLE_USER], "4001");
	CHECK_EQ_INT(of(&roles, 4001), USER);
	CHECK_EQ_INT(of(&roles, 4002), 0);
	CHECK_EQ_INT(of(&roles, 0), USER | APPROVER | ADMIN);
}

TEST(a_group_gives_its_role_to_everybody_in_it_supplementary_or_not)
{
	struct roles roles = { 0 };

	name(&roles.groups[ROLE_ADMIN], "4300");
	name(&roles.groups[ROLE_USER], "7");
	CHECK_EQ_INT(of(&roles, 4001), USER | APPROVER | ADMIN);
	CHECK_EQ_INT(roles_of(&roles, 4001, GIDS, 2), 0);
	CHECK_EQ_INT(roles_of(&roles, 4001, (const uint32_t[]){ 7 }, 1), USER);
}

TEST(where_an_approver_is_named_administrators_are_none)
{
	struct roles roles = { 0 };

	name(&roles.users[ROLE_APPROVER], "4002");
	CHECK_EQ_INT(of(&roles, 0), USER | ADMIN);
	CHECK_EQ_INT(of(&roles, 4002), USER | APPROVER);
	name(&roles.users[ROLE_APPROVER], "0");
	CHECK_EQ_INT(of(&roles, 0), USER | APPROVER | ADMIN);
}

TEST(users_and_groups_go_by_number_or_name)
{
	struct role_list list = { .count = 0 };
	struct err err = ERR_INIT;

	CHECK_EQ_INT(roles_name(&list, false, "root", &err), 0);
	CHECK_EQ_INT(roles_name(&list, true, "root", &err), 0);
	CHECK_EQ_INT(roles_name(&list, true, "4711", &err), 0);
	CHECK_EQ_INT(list.count, 3);
	CHECK_EQ_INT(list.ids[2], 4711);
}

TEST(what_the_host_does_not_know_is_refused_by_name)
{
	static const char *const words[] = { "nobody-has-this-name", "-1", "12x", "4294967295",
		"99999999999999999999999", "" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		struct role_list list = { .count = 0 };
		struct err err = ERR_INIT;

		CHECK_EQ_INT(roles_name(&list, false, words[i], &err), -1);
		CHECK(err.text[0]);
		CHECK_EQ_INT(list.count, 0);
	}
}

TEST(a_list_has_an_end)
{
	struct role_list list = { .count = ROLE_NAMED_MAX };
	struct err err = ERR_INIT;

	CHECK_EQ_INT(roles_name(&list, false, "1", &err), -1);
	CHECK_STR(err.text, "more than 64");
}

TEST(who_is_named_is_told)
{
	struct roles roles = { 0 };
	struct arena arena;
	const struct value *admins;

	arena_init(&arena, 1 << 16);
	name(&roles.groups[ROLE_ADMIN], "4300");
	admins = value_get(roles_describe(&roles, &arena), "admin");
	CHECK_EQ_INT(value_as_int(value_at(value_get(admins, "groups"), 0), 0), 4300);
	CHECK(!value_at(value_get(admins, "users"), 0));
	arena_done(&arena);
}
