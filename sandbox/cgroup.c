#include "sandbox/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "proto/base/cleanup.h"
#include "proto/base/container.h"
#include "proto/base/fdio.h"

#define HOUSE_PREFIX   "ced-"
#define MAIN_LEAF      "main" /* v2: where we ourselves live */
#define TEXT_MAX       (256U << 10)
#define LINE_MAX_LEN   1024
#define MOUNT_TEXT_MAX 512

static const struct controller {
	enum cgroup_controller bit;
	const char *v1; /* name among v1's mount options */
	const char *v2; /* name in cgroup.controllers */
} controllers[] = {
	{ CGROUP_MEMORY, "memory", "memory" },
	{ CGROUP_PIDS, "pids", "pids" },
	{ CGROUP_CPU, "cpu", "cpu" },
	{ CGROUP_CPUACCT, "cpuacct", NULL },
};

/* What is handed out of a leaf.  An absent file is an absent knob. */
static const struct {
	enum priv_knob knob;
	enum cgroup_controller controller; /* 0: of the hierarchy itself */
	const char *v1;
	const char *v2;
} knobs[] = {
	/* clang-format off */
	{ KNOB_JOIN,          0,              "cgroup.procs",                "cgroup.procs" },
	{ KNOB_MEMORY_MAX,    CGROUP_MEMORY,  "memory.limit_in_bytes",       "memory.max" },
	{ KNOB_MEMORY_PEAK,   CGROUP_MEMORY,  "memory.max_usage_in_bytes",   "memory.peak" },
	{ KNOB_MEMORY_NOW,    CGROUP_MEMORY,  "memory.usage_in_bytes",       "memory.current" },
	{ KNOB_MEMORY_EVENTS, CGROUP_MEMORY,  "memory.oom_control",          "memory.events" },
	{ KNOB_SWAP_MAX,      CGROUP_MEMORY,  "memory.memsw.limit_in_bytes", "memory.swap.max" },
	{ KNOB_PIDS_MAX,      CGROUP_PIDS,    "pids.max",                    "pids.max" },
	{ KNOB_PIDS_NOW,      CGROUP_PIDS,    "pids.current",                "pids.current" },
	{ KNOB_PIDS_EVENTS,   CGROUP_PIDS,    "pids.events",                 "pids.events" },
	{ KNOB_CPU_MAX,       CGROUP_CPU,     "cpu.cfs_quota_us",            "cpu.max" },
	{ KNOB_CPU_USAGE,     CGROUP_CPU,     NULL,                          "cpu.stat" },
	{ KNOB_CPU_USAGE,     CGROUP_CPUACCT, "cpuacct.usage",               NULL },
	{ KNOB_KILL,          0,              NULL,                          "cgroup.kill" },
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

/* Is `word` one of the words of `list`, which are parted by any of `parts`? */
static bool has_word(const char *list, const char *word, const char *parts)
{
	size_t len = strlen(word);

	while (*list) {
		size_t found = strcspn(list, parts);

		if (found == len && strncmp(list, word, len) == 0)
			return true;
		list += found;
		list += strspn(list, parts);
	}
	return false;
}

static void why_not(struct cgroups *cgroups, const char *where, const char *why)
{
	if (cgroups->why_not[0] == '\0')
		cut_printf(cgroups->why_not, sizeof(cgroups->why_not), "%s: %s", where, why);
}

/* ---- where are we? ------------------------------------------------------------------------- */

/* A line of /proc/self/mountinfo that is a cgroup hierarchy. */
struct mount_line {
	bool is_v2;
	char root[MOUNT_TEXT_MAX];
	char folder[MOUNT_TEXT_MAX];
	char options[MOUNT_TEXT_MAX];
};

static bool parse_mount(const char *line, struct mount_line *ret_mount)
{
	const char *behind = strstr(line, " - ");
	char type[16];

	if (!behind || sscanf(behind, " - %15s %*s %511s", type, ret_mount->options) != 2)
		return false;
	if (sscanf(line, "%*s %*s %*s %511s %511s", ret_mount->root, ret_mount->folder) != 2)
		return false;
	ret_mount->is_v2 = strcmp(type, "cgroup2") == 0;
	return ret_mount->is_v2 || strcmp(type, "cgroup") == 0;
}

static unsigned v1_controllers(const char *options)
{
	unsigned found = 0;

	for (size_t i = 0; i < COUNT_OF(controllers); i++)
		if (has_word(options, controllers[i].v1, ","))
			found |= controllers[i].bit;
	return found;
}

/*
 * Our own path in a hierarchy, from the lines "id:controllers:path" of /proc/self/cgroup; v2's has
 * no controllers.
 */
static bool own_path(const char *table, const char *controller, char *ret_path)
{
	char list[MOUNT_TEXT_MAX];

	for (const char *line = table; line && *line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (sscanf(line, "0::%511[^\n]", ret_path) == 1) {
			if (!controller)
				return true;
			continue;
		}
		if (controller && sscanf(line, "%*u:%511[^:]:%511[^\n]", list, ret_path) == 2 &&
			has_word(list, controller, ","))
			return true;
	}
	return false;
}

/* The folder of our own cgroup: a mount may show only a part of the hierarchy. */
static int open_own(const struct mount_line *mount, const char *path, struct err *err)
{
	size_t root_len = strcmp(mount->root, "/") == 0 ? 0 : strlen(mount->root);
	char folder[2 * MOUNT_TEXT_MAX];
	int fd;

	if (strncmp(path, mount->root, root_len) != 0 || strstr(path, "/.."))
		return err_set(err, ERR_UNSUPPORTED, "%s: our own cgroup %s is out of sight",
			mount->folder, path);
	cut_printf(folder, sizeof(folder), "%s%s", mount->folder, path + root_len);
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? err_sys(err, "%s", folder) : fd;
}

/* ---- the house ----------------------------------------------------------------------------- */

/* Folders below `folder`, deepest first, as far as the kernel lets go of them. */
static void remove_tree(int parent, const char *name)
{
	auto_fd int fd = open_folder(parent, name);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (dir) {
		fd = -1; /* the DIR's now */
		while ((entry = readdir(dir)))
			if (entry->d_type == DT_DIR && entry->d_name[0] != '.')
				(void)unlinkat(dirfd(dir), entry->d_name, AT_REMOVEDIR);
		closedir(dir);
	}
	(void)unlinkat(parent, name, AT_REMOVEDIR);
}

/* A house whose lock can be had has nobody living in it. */
static void remove_if_dead(int base, const char *name)
{
	auto_fd int house = open_folder(base, name);

	if (house >= 0 && flock(house, LOCK_EX | LOCK_NB) == 0)
		remove_tree(base, name);
}

static void remove_dead_houses(int base)
{
	int fd = open_folder(base, ".");
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (!dir) {
		cleanup_fd(&fd);
		return;
	}
	while ((entry = readdir(dir)))
		if (strncmp(entry->d_name, HOUSE_PREFIX, strlen(HOUSE_PREFIX)) == 0)
			remove_if_dead(base, entry->d_name);
	closedir(dir);
}

static int make_house(int base, const char *name, struct err *err)
{
	auto_fd int house = -1;

	if (mkdirat(base, name, 0755) < 0 && errno != EEXIST)
		return err_sys(err, "mkdir %s", name);
	house = open_folder(base, name);
	if (house < 0 || flock(house, LOCK_EX | LOCK_NB) < 0) {
		(void)err_sys(err, "lock %s", name);
		(void)unlinkat(base, name, AT_REMOVEDIR);
		return -1;
	}
	return take_fd(&house);
}

/* ---- v2: controllers are handed down, and only to cgroups without processes of their own --- */

static int read_at(int folder, const char *name, char *ret_text, size_t size)
{
	auto_fd int fd = openat(folder, name, O_RDONLY | O_CLOEXEC);
	ssize_t len = fd < 0 ? -1 : read(fd, ret_text, size - 1);

	if (len < 0)
		return -1;
	ret_text[len] = '\0';
	return 0;
}

static unsigned v2_controllers(int folder)
{
	char offered[LINE_MAX_LEN];
	unsigned found = 0;

	if (read_at(folder, "cgroup.controllers", offered, sizeof(offered)) < 0)
		return 0;
	for (size_t i = 0; i < COUNT_OF(controllers); i++)
		if (controllers[i].v2 && has_word(offered, controllers[i].v2, " \n"))
			found |= controllers[i].bit;
	return found;
}

/* Writes "+memory +pids" or "-memory -pids" to where a cgroup says what it hands down. */
static int switch_controllers(int folder, char sign, unsigned which, struct err *err)
{
	char word[64] = "";

	for (size_t i = 0; i < COUNT_OF(controllers); i++)
		if (controllers[i].v2 && (which & controllers[i].bit))
			cut_printf(word + strlen(word), sizeof(word) - strlen(word), "%c%s ", sign,
				controllers[i].v2);
	return write_at(folder, "cgroup.subtree_control", word, err);
}

static int move_self(int folder, struct err *err)
{
	return write_at(folder, "cgroup.procs", "0", err);
}

/* Back to where we came from, as we found it. */
static void hand_back(struct cgroup_hierarchy *row, unsigned which)
{
	(void)switch_controllers(row->house, '-', which, NULL);
	(void)switch_controllers(row->base, '-', which, NULL);
	(void)move_self(row->base, NULL);
	(void)unlinkat(row->house, MAIN_LEAF, AT_REMOVEDIR);
}

/* We move into a leaf of the house first, else the kernel refuses to hand anything down. */
static int hand_down(struct cgroup_hierarchy *row, unsigned which, struct err *err)
{
	auto_fd int own = -1;

	if (mkdirat(row->house, MAIN_LEAF, 0755) < 0 && errno != EEXIST)
		return err_sys(err, "mkdir %s", MAIN_LEAF);
	own = open_folder(row->house, MAIN_LEAF);
	if (own < 0)
		return err_sys(err, "%s", MAIN_LEAF);
	if (move_self(own, err) == 0 && switch_controllers(row->base, '+', which, err) == 0 &&
		switch_controllers(row->house, '+', which, err) == 0)
		return 0;
	hand_back(row, which);
	return err_wrap(err, "wants a cgroup of its own (`systemd-run --scope -p Delegate=yes`)");
}

/* A v2 hierarchy without controllers is still good for cgroup.kill. */
static int open_v2(struct cgroup_hierarchy *row, struct err *err)
{
	unsigned offered = v2_controllers(row->base);

	row->controllers = 0;
	if (offered && hand_down(row, offered, err) < 0)
		return -1;
	row->controllers = offered;
	return 0;
}

/* ---- all of them --------------------------------------------------------------------------- */

static bool is_known(const struct cgroups *cgroups, const struct mount_line *mount)
{
	unsigned wanted = v1_controllers(mount->options);

	for (unsigned i = 0; i < cgroups->count; i++) {
		const struct cgroup_hierarchy *row = &cgroups->rows[i];

		if (mount->is_v2 ? row->is_v2 : !row->is_v2 && (row->controllers & wanted))
			return true;
	}
	return cgroups->count == CGROUP_HIERARCHIES_MAX;
}

static const char *first_controller(const struct mount_line *mount)
{
	for (size_t i = 0; i < COUNT_OF(controllers); i++)
		if (has_word(mount->options, controllers[i].v1, ","))
			return controllers[i].v1;
	return NULL;
}

static int open_hierarchy(
	struct cgroups *cgroups, const struct mount_line *mount, const char *table, struct err *err)
{
	struct cgroup_hierarchy row = { .is_v2 = mount->is_v2, .base = -1, .house = -1 };
	char path[MOUNT_TEXT_MAX];

	if (!own_path(table, mount->is_v2 ? NULL : first_controller(mount), path))
		return err_set(err, ERR_UNSUPPORTED, "no cgroup of our own");
	row.base = open_own(mount, path, err);
	if (row.base < 0)
		return -1;
	remove_dead_houses(row.base);
	row.house = make_house(row.base, cgroups->house_name, err);
	row.controllers = v1_controllers(mount->options);
	if (row.house < 0 || (row.is_v2 && open_v2(&row, err) < 0)) {
		cleanup_fd(&row.house);
		(void)unlinkat(row.base, cgroups->house_name, AT_REMOVEDIR);
		cleanup_fd(&row.base);
		return -1;
	}
	cgroups->rows[cgroups->count++] = row;
	return 0;
}

static void open_line(struct cgroups *cgroups, const char *line, const char *table)
{
	struct mount_line mount;
	struct err err = ERR_INIT;

	if (!parse_mount(line, &mount) || is_known(cgroups, &mount))
		return;
	if (!mount.is_v2 && v1_controllers(mount.options) == 0)
		return;
	if (open_hierarchy(cgroups, &mount, table, &err) < 0)
		why_not(cgroups, mount.folder, err.text);
}

void cgroups_open(struct cgroups *cgroups)
{
	auto_free char *mounts = NULL;
	auto_free char *table = NULL;
	struct err err = ERR_INIT;
	size_t len;
	char *rest;

	*cgroups = (struct cgroups){ .count = 0 };
	cut_printf(
		cgroups->house_name, sizeof(cgroups->house_name), HOUSE_PREFIX "%d", (int)getpid());
	if (read_file("/proc/self/mountinfo", TEXT_MAX, &mounts, &len, &err) < 0 ||
		read_file("/proc/self/cgroup", TEXT_MAX, &table, &len, &err) < 0) {
		why_not(cgroups, "cgroup", err.text);
		return;
	}
	rest = mounts;
	for (char *line = strsep(&rest, "\n"); line; line = strsep(&rest, "\n"))
		open_line(cgroups, line, table);
	if (cgroups->count == 0)
		why_not(cgroups, "cgroup", "no hierarchy is mounted");
}

void cgroups_close(struct cgroups *cgroups)
{
	for (unsigned i = 0; i < cgroups->count; i++) {
		struct cgroup_hierarchy *row = &cgroups->rows[i];

		if (row->is_v2 && row->controllers)
			hand_back(row, row->controllers);
		remove_tree(row->base, cgroups->house_name);
		cleanup_fd(&row->house);
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

bool cgroups_can_kill(const struct cgroups *cgroups)
{
	for (unsigned i = 0; i < cgroups->count; i++)
		if (cgroups->rows[i].is_v2)
			return true;
	return false;
}

/* ---- leaves -------------------------------------------------------------------------------- */

int cgroup_make(const struct cgroups *cgroups, const char *leaf, struct err *err)
{
	for (unsigned i = 0; i < cgroups->count; i++)
		if (mkdirat(cgroups->rows[i].house, leaf, 0755) < 0 && errno != EEXIST)
			return err_sys(err, "cgroup %s", leaf);
	return 0;
}

static int write_leaf(const struct cgroup_hierarchy *row, const char *leaf, const char *name,
	const char *text, struct err *err)
{
	auto_fd int folder = open_folder(row->house, leaf);

	if (folder < 0)
		return err_sys(err, "cgroup %s", leaf);
	if (write_at(folder, name, text, err) < 0)
		return err_wrap(err, "cgroup %s", leaf);
	return 0;
}

int cgroup_join(const struct cgroups *cgroups, const char *leaf, pid_t pid, struct err *err)
{
	char text[24];

	cut_printf(text, sizeof(text), "%d", (int)pid);
	for (unsigned i = 0; i < cgroups->count; i++)
		if (write_leaf(&cgroups->rows[i], leaf, "cgroup.procs", text, err) < 0)
			return -1;
	return 0;
}

static int limit_one(const struct cgroups *cgroups, const char *leaf, enum priv_knob knob,
	uint64_t value, struct err *err)
{
	char text[24];

	cut_printf(text, sizeof(text), "%llu", (unsigned long long)value);
	for (size_t k = 0; k < COUNT_OF(knobs); k++) {
		if (knobs[k].knob != knob || value == 0)
			continue;
		for (unsigned i = 0; i < cgroups->count; i++) {
			const struct cgroup_hierarchy *row = &cgroups->rows[i];

			if ((row->controllers & knobs[k].controller) &&
				write_leaf(row, leaf, row->is_v2 ? knobs[k].v2 : knobs[k].v1, text,
					err) < 0)
				return -1;
		}
	}
	return 0;
}

int cgroup_limit(const struct cgroups *cgroups, const char *leaf, uint64_t memory_bytes,
	uint64_t pids, struct err *err)
{
	if (limit_one(cgroups, leaf, KNOB_MEMORY_MAX, memory_bytes, err) < 0)
		return -1;
	return limit_one(cgroups, leaf, KNOB_PIDS_MAX, pids, err);
}

/* Some files can only be read and some only be written, which differs between kernels. */
static int open_knob(int folder, const char *name)
{
	static const int modes[] = { O_RDWR, O_WRONLY, O_RDONLY };
	int fd = -1;

	for (size_t i = 0; fd < 0 && i < COUNT_OF(modes); i++)
		fd = openat(folder, name, modes[i] | O_CLOEXEC);
	return fd;
}

static int add_knobs(const struct cgroup_hierarchy *row, int folder, struct priv_knobs *knobs_out,
	int *ret_fds, struct err *err)
{
	for (size_t i = 0; i < COUNT_OF(knobs); i++) {
		const char *name = row->is_v2 ? knobs[i].v2 : knobs[i].v1;
		int fd;

		if (!name || (knobs[i].controller && !(row->controllers & knobs[i].controller)))
			continue;
		fd = open_knob(folder, name);
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

int cgroup_knobs(const struct cgroups *cgroups, const char *leaf, struct priv_knobs *ret_knobs,
	int *ret_fds, struct err *err)
{
	*ret_knobs = (struct priv_knobs){ .count = 0 };
	for (unsigned i = 0; i < cgroups->count; i++) {
		const struct cgroup_hierarchy *row = &cgroups->rows[i];
		auto_fd int folder = open_folder(row->house, leaf);

		if (folder < 0)
			(void)err_sys(err, "cgroup");
		if (folder < 0 || add_knobs(row, folder, ret_knobs, ret_fds, err) < 0) {
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
		if (unlinkat(cgroups->rows[i].house, leaf, AT_REMOVEDIR) < 0 && errno != ENOENT)
			gone = false;
	return gone;
}
