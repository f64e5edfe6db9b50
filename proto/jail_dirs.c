#include "proto/jail_dirs.h"

#include <string.h>

#include "proto/base/container.h"
#include "proto/internal/privmsg.h"

/*
 * Paths of the host that no jail may see, whatever the configuration says.  `whole` is this very
 * path, `below` everything below it.  The rows of `open` are allowed first.
 */
static const struct {
	const char *path;
	bool below;
	const char *why;
} closed[] = {
	{ "/proc", true, "shows the host's processes" },
	{ "/sys", true, "shows and changes the host's settings" },
	{ "/dev", true, "holds the host's devices" },
	{ "/run", true, "holds the sockets of the host's services" },
	{ "/var", true, "holds the state of the host's services" },
	{ "/boot", true, "is of no use to a program" },
	{ "/etc", true, "holds the host's configuration and secrets" },
	{ "/home", false, "holds the users' files" },
	{ "/root", false, "holds root's files" },
	{ "/tmp", false, "is shared by all users" },
	{ "/mnt", false, "holds whatever is mounted there" },
	{ "/media", false, "holds whatever is mounted there" },
	{ "/srv", false, "holds the host's data" },
};

static const char *const open_paths[] = {
	"/etc/alternatives", /* libblas and liblapack are links that go through it */
	"/etc/fonts",
	"/etc/matplotlibrc",
	"/etc/ld.so.cache",
	"/etc/localtime",
	"/etc/mime.types",
	"/etc/ssl/certs",
};

static bool is_at_or_below(const char *path, const char *folder)
{
	size_t len = strlen(folder);

	return strncmp(path, folder, len) == 0 && (path[len] == '\0' || path[len] == '/');
}

/*
 * Whether the path is absolute, without an empty, "." or ".." component and without a slash at the
 * end.
 */
static bool is_plain(const char *path)
{
	if (path[0] != '/')
		return false;
	while (*path == '/') {
		size_t len = strcspn(++path, "/");

		if (len == 0 || (len <= 2 && strspn(path, ".") >= len))
			return false;
		path += len;
	}
	return true;
}

int jail_path_check(const char *path, struct err *err)
{
	if (!is_plain(path) || strlen(path) >= PRIV_PATH_MAX)
		return err_set(err, ERR_INVALID, "%s is not a plain absolute path below /", path);
	for (size_t i = 0; i < COUNT_OF(open_paths); i++)
		if (is_at_or_below(path, open_paths[i]))
			return 0;
	for (size_t i = 0; i < COUNT_OF(closed); i++)
		if (strcmp(path, closed[i].path) == 0 ||
			(closed[i].below && is_at_or_below(path, closed[i].path)))
			return err_set(err, ERR_DENIED, "%s %s", closed[i].path, closed[i].why);
	return 0;
}
