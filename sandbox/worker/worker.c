#include "sandbox/worker/worker.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "proto/base/container.h"
#include "sandbox/filter/landlock.h"
#include "sandbox/filter/tiny_filter.h"
#include "sandbox/jail_env.h"
#include "sandbox/worker/seccomp_notify.h"
#include "sandbox/worker/worker_limits.h"

/* The first step, so that the job's cgroups are charged for the next ones. */
static int join_cgroups(const struct worker_plan *plan, struct err *err)
{
	for (unsigned i = 0; i < plan->join_count; i++)
		if (pwrite(plan->joins[i], "0", 1, 0) != 1)
			return err_sys(err, "procs file %u of %u", i + 1, plan->join_count);
	return 0;
}

/* Early, so that the next steps are faster too; the job's cgroup is charged for it. */
static int touch_pages(const struct worker_plan *plan, struct err *err)
{
	(void)err;
	(void)footprint_touch(plan->footprint);
	return 0;
}

static int start_session(const struct worker_plan *plan, struct err *err)
{
	(void)plan;
	if (setsid() < 0)
		return err_sys(err, "setsid");
	return 0;
}

/*
 * unshare(), not a flag of clone(): the C library's fork() keeps its data about the thread right.
 */
static int enter_mounts(const struct worker_plan *plan, struct err *err)
{
	if (unshare(CLONE_NEWNS) < 0)
		return err_sys(err, "unshare");
	if (files_show(plan->files, err) < 0)
		return -1;
	if (chdir(JAIL_WORK_DIR) < 0)
		return err_sys(err, "chdir");
	return 0;
}

/*
 * stdin is opened anew, because an open file that is shared with the slot would keep its flags from
 * run to run.  It is open for writing too, for the rehearsal's output.
 */
static int place_descriptors(const struct worker_plan *plan, struct err *err)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null < 0)
		return err_sys(err, "open /dev/null");
	if (dup2(null, STDIN_FILENO) < 0 || dup2(plan->out, STDOUT_FILENO) < 0 ||
		dup2(plan->error, STDERR_FILENO) < 0)
		return err_sys(err, "dup2");
	if (plan->job != WORKER_JOB_FD && dup3(plan->job, WORKER_JOB_FD, O_CLOEXEC) < 0)
		return err_sys(err, "dup3");
	if (plan->tell != WORKER_TELL_FD && dup3(plan->tell, WORKER_TELL_FD, O_CLOEXEC) < 0)
		return err_sys(err, "dup3");
	if (close_range(WORKER_TELL_FD + 1, ~0U, 0) < 0)
		return err_sys(err, "close_range");
	return 0;
}

static int set_limits(const struct worker_plan *plan, struct err *err)
{
	return worker_limits_set(0, &plan->limits, plan->flags, plan->own_bytes, err);
}

static int drop_rights(const struct worker_plan *plan, struct err *err)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3];

	(void)plan;
	memset(none, 0, sizeof(none));
	if (syscall(SYS_capset, &head, none) < 0)
		return err_sys(err, "capset");
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return err_sys(err, "no_new_privs");
	return 0;
}

static int open_signals(const struct worker_plan *plan, struct err *err)
{
	sigset_t none;

	(void)plan;
	sigemptyset(&none);
	if (sigprocmask(SIG_SETMASK, &none, NULL) < 0)
		return err_sys(err, "sigprocmask");
	return 0;
}

/*
 * A second barrier around files.  If the kernel has none, the daemon knows that from the spawner.
 */
static int take_landlock(const struct worker_plan *plan, struct err *err)
{
	struct err why = ERR_INIT;

	(void)plan;
	if (landlock_confine(&why) < 0 && why.code != ERR_UNSUPPORTED)
		return err_pass(err, &why);
	return 0;
}

static int take_filter(const struct worker_plan *plan, struct err *err)
{
	int listener = -1;

	(void)plan;
	if (tiny_filter_load(&listener, err) < 0)
		return -1;
	if (listener >= 0 && notify_send_listener(WORKER_TELL_FD, listener, err) < 0)
		return -1;
	if (close_range(WORKER_TELL_FD, ~0U, 0) < 0)
		return err_sys(err, "close_range");
	return listener >= 0 ? tiny_filter_close(err) : 0;
}

static const struct step {
	const char *name;
	int (*take)(const struct worker_plan *plan, struct err *err);
} steps[] = {
	{ "cgroups", join_cgroups },
	{ "pages", touch_pages },
	{ "session", start_session },
	{ "mounts", enter_mounts },
	{ "descriptors", place_descriptors },
	{ "limits", set_limits },
	{ "capabilities", drop_rights },
	{ "signals", open_signals },
	{ "landlock", take_landlock },
	{ "filter", take_filter },
};

int worker_enter(const struct worker_plan *plan, struct err *err)
{
	for (size_t i = 0; i < COUNT_OF(steps); i++)
		if (steps[i].take(plan, err) < 0)
			return err_wrap(err, "%s", steps[i].name);
	return 0;
}
