/* The checks that need no jail: the kernel and the installation. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <sys/wait.h>

#include "cli/base/command.h"
#include "cli/doctor/doctor.h"
#include "proto/base/container.h"
#include "proto/package_digest.h"
#include "proto/store_room.h"

#define LEAST_MAJOR 5
#define LEAST_MINOR 12 /* mount_setattr() */

/* As the pool counts them: daemon/workers/pool.c. */
#define FDS_PER_WORKER 32
#define FDS_BESIDE     144

#define UNIT_STATE "/var/lib/ced" /* the default, and what the unit may write to */
#define ANSWER_S   5
#define CHECK_S    60 /* ced reads every policy */
#define TEXT_BYTES 4096
#define MIB        (1024.0 * 1024.0)

/* 0: it is there, finding->found says more.  -1: it is not; the check may write a better repair. */
typedef int (*probe)(const struct patient *patient, struct finding *finding, struct err *err);

#define PROBE(name)              \
	static int probe_##name( \
		const struct patient *patient, struct finding *finding, struct err *err)

#define FOUND(...)  cut_printf(finding->found, sizeof(finding->found), __VA_ARGS__)
#define REPAIR(...) cut_printf(finding->repair, sizeof(finding->repair), __VA_ARGS__)

/* ---- the kernel ---------------------------------------------------------------------------- */

PROBE(version)
{
	struct utsname name;
	unsigned long major;
	unsigned long minor;
	char *rest = NULL;

	(void)patient;
	if (uname(&name) < 0)
		return err_sys(err, "uname");
	FOUND("%s %s", name.sysname, name.release);
	major = strtoul(name.release, &rest, 10);
	minor = *rest == '.' ? strtoul(rest + 1, NULL, 10) : 0;
	if (major < LEAST_MAJOR || (major == LEAST_MAJOR && minor < LEAST_MINOR))
		return err_set(err, ERR_UNSUPPORTED, "%s is older than %d.%d", name.release,
			LEAST_MAJOR, LEAST_MINOR);
	return 0;
}

PROBE(machine)
{
	struct utsname name;

	(void)patient;
	if (uname(&name) < 0)
		return err_sys(err, "uname");
	FOUND("%s", name.machine);
	if (strcmp(name.machine, "x86_64") != 0)
		return err_set(err, ERR_UNSUPPORTED,
			"%s: the filters are written and tested for x86_64", name.machine);
	return 0;
}

/* Each worker keeps one of each kind, each zygote and inspector too. */
PROBE(quota)
{
	static const char *const kinds[] = { "user", "mnt", "pid", "net", "ipc", "uts", "cgroup" };
	const struct settings *settings = &patient->settings;
	unsigned long workers = settings->workers_max + settings->workers_reserve;
	long needed = (long)(settings->runtime_count * (workers + 2) + 16);
	const char *scarce = "";
	long least = 0;

	for (size_t i = 0; i < COUNT_OF(kinds); i++) {
		char name[64];
		long most;

		cut_printf(name, sizeof(name), "user/max_%s_namespaces", kinds[i]);
		most = doctor_sysctl(name);
		if (most < 0 || (scarce[0] && most >= least))
			continue;
		least = most;
		scarce = kinds[i];
	}
	if (!scarce[0])
		return err_set(err, ERR_MISSING, "/proc/sys/user cannot be read");
	if (least >= needed) {
		FOUND("at least %ld of each kind", least);
		return 0;
	}
	REPAIR("echo user.max_%s_namespaces=15000 >>/etc/sysctl.d/90-ced.conf && sysctl -p "
	       "/etc/sysctl.d/90-ced.conf",
		scarce);
	return err_set(err, ERR_UNSUPPORTED, "user.max_%s_namespaces = %ld, and %ld may be needed",
		scarce, least, needed);
}

/* Whether the kernel has a profile called ced.  -1: only root may read that. */
static int has_profile(void)
{
	FILE *table = fopen("/sys/kernel/security/apparmor/profiles", "re");
	char line[256];
	int found = 0;

	if (!table)
		return -1;
	while (!found && fgets(line, sizeof(line), table))
		found = strncmp(line, "ced ", strlen("ced ")) == 0;
	(void)fclose(table);
	return found;
}

PROBE(apparmor)
{
	static const char *const words[] = { "the profile ced is not loaded",
		"and the profile ced allows them" };
	int profile = has_profile();
	char enabled[8];
	char label[128];
	long restricts = doctor_sysctl("kernel/apparmor_restrict_unprivileged_userns");

	(void)patient;
	(void)err;
	doctor_line("/sys/module/apparmor/parameters/enabled", enabled, sizeof(enabled));
	if (enabled[0] != 'Y') {
		FOUND("not active here");
		return 0;
	}
	doctor_line("/proc/self/attr/apparmor/current", label, sizeof(label));
	if (label[0] == '\0')
		doctor_line("/proc/self/attr/current", label, sizeof(label));
	FOUND("active, %s here, user namespaces %s%s%s", label[0] ? label : "no profile",
		restricts == 1 ? "only for programs whose profile allows them" : "not restricted",
		restricts == 1 && profile >= 0 ? "; " : "",
		restricts == 1 && profile >= 0 ? words[profile] : "");
	if (restricts == 1)
		finding->state = STATE_NOTE;
	if (restricts == 1 && profile == 0)
		REPAIR("%s", repair_apparmor());
	return 0;
}

/* ---- programs ------------------------------------------------------------------------------ */

/* When root starts ced, the daemon is another user, who must be able to read its programs. */
PROBE(programs)
{
	const char *libexec = patient->settings.libexec;
	char path[SETTINGS_PATH_MAX + 8];
	const char *const argv[] = { path, "--version", NULL };
	const struct command_line line = { argv, .as_daemon = true, .seconds = ANSWER_S };
	char said[128];
	int status;

	if (libexec[0] == '\0')
		return err_set(err, ERR_MISSING, "there is no libexec/ced beside cectl's folder");
	cut_printf(path, sizeof(path), "%s/ced", libexec);
	status = command_run(&line, said, sizeof(said), NULL, err);
	if (status < 0)
		return -1;
	if (status != 0)
		return err_set(err, ERR_UNSUPPORTED, "%s does not start", path);
	FOUND("%s%s", libexec, patient->root ? ", readable for the daemon's user" : "");
	return 0;
}

/* What the settings name: programs, policies, paths.  A check of its own says that ced does not start. */
static int check_named(const struct settings *settings, struct err *err)
{
	static char text[TEXT_BYTES];
	char ced[SETTINGS_PATH_MAX + 8];
	const char *const argv[] = { ced, "--check-config", settings->config, NULL };
	const struct command_line line = { argv, .as_daemon = true, .with_stderr = true,
		.seconds = CHECK_S };

	cut_printf(ced, sizeof(ced), "%s/ced", settings->libexec);
	if (!settings->config[0] || !settings->libexec[0] ||
		command_run(&line, text, sizeof(text), NULL, NULL) <= 0)
		return 0;
	text[strcspn(text, "\n")] = '\0';
	return err_set(
		err, ERR_INVALID, "%s", text[0] ? text : "ced --check-config did not end in time");
}

PROBE(configuration)
{
	const struct settings *settings = &patient->settings;

	if (settings->trouble[0])
		return err_set(err, ERR_INVALID, "%s", settings->trouble);
	if (check_named(settings, err) < 0)
		return -1;
	FOUND("%s; requires%s",
		settings->config[0] ? settings->config : "the defaults, as no file is there",
		settings->required[0] ? settings->required : " no layer that can be left out");
	return 0;
}

PROBE(open_files)
{
	const struct settings *settings = &patient->settings;
	unsigned long workers =
		settings->workers_min + settings->workers_max + settings->workers_reserve;
	unsigned long needed = FDS_BESIDE + FDS_PER_WORKER * settings->runtime_count * workers;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return err_sys(err, "RLIMIT_NOFILE");
	FOUND("at most %lu, and %lu are needed", (unsigned long)limit.rlim_max, needed);
	if (limit.rlim_max >= needed)
		return 0;
	REPAIR("LimitNOFILE=%lu in the unit; by hand: ulimit -Hn %lu, as root", needed, needed);
	return err_set(err, ERR_UNSUPPORTED, "%s", finding->found);
}

/* ---- folders ------------------------------------------------------------------------------- */

/* An ordinary user asks, and no file of his was named: the settings are those of the host's service. */
static bool is_hosts(const struct settings *settings)
{
	return geteuid() != 0 &&
	       (!settings->config[0] || strcmp(settings->config, HOST_CONFIG) == 0);
}

/* ced makes no folder for its store; the unit makes the default one. */
PROBE(state)
{
	const char *state = patient->settings.state;
	struct stat st;
	uid_t uid;
	gid_t gid;

	FOUND("%s", state);
	command_daemon_ids(&uid, &gid);
	if (stat(state, &st) == 0 && !S_ISDIR(st.st_mode))
		return err_set(err, ERR_UNSUPPORTED, "%s is no folder", state);
	if (stat(state, &st) == 0 && st.st_uid != uid && is_hosts(&patient->settings)) {
		FOUND("%s belongs to uid %u; a daemon of yours needs another one: --state", state,
			(unsigned)st.st_uid);
		finding->state = STATE_NOTE;
		return 0;
	}
	if (stat(state, &st) == 0 && st.st_uid != uid) {
		if (geteuid() == 0)
			REPAIR("chown -R %u:%u %s", (unsigned)uid, (unsigned)gid, state);
		else
			REPAIR("name a folder of yours in the setting state");
		return err_set(err, ERR_DENIED, "%s belongs to uid %u, and the daemon is uid %u",
			state, (unsigned)st.st_uid, (unsigned)uid);
	}
	if (stat(state, &st) == 0)
		return 0;
	if (strcmp(state, UNIT_STATE) == 0) {
		FOUND("%s is not there; the unit makes it at its start", state);
		finding->state = STATE_NOTE;
		return 0;
	}
	REPAIR("mkdir -p -m 700 %s && chown ced: %s", state, state);
	return err_sys(err, "the setting state: %s", state);
}

static bool unit_may_write(const char *path)
{
	static const char *const folders[] = { UNIT_STATE, "/run/ced" };

	for (size_t i = 0; i < COUNT_OF(folders); i++) {
		size_t len = strlen(folders[i]);

		if (strncmp(path, folders[i], len) == 0 && (!path[len] || path[len] == '/'))
			return true;
	}
	return path[0] == '\0';
}

/* The unit has a read-only file system beside its own two folders. */
PROBE(written)
{
	const struct settings *settings = &patient->settings;
	const char *state = unit_may_write(settings->state) ? "" : settings->state;
	const char *file =
		unit_may_write(settings->checkpoint_file) ? "" : settings->checkpoint_file;
	const char *slash = strrchr(file, '/');

	if (!patient->root || (!state[0] && !file[0])) {
		FOUND("in folders that the unit may write to");
		return 0;
	}
	return err_set(err, ERR_DENIED,
		"%s%s%s: when the unit starts ced, it needs a drop-in with ReadWritePaths=%s%s%.*s",
		state[0] ? "state" : "", state[0] && file[0] ? " and " : "",
		file[0] ? "checkpoint_file" : "", state, state[0] && file[0] ? " " : "",
		slash ? (int)(slash - file) : 0, file);
}

/* ---- room on the disk ---------------------------------------------------------------------- */

/* The folder, or its nearest parent: ced's folder is made by the installation. */
static int find_disk(const char *state, char ret_path[SETTINGS_PATH_MAX], struct err *err)
{
	struct stat st;

	cut_printf(ret_path, SETTINGS_PATH_MAX, "%s", state);
	while (stat(ret_path, &st) < 0) {
		char *slash = strrchr(ret_path, '/');

		if (errno != ENOENT || !slash)
			return err_sys(err, "%s", ret_path);
		slash[slash == ret_path] = '\0';
	}
	return 0;
}

/* When the folder cannot be read, a store is assumed to be there. */
static bool is_new(const char *state)
{
	char path[SETTINGS_PATH_MAX + 8];
	struct stat st;

	cut_printf(path, sizeof(path), "%s/ced.db", state);
	return stat(path, &st) < 0 ? errno == ENOENT || errno == ENOTDIR : st.st_size == 0;
}

static int compare_room(const struct patient *patient, int64_t needed, const char *what,
	struct finding *finding, struct err *err)
{
	char path[SETTINGS_PATH_MAX];
	struct statvfs fs;
	double bytes;

	if (find_disk(patient->settings.state, path, err) < 0) {
		REPAIR("name a folder that can be made and reached: state = \"...\"");
		return -1;
	}
	if (statvfs(path, &fs) < 0)
		return err_sys(err, "%s", path);
	bytes = (double)fs.f_bavail * (double)fs.f_frsize;
	FOUND("%.1f MiB are free in %s, and %s %.0f MiB", bytes / MIB, path, what,
		(double)needed / MIB);
	if (bytes >= (double)needed)
		return 0;
	REPAIR("make room (df -h %s), or name another folder: state = \"...\"", path);
	return err_set(err, ERR_FULL, "%s", finding->found);
}

PROBE(room)
{
	bool new_store = is_new(patient->settings.state);

	return compare_room(patient, new_store ? STORE_ROOM_NEW : STORE_ROOM_LEAST,
		new_store ? "a new store needs" : "runs are refused below", finding, err);
}

PROBE(room_to_spare)
{
	return compare_room(
		patient, STORE_ROOM_NEAR, "the disk counts as nearly full below", finding, err);
}

/* ---- interpreters -------------------------------------------------------------------------- */

/* 3: it is a Python that ced cannot use. */
static const char python_question[] =
	"import sys; print(sys.implementation.name, sys.version.split()[0]); "
	"sys.exit(0 if sys.implementation.name == 'cpython' and sys.version_info >= (3, 9) else 3)";

static int start_interpreter(
	const struct settings_runtime *runtime, struct finding *finding, struct err *err)
{
	const char *path = runtime->interpreter;
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	const char *const python[] = { path, "-I", "-c", python_question, NULL };
	const char *const others[] = { path, "--version", NULL };
	bool is_python = strncmp(name, "python", strlen("python")) == 0;
	const struct command_line line = { is_python ? python : others, true, true, ANSWER_S };
	char said[256];
	int status = command_run(&line, said, sizeof(said), NULL, err);

	if (status < 0 && err->sys_errno == ENOENT)
		REPAIR("apt-get install %s, or name another: runtime %s { interpreter = \"…\" }",
			name, runtime->name);
	if (status < 0)
		return -1;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 3)
		return err_set(err, ERR_UNSUPPORTED, "%s is no CPython from 3.9 on", path);
	if (status != 0)
		return err_set(err, ERR_UNSUPPORTED, "%s does not start (wait status %#x)", path,
			(unsigned)status);
	FOUND("%s: %.*s", path, (int)strcspn(said, "\r\n"), said);
	return 0;
}

/* ---- the table ----------------------------------------------------------------------------- */

#define KERNEL    "kernel"
#define INSTALLED "installation"

/* clang-format off */
static const struct check {
	const char *group;
	const char *name;
	const char *what;
	enum need need;
	probe probe;
	const char *means;
	const char *repair;
} checks[] = {
	{ KERNEL, "version", "uname()", NEED_ALWAYS, probe_version,
	  "the system calls that make jails are not there", "apt-get install linux-image-amd64, and restart" },
	{ KERNEL, "machine", "uname()", NEED_ALWAYS, probe_machine,
	  "the system call filters are for another machine", "a host with x86_64" },
	{ KERNEL, "quota", "/proc/sys/user", NEED_BETTER, probe_quota, "fewer workers than configured", "" },
	{ KERNEL, "AppArmor", "its switches", NEED_NOBODY, probe_apparmor,
	  "nothing, where the jail's steps are good", "" },
	{ INSTALLED, "programs", "started as the daemon's user", NEED_ALWAYS, probe_programs,
	  "ced-spawner does not find ced, or ced does not start",
	  "cmake --install build/release (not below /root: as root the daemon is another user)" },
	{ INSTALLED, "configuration", "read by ced itself", NEED_ALWAYS, probe_configuration,
	  "ced does not start; the checks here are made for its defaults", "correct what it names" },
	{ INSTALLED, "open files", "RLIMIT_NOFILE", NEED_ALWAYS, probe_open_files,
	  "ced does not start with so many workers", "" },
	{ INSTALLED, "state", "the folder of the store", NEED_ALWAYS, probe_state, "ced does not start", "" },
	{ INSTALLED, "written", "state and checkpoint_file", NEED_NOBODY, probe_written,
	  "ced cannot write there, when its unit starts it", "" },
	{ INSTALLED, "room", "free on the disk of the setting state", NEED_ALWAYS, probe_room,
	  "a new store is not made, and with an old one runs are refused", "" },
	{ INSTALLED, "room to spare", "the same", NEED_BETTER, probe_room_to_spare,
	  "the disk is full soon, and then runs are refused", "" },
};
/* clang-format on */

static void conclude(
	const struct patient *patient, int answer, const struct err *err, struct finding *finding)
{
	if (answer < 0)
		doctor_fail(patient, finding, err);
	else
		finding->repair[0] = '\0';
}

static struct finding *checks_begin(const struct check *check, struct findings *findings)
{
	struct finding *finding = doctor_add(findings, check->group, check->name);

	finding->need = check->need;
	finding->means = check->means;
	cut_printf(finding->what, sizeof(finding->what), "%s", check->what);
	REPAIR("%s", check->repair);
	return finding;
}

static void check_group(const struct patient *patient, const char *group, struct findings *findings)
{
	for (size_t i = 0; i < COUNT_OF(checks); i++) {
		struct err err = ERR_INIT;
		struct finding *finding;

		if (strcmp(checks[i].group, group) != 0)
			continue;
		finding = checks_begin(&checks[i], findings);
		conclude(patient, checks[i].probe(patient, finding, &err), &err, finding);
	}
}

/* ---- package sets -------------------------------------------------------------------------- */

static int read_package(
	const struct settings_package *package, struct finding *finding, struct err *err)
{
	struct package_scan scan = PACKAGE_SCAN_USUAL;
	char digest[DIGEST_TEXT_LEN + 1];

	REPAIR("restore its files, or write the digest of `cectl packages digest %s`",
		package->path);
	if (package_digest(package->path, &scan, digest, err) < 0)
		return -1;
	if (strcmp(digest, package->digest) != 0)
		return err_set(
			err, ERR_UNSUPPORTED, "%s has another digest: %s", package->path, digest);
	FOUND("%s: %llu files and folders", package->path, (unsigned long long)scan.entries);
	return 0;
}

static void check_packages(const struct patient *patient, struct findings *findings)
{
	const struct settings *settings = &patient->settings;

	for (size_t i = 0; i < settings->package_count; i++) {
		const struct check check = { INSTALLED, settings->packages[i].name,
			"the files of this package set are read", NEED_BETTER, NULL,
			"this package set is off", "" };
		struct finding *finding = checks_begin(&check, findings);
		struct err err = ERR_INIT;

		conclude(patient, read_package(&settings->packages[i], finding, &err), &err,
			finding);
	}
}

void doctor_check_kernel(const struct patient *patient, struct findings *findings)
{
	check_group(patient, KERNEL, findings);
}

void doctor_check_installation(const struct patient *patient, struct findings *findings)
{
	const struct settings *settings = &patient->settings;

	check_group(patient, INSTALLED, findings);
	for (size_t i = 0; i < settings->runtime_count; i++) {
		const struct check check = { INSTALLED, settings->runtimes[i].name,
			"its interpreter is started", NEED_ALWAYS, NULL,
			"this language is never ready",
			"correct interpreter = in its section of the configuration" };
		struct finding *finding = checks_begin(&check, findings);
		struct err err = ERR_INIT;

		conclude(patient, start_interpreter(&settings->runtimes[i], finding, &err), &err,
			finding);
	}
	check_packages(patient, findings);
}
