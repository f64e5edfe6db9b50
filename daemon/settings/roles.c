#include "daemon/settings/roles.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <unistd.h>

#define NAME_BYTES_MAX ((size_t)1 << 20) /* of an entry in the host's list of groups */

/* ---- settings ------------------------------------------------------------------------------- */

/* Returns 0, or -1 when the host has no such user or group. */
static int look_up(bool is_group, const char *name, char *room, size_t size, uint32_t *ret_id)
{
	struct passwd user;
	struct passwd *found_user = NULL;
	struct group group;
	struct group *found_group = NULL;

	if (is_group) {
		if (getgrnam_r(name, &group, room, size, &found_group) || !found_group)
			return -1;
		*ret_id = found_group->gr_gid;
	} else {
		if (getpwnam_r(name, &user, room, size, &found_user) || !found_user)
			return -1;
		*ret_id = found_user->pw_uid;
	}
	return 0;
}

int roles_read_id(bool is_group, const char *word, uint32_t *ret_id, struct err *err)
{
	const char *what = is_group ? "group" : "user";
	char *end = NULL;
	char *room;
	int found;

	errno = 0;
	if (*word >= '0' && *word <= '9') {
		unsigned long id = strtoul(word, &end, 10);

		if (*end || errno == ERANGE || id >= UINT32_MAX)
			return err_set(
				err, ERR_INVALID, "%s is not the number of a %s", word, what);
		*ret_id = (uint32_t)id;
		return 0;
	}
	room = malloc(NAME_BYTES_MAX);
	if (!room)
		return err_set(err, ERR_MEMORY, "no memory to look up a name");
	found = look_up(is_group, word, room, NAME_BYTES_MAX, ret_id);
	free(room);
	return found < 0
		       ? err_set(err, ERR_INVALID,
				 "there is no %s \"%s\" on this host: add it, or correct the name",
				 what, word)
		       : 0;
}

int roles_name(struct role_list *list, bool is_group, const char *word, struct err *err)
{
	if (list->count == ROLE_NAMED_MAX)
		return err_set(err, ERR_INVALID, "more than %d", ROLE_NAMED_MAX);
	if (roles_read_id(is_group, word, &list->ids[list->count], err) < 0)
		return -1;
	list->count++;
	return 0;
}

/* ---- a caller ------------------------------------------------------------------------------- */

static bool has(const struct role_list *list, uint32_t id)
{
	for (unsigned i = 0; i < list->count; i++)
		if (list->ids[i] == id)
			return true;
	return false;
}

static bool is_named(const struct roles *roles, enum role role, uint32_t uid, const uint32_t *gids,
	unsigned gid_count)
{
	if (has(&roles->users[role], uid))
		return true;
	for (unsigned i = 0; i < gid_count; i++)
		if (has(&roles->groups[role], gids[i]))
			return true;
	return false;
}

static bool names_nobody(const struct roles *roles, enum role role)
{
	return !roles->users[role].count && !roles->groups[role].count;
}

unsigned roles_of(const struct roles *roles, uint32_t uid, const uint32_t *gids, unsigned gid_count)
{
	unsigned set = 0;

	for (unsigned role = 0; role < ROLE_COUNT; role++)
		if (is_named(roles, (enum role)role, uid, gids, gid_count))
			set |= ROLE_BIT(role);
	if (uid == 0 || uid == getuid())
		set |= ROLE_BIT(ROLE_ADMIN);
	if ((set & ROLE_BIT(ROLE_ADMIN)) || names_nobody(roles, ROLE_USER))
		set |= ROLE_BIT(ROLE_USER);
	if ((set & ROLE_BIT(ROLE_ADMIN)) && names_nobody(roles, ROLE_APPROVER))
		set |= ROLE_BIT(ROLE_APPROVER);
	return set;
}

/* ---- for admin.status ----------------------------------------------------------------------- */

static struct value *describe_list(const struct role_list *list, struct arena *arena)
{
	struct value *ids = value_list(arena);

	for (unsigned i = 0; i < list->count; i++)
		value_list_add(arena, ids, value_int(arena, list->ids[i]));
	return ids;
}

struct value *roles_describe(const struct roles *roles, struct arena *arena)
{
	struct value *map = value_map(arena);

	for (unsigned role = 0; role < ROLE_COUNT; role++) {
		struct value *named = value_map(arena);

		value_map_put(arena, named, "users", describe_list(&roles->users[role], arena));
		value_map_put(arena, named, "groups", describe_list(&roles->groups[role], arena));
		value_map_put(arena, map, role_word((enum role)role), named);
	}
	return map;
}
