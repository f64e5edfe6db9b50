/*
 * Cgroups, v1 or v2: a folder is made below the one that we are in, a child is put there, and its
 * limit is tried on it (trial.h).
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/doctor/probe.h"
#include "cli/doctor/trial.h"
#include "cli/doctor/try.h"
#include "proto/base/container.h"

#define MEMORY_TAKEN ((size_t)4 << 20)
#define MEMORY_LIMIT "67108864"
#define BURN_US      20000

/* ---- what to do about it ------------------------------------------------------------------- */

static void advise_mount(const struct leaf *leaf, struct finding *finding)
{
	struct place memory;
	const char *name = leaf->controller;

	cgroups_find_own("memory", &memory);
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

	if (trial_run(trial, &leaf, err) < 0) {
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

	if (cgroups_put(leaf->folder, name, MEMORY_LIMIT, err) < 0)
		return -1;
	cgroups_get(leaf->folder, name, line, sizeof(line));
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
	unsigned long long used = cgroups_number(leaf->folder, name);

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
	return cgroups_put(leaf->folder, "pids.max", "1", err);
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
		return cgroups_put(leaf->folder, "cpu.max", "max 100000", err);
	return cgroups_put(leaf->folder, "cpu.cfs_quota_us", "-1", err);
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
	cgroups_get(leaf->folder, leaf->place.version == 2 ? "cpu.stat" : "cpuacct.usage", line,
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

	cgroups_find_own("cpu", &place);
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

	if (cgroups_put(leaf->folder, "cgroup.kill", "1", err) < 0)
		return -1;
	/* its end of the socket goes with it */
	if (poll(&watched, 1, TRIAL_ANSWER_MS) != 1)
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
	char offered[TRIAL_TEXT_MAX] = "";
	size_t v1 = 0;

	(void)patient;
	for (size_t i = 0; i < COUNT_OF(controllers); i++) {
		struct place place;

		cgroups_find_own(controllers[i], &place);
		v1 += place.version == 1;
	}
	if (cgroups_find(NULL, &unified, v1 ? NULL : err) < 0 && v1 == 0)
		return -1;
	if (unified.version == 2 && unified.folder[0])
		cgroups_get(unified.folder, "cgroup.controllers", offered, sizeof(offered));
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
	char path[TRIAL_PATH_ROOM];

	(void)patient;
	while (file && fgets(line, sizeof(line), file))
		lines++;
	if (file)
		(void)fclose(file);
	if (lines < 2) {
		cut_printf(finding->found, FOUND_MAX, "this host has none");
		return 0;
	}
	if (cgroups_find("memory", &place, err) < 0)
		return -1;
	cut_printf(path, sizeof(path), "%s/%s", place.folder,
		place.version == 2 ? "memory.swap.max" : "memory.memsw.limit_in_bytes");
	if (access(path, F_OK) < 0)
		return err_sys(err, "%s", path);
	cut_printf(finding->found, FOUND_MAX, "there is some, and it can be kept from a run");
	return 0;
}
