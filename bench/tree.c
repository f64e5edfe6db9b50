#include "bench/tree.h"

#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proto/base/cleanup.h"
#include "proto/base/container.h"
#include "proto/base/fdio.h"

#define PROCESSES_MAX 65536
#define LEAVES_MAX    1024
#define DEPTH_MAX     16

struct process {
	pid_t pid, parent;
	uint64_t ticks; /* its own and those of children that it has reaped */
	bool is_python;
};

/* All that there are at the moment. */
static struct {
	size_t count;
	struct process list[PROCESSES_MAX];
} all;

static char *read_of(const char *pid, const char *what)
{
	char path[64];
	char *text = NULL;
	size_t len = 0;
	struct err err = ERR_INIT;

	cut_printf(path, sizeof(path), "/proc/%s/%s", pid, what);
	return read_file(path, 65536, &text, &len, &err) < 0 ? NULL : text;
}

static bool read_process(const char *name, struct process *ret)
{
	auto_free char *text = read_of(name, "stat");
	char *at = text ? strrchr(text, ')') : NULL;
	uint64_t ticks[4];

	ret->pid = (pid_t)strtol(name, NULL, 10);
	if (!at || sscanf(at + 2,
			   "%*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %" SCNu64 " %" SCNu64
			   " %" SCNu64 " %" SCNu64,
			   &ret->parent, &ticks[0], &ticks[1], &ticks[2], &ticks[3]) != 5)
		return false;
	ret->ticks = ticks[0] + ticks[1] + ticks[2] + ticks[3];
	ret->is_python = strstr(text, "(python") != NULL;
	return true;
}

static void look(void)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;

	all.count = 0;
	while (proc && (entry = readdir(proc)) && all.count < PROCESSES_MAX)
		if (isdigit((unsigned char)entry->d_name[0]))
			all.count += read_process(entry->d_name, &all.list[all.count]);
	if (proc)
		closedir(proc);
}

static pid_t parent_of(pid_t pid)
{
	for (size_t i = 0; i < all.count; i++)
		if (all.list[i].pid == pid)
			return all.list[i].parent;
	return 0;
}

static bool descends(pid_t pid, pid_t root)
{
	for (int depth = 0; depth < DEPTH_MAX && pid > 1; depth++, pid = parent_of(pid))
		if (pid == root)
			return true;
	return false;
}

static bool has_children(pid_t pid)
{
	for (size_t i = 0; i < all.count; i++)
		if (all.list[i].parent == pid)
			return true;
	return false;
}

double tree_cpu_s(pid_t root)
{
	uint64_t ticks = 0;

	look();
	for (size_t i = 0; i < all.count; i++)
		if (descends(all.list[i].pid, root))
			ticks += all.list[i].ticks;
	return (double)ticks / (double)sysconf(_SC_CLK_TCK);
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The first process of a jail is no worker: it shares its slot's memory, and waits. */
static bool is_init(const char *pid)
{
	auto_free char *text = read_of(pid, "status");
	const char *line = text ? strstr(text, "NSpid:") : NULL;
	const char *last = line ? line + strcspn(line, "\n") : NULL;

	return last && last - line > 2 && last[-1] == '1' && last[-2] == '\t';
}

double tree_python_kib(pid_t root)
{
	double sizes[LEAVES_MAX];
	size_t count = 0;

	look();
	for (size_t i = 0; i < all.count && count < LEAVES_MAX; i++) {
		auto_free char *text = NULL;
		char *line;
		char name[16];

		if (!all.list[i].is_python || has_children(all.list[i].pid) ||
			!descends(all.list[i].pid, root))
			continue;
		cut_printf(name, sizeof(name), "%d", all.list[i].pid);
		text = is_init(name) ? NULL : read_of(name, "smaps_rollup");
		line = text ? strstr(text, "Private_Dirty:") : NULL;
		if (line)
			sizes[count++] = strtod(line + strlen("Private_Dirty:"), NULL);
	}
	qsort(sizes, count, sizeof(*sizes), by_size);
	return count ? sizes[count / 2] : 0;
}

void tree_adopt(void)
{
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

void tree_reap(void)
{
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
}
