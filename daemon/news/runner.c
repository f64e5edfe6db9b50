#include "daemon/news/runner.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proto/base/clock.h"
#include "proto/base/fdio.h"
#include "proto/base/log.h"
#include "proto/json.h"
#include "proto/wire/frame.h"
#include "proto/wire/rpc.h"

#define AT_ONCE       4
#define COMMAND_MS    10000
#define LOOK_MS       50
#define CPU_S         10
#define FILE_BYTES    ((rlim_t)64 << 20)
#define AGAIN_MS      1000 /* between two attempts to connect to the daemon */
#define EVENT_FD      0
#define JSON_BYTES    ((size_t)32 << 10)
#define EVENT_BYTES   ((size_t)1 << 20)
#define MESSAGE_BYTES ((size_t)1 << 20)

struct command {
	pid_t pid; /* 0: this entry is free */
	const struct alert_rule *rule;
	int64_t until_ms;
	bool killed;
};

struct runner {
	const struct config *config;
	int sock; /* to the daemon, or -1 */
	struct frame frame;
	struct command commands[AT_ONCE];
};

static volatile sig_atomic_t stopped;

/* ---- a command, in its process -------------------------------------------------------------- */

static void set_limit(int what, rlim_t most)
{
	const struct rlimit limit = { most, most };

	(void)setrlimit((__rlimit_resource_t)what, &limit);
}

static void plain_signals(void)
{
	sigset_t none;

	for (int number = 1; number < NSIG; number++)
		(void)signal(number, SIG_DFL);
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
}

__attribute__((noreturn)) static void become(const struct alert_rule *rule, int event)
{
	static char path[] = "PATH=/usr/local/bin:/usr/bin:/bin";
	static char lang[] = "LANG=C.UTF-8";
	static char home[] = "HOME=/";
	char name[sizeof(rule->name) + 16];
	char *env[] = { path, lang, home, name, NULL };
	char *argv[ALERT_WORDS_MAX + 1] = { NULL };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	(void)snprintf(name, sizeof(name), "CED_ALERT=%s", rule->name);
	for (unsigned i = 0; i < rule->word_count; i++)
		argv[i] = (char *)(uintptr_t)rule->words[i];
	plain_signals();
	set_limit(RLIMIT_CORE, 0);
	set_limit(RLIMIT_CPU, CPU_S);
	set_limit(RLIMIT_FSIZE, FILE_BYTES);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 || setsid() < 0 || chdir("/") < 0 ||
		dup2(event, EVENT_FD) < 0 || (null >= 0 && dup2(null, STDOUT_FILENO) < 0) ||
		close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC) < 0)
		_exit(126);
	if (argv[0])
		(void)execve(argv[0], argv, env);
	_exit(errno == ENOENT ? 127 : 126);
}

/* The event in an unnamed file.  A pipe could block the runner if the command does not read it. */
static int event_file(const char *json, size_t len)
{
	int fd = memfd_create("event", MFD_CLOEXEC);

	if (fd >= 0 && (write(fd, json, len) != (ssize_t)len || lseek(fd, 0, SEEK_SET) < 0)) {
		(void)close(fd);
		return -1;
	}
	return fd;
}

/* ---- its commands --------------------------------------------------------------------------- */

static const struct alert_rule *rule_named(const struct runner *runner, const char *name)
{
	for (unsigned i = 0; name && i < runner->config->alert_count; i++)
		if (strcmp(runner->config->alerts[i].name, name) == 0)
			return &runner->config->alerts[i];
	return NULL;
}

static void command_log(const struct alert_rule *rule, const char *how, int status)
{
	log_event(LOG_LEVEL_WARNING, "alert.command", LOG_STR("alert", rule->name),
		LOG_STR("how", how), LOG_INT("status", status));
}

static struct command *free_place(struct runner *runner)
{
	for (unsigned i = 0; i < AT_ONCE; i++)
		if (!runner->commands[i].pid)
			return &runner->commands[i];
	return NULL;
}

static void command_start(
	struct runner *runner, const struct alert_rule *rule, const char *json, size_t len)
{
	struct command *place = free_place(runner);
	auto_fd int event = -1;
	pid_t pid;

	if (!place) {
		command_log(rule, "dropped", 0);
		return;
	}
	event = event_file(json, len);
	pid = event < 0 ? -1 : fork();
	if (pid == 0)
		become(rule, event);
	if (pid < 0)
		command_log(rule, "not_started", errno);
	else
		*place = (struct command){ pid, rule, clock_ms() + COMMAND_MS, false };
}

static void kill_group(const struct command *command)
{
	(void)kill(-command->pid, SIGKILL);
	(void)kill(command->pid, SIGKILL);
}

static void command_end(struct command *command, int status)
{
	int code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);

	kill_group(command); /* and with it the processes it left */
	if (command->killed || code != 0)
		command_log(command->rule, command->killed ? "late" : "failed", code);
	command->pid = 0;
}

static unsigned look_after(struct runner *runner)
{
	unsigned running = 0;
	int status;

	for (unsigned i = 0; i < AT_ONCE; i++) {
		struct command *command = &runner->commands[i];

		if (!command->pid)
			continue;
		if (waitpid(command->pid, &status, WNOHANG) == command->pid) {
			command_end(command, status);
			continue;
		}
		running++;
		if (clock_ms() < command->until_ms || command->killed)
			continue;
		command->killed = true;
		kill_group(command);
	}
	return running;
}

/* ---- the daemon ----------------------------------------------------------------------------- */

static void hang_up(struct runner *runner)
{
	if (runner->sock < 0)
		return;
	(void)close(runner->sock);
	frame_done(&runner->frame);
	runner->sock = -1;
}

static int subscribe(int sock, struct err *err)
{
	struct value *params, *kinds;
	struct arena arena;
	struct buf request;
	int r;

	arena_init(&arena, EVENT_BYTES);
	buf_init(&request, EVENT_BYTES);
	params = value_map(&arena);
	kinds = value_list(&arena);
	value_list_add(&arena, kinds, value_text(&arena, "alert"));
	value_map_put(&arena, params, "kinds", kinds);
	r = rpc_write_request(&request, 1, "events.subscribe", params, err);
	if (r == 0)
		r = write_all(sock, request.bytes, request.len, err);
	buf_done(&request);
	arena_done(&arena);
	return r;
}

static int call_daemon(struct runner *runner, struct err *err)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	auto_fd int sock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	cut_printf(address.sun_path, sizeof(address.sun_path), "%s", runner->config->socket);
	if (sock < 0 || connect(sock, (const struct sockaddr *)&address, sizeof(address)) < 0)
		return err_sys(err, "%s", runner->config->socket);
	if (subscribe(sock, err) < 0)
		return -1;
	frame_init(&runner->frame, MESSAGE_BYTES, WIRE_DEPTH_MAX);
	runner->sock = take_fd(&sock);
	log_event(LOG_LEVEL_NOTICE, "alerts.listening",
		LOG_INT("rules", runner->config->alert_count));
	return 0;
}

static void take_event(struct runner *runner, struct arena *arena, const struct value *event)
{
	const char *name = value_as_text(value_get(event, "alert"));
	const struct alert_rule *rule = rule_named(runner, name);
	struct bytes json = { NULL, 0 };

	if (!rule || !rule->word_count)
		return;
	if (json_write_text(arena, event, JSON_WRITE_COMPACT, JSON_BYTES, &json, NULL) < 0)
		command_log(rule, "not_started", E2BIG);
	else
		command_start(runner, rule, json.data, json.len);
}

/* -1: the message is invalid, or the daemon refuses the subscription. */
static int take_message(struct runner *runner, char *bytes, size_t len)
{
	struct rpc_message message;
	struct rpc_fault fault;
	struct err err = ERR_INIT;
	struct arena arena;
	int r = 0;

	arena_init(&arena, EVENT_BYTES);
	if (rpc_read(&arena, bytes, len, &message, &fault, &err) < 0) {
		r = -1;
	} else if (message.kind == RPC_NOTIFICATION) {
		take_event(runner, &arena, message.params);
	} else if (message.kind == RPC_RESPONSE && message.error) {
		const char *why = value_as_text(value_get(message.error, "message"));

		log_event(LOG_LEVEL_ERROR, "alerts.refused", LOG_STR("why", why));
		r = -1;
	}
	arena_done(&arena);
	return r;
}

/* -1: the daemon has gone, or sent an invalid message. */
static int runner_read(struct runner *runner)
{
	size_t size = 0;
	char *room = frame_room(&runner->frame, &size);
	ssize_t got = room ? recv(runner->sock, room, size, 0) : -1;
	struct err err = ERR_INIT;
	char *bytes = NULL;
	size_t len = 0;
	int r;

	if (got <= 0)
		return -1;
	frame_filled(&runner->frame, (size_t)got);
	while ((r = frame_next(&runner->frame, &bytes, &len, &err)) > 0) {
		r = take_message(runner, bytes, len);
		free(bytes);
		if (r < 0)
			return -1;
	}
	return r;
}

/* ---- the service ---------------------------------------------------------------------------- */

static void on_stop(int number)
{
	(void)number;
	stopped = 1;
}

static void wait_a_little(struct runner *runner, int ms)
{
	struct pollfd poll_fd = { .fd = runner->sock, .events = POLLIN };

	if (poll(&poll_fd, 1, ms) > 0 && runner_read(runner) < 0) {
		log_event(LOG_LEVEL_WARNING, "alerts.lost", LOG_STR("why", "the daemon has gone"));
		hang_up(runner);
	}
}

static void serve(struct runner *runner)
{
	bool is_logged = false;

	while (!stopped) {
		struct err err = ERR_INIT;
		unsigned running = look_after(runner);

		if (runner->sock < 0 && call_daemon(runner, &err) < 0) {
			if (!is_logged)
				log_event(
					LOG_LEVEL_WARNING, "alerts.lost", LOG_STR("why", err.text));
			is_logged = true;
			(void)poll(NULL, 0, running ? LOOK_MS : AGAIN_MS);
			continue;
		}
		is_logged = false;
		wait_a_little(runner, running ? LOOK_MS : AGAIN_MS);
	}
}

int runner_run(const struct config *config)
{
	struct runner runner = { .config = config, .sock = -1 };
	const struct sigaction stop = { .sa_handler = on_stop };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return EXIT_FAILURE;
	(void)sigaction(SIGTERM, &stop, NULL);
	(void)sigaction(SIGINT, &stop, NULL);
	serve(&runner);
	for (unsigned i = 0; i < AT_ONCE; i++)
		if (runner.commands[i].pid)
			kill_group(&runner.commands[i]);
	hang_up(&runner);
	return EXIT_SUCCESS;
}
