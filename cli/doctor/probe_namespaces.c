/* Namespaces of each kind, and what a host does to keep them from its users. */
#include <errno.h>
#include <linux/sched.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mount.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/doctor/probe.h"
#include "cli/doctor/try.h"
#include "proto/base/container.h"

#define SYSCTL_REPAIR(setting) \
	"echo " setting " >>/etc/sysctl.d/90-ced.conf && sysctl -p /etc/sysctl.d/90-ced.conf"

/* One line, so that it can be pasted.  The profile names cectl too: then this page tells the truth. */
#define APPARMOR_REPAIR                                                             \
	"printf 'abi <abi/4.0>,\\ninclude <tunables/global>\\nprofile ced "         \
	"/usr/{,local/}bin/{ced-spawner,cectl} flags=(unconfined) { userns, }\\n' " \
	">/etc/apparmor.d/ced && apparmor_parser -r /etc/apparmor.d/ced"

#define CONTAINER_REPAIR                                                                       \
	"a container's filter or a service's hardening refuses it: run ced on the host, take " \
	"RestrictNamespaces= out of the unit, or start the container with "                    \
	"--security-opt seccomp=unconfined --security-opt apparmor=unconfined"

/* Why a host refuses, in the order in which kernels ask. */
static const struct cause {
	int sys_errno; /* 0: any */
	const char *sysctl;
	long refusing; /* the value that refuses */
	const char *repair;
} causes[] = {
	{ 0, "kernel/unprivileged_userns_clone", 0,
		SYSCTL_REPAIR("kernel.unprivileged_userns_clone=1") },
	{ ENOSPC, "user/max_user_namespaces", 0, SYSCTL_REPAIR("user.max_user_namespaces=15000") },
	{ 0, "kernel/apparmor_restrict_unprivileged_userns", 1, APPARMOR_REPAIR },
};

static void find_cause(struct finding *finding, struct err *err)
{
	for (size_t i = 0; i < COUNT_OF(causes); i++) {
		const struct cause *cause = &causes[i];

		if ((cause->sys_errno && cause->sys_errno != err->sys_errno) ||
			probe_sysctl(cause->sysctl) != cause->refusing)
			continue;
		cut_printf(err->text + strlen(err->text), ERR_TEXT_MAX - strlen(err->text),
			"; %s = %ld", cause->sysctl, cause->refusing);
		cut_printf(finding->repair, REPAIR_MAX, "%s", cause->repair);
		return;
	}
	if (err->sys_errno == EPERM || err->sys_errno == EACCES || err->sys_errno == ENOSYS ||
		err->code == ERR_DENIED)
		cut_printf(finding->repair, REPAIR_MAX, "%s", CONTAINER_REPAIR);
}

PROBE(host_uids)
{
	if (!patient->root && settings_require(&patient->settings, "uids")) {
		cut_printf(finding->repair, REPAIR_MAX, "root starts ced-spawner");
		return err_set(err, ERR_DENIED, "only root can give each worker its own");
	}
	if (!patient->root) {
		finding->state = STATE_NOTE;
		cut_printf(finding->found, FOUND_MAX,
			"not as this user: all workers share uid %u; as root each has its own",
			(unsigned)geteuid());
		return 0;
	}
	if (!try_uids_exist(HOST_UIDS_FIRST, HOST_UIDS_COUNT))
		return err_set(err, ERR_UNSUPPORTED, "uids %u to %u do not exist here",
			HOST_UIDS_FIRST, HOST_UIDS_FIRST + HOST_UIDS_COUNT - 1);
	cut_printf(finding->found, FOUND_MAX, "%u to %u, one for each worker", HOST_UIDS_FIRST,
		HOST_UIDS_FIRST + HOST_UIDS_COUNT - 1);
	return 0;
}

/* ---- user namespaces ----------------------------------------------------------------------- */

/* Being root of a namespace is worth nothing where an AppArmor profile has taken its rights. */
static int use_rights(void *context, struct err *err)
{
	(void)context;
	if (mount("", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return err_sys(err, "there is one, without rights in it: mount");
	return 0;
}

PROBE(user_namespace)
{
	(void)patient;
	if (try_inside(CLONE_NEWUSER | CLONE_NEWNS, use_rights, NULL, err) < 0) {
		find_cause(finding, err);
		return -1;
	}
	cut_printf(finding->found, FOUND_MAX, "made, mapped, and its rights used");
	return 0;
}

static int nothing(void *context, struct err *err)
{
	(void)context;
	(void)err;
	return 0;
}

static int one_below(void *context, struct err *err)
{
	(void)context;
	return try_inside(CLONE_NEWUSER, nothing, NULL, err);
}

/* What a zygote does for each slot, without any right over the host. */
PROBE(user_nested)
{
	(void)patient;
	if (try_inside(CLONE_NEWUSER, one_below, NULL, err) < 0) {
		find_cause(finding, err);
		return -1;
	}
	cut_printf(finding->found, FOUND_MAX, "one inside another, as zygote and worker have it");
	return 0;
}

/* ---- the others ---------------------------------------------------------------------------- */

static int try_kind(
	uint64_t kind, try_work work, const char *found, struct finding *finding, struct err *err)
{
	if (try_inside(CLONE_NEWUSER | kind, work, NULL, err) < 0)
		return -1;
	cut_printf(finding->found, FOUND_MAX, "%s", found);
	return 0;
}

PROBE(mnt_namespace)
{
	(void)patient;
	return try_kind(CLONE_NEWNS, use_rights, "made, and its mounts made private", finding, err);
}

static int be_first(void *context, struct err *err)
{
	(void)context;
	return getpid() == 1 ? 0 : err_set(err, ERR_UNSUPPORTED, "its first process is not pid 1");
}

PROBE(pid_namespace)
{
	(void)patient;
	return try_kind(CLONE_NEWPID, be_first, "its first process is pid 1", finding, err);
}

static int be_alone(void *context, struct err *err)
{
	struct if_nameindex *all = if_nameindex();
	size_t count = 0;

	(void)context;
	if (!all)
		return err_sys(err, "interfaces");
	while (all[count].if_index)
		count++;
	if_freenameindex(all);
	if (count > 1) /* a tunnel module may add one of its own to each */
		return err_set(err, ERR_UNSUPPORTED, "it begins with %zu interfaces", count);
	return 0;
}

PROBE(net_namespace)
{
	(void)patient;
	return try_kind(CLONE_NEWNET, be_alone, "empty but for its own loopback", finding, err);
}

static int have_own_ipc(void *context, struct err *err)
{
	struct shm_info info;

	(void)context;
	if (shmctl(0, SHM_INFO, (struct shmid_ds *)(void *)&info) < 0)
		return err_sys(err, "shmctl");
	return info.used_ids == 0 ? 0 : err_set(err, ERR_UNSUPPORTED, "it is not empty");
}

PROBE(ipc_namespace)
{
	(void)patient;
	return try_kind(CLONE_NEWIPC, have_own_ipc, "made, and empty", finding, err);
}

static int name_it(void *context, struct err *err)
{
	(void)context;
	return sethostname("sandbox", strlen("sandbox")) < 0 ? err_sys(err, "sethostname") : 0;
}

PROBE(uts_namespace)
{
	(void)patient;
	return try_kind(CLONE_NEWUTS, name_it, "made, and named", finding, err);
}

PROBE(cgroup_namespace)
{
	(void)patient;
	return try_kind(CLONE_NEWCGROUP, nothing, "made", finding, err);
}

PROBE(time_namespace)
{
	(void)patient;
	return try_kind(CLONE_NEWTIME, nothing, "there; ced does not use it: clocks are the host's",
		finding, err);
}

/* ---- quotas and modules -------------------------------------------------------------------- */

/* Each worker keeps one of each kind, each zygote and inspector too. */
PROBE(namespace_quota)
{
	static const char *const kinds[] = { "user", "mnt", "pid", "net", "ipc", "uts", "cgroup" };
	const struct settings *settings = &patient->settings;
	unsigned long workers = settings->workers_max + settings->workers_reserve;
	long wanted = (long)(settings->runtime_count * (workers + 2) + 16);
	const char *scarce = "";
	long least = 0;

	for (size_t i = 0; i < COUNT_OF(kinds); i++) {
		char name[64];
		long most;

		cut_printf(name, sizeof(name), "user/max_%s_namespaces", kinds[i]);
		most = probe_sysctl(name);
		if (most < 0 || (scarce[0] && most >= least))
			continue;
		least = most;
		scarce = kinds[i];
	}
	if (!scarce[0])
		return err_set(err, ERR_MISSING, "/proc/sys/user cannot be read");
	if (least >= wanted) {
		cut_printf(finding->found, FOUND_MAX, "at least %ld of each kind", least);
		return 0;
	}
	cut_printf(finding->repair, REPAIR_MAX,
		"echo user.max_%s_namespaces=15000 >>/etc/sysctl.d/90-ced.conf && sysctl -p "
		"/etc/sysctl.d/90-ced.conf",
		scarce);
	return err_set(err, ERR_UNSUPPORTED, "user.max_%s_namespaces = %ld, and %ld may be needed",
		scarce, least, wanted);
}

PROBE(apparmor)
{
	char enabled[8];
	char label[128];
	long restricts = probe_sysctl("kernel/apparmor_restrict_unprivileged_userns");

	(void)patient;
	(void)err;
	probe_line("/sys/module/apparmor/parameters/enabled", enabled, sizeof(enabled));
	if (enabled[0] != 'Y') {
		cut_printf(finding->found, FOUND_MAX, "not active here");
		return 0;
	}
	probe_line("/proc/self/attr/apparmor/current", label, sizeof(label));
	if (label[0] == '\0')
		probe_line("/proc/self/attr/current", label, sizeof(label));
	cut_printf(finding->found, FOUND_MAX, "active, %s here, user namespaces %s",
		label[0] ? label : "no profile",
		restricts == 1 ? "only for programs whose profile allows them" : "not restricted");
	if (restricts == 1)
		finding->state = STATE_NOTE;
	return 0;
}
