/*
 * ced-spawner: the only program with rights.  Starts ced without any, then builds jails for it,
 * kills and reaps them.
 *
 *	ced-spawner [--user NAME] [--libexec DIR] [--uid-base N] [--] arguments of ced...
 *
 * SIGTERM, SIGINT and SIGHUP are passed on to ced; one that was told to leave and does not is
 * killed after a while, before a service manager loses its patience with us.  When ced leaves, every jail is ended and the
 * spawner leaves with ced's exit status; when ced breaks the conversation, it is killed first and
 * the status is 1.  Nothing is restarted here: that is the service manager's business.
 */
#include <errno.h>
#include <fcntl.h>
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
#include <sys/stat.h>
#include <sys/wait.h>

#include "proto/base/cleanup.h"
#include "proto/base/clock.h"
#include "proto/base/container.h"
#include "proto/version.h"
#include "sandbox/caps.h"
#include "sandbox/daemon_start.h"
#include "sandbox/ns.h"
#include "sandbox/say.h"
#include "sandbox/spawner.h"

#define DEFAULT_USER     "ced"
#define NOBODY           65534
#define UID_BASE_DEFAULT 400000
#define UID_BASE_LEAST   65536 /* below live users, and 65534 is nobody */
#define LISTEN_FDS_MAX   8
#define TIDY_MS          20
#define GOODBYE_MS       10000
#define LEAVE_MS         25000 /* ced itself takes 18 s for its runs at most */
#define EXIT_BROKEN      1
#define EXIT_USAGE       2

static const char usage[] =
	"usage: ced-spawner [--user NAME] [--libexec DIR] [--uid-base N] [--] ARGUMENT...\n"
	"\n"
	"  --user NAME    who ced runs as when this is root (default: ced, else nobody)\n"
	"  --libexec DIR  where ced and ced-inspector are (default: beside this program)\n"
	"  --uid-base N   first host uid that jails may use as root (default: 400000)\n"
	"  --version      prints the version\n"
	"\n"
	"The arguments are those of ced.\n";

struct house {
	const char *user;    /* NULL: the default */
	const char *libexec; /* NULL: the default */
	struct spawner spawner;
	struct child daemon;
	struct daemon_start start;
	char program[PATH_MAX];
	char inspector[PATH_MAX];
	int signals;
	int64_t leave_by_ms; /* ced was told to leave; 0: it was not */
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

/* Returns an exit status when the program is to end here, else -1. */
static int parse_options(int argc, char **argv, struct house *house)
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

	house->spawner.uid_base = UID_BASE_DEFAULT;
	while ((name = getopt_long(argc, argv, "+h", names, NULL)) >= 0) {
		if (name == 'u')
			house->user = optarg;
		else if (name == 'l')
			house->libexec = optarg;
		else if (name == 'v')
			return puts("ced-spawner " CED_VERSION) < 0;
		else if (name == 'h')
			return fputs(usage, stdout) < 0;
		else if (name != 'b' || !parse_uid_base(optarg, &house->spawner.uid_base))
			return fputs(usage, stderr) < 0 ? EXIT_BROKEN : EXIT_USAGE;
	}
	house->start.args = argv + optind;
	return argc - optind > DAEMON_ARGS_MAX ? EXIT_USAGE : -1;
}

/* ---- what we stand on ---------------------------------------------------------------------- */

/* How many descriptors a service manager passed, from 3 on. */
static unsigned listen_fds(void)
{
	const char *pid = getenv("LISTEN_PID");
	const char *count = getenv("LISTEN_FDS");
	unsigned long fds;

	if (!pid || !count || strtol(pid, NULL, 10) != getpid())
		return 0;
	fds = strtoul(count, NULL, 10);
	return fds <= LISTEN_FDS_MAX ? (unsigned)fds : 0;
}

/* Nothing that we inherited goes further, and 0 to 2 are open, so that nothing else lands there. */
static int tidy_descriptors(unsigned passed, struct err *err)
{
	int fd;

	do {
		fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	} while (fd >= 0 && fd <= STDERR_FILENO && fcntl(fd, F_SETFD, 0) == 0);
	if (fd < 0)
		return err_sys(err, "/dev/null");
	if (close_range(3 + passed, ~0U, 0) < 0)
		return err_sys(err, "close_range");
	return 0;
}

static int open_signals(struct house *house, struct err *err)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0 || signal(SIGPIPE, SIG_IGN) == SIG_ERR)
		return err_sys(err, "signals");
	house->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return house->signals < 0 ? err_sys(err, "signalfd") : 0;
}

/* The folder beside our own, as in the build tree and in an installed one. */
static int find_programs(struct house *house, struct err *err)
{
	char self[PATH_MAX];
	char folder[PATH_MAX + 32];
	char real[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (len < 0)
		return err_sys(err, "/proc/self/exe");
	self[len] = '\0';
	*strrchr(self, '/') = '\0';
	if (house->libexec)
		cut_printf(folder, sizeof(folder), "%s", house->libexec);
	else
		cut_printf(folder, sizeof(folder), "%s/../libexec/ced", self);
	if (!realpath(folder, real))
		return err_sys(err, "%s", folder);
	cut_printf(house->program, sizeof(house->program), "%s/ced", real);
	cut_printf(house->inspector, sizeof(house->inspector), "%s/ced-inspector", real);
	return access(house->program, F_OK) < 0 ? err_sys(err, "%s", house->program) : 0;
}

static int find_user(struct house *house, struct err *err)
{
	const char *name = house->user ? house->user : DEFAULT_USER;
	const struct passwd *user = getpwnam(name);

	if (!user && house->user)
		return err_set(err, ERR_MISSING, "there is no user %s", name);
	house->start.changes_user = true;
	house->start.uid = user ? user->pw_uid : NOBODY;
	house->start.gid = user ? user->pw_gid : NOBODY;
	if (house->start.uid == 0 || house->start.gid == 0)
		return err_set(err, ERR_DENIED, "ced does not run as root");
	return 0;
}

/* From here on three capabilities, no other group, nothing to be gained by any exec. */
static int give_up_rights(struct house *house, struct err *err)
{
	static const struct rlimit_row no_core = { RLIMIT_CORE, 0 };
	struct rlimit signals;

	if (rlimits_set(&no_core, 1, err) < 0)
		return -1;
	/* Those that wait in a jail count as ours too: half of them is for all jails together. */
	if (getrlimit(RLIMIT_SIGPENDING, &signals) < 0)
		return err_sys(err, "waiting signals");
	signals.rlim_cur /= 2;
	(void)setrlimit(RLIMIT_SIGPENDING, &signals);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return err_sys(err, "no_new_privs");
	if (house->spawner.mode == PRIV_MODE_USER)
		return 0;
	if (ns_check_range(house->spawner.uid_base, SPAWNER_UID_COUNT, err) < 0 ||
		find_user(house, err) < 0)
		return -1;
	if (setgroups(0, NULL) < 0)
		return err_sys(err, "setgroups");
	return caps_keep_for_spawner(err);
}

static int start_daemon(struct house *house, struct err *err)
{
	auto_fd int theirs = -1;
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return err_sys(err, "socketpair");
	house->spawner.sock = pair[0];
	theirs = pair[1];
	house->start.sock = theirs;
	house->start.program = house->program;
	house->start.filter = &house->spawner.filters[FILTER_DAEMON];
	return daemon_start(&house->daemon, &house->start, err);
}

static int open_house(struct house *house, struct err *err)
{
	struct spawner *spawner = &house->spawner;

	house->start.listen_fds = listen_fds();
	spawner->mode = geteuid() == 0 ? PRIV_MODE_ROOT : PRIV_MODE_USER;
	spawner->phase = PRIV_GREETING;
	spawner->inspector = house->inspector;
	if (tidy_descriptors(house->start.listen_fds, err) < 0 || find_programs(house, err) < 0 ||
		open_signals(house, err) < 0)
		return -1;
	/* The root folder of a v1 hierarchy takes a new folder only from those who may anything. */
	if (spawner_open(spawner, err) < 0 || give_up_rights(house, err) < 0)
		return -1;
	return start_daemon(house, err);
}

/* ---- the loop ------------------------------------------------------------------------------ */

static int pass_signals_on(struct house *house, struct err *err)
{
	struct signalfd_siginfo info;

	while (read(house->signals, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo != SIGHUP && !house->leave_by_ms)
			house->leave_by_ms = clock_ms() + LEAVE_MS;
		if (child_signal(&house->daemon, (int)info.ssi_signo, err) < 0)
			return -1;
	}
	return 0;
}

/* How long to wait for news. */
static int patience(const struct house *house)
{
	int64_t left_ms;

	if (house->is_tidying)
		return TIDY_MS;
	if (!house->leave_by_ms)
		return -1;
	left_ms = house->leave_by_ms - clock_ms();
	return left_ms > 0 ? (int)left_ms : 0;
}

#define FIXED_FDS 3

static nfds_t what_to_watch(const struct house *house, struct pollfd *ret_fds)
{
	nfds_t count = FIXED_FDS;

	ret_fds[0] = (struct pollfd){ .fd = house->signals, .events = POLLIN };
	ret_fds[1] = (struct pollfd){ .fd = house->daemon.pidfd, .events = POLLIN };
	ret_fds[2] = (struct pollfd){ .fd = house->spawner.sock, .events = POLLIN };
	for (size_t i = 0; i < PRIV_CHILDREN_MAX; i++)
		if (house->spawner.residents[i].child.pidfd >= 0)
			ret_fds[count++] =
				(struct pollfd){ .fd = house->spawner.residents[i].child.pidfd,
					.events = POLLIN };
	return count;
}

/* One round.  1: go on, 0: ced is leaving or has left, -1: it must be ended. */
static int one_round(struct house *house, struct err *err)
{
	struct pollfd fds[FIXED_FDS + PRIV_CHILDREN_MAX];
	nfds_t count = what_to_watch(house, fds);
	int ready = poll(fds, count, patience(house));
	int served;

	if (ready < 0)
		return errno == EINTR ? 1 : err_sys(err, "poll");
	if (fds[0].revents && pass_signals_on(house, err) < 0)
		return -1;
	if (fds[1].revents)
		return 0;
	if (house->leave_by_ms && clock_ms() >= house->leave_by_ms)
		return err_set(err, ERR_TIMEOUT, "ced was told to leave and does not");
	if (fds[2].revents) {
		served = spawner_serve(&house->spawner, err);
		if (served <= 0)
			return served;
	}
	house->is_tidying = spawner_tidy(&house->spawner, err);
	return house->is_tidying < 0 ? -1 : 1;
}

/* A ced that has said goodbye may finish its work, but not for ever. */
static int wait_for_daemon(struct house *house)
{
	struct pollfd pidfd = { .fd = house->daemon.pidfd, .events = POLLIN };
	int status = 0;

	(void)poll(&pidfd, 1, GOODBYE_MS);
	if (child_reap(&house->daemon, &status))
		return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	say(SAY_ERROR, "daemon.hangs", "it said goodbye and does not leave");
	return EXIT_BROKEN;
}

static int serve_until_the_end(struct house *house)
{
	struct err err = ERR_INIT;
	int going;

	do {
		going = one_round(house, &err);
	} while (going > 0);
	if (going < 0 && err.code != ERR_CLOSED) {
		say(SAY_ERROR, "conversation.broken", err.text);
		child_end(&house->daemon);
		return EXIT_BROKEN;
	}
	return wait_for_daemon(house);
}

int main(int argc, char **argv)
{
	static struct house house = { .daemon = CHILD_INIT, .spawner = { .sock = -1 } };
	struct err err = ERR_INIT;
	int status = parse_options(argc, argv, &house);

	if (status >= 0)
		return status;
	if (open_house(&house, &err) < 0) {
		say(SAY_ERROR, "start", err.text);
		status = EXIT_BROKEN;
	} else {
		say(SAY_INFO, "started", house.spawner.mode == PRIV_MODE_ROOT ? "root" : "user");
		status = serve_until_the_end(&house);
	}
	child_end(&house.daemon);
	spawner_close(&house.spawner);
	return status;
}
