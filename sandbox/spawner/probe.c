/*
 * ced-probe: tries on this host each step that makes a jail, with the code that makes jails.
 *
 *	ced-probe [--uid-base N]
 *
 * It does what ced-spawner does for a daemon: it finds its cgroups, gives up its rights, starts an
 * inspector and a zygote, and has the zygote make a slot and a worker.  Nothing of them is left
 * afterwards.  It prints one line of JSON for each step:
 *
 *	{"group":"jail","step":"tree","ok":false,"errno":38,"what":"...","text":"openat2: ..."}
 *
 * `ok` is null when the step was not reached, and `errno` is 0 when no system call failed.  The
 * exit status is 0 when every line was printed, whatever the lines say.  `cectl doctor` explains
 * them.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "proto/base/cleanup.h"
#include "proto/base/container.h"
#include "proto/base/fdio.h"
#include "proto/base/standard_fds.h"
#include "proto/internal/slotmsg.h"
#include "sandbox/child_exit.h"
#include "sandbox/filter/landlock.h"
#include "sandbox/filter/tiny_filter.h"
#include "sandbox/jail/caps.h"
#include "sandbox/jail_env.h"
#include "sandbox/spawner/spawner.h"

#define UID_BASE_DEFAULT 400000
#define ANSWER_S         30
#define LIFE_S           150 /* of the whole probe */
#define MEMORY_TAKEN     ((size_t)4 << 20)
#define MEMORY_LIMIT     ((uint64_t)64 << 20)
#define BURN_US          20000
#define LEAF_ZYGOTE      "z1"
#define LEAF_SLOT        "z1-s0"
#define LEAF_TRIAL       "trial"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif

/* ---- the steps ----------------------------------------------------------------------------- */

enum outcome {
	NOT_REACHED,
	GOOD,
	BAD
};

/* In the order in which they are tried.  The group "jail" lists the steps of jail.c. */
/* clang-format off */
static const struct row {
	const char *group;
	const char *step;
	const char *what;
} rows[] = {
	{ "kernel", "populate", "has the kernel map a page ahead of its use" },
	{ "filters", "filters", "builds the system call filters" },
	{ "filters", "notifier", "loads a worker's filter with a listener" },
	{ "filters", "Landlock", "asks the kernel for its version" },
	{ "cgroups", "memory", "limits a process and counts its memory" },
	{ "cgroups", "pids", "refuses a second process to a cgroup of one" },
	{ "cgroups", "cpu", "limits a process and counts its time" },
	{ "cgroups", "cgroup.kill", "kills a process by its cgroup" },
	{ "cgroups", "swap", "looks for the file that keeps a run from it" },
	{ "jail", "host uids", "looks them up in /proc/self/uid_map" },
	{ "jail", "rights", "keeps the capabilities of ced-spawner, drops all others" },
	{ "jail", "namespaces", "starts a process in new ones, by clone3()" },
	{ "jail", "maps", "writes the ids of the new user namespace" },
	{ "jail", "cgroup", "moves the process into a cgroup of its own" },
	{ "jail", "sources", "clones the host's folders as read-only mounts" },
	{ "jail", "procfs", "makes one that shows the jail's processes only" },
	{ "jail", "identity", "becomes uid 0 of the user namespace" },
	{ "jail", "surroundings", "names the host, enters a cgroup namespace" },
	{ "jail", "tree", "mounts the jail's files and leaves the host's" },
	{ "jail", "descriptors", "closes all that are not to be inherited" },
	{ "jail", "rlimits", "sets the resource limits" },
	{ "jail", "caps", "drops all capabilities (inspector)" },
	{ "jail", "no_new_privs", "locks out what an exec could gain" },
	{ "jail", "parent", "dies with its parent" },
	{ "jail", "filter", "loads the base filter" },
	{ "jail", "program", "starts the program in the jail" },
	{ "worker", "zygote", "becomes ready in its jail" },
	{ "worker", "slot", "opens one: a user namespace in a user namespace" },
	{ "worker", "worker", "makes one: mounts, limits, Landlock, filter" },
};
/* clang-format on */

static struct result {
	enum outcome outcome;
	int sys_errno;
	char text[ERR_TEXT_MAX];
} results[COUNT_OF(rows)];

static size_t index_of(const char *step)
{
	size_t i = 0;

	while (strcmp(rows[i].step, step) != 0)
		i++;
	return i;
}

/* The errno whose description ends a text.  Another process wrote it, so the number is lost. */
static int errno_in(const char *text)
{
	for (int number = 1; number < 134; number++) {
		const char *words = strerrordesc_np(number);
		size_t len = words ? strlen(words) : 0;

		if (len && strlen(text) >= len && strcmp(text + strlen(text) - len, words) == 0)
			return number;
	}
	return 0;
}

/* A later jail does not hide what an earlier one could not do. */
static int probe_good(const char *step, const char *text)
{
	struct result *result = &results[index_of(step)];

	if (result->outcome == BAD)
		return 0;
	result->outcome = GOOD;
	cut_printf(result->text, sizeof(result->text), "%s", text);
	return 0;
}

static int probe_bad(const char *step, const struct err *err)
{
	struct result *result = &results[index_of(step)];

	if (result->outcome == BAD)
		return -1;
	result->outcome = BAD;
	result->sys_errno = err->sys_errno ? err->sys_errno : errno_in(err->text);
	cut_printf(result->text, sizeof(result->text), "%s", err->text);
	return -1;
}

static int probe_note(const char *step, int answer, const char *text, const struct err *err)
{
	return answer < 0 ? probe_bad(step, err) : probe_good(step, text);
}

static void print_text(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == '"' || *text == '\\')
			printf("\\u%04x", (unsigned)(unsigned char)*text);
		else
			(void)putchar(*text);
}

static int print_rows(void)
{
	static const char *const words[] = { "null", "true", "false" };

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		const struct row *row = &rows[i];
		const struct result *result = &results[i];

		printf("{\"group\":\"%s\",\"step\":\"%s\",\"ok\":%s,\"errno\":%d,\"what\":\"%s\","
		       "\"text\":\"",
			row->group, row->step, words[result->outcome], result->sys_errno,
			row->what);
		print_text(result->text);
		puts("\"}");
	}
	return fflush(stdout) == 0 ? 0 : 1;
}

/* ---- the kernel's filters ------------------------------------------------------------------ */

/* In a child, which keeps the filter to itself.  1: loaded without a listener. */
static int load_filter(void)
{
	int listener = -1;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || tiny_filter_load(&listener, NULL) < 0)
		return 2;
	return listener < 0;
}

static void try_notifier(void)
{
	struct err err = ERR_INIT;
	int status = 0;
	pid_t pid = fork();

	if (pid == 0)
		child_exit(load_filter());
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		(void)err_sys(&err, "fork");
	else if (status != 0)
		(void)err_set(&err, ERR_UNSUPPORTED,
			WIFEXITED(status) && WEXITSTATUS(status) == 1
				? "the kernel gives no listener to a seccomp filter"
				: "the kernel refuses a seccomp filter");
	probe_note("notifier", -(int)(err.text[0] != '\0'), "the filter has a listener", &err);
}

static void try_landlock(void)
{
	uint32_t abi = landlock_abi();
	struct err err = ERR_INIT;
	char text[64];

	if (abi == 0)
		(void)err_sys(&err, "landlock");
	cut_printf(text, sizeof(text), "ABI %u; every worker uses it as a second barrier", abi);
	probe_note("Landlock", abi ? 0 : -1, text, &err);
}

static void try_populate(void)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	void *page = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct err err = ERR_INIT;
	int answer = page == MAP_FAILED ? -1 : madvise(page, size, MADV_POPULATE_READ);

	if (answer < 0)
		(void)err_sys(&err, "madvise");
	probe_note("populate", answer, "MADV_POPULATE_READ works", &err);
}

static int build_filters(struct spawner *spawner)
{
	struct err err = ERR_INIT;

	for (unsigned profile = FILTER_ZYGOTE; profile < FILTER_PROFILE_COUNT; profile++)
		if (filter_build(profile, &spawner->filters[profile], &err) < 0)
			return probe_bad("filters", &err);
	return probe_good("filters", "built by libseccomp");
}

/* ---- cgroups ------------------------------------------------------------------------------- */

/*
 * The process that waits for us.  v2 hands controllers down only from a cgroup without processes.
 */
struct caller {
	char base[PATH_MAX];
	char aside[PATH_MAX + 32];
};

static int write_pid(const char *folder, pid_t pid)
{
	char path[PATH_MAX + 64];
	auto_fd int fd = -1;
	char text[16];

	cut_printf(path, sizeof(path), "%s/cgroup.procs", folder);
	cut_printf(text, sizeof(text), "%d", (int)pid);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	return fd >= 0 && write(fd, text, strlen(text)) > 0 ? 0 : -1;
}

static void caller_aside(struct caller *caller)
{
	FILE *table = fopen("/proc/self/cgroup", "re");
	char own[PATH_MAX - 64] = "";

	/* with v1 beside it there are more lines, and v2 has no controllers */
	if (table && fscanf(table, "0::%4031[^\n]", own) == 1) {
		cut_printf(caller->base, sizeof(caller->base), "/sys/fs/cgroup%s", own);
		cut_printf(caller->aside, sizeof(caller->aside), "%s/ced-doctor-%d", caller->base,
			(int)getppid());
		if (mkdir(caller->aside, 0755) == 0 && write_pid(caller->aside, getppid()) < 0)
			(void)rmdir(caller->aside);
	}
	if (table)
		(void)fclose(table);
}

static void caller_back(const struct caller *caller)
{
	if (caller->aside[0] && write_pid(caller->base, getppid()) == 0)
		(void)rmdir(caller->aside);
}

static int64_t cpu_us(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* Takes memory and time, and tries to fork: 'y' when that is refused. */
__attribute__((noreturn)) static void be_member(int sock)
{
	volatile char *memory = malloc(MEMORY_TAKEN);
	char byte = 'n';
	pid_t pid;

	if (read(sock, &byte, 1) != 1)
		child_exit(1);
	for (size_t i = 0; memory && i < MEMORY_TAKEN; i += 1024)
		memory[i] = 1;
	while (cpu_us() < BURN_US)
		;
	pid = fork();
	if (pid == 0)
		child_exit(0);
	byte = pid < 0 && errno == EAGAIN ? 'y' : 'n';
	(void)!write(sock, &byte, 1);
	(void)!read(sock, &byte, 1);
	child_exit(0);
}

static int knob_of(const struct priv_knobs *knobs, const int *fds, enum priv_knob which)
{
	for (uint32_t i = 0; i < knobs->count; i++)
		if (knobs->which[i] == which)
			return fds[i];
	return -1;
}

/* The first number in a knob's file. */
static unsigned long long knob_number(int fd)
{
	char text[64] = "";

	if (fd < 0 || pread(fd, text, sizeof(text) - 1, 0) < 0)
		return 0;
	return strtoull(text + strcspn(text, "0123456789"), NULL, 10);
}

struct trial {
	struct cgroups *cgroups;
	struct priv_knobs knobs;
	int fds[PRIV_FDS_MAX];
	pid_t pid;
	int sock;
	char answer;
};

static int knob_in(const struct trial *trial, enum priv_knob which)
{
	return knob_of(&trial->knobs, trial->fds, which);
}

static int trial_begin(struct trial *trial, struct err *err)
{
	const struct cgroups *cgroups = trial->cgroups;
	struct pollfd answer = { .events = POLLIN };
	int pair[2];

	if (cgroup_make(cgroups, LEAF_TRIAL, err) < 0 ||
		cgroup_limit(cgroups, LEAF_TRIAL, MEMORY_LIMIT, 1, err) < 0 ||
		cgroup_knobs(
			cgroups, LEAF_TRIAL, CGROUP_AS_WE_ARE, &trial->knobs, trial->fds, err) < 0)
		return -1;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return err_sys(err, "socketpair");
	trial->pid = fork();
	if (trial->pid == 0) {
		close(pair[0]);
		be_member(pair[1]);
	}
	close(pair[1]);
	trial->sock = answer.fd = pair[0];
	if (trial->pid < 0)
		return err_sys(err, "fork");
	if (cgroup_join(cgroups, LEAF_TRIAL, trial->pid, err) < 0 ||
		write_all(trial->sock, "g", 1, err) < 0)
		return -1;
	if (poll(&answer, 1, ANSWER_S * 1000) != 1 || read(trial->sock, &trial->answer, 1) != 1)
		return err_set(err, ERR_TIMEOUT, "the process in the cgroup did not answer");
	return 0;
}

static int hold_memory(const struct trial *trial, struct err *err)
{
	unsigned long long used = knob_number(knob_in(trial, KNOB_MEMORY_NOW));

	if (used < MEMORY_TAKEN / 2)
		return err_set(err, ERR_UNSUPPORTED,
			"the process used %zu bytes, and the cgroup counted %llu", MEMORY_TAKEN,
			used);
	return 0;
}

static int hold_pids(const struct trial *trial, struct err *err)
{
	return trial->answer == 'y'
		       ? 0
		       : err_set(err, ERR_UNSUPPORTED,
				 "the cgroup's limit of one process did not stop a second one");
}

static int hold_cpu(const struct trial *trial, struct err *err)
{
	bool is_v2 = cgroups_kind(trial->cgroups, CGROUP_CPU) == PRIV_CGROUP_V2;
	unsigned long long used_us =
		knob_number(knob_in(trial, KNOB_CPU_USAGE)) / (is_v2 ? 1 : 1000);
	const char *no_limit = is_v2 ? "max 100000" : "-1";

	if (write_all(knob_in(trial, KNOB_CPU_MAX), no_limit, strlen(no_limit), err) < 0)
		return err_wrap(err, "cpu limit");
	if (used_us < BURN_US / 2)
		return err_set(err, ERR_UNSUPPORTED,
			"the process used %d us, and the cgroup counted %llu", BURN_US, used_us);
	return 0;
}

static const struct {
	enum cgroup_controller controller;
	const char *step;
	const char *found;
	int (*hold)(const struct trial *trial, struct err *err);
} controllers[] = {
	{ CGROUP_MEMORY, "memory", "limited, and counted what was taken", hold_memory },
	{ CGROUP_PIDS, "pids", "a second process was refused", hold_pids },
	{ CGROUP_CPU, "cpu", "limited, and counted what was used", hold_cpu },
};

static int kill_member(const struct trial *trial, struct err *err)
{
	struct pollfd end = { .fd = trial->sock, .events = POLLIN };
	int fd = knob_in(trial, KNOB_KILL);

	if (!trial->cgroups->can_kill || fd < 0)
		return err_set(err, ERR_MISSING, "no v2 hierarchy with cgroup.kill%s%s",
			trial->cgroups->why_not[0] ? ": " : "", trial->cgroups->why_not);
	if (write_all(fd, "1", 1, err) < 0)
		return err_wrap(err, "cgroup.kill");
	/* the member's end of the socket goes with it */
	return poll(&end, 1, ANSWER_S * 1000) == 1
		       ? 0
		       : err_set(err, ERR_TIMEOUT, "cgroup.kill killed nothing");
}

static void try_swap(const struct trial *trial)
{
	FILE *file = fopen("/proc/swaps", "re");
	struct err err = ERR_INIT;
	char line[256];
	unsigned lines = 0;

	while (file && fgets(line, sizeof(line), file))
		lines++;
	if (file)
		(void)fclose(file);
	if (lines > 1 && knob_in(trial, KNOB_SWAP_MAX) < 0 && knob_in(trial, KNOB_SWAP_OFF) < 0)
		(void)err_set(&err, ERR_MISSING,
			"this host has swap, and its cgroups cannot keep a run from it");
	probe_note("swap", -(int)(err.text[0] != '\0'),
		lines > 1 ? "there is some, and it can be kept from a run" : "this host has none",
		&err);
}

/* `begun` is what trial_begin() said, which goes for each controller that the host has. */
static void judge(const struct trial *trial, int begun, const struct err *why)
{
	struct err err = ERR_INIT;

	for (size_t i = 0; i < COUNT_OF(controllers); i++) {
		uint32_t kind = cgroups_kind(trial->cgroups, controllers[i].controller);
		char found[64];
		int held = -1;

		err = (struct err)ERR_INIT;
		if (kind == PRIV_CGROUP_NONE)
			(void)err_set(&err, ERR_MISSING, "%s",
				trial->cgroups->why_not[0] ? trial->cgroups->why_not
							   : "no hierarchy offers it here");
		else if (begun < 0)
			(void)err_pass(&err, why);
		else
			held = controllers[i].hold(trial, &err);
		cut_printf(found, sizeof(found), "v%u: %s", kind, controllers[i].found);
		probe_note(controllers[i].step, held, found, &err);
	}
	try_swap(trial);
	err = (struct err)ERR_INIT;
	if (begun < 0)
		probe_bad("cgroup.kill", why);
	else
		probe_note(
			"cgroup.kill", kill_member(trial, &err), "v2: killed who was in it", &err);
}

static void remove_leaf(const struct cgroups *cgroups, const char *leaf)
{
	for (int tries = 0; tries < 100 && !cgroup_remove(cgroups, leaf); tries++)
		(void)poll(NULL, 0, 10);
}

static void try_cgroups(struct cgroups *cgroups)
{
	struct trial trial = { .cgroups = cgroups, .pid = -1, .sock = -1 };
	struct err err = ERR_INIT;
	int begun = trial_begin(&trial, &err);

	judge(&trial, begun, &err);
	if (trial.pid > 0) {
		(void)kill(trial.pid, SIGKILL);
		(void)waitpid(trial.pid, NULL, 0);
	}
	close_fds(trial.fds, trial.knobs.count);
	cleanup_fd(&trial.sock);
	remove_leaf(cgroups, LEAF_TRIAL);
}

/* ---- jails --------------------------------------------------------------------------------- */

/* The child names the step that failed: those before it in the table went well. */
static int note_jail(int answer, const struct err *err)
{
	const size_t end = index_of("program");
	size_t len = strcspn(err->text, ":");
	struct err said = *err;

	for (size_t i = index_of("sources"); i <= end; i++) {
		const char *step = rows[i].step;

		if (answer < 0 && strlen(step) == len && strncmp(step, err->text, len) == 0) {
			cut_printf(said.text, sizeof(said.text), "%s",
				err->text + len + strspn(err->text + len, ": "));
			return probe_bad(step, &said);
		}
		if (answer < 0 && i == end)
			return probe_bad(step, err);
		(void)probe_good(step, rows[i].what);
	}
	return 0;
}

static struct id_maps maps_of(const struct spawner *spawner)
{
	bool is_root = spawner->mode == PRIV_MODE_ROOT;
	uint32_t uid = is_root ? spawner->uid_base : (uint32_t)geteuid();
	uint32_t gid = is_root ? spawner->uid_base : (uint32_t)getegid();

	return (struct id_maps){ { 0, uid, is_root ? 2 : 1 }, { 0, gid, is_root ? 2 : 1 } };
}

/* As start_resident() in spawner.c does it, step by step. */
static int start_jail(
	const struct spawner *spawner, const struct jail_spec *spec, struct child *child)
{
	const struct cgroups *cgroups = &spawner->cgroups;
	const struct id_maps maps = maps_of(spawner);
	struct err err = ERR_INIT;

	if (child_begin(child, spec, &err) < 0)
		return probe_bad("namespaces", &err);
	(void)probe_good("namespaces", "user, mount, pid, ipc, uts and network");
	if (ns_write_maps(child->pid, &maps, &err) < 0)
		return probe_bad("maps", &err);
	(void)probe_good("maps", "uid_map and gid_map, setgroups() denied");
	if (cgroup_make(cgroups, LEAF_ZYGOTE, &err) < 0 ||
		cgroup_join(cgroups, LEAF_ZYGOTE, child->pid, &err) < 0)
		return probe_bad("cgroup", &err);
	(void)probe_good("cgroup", cgroups->count ? "joined" : "none to join");
	return note_jail(child_go(child, &err), &err);
}

static int make_pair(int type, int pair[2], struct err *err)
{
	const struct timeval patience = { ANSWER_S, 0 };

	if (socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, pair) < 0 ||
		setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) < 0)
		return err_sys(err, "socketpair");
	return 0;
}

static void try_inspector(struct spawner *spawner)
{
	static const char *const argv[] = { "ced-inspector", NULL };
	static const char *const envp[] = { JAIL_ENV_SOCKET "=3", NULL };
	const struct mount_row binary = { MOUNT_TARGET, spawner->helpers[0], "/ced-inspector",
		false };
	struct child child = CHILD_INIT;
	struct err err = ERR_INIT;
	struct jail_spec spec;
	int pair[2] = { -1, -1 };

	jail_spec_init(&spec, &PROFILE_INSPECTOR);
	if (make_pair(SOCK_STREAM, pair, &err) < 0 || jail_spec_add(&spec, &binary, &err) < 0) {
		(void)probe_bad("sources", &err);
	} else {
		spec.socket = pair[1];
		spec.program = binary.target;
		spec.argv = argv;
		spec.envp = envp;
		spec.filter = &spawner->filters[FILTER_INSPECTOR];
		(void)start_jail(spawner, &spec, &child);
	}
	child_end(&child);
	close_fds(pair, 2);
}

/* ---- zygote, slot, worker ------------------------------------------------------------------ */

/* Waits for one kind of message; another one says why it does not come. */
static int expect(int sock, enum slotmsg_kind kind, struct err *err)
{
	int fds[1 + SLOTMSG_JOIN_FDS_MAX];
	unsigned fd_count = 0;
	struct slotmsg msg;
	int got = slotmsg_recv(sock, &msg, fds, &fd_count, err);

	if (got < 0)
		return err->code == ERR_BUSY
			       ? err_set(err, ERR_TIMEOUT, "no answer within %d s", ANSWER_S)
			       : -1;
	if (got == 0)
		return err_set(err, ERR_CLOSED, "it ended before it was ready");
	close_fds(fds, fd_count);
	if (msg.kind == kind)
		return 0;
	(void)err_set(err, ERR_SYSTEM, "%s", msg.text[0] ? msg.text : slotmsg_kind_word(msg.kind));
	return -1;
}

static int open_slot(const struct spawner *spawner, int zygote, int slot, struct err *err)
{
	bool is_root = spawner->mode == PRIV_MODE_ROOT;
	uid_t joiner = is_root ? spawner->uid_base + 1 : CGROUP_AS_WE_ARE;
	struct slotmsg msg = slotmsg_of(SLOTMSG_SLOT_OPEN);
	int given[1 + SLOTMSG_JOIN_FDS_MAX] = { slot };
	unsigned count = 1;
	struct priv_knobs knobs;
	int fds[PRIV_FDS_MAX];
	int sent;

	if (cgroup_make(&spawner->cgroups, LEAF_SLOT, err) < 0 ||
		cgroup_knobs(&spawner->cgroups, LEAF_SLOT, joiner, &knobs, fds, err) < 0)
		return -1;
	for (uint32_t i = 0; i < knobs.count && count < COUNT_OF(given); i++)
		if (knobs.which[i] == KNOB_JOIN)
			given[count++] = fds[i];
	sent = slotmsg_send(zygote, &msg, given, count, err);
	close_fds(fds, knobs.count);
	return sent < 0 ? -1 : expect(zygote, SLOTMSG_SLOT_OPENED, err);
}

/* A worker is ready when it says so on its job socket; else the slot tells why it ended. */
static int wait_for_worker(int slot, int job, struct err *err)
{
	struct job_head head = { 0 };

	if (expect(slot, SLOTMSG_WORKER_MADE, err) < 0)
		return -1;
	if (read(job, &head, sizeof(head)) == sizeof(head) && head.kind == JOB_READY)
		return 0;
	return expect(slot, SLOTMSG_NONE, err);
}

/* Its job never comes; the pipes only have to be there. */
static int make_worker(int slot, struct err *err)
{
	struct slotmsg msg = slotmsg_of(SLOTMSG_WORKER_MAKE);
	int job[2] = { -1, -1 };
	int lifeline[2] = { -1, -1 };
	int answer = -1;

	msg.limits.memory_bytes = (uint64_t)256 << 20;
	msg.limits.cpu_ms = (uint64_t)ANSWER_S * 1000;
	if (pipe2(lifeline, O_CLOEXEC) < 0) {
		(void)err_sys(err, "pipe");
	} else if (make_pair(SOCK_STREAM, job, err) == 0) {
		const int fds[] = { job[1], job[1], job[1], lifeline[0] };

		answer = slotmsg_send(slot, &msg, fds, COUNT_OF(fds), err);
		cleanup_fd(&job[1]); /* so that the worker's end is seen */
		job[1] = -1;
		if (answer == 0)
			answer = wait_for_worker(slot, job[0], err);
	}
	close_fds(job, 2);
	close_fds(lifeline, 2);
	return answer;
}

static void try_worker(const struct spawner *spawner, int zygote)
{
	struct err err = ERR_INIT;
	int pair[2] = { -1, -1 };

	if (probe_note("zygote", expect(zygote, SLOTMSG_ZYGOTE_READY, &err), "is ready", &err) < 0)
		return;
	if (make_pair(SOCK_SEQPACKET, pair, &err) < 0)
		(void)probe_bad("slot", &err);
	else if (probe_note("slot", open_slot(spawner, zygote, pair[1], &err), "was opened",
			 &err) == 0)
		(void)probe_note("worker", make_worker(pair[0], &err),
			"took every step into its jail", &err);
	close_fds(pair, 2);
}

/* A command's zygote, since it needs no interpreter but the shell. */
static int plan_zygote(
	const char *libexec, struct runtime_start *start, bool block, struct err *err)
{
	static const char *const binds[] = { "/usr/bin", "/bin", "/usr/lib", "/usr/lib64", "/lib",
		"/lib64", "/etc/alternatives" };
	static struct priv_runtime asked = { .name = "probe", .kind = PRIV_RUNTIME_COMMAND };
	static struct runtime runtime; /* the plan points into it */
	char shell[PATH_MAX];

	if (!realpath("/bin/sh", shell))
		return err_sys(err, "/bin/sh");
	cut_printf(asked.interpreter, sizeof(asked.interpreter), "%s", shell);
	cut_printf(asked.harness, sizeof(asked.harness), "%s/command", libexec);
	for (asked.bind_count = 0; asked.bind_count < COUNT_OF(binds); asked.bind_count++) {
		struct priv_bind *bind = &asked.binds[asked.bind_count];

		cut_printf(bind->path, sizeof(bind->path), "%s", binds[asked.bind_count]);
		bind->optional = true;
	}
	if (runtime_check(&runtime, &asked, err) < 0)
		return -1;
	return runtime_start(
		&runtime, 1, block ? JAIL_ENV_UIDS "=block" : JAIL_ENV_UIDS "=one", start, err);
}

static void try_zygote(struct spawner *spawner, const char *libexec)
{
	static struct runtime_start start;
	struct child child = CHILD_INIT;
	struct err err = ERR_INIT;
	int pair[2] = { -1, -1 };

	if (plan_zygote(libexec, &start, spawner->mode == PRIV_MODE_ROOT, &err) < 0 ||
		make_pair(SOCK_SEQPACKET, pair, &err) < 0) {
		(void)probe_bad("sources", &err);
	} else {
		start.spec.socket = pair[1];
		start.spec.filter = &spawner->filters[FILTER_ZYGOTE];
		if (start_jail(spawner, &start.spec, &child) == 0) {
			cleanup_fd(&pair[1]); /* so that its end is seen */
			pair[1] = -1;
			try_worker(spawner, pair[0]);
		}
	}
	child_end(&child);
	close_fds(pair, 2);
}

/* ---- all of it ----------------------------------------------------------------------------- */

/* As give_up_rights() in spawner_main.c.  Where the uids are missing, the rest is tried as one. */
static int give_up_rights(struct spawner *spawner)
{
	struct err err = ERR_INIT;
	char text[96];

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) {
		(void)err_sys(&err, "no_new_privs");
		return probe_bad("rights", &err);
	}
	if (spawner->mode == PRIV_MODE_USER) {
		cut_printf(text, sizeof(text), "all workers share uid %u; as root each has its own",
			(unsigned)geteuid());
		(void)probe_good("host uids", text);
		return probe_good("rights", "an ordinary user has none to give up");
	}
	if (ns_check_range(spawner->uid_base, SPAWNER_UID_COUNT, &err) < 0) {
		(void)probe_bad("host uids", &err);
		spawner->mode = PRIV_MODE_USER;
		return probe_good("rights", "not given up, as ced-spawner would not start");
	}
	cut_printf(text, sizeof(text), "%u to %u, one for each worker", spawner->uid_base,
		spawner->uid_base + SPAWNER_UID_COUNT - 1);
	(void)probe_good("host uids", text);
	return probe_note("rights", caps_keep_for_spawner(&err),
		"kept three capabilities, dropped all others", &err);
}

static void try_all(struct spawner *spawner, const char *libexec)
{
	struct caller caller = { "", "" };
	int ready = build_filters(spawner);

	try_notifier();
	try_landlock();
	try_populate();
	caller_aside(&caller);
	cgroups_open(&spawner->cgroups);
	try_cgroups(&spawner->cgroups);
	if (give_up_rights(spawner) == 0 && ready == 0) {
		try_inspector(spawner);
		if (results[index_of("program")].outcome == GOOD)
			try_zygote(spawner, libexec);
		remove_leaf(&spawner->cgroups, LEAF_SLOT);
		remove_leaf(&spawner->cgroups, LEAF_ZYGOTE);
	}
	if (spawner->mode == PRIV_MODE_ROOT)
		(void)caps_raise_at_the_end(NULL);
	cgroups_close(&spawner->cgroups);
	caller_back(&caller);
}

int main(int argc, char **argv)
{
	static struct spawner spawner = { .uid_base = UID_BASE_DEFAULT };
	static char libexec[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", libexec, sizeof(libexec) - 1);

	if (standard_fds_hold() < 0)
		return 2;
	if (argc == 3 && strcmp(argv[1], "--uid-base") == 0) {
		spawner.uid_base = (uint32_t)strtoul(argv[2], NULL, 10);
	} else if (argc != 1 || len <= 0) {
		(void)fputs("usage: ced-probe [--uid-base N]\n", stderr);
		return 2;
	}
	*strrchr(libexec, '/') = '\0';
	cut_printf(spawner.helpers[0], sizeof(spawner.helpers[0]), "%s/ced-inspector", libexec);
	spawner.mode = geteuid() == 0 ? PRIV_MODE_ROOT : PRIV_MODE_USER;
	(void)signal(SIGPIPE, SIG_IGN);
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	(void)alarm(LIFE_S);
	try_all(&spawner, libexec);
	return print_rows();
}
