/*
 * Cgroups, v1 or v2: a folder is made below the one that we are in, a child is put there, and its
 * limit is tried on it.  Everything that was made or switched on is taken back.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/doctor/probe.h"
#include "cli/doctor/try.h"
#include "proto/base/cleanup.h"
#include "proto/base/container.h"
#include "proto/base/fdio.h"

#define TEXT_MAX     512
#define FOLDER_MAX   1100 /* a mount and a path, then room for names of ours */
#define PATH_ROOM    1400
#define MEMORY_TAKEN ((size_t)4 << 20)
#define MEMORY_LIMIT "67108864"
#define BURN_US      20000
#define ANSWER_MS    3000

/* ---- small files --------------------------------------------------------------------------- */

static int put(const char *folder, const char *name, const char *text, struct err *err)
{
	auto_fd int fd = -1;
	char path[PATH_ROOM];

	cut_printf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		return err_sys(err, "%s", path);
	return 0;
}

static void get(const char *folder, const char *name, char *ret_line, size_t size)
{
	char path[PATH_ROOM];

	cut_printf(path, sizeof(path), "%s/%s", folder, name);
	probe_line(path, ret_line, size);
}

static unsigned long long get_number(const char *folder, const char *name)
{
	char line[64];

	get(folder, name, line, sizeof(line));
	return strtoull(line, NULL, 10);
}

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

/* ---- where are we? ------------------------------------------------------------------------- */

struct place {
	int version; /* 0: the kernel has no such thing */
	char own[TEXT_MAX];
	char folder[FOLDER_MAX];
};

/* Our line of /proc/self/cgroup for a controller, or for v2's hierarchy. */
static void find_own(const char *controller, struct place *place)
{
	FILE *table = fopen("/proc/self/cgroup", "re");
	char line[2 * TEXT_MAX];

	place->version = 0;
	while (table && place->version != 1 && fgets(line, sizeof(line), table)) {
		char list[TEXT_MAX] = "";
		char path[TEXT_MAX] = "";

		line[strcspn(line, "\n")] = '\0';
		if (sscanf(line, "0::%511[^\n]", path) == 1)
			place->version = 2;
		else if (controller && sscanf(line, "%*u:%511[^:]:%511[^\n]", list, path) == 2 &&
			 has_word(list, controller, ","))
			place->version = 1;
		else
			continue;
		cut_printf(place->own, sizeof(place->own), "%s", path);
	}
	if (table)
		(void)fclose(table);
}

/* A line of /proc/self/mountinfo: is it the hierarchy that we look for, and where? */
static bool is_mounted(const char *line, const char *controller, struct place *place)
{
	const char *behind = strstr(line, " - ");
	char type[32];
	char options[TEXT_MAX];
	char root[TEXT_MAX];
	char mount[TEXT_MAX];
	size_t len;

	if (!behind || sscanf(behind, " - %31s %*s %511s", type, options) != 2 ||
		sscanf(line, "%*s %*s %*s %511s %511s", root, mount) != 2)
		return false;
	if (place->version == 2
			? strcmp(type, "cgroup2") != 0
			: strcmp(type, "cgroup") != 0 || !has_word(options, controller, ","))
		return false;
	len = strcmp(root, "/") == 0 ? 0 : strlen(root);
	if (strncmp(place->own, root, len) != 0 || strstr(place->own, "/.."))
		return false;
	cut_printf(place->folder, sizeof(place->folder), "%s%s", mount, place->own + len);
	len = strlen(place->folder);
	if (len > 1 && place->folder[len - 1] == '/')
		place->folder[len - 1] = '\0';
	return true;
}

static int find_place(const char *controller, struct place *place, struct err *err)
{
	const char *what = controller ? controller : "cgroup2";
	char line[4096];
	bool found = false;
	FILE *mounts;

	find_own(controller, place);
	if (place->version == 0)
		return err_set(err, ERR_UNSUPPORTED, "the kernel has no %s", what);
	mounts = fopen("/proc/self/mountinfo", "re");
	while (mounts && !found && fgets(line, sizeof(line), mounts))
		found = is_mounted(line, controller, place);
	if (mounts)
		(void)fclose(mounts);
	if (!found)
		return err_set(err, ERR_MISSING, "%s is mounted nowhere", what);
	if (access(place->folder, F_OK) < 0)
		return err_sys(err, "%s", place->folder);
	return 0;
}

/* ---- a leaf of our own --------------------------------------------------------------------- */

struct leaf {
	struct place place;
	const char *controller; /* NULL: only the hierarchy itself is tried */
	char house[PATH_ROOM];
	char main[PATH_ROOM]; /* v2: where we wait while the controller is handed down */
	char folder[PATH_ROOM];
	bool handed_down, moved; /* to be taken back */
};

static int switch_it(const char *folder, char sign, const char *controller, struct err *err)
{
	char word[32];

	cut_printf(word, sizeof(word), "%c%s", sign, controller);
	return put(folder, "cgroup.subtree_control", word, err);
}

/* Ourselves and who waits for us: cectl. */
static int move_to(const char *folder, struct err *err)
{
	char pid[16];

	cut_printf(pid, sizeof(pid), "%d", (int)getppid());
	return put(folder, "cgroup.procs", pid, err) < 0 ? -1
							 : put(folder, "cgroup.procs", "0", err);
}

/* Whoever else is in our cgroup stays there, and then nothing can be handed down from it. */
static int step_aside(struct leaf *leaf, struct err *err)
{
	char others[32];

	if (mkdir(leaf->main, 0755) < 0)
		return err_sys(err, "%s", leaf->main);
	leaf->moved = true;
	if (move_to(leaf->main, err) < 0)
		return -1;
	get(leaf->place.folder, "cgroup.procs", others, sizeof(others));
	if (others[0] == '\0')
		return 0;
	errno = EBUSY;
	return err_sys(err, "%s: process %s is in it too", leaf->place.folder, others);
}

/* As ced-spawner does it.  The root of the hierarchy hands down with processes in it. */
static int hand_down(struct leaf *leaf, struct err *err)
{
	const char *base = leaf->place.folder;
	char text[TEXT_MAX];
	bool is_root;

	get(base, "cgroup.subtree_control", text, sizeof(text));
	if (has_word(text, leaf->controller, " "))
		return 0;
	get(base, "cgroup.type", text, sizeof(text));
	is_root = text[0] == '\0';
	if (!is_root && step_aside(leaf, err) < 0)
		return -1;
	leaf->handed_down = switch_it(base, '+', leaf->controller, err) == 0;
	return leaf->handed_down ? 0 : -1;
}

static int make_folders(struct leaf *leaf, struct err *err)
{
	bool hands_down = leaf->place.version == 2 && leaf->controller;

	cut_printf(leaf->house, sizeof(leaf->house), "%s/ced-doctor-%d", leaf->place.folder,
		(int)getpid());
	cut_printf(leaf->main, sizeof(leaf->main), "%s/main", leaf->house);
	cut_printf(
		leaf->folder, sizeof(leaf->folder), "%s%s", leaf->house, hands_down ? "/leaf" : "");
	if (mkdir(leaf->house, 0755) < 0)
		return err_sys(err, "a folder in %s", leaf->place.folder);
	if (!hands_down)
		return 0;
	if (hand_down(leaf, err) < 0 || switch_it(leaf->house, '+', leaf->controller, err) < 0)
		return -1;
	return mkdir(leaf->folder, 0755) < 0 ? err_sys(err, "%s", leaf->folder) : 0;
}

/* A cgroup is let go a moment after its last process. */
static void remove_folder(const char *folder)
{
	const struct timespec moment = { .tv_nsec = 10000000 };

	for (int tries = 0; tries < 100 && rmdir(folder) < 0 && errno == EBUSY; tries++)
		(void)nanosleep(&moment, NULL);
}

static void take_back(struct leaf *leaf)
{
	if (strcmp(leaf->folder, leaf->house) != 0) {
		remove_folder(leaf->folder);
		(void)switch_it(leaf->house, '-', leaf->controller, NULL);
	}
	if (leaf->handed_down)
		(void)switch_it(leaf->place.folder, '-', leaf->controller, NULL);
	if (leaf->moved) {
		(void)move_to(leaf->place.folder, NULL);
		remove_folder(leaf->main);
	}
	remove_folder(leaf->house);
}

static int offers(const struct leaf *leaf, struct err *err)
{
	char offered[TEXT_MAX];

	if (leaf->place.version != 2 || !leaf->controller)
		return 0;
	get(leaf->place.folder, "cgroup.controllers", offered, sizeof(offered));
	if (!has_word(offered, leaf->controller, " "))
		return err_set(err, ERR_MISSING, "%s offers \"%s\"", leaf->place.folder, offered);
	return 0;
}

/* ---- a member ------------------------------------------------------------------------------ */

struct member {
	pid_t pid;
	int sock; /* a byte to go, a byte when done: 'y' or 'n' */
};

struct trial {
	const char *controller;
	int (*limit)(const struct leaf *leaf, struct err *err); /* before it does something */
	bool (*work)(void);                                     /* by the member */
	int (*check)(const struct leaf *leaf, const struct member *member, struct err *err);
};

__attribute__((noreturn)) static void be_member(int sock, bool (*work)(void))
{
	char byte = 'n';

	if (read(sock, &byte, 1) == 1) {
		byte = work && !work() ? 'n' : 'y';
		(void)!write(sock, &byte, 1);
		(void)!read(sock, &byte, 1);
	}
	_exit(0);
}

static int member_start(struct member *member, bool (*work)(void), struct err *err)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return err_sys(err, "socketpair");
	member->pid = fork();
	if (member->pid == 0) {
		close(pair[0]);
		be_member(pair[1], work);
	}
	close(pair[1]);
	member->sock = pair[0];
	return member->pid < 0 ? err_sys(err, "fork") : 0;
}

static void member_end(struct member *member)
{
	if (member->pid > 0) {
		(void)kill(member->pid, SIGKILL);
		(void)waitpid(member->pid, NULL, 0);
	}
	cleanup_fd(&member->sock);
}

static int member_work(const struct member *member, struct err *err)
{
	struct pollfd watched = { .fd = member->sock, .events = POLLIN };
	char byte = 0;

	if (write_all(member->sock, "g", 1, err) < 0)
		return -1;
	if (poll(&watched, 1, ANSWER_MS) != 1 || read(member->sock, &byte, 1) != 1)
		return err_set(err, ERR_TIMEOUT, "who was put there did not answer");
	return byte == 'y' ? 0 : err_set(err, ERR_UNSUPPORTED, "its limit does not hold");
}

static int try_member(
	const struct leaf *leaf, const struct trial *trial, struct member *member, struct err *err)
{
	char pid[16];

	if (member_start(member, trial->work, err) < 0)
		return -1;
	cut_printf(pid, sizeof(pid), "%d", (int)member->pid);
	if (put(leaf->folder, "cgroup.procs", pid, err) < 0)
		return -1;
	if (trial->limit && trial->limit(leaf, err) < 0)
		return -1;
	if (member_work(member, err) < 0)
		return -1;
	return trial->check ? trial->check(leaf, member, err) : 0;
}

static int run_trial(const struct trial *trial, struct leaf *leaf, struct err *err)
{
	struct member member = { -1, -1 };
	int answer = -1;

	leaf->controller = trial->controller;
	if (find_place(trial->controller, &leaf->place, err) < 0 || offers(leaf, err) < 0)
		return -1;
	if (make_folders(leaf, err) == 0)
		answer = try_member(leaf, trial, &member, err);
	member_end(&member);
	take_back(leaf);
	return answer;
}

/* ---- what to do about it ------------------------------------------------------------------- */

static void advise_mount(const struct leaf *leaf, struct finding *finding)
{
	struct place memory;
	const char *name = leaf->controller;

	find_own("memory", &memory);
	if (leaf->place.version == 1)
		cut_printf(finding->repair, REPAIR_MAX,
			"mkdir -p /sys/fs/cgroup/%s && mount -t cgroup -o %s cgroup "
			"/sys/fs/cgroup/%s",
			name, name, name);
	else if (memory.version == 1) /* v2 has its place beside v1's */
		cut_printf(finding->repair, REPAIR_MAX,
			"mkdir -p /sys/fs/cgroup/unified && mount -t cgroup2 cgroup2 "
			"/sys/fs/cgroup/unified");
	else
		cut_printf(finding->repair, REPAIR_MAX, "mount -t cgroup2 cgroup2 /sys/fs/cgroup");
}

static void advise_systemd(bool root, const struct err *err, struct finding *finding)
{
	const char *repair = "systemd-run --user --scope -p Delegate=yes -- cectl doctor";

	if (root)
		repair =
			"systemctl start ced (its unit has Delegate=); by hand: systemd-run --scope "
			"-p Delegate=yes -- cectl doctor";
	else if (err->code == ERR_MISSING) /* the user's own manager was not given it */
		repair =
			"as root: mkdir -p /etc/systemd/system/user@.service.d && printf "
			"'[Service]\\nDelegate=cpu memory pids\\n' "
			">/etc/systemd/system/user@.service.d/ced.conf && systemctl daemon-reload, "
			"then log in again";
	cut_printf(finding->repair, REPAIR_MAX, "%s", repair);
}

static void advise_bare(
	bool root, const struct leaf *leaf, const struct err *err, struct finding *finding)
{
	const char *folder = leaf->place.folder;

	if (!root)
		cut_printf(finding->repair, REPAIR_MAX,
			"as root: mkdir %s/ced && chown -R %u %s/ced && echo PID "
			">%s/ced/cgroup.procs, with the PID of the shell that starts ced",
			folder, (unsigned)geteuid(), folder, folder);
	else if (err->sys_errno == EBUSY)
		cut_printf(finding->repair, REPAIR_MAX,
			"mkdir %s/ced && echo $$ >%s/ced/cgroup.procs, then start ced from this "
			"shell",
			folder, folder);
	else
		cut_printf(finding->repair, REPAIR_MAX,
			"give it cgroups that can be written to (a container: --cgroupns=private, "
			"and /sys/fs/cgroup mounted rw)");
}

static void advise(const struct patient *patient, const struct leaf *leaf, const struct err *err,
	struct finding *finding)
{
	if (leaf->place.folder[0] == '\0' || err->sys_errno == ENOENT)
		advise_mount(leaf, finding);
	else if (access("/run/systemd/system", F_OK) == 0)
		advise_systemd(patient->root, err, finding);
	else
		advise_bare(patient->root, leaf, err, finding);
}

static int try_controller(const struct patient *patient, const struct trial *trial,
	const char *found, struct finding *finding, struct err *err)
{
	struct leaf leaf = { .controller = trial->controller };

	if (run_trial(trial, &leaf, err) < 0) {
		advise(patient, &leaf, err, finding);
		return -1;
	}
	cut_printf(finding->found, FOUND_MAX, "v%d: %s", leaf.place.version, found);
	return 0;
}

/* ---- memory -------------------------------------------------------------------------------- */

static int limit_memory(const struct leaf *leaf, struct err *err)
{
	const char *name = leaf->place.version == 2 ? "memory.max" : "memory.limit_in_bytes";
	char line[64];

	if (put(leaf->folder, name, MEMORY_LIMIT, err) < 0)
		return -1;
	get(leaf->folder, name, line, sizeof(line));
	return strcmp(line, MEMORY_LIMIT) == 0
		       ? 0
		       : err_set(err, ERR_UNSUPPORTED, "%s became %s", name, line);
}

static bool take_memory(void)
{
	volatile char *memory = malloc(MEMORY_TAKEN);

	for (size_t i = 0; memory && i < MEMORY_TAKEN; i += 1024)
		memory[i] = 1;
	return memory != NULL;
}

static int check_memory(const struct leaf *leaf, const struct member *member, struct err *err)
{
	const char *name = leaf->place.version == 2 ? "memory.current" : "memory.usage_in_bytes";
	unsigned long long used = get_number(leaf->folder, name);

	(void)member;
	if (used < MEMORY_TAKEN / 2)
		return err_set(err, ERR_UNSUPPORTED, "%s says %llu", name, used);
	return 0;
}

PROBE(cgroup_memory)
{
	static const struct trial trial = { "memory", limit_memory, take_memory, check_memory };

	return try_controller(patient, &trial, "limited, and counted what was taken", finding, err);
}

/* ---- pids ---------------------------------------------------------------------------------- */

static int limit_pids(const struct leaf *leaf, struct err *err)
{
	return put(leaf->folder, "pids.max", "1", err);
}

static bool fork_in_vain(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	if (pid > 0)
		(void)waitpid(pid, NULL, 0);
	return pid < 0 && errno == EAGAIN;
}

PROBE(cgroup_pids)
{
	static const struct trial trial = { "pids", limit_pids, fork_in_vain, NULL };

	return try_controller(patient, &trial, "a second process was refused", finding, err);
}

/* ---- cpu ----------------------------------------------------------------------------------- */

static int limit_cpu(const struct leaf *leaf, struct err *err)
{
	if (leaf->place.version == 2)
		return put(leaf->folder, "cpu.max", "max 100000", err);
	return put(leaf->folder, "cpu.cfs_quota_us", "-1", err);
}

static int64_t cpu_us(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static bool burn(void)
{
	while (cpu_us() < BURN_US)
		;
	return true;
}

static int check_cpu(const struct leaf *leaf, const struct member *member, struct err *err)
{
	static const char usage[] = "usage_usec ";
	char line[64];
	unsigned long long used_us = 0;

	(void)member;
	get(leaf->folder, leaf->place.version == 2 ? "cpu.stat" : "cpuacct.usage", line,
		sizeof(line));
	if (leaf->place.version == 1)
		used_us = strtoull(line, NULL, 10) / 1000;
	else if (strncmp(line, usage, strlen(usage)) == 0)
		used_us = strtoull(line + strlen(usage), NULL, 10);
	if (used_us < BURN_US / 2)
		return err_set(err, ERR_UNSUPPORTED, "%d us of cpu were counted as %llu", BURN_US,
			used_us);
	return 0;
}

/* In v1 one controller limits and another counts. */
PROBE(cgroup_cpu)
{
	static const struct trial v2 = { "cpu", limit_cpu, burn, check_cpu };
	static const struct trial v1 = { "cpu", limit_cpu, NULL, NULL };
	static const struct trial v1_count = { "cpuacct", NULL, burn, check_cpu };
	struct place place;

	find_own("cpu", &place);
	if (place.version == 2)
		return try_controller(
			patient, &v2, "limited, and counted what was used", finding, err);
	if (try_controller(patient, &v1, "", finding, err) < 0)
		return -1;
	return try_controller(patient, &v1_count,
		"limited (cpu), and counted what was used (cpuacct)", finding, err);
}

/* ---- cgroup.kill --------------------------------------------------------------------------- */

static int kill_all(const struct leaf *leaf, const struct member *member, struct err *err)
{
	struct pollfd watched = { .fd = member->sock, .events = POLLIN };

	if (put(leaf->folder, "cgroup.kill", "1", err) < 0)
		return -1;
	/* its end of the socket goes with it */
	if (poll(&watched, 1, ANSWER_MS) != 1)
		return err_set(err, ERR_TIMEOUT, "cgroup.kill killed nobody");
	return 0;
}

PROBE(cgroup_kill)
{
	static const struct trial trial = { NULL, NULL, NULL, kill_all };

	return try_controller(patient, &trial, "killed who was in it", finding, err);
}

/* ---- facts --------------------------------------------------------------------------------- */

PROBE(cgroup_version)
{
	static const char *const controllers[] = { "memory", "pids", "cpu", "cpuacct" };
	struct place unified;
	char offered[TEXT_MAX] = "";
	size_t v1 = 0;

	(void)patient;
	for (size_t i = 0; i < COUNT_OF(controllers); i++) {
		struct place place;

		find_own(controllers[i], &place);
		v1 += place.version == 1;
	}
	if (find_place(NULL, &unified, v1 ? NULL : err) < 0 && v1 == 0)
		return -1;
	if (unified.version == 2 && unified.folder[0])
		get(unified.folder, "cgroup.controllers", offered, sizeof(offered));
	if (v1 > 0)
		cut_printf(finding->found, FOUND_MAX, "v1 for %zu of 4 controllers%s", v1,
			unified.version == 2 ? ", and a v2 hierarchy beside" : "");
	else
		cut_printf(finding->found, FOUND_MAX, "v2 at %s, which offers: %s", unified.folder,
			offered[0] ? offered : "no controller");
	return 0;
}

PROBE(swap)
{
	FILE *file = fopen("/proc/swaps", "re");
	char line[256];
	unsigned lines = 0;
	struct place place = { .folder = "" };
	char path[PATH_ROOM];

	(void)patient;
	while (file && fgets(line, sizeof(line), file))
		lines++;
	if (file)
		(void)fclose(file);
	if (lines < 2) {
		cut_printf(finding->found, FOUND_MAX, "this host has none");
		return 0;
	}
	if (find_place("memory", &place, err) < 0)
		return -1;
	cut_printf(path, sizeof(path), "%s/%s", place.folder,
		place.version == 2 ? "memory.swap.max" : "memory.memsw.limit_in_bytes");
	if (access(path, F_OK) < 0)
		return err_sys(err, "%s", path);
	cut_printf(finding->found, FOUND_MAX, "there is some, and it can be kept from a run");
	return 0;
}
