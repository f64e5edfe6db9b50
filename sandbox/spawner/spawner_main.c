/*
 * ced-spawner: the only program with rights.  It starts ced without any, then makes jails for it,
 * kills and reaps them.
 *
 *	ced-spawner [--user NAME] [--libexec DIR] [--uid-base N] [--] arguments of ced...
 *
 * SIGTERM, SIGINT and SIGHUP are passed on to ced.  If ced was told to exit and did not, it is
 * killed before a service manager loses patience.  When ced exits, every jail is killed and the
 * spawner exits with ced's status.  When ced breaks the protocol, it is killed first and the status
 * is 1.  Nothing is restarted here: a service manager does that.
 */
#include <errno.h>
#include <getopt.h>
#include <grp.h>
#include <limits.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "proto/base/container.h"
#include "proto/base/monotonic.h"
#include "proto/base/owned.h"
#include "proto/base/standard_fds.h"
#include "proto/version.h"
#include "sandbox/jail/caps.h"
#include "sandbox/jail/ns.h"
#include "sandbox/spawner/daemon_start.h"
#include "sandbox/spawner/say.h"
#include "sandbox/spawner/spawner.h"

#define DEFAULT_USER     "ced"
#define NOBODY           65534
#define UID_BASE_DEFAULT 400000
#define UID_BASE_LEAST   65536 /* ids of real users are smaller, and 65534 is NOBODY */
#define LISTEN_FDS_MAX   8
#define TIDY_MS          20
#define GOODBYE_MS       10000
#define ANSWER_S         10    /* for ced to read its answers; then it is killed */
#define LEAVE_MS         45000 /* ced waits 14 s for runs, and for threads, slow on a busy host */
#define EXIT_BROKEN      1
#define EXIT_USAGE       2

static const char usage[] =
	"usage: ced-spawner [--user NAME] [--libexec DIR] [--uid-base N] [--] ARGUMENT...\n\n"
	"  --user NAME    who ced runs as when this is root (default: ced, else nobody)\n"
	"  --libexec DIR  where ced and ced-inspector are (default: beside this program)\n"
	"  --uid-base N   first host uid that jails may use as root (default: 400000)\n"
	"  --version      prints the version\n\n"
	"The arguments are those of ced.\n";

struct service {
	const char *user, *libexec; /* NULL: the default */
	struct spawner spawner;
	struct child daemon;
	struct daemon_start start;
	char program[PATH_MAX];
	int signals;
	int64_t leave_by_ms; /* when ced was told to exit; 0: it was not */
	int is_tidying;      /* a cgroup waits to be removed */
};

/* ---- arguments ----------------------------------------------------------------------------- */

static bool parse_uid_base(const char *text, uint32_t *ret_base)
{
	char *end;
	unsigned long base = strtoul(text, &end, 10);

	*ret_base = (uint32_t)base;
	return *end == '\0' && base >= UID_BASE_LEAST && base <= UINT32_MAX - SPAWNER_UID_COUNT;
}

/* Returns an exit status if the program is to end here, else -1. */
static int parse_options(int argc, char **argv, struct service *self)
{
	static const struct option names[] = {
		{ "user", required_argument, NULL, 'u' },
		{ "libexec", required_argument, NULL, 'l' },
		{ "uid-base", required_argument, NULL, 'b' },
		{ "version", no_argument, NULL, 'v' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int name;

	self->spawner.uid_base = UID_BASE_DEFAULT;
	while ((name = getopt_long(argc, argv, "+h", names, NULL)) >= 0) {
		if (name == 'u')
			self->user = optarg;
		else if (name == 'l')
			self->libexec = optarg;
		else if (name == 'v')
			return puts("ced-spawner " CED_VERSION) < 0;
		else if (name == 'h')
			return fputs(usage, stdout) < 0;
		else if (name != 'b' || !parse_uid_base(optarg, &self->spawner.uid_base))
			return fputs(usage, stderr) < 0 ? EXIT_BROKEN : EXIT_USAGE;
	}
	self->start.args = argv + optind;
	return argc - optind > DAEMON_ARGS_MAX ? EXIT_USAGE : -1;
}

/* ---- preparing ---------------------------------------------------------------------------- */

/* The number of descriptors from 3 on that a service manager passed. */
static unsigned listen_fds(void)
{
	const char *pid = getenv("LISTEN_PID");
	const char *count = getenv("LISTEN_FDS");
	bool is_ours = pid && count && strtol(pid, NULL, 10) == getpid();
	unsigned long fds = is_ours ? strtoul(count, NULL, 10) : 0;

	return fds <= LISTEN_FDS_MAX ? (unsigned)fds : 0;
}

static int open_signals(struct service *self, struct err *err)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0 || signal(SIGPIPE, SIG_IGN) == SIG_ERR)
		return err_sys(err, "signals");
	self->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return self->signals < 0 ? err_sys(err, "signalfd") : 0;
}

/* Finds ../libexec/ced beside our own folder, in the build tree and where it is installed. */
static int find_programs(struct service *self, struct err *err)
{
	char own[PATH_MAX];
	char folder[PATH_MAX + 32];
	char real[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", own, sizeof(own) - 1);

	if (len < 0)
		return err_sys(err, "/proc/self/exe");
	own[len] = '\0';
	*strrchr(own, '/') = '\0';
	if (self->libexec)
		cut_printf(folder, sizeof(folder), "%s", self->libexec);
	else
		cut_printf(folder, sizeof(folder), "%s/../libexec/ced", own);
	if (!realpath(folder, real))
		return err_sys(err, "no programs of ced (--libexec) in %s", folder);
	cut_printf(self->program, sizeof(self->program), "%s/ced", real);
	cut_printf(self->spawner.helpers[0], PATH_MAX, "%s/ced-inspector", real);
	cut_printf(self->spawner.helpers[1], PATH_MAX, "%s/ced-egress", real);
	return access(self->program, F_OK) < 0 ? err_sys(err, "%s", self->program) : 0;
}

static int find_user(struct service *self, struct err *err)
{
	const char *name = self->user ? self->user : DEFAULT_USER;
	const struct passwd *user = getpwnam(name);

	if (!user && self->user)
		return err_set(err, ERR_MISSING, "there is no user %s: use --user NAME", name);
	self->start.changes_user = true;
	self->start.uid = user ? user->pw_uid : NOBODY;
	self->start.gid = user ? user->pw_gid : NOBODY;
	if (self->start.uid == 0 || self->start.gid == 0)
		return err_set(err, ERR_DENIED, "ced must not run as root: use --user NAME");
	return 0;
}

/* From here on the spawner has three capabilities and no other group, and no exec can add one. */
static int give_up_rights(struct service *self, struct err *err)
{
	static const struct rlimit_row no_core = { RLIMIT_CORE, 0 };
	struct rlimit signals;

	if (rlimits_set(&no_core, 1, err) < 0)
		return -1;
	/*
	 * Pending signals of jails count for our user too: half of the limit is for all jails
	 * together.
	 */
	if (getrlimit(RLIMIT_SIGPENDING, &signals) < 0)
		return err_sys(err, "waiting signals");
	signals.rlim_cur /= 2;
	(void)setrlimit(RLIMIT_SIGPENDING, &signals);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return err_sys(err, "no_new_privs");
	if (self->spawner.mode == PRIV_MODE_USER)
		return 0;
	if (ns_check_range(self->spawner.uid_base, SPAWNER_UID_COUNT, err) < 0 ||
		find_user(self, err) < 0)
		return -1;
	if (setgroups(0, NULL) < 0)
		return err_sys(err, "setgroups");
	return caps_keep_for_spawner(err);
}

static int start_daemon(struct service *self, struct err *err)
{
	const struct timeval most = { .tv_sec = ANSWER_S };
	auto_fd int theirs = -1;
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return err_sys(err, "socketpair");
	self->spawner.sock = pair[0];
	theirs = pair[1];
	if (setsockopt(pair[0], SOL_SOCKET, SO_SNDTIMEO, &most, sizeof(most)) < 0)
		return err_sys(err, "SO_SNDTIMEO");
	self->start.sock = theirs;
	self->start.program = self->program;
	self->start.filter = &self->spawner.filters[FILTER_DAEMON];
	return daemon_start(&self->daemon, &self->start, err);
}

static int open_service(struct service *self, struct err *err)
{
	struct spawner *spawner = &self->spawner;

	self->start.listen_fds = listen_fds();
	spawner->mode = geteuid() == 0 ? PRIV_MODE_ROOT : PRIV_MODE_USER;
	spawner->phase = PRIV_GREETING;
	if (close_range(STDERR_FILENO + 1 + self->start.listen_fds, ~0U, 0) < 0)
		return err_sys(err, "close_range");
	if (find_programs(self, err) < 0 || open_signals(self, err) < 0)
		return -1;
	/* Only a process with all capabilities may make a folder in the root of a v1 hierarchy. */
	if (spawner_open(spawner, err) < 0 || give_up_rights(self, err) < 0)
		return -1;
	return start_daemon(self, err);
}

/* ---- the loop ------------------------------------------------------------------------------ */

static int pass_signals_on(struct service *self, struct err *err)
{
	struct signalfd_siginfo info;

	while (read(self->signals, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo != SIGHUP && !self->leave_by_ms)
			self->leave_by_ms = clock_ms() + LEAVE_MS;
		if (child_signal(&self->daemon, (int)info.ssi_signo, err) < 0)
			return -1;
	}
	return 0;
}

/* How long poll() may wait. */
static int patience(const struct service *self)
{
	int64_t left_ms = self->leave_by_ms - clock_ms();

	if (self->is_tidying)
		return TIDY_MS;
	if (!self->leave_by_ms)
		return -1;
	return left_ms > 0 ? (int)left_ms : 0;
}

#define FIXED_FDS 3

static nfds_t what_to_watch(const struct service *self, struct pollfd *ret_fds)
{
	nfds_t count = FIXED_FDS;

	ret_fds[0] = (struct pollfd){ .fd = self->signals, .events = POLLIN };
	ret_fds[1] = (struct pollfd){ .fd = self->daemon.pidfd, .events = POLLIN };
	ret_fds[2] = (struct pollfd){ .fd = self->spawner.sock, .events = POLLIN };
	for (size_t i = 0; i < PRIV_CHILDREN_MAX; i++)
		if (self->spawner.residents[i].child.pidfd >= 0)
			ret_fds[count++] =
				(struct pollfd){ .fd = self->spawner.residents[i].child.pidfd,
					.events = POLLIN };
	return count;
}

/* One round. 1: go on, 0: ced is exiting or has exited, -1: it must be killed. */
static int one_round(struct service *self, struct err *err)
{
	struct pollfd fds[FIXED_FDS + PRIV_CHILDREN_MAX];
	nfds_t count = what_to_watch(self, fds);
	int ready = poll(fds, count, patience(self));
	int served = 1;

	if (ready < 0)
		return errno == EINTR ? 1 : err_sys(err, "poll");
	if (fds[0].revents && pass_signals_on(self, err) < 0)
		return -1;
	if (fds[1].revents)
		return 0;
	if (self->leave_by_ms && clock_ms() >= self->leave_by_ms)
		return err_set(err, ERR_TIMEOUT, "ced was told to exit and did not");
	if (fds[2].revents)
		served = spawner_serve(&self->spawner, err);
	if (served <= 0)
		return served;
	self->is_tidying = spawner_tidy(&self->spawner, err);
	return self->is_tidying < 0 ? -1 : 1;
}

/* Gives a ced that has closed the conversation a bounded time to finish. */
static int wait_for_daemon(struct service *self)
{
	struct pollfd pidfd = { .fd = self->daemon.pidfd, .events = POLLIN };
	char words[64];
	int status = 0;

	(void)poll(&pidfd, 1, GOODBYE_MS);
	if (child_reap(&self->daemon, &status)) {
		if (WIFEXITED(status))
			return WEXITSTATUS(status);
		/* ced could not log this itself. */
		cut_printf(words, sizeof(words), "ced was killed by signal %d", WTERMSIG(status));
		say(SAY_ERROR, "daemon.killed", words);
		return 128 + WTERMSIG(status);
	}
	say(SAY_ERROR, "daemon.hangs", "ced closed its connection and did not exit");
	return EXIT_BROKEN;
}

static int serve_until_the_end(struct service *self)
{
	struct err err = ERR_INIT;
	int going;

	do {
		going = one_round(self, &err);
	} while (going > 0);
	if (going < 0 && err.code != ERR_CLOSED) {
		say(SAY_ERROR, "conversation.broken", err.text);
		child_end(&self->daemon);
		return EXIT_BROKEN;
	}
	return wait_for_daemon(self);
}

int main(int argc, char **argv)
{
	static struct service self = { .daemon = CHILD_INIT, .spawner = { .sock = -1 } };
	struct err err = ERR_INIT;
	int status = standard_fds_hold() < 0 ? EXIT_BROKEN : parse_options(argc, argv, &self);

	if (status >= 0)
		return status;
	if (open_service(&self, &err) < 0) {
		say(SAY_ERROR, "start", err.text);
		status = EXIT_BROKEN;
	} else {
		say(SAY_INFO, "started", self.spawner.mode == PRIV_MODE_ROOT ? "root" : "user");
		status = serve_until_the_end(&self);
	}
	child_end(&self.daemon);
	spawner_close(&self.spawner);
	return status;
}
