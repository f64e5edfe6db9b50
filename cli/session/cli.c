#include "cli/session/cli.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "cli/base/exits.h"
#include "cli/session/offline.h"
#include "cli/session/refusal.h"

#define ANSWER_MS INT64_C(60000) /* for questions that start nothing */

static int own_status(const struct cli *cli)
{
	return cli->command->run_statuses ? EXIT_SERVICE : EXIT_FAILED;
}

int cli_document(struct cli *cli, const struct value *result, int status)
{
	struct err err = ERR_INIT;

	if (output_document(&cli->out, result, &err) == 0)
		return status;
	say(&cli->err, PAINT_PLAIN, "cectl: %s\n", err.text);
	return own_status(cli);
}

/* {"error": {"code": ..., "message": ...}}, so that --json always answers with a document. */
static void print_error_document(struct cli *cli, const struct value *error)
{
	struct value *document = value_map(&cli->arena);
	struct value *copy = arena_new(&cli->arena, struct value);

	if (copy && error)
		*copy = *error;
	if (value_map_put(&cli->arena, document, "error", copy) == 0)
		(void)cli_document(cli, document, 0);
}

static struct value *error_value(struct cli *cli, const char *code, const char *message)
{
	struct value *error = value_map(&cli->arena);

	if (value_map_put(&cli->arena, error, "code", value_text(&cli->arena, code)) < 0 ||
		value_map_put(&cli->arena, error, "message", value_text(&cli->arena, message)) < 0)
		return NULL;
	return error;
}

static int cli_tell(struct cli *cli, const char *code, const char *message, int status)
{
	if (cli->json)
		print_error_document(cli, error_value(cli, code, message));
	say(&cli->err, PAINT_PLAIN, "cectl: %s\n", output_safe(&cli->arena, message));
	return status;
}

int cli_fail(struct cli *cli, const struct err *err)
{
	return cli_tell(cli, err_word(err->code), err->text, own_status(cli));
}

int cli_no_memory(struct cli *cli)
{
	return cli_tell(cli, err_word(ERR_MEMORY), "not enough memory for this", own_status(cli));
}

int cli_usage(struct cli *cli, const char *format, ...)
{
	char text[ERR_TEXT_MAX];
	va_list args;

	va_start(args, format);
	cut_vprintf(text, sizeof(text), format, args);
	va_end(args);
	(void)cli_tell(cli, "usage", text, EXIT_USAGE);
	if (!cli->command) {
		say(&cli->err, PAINT_DIM, "       see cectl --help\n");
		return EXIT_USAGE;
	}
	say(&cli->err, PAINT_DIM, "       see cectl %s --help\n", cli->command->name);
	return cli->command->run_statuses ? EXIT_SERVICE : EXIT_USAGE;
}

const char *cli_more(struct cli *cli, const char *command, const char *run_id)
{
	const char *where = cli->store ? cli->store : cli->socket;
	const char *more = where ? arena_printf(&cli->arena, "cectl %s %s %s %s", command, run_id,
					   cli->store ? "--store" : "--socket",
					   output_safe(&cli->arena, where))
				 : arena_printf(&cli->arena, "cectl %s %s", command, run_id);

	return more ? more : "cectl show";
}

/* Advice for the user when no daemon answers. */
static int tell_no_daemon(struct cli *cli, const struct err *err)
{
	(void)cli_tell(cli, err_word(err->code), err->text, 0);
	if (err->code == ERR_CLOSED)
		say(&cli->err, PAINT_DIM,
			"       the host's service:  systemctl start ced\n"
			"       a private daemon:    ./dev run   (in the source folder)\n"
			"       another socket:      --socket PATH, or export CED_SOCKET=PATH\n");
	return err->code == ERR_BUSY && cli->command->run_statuses ? EXIT_BUSY : EXIT_SERVICE;
}

/* "--limit wall: must be ..." and true when an option caused the error, else "code: message" and false. */
static bool say_refusal(struct cli *cli, const struct value *error)
{
	const char *code = output_text(&cli->arena, value_get(error, "code"));
	const char *message = output_text(&cli->arena, value_get(error, "message"));
	const char *pointer =
		output_text(&cli->arena, value_get(value_get(error, "data"), "pointer"));
	const char *in_words = refusal_text(cli, pointer, message);

	say(&cli->err, PAINT_PLAIN, "cectl: ");
	if (in_words && strcmp(code, "bad_request") == 0) {
		say(&cli->err, PAINT_PLAIN, "%s", in_words);
		return true;
	}
	say(&cli->err, PAINT_RED, "%s", code[0] ? code : "error");
	if (in_words)
		message = in_words;
	else if (strncmp(message, pointer, strlen(pointer)) != 0) /* it usually says so itself */
		say(&cli->err, PAINT_PLAIN, ": %s", pointer);
	say(&cli->err, PAINT_PLAIN, ": %s", message);
	return false;
}

static int tell_refusal(struct cli *cli, const struct value *error)
{
	const struct value *data = value_get(error, "data");
	const char *pointer = output_text(&cli->arena, value_get(data, "pointer"));
	const char *advice =
		refusal_advice(pointer, output_text(&cli->arena, value_get(error, "message")));
	bool is_wrong_word;
	int64_t retry_ms = value_as_int(value_get(error, "retry_after_ms"),
		value_as_int(value_get(data, "retry_after_ms"), 0));

	if (cli->json)
		print_error_document(cli, error);
	is_wrong_word = say_refusal(cli, error);
	if (retry_ms > 0)
		say(&cli->err, PAINT_PLAIN, "  (try again in %" PRId64 " ms)", retry_ms);
	say(&cli->err, PAINT_PLAIN, "\n");
	if (advice)
		say(&cli->err, PAINT_DIM, "       %s\n", advice);
	if (cli->command->run_statuses)
		return exits_for_error(error);
	return is_wrong_word ? EXIT_USAGE : EXIT_FAILED;
}

static int call(struct cli *cli, const struct client_question *question,
	const struct value **ret_result, struct err *err)
{
	if (cli->store)
		return offline_call(cli, question->method, question->params, ret_result, err);
	return client_call(cli->client, question, &cli->arena, ret_result, err);
}

int cli_ask_failed(struct cli *cli, int status, const struct value *error, const struct err *err)
{
	if (status > 0)
		return tell_refusal(cli, error);
	if (!cli->store && !cli->client)
		return tell_no_daemon(cli, err);
	return cli_tell(cli, err_word(err->code), err->text, EXIT_SERVICE);
}

int cli_ask(struct cli *cli, const char *method, struct value *params,
	const struct client_watch *watch, const struct value **ret_result)
{
	struct err err = ERR_INIT;
	int status = cli_ask_quietly(cli, method, params, watch, ret_result, &err);

	return status == 0 ? 0 : cli_ask_failed(cli, status, status > 0 ? *ret_result : NULL, &err);
}

/* The connection is ours to use once the daemon has answered on it. */
static int open_client(struct cli *cli, struct err *err)
{
	struct client *client = client_open(client_socket_path(cli->socket, &cli->arena), err);

	if (!client)
		return -1;
	if (client_greet(client, cli->patience_ms, err) < 0) {
		client_close(client);
		return -1;
	}
	cli->client = client;
	return 0;
}

int cli_ask_quietly(struct cli *cli, const char *method, const struct value *params,
	const struct client_watch *watch, const struct value **ret_result, struct err *err)
{
	static const struct client_watch patient = { .timeout_ms = ANSWER_MS };
	const struct client_question question = { method, params, watch ? watch : &patient };

	if (!cli->store && !cli->client && open_client(cli, err) < 0)
		return -1;
	return call(cli, &question, ret_result, err);
}
