#include "sandbox/runtimes/command/run_program.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "proto/base/container.h"
#include "proto/jail_dirs.h"
#include "sandbox/child_exit.h"
#include "sandbox/jail_env.h"
#include "sandbox/runtimes/command/cells.h"
#include "sandbox/runtimes/command/channel.h"
#include "sandbox/runtimes/command/tree.h"
#include "sandbox/worker/joblink.h"
#include "sandbox/worker/worker.h"

/*
 * Limits of execve(2): so much for one text, and a quarter of the stack for all of them and their
 * pointers.
 */
#define SOCKET_FD_LEAST  200
#define SOCKET_ENTRY_MAX 64
#define TEXT_BYTES_MAX   ((size_t)128 << 10)
#define TEXTS_BYTES_MAX  (((size_t)2 << 20) - ((size_t)64 << 10))

/* Exits without a message: the daemon is gone, or has sent a malformed one. */
__attribute__((noreturn)) static void leave(void)
{
	child_exit(1);
}

/* ---- arguments and environment ------------------------------------------------------------ */

/*
 * A list that is being filled, ended by NULL, and the bytes of the stack that it takes and may
 * take.
 */
struct texts {
	char **list;
	size_t count;
	size_t bytes, bytes_most;
};

static int texts_init(struct texts *texts, size_t most, size_t bytes_most, struct err *err)
{
	*texts = (struct texts){ .list = calloc(most + 1, sizeof(*texts->list)),
		.bytes_most = bytes_most };
	if (texts->list)
		return 0;
	(void)err_set(err, ERR_MEMORY, "no memory for arguments");
	return -1;
}

static int texts_add(struct texts *texts, struct span text, const char *before, struct err *err)
{
	size_t len = strlen(before) + text.len;
	char *copy = malloc(len + 1);

	texts->bytes += len + 1 + sizeof(char *);
	if (!copy)
		return err_set(err, ERR_MEMORY, "no memory for arguments");
	if (len + 1 > TEXT_BYTES_MAX || texts->bytes > texts->bytes_most) {
		free(copy);
		return err_set(err, ERR_TOO_BIG,
			"a process has at most 128 KiB in one argument or variable, and 1.9 MiB in all");
	}
	(void)snprintf(copy, len + 1, "%s", before);
	memcpy(copy + strlen(before), text.bytes, text.len);
	copy[len] = '\0';
	texts->list[texts->count++] = copy;
	return 0;
}

static struct span span_of(const char *text)
{
	return (struct span){ text, strlen(text) };
}

static size_t count_of(const char *const *list)
{
	size_t count = 0;

	while (list[count])
		count++;
	return count;
}

/*
 * The interpreter, its arguments, the program (never looking like an option), the job's arguments.
 */
static int make_argv(const struct command *command, const struct program *program,
	struct texts *texts, struct err *err)
{
	const char *dash = program->entrypoint.bytes[0] == '-' ? "./" : "";
	struct span rest = program->args;
	struct span text;

	if (texts_add(texts, span_of(command->interpreter), "", err) < 0)
		return -1;
	for (const char *const *arg = command->args; *arg; arg++)
		if (texts_add(texts, span_of(*arg), "", err) < 0)
			return -1;
	if (texts_add(texts, program->entrypoint, dash, err) < 0)
		return -1;
	while (program_next_text(&rest, &text))
		if (texts_add(texts, text, "", err) < 0)
			return -1;
	return 0;
}

static size_t key_len(struct span entry)
{
	const char *sign = entry.len ? memchr(entry.bytes, '=', entry.len) : NULL;

	return sign ? (size_t)(sign - entry.bytes) + 1 : entry.len;
}

/* Whether the job sets this variable itself. */
static int is_replaced(const char *entry, struct span env)
{
	struct span own;
	size_t len = key_len(span_of(entry));

	while (program_next_text(&env, &own))
		if (key_len(own) == len && memcmp(own.bytes, entry, len) == 0)
			return 1;
	return 0;
}

/* Variables that make a run deterministic: for programs that use the C library, and for bash. */
static const char *const steady_env[] = { "LD_PRELOAD=" TREE_AHEAD_DIR "/" STEADY_LIBRARY,
	"BASH_ENV=" TREE_AHEAD_DIR "/" STEADY_SCRIPT, NULL };

/* The library that gives bash its cells. */
static const char *const cells_env[] = { "LD_PRELOAD=" TREE_AHEAD_DIR "/" CELLS_LIBRARY, NULL };

#define TOOLS_BYTES_MAX 4096

/* The folders of tools that package sets add to the path: ":/sets/a/bin:/sets/b/bin", or "". */
static void find_tools(const struct program *program, char ret_tools[TOOLS_BYTES_MAX])
{
	struct span rest = program->packages;
	struct span name;
	size_t len = 0;

	ret_tools[0] = '\0';
	while (program_next_text(&rest, &name) && len < TOOLS_BYTES_MAX) {
		cut_printf(ret_tools + len, TOOLS_BYTES_MAX - len, ":" JAIL_SETS_DIR "/%.*s/bin",
			(int)name.len, name.bytes);
		len = strlen(ret_tools);
	}
}

static int add_env(const char *const *entries, const struct program *program, struct texts *texts,
	struct err *err)
{
	char tools[TOOLS_BYTES_MAX];

	find_tools(program, tools);
	for (const char *const *entry = entries; *entry; entry++) {
		bool is_path = strncmp(*entry, "PATH=", strlen("PATH=")) == 0;

		if (!is_replaced(*entry, program->env) &&
			texts_add(texts, span_of(is_path ? tools : ""), *entry, err) < 0)
			return -1;
	}
	return 0;
}

static int make_env(const struct command *command, const struct program *program,
	struct texts *texts, struct err *err)
{
	const char *const calls[] = { command->calls_env, NULL };
	struct span rest = program->env;
	struct span text;

	if (add_env(command->env, program, texts, err) < 0)
		return -1;
	if (add_env(calls, program, texts, err) < 0)
		return -1;
	if (program->flags & JOB_FLAG_DETERMINISTIC && add_env(steady_env, program, texts, err) < 0)
		return -1;
	if (program->flags & JOB_FLAG_SESSION && add_env(cells_env, program, texts, err) < 0)
		return -1;
	while (program_next_text(&rest, &text))
		if (texts_add(texts, text, "", err) < 0)
			return -1;
	return 0;
}

static void texts_done(struct texts *texts)
{
	for (size_t i = 0; i < texts->count; i++)
		free(texts->list[i]);
	free(texts->list);
}

static int prepare_argv(const struct command *command, const struct program *program,
	struct texts *argv, struct err *err)
{
	size_t most = count_of(command->args) + program->arg_count + 2;

	return texts_init(argv, most, TEXTS_BYTES_MAX, err) < 0 ||
			       make_argv(command, program, argv, err) < 0
		       ? -1
		       : 0;
}

static int prepare_env(const struct command *command, const struct program *program,
	size_t bytes_most, struct texts *env, struct err *err)
{
	size_t most = count_of(command->env) + 1 + count_of(steady_env) + count_of(cells_env) +
		      program->env_count;

	return texts_init(env, most, bytes_most, err) < 0 ||
			       make_env(command, program, env, err) < 0
		       ? -1
		       : 0;
}

int run_program_prepare(const struct command *command, const struct program *program,
	struct process_start *ret_start, struct err *err)
{
	struct texts argv = { .list = NULL };
	struct texts env = { .list = NULL };

	if (prepare_argv(command, program, &argv, err) < 0 ||
		prepare_env(command, program, TEXTS_BYTES_MAX - argv.bytes, &env, err) < 0) {
		texts_done(&argv);
		texts_done(&env);
		return -1;
	}
	*ret_start = (struct process_start){ argv.list, env.list };
	return 0;
}

/* ---- a worker ------------------------------------------------------------------------------ */

/*
 * Leaves the job socket open: high, where scripts have no descriptors of their own, if the limit on
 * open files allows that.  Returns `key` with its number.
 */
static const char *open_socket(const char *key)
{
	static char entry[SOCKET_ENTRY_MAX];
	int fd = fcntl(WORKER_JOB_FD, F_DUPFD, SOCKET_FD_LEAST);

	if (fd < 0)
		fd = fcntl(WORKER_JOB_FD, F_DUPFD, WORKER_JOB_FD + 1);
	(void)snprintf(entry, sizeof(entry), "%s%d", key, fd);
	return fd < 0 ? NULL : entry;
}

/* ---- sessions ------------------------------------------------------------------------------ */

/* Whether the job that comes opens a session.  It stays in the socket. */
static bool opens_session(void)
{
	struct {
		struct job_head head;
		struct job_body body;
	} peeked;
	ssize_t got;

	do
		got = recv(WORKER_JOB_FD, &peeked, sizeof(peeked), MSG_PEEK | MSG_WAITALL);
	while (got < 0 && errno == EINTR);
	return got == sizeof(peeked) && peeked.head.kind == JOB_START &&
	       (peeked.body.flags & JOB_FLAG_SESSION);
}

/* Starts the shell, in which the library takes the job (cells.c). */
__attribute__((noreturn)) static void start_session(const struct command *command, int file)
{
	struct span script = { CELLS_SCRIPT, strlen(CELLS_SCRIPT) };
	const struct program program = { .entrypoint = script, .flags = JOB_FLAG_SESSION };
	struct command own = *command;
	struct process_start start;
	struct err err = ERR_INIT;

	own.calls_env = open_socket(CELLS_ENV "=");
	if (!own.calls_env || program_forget_ahead(AT_FDCWD, file, &err) < 0 ||
		run_program_prepare(&own, &program, &start, &err) < 0)
		leave();
	execve(command->interpreter, start.argv, start.env);
	leave();
}

void run_program_take(const struct command *given, struct process_start *ret_start)
{
	struct command own = *given;
	struct joblink_job job = { .body = NULL };
	struct program program;
	struct err err = ERR_INIT;
	int file;

	file = program_file_ahead(AT_FDCWD);
	if (joblink_ready(WORKER_JOB_FD) < 0)
		leave();
	if (opens_session())
		start_session(&own, file);
	if (joblink_wait(WORKER_JOB_FD, &job, &err) < 0 ||
		program_parse(job.body, job.len, &program, &err) < 0)
		leave();
	if (program.tools.len || program.flags & JOB_FLAG_DISPLAY)
		own.calls_env = open_socket(CHANNEL_ENV "="); /* for ced-call and ced-display */
	if (program_write(&program, AT_FDCWD, file, &err) < 0 ||
		run_program_prepare(&own, &program, ret_start, &err) < 0 ||
		(job.fds[0] >= 0 && program_stdin(job.fds[0], -1, JAIL_TMP_DIR, &err) < 0))
		joblink_fail(WORKER_JOB_FD, err.text);
	joblink_forget(&job);
}

void run_program_begun(void)
{
	if (joblink_tell(WORKER_JOB_FD, JOB_BEGUN, 0, NULL, 0, NULL) < 0)
		leave();
}

void run_program_start(const char *interpreter, const struct process_start *start)
{
	execve(interpreter, start->argv, start->env);
	(void)dprintf(STDERR_FILENO, "%s: %s\n", interpreter, strerror(errno));
	child_exit(127);
}

void run_program(const struct command *command)
{
	struct process_start start;

	run_program_take(command, &start);
	run_program_begun();
	run_program_start(command->interpreter, &start);
}
