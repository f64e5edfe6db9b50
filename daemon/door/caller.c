#include "daemon/door/caller.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "proto/base/cleanup.h"
#include "proto/base/utf8.h"

#define GROUPS_AT_ONCE 64

/*
 * Returns the peer's groups at the time of connect(2), its primary group first.  The caller frees
 * them.  NULL: the kernel does not report them.
 */
static uint32_t *groups_of(int fd, uint32_t gid, unsigned *ret_count)
{
	socklen_t len = GROUPS_AT_ONCE * sizeof(gid_t);

	for (;;) {
		uint32_t *gids = malloc(sizeof(gid) + len);

		if (!gids)
			return NULL;
		gids[0] = gid;
		if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, gids + 1, &len) == 0) {
			*ret_count = 1 + (unsigned)(len / sizeof(gid));
			return gids;
		}
		free(gids);
		/* with ERANGE, the kernel sets len to the size that it needs */
		if (errno != ERANGE)
			return NULL;
	}
}

int caller_identify(int fd, const struct roles *roles, struct caller *ret_caller)
{
	struct ucred cred;
	socklen_t len = sizeof(cred);
	auto_free uint32_t *gids = NULL;
	unsigned count = 0;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) < 0)
		return -1;
	gids = groups_of(fd, cred.gid, &count);
	if (!gids)
		return -1;
	*ret_caller = (struct caller){ .uid = cred.uid,
		.gid = cred.gid,
		.pid = cred.pid,
		.roles = roles_of(roles, cred.uid, gids, count) };
	return 0;
}

void caller_look_at_process(struct caller *caller)
{
	char path[48];
	auto_fd int fd = -1;
	ssize_t len;

	if (caller->pid <= 0)
		return;
	(void)snprintf(path, sizeof(path), "/proc/%d/exe", (int)caller->pid);
	len = readlink(path, caller->exe, sizeof(caller->exe) - 1);
	if (len < 0 || !utf8_is_valid(caller->exe, (size_t)len))
		len = 0;
	caller->exe[len] = '\0';
	(void)snprintf(path, sizeof(path), "/proc/%d/comm", (int)caller->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	len = fd < 0 ? 0 : read(fd, caller->name, sizeof(caller->name) - 1);
	if (len < 0 || !utf8_is_valid(caller->name, (size_t)len))
		len = 0;
	caller->name[len] = '\0';
	caller->name[strcspn(caller->name, "\n")] = '\0';
}
