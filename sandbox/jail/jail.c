#include "sandbox/jail/jail.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "proto/base/container.h"
#include "sandbox/child_exit.h"
#include "sandbox/jail/caps.h"
#include "sandbox/jail/ns.h"
#include "sandbox/jail_env.h"

/* Temporary numbers of descriptors, far from their final ones. */
#define FIRST_FAR_FD 64
#define STATUS_FD    (JAIL_PROC_FD + 1)

/* State that one step leaves for a later one. */
struct building {
	const struct jail_spec *spec;
	struct mount_sources sources;
	int procfs;
	int status;
};

/* While the child still has the spawner's identity and sees the host's tree. */
static int step_sources(struct building *jail, struct err *err)
{
	return mounts_open(&jail->spec->mounts, &jail->sources, err);
}

/* Needs the host's procfs, so it comes before the tree. */
static int step_procfs(struct building *jail, struct err *err)
{
	if (!jail->spec->profile->has_procfs)
		return 0;
	jail->procfs = mounts_procfs(err);
	return jail->procfs < 0 ? -1 : 0;
}

/* From here on the child is uid 0 with all capabilities inside, and a uid of its own outside. */
static int step_identity(struct building *jail, struct err *err)
{
	(void)jail;
	if (setresgid(0, 0, 0) < 0 || setresuid(0, 0, 0) < 0)
		return err_sys(err, "setresuid");
	return 0;
}

/*
 * Signals may be ignored because of nohup or a shell's background job.  A jail does not inherit
 * that.
 */
int jail_plain_signals(struct err *err)
{
	sigset_t none;

	for (int number = 1; number <= SIGRTMAX; number++)
		if (signal(number, SIG_DFL) == SIG_ERR && errno != EINVAL)
			return err_sys(err, "signal %d", number);
	sigemptyset(&none);
	if (sigprocmask(SIG_SETMASK, &none, NULL) < 0)
		return err_sys(err, "signals");
	return 0;
}

/* No terminal, default signals, a constant name, and a cgroup that looks like the root. */
static int step_surroundings(struct building *jail, struct err *err)
{
	(void)jail;
	if (setsid() < 0)
		return err_sys(err, "setsid");
	if (jail_plain_signals(err) < 0)
		return -1;
	umask(022);
	if (sethostname(JAIL_HOSTNAME, strlen(JAIL_HOSTNAME)) < 0 || setdomainname("", 0) < 0)
		return err_sys(err, "sethostname");
	return unshare(CLONE_NEWCGROUP) < 0 ? err_sys(err, "cgroup namespace") : 0;
}

static int step_tree(struct building *jail, struct err *err)
{
	return mounts_enter(&jail->spec->mounts, &jail->sources, err);
}

static int move_fd(int from, int to, int flags, struct err *err)
{
	if (dup3(from, to, flags) < 0)
		return err_sys(err, "descriptor %d", to);
	return 0;
}

static int far_fd(int fd, int *ret_far, struct err *err)
{
	*ret_far = fcntl(fd, F_DUPFD_CLOEXEC, FIRST_FAR_FD);
	return *ret_far < 0 ? err_sys(err, "descriptor %d", fd) : 0;
}

/*
 * Descriptors 0 and 1 are /dev/null, 2 the spawner's stderr, 3 the socket, 4 the procfs, 5 the
 * status line until exec; no other.
 */
static int step_descriptors(struct building *jail, struct err *err)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC); /* closed with the rest */
	int sock;
	int procfs = -1;
	int status;

	if (null < 0)
		return err_sys(err, "/dev/null");
	if (far_fd(jail->spec->socket, &sock, err) < 0 || far_fd(jail->status, &status, err) < 0 ||
		(jail->procfs >= 0 && far_fd(jail->procfs, &procfs, err) < 0))
		return -1;
	if (move_fd(null, 0, 0, err) < 0 || move_fd(null, 1, 0, err) < 0 ||
		move_fd(sock, JAIL_SOCKET_FD, 0, err) < 0 ||
		move_fd(status, STATUS_FD, O_CLOEXEC, err) < 0)
		return -1;
	jail->status = STATUS_FD;
	if (procfs < 0)
		close(JAIL_PROC_FD);
	else if (move_fd(procfs, JAIL_PROC_FD, 0, err) < 0)
		return -1;
	if (close_range(STATUS_FD + 1, ~0U, 0) < 0)
		return err_sys(err, "close_range");
	return 0;
}

static int step_rlimits(struct building *jail, struct err *err)
{
	const struct jail_spec *spec = jail->spec;
	static const struct rlimit_row all[] = {
		{ RLIMIT_CORE, 0 },         /* no process reads them */
		{ RLIMIT_STACK, 8U << 20 }, /* an ordinary stack */
		{ RLIMIT_MEMLOCK, 0 },      /* no memory is locked */
		{ RLIMIT_MSGQUEUE, 0 },     /* no queues */
		{ RLIMIT_NICE, 0 },
		{ RLIMIT_RTPRIO, 0 },
	};
	const struct rlimit_row asked[] = {
		{ RLIMIT_AS, SANITIZED ? 0 : spec->memory_bytes }, /* a sanitizer needs more */
		{ RLIMIT_CPU, spec->cpu_s },
	};

	if (rlimits_set(all, COUNT_OF(all), err) < 0 ||
		rlimits_set(spec->profile->rlimits, spec->profile->rlimit_count, err) < 0)
		return -1;
	for (size_t i = 0; i < COUNT_OF(asked); i++)
		if (asked[i].value > 0 && rlimits_set(&asked[i], 1, err) < 0)
			return -1;
	return 0;
}

static int step_caps(struct building *jail, struct err *err)
{
	if (jail->spec->profile->keeps_caps)
		return 0;
	return caps_drop_all(err);
}

static int step_no_new_privs(struct building *jail, struct err *err)
{
	(void)jail;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return err_sys(err, "no_new_privs");
	return 0;
}

/* If the spawner died before prctl(), no signal comes, but its end of the line is closed. */
static int step_parent(struct building *jail, struct err *err)
{
	struct pollfd line = { .fd = jail->status, .events = 0 };

	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
		return err_sys(err, "parent death signal");
	if (poll(&line, 1, 0) != 0)
		return err_set(err, ERR_CLOSED, "the spawner has gone");
	return 0;
}

static int step_filter(struct building *jail, struct err *err)
{
	return filter_load(jail->spec->filter, err);
}

static int step_program(struct building *jail, struct err *err)
{
	/* execve() does not change the texts; its prototype is older than const. */
	union {
		const char *const *in;
		char *const *out;
	} argv = { jail->spec->argv }, envp = { jail->spec->envp };

	execve(jail->spec->program, argv.out, envp.out);
	return err_sys(err, "%s", jail->spec->program);
}

static const struct {
	const char *name;
	int (*run)(struct building *jail, struct err *err);
} steps[] = {
	/* clang-format off */
	{ "sources",      step_sources },
	{ "procfs",       step_procfs },
	{ "identity",     step_identity },
	{ "surroundings", step_surroundings },
	{ "tree",         step_tree },
	{ "descriptors",  step_descriptors },
	{ "rlimits",      step_rlimits },
	{ "caps",         step_caps },
	{ "no_new_privs", step_no_new_privs },
	{ "parent",       step_parent },	/* after the last change of identity, which clears it */
	{ "filter",       step_filter },
	{ "program",      step_program },
	/* clang-format on */
};

void jail_spec_init(struct jail_spec *spec, const struct jail_profile *profile)
{
	*spec = (struct jail_spec){ .profile = profile, .socket = -1 };
	spec->mounts.folders = profile->folders;
	spec->mounts.texts = profile->texts;
	for (size_t i = 0; i < profile->row_count; i++)
		spec->mounts.rows[spec->mounts.count++] = profile->rows[i];
}

int jail_spec_add(struct jail_spec *spec, const struct mount_row *row, struct err *err)
{
	if (spec->mounts.count == MOUNTS_MAX)
		return err_set(err, ERR_TOO_BIG, "more than %d mounts", MOUNTS_MAX);
	spec->mounts.rows[spec->mounts.count++] = *row;
	return 0;
}

void jail_enter(const struct jail_spec *spec, int status)
{
	struct building jail = { .spec = spec, .procfs = -1, .status = status };
	struct err err = ERR_INIT;
	char text[JAIL_STATUS_MAX];

	for (size_t i = 0; i < COUNT_OF(steps); i++) {
		if (steps[i].run(&jail, &err) == 0)
			continue;
		cut_printf(text, sizeof(text), "%s: %s", steps[i].name, err.text);
		(void)!write(jail.status, text, strlen(text));
		break;
	}
	child_exit(127);
}
