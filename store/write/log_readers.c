#include "store/write/log_readers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/err.h"

/* SQLite's locks in the index of the log: a byte for each mark that a reader may hold. */
#define READ_LOCK_FIRST 123
#define READ_LOCK_LAST  127

#define NAME_BYTES 16 /* as long as the kernel keeps it */

static void close_file(FILE **file)
{
	if (*file)
		(void)fclose(*file);
}

#define auto_file __attribute__((cleanup(close_file)))

static void note_pid(struct log_readers *readers, int pid)
{
	if (pid == getpid()) {
		readers->has_ourselves = true;
		return;
	}
	for (unsigned i = 0; i < readers->count && i < LOG_READERS_NAMED; i++)
		if (readers->pids[i] == pid)
			return;
	if (readers->count < LOG_READERS_NAMED)
		readers->pids[readers->count] = pid;
	readers->count++;
}

/* "4: POSIX  ADVISORY  READ 4711 08:01:1234567 124 124", see proc_locks(5) */
static void read_lock(const char *line, ino_t inode, struct log_readers *readers)
{
	char pid[16];
	char file[48];
	char first[24];
	char last[24]; /* "EOF" is 0, and none of ours */
	const char *number;

	if (sscanf(line, "%*s POSIX %*s READ %15s %47s %23s %23s", pid, file, first, last) != 4)
		return;
	number = strrchr(file, ':');
	if (number && strtoull(number + 1, NULL, 10) == inode &&
		strtoll(last, NULL, 10) >= READ_LOCK_FIRST &&
		strtoll(first, NULL, 10) <= READ_LOCK_LAST && strtol(pid, NULL, 10) > 0)
		note_pid(readers, (int)strtol(pid, NULL, 10));
}

void log_readers_find(struct log_readers *ret_readers, const char *index)
{
	auto_file FILE *locks = fopen("/proc/locks", "re");
	struct stat st;
	char line[256];

	*ret_readers = (struct log_readers){ .count = 0 };
	if (!locks || !index || stat(index, &st) < 0)
		return;
	while (fgets(line, sizeof(line), locks))
		read_lock(line, st.st_ino, ret_readers);
}

/* The name of the process; "": it may not be read, or the process has ended. */
static void process_name(int pid, char ret_name[NAME_BYTES])
{
	char path[32];
	auto_file FILE *file = NULL;

	ret_name[0] = '\0';
	(void)snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	file = fopen(path, "re");
	if (!file || !fgets(ret_name, NAME_BYTES, file))
		ret_name[0] = '\0';
	ret_name[strcspn(ret_name, "\n")] = '\0';
	for (char *at = ret_name; *at; at++)
		if (*at < ' ' || *at > '~')
			*at = '?';
}

static void add_process(struct store_long_log *log, int pid)
{
	size_t by = strlen(log->by);
	size_t command = strlen(log->command);
	char name[NAME_BYTES];

	process_name(pid, name);
	cut_printf(log->by + by, sizeof(log->by) - by, "%s%s%sprocess %d%s", by ? ", " : "", name,
		name[0] ? " (" : "", pid, name[0] ? ")" : "");
	cut_printf(log->command + command, sizeof(log->command) - command, "%s %d",
		command ? "" : "kill", pid);
}

void log_readers_describe(
	const struct log_readers *readers, const char *db, struct store_long_log *log)
{
	log->by[0] = '\0';
	log->command[0] = '\0';
	for (unsigned i = 0; i < readers->count && i < LOG_READERS_NAMED; i++)
		add_process(log, readers->pids[i]);
	if (readers->count)
		return;
	if (readers->has_ourselves) {
		cut_printf(log->by, sizeof(log->by),
			"ced itself (a backup, a check or a long answer)");
		return;
	}
	cut_printf(log->by, sizeof(log->by), "another program");
	cut_printf(log->command, sizeof(log->command), "fuser -v %s-shm", db);
}
