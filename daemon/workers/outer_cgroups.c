#include "daemon/workers/outer_cgroups.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proto/base/cleanup.h"
#include "proto/base/err.h"

#define LINE_BYTES 4096
#define TEXT_BYTES 1024
#define FILE_BYTES 4096
#define NO_LIMIT   (UINT64_C(1) << 60) /* v1 writes "no limit" as a number above this */

static void close_file(FILE **file)
{
	if (*file)
		(void)fclose(*file);
}

#define auto_file __attribute__((cleanup(close_file)))

/* ---- finding the cgroups -------------------------------------------------------------------- */

static int open_at(const char *folder, const char *name)
{
	char path[FILE_BYTES];

	cut_printf(path, sizeof(path), "%s/%s", folder, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* Opens the v1 name, or else the v2 name. */
static int open_either(const char *folder, const char *v1, const char *v2)
{
	int fd = open_at(folder, v1);

	return fd >= 0 ? fd : open_at(folder, v2);
}

/*
 * Adds a level.  The root of a hierarchy has no counters in v2 and no limit in v1; if memory runs
 * out there, the host itself is short.
 */
static void add_level(struct outer_cgroups *outer_cgroups, const char *folder, const char *path)
{
	struct outer_cgroup *level = &outer_cgroups->levels[outer_cgroups->count];

	level->counter = open_either(folder, "memory.failcnt", "memory.events.local");
	if (level->counter < 0)
		return;
	level->limit = open_either(folder, "memory.limit_in_bytes", "memory.max");
	level->used = open_either(folder, "memory.usage_in_bytes", "memory.current");
	cut_printf(level->path, sizeof(level->path), "%s", path);
	outer_cgroups->count++;
}

void outer_cgroups_open(
	struct outer_cgroups *outer_cgroups, const char *mount, const char *root, const char *path)
{
	size_t root_len = strcmp(root, "/") == 0 ? 0 : strlen(root);
	char folder[FILE_BYTES];
	char below[FILE_BYTES];

	memset(outer_cgroups, 0, sizeof(*outer_cgroups));
	if (strncmp(path, root, root_len) != 0 || strstr(path, "/.."))
		return;
	cut_printf(below, sizeof(below), "%s", path + root_len);
	while (outer_cgroups->count < OUTER_CGROUPS_MOST && strlen(below) > 1) {
		cut_printf(folder, sizeof(folder), "%s%s", mount, below);
		add_level(outer_cgroups, folder, below);
		if (!strrchr(below, '/'))
			return;
		*strrchr(below, '/') = '\0';
	}
	outer_cgroups_look(outer_cgroups);
	outer_cgroups_look(outer_cgroups);
}

/* "4:memory:/our/path", or v2's "0::/our/path". */
static bool own_path(const char *line, bool is_v2, char *ret_path)
{
	char list[TEXT_BYTES] = "";

	if (is_v2)
		return sscanf(line, "0::%1023[^\n]", ret_path) == 1;
	return sscanf(line, "%*u:%1023[^:]:%1023[^\n]", list, ret_path) == 2 &&
	       strcmp(list, "memory") == 0;
}

static bool find_own(bool is_v2, char *ret_path)
{
	auto_file FILE *table = fopen("/proc/self/cgroup", "re");
	char line[LINE_BYTES];

	while (table && fgets(line, sizeof(line), table))
		if (own_path(line, is_v2, ret_path))
			return true;
	return false;
}

static bool find_mount(bool is_v2, char *ret_root, char *ret_mount)
{
	auto_file FILE *mounts = fopen("/proc/self/mountinfo", "re");
	char line[LINE_BYTES];
	char type[32];
	char options[TEXT_BYTES];

	while (mounts && fgets(line, sizeof(line), mounts)) {
		const char *behind = strstr(line, " - ");

		if (!behind || sscanf(behind, " - %31s %*s %1023s", type, options) != 2 ||
			sscanf(line, "%*s %*s %*s %1023s %1023s", ret_root, ret_mount) != 2)
			continue;
		if (is_v2 ? strcmp(type, "cgroup2") == 0
			  : strcmp(type, "cgroup") == 0 && strstr(options, "memory"))
			return true;
	}
	return false;
}

void outer_cgroups_open_own(struct outer_cgroups *outer_cgroups)
{
	char path[TEXT_BYTES];
	char root[TEXT_BYTES];
	char mount[TEXT_BYTES];

	memset(outer_cgroups, 0, sizeof(*outer_cgroups));
	for (int version = 1; version <= 2 && !outer_cgroups->count; version++)
		if (find_own(version == 2, path) && find_mount(version == 2, root, mount))
			outer_cgroups_open(outer_cgroups, mount, root, path);
}

void outer_cgroups_close(struct outer_cgroups *outer_cgroups)
{
	for (unsigned i = 0; i < outer_cgroups->count; i++) {
		cleanup_fd(&outer_cgroups->levels[i].counter);
		cleanup_fd(&outer_cgroups->levels[i].limit);
		cleanup_fd(&outer_cgroups->levels[i].used);
	}
	outer_cgroups->count = 0;
}

/* ---- reading them --------------------------------------------------------------------------- */

static const char *read_text(int fd, char *text, size_t size)
{
	ssize_t len = fd < 0 ? 0 : pread(fd, text, size - 1, 0);

	text[len > 0 ? len : 0] = '\0';
	return text;
}

/* failcnt is a number; in memory.events.local it is the number after "oom". */
static uint64_t count_of(const struct outer_cgroup *level)
{
	char text[TEXT_BYTES];
	const char *oom = strstr(read_text(level->counter, text, sizeof(text)), "oom ");

	return strtoull(oom ? oom + strlen("oom ") : text, NULL, 10);
}

void outer_cgroups_look(struct outer_cgroups *outer_cgroups)
{
	for (unsigned i = 0; i < outer_cgroups->count; i++) {
		struct outer_cgroup *level = &outer_cgroups->levels[i];

		level->before = level->now;
		level->now = count_of(level);
	}
}

static uint64_t limit_of(const struct outer_cgroup *level)
{
	char text[TEXT_BYTES];
	uint64_t bytes = strtoull(read_text(level->limit, text, sizeof(text)), NULL, 10);

	return bytes < NO_LIMIT ? bytes : 0; /* "max" reads as 0 */
}

const struct outer_cgroup *outer_cgroups_short(
	struct outer_cgroups *outer_cgroups, uint64_t *ret_limit_bytes)
{
	for (unsigned i = 0; i < outer_cgroups->count; i++) {
		const struct outer_cgroup *level = &outer_cgroups->levels[i];

		if (count_of(level) == level->before)
			continue;
		*ret_limit_bytes = limit_of(level);
		return level;
	}
	return NULL;
}

/* Returns the memory that programs can still get without swapping, as the kernel estimates it. */
static uint64_t host_room(void)
{
	auto_file FILE *table = fopen("/proc/meminfo", "re");
	char line[TEXT_BYTES];
	static const char name[] = "MemAvailable:"; /* in kB */

	while (table && fgets(line, sizeof(line), table))
		if (strncmp(line, name, strlen(name)) == 0)
			return (uint64_t)strtoull(line + strlen(name), NULL, 10) << 10;
	return UINT64_MAX; /* unknown: no reason to hold back */
}

uint64_t outer_cgroups_room(const struct outer_cgroups *outer_cgroups)
{
	uint64_t room = host_room();

	for (unsigned i = 0; i < outer_cgroups->count; i++) {
		const struct outer_cgroup *level = &outer_cgroups->levels[i];
		uint64_t limit = limit_of(level);
		char text[TEXT_BYTES];
		uint64_t used = strtoull(read_text(level->used, text, sizeof(text)), NULL, 10);
		uint64_t left = limit > used ? limit - used : 0;

		if (limit && left < room)
			room = left;
	}
	return room;
}
