/* Why a host refuses, and what to type. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/doctor/doctor.h"
#include "proto/base/container.h"

#define SYSCTL_REPAIR(setting) \
	"echo " setting " >>/etc/sysctl.d/90-ced.conf && sysctl -p /etc/sysctl.d/90-ced.conf"

/*
 * One line, so that it can be pasted.  The profile names ced-probe too: it does what ced-spawner
 * does.
 */
#define APPARMOR_REPAIR                                                               \
	"printf 'abi <abi/4.0>,\\ninclude <tunables/global>\\nprofile ced "           \
	"/usr/{,local/}{bin/ced-spawner,libexec/ced/ced-probe} flags=(unconfined) { " \
	"userns, }\\n' >/etc/apparmor.d/ced && apparmor_parser -r /etc/apparmor.d/ced"

/* The same with the profile that comes with ced. */
#define APPARMOR_SHIPPED "/usr/share/ced/apparmor.d/ced"
#define APPARMOR_REPAIR_SHIPPED                                       \
	"install -m 644 " APPARMOR_SHIPPED " /etc/apparmor.d/ced && " \
	"apparmor_parser -r /etc/apparmor.d/ced"

#define CONTAINER_REPAIR                                                                       \
	"a container's filter or a service's hardening refuses it: run ced on the host, take " \
	"RestrictNamespaces= out of the unit, or start the container with "                    \
	"--security-opt seccomp=unconfined --security-opt apparmor=unconfined"

#define ANY 0

/* The first row that fits counts.  NULL and ANY fit everything; a row without sysctl asks none. */
/* clang-format off */
static const struct cause {
	const char *group;
	const char *name;
	int sys_errno;
	const char *sysctl;
	long value; /* of the sysctl, which refuses */
	const char *repair; /* NULL: that of AppArmor */
} causes[] = {
	{ "jail", NULL, ANY, "kernel/unprivileged_userns_clone", 0, SYSCTL_REPAIR("kernel.unprivileged_userns_clone=1") },
	{ "jail", NULL, ENOSPC, "user/max_user_namespaces", 0, SYSCTL_REPAIR("user.max_user_namespaces=15000") },
	{ "worker", NULL, ENOSPC, "user/max_user_namespaces", 0, SYSCTL_REPAIR("user.max_user_namespaces=15000") },
	{ "jail", NULL, EPERM, "kernel/apparmor_restrict_unprivileged_userns", 1, NULL },
	{ "jail", NULL, EACCES, "kernel/apparmor_restrict_unprivileged_userns", 1, NULL },
	{ "worker", NULL, ANY, "kernel/apparmor_restrict_unprivileged_userns", 1, NULL },
	{ "filters", "filters", EACCES, "vm/memfd_noexec", 2, "sysctl -w vm.memfd_noexec=1" },
	{ "filters", "Landlock", EOPNOTSUPP, NULL, 0,
	  "it is built in and switched off: put landlock into lsm= on the kernel's command "
	  "line (GRUB_CMDLINE_LINUX in /etc/default/grub, then update-grub) and restart" },
	{ "jail", "procfs", EPERM, NULL, 0,
	  "the host's /proc is covered in parts, as containers do it: start the container with "
	  "--security-opt systempaths=unconfined, or take ProtectKernel*= and ProtectProc= out of the unit" },
	{ "jail", "surroundings", EPERM, NULL, 0,
	  "take ProtectHostname= out of the unit; for a container --security-opt seccomp=unconfined" },
	{ "jail", "tree", ENOSYS, NULL, 0,
	  "take RestrictSUIDSGID= out of the unit; for a container --security-opt seccomp=unconfined; "
	  "else a newer kernel" },
	{ "jail", NULL, EPERM, NULL, 0, CONTAINER_REPAIR },
	{ "jail", NULL, EACCES, NULL, 0, CONTAINER_REPAIR },
	{ "jail", NULL, ENOSYS, NULL, 0, CONTAINER_REPAIR },
};
/* clang-format on */

const char *repair_apparmor(void)
{
	return access(APPARMOR_SHIPPED, R_OK) == 0 ? APPARMOR_REPAIR_SHIPPED : APPARMOR_REPAIR;
}

static bool cause_fits(const struct cause *cause, const struct err *err, const struct finding *of)
{
	return strcmp(cause->group, of->group) == 0 &&
	       (!cause->name || strcmp(cause->name, of->name) == 0) &&
	       (cause->sys_errno == ANY || cause->sys_errno == err->sys_errno) &&
	       (!cause->sysctl || doctor_sysctl(cause->sysctl) == cause->value);
}

/* ---- cgroups ------------------------------------------------------------------------------- */

/* Where our own cgroup of a controller should be. */
struct place {
	int version; /* 0: the kernel does not know the controller */
	char folder[1024];
};

static void find_place(const char *controller, struct place *place)
{
	FILE *table = fopen("/proc/self/cgroup", "re");
	char line[1024];
	const char *unified = access("/sys/fs/cgroup/unified", F_OK) == 0 ? "/unified" : "";

	*place = (struct place){ 0 };
	while (table && place->version != 1 && fgets(line, sizeof(line), table)) {
		char list[256] = "";
		char path[512] = "";
		const char *at;

		if (sscanf(line, "0::%511[^\n]", path) == 1)
			place->version = 2;
		else if (sscanf(line, "%*u:%255[^:]:%511[^\n]", list, path) == 2 &&
			 (at = strstr(list, controller)) && strchr(",", at[strlen(controller)]) &&
			 (at == list || at[-1] == ','))
			place->version = 1;
		else
			continue;
		cut_printf(place->folder, sizeof(place->folder), "/sys/fs/cgroup%s%s%s",
			list[0] ? "/" : unified, list, strcmp(path, "/") == 0 ? "" : path);
	}
	if (table)
		(void)fclose(table);
}

static void repair_mount(const char *controller, const struct place *place, struct finding *of)
{
	struct place memory;

	find_place("memory", &memory);
	if (place->version == 1)
		cut_printf(of->repair, sizeof(of->repair),
			"mkdir -p /sys/fs/cgroup/%s && mount -t cgroup -o %s cgroup "
			"/sys/fs/cgroup/%s",
			controller, controller, controller);
	else if (memory.version == 1) /* v2 has its place beside v1's */
		cut_printf(of->repair, sizeof(of->repair),
			"mkdir -p /sys/fs/cgroup/unified && mount -t cgroup2 cgroup2 "
			"/sys/fs/cgroup/unified");
	else
		cut_printf(
			of->repair, sizeof(of->repair), "mount -t cgroup2 cgroup2 /sys/fs/cgroup");
}

static void repair_systemd(bool root, const struct err *err, struct finding *of)
{
	const char *repair = "systemd-run --user --scope -p Delegate=yes -- cectl doctor";

	if (root)
		repair =
			"systemctl start ced (its unit has Delegate=); by hand: systemd-run --scope "
			"-p Delegate=yes -- cectl doctor";
	else if (strstr(err->text,
			 "no hierarchy offers it")) /* the user's manager has not got it */
		repair =
			"as root: mkdir -p /etc/systemd/system/user@.service.d && printf "
			"'[Service]\\nDelegate=cpu memory pids\\n' "
			">/etc/systemd/system/user@.service.d/ced.conf && systemctl daemon-reload, "
			"then log in again";
	cut_printf(of->repair, sizeof(of->repair), "%s", repair);
}

static void repair_bare(
	bool root, const struct place *place, const struct err *err, struct finding *of)
{
	const char *folder = place->folder;

	if (!root)
		cut_printf(of->repair, sizeof(of->repair),
			"as root: mkdir %s/ced && chown -R %u %s/ced && echo PID "
			">%s/ced/cgroup.procs, with the PID of the shell that starts ced",
			folder, (unsigned)geteuid(), folder, folder);
	else if (err->sys_errno == EBUSY)
		cut_printf(of->repair, sizeof(of->repair),
			"mkdir %s/ced && echo $$ >%s/ced/cgroup.procs, then start ced from this "
			"shell",
			folder, folder);
	else
		cut_printf(of->repair, sizeof(of->repair),
			"give it cgroups that can be written to (a container: --cgroupns=private, "
			"and /sys/fs/cgroup mounted rw)");
}

static void repair_cgroup(const struct patient *patient, const struct err *err, struct finding *of)
{
	const char *controller = of->layer && strcmp(of->layer, "cgroup_kill") != 0 ? of->name : "";
	struct place place;

	find_place(controller[0] ? controller : "cgroup2", &place);
	if (place.version == 0 || access(place.folder, F_OK) < 0)
		repair_mount(controller, &place, of);
	else if (access("/run/systemd/system", F_OK) == 0)
		repair_systemd(patient->root, err, of);
	else
		repair_bare(patient->root, &place, err, of);
}

void repair_find(const struct patient *patient, const struct err *err, struct finding *finding)
{
	if (strcmp(finding->group, "cgroups") == 0 && finding->layer) {
		repair_cgroup(patient, err, finding);
		return;
	}
	for (size_t i = 0; i < COUNT_OF(causes); i++) {
		const struct cause *cause = &causes[i];
		size_t len = strlen(finding->found);

		if (!cause_fits(cause, err, finding))
			continue;
		if (cause->sysctl)
			cut_printf(finding->found + len, sizeof(finding->found) - len, "; %s = %ld",
				cause->sysctl, cause->value);
		cut_printf(finding->repair, sizeof(finding->repair), "%s",
			cause->repair ? cause->repair : repair_apparmor());
		return;
	}
}
