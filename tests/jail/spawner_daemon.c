/*
 * Runs in the place of ced and tries what the spawner must allow a daemon, and what it must
 * refuse.
 *
 * The script jail_spawner.t starts one spawner for each test here, with this program as its ced
 * and the test's name as argument.  CED_TEST_HARNESS in the environment names the folder with
 * probe/zygote.py.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proto/base/cleanup.h"
#include "proto/base/clock.h"
#include "proto/base/container.h"
#include "proto/base/fdio.h"
#include "proto/internal/privmsg.h"
#include "tests/check.h"

#define SPAWNER_FD 3
#define REPORT_MAX 16384

/* A sanitizer reads /proc and reserves more memory than our limits allow: test builds only. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_SANITIZED true
#else
#define IS_SANITIZED false
#endif

static struct priv_msg asked;
static struct priv_msg got;
static int got_fds[PRIV_FDS_MAX];
static unsigned got_fd_count;
static struct err err = ERR_INIT;
static char report[REPORT_MAX];

/* ---- messages ------------------------------------------------------------------------------ */

static struct priv_msg *request(enum priv_op op)
{
	static uint32_t sequence;

	memset(&asked, 0, sizeof(asked));
	asked.op = op;
	asked.sequence = ++sequence;
	return &asked;
}

/* Sends `asked` and waits for the answer; true if it is a success. */
static bool ask(int fd)
{
	close_fds(got_fds, got_fd_count);
	got_fd_count = 0;
	if (priv_send(SPAWNER_FD, &asked, &fd, fd >= 0, &err) < 0 ||
		priv_recv(SPAWNER_FD, false, &got, got_fds, &got_fd_count, &err) <= 0) {
		printf("# %s\n", err.text);
		return false;
	}
	if (got.error)
		printf("# %s: %s\n", priv_op_word(asked.op), got.text);
	return got.sequence == asked.sequence && got.error == 0;
}

static bool hello(void)
{
	request(PRIV_HELLO);
	return ask(-1);
}

static void fill_runtime(struct priv_runtime *runtime)
{
	static const char *const binds[] = { "/usr/lib", "/usr/lib64", "/lib", "/lib64",
		"/etc/alternatives", "/usr/share/zoneinfo", "/no/such/folder" };

	runtime->kind = PRIV_RUNTIME_PYTHON;
	(void)snprintf(runtime->name, sizeof(runtime->name), "python");
	(void)snprintf(runtime->interpreter, sizeof(runtime->interpreter), "/usr/bin/python3");
	(void)snprintf(
		runtime->harness, sizeof(runtime->harness), "%s", getenv("CED_TEST_HARNESS"));
	(void)snprintf(runtime->preload, sizeof(runtime->preload), "json re");
	for (size_t i = 0; i < COUNT_OF(binds); i++) {
		(void)snprintf(
			runtime->binds[i].path, sizeof(runtime->binds[i].path), "%s", binds[i]);
		runtime->binds[i].optional = true;
	}
	runtime->bind_count = COUNT_OF(binds);
}

static bool configure(void)
{
	if (!hello())
		return false;
	fill_runtime(&request(PRIV_RUNTIME)->body.runtime);
	if (!ask(-1))
		return false;
	request(PRIV_SEAL);
	return ask(-1);
}

struct jailed {
	uint32_t id;
	int pidfd;
	int sock;
};

/* A jail with our end of its socket. */
static bool start(enum priv_op op, uint32_t slots, struct jailed *ret)
{
	int pair[2];
	bool started;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return false;
	request(op);
	if (op == PRIV_ZYGOTE)
		asked.body.zygote.slots = slots;
	else
		asked.body.inspector = (struct priv_inspector){ 512U << 20, 60 };
	started = ask(pair[1]);
	close(pair[1]);
	if (!started || got_fd_count != 1)
		return false;
	*ret = (struct jailed){ got.id, got_fds[0], pair[0] };
	got_fd_count = 0;
	return true;
}

static bool read_report(int sock)
{
	size_t len = 0;

	while (len < sizeof(report) - 1) {
		ssize_t more = read(sock, report + len, sizeof(report) - 1 - len);

		if (more <= 0)
			break;
		len += (size_t)more;
		report[len] = '\0';
		if (len >= 4 && strcmp(report + len - 4, "end\n") == 0)
			return true;
	}
	printf("# the report is cut: %s\n", report);
	return false;
}

/* The value of a key in the report; "" if the report lacks it. */
static const char *said(const char *key)
{
	static char values[8][512];
	static unsigned next;
	char *value = values[next++ % COUNT_OF(values)];
	char line[128];
	const char *at;

	(void)snprintf(line, sizeof(line), "\n%s ", key);
	at = strstr(report, line);
	value[0] = '\0';
	if (at)
		(void)sscanf(at + strlen(line), "%511[^\n]", value);
	return value;
}

/* Writes what the host shows about a jailed process into `report`. */
static bool read_status_of(int pidfd)
{
	auto_free char *info = NULL;
	auto_free char *status = NULL;
	char path[64];
	const char *pid;
	size_t len;

	(void)snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", pidfd);
	if (read_file(path, 4096, &info, &len, &err) < 0)
		return false;
	pid = strstr(info, "\nPid:");
	(void)snprintf(path, sizeof(path), "/proc/%ld/status", pid ? strtol(pid + 5, NULL, 10) : 0);
	if (read_file(path, REPORT_MAX - 1, &status, &len, &err) < 0)
		return false;
	(void)snprintf(report, sizeof(report), "%s", status);
	return true;
}

/* Waits for the EXITED message of a child. */
static bool exited(uint32_t id, int *ret_status)
{
	if (priv_recv(SPAWNER_FD, false, &got, got_fds, &got_fd_count, &err) <= 0)
		return false;
	*ret_status = got.status;
	return got.op == PRIV_EXITED && got.id == id;
}

static bool is_root_mode(void)
{
	return got.body.host.mode == PRIV_MODE_ROOT;
}

/* ---- the daemon itself --------------------------------------------------------------------- */

TEST(the_daemon_has_no_capability_and_no_descriptor_beyond_the_agreed_ones)
{
	auto_free char *text = NULL;
	size_t len;

	CHECK(read_file("/proc/self/status", 1 << 16, &text, &len, &err) == 0);
	CHECK(strstr(text, "CapEff:\t0000000000000000"));
	CHECK(strstr(text, "CapPrm:\t0000000000000000"));
	CHECK(strstr(text, "CapAmb:\t0000000000000000"));
	CHECK(strstr(text, "NoNewPrivs:\t1"));
	CHECK(strstr(text, "Seccomp:\t2"));
	CHECK(getuid() != 0 && getgid() != 0);
	for (int fd = SPAWNER_FD + 1; fd < 4096; fd++)
		CHECK(fcntl(fd, F_GETFD) < 0);
	/* without capabilities a process cannot drop its supplementary groups */
	CHECK(hello());
	CHECK(!is_root_mode() || getgroups(0, NULL) == 0);
}

TEST(hello_says_what_the_host_gives)
{
	CHECK(hello());
	CHECK(got.body.host.mode == PRIV_MODE_ROOT || got.body.host.mode == PRIV_MODE_USER);
	printf("# memory %u pids %u cpu %u kill %u landlock %d %s\n", got.body.host.memory,
		got.body.host.pids, got.body.host.cpu, got.body.host.cgroup_kill,
		got.body.host.landlock_abi, got.body.host.why_not);
	if (is_root_mode())
		CHECK(got.body.host.memory && got.body.host.pids && got.body.host.cpu);
	else
		CHECK(got.body.host.memory || got.body.host.why_not[0]);
}

/* ---- configuring --------------------------------------------------------------------------- */

static bool refuses_runtime(const char *what, size_t offset, size_t size, const char *value)
{
	struct priv_runtime *runtime = &request(PRIV_RUNTIME)->body.runtime;

	fill_runtime(runtime);
	memset((char *)runtime + offset, 0, size);
	(void)snprintf((char *)runtime + offset, size, "%s", value);
	if (ask(-1))
		printf("# took %s = %s\n", what, value);
	return got.error != 0 && got.text[0] != '\0';
}

#define REFUSES(member, value)                                                \
	CHECK(refuses_runtime(#member, offsetof(struct priv_runtime, member), \
		sizeof(((struct priv_runtime *)0)->member), (value)))

TEST(a_runtime_with_a_dangerous_path_is_refused_with_the_reason)
{
	CHECK(hello());
	REFUSES(interpreter, "usr/bin/python3");
	REFUSES(interpreter, "/usr/bin/../bin/python3");
	REFUSES(interpreter, "/usr/bin/no-such-python");
	REFUSES(interpreter, "/usr/bin");
	REFUSES(interpreter, "/etc/passwd");
	REFUSES(interpreter, "/proc/self/exe");
	REFUSES(harness, "/usr");
	REFUSES(harness, "/proc/self/cwd");
	REFUSES(binds[0].path, "/");
	REFUSES(binds[0].path, "/proc");
	REFUSES(binds[0].path, "/proc/1/root");
	REFUSES(binds[0].path, "/sys/kernel");
	REFUSES(binds[0].path, "/dev");
	REFUSES(binds[0].path, "/dev/sda");
	REFUSES(binds[0].path, "/run");
	REFUSES(binds[0].path, "/etc");
	REFUSES(binds[0].path, "/etc/shadow");
	REFUSES(binds[0].path, "/home");
	REFUSES(binds[0].path, "/root");
	REFUSES(binds[0].path, "/tmp");
	REFUSES(binds[0].path, "/var/lib");
	REFUSES(binds[0].path, "//usr");
	REFUSES(binds[0].path, "/usr/");
	REFUSES(binds[0].path, "/usr/./lib");
	REFUSES(binds[0].path, "");
	REFUSES(name, "");
	REFUSES(name, "py/thon");
	REFUSES(preload, "os; import sys");
	REFUSES(preload, "a\nb");
}

TEST(a_runtime_is_taken_once_under_its_name)
{
	CHECK(hello());
	fill_runtime(&request(PRIV_RUNTIME)->body.runtime);
	CHECK(ask(-1));
	CHECK_EQ_INT(got.id, 0);
	fill_runtime(&request(PRIV_RUNTIME)->body.runtime);
	CHECK(!ask(-1));
	CHECK_EQ_INT(got.error, ERR_EXISTS);
}

/* ---- zygotes ------------------------------------------------------------------------------- */

static void check_tree(void)
{
	CHECK_STR(said("root"), "ced,dev,etc,lib,lib64,tmp,usr,work");
	CHECK_STR(said("dev"), "full,null,random,shm,urandom,zero");
	CHECK_STR(said("etc"), "alternatives,group,ld.so.preload,nsswitch.conf,passwd");
	CHECK(strncmp(said("bin"), "python3.", 8) == 0 && !strchr(said("bin"), ','));
	CHECK_STR(said("flags.root"), "ro,nosuid,nodev");
	CHECK_STR(said("flags.lib"), "ro,nosuid,nodev");
	CHECK_STR(said("flags.ced"), "ro,nosuid,nodev");
	CHECK_STR(said("flags.null"), "ro,nosuid");
	CHECK_STR(said("write.root"), "EROFS");
	CHECK_STR(said("write.lib"), "EROFS");
	CHECK_STR(said("write.ced"), "EROFS");
	CHECK_STR(said("canary"), "False");
	CHECK_STR(said("canary.up"), "False");
	CHECK_STR(said("canary.proc"), "ENOENT");
	CHECK_STR(said("canary.cwd"), "ENOENT");
	CHECK_STR(said("cwd"), "/");
}

static void check_rights(void)
{
	CHECK_STR(said("uid"), "0,0,0,0,0,0");
	CHECK_STR(said("no_new_privs"), "1");
	CHECK_STR(said("seccomp"), "2");
	CHECK_STR(said("setgroups"), "deny");
	CHECK(strncmp(said("uid_map"), "0 0 ", 4) != 0);
	CHECK_STR(said("socket"), "ENOSYS");
	CHECK_STR(said("raise.core"), "EPERM");
}

static void check_surroundings(void)
{
	CHECK_STR(said("pid"), "1");
	CHECK_STR(said("ppid"), "0");
	CHECK_STR(said("session"), "1");
	CHECK_STR(said("pids"), "1");
	CHECK_STR(said("proc.host"), "ENOENT");
	CHECK_STR(said("hostname"), "sandbox");
	CHECK_STR(said("fds"), "0,1,2,3,4");
	CHECK(!strstr(said("cgroup"), "ced-"));
	CHECK(!strstr(said("environment"), "CED_TEST"));
}

TEST(a_zygote_sees_nothing_of_the_host)
{
	struct jailed zygote;

	CHECK(configure());
	CHECK(start(PRIV_ZYGOTE, 3, &zygote));
	CHECK(read_report(zygote.sock));
	check_tree();
	check_rights();
	check_surroundings();
	close(zygote.sock);
	close(zygote.pidfd);
}

TEST(a_zygotes_end_is_told_with_its_status)
{
	struct jailed zygote;
	int status;

	CHECK(configure());
	CHECK(start(PRIV_ZYGOTE, 1, &zygote));
	CHECK(read_report(zygote.sock));
	CHECK(write(zygote.sock, "exit 7", 6) == 6);
	CHECK(exited(zygote.id, &status));
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

TEST(a_killed_zygote_takes_its_children_along)
{
	struct jailed zygote;
	char word[8];
	int status;

	CHECK(configure());
	CHECK(start(PRIV_ZYGOTE, 1, &zygote));
	CHECK(read_report(zygote.sock));
	CHECK(write(zygote.sock, "fork", 4) == 4 && read(zygote.sock, word, sizeof(word)) == 3);
	request(PRIV_KILL)->id = zygote.id;
	CHECK(ask(-1));
	CHECK(exited(zygote.id, &status));
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	/*
	 * The forked child holds the socket too, so the stream ends only when the child has ended.
	 */
	CHECK(read(zygote.sock, word, sizeof(word)) == 0);
	request(PRIV_KILL)->id = zygote.id;
	CHECK(!ask(-1));
	CHECK_EQ_INT(got.error, ERR_MISSING);
}

TEST(numbers_out_of_range_are_refused_and_the_conversation_goes_on)
{
	auto_fd int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	CHECK(configure());
	request(PRIV_ZYGOTE)->body.zygote = (struct priv_zygote){ 7, 1 };
	CHECK(!ask(null) && got.error == ERR_MISSING);
	request(PRIV_ZYGOTE)->body.zygote = (struct priv_zygote){ 0, 0 };
	CHECK(!ask(null) && got.error == ERR_INVALID);
	request(PRIV_ZYGOTE)->body.zygote = (struct priv_zygote){ 0, PRIV_SLOTS_MAX + 1 };
	CHECK(!ask(null) && got.error == ERR_INVALID);
	request(PRIV_SLOT)->body.slot = (struct priv_slot){ 1, 0 };
	CHECK(!ask(-1) && got.error == ERR_MISSING);
	request(PRIV_INSPECTOR)->body.inspector = (struct priv_inspector){ 1, 1 };
	CHECK(!ask(null) && got.error == ERR_INVALID);
	request(PRIV_INSPECTOR)->body.inspector = (struct priv_inspector){ 512U << 20, 0 };
	CHECK(!ask(null) && got.error == ERR_INVALID);
	request(PRIV_KILL)->id = 1;
	CHECK(!ask(-1) && got.error == ERR_MISSING);
}

/*
 * Returns how many descriptors the spawner holds; 0 if it runs as another user, so that we may not
 * look.
 */
static unsigned spawner_fds(void)
{
	char path[64];
	DIR *dir;
	unsigned count = 0;

	(void)snprintf(path, sizeof(path), "/proc/%d/fd", (int)getppid());
	dir = opendir(path);
	while (dir && readdir(dir))
		count++;
	if (dir)
		(void)closedir(dir);
	return count;
}

TEST(a_hundred_zygotes_one_after_the_other_leave_nothing_behind)
{
	unsigned fds_before;
	int64_t us = 0;

	CHECK(configure());
	fds_before = spawner_fds();
	for (int i = 0; i < 100; i++) {
		int64_t begin_us = clock_us();
		struct jailed zygote;
		int status;

		CHECK(start(PRIV_ZYGOTE, 2, &zygote));
		us += clock_us() - begin_us;
		request(PRIV_SLOT)->body.slot = (struct priv_slot){ zygote.id, 1 };
		CHECK(ask(-1));
		request(PRIV_KILL)->id = zygote.id;
		CHECK(ask(-1));
		CHECK(exited(zygote.id, &status));
		close(zygote.sock);
		close(zygote.pidfd);
	}
	CHECK_EQ_INT(spawner_fds(), fds_before);
	printf("# a zygote starts in %lld us; the spawner holds %u descriptors\n",
		(long long)(us / 100), fds_before);
}

/* ---- slots --------------------------------------------------------------------------------- */

static int knob_fd(enum priv_knob knob)
{
	for (unsigned i = 0; i < got.body.knobs.count; i++)
		if (got.body.knobs.which[i] == knob)
			return got_fds[i];
	return -1;
}

static bool knob_takes(enum priv_knob knob, const char *value, char *ret_text, size_t size)
{
	int fd = knob_fd(knob);
	ssize_t len;

	if (fd < 0 || pwrite(fd, value, strlen(value), 0) != (ssize_t)strlen(value))
		return false;
	len = pread(fd, ret_text, size - 1, 0);
	if (len < 0)
		return false;
	ret_text[len] = '\0';
	return true;
}

TEST(a_slots_knobs_can_be_turned_and_read)
{
	struct jailed zygote;
	char text[256];
	bool has_cgroups;

	CHECK(hello());
	has_cgroups = got.body.host.memory != PRIV_CGROUP_NONE;
	fill_runtime(&request(PRIV_RUNTIME)->body.runtime);
	CHECK(ask(-1));
	request(PRIV_SEAL);
	CHECK(ask(-1));
	CHECK(start(PRIV_ZYGOTE, 2, &zygote));
	request(PRIV_SLOT)->body.slot = (struct priv_slot){ zygote.id, 1 };
	CHECK(ask(-1));
	CHECK_EQ_INT(got.body.knobs.count, got_fd_count);
	if (!has_cgroups) {
		CHECK_EQ_INT(got_fd_count, 0);
		return;
	}
	CHECK(knob_takes(KNOB_MEMORY_MAX, "67108864", text, sizeof(text)));
	CHECK_STR(text, "67108864\n");
	CHECK(knob_takes(KNOB_PIDS_MAX, "64", text, sizeof(text)));
	CHECK_STR(text, "64\n");
	CHECK(knob_fd(KNOB_JOIN) >= 0 && knob_takes(KNOB_SWAP_OFF, "0", text, sizeof(text)));
	CHECK(knob_fd(KNOB_MEMORY_EVENTS) >= 0 && knob_fd(KNOB_CPU_USAGE) >= 0);
	CHECK(pread(knob_fd(KNOB_MEMORY_EVENTS), text, sizeof(text) - 1, 0) > 0);
	CHECK(pread(knob_fd(KNOB_CPU_USAGE), text, sizeof(text) - 1, 0) > 0);
	CHECK(pread(knob_fd(KNOB_PIDS_EVENTS), text, sizeof(text) - 1, 0) > 0);
	/* the first number behind the leaves of its two slots */
	request(PRIV_SLOT)->body.slot = (struct priv_slot){ zygote.id, 2 * PRIV_LEAVES_MAX };
	CHECK(!ask(-1));
}

/* Returns -errno, or 0 if the process joined. */
static int move_into_cgroup(int procs, pid_t pid)
{
	char text[16];

	(void)snprintf(text, sizeof(text), "%d", (int)pid);
	return pwrite(procs, text, strlen(text), 0) < 0 ? -errno : 0;
}

/*
 * With a descriptor that root opened, a daemon taken over by an attacker could move, starve and
 * kill any process.
 */
TEST(a_slots_cgroup_takes_none_of_the_hosts_processes)
{
	struct jailed zygote;
	unsigned joins = 0;

	CHECK(configure());
	CHECK(start(PRIV_ZYGOTE, 2, &zygote));
	request(PRIV_SLOT)->body.slot = (struct priv_slot){ zygote.id, 1 };
	CHECK(ask(-1));
	for (unsigned i = 0; i < got_fd_count; i++) {
		if (got.body.knobs.which[i] != KNOB_JOIN)
			continue;
		joins++;
		CHECK(move_into_cgroup(got_fds[i], 1) < 0);
	}
	printf("# %u cgroups to join\n", joins);
}

TEST(a_slots_cgroup_costs_little)
{
	struct jailed zygote;
	int64_t begin_us;

	CHECK(configure());
	CHECK(start(PRIV_ZYGOTE, 32, &zygote));
	begin_us = clock_us();
	for (uint32_t slot = 0; slot < 32; slot++) {
		request(PRIV_SLOT)->body.slot = (struct priv_slot){ zygote.id, slot };
		CHECK(ask(-1));
	}
	printf("# a slot's cgroup with knobs takes %lld us\n",
		(long long)(clock_us() - begin_us) / 32);
}

/* ---- inspectors ---------------------------------------------------------------------------- */

TEST(an_inspector_sees_nothing_and_has_no_right)
{
	struct jailed inspector;

	CHECK(configure());
	CHECK(start(PRIV_INSPECTOR, 0, &inspector));
	CHECK(read_report(inspector.sock));
	CHECK_STR(said("fds"), "0,1,2,3");
	CHECK_STR(said("pid"), "1");
	CHECK_STR(said("canary"), "ENOENT");
	CHECK_STR(said("passwd"), "ENOENT");
	CHECK_STR(said("proc"), IS_SANITIZED ? "done" : "ENOENT");
	CHECK_STR(said("mkdir"), "EPERM");
	CHECK_STR(said("open.write"), "EROFS");
	CHECK_STR(said("socket"), "EPERM");
	CHECK_STR(said("fork"), "EPERM");
	CHECK_STR(said("memory"), IS_SANITIZED ? "done" : "ENOMEM");
	CHECK(read_status_of(inspector.pidfd));
	CHECK(strstr(report, "CapInh:\t0000000000000000"));
	CHECK(strstr(report, "CapPrm:\t0000000000000000"));
	CHECK(strstr(report, "CapEff:\t0000000000000000"));
	CHECK(strstr(report, "CapBnd:\t0000000000000000"));
	CHECK(strstr(report, "CapAmb:\t0000000000000000"));
	CHECK(strstr(report, "NoNewPrivs:\t1"));
	CHECK(strstr(report, "Seccomp:\t2"));
}

/* ---- protocol errors: the script expects the spawner to exit with status 1 ----------------- */

/* The spawner must kill us: surviving the wait fails the test. */
static void wait_for_the_end(void)
{
	struct pollfd spawner = { .fd = SPAWNER_FD, .events = POLLIN };

	(void)poll(&spawner, 1, 10000);
	(void)poll(NULL, 0, 10000);
	check_failed(__FILE__, __LINE__, "the spawner ends us");
}

TEST(broken_a_zygote_before_hello)
{
	auto_fd int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	request(PRIV_ZYGOTE)->body.zygote = (struct priv_zygote){ 0, 1 };
	(void)ask(null);
	wait_for_the_end();
}

TEST(broken_a_runtime_after_the_seal)
{
	CHECK(configure());
	fill_runtime(&request(PRIV_RUNTIME)->body.runtime);
	(void)ask(-1);
	wait_for_the_end();
}

TEST(broken_a_second_hello)
{
	CHECK(hello());
	(void)hello();
	wait_for_the_end();
}

TEST(broken_garbage)
{
	CHECK(configure());
	CHECK(send(SPAWNER_FD, "garbage", 7, 0) == 7);
	wait_for_the_end();
}

TEST(broken_a_message_of_full_length_that_is_garbage)
{
	memset(&asked, 0xa5, sizeof(asked));
	CHECK(hello());
	memset(&asked, 0xa5, sizeof(asked));
	CHECK(send(SPAWNER_FD, &asked, sizeof(asked), 0) == (ssize_t)sizeof(asked));
	wait_for_the_end();
}

TEST(broken_an_operation_with_a_descriptor_too_many)
{
	auto_fd int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	CHECK(hello());
	request(PRIV_SEAL)->magic = PRIV_MAGIC;
	CHECK(send_with_fds(SPAWNER_FD, &asked, offsetof(struct priv_msg, body), &null, 1, &err) >
		0);
	wait_for_the_end();
}

TEST(broken_an_answer_from_the_daemon)
{
	CHECK(hello());
	request(PRIV_SEAL)->magic = PRIV_MAGIC;
	asked.is_answer = 1;
	CHECK(send(SPAWNER_FD, &asked, offsetof(struct priv_msg, body), 0) > 0);
	wait_for_the_end();
}

/* The spawner gives up on a daemon that reads no answers, or no signal would reach it any more. */
TEST(broken_answers_that_nobody_reads)
{
	struct pollfd spawner = { .fd = SPAWNER_FD, .events = POLLOUT };

	CHECK(configure());
	CHECK(fcntl(SPAWNER_FD, F_SETFL, O_NONBLOCK) == 0);
	do
		while (priv_send(SPAWNER_FD, request(PRIV_KILL), NULL, 0, &err) == 0)
			;
	while (poll(&spawner, 1, 3000) > 0);
	(void)poll(NULL, 0, 60000);
	check_failed(__FILE__, __LINE__, "the spawner ends us");
}

TEST(broken_a_jail_is_alive_when_it_happens)
{
	struct jailed zygote;

	CHECK(configure());
	CHECK(start(PRIV_ZYGOTE, 1, &zygote));
	CHECK(read_report(zygote.sock));
	CHECK(send(SPAWNER_FD, "garbage", 7, 0) == 7);
	wait_for_the_end();
}

/* ---- used by the script with signals ------------------------------------------------------- */

static volatile sig_atomic_t terminated;

static void on_term(int number)
{
	(void)number;
	terminated = 1;
}

/*
 * Starts a jail, reports that, and waits: for SIGTERM (passed on), or for a death that ends
 * everything.
 */
TEST(waits_with_a_jail)
{
	struct sigaction action = { .sa_handler = on_term };
	struct jailed zygote;

	CHECK(sigaction(SIGTERM, &action, NULL) == 0);
	CHECK(configure());
	CHECK(start(PRIV_ZYGOTE, 2, &zygote));
	CHECK(read_report(zygote.sock));
	CHECK(write(zygote.sock, "fork", 4) == 4);
	printf("# waiting\n");
	(void)fflush(stdout);
	for (int i = 0; i < 300 && !terminated; i++)
		(void)poll(NULL, 0, 100);
	CHECK(terminated);
	CHECK(read(zygote.sock, report, 3) == 3);
}
