#include "sandbox/spawner/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "proto/base/container.h"
#include "proto/base/fdpass.h"
#include "proto/base/owned.h"
#include "sandbox/jail/caps.h"

#define JAILS_PREFIX "ced-"
#define MAIN_LEAF    "main" /* v2: the leaf of the spawner itself */
#define WORD_MAX     32
#define TEXT_MAX     512
#define FOLDER_MAX   1024
#define LINE_MAX_LEN 4096

static const struct controller {
	enum cgroup_controller bit;
	const char *name;
} controllers[] = {
	{ CGROUP_MEMORY, "memory" },
	{ CGROUP_PIDS, "pids" },
	{ CGROUP_CPU, "cpu" },
	{ CGROUP_CPUACCT, "cpuacct" },
};

/* The files of a leaf that are opened for the daemon.  A file that is absent is left out. */
static const struct knob_row {
	enum priv_knob knob;
	enum cgroup_controller controller; /* 0: no controller's, but the hierarchy's */
	const char *v1;
	const char *v2;
} knobs[] = {
	/* clang-format off */
	{ KNOB_JOIN,          0,              "cgroup.procs",                "cgroup.procs" },
	{ KNOB_MEMORY_MAX,    CGROUP_MEMORY,  "memory.limit_in_bytes",       "memory.max" },
	{ KNOB_MEMORY_PEAK,   CGROUP_MEMORY,  "memory.max_usage_in_bytes",   "memory.peak" },
	{ KNOB_MEMORY_NOW,    CGROUP_MEMORY,  "memory.usage_in_bytes",       "memory.current" },
	{ KNOB_MEMORY_EMPTY,  CGROUP_MEMORY,  "memory.force_empty",          "memory.reclaim" },
	{ KNOB_MEMORY_EVENTS, CGROUP_MEMORY,  "memory.oom_control",          "memory.events" },
	{ KNOB_SWAP_MAX,      CGROUP_MEMORY,  "memory.memsw.limit_in_bytes", NULL },
	{ KNOB_SWAP_OFF,      CGROUP_MEMORY,  "memory.swappiness",           "memory.swap.max" },
	{ KNOB_OOM_GROUP,     CGROUP_MEMORY,  NULL,                          "memory.oom.group" },
	{ KNOB_PIDS_MAX,      CGROUP_PIDS,    "pids.max",                    "pids.max" },
	{ KNOB_PIDS_NOW,      CGROUP_PIDS,    "pids.current",                "pids.current" },
	{ KNOB_PIDS_EVENTS,   CGROUP_PIDS,    "pids.events",                 "pids.events" },
	{ KNOB_CPU_MAX,       CGROUP_CPU,     "cpu.cfs_quota_us",            "cpu.max" },
	{ KNOB_CPU_USAGE,     CGROUP_CPU,     NULL,                          "cpu.stat" },
	{ KNOB_CPU_USAGE,     CGROUP_CPUACCT, "cpuacct.usage",               NULL },
	{ KNOB_KILL,          0,              NULL,                          "cgroup.kill" },
	{ KNOB_FREEZE,        0,              NULL,                          "cgroup.freeze" },
	{ KNOB_FROZEN,        0,              NULL,                          "cgroup.events" },
	/* clang-format on */
};

/* ---- small files --------------------------------------------------------------------------- */

static int write_at(int folder, const char *name, const char *text, struct err *err)
{
	auto_fd int fd = openat(folder, name, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		return err_sys(err, "%s", name);
	return 0;
}

static int open_folder(int folder, const char *name)
{
	return openat(folder, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
}

/* Whether `word` is in `list`, whose words are separated by any character of `parts`. */
static bool has_word(const char *list, const char *word, const char *parts)
{
	size_t len = strlen(word);

	while (*list) {
		size_t found = strcspn(list, parts);

		if (found == len && strncmp(list, word, len) == 0)
			return true;
		list += found + strspn(list + found, parts);
	}
	return false;
}

/* The set of our controllers that a list names. */
static unsigned controllers_in(const char *list, const char *parts)
{
	unsigned found = 0;

	for (size_t i = 0; i < COUNT_OF(controllers); i++)
		if (has_word(list, controllers[i].name, parts))
			found |= controllers[i].bit;
	return found;
}

static void close_file(FILE **file)
{
	if (*file)
		(void)fclose(*file);
}

#define auto_file __attribute__((cleanup(close_file)))

/* ---- where are we? ------------------------------------------------------------------------- */

/*
 * A line of /proc/self/cgroup, such as "4:memory:/our/path".  The line of v2, "0::/our/path", has
 * no controllers.
 */
struct own_line {
	bool is_v2;
	unsigned controllers; /* the controllers that we know */
	char path[TEXT_MAX];
};

static bool parse_own(const char *line, struct own_line *ret_own)
{
	char list[TEXT_MAX] = "";

	*ret_own = (struct own_line){ .controllers = 0 };
	ret_own->is_v2 = sscanf(line, "0::%511[^\n]", ret_own->path) == 1;
	if (ret_own->is_v2)
		return true;
	if (sscanf(line, "%*u:%511[^:]:%511[^\n]", list, ret_own->path) != 2)
		return false;
	ret_own->controllers = controllers_in(list, ",");
	return ret_own->controllers != 0;
}

/* A line of /proc/self/mountinfo: ... root, mount point ... - type source options. */
static bool is_mount_of(
	const char *line, const struct own_line *own, char *ret_root, char *ret_folder)
{
	const char *behind = strstr(line, " - ");
	char type[WORD_MAX];
	char options[TEXT_MAX];

	if (!behind || sscanf(behind, " - %31s %*s %511s", type, options) != 2 ||
		sscanf(line, "%*s %*s %*s %511s %511s", ret_root, ret_folder) != 2)
		return false;
	if (own->is_v2)
		return strcmp(type, "cgroup2") == 0;
	return strcmp(type, "cgroup") == 0 && controllers_in(options, ",") == own->controllers;
}

/* Opens the folder of our own cgroup; a mount may show only a part of the hierarchy. */
static int open_own(const struct own_line *own, char *ret_folder, struct err *err)
{
	auto_file FILE *mounts = fopen("/proc/self/mountinfo", "re");
	char line[LINE_MAX_LEN];
	char root[TEXT_MAX];
	char mount[TEXT_MAX];

	while (mounts && fgets(line, sizeof(line), mounts)) {
		size_t len;
		int fd;

		if (!is_mount_of(line, own, root, mount))
			continue;
		len = strcmp(root, "/") == 0 ? 0 : strlen(root);
		if (strncmp(own->path, root, len) != 0 || strstr(own->path, "/.."))
			continue;
		cut_printf(ret_folder, FOLDER_MAX, "%s%s", mount, own->path + len);
		fd = open_folder(AT_FDCWD, ret_folder);
		return fd < 0 ? err_sys(err, "open") : fd;
	}
	cut_printf(ret_folder, FOLDER_MAX, "%s", own->path);
	return err_set(err, ERR_UNSUPPORTED, "this hierarchy is not mounted");
}

/* ---- the folder of all jails --------------------------------------------------------------- */

/* Calls `visit` for each folder in a folder. */
static void each_folder(int parent, const char *name, void (*visit)(int folder, const char *name))
{
	int fd = open_folder(parent, name);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (!dir) {
		cleanup_fd(&fd);
		return;
	}
	while ((entry = readdir(dir)))
		if (entry->d_type == DT_DIR && entry->d_name[0] != '.')
			visit(dirfd(dir), entry->d_name);
	closedir(dir);
}

static void remove_folder(int folder, const char *name)
{
	(void)unlinkat(folder, name, AT_REMOVEDIR);
}

/* Removes a folder and its leaves, as far as the kernel permits. */
static void remove_jails(int base, const char *name)
{
	each_folder(base, name, remove_folder);
	remove_folder(base, name);
}

/*
 * A spawner whose folder is not locked is dead, or has not locked it yet.  So a folder stays while
 * any process has its number.  If that process is no spawner, a later start removes the folder.
 */
static void remove_if_dead(int base, const char *name)
{
	const char *pid = name + strlen(JAILS_PREFIX);
	auto_fd int jails = -1;

	if (strncmp(name, JAILS_PREFIX, strlen(JAILS_PREFIX)) != 0 || *pid == '\0' ||
		pid[strspn(pid, "0123456789")] != '\0' ||
		kill((pid_t)strtol(pid, NULL, 10), 0) == 0)
		return;
	jails = open_folder(base, name);
	if (jails >= 0 && flock(jails, LOCK_EX | LOCK_NB) == 0)
		remove_jails(base, name);
}

static int make_jails(int base, const char *name, struct err *err)
{
	auto_fd int jails = -1;

	if (mkdirat(base, name, 0755) < 0 && errno != EEXIST)
		return err_sys(err, "mkdir %s", name);
	jails = open_folder(base, name);
	if (jails < 0 || flock(jails, LOCK_EX | LOCK_NB) < 0)
		return err_sys(err, "lock %s", name);
	return take_fd(&jails);
}

/* ---- v2: controllers are handed down, and only to cgroups without processes of their own --- */

static unsigned v2_controllers(int folder)
{
	auto_fd int fd = openat(folder, "cgroup.controllers", O_RDONLY | O_CLOEXEC);
	char offered[TEXT_MAX] = "";

	if (fd < 0 || read(fd, offered, sizeof(offered) - 1) < 0)
		return 0;
	return controllers_in(offered, " \n");
}

/* Writes "+memory +pids" or "-memory -pids" to cgroup.subtree_control. */
static int switch_controllers(int folder, char sign, unsigned which, struct err *err)
{
	char word[64] = "";

	for (size_t i = 0; i < COUNT_OF(controllers); i++)
		if (which & controllers[i].bit)
			cut_printf(word + strlen(word), sizeof(word) - strlen(word), "%c%s ", sign,
				controllers[i].name);
	return write_at(folder, "cgroup.subtree_control", word, err);
}

static int move_self(int folder, struct err *err)
{
	return write_at(folder, "cgroup.procs", "0", err);
}

/* Moves the spawner back to the cgroup where it was started, and restores that. */
static void hand_back(struct cgroup_hierarchy *row, unsigned which)
{
	(void)switch_controllers(row->jails, '-', which, NULL);
	(void)switch_controllers(row->base, '-', which, NULL);
	(void)move_self(row->base, NULL);
	(void)unlinkat(row->jails, MAIN_LEAF, AT_REMOVEDIR);
}

/* The spawner moves into a leaf first, else the kernel refuses to enable a controller. */
static int hand_down(struct cgroup_hierarchy *row, unsigned which, struct err *err)
{
	auto_fd int own = -1;

	if (mkdirat(row->jails, MAIN_LEAF, 0755) < 0 && errno != EEXIST)
		return err_sys(err, "mkdir %s", MAIN_LEAF);
	own = open_folder(row->jails, MAIN_LEAF);
	if (own < 0)
		return err_sys(err, "%s", MAIN_LEAF);
	if (move_self(own, err) == 0 && switch_controllers(row->base, '+', which, err) == 0 &&
		switch_controllers(row->jails, '+', which, err) == 0)
		return 0;
	hand_back(row, which);
	return -1;
}

/* A v2 hierarchy without controllers still has cgroup.kill. */
static int open_v2(struct cgroup_hierarchy *row, struct err *err)
{
	row->controllers = v2_controllers(row->base);
	return row->controllers ? hand_down(row, row->controllers, err) : 0;
}

/* ---- all of them --------------------------------------------------------------------------- */

static int open_hierarchy(struct cgroups *cgroups, const struct own_line *own, struct err *err)
{
	struct cgroup_hierarchy row = { own->is_v2, own->controllers, -1, -1 };
	char folder[FOLDER_MAX];

	row.base = open_own(own, folder, err);
	if (row.base < 0)
		return err_wrap(err, "%s", folder);
	each_folder(row.base, ".", remove_if_dead);
	row.jails = make_jails(row.base, cgroups->jails_name, err);
	if (row.jails >= 0 && (!row.is_v2 || open_v2(&row, err) == 0)) {
		cgroups->rows[cgroups->count++] = row;
		cgroups->can_kill |= row.is_v2;
		return 0;
	}
	if (row.jails >= 0) /* else it is not ours */
		remove_jails(row.base, cgroups->jails_name);
	cleanup_fd(&row.jails);
	cleanup_fd(&row.base);
	if (row.is_v2)
		(void)err_wrap(
			err, "no cgroup of our own (systemd-run [--user] --scope -p Delegate=yes)");
	return err_wrap(err, "%s", folder);
}

void cgroups_open(struct cgroups *cgroups)
{
	auto_file FILE *table = fopen("/proc/self/cgroup", "re");
	char line[LINE_MAX_LEN];

	*cgroups = (struct cgroups){ .count = 0 };
	cut_printf(
		cgroups->jails_name, sizeof(cgroups->jails_name), JAILS_PREFIX "%d", (int)getpid());
	while (table && cgroups->count < CGROUP_HIERARCHIES_MAX &&
		fgets(line, sizeof(line), table)) {
		struct own_line own;
		struct err err = ERR_INIT;

		if (!parse_own(line, &own) || open_hierarchy(cgroups, &own, &err) == 0)
			continue;
		if (cgroups->why_not[0] == '\0')
			cut_printf(cgroups->why_not, sizeof(cgroups->why_not), "%s", err.text);
	}
}

void cgroups_close(struct cgroups *cgroups)
{
	for (unsigned i = 0; i < cgroups->count; i++) {
		struct cgroup_hierarchy *row = &cgroups->rows[i];

		if (row->is_v2 && row->controllers)
			hand_back(row, row->controllers);
		remove_jails(row->base, cgroups->jails_name);
		cleanup_fd(&row->jails);
		cleanup_fd(&row->base);
	}
	cgroups->count = 0;
}

uint32_t cgroups_kind(const struct cgroups *cgroups, enum cgroup_controller controller)
{
	for (unsigned i = 0; i < cgroups->count; i++)
		if (cgroups->rows[i].controllers & controller)
			return cgroups->rows[i].is_v2 ? PRIV_CGROUP_V2 : PRIV_CGROUP_V1;
	return PRIV_CGROUP_NONE;
}

/* ---- leaves -------------------------------------------------------------------------------- */

int cgroup_make(const struct cgroups *cgroups, const char *leaf, struct err *err)
{
	for (unsigned i = 0; i < cgroups->count; i++)
		if (mkdirat(cgroups->rows[i].jails, leaf, 0755) < 0 && errno != EEXIST)
			return err_sys(err, "cgroup %s", leaf);
	return 0;
}

static int write_leaf(const struct cgroup_hierarchy *row, const char *leaf, const char *name,
	uint64_t value, struct err *err)
{
	auto_fd int folder = open_folder(row->jails, leaf);
	char text[24];

	cut_printf(text, sizeof(text), "%llu", (unsigned long long)value);
	if (folder < 0)
		return err_sys(err, "cgroup %s", leaf);
	return write_at(folder, name, text, err) < 0 ? err_wrap(err, "cgroup %s", leaf) : 0;
}

int cgroup_join(const struct cgroups *cgroups, const char *leaf, pid_t pid, struct err *err)
{
	for (unsigned i = 0; i < cgroups->count; i++)
		if (write_leaf(&cgroups->rows[i], leaf, "cgroup.procs", (uint64_t)pid, err) < 0)
			return -1;
	return 0;
}

int cgroup_limit(const struct cgroups *cgroups, const char *leaf, uint64_t memory_bytes,
	uint64_t pids, struct err *err)
{
	for (unsigned i = 0; i < cgroups->count; i++) {
		const struct cgroup_hierarchy *row = &cgroups->rows[i];
		const char *memory = row->is_v2 ? "memory.max" : "memory.limit_in_bytes";

		if (((row->controllers & CGROUP_MEMORY) &&
			    write_leaf(row, leaf, memory, memory_bytes, err) < 0) ||
			((row->controllers & CGROUP_PIDS) &&
				write_leaf(row, leaf, "pids.max", pids, err) < 0))
			return -1;
	}
	return 0;
}

/* Some files can only be read and some only be written, and this differs between kernels. */
static int open_knob(int folder, const char *name)
{
	static const int modes[] = { O_RDWR, O_WRONLY, O_RDONLY };
	int fd = -1;

	for (size_t i = 0; fd < 0 && i < COUNT_OF(modes); i++)
		fd = openat(folder, name, modes[i] | O_CLOEXEC);
	return fd;
}

/*
 * In v1 the opener may move processes of its own uid.  In v2 the opener must also be able to write
 * to the procs files of both sides and of their common ancestor.  That is our folder, so workers
 * can join from their zygote's leaf, and no process can come in from outside.
 */
static int open_join(const struct cgroup_hierarchy *row, int folder, const char *name, uid_t joiner)
{
	int fd;

	if (joiner == CGROUP_AS_WE_ARE)
		return open_knob(folder, name);
	/* the folder too, since our umask may have denied it to others */
	if (fchmod(folder, 0755) < 0 || fchmodat(folder, name, 0666, 0) < 0 ||
		(row->is_v2 && fchmodat(row->jails, name, 0666, 0) < 0))
		return -1;
	fd = caps_open_as(joiner, folder, name, O_WRONLY | O_CLOEXEC);
	if (!row->is_v2 && fd >= 0 && fchmodat(folder, name, 0644, 0) < 0)
		cleanup_fd(&fd);
	return fd;
}

/* The name of this knob in this version of cgroups, or NULL if it has none. */
static const char *knob_name(const struct cgroup_hierarchy *row, const struct knob_row *knob)
{
	if (knob->controller && !(row->controllers & knob->controller))
		return NULL;
	return row->is_v2 ? knob->v2 : knob->v1;
}

static int add_knobs(const struct cgroup_hierarchy *row, int folder, uid_t joiner,
	struct priv_knobs *knobs_out, int *ret_fds, struct err *err)
{
	for (size_t i = 0; i < COUNT_OF(knobs); i++) {
		const char *name = knob_name(row, &knobs[i]);
		int fd;

		if (!name)
			continue;
		fd = knobs[i].knob == KNOB_JOIN ? open_join(row, folder, name, joiner)
						: open_knob(folder, name);
		if (fd < 0 && errno == ENOENT)
			continue;
		if (fd < 0)
			return err_sys(err, "%s", name);
		if (knobs_out->count == PRIV_FDS_MAX) {
			close(fd);
			return err_set(err, ERR_TOO_BIG, "more than %d knobs", PRIV_FDS_MAX);
		}
		ret_fds[knobs_out->count] = fd;
		knobs_out->which[knobs_out->count++] = knobs[i].knob;
	}
	return 0;
}

int cgroup_knobs(const struct cgroups *cgroups, const char *leaf, uid_t joiner,
	struct priv_knobs *ret_knobs, int *ret_fds, struct err *err)
{
	*ret_knobs = (struct priv_knobs){ .count = 0 };
	for (unsigned i = 0; i < cgroups->count; i++) {
		const struct cgroup_hierarchy *row = &cgroups->rows[i];
		auto_fd int folder = open_folder(row->jails, leaf);

		if ((folder < 0 && err_sys(err, "cgroup") < 0) ||
			add_knobs(row, folder, joiner, ret_knobs, ret_fds, err) < 0) {
			close_fds(ret_fds, ret_knobs->count);
			return err_wrap(err, "%s", leaf);
		}
	}
	return 0;
}

bool cgroup_remove(const struct cgroups *cgroups, const char *leaf)
{
	bool gone = true;

	for (unsigned i = 0; i < cgroups->count; i++)
		if (unlinkat(cgroups->rows[i].jails, leaf, AT_REMOVEDIR) < 0 && errno != ENOENT)
			gone = false;
	return gone;
}
