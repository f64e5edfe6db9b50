/*
 * Who holds which role, as the administrator wrote it: users and groups, by number or by name.
 *
 *	users     = {1000}    user_groups     = {"agents"}
 *	approvers = {"ann"}   approver_groups = {}
 *	admins    = {}        admin_groups    = {"wheel"}
 *
 * What is not written:
 *   * Where nobody is named as user, everybody who may open the socket is one.
 *   * Root and the uid that the daemon runs as are administrators.
 *   * An administrator is a user.
 *   * Where nobody is named as approver, administrators are approvers.  Where somebody is, only
 *     those are: who runs a host and who answers for what runs there may be different people.
 *
 * Names become numbers when the settings are read, and not again.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/err.h"
#include "proto/method/role.h"
#include "proto/value.h"

#define ROLE_NAMED_MAX 64

/* Ids of one kind that hold one role. */
struct role_list {
	uint32_t ids[ROLE_NAMED_MAX];
	unsigned count;
};

struct roles {
	struct role_list users[ROLE_COUNT];
	struct role_list groups[ROLE_COUNT];
};

/* Reads a user or group, as number or name, into a list. */
int roles_name(struct role_list *list, bool is_group, const char *word, struct err *err);

/* The set of roles of a caller with this uid, who is in these groups. */
unsigned roles_of(
	const struct roles *roles, uint32_t uid, const uint32_t *gids, unsigned gid_count);

/* {user: {users, groups}, ...}: who is named, for admin.status. */
struct value *roles_describe(const struct roles *roles, struct arena *arena);
