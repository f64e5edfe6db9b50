#include "sandbox/jail/ns.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "proto/base/owned.h"

pid_t ns_clone(uint64_t namespaces, int *ret_pidfd, struct err *err)
{
	int pidfd = -1;
	struct clone_args args = {
		.flags = namespaces | CLONE_PIDFD,
		.pidfd = (uint64_t)(uintptr_t)&pidfd,
		.exit_signal = SIGCHLD,
	};
	pid_t pid = (pid_t)syscall(SYS_clone3, &args, sizeof(args));

	if (pid < 0)
		return err_sys(err, "clone3 with namespaces %#llx", (unsigned long long)namespaces);
	if (pid > 0)
		*ret_pidfd = pidfd;
	return pid;
}

/* The kernel accepts only one write to each of these files. */
static int write_file_of(pid_t pid, const char *name, const char *text, struct err *err)
{
	auto_fd int fd = -1;
	char path[64];

	cut_printf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		return err_sys(err, "%s", path);
	return 0;
}

static int write_map(pid_t pid, const char *name, const struct id_map *map, struct err *err)
{
	char text[64];

	cut_printf(text, sizeof(text), "%u %u %u\n", map->inside, map->outside, map->count);
	return write_file_of(pid, name, text, err);
}

int ns_write_maps(pid_t pid, const struct id_maps *maps, struct err *err)
{
	if (write_file_of(pid, "setgroups", "deny", err) < 0 ||
		write_map(pid, "uid_map", &maps->uids, err) < 0 ||
		write_map(pid, "gid_map", &maps->gids, err) < 0)
		return -1;
	return 0;
}

int ns_check_range(uint32_t first, uint32_t count, struct err *err)
{
	FILE *file = fopen("/proc/self/uid_map", "re");
	char line[64];
	bool found = false;

	while (file && !found && fgets(line, sizeof(line), file)) {
		char *rest;
		unsigned long inside = strtoul(line, &rest, 10);

		(void)strtoul(rest, &rest, 10); /* the id outside */
		found = first >= inside && first - inside + count <= strtoul(rest, NULL, 10);
	}
	if (file)
		(void)fclose(file);
	if (!found)
		return err_set(err, ERR_UNSUPPORTED,
			"uids %u to %u do not exist here; choose others with --uid-base", first,
			first + count - 1);
	return 0;
}
