/*
 * The table of checks, and each probe against a host from which something was taken: a filter that
 * refuses one system call stands for a kernel or a container without it.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>

#include "cli/doctor/doctor.h"
#include "proto/base/container.h"
#include "tests/check.h"
#include "tests/unit/jailing.h"

static struct patient patient;
static struct tried tried[DOCTOR_TRIED_MAX];

static void prepare(void)
{
	patient = (struct patient){ .root = geteuid() == 0 };
	settings_init(&patient.settings);
}

/* ---- the table ----------------------------------------------------------------------------- */

TEST(each_check_has_a_name_of_its_own_and_says_what_its_absence_means)
{
	for (size_t i = 0; doctor_check_at(i); i++) {
		const struct check *check = doctor_check_at(i);

		CHECK(doctor_check(check->name) == check);
		CHECK(check->group[0] && check->what[0] && check->means[0]);
		CHECK(check->probe != NULL && check->repair != NULL);
	}
	CHECK(doctor_check("no such check") == NULL);
}

TEST(what_a_check_stands_on_is_tried_before_it)
{
	for (size_t i = 0; doctor_check_at(i); i++) {
		const char *after = doctor_check_at(i)->after;
		bool found = !after;

		for (size_t j = 0; j < i && !found; j++)
			found = strcmp(doctor_check_at(j)->name, after) == 0;
		CHECK(found);
	}
}

TEST(checks_of_one_group_stand_together)
{
	for (size_t i = 1; doctor_check_at(i); i++) {
		const char *group = doctor_check_at(i)->group;

		for (size_t j = 0; j + 1 < i; j++)
			CHECK(strcmp(doctor_check_at(j)->group, group) != 0 ||
				strcmp(doctor_check_at(i - 1)->group, group) == 0);
	}
}

/* ---- this host ----------------------------------------------------------------------------- */

TEST(everything_that_is_tried_here_says_what_it_found_and_what_fails_names_a_repair)
{
	size_t count;

	if (is_emulated())
		SKIP("the emulator has neither clone3 nor filters");
	prepare();
	count = doctor_try_all(&patient, tried);
	CHECK(count > 30);
	for (size_t i = 0; i < count; i++) {
		const struct finding *finding = &tried[i].finding;

		CHECK(finding->found[0]);
		if (tried[i].runtime) /* lives as long as the patient */
			CHECK(tried[i].runtime == patient.settings.runtimes[0].name);
		if (finding->state == STATE_MISSING || finding->state == STATE_WEAKER)
			CHECK(finding->repair[0]);
		else
			CHECK_STR(finding->repair, "");
	}
}

TEST(the_kernel_that_runs_these_tests_has_what_every_kernel_has)
{
	static const char *const names[] = { "version", "pidfd", "close_range", "openat2", "memfd",
		"cores", "refusing", "killing" };

	if (is_emulated())
		SKIP("the emulator has no filters");
	prepare();
	for (size_t i = 0; i < COUNT_OF(names); i++) {
		struct finding finding;

		doctor_try(&patient, doctor_check(names[i]), NULL, 0, &finding);
		CHECK_STR(finding.state == STATE_GOOD ? "" : finding.found, "");
	}
}

/* ---- hosts from which something was taken -------------------------------------------------- */

static int take_away(long call, unsigned error)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)call, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { .len = COUNT_OF(code), .filter = code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -1;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static const struct taken {
	long call;
	unsigned error;
	const char *check;
	const char *found; /* part of what is said */
} taken[] = {
	{ SYS_clone3, ENOSYS, "clone3", "Function not implemented" },
	{ SYS_clone3, EPERM, "user", "Operation not permitted" },
	{ SYS_pidfd_open, EPERM, "pidfd", "pidfd_open: Operation not permitted" },
	{ SYS_close_range, ENOSYS, "close_range", "close_range: Function not implemented" },
	{ SYS_openat2, ENOSYS, "openat2", "openat2: Function not implemented" },
	{ SYS_memfd_create, EACCES, "memfd", "memfd_create: Permission denied" },
	{ SYS_madvise, EINVAL, "populate", "madvise: Invalid argument" },
	{ SYS_sethostname, EPERM, "uts", "sethostname: Operation not permitted" },
	{ SYS_fsopen, ENOSYS, "mount calls", "fsopen tmpfs: Function not implemented" },
	{ SYS_fsopen, ENOSYS, "tmpfs limits", "fsopen tmpfs: Function not implemented" },
	{ SYS_open_tree, EPERM, "read-only binds", "open_tree /usr: Operation not permitted" },
	{ SYS_mount_setattr, EPERM, "read-only binds", "mount_setattr: Operation not permitted" },
	{ SYS_pivot_root, EPERM, "pivot_root", "pivot_root: Operation not permitted" },
	{ SYS_fsmount, EPERM, "procfs", "fsmount proc: Operation not permitted" },
	{ SYS_seccomp, EPERM, "refusing", "seccomp: Operation not permitted" },
	{ SYS_seccomp, EPERM, "killing", "did not kill" },
	{ SYS_seccomp, EPERM, "notifier", "seccomp: Operation not permitted" },
	{ SYS_landlock_create_ruleset, ENOSYS, "Landlock", "landlock: Function not implemented" },
	{ SYS_landlock_create_ruleset, EOPNOTSUPP, "Landlock",
		"landlock: Operation not supported" },
	{ SYS_landlock_restrict_self, EPERM, "Landlock", "restrict_self: Operation not permitted" },
};

static int look_without(void *context)
{
	const struct taken *row = context;
	const struct check *check = doctor_check(row->check);
	struct finding finding;

	WANT(check != NULL);
	WANT(take_away(row->call, row->error) == 0);
	doctor_try(&patient, check, NULL, 0, &finding);
	if (!strstr(finding.found, row->found))
		printf("# %s: %s\n", row->check, finding.found);
	WANT(strstr(finding.found, row->found));
	WANT(finding.repair[0]);
	WANT(finding.state == (check->need == NEED_ALWAYS ? STATE_MISSING : STATE_WEAKER));
	return 0;
}

TEST(a_call_that_is_taken_away_is_named_with_a_repair)
{
	if (!can_jail())
		SKIP("this host gives no user namespaces");
	prepare();
	for (size_t i = 0; i < COUNT_OF(taken); i++)
		CHECK_EQ_INT(in_child(look_without, (void *)(size_t)&taken[i]), 0);
}

static int without_namespaces(void *context)
{
	struct finding finding;
	FILE *file;

	(void)context;
	WANT(enter_namespaces());
	file = fopen("/proc/sys/user/max_user_namespaces", "we");
	WANT(file && fputs("0", file) >= 0 && fclose(file) == 0);
	doctor_try(&patient, doctor_check("user"), NULL, 0, &finding);
	WANT(finding.state == STATE_MISSING);
	WANT(strstr(finding.found, "user/max_user_namespaces = 0"));
	WANT(strstr(finding.repair, "user.max_user_namespaces=15000"));
	doctor_try(&patient, doctor_check("quota"), NULL, 0, &finding);
	WANT(finding.state == STATE_WEAKER);
	return 0;
}

TEST(a_quota_of_no_user_namespaces_is_named_with_its_setting)
{
	if (!can_jail())
		SKIP("this host gives no user namespaces");
	prepare();
	patient.root = false;
	CHECK_EQ_INT(in_child(without_namespaces, NULL), 0);
}

static int without_cgroups(void *context)
{
	static const char *const names[] = { "memory", "pids", "cpu" };

	(void)context;
	WANT(enter_namespaces());
	WANT(mount("none", "/sys/fs/cgroup", "tmpfs", 0, NULL) == 0);
	for (size_t i = 0; i < COUNT_OF(names); i++) {
		struct finding finding;

		settings_take(&patient.settings, "require.memory=yes");
		settings_take(&patient.settings, "require.pids=yes");
		settings_take(&patient.settings, "require.cpu=yes");
		doctor_try(&patient, doctor_check(names[i]), NULL, 0, &finding);
		WANT(finding.state == STATE_MISSING);
		WANT(strstr(finding.repair, "mount -t cgroup"));
		settings_take(&patient.settings, "require.memory=no");
		settings_take(&patient.settings, "require.pids=no");
		settings_take(&patient.settings, "require.cpu=no");
		doctor_try(&patient, doctor_check(names[i]), NULL, 0, &finding);
		WANT(finding.state == STATE_WEAKER);
	}
	return 0;
}

TEST(cgroups_that_cannot_be_seen_are_missed_only_by_who_requires_them)
{
	if (!can_jail() || access("/sys/fs/cgroup", F_OK) < 0)
		SKIP("this host gives no user namespaces, or has no /sys/fs/cgroup");
	prepare();
	CHECK_EQ_INT(in_child(without_cgroups, NULL), 0);
}

/* Looks at the folder on an empty disk of so many bytes. */
static const struct room_case {
	const char *disk;
	bool has_store;
	enum state room, to_spare;
	const char *found; /* part of what is said of the room */
} room_cases[] = {
	{ "size=12m", false, STATE_MISSING, STATE_WEAKER,
		"12.0 MiB are free in /tmp, and a new store needs 13 MiB" },
	{ "size=14m", false, STATE_GOOD, STATE_WEAKER, "a new store needs 13 MiB" },
	{ "size=12m", true, STATE_GOOD, STATE_WEAKER, "runs are refused below 1 MiB" },
	{ "size=512k", true, STATE_MISSING, STATE_WEAKER, "runs are refused below 1 MiB" },
	{ "size=65m", false, STATE_GOOD, STATE_GOOD, "65.0 MiB are free" },
};

static int on_a_small_disk(void *context)
{
	const struct room_case *row = context;
	struct finding finding;
	FILE *store;

	WANT(enter_namespaces());
	WANT(mount("none", "/tmp", "tmpfs", 0, row->disk) == 0);
	settings_take(&patient.settings, row->has_store ? "state=/tmp" : "state=/tmp/lib/ced");
	store = row->has_store ? fopen("/tmp/ced.db", "w") : NULL;
	WANT(!row->has_store || (store && fputs("store", store) > 0 && fclose(store) == 0));
	doctor_try(&patient, doctor_check("room"), NULL, 0, &finding);
	WANT(finding.state == row->room);
	WANT(strstr(finding.found, row->found));
	WANT((finding.state == STATE_MISSING) == (strstr(finding.repair, "df -h /tmp") != NULL));
	doctor_try(&patient, doctor_check("room to spare"), NULL, 0, &finding);
	WANT(finding.state == row->to_spare);
	return 0;
}

TEST(a_disk_without_room_for_the_store_is_told_before_ced_starts)
{
	if (!can_jail())
		SKIP("this host gives no user namespaces");
	for (size_t i = 0; i < COUNT_OF(room_cases); i++) {
		prepare();
		CHECK_EQ_INT(in_child(on_a_small_disk, (void *)(uintptr_t)&room_cases[i]), 0);
	}
}

/* ---- probes that go wrong ------------------------------------------------------------------ */

static int crash(const struct patient *of, struct finding *finding, struct err *err)
{
	(void)of;
	(void)finding;
	(void)err;
	(void)signal(SIGABRT, SIG_DFL);
	abort();
}

TEST(a_probe_that_is_killed_counts_as_missing)
{
	const struct check check = { "group", "name", "what", NEED_ALWAYS, NULL, crash, false,
		"means", "repair", NULL };
	struct finding finding;

	prepare();
	doctor_try(&patient, &check, NULL, 0, &finding);
	CHECK_EQ_INT(finding.state, STATE_MISSING);
	CHECK(strstr(finding.found, "SIGABRT"));
	CHECK_STR(finding.repair, "repair");
}

TEST(what_stands_on_something_that_is_missing_is_not_tried)
{
	const struct check check = { "group", "name", "what", NEED_ALWAYS, "user", crash, false,
		"means", "repair", NULL };
	struct tried before = { .check = doctor_check("user") };
	struct finding finding;

	prepare();
	before.finding.state = STATE_MISSING;
	doctor_try(&patient, &check, &before, 1, &finding);
	CHECK_EQ_INT(finding.state, STATE_UNTRIED);
	CHECK(strstr(finding.found, "\"user\""));
	CHECK(!doctor_is_well(&before, 1));
	before.finding.state = STATE_WEAKER;
	CHECK(doctor_is_well(&before, 1));
}

TEST(an_interpreter_that_is_not_there_is_named)
{
	static const struct settings_runtime none = { "ruby", "/usr/bin/no-such-ruby" };
	struct finding finding;

	prepare();
	patient.runtime = &none;
	doctor_try(&patient, doctor_check("runtime"), NULL, 0, &finding);
	CHECK_EQ_INT(finding.state, STATE_MISSING);
	CHECK(strstr(finding.found, "/usr/bin/no-such-ruby: No such file"));
	CHECK(strstr(finding.repair, "no-such-ruby"));
	CHECK(strstr(finding.repair, "runtime ruby"));
}
