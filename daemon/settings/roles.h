/*
 * Which users and groups have which role, as the administrator wrote it, by number or by name.
 *
 *	users     = {1000}    user_groups     = {"agents"}
 *	approvers = {"ann"}   approver_groups = {}
 *	admins    = {}        admin_groups    = {"wheel"}
 *
 * Without a setting:
 *   * If the configuration names no user, everyone who can open the socket is a user.
 *   * Root and the uid that the daemon runs as are administrators.
 *   * An administrator is a user.
 *   * If the configuration names no approver, administrators are approvers.  Otherwise only the
 *     named ones are, because running a host and answering for its runs may be different jobs.
 *
 * The daemon looks up names once, when it reads the settings.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/err.h"
#include "proto/method/role.h"
#include "proto/value.h"

#define ROLE_NAMED_MAX 64

/* The ids of one kind that have one role. */
struct role_list {
	uint32_t ids[ROLE_NAMED_MAX];
	unsigned count;
};

struct roles {
	struct role_list users[ROLE_COUNT];
	struct role_list groups[ROLE_COUNT];
};

/* Reads a user or group, by number or name. */
int roles_read_id(bool is_group, const char *word, uint32_t *ret_id, struct err *err);

/* Reads a user or group, and adds it to a list. */
int roles_name(struct role_list *list, bool is_group, const char *word, struct err *err);

/* Returns the set of roles of a caller with this uid and these groups. */
unsigned roles_of(
	const struct roles *roles, uint32_t uid, const uint32_t *gids, unsigned gid_count);

/* Returns {user: {users, groups}, ...}, the ids that are named, for admin.status. */
struct value *roles_describe(const struct roles *roles, struct arena *arena);
