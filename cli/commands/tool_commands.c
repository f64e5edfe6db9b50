#include "cli/commands/tool_commands.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/base/interrupt.h"
#include "cli/base/source.h"
#include "proto/base/buf.h"
#include "proto/base/cleanup.h"
#include "proto/base/clock.h"
#include "proto/base/fdio.h"
#include "proto/fill.h"
#include "proto/json.h"

#define OUTPUT_MAX  ((size_t)16 << 20) /* of a command; the daemon's limit is lower */
#define ARENA_BYTES ((size_t)256 << 20)
#define LOOK_MS     250

/* ---- the offer ------------------------------------------------------------------------------ */

/* The part behind "NAME=" of a word that begins with it; NULL: it does not. */
static const char *behind_name(const char *word, const char *name, size_t len)
{
	return strncmp(word, name, len) == 0 && word[len] == '=' ? word + len + 1 : NULL;
}

/* A schema is JSON, or the name of a file with it. */
static int read_schema(
	struct cli *cli, const char *word, struct value **ret_schema, struct err *err)
{
	struct source source = { word, strlen(word) };

	if (word[0] != '{' && strcmp(word, "true") != 0 && strcmp(word, "false") != 0 &&
		source_read(&cli->arena, word, &source, err) < 0)
		return -1;
	return source_json(&cli->arena, source.bytes, source.len, ret_schema, err);
}

/* Without --tool-schema a tool takes any map. */
static int put_schema(struct cli *cli, struct fill *tool, const char *name, struct err *err)
{
	const struct words *schemas = cli_words(cli, "tool-schema");
	struct fill any = fill_start(&cli->arena);
	struct value *schema = NULL;

	for (size_t i = 0; i < schemas->count && !schema; i++) {
		const char *word = behind_name(schemas->items[i], name, strlen(name));

		if (word && read_schema(cli, word, &schema, err) < 0)
			return err_wrap(err, "--tool-schema %s", name);
	}
	fill_text(&any, "type", "object");
	fill_value(tool, "input_schema", schema ? schema : fill_done(&any));
	return 0;
}

/* What a command changes is unknown, so each call is on the disk before it runs. */
static int add_tool(struct cli *cli, struct value *tools, const char *word, struct err *err)
{
	struct fill tool = fill_start(&cli->arena);
	const char *equals = strchr(word, '=');
	const char *name;

	if (!equals || equals == word || !equals[1])
		return err_set(err, ERR_INVALID, "--tool %s: it is written as NAME=COMMAND", word);
	name = arena_copy(&cli->arena, word, (size_t)(equals - word));
	if (!name)
		return err_set(err, ERR_MEMORY, "no memory");
	fill_text(&tool, "name", name);
	fill_bool(&tool, "effects", true);
	if (put_schema(cli, &tool, name, err) < 0)
		return -1;
	return value_list_add(&cli->arena, tools, fill_done(&tool)) < 0
		       ? err_set(err, ERR_MEMORY, "no memory")
		       : 0;
}

static bool is_offered(const struct cli *cli, const char *schema)
{
	const struct words *tools = cli_words(cli, "tool");
	const char *equals = strchr(schema, '=');

	for (size_t i = 0; equals && i < tools->count; i++)
		if (behind_name(tools->items[i], schema, (size_t)(equals - schema)))
			return true;
	return false;
}

int tool_commands_put(struct cli *cli, struct value *params)
{
	const struct words *tools = cli_words(cli, "tool");
	const struct words *schemas = cli_words(cli, "tool-schema");
	struct value *list = value_list(&cli->arena);
	struct err err = ERR_INIT;

	for (size_t i = 0; i < schemas->count; i++)
		if (!is_offered(cli, schemas->items[i]))
			return cli_usage(cli, "--tool-schema %s: there is no --tool of this name",
				schemas->items[i]);
	for (size_t i = 0; i < tools->count; i++)
		if (add_tool(cli, list, tools->items[i], &err) < 0)
			return cli_usage(cli, "%s", err.text);
	if (tools->count)
		(void)value_map_put(&cli->arena, params, "tools", list);
	return 0;
}

/* ---- running a command ---------------------------------------------------------------------- */

/* The arguments as a file, so that nobody has to read and write at once. */
static int input_file(struct bytes text, struct err *err)
{
	auto_fd int fd = memfd_create("arguments", MFD_CLOEXEC);

	if (fd < 0)
		return err_sys(err, "arguments");
	if (write_all(fd, text.data, text.len, err) < 0)
		return -1;
	if (lseek(fd, 0, SEEK_SET) < 0)
		return err_sys(err, "arguments");
	return take_fd(&fd);
}

/* A group of its own, so that all of it can be ended. */
__attribute__((noreturn)) static void be_command(const char *command, int input, int output)
{
	(void)setpgid(0, 0);
	if (dup2(input, STDIN_FILENO) < 0 || dup2(output, STDOUT_FILENO) < 0)
		_exit(126);
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

static pid_t start(const char *command, struct bytes args, int *ret_output, struct err *err)
{
	auto_fd int input = input_file(args, err);
	int ends[2];
	pid_t pid;

	if (input < 0)
		return -1;
	if (pipe2(ends, O_CLOEXEC) < 0)
		return err_sys(err, "a pipe");
	pid = fork();
	if (pid == 0)
		be_command(command, input, ends[1]);
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		return err_sys(err, "fork");
	}
	*ret_output = ends[0];
	return pid;
}

/* Reads once.  NULL, or why the command is ended.  *ret_end: it has closed its output. */
static const char *read_piece(int fd, struct buf *output, bool *ret_end)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
	ssize_t got;

	if (poll(&poll_fd, 1, LOOK_MS) <= 0)
		return NULL;
	if (buf_reserve(output, 4096) < 0)
		return "the command prints too much";
	got = read(fd, output->bytes + output->len, output->size - output->len);
	if (got < 0 && errno != EINTR)
		return "its output cannot be read";
	*ret_end = got == 0;
	output->len += got > 0 ? (size_t)got : 0;
	return NULL;
}

/* The daemon answers such a call itself. */
static const char too_late[] = "the command did not end in time";

/* Reads until the command has closed its output.  NULL, or why it is ended before. */
static const char *read_output(int fd, int64_t until_us, struct buf *output)
{
	const char *why = NULL;
	bool end = false;

	while (!end && !why) {
		if (interrupt_noted())
			return "cectl was interrupted";
		if (clock_wall_us() >= until_us)
			return too_late;
		why = read_piece(fd, output, &end);
	}
	return why;
}

/* NULL, or why the call failed. */
static const char *run_command(struct arena *arena, const char *command, struct bytes args,
	int64_t until_us, struct buf *output)
{
	struct err err = ERR_INIT;
	auto_fd int fd = -1;
	const char *why;
	int status = 0;
	pid_t pid = start(command, args, &fd, &err);

	if (pid < 0)
		return arena_strdup(arena, err.text);
	why = read_output(fd, until_us, output);
	if (why)
		(void)kill(-pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (why)
		return why;
	if (WIFSIGNALED(status))
		return arena_printf(arena, "the command was ended by signal %d", WTERMSIG(status));
	if (WEXITSTATUS(status))
		return arena_printf(
			arena, "the command ended with exit status %d", WEXITSTATUS(status));
	return NULL;
}

/* ---- the answer ----------------------------------------------------------------------------- */

static const char *command_of(const struct cli *cli, const char *tool)
{
	const struct words *tools = cli_words(cli, "tool");

	for (size_t i = 0; tool && i < tools->count; i++) {
		const char *command = behind_name(tools->items[i], tool, strlen(tool));

		if (command)
			return command;
	}
	return NULL;
}

/* JSON, or else the text without its last line break.  NULL, or why there is none. */
static const char *read_result(
	struct arena *arena, const struct buf *output, struct value **ret_result)
{
	size_t len = output->len && output->bytes[output->len - 1] == '\n' ? output->len - 1
									   : output->len;
	struct err err = ERR_INIT;

	if (output->len &&
		json_parse(arena, output->bytes, output->len, NULL, ret_result, &err) == 0)
		return NULL;
	if (output->len && err.code == ERR_TOO_BIG)
		return arena_printf(arena, "the command's JSON cannot be read: %s", err.text);
	*ret_result = value_text_len(arena, len ? output->bytes : "", len);
	return NULL;
}

/* NULL, or why the call failed. */
static const char *answer_of(struct cli *cli, struct arena *arena, const struct value *call,
	struct buf *output, struct value **ret_result)
{
	const char *command = command_of(cli, value_as_text(value_get(call, "tool")));
	struct bytes args = { NULL, 0 };
	const char *why;

	if (!command)
		return "cectl offers no such tool";
	if (json_write_text(arena, value_get(call, "args"), JSON_WRITE_COMPACT, OUTPUT_MAX, &args,
		    NULL) < 0)
		return "the arguments cannot be written";
	why = run_command(
		arena, command, args, value_as_int(value_get(call, "deadline_us"), 0), output);
	return why ? why : read_result(arena, output, ret_result);
}

int tool_commands_answer(struct cli *cli, const struct value *call, struct err *err)
{
	struct value *result = NULL;
	struct arena arena;
	struct fill which;
	struct buf output;
	const char *why;
	int status = 0;

	arena_init(&arena, ARENA_BYTES);
	buf_init(&output, OUTPUT_MAX);
	which = fill_start(&arena);
	fill_shared(&which, "run_id", value_get(call, "run_id"));
	fill_shared(&which, "call", value_get(call, "call"));
	why = answer_of(cli, &arena, call, &output, &result);
	if (!fill_done(&which) || (!why && !result))
		status = err_set(err, ERR_MEMORY, "no memory for the answer of a tool");
	else if (why != too_late)
		status = client_answer_call(cli->client, fill_done(&which), result, why, err);
	buf_done(&output);
	arena_done(&arena);
	return status;
}
