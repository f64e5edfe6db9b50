#include "store/held.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/container.h"
#include "store/db.h"

#define FRAME_BYTES 4120 /* a page with its head */
#define MIB         (1024.0 * 1024.0)

/* SQLite's locks in the log's index: a byte for each mark that a reader may hold. */
#define READ_LOCK_FIRST 123
#define READ_LOCK_LAST  127

#define TRIES      2 /* who left just now is not looked for in vain */
#define PEOPLE_MAX 3
#define NAME_BYTES 16 /* as long as the kernel keeps it */

static void close_file(FILE **file)
{
	if (*file)
		(void)fclose(*file);
}

#define auto_file __attribute__((cleanup(close_file)))

/* Who reads, as far as the kernel tells. */
struct people {
	int pids[PEOPLE_MAX];
	unsigned count; /* others than this process; those beyond PEOPLE_MAX are only counted */
	bool ourselves;
};

/* ---- who reads ------------------------------------------------------------------------------ */

static void note_pid(struct people *people, int pid)
{
	if (pid == getpid()) {
		people->ourselves = true;
		return;
	}
	for (unsigned i = 0; i < people->count && i < PEOPLE_MAX; i++)
		if (people->pids[i] == pid)
			return;
	if (people->count < PEOPLE_MAX)
		people->pids[people->count] = pid;
	people->count++;
}

/* "4: POSIX  ADVISORY  READ 4711 08:01:1234567 124 124", see proc_locks(5) */
static void read_lock(const char *line, ino_t inode, struct people *people)
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
		note_pid(people, (int)strtol(pid, NULL, 10));
}

static struct people find_people(const struct store *store)
{
	struct people people = { .count = 0 };
	auto_file FILE *locks = fopen("/proc/locks", "re");
	const char *path = store->watch.names[WATCH_INDEX].path;
	struct stat st;
	char line[256];

	if (!locks || !path || stat(path, &st) < 0)
		return people;
	while (fgets(line, sizeof(line), locks))
		read_lock(line, st.st_ino, &people);
	return people;
}

/* What the program calls itself; "": nobody may know, or it has gone. */
static void name_of(int pid, char ret_name[NAME_BYTES])
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

static void add_person(struct store_held *held, int pid)
{
	size_t by = strlen(held->by);
	size_t command = strlen(held->command);
	char name[NAME_BYTES];

	name_of(pid, name);
	cut_printf(held->by + by, sizeof(held->by) - by, "%s%s%sprocess %d%s", by ? ", " : "", name,
		name[0] ? " (" : "", pid, name[0] ? ")" : "");
	cut_printf(held->command + command, sizeof(held->command) - command, "%s %d",
		command ? "" : "kill", pid);
}

static void describe(
	const struct store *store, const struct people *people, struct store_held *held)
{
	held->by[0] = '\0';
	held->command[0] = '\0';
	for (unsigned i = 0; i < people->count && i < PEOPLE_MAX; i++)
		add_person(held, people->pids[i]);
	if (people->count)
		return;
	if (people->ourselves) {
		cut_printf(held->by, sizeof(held->by),
			"ced itself (a backup, a check or a long answer)");
		return;
	}
	cut_printf(held->by, sizeof(held->by), "another program");
	cut_printf(held->command, sizeof(held->command), "fuser -v %s-shm", store->path);
}

/* ---- the log -------------------------------------------------------------------------------- */

static int64_t log_bytes(const struct store *store)
{
	return store->held.frames * FRAME_BYTES;
}

/* 1: all that the log holds is in the database; 0: not all; -1: nobody can say now. */
static int is_moved(struct store *store)
{
	int frames = -1;
	int moved = -1;
	int r;

	if (store_look(store, NULL) < 0)
		return -1;
	r = sqlite3_wal_checkpoint_v2(store->db, NULL, SQLITE_CHECKPOINT_PASSIVE, &frames, &moved);
	if (r != SQLITE_OK || frames < 0)
		return -1;
	store->log_pages = 0; /* the next commit tells how long it really is */
	store->held.frames = frames;
	return frames == moved;
}

static void be_well(struct held *held)
{
	held->frames = 0;
	held->refuses = false;
	held->now = (struct store_held){ .bytes = 0 };
}

static void judge(struct store *store, const struct people *people)
{
	struct held *held = &store->held;

	held->now.bytes = log_bytes(store);
	held->now.most_bytes = held->most_bytes;
	held->refuses =
		held->now.bytes >= held->most_bytes && (people->count || !people->ourselves);
	describe(store, people, &held->now);
}

static void look(struct store *store)
{
	struct people people = { .count = 0 };

	for (int i = 0; i < TRIES && !people.count && !people.ourselves; i++) {
		int moved = is_moved(store);

		if (moved < 0)
			return; /* what was known holds on */
		if (moved || log_bytes(store) < store->held.most_bytes / 2) {
			be_well(&store->held);
			return;
		}
		people = find_people(store);
	}
	judge(store, &people);
}

static int say_held(const struct store_held *held, struct err *err)
{
	return err_set(err, ERR_BUSY,
		"the store: its log has grown to %.0f MiB and cannot be emptied, because %s reads the "
		"database in a transaction that stays open; runs are refused until that ends: %s",
		(double)held->bytes / MIB, held->by, held->command);
}

void store_limit_log(struct store *store, int64_t most_bytes)
{
	store->held.most_bytes = most_bytes;
}

int store_log(struct store *store, struct store_held *ret_held, struct err *err)
{
	struct held *held = &store->held;

	assert(!store->writing);

	if (held->most_bytes && (held->now.bytes || log_bytes(store) >= held->most_bytes / 2))
		look(store);
	*ret_held = held->now;
	return held->refuses ? say_held(&held->now, err) : 0;
}
