/*
 * The findings of ced-probe and of the checks, on this host and on restricted ones, and the text
 * that explains each failure.  A filter that refuses one system call stands for a kernel or a
 * container without that call.
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
#include "sandbox/filter/syscalls.h"
#include "tests/check.h"
#include "tests/unit/jailing.h"

static struct patient patient;
static struct findings findings;

static void prepare(void)
{
	patient = (struct patient){ .root = geteuid() == 0 };
	settings_read(&patient.settings, NULL);
	findings.count = 0;
}

/* ---- this host ----------------------------------------------------------------------------- */

TEST(everything_that_is_tried_here_says_what_it_found_and_what_fails_names_a_repair)
{
	if (is_emulated())
		SKIP("the emulator has neither clone3 nor filters");
	prepare();
	doctor_try_all(&patient, &findings);
	CHECK(findings.count > 36);
	for (size_t i = 0; i < findings.count; i++) {
		const struct finding *finding = &findings.rows[i];

		CHECK(finding->group[0] && finding->name[0] && finding->what[0]);
		CHECK(finding->means[0] && finding->found[0]);
		CHECK(doctor_find(&findings, finding->name) == finding);
		CHECK(strcmp(finding->name, "ced-probe") != 0);
		if (finding->state == STATE_MISSING || finding->state == STATE_WEAKER)
			CHECK(finding->repair[0]);
		else
			CHECK_STR(finding->repair, "");
	}
	CHECK(doctor_find(&findings, "no such check") == NULL);
}

TEST(checks_of_one_group_stand_together)
{
	if (is_emulated())
		SKIP("the emulator has neither clone3 nor filters");
	prepare();
	doctor_try_all(&patient, &findings);
	for (size_t i = 1; i < findings.count; i++) {
		const char *group = findings.rows[i].group;

		for (size_t j = 0; j + 1 < i; j++)
			CHECK(strcmp(findings.rows[j].group, group) != 0 ||
				strcmp(findings.rows[i - 1].group, group) == 0);
	}
}

TEST(a_host_that_makes_jails_makes_the_whole_of_one)
{
	static const char *const names[] = { "version", "filters", "namespaces", "tree",
		"descriptors", "caps", "filter", "program", "zygote", "slot", "worker" };

	if (!can_jail())
		SKIP("this host gives no user namespaces");
	prepare();
	doctor_try_all(&patient, &findings);
	for (size_t i = 0; i < COUNT_OF(names); i++) {
		const struct finding *finding = doctor_find(&findings, names[i]);

		CHECK(finding != NULL);
		CHECK_STR(finding->state == STATE_GOOD ? "" : finding->found, "");
	}
}

/* ---- restricted hosts ---------------------------------------------------------------------- */

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
	const char *name;
	const char *found; /* part of the message */
} taken[] = {
	{ SYS_clone3, ENOSYS, "namespaces", "Function not implemented" },
	{ SYS_clone3, EPERM, "namespaces", "Operation not permitted" },
	{ SYS_pidfd_open, EPERM, "slot", "pidfd of the slot: Operation not permitted" },
	{ SYS_close_range, ENOSYS, "descriptors", "close_range: Function not implemented" },
	{ SYS_openat2, ENOSYS, "tree", "openat2: Function not implemented" },
	{ SYS_memfd_create, EACCES, "filters", "memfd: Permission denied" },
	{ SYS_madvise, EINVAL, "populate", "madvise: Invalid argument" },
	{ SYS_sethostname, EPERM, "surroundings", "sethostname: Operation not permitted" },
#if SANITIZED /* a jail has a /proc then, which is made first */
	{ SYS_fsopen, ENOSYS, "sources", "fsopen proc: Function not implemented" },
	{ SYS_fsmount, EPERM, "sources", "fsmount proc: Operation not permitted" },
#else
	{ SYS_fsopen, ENOSYS, "tree", "fsopen tmpfs: Function not implemented" },
	{ SYS_fsmount, EPERM, "tree", "fsmount tmpfs: Operation not permitted" },
#endif
	{ SYS_open_tree, EPERM, "sources", "open: Operation not permitted" },
	{ SYS_mount_setattr, EPERM, "sources", "mount_setattr: Operation not permitted" },
	{ SYS_pivot_root, EPERM, "tree", "pivot_root: Operation not permitted" },
	{ SYS_setsid, EPERM, "surroundings", "setsid: Operation not permitted" },
	{ SYS_seccomp, EPERM, "notifier", "gives no listener" },
	{ SYS_landlock_create_ruleset, ENOSYS, "Landlock", "landlock: Function not implemented" },
	{ SYS_landlock_create_ruleset, EOPNOTSUPP, "Landlock",
		"landlock: Operation not supported" },
	{ SYS_landlock_restrict_self, EPERM, "worker", "landlock: Operation not permitted" },
};

static int look_without(void *context)
{
	const struct taken *row = context;
	const struct finding *finding;

	WANT(take_away(row->call, row->error) == 0);
	doctor_try_all(&patient, &findings);
	finding = doctor_find(&findings, row->name);
	WANT(finding != NULL);
	if (!strstr(finding->found, row->found))
		printf("# %s: %s\n", row->name, finding->found);
	WANT(strstr(finding->found, row->found));
	WANT(finding->repair[0]);
	WANT(finding->state == (finding->need == NEED_ALWAYS ? STATE_MISSING : STATE_WEAKER));
	return 0;
}

TEST(a_call_that_is_taken_away_is_named_with_a_repair)
{
	if (!can_jail())
		SKIP("this host gives no user namespaces");
	prepare();
	settings_take(&patient.settings, "require.landlock=no");
	for (size_t i = 0; i < COUNT_OF(taken); i++)
		CHECK_EQ_INT(in_child(look_without, (void *)(size_t)&taken[i]), 0);
}

static int without_namespaces(void *context)
{
	const struct finding *finding;
	FILE *file;

	(void)context;
	WANT(enter_namespaces());
	file = fopen("/proc/sys/user/max_user_namespaces", "we");
	WANT(file && fputs("0", file) >= 0 && fclose(file) == 0);
	doctor_try_all(&patient, &findings);
	finding = doctor_find(&findings, "namespaces");
	WANT(finding->state == STATE_MISSING);
	WANT(strstr(finding->found, "user/max_user_namespaces = 0"));
	WANT(strstr(finding->repair, "user.max_user_namespaces=15000"));
	WANT(doctor_find(&findings, "maps")->state == STATE_UNTRIED);
	WANT(doctor_find(&findings, "worker")->state == STATE_UNTRIED);
	WANT(doctor_find(&findings, "quota")->state == STATE_WEAKER);
	WANT(!doctor_is_well(&findings));
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
	for (size_t i = 0; i < 2 * COUNT_OF(names); i++) {
		const char *name = names[i % COUNT_OF(names)];
		bool required = i < COUNT_OF(names);
		char setting[40];

		(void)snprintf(
			setting, sizeof(setting), "require.%s=%s", name, required ? "yes" : "no");
		settings_take(&patient.settings, setting);
		doctor_try_all(&patient, &findings);
		WANT(doctor_find(&findings, name)->state ==
			(required ? STATE_MISSING : STATE_WEAKER));
		WANT(strstr(doctor_find(&findings, name)->repair, "mount -t cgroup"));
	}
	return 0;
}

TEST(cgroups_that_cannot_be_seen_are_missed_only_by_those_who_require_them)
{
	if (!can_jail() || access("/sys/fs/cgroup", F_OK) < 0)
		SKIP("this host gives no user namespaces, or has no /sys/fs/cgroup");
	prepare();
	CHECK_EQ_INT(in_child(without_cgroups, NULL), 0);
}

/* Checks the room of the folder on an empty disk of this size. */
static const struct room_case {
	const char *disk;
	bool has_store;
	enum state room, to_spare;
	const char *found; /* part of the message about room */
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
	const struct finding *finding;
	FILE *store;

	WANT(enter_namespaces());
	WANT(mount("none", "/tmp", "tmpfs", 0, row->disk) == 0);
	settings_take(&patient.settings, row->has_store ? "state=/tmp" : "state=/tmp/lib/ced");
	store = row->has_store ? fopen("/tmp/ced.db", "w") : NULL;
	WANT(!row->has_store || (store && fputs("store", store) > 0 && fclose(store) == 0));
	doctor_check_installation(&patient, &findings);
	finding = doctor_find(&findings, "room");
	WANT(finding->state == row->room);
	WANT(strstr(finding->found, row->found));
	WANT((finding->state == STATE_MISSING) == (strstr(finding->repair, "df -h /tmp") != NULL));
	WANT(doctor_find(&findings, "room to spare")->state == row->to_spare);
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

/* ---- a probe that fails -------------------------------------------------------------------- */

TEST(a_probe_that_is_not_there_counts_as_missing)
{
	const struct finding *finding;

	prepare();
	cut_printf(patient.settings.libexec, sizeof(patient.settings.libexec), "/nowhere");
	doctor_try_all(&patient, &findings);
	finding = doctor_find(&findings, "ced-probe");
	CHECK(finding && finding->state == STATE_MISSING);
	CHECK(strstr(finding->found, "/nowhere/ced-probe: No such file"));
	CHECK(finding->repair[0]);
	CHECK(!doctor_is_well(&findings));
}

TEST(a_probe_that_is_killed_counts_as_missing_and_its_lines_count)
{
	static const char script[] =
		"#!/bin/sh\n"
		"echo '{\"group\":\"jail\",\"step\":\"maps\",\"ok\":true,\"errno\":0,"
		"\"what\":\"w\",\"text\":\"t\"}'\nkill -9 $$\n";
	char folder[] = "/tmp/test_doctor.XXXXXX";
	char path[64];
	FILE *file;

	prepare();
	CHECK(mkdtemp(folder) != NULL);
	cut_printf(path, sizeof(path), "%s/ced-probe", folder);
	file = fopen(path, "we");
	CHECK(file && fputs(script, file) >= 0 && fclose(file) == 0 && chmod(path, 0755) == 0);
	cut_printf(patient.settings.libexec, sizeof(patient.settings.libexec), "%s", folder);
	doctor_try_all(&patient, &findings);
	(void)unlink(path);
	(void)rmdir(folder);
	CHECK_EQ_INT(doctor_find(&findings, "maps")->state, STATE_GOOD);
	CHECK_STR(doctor_find(&findings, "maps")->found, "t");
	CHECK_EQ_INT(doctor_find(&findings, "ced-probe")->state, STATE_MISSING);
	CHECK(strstr(doctor_find(&findings, "ced-probe")->found, "wait status 0x9"));
}

TEST(lines_that_are_no_findings_are_passed_over)
{
	static const char *const lines[] = { "", "\n", "word", "[]", "{}", "{\"group\":\"jail\"}",
		"{\"group\":1,\"step\":2,\"ok\":true,\"what\":\"\",\"text\":\"\"}" };

	prepare();
	for (size_t i = 0; i < COUNT_OF(lines); i++)
		doctor_take_line(&patient, lines[i], &findings);
	CHECK_EQ_INT(findings.count, 0);
}

TEST(more_findings_than_there_is_room_for_are_left_out)
{
	prepare();
	for (int i = 0; i < 2 * FINDINGS_MAX; i++)
		(void)doctor_add(&findings, "group", "name");
	CHECK(findings.count < FINDINGS_MAX);
}

TEST(a_step_that_was_not_reached_is_untried_and_no_fault_of_its_own)
{
	prepare();
	doctor_take_line(&patient,
		"{\"group\":\"jail\",\"step\":\"tree\",\"ok\":null,\"errno\":0,\"what\":\"w\","
		"\"text\":\"\"}",
		&findings);
	CHECK_EQ_INT(findings.rows[0].state, STATE_UNTRIED);
	CHECK_STR(findings.rows[0].repair, "");
	CHECK(doctor_is_well(&findings));
	findings.rows[0].state = STATE_WEAKER;
	CHECK(doctor_is_well(&findings));
	findings.rows[0].state = STATE_MISSING;
	CHECK(!doctor_is_well(&findings));
}

TEST(an_interpreter_that_is_not_there_is_named)
{
	const struct finding *finding;

	prepare();
	settings_take(&patient.settings, "runtime.ruby.interpreter=/usr/bin/no-such-ruby");
	doctor_check_installation(&patient, &findings);
	finding = doctor_find(&findings, "ruby");
	CHECK_EQ_INT(finding->state, STATE_MISSING);
	CHECK(strstr(finding->found, "/usr/bin/no-such-ruby: No such file"));
	CHECK(strstr(finding->repair, "no-such-ruby"));
	CHECK(strstr(finding->repair, "runtime ruby"));
}
