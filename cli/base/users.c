#include "cli/base/users.h"

#include <errno.h>
#include <pwd.h>
#include <string.h>

#include "cli/base/units.h"

#define ENTRY_BYTES ((size_t)8 << 10)

/* (uid_t)-1 is no uid: system calls read it as "unchanged". */
#define UID_MOST (UINT32_MAX - 1)

static int by_name(const char *name, uint32_t *ret_uid, struct err *err)
{
	char bytes[ENTRY_BYTES];
	struct passwd entry;
	struct passwd *found = NULL;
	int failed = getpwnam_r(name, &entry, bytes, sizeof(bytes), &found);

	if (found) {
		*ret_uid = entry.pw_uid;
		return 0;
	}
	if (failed && failed != ENOENT && failed != ESRCH && failed != EBADF && failed != EPERM)
		return err_set(err, ERR_SYSTEM, "cannot look up the user \"%s\": %s", name,
			strerror(failed));
	return err_set(
		err, ERR_INVALID, "this host has no user \"%s\"; a uid will do as well", name);
}

int users_parse(const char *word, uint32_t *ret_uid, struct err *err)
{
	uint64_t uid = 0;

	if (units_parse_count(word, &uid, NULL) < 0)
		return by_name(word, ret_uid, err);
	if (uid > UID_MOST)
		return err_set(err, ERR_INVALID, "%s is past the last uid, %u", word, UID_MOST);
	*ret_uid = (uint32_t)uid;
	return 0;
}
