#include "cli/doctor/doctor.h"

#include <string.h>

#include "cli/doctor/probe.h"
#include "cli/doctor/try.h"
#include "proto/base/container.h"

#define KERNEL     "kernel"
#define NAMESPACES "namespaces"
#define FILES      "files"
#define FILTERS    "filters"
#define CGROUPS    "cgroups"
#define INSTALLED  "installation"

#define NEWER_KERNEL "apt-get install linux-image-amd64, and restart"
#define NO_JAIL      "no jail can be made, and ced is never ready"
#define UNDER_FILTER                                                                        \
	"an older kernel or a filter around us does not give it: a newer kernel, or for a " \
	"container --security-opt seccomp=unconfined"
#define INSTEAD_RLIMIT                                                                          \
	"with cgroups = \"auto\" rlimits hold it for each process, not for all together; with " \
	"\"required\" ced does not start"

/*
 * Everything that is tried, in an order in which what is needed comes before what needs it.
 */
/* clang-format off */
static const struct check checks[] = {
	{ KERNEL, "version", "uname()", NEED_ALWAYS, NULL, probe_version, false,
	  "calls that jails are made with are not there", NEWER_KERNEL, NULL },
	{ KERNEL, "machine", "uname()", NEED_ALWAYS, NULL, probe_machine, false,
	  "the system call filters are for another machine", "a host with x86_64", NULL },
	{ KERNEL, "clone3", "a child by clone3()", NEED_ALWAYS, NULL, probe_clone3, false,
	  NO_JAIL, UNDER_FILTER, NULL },
	{ KERNEL, "pidfd", "a child killed and reaped by descriptor", NEED_ALWAYS, NULL, probe_pidfd, false,
	  NO_JAIL, UNDER_FILTER, NULL },
	{ KERNEL, "close_range", "closes a descriptor", NEED_ALWAYS, NULL, probe_close_range, false,
	  NO_JAIL, UNDER_FILTER, NULL },
	{ KERNEL, "openat2", "opens a path that climbs", NEED_ALWAYS, NULL, probe_openat2, false,
	  NO_JAIL, "take RestrictSUIDSGID= out of the unit; else " UNDER_FILTER, NULL },
	{ KERNEL, "memfd", "makes, seals and writes to one", NEED_ALWAYS, NULL, probe_memfd, false,
	  "programs get no stdin and no input", UNDER_FILTER, NULL },
	{ KERNEL, "populate", "madvise(MADV_POPULATE_READ)", NEED_BETTER, NULL, probe_populate, false,
	  "each worker rehearses, which takes longer", NEWER_KERNEL, NULL },
	{ KERNEL, "cores", "crashes as a worker would", NEED_BETTER, NULL, probe_cores, false,
	  "a host program reads the memory of programs that crash", "sysctl -w kernel.core_pattern=core", NULL },

	{ NAMESPACES, "host uids", "/proc/self/uid_map", NEED_ROOT, NULL, probe_host_uids, false,
	  "ced-spawner refuses to start", "ced-spawner --uid-base N, with N from 65536 on where 4160 uids exist", "uids" },
	{ NAMESPACES, "user", "made, mapped, rights used", NEED_ALWAYS, "clone3", probe_user_namespace, false,
	  NO_JAIL, UNDER_FILTER, NULL },
	{ NAMESPACES, "user in user", "one inside another", NEED_ALWAYS, "user", probe_user_nested, false,
	  NO_JAIL, UNDER_FILTER, NULL },
	{ NAMESPACES, "mnt", "made, mounts made private", NEED_ALWAYS, "user", probe_mnt_namespace, false,
	  NO_JAIL, UNDER_FILTER, NULL },
	{ NAMESPACES, "pid", "made, its first process is 1", NEED_ALWAYS, "user", probe_pid_namespace, false,
	  NO_JAIL, UNDER_FILTER, NULL },
	{ NAMESPACES, "net", "made, interfaces counted", NEED_ALWAYS, "user", probe_net_namespace, false,
	  NO_JAIL, UNDER_FILTER, NULL },
	{ NAMESPACES, "ipc", "made, segments counted", NEED_ALWAYS, "user", probe_ipc_namespace, false,
	  NO_JAIL, UNDER_FILTER, NULL },
	{ NAMESPACES, "uts", "made, and named", NEED_ALWAYS, "user", probe_uts_namespace, false,
	  NO_JAIL, "take ProtectHostname= out of the unit; else " UNDER_FILTER, NULL },
	{ NAMESPACES, "cgroup", "made", NEED_ALWAYS, "user", probe_cgroup_namespace, false,
	  NO_JAIL, UNDER_FILTER, NULL },
	{ NAMESPACES, "time", "made", NEED_NOBODY, "user", probe_time_namespace, false,
	  "nothing", "", NULL },
	{ NAMESPACES, "quota", "/proc/sys/user", NEED_BETTER, NULL, probe_namespace_quota, false,
	  "fewer workers than configured", "", NULL },
	{ NAMESPACES, "AppArmor", "its switches", NEED_NOBODY, NULL, probe_apparmor, false,
	  "nothing, where the rows above are good", "", NULL },

	{ FILES, "mount calls", "a tmpfs by fsopen()", NEED_ALWAYS, "mnt", probe_mount_api, false,
	  NO_JAIL, UNDER_FILTER, NULL },
	{ FILES, "tmpfs limits", "filled until it refuses", NEED_ALWAYS, "mnt", probe_tmpfs_limits, false,
	  "nothing holds what a program writes", NEWER_KERNEL, NULL },
	{ FILES, "read-only binds", "/usr by open_tree()", NEED_ALWAYS, "mnt", probe_binds, false,
	  NO_JAIL, UNDER_FILTER, NULL },
	{ FILES, "pivot_root", "leaves the host's root", NEED_ALWAYS, "mnt", probe_pivot, false,
	  NO_JAIL, UNDER_FILTER, NULL },
	{ FILES, "procfs", "one with subset=pid", NEED_ALWAYS, "mnt", probe_procfs, false,
	  NO_JAIL, UNDER_FILTER, NULL },
	{ FILES, "overlay", "fsopen()", NEED_NOBODY, "mnt", probe_overlay, false,
	  "nothing", "", NULL },

	{ FILTERS, "refusing", "getppid() answered with an errno", NEED_ALWAYS, NULL, probe_seccomp_errno, false,
	  NO_JAIL, "a kernel with CONFIG_SECCOMP_FILTER", NULL },
	{ FILTERS, "killing", "getppid() kills", NEED_ALWAYS, NULL, probe_seccomp_kill, false,
	  NO_JAIL, "a kernel with CONFIG_SECCOMP_FILTER", NULL },
	{ FILTERS, "notifier", "getppid() told and answered", NEED_BETTER, NULL, probe_seccomp_notify, false,
	  "what a program tried and may not is not told", UNDER_FILTER, NULL },
	{ FILTERS, "Landlock", "writing to /dev/null forbidden", NEED_LAYER, NULL, probe_landlock, false,
	  "workers lack the second barrier around files; ced starts without it with require = {}",
	  "a kernel with CONFIG_SECURITY_LANDLOCK, and landlock in lsm=", "landlock" },

	{ CGROUPS, "hierarchy", "/proc/self/cgroup", NEED_LAYER, NULL, probe_cgroup_version, false,
	  INSTEAD_RLIMIT, "mount -t cgroup2 cgroup2 /sys/fs/cgroup", "memory" },
	{ CGROUPS, "memory", "a leaf with a limit, and a member", NEED_LAYER, NULL, probe_cgroup_memory, false,
	  INSTEAD_RLIMIT, "", "memory" },
	{ CGROUPS, "pids", "a leaf for one process, and a second", NEED_LAYER, NULL, probe_cgroup_pids, false,
	  INSTEAD_RLIMIT, "", "pids" },
	{ CGROUPS, "cpu", "a leaf with a member that works", NEED_LAYER, NULL, probe_cgroup_cpu, false,
	  INSTEAD_RLIMIT, "", "cpu" },
	{ CGROUPS, "cgroup.kill", "a member killed by it", NEED_LAYER, NULL, probe_cgroup_kill, false,
	  "runs are killed by their pid namespace alone", "", "cgroup_kill" },
	{ CGROUPS, "swap", "/proc/swaps", NEED_BETTER, NULL, probe_swap, false,
	  "a run may use swap beyond its memory", "swapoff -a, or swapaccount=1 on the kernel's command line", NULL },

	{ INSTALLED, "programs", "read as the daemon's user", NEED_ALWAYS, "host uids", probe_programs, false,
	  "ced-spawner does not find ced, or ced does not start",
	  "cmake --install build/release (not below /root: as root the daemon is another user)", NULL },
	{ INSTALLED, "configuration", "read by ced itself", NEED_ALWAYS, NULL, probe_configuration, false,
	  "ced does not start; the checks here are made for its defaults", "correct what it names", NULL },
	{ INSTALLED, "open files", "RLIMIT_NOFILE", NEED_ALWAYS, NULL, probe_open_files, false,
	  "ced does not start with so many workers", "", NULL },
	{ INSTALLED, "room", "free on the disk of the setting state", NEED_ALWAYS, NULL, probe_room, false,
	  "a new store is not made, and with one that is there runs are refused", "", NULL },
	{ INSTALLED, "room to spare", "the same", NEED_BETTER, "room", probe_room_to_spare, false,
	  "the disk is full soon, and then runs are refused", "", NULL },
	{ INSTALLED, "runtime", "its interpreter is started", NEED_ALWAYS, "host uids", probe_interpreter, true,
	  "this language is never ready", "correct interpreter = in its section of the configuration", NULL },
};
/* clang-format on */

const struct check *doctor_check_at(size_t index)
{
	return index < COUNT_OF(checks) ? &checks[index] : NULL;
}

const struct check *doctor_check(const char *name)
{
	for (size_t i = 0; i < COUNT_OF(checks); i++)
		if (strcmp(checks[i].name, name) == 0)
			return &checks[i];
	return NULL;
}

const char *state_word(enum state state)
{
	static const char *const words[] = {
		[STATE_GOOD] = "good",
		[STATE_NOTE] = "note",
		[STATE_WEAKER] = "weaker",
		[STATE_MISSING] = "missing",
		[STATE_UNTRIED] = "untried",
	};

	return words[state];
}

const char *need_word(enum need need)
{
	static const char *const words[] = {
		[NEED_ALWAYS] = "always",
		[NEED_LAYER] = "configured",
		[NEED_ROOT] = "root",
		[NEED_BETTER] = "better",
		[NEED_NOBODY] = "nobody",
	};

	return words[need];
}

/* ---- one check ----------------------------------------------------------------------------- */

static bool is_needed(const struct patient *patient, const struct check *check)
{
	return check->need == NEED_ALWAYS || (check->need == NEED_ROOT && patient->root) ||
	       (check->layer && settings_require(&patient->settings, check->layer));
}

static enum state state_without(const struct patient *patient, const struct check *check)
{
	if (is_needed(patient, check))
		return STATE_MISSING;
	return check->need == NEED_NOBODY ? STATE_NOTE : STATE_WEAKER;
}

/* What has to be there first and is not, or NULL. */
static const char *obstacle(const struct check *check, const struct tried *so_far, size_t count)
{
	for (size_t i = 0; check->after && i < count; i++)
		if (strcmp(so_far[i].check->name, check->after) == 0 &&
			(so_far[i].finding.state == STATE_MISSING ||
				so_far[i].finding.state == STATE_UNTRIED))
			return check->after;
	return NULL;
}

struct attempt {
	const struct patient *patient;
	const struct check *check;
	struct finding finding;
};

static int attempt(void *context, struct err *err)
{
	struct attempt *attempt = context;

	return attempt->check->probe(attempt->patient, &attempt->finding, err);
}

static void conclude(const struct patient *patient, const struct check *check, int answer,
	const struct err *err, struct finding *finding)
{
	if (answer == 0) {
		finding->repair[0] = '\0';
		return;
	}
	finding->state = state_without(patient, check);
	cut_printf(finding->found, FOUND_MAX, "%s", err->text);
	if (finding->repair[0] == '\0')
		cut_printf(finding->repair, REPAIR_MAX, "%s", check->repair);
}

void doctor_try(const struct patient *patient, const struct check *check,
	const struct tried *so_far, size_t count, struct finding *ret_finding)
{
	const char *missing = obstacle(check, so_far, count);
	struct attempt *shared = missing ? NULL : try_memory(sizeof(*shared));
	struct err err = ERR_INIT;
	int answer;

	*ret_finding = (struct finding){ .state = STATE_UNTRIED };
	if (!shared) {
		cut_printf(ret_finding->found, FOUND_MAX, "not tried: it takes \"%s\"",
			missing ? missing : "memory");
		return;
	}
	shared->patient = patient;
	shared->check = check;
	answer = try_apart(attempt, shared, &err);
	*ret_finding = shared->finding;
	try_forget(shared, sizeof(*shared));
	conclude(patient, check, answer, &err, ret_finding);
}

/* ---- all of them --------------------------------------------------------------------------- */

static void try_one(
	const struct patient *patient, const struct check *check, struct tried *all, size_t *count)
{
	struct tried *tried = &all[*count];

	if (*count == DOCTOR_TRIED_MAX)
		return;
	tried->check = check;
	tried->runtime = patient->runtime ? patient->runtime->name : NULL;
	doctor_try(patient, check, all, *count, &tried->finding);
	++*count;
}

size_t doctor_try_all(const struct patient *patient, struct tried ret_tried[DOCTOR_TRIED_MAX])
{
	struct patient one = *patient;
	size_t count = 0;

	for (size_t i = 0; i < COUNT_OF(checks); i++) {
		one.runtime = NULL;
		if (!checks[i].each_runtime)
			try_one(&one, &checks[i], ret_tried, &count);
		for (size_t j = 0; checks[i].each_runtime && j < one.settings.runtime_count; j++) {
			one.runtime = &patient->settings.runtimes[j]; /* its name is kept */
			try_one(&one, &checks[i], ret_tried, &count);
		}
	}
	return count;
}

bool doctor_is_well(const struct tried *tried, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (tried[i].finding.state == STATE_MISSING)
			return false;
	return true;
}
