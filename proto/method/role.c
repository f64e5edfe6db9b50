#include "proto/method/role.h"

static const char *const words[ROLE_COUNT] = {
	[ROLE_USER] = "user",
	[ROLE_APPROVER] = "approver",
	[ROLE_ADMIN] = "admin",
};

const char *role_word(enum role role)
{
	return words[role];
}

const char *role_highest(unsigned roles)
{
	for (unsigned role = ROLE_COUNT; role-- > 0;)
		if (roles & ROLE_BIT(role))
			return words[role];
	return "none";
}
