#include "cli/session/cli.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/exits.h"
#include "cli/session/offline.h"
#include "proto/base/container.h"

#define ANSWER_MS      INT64_C(60000) /* for questions that start nothing */
#define KEY_MAX        64
#define SCHEMA_OF_TOOL "/input_schema"
#define PATTERN        "must match the pattern"
#define LIST_METHOD    "session.list" /* which has a command of the same words */

static int own_status(const struct cli *cli)
{
	return cli->command->run_statuses ? EXIT_SERVICE : EXIT_FAILED;
}

static int print_document(struct cli *cli, const struct value *result, int status)
{
	struct err err = ERR_INIT;

	if (output_document(&cli->out, result, &err) == 0)
		return status;
	say(&cli->err, PAINT_PLAIN, "cectl: %s\n", err.text);
	return own_status(cli);
}

int cli_document(struct cli *cli, const struct value *result, int status)
{
	if (!result || !value_ok(&cli->arena))
		return cli_no_memory(cli);
	return print_document(cli, result, status);
}

/* {"error": {"code": ..., "message": ...}}, so that --json always answers with a document. */
static void print_error_document(struct cli *cli, const struct value *error)
{
	struct value *document = value_map(&cli->arena);
	struct value *copy = arena_new(&cli->arena, struct value);

	if (copy && error)
		*copy = *error;
	if (value_map_put(&cli->arena, document, "error", copy) == 0)
		(void)print_document(cli, document, 0);
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

int cli_fail_with(struct cli *cli, enum err_code code, const char *format, ...)
{
	struct err err = { .code = code };
	va_list args;

	va_start(args, format);
	cut_vprintf(err.text, sizeof(err.text), format, args);
	va_end(args);
	return cli_fail(cli, &err);
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

/* ---- a refused request in the words of the command line ------------------------------------ */

/* The first part of "/limits/memory_bytes", and the rest. */
static const char *cut_key(const char *pointer, char ret_key[KEY_MAX])
{
	size_t len = strcspn(pointer + 1, "/");

	cut_printf(ret_key, KEY_MAX, "%.*s", (int)(len < KEY_MAX ? len : KEY_MAX - 1), pointer + 1);
	return pointer + 1 + len;
}

/* "on_output_limit" is --on-output-limit, "files" and "labels" are --file and --label. */
static bool is_option(const char *name, const char *key)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < len; i++) {
		if (key[i] != name[i] && !(key[i] == '_' && name[i] == '-'))
			return false;
	}
	return key[len] == '\0' || strcmp(key + len, "s") == 0;
}

static const char *option_for(const struct command *command, const char *key)
{
	for (const struct option_row *row = command->options; row && row->name; row++) {
		if ((row->param && strcmp(row->param, key) == 0) || is_option(row->name, key))
			return row->name;
	}
	return NULL;
}

/* "/memory_bytes" is "memory", as --limit takes it. */
static const char *limit_word(struct cli *cli, const char *rest)
{
	static const char *const units[] = { "_ms", "_bytes" };
	size_t len = strlen(rest);

	for (size_t i = 0; i < COUNT_OF(units); i++) {
		size_t unit_len = strlen(units[i]);

		if (len > unit_len && strcmp(rest + len - unit_len, units[i]) == 0)
			return arena_copy(&cli->arena, rest + 1, len - unit_len - 1);
	}
	return len > 0 ? rest + 1 : "";
}

/* The Nth word that an option got, by "/N...", or else the one that counts, the last; NULL: there is none. */
static const char *given_word(struct cli *cli, const char *option, const char *rest)
{
	const struct words *words = cli_words(cli, option);
	size_t last = words->count ? words->count - 1 : 0;
	size_t index = rest[0] == '/' ? strtoul(rest + 1, NULL, 10) : last;

	return index < words->count ? words->items[index] : NULL;
}

/* "--tool NAME", or "--tool-schema NAME, at /type" for "/0/input_schema/type". */
static const char *tool_word(struct cli *cli, const char *rest)
{
	const char *word = rest[0] == '/' ? given_word(cli, "tool", rest) : NULL;
	const char *name = word ? arena_copy(&cli->arena, word, strcspn(word, "=")) : NULL;
	const char *at = strstr(rest, SCHEMA_OF_TOOL);

	if (!name)
		return "--tool";
	name = output_safe(&cli->arena, name);
	if (!at)
		return arena_printf(&cli->arena, "--tool %s", name);
	at += strlen(SCHEMA_OF_TOOL);
	return arena_printf(&cli->arena, "--tool-schema %s%s%s", name, *at ? ", at " : "", at);
}

/* Which word of the command line is meant: "--limit memory", "RUN". */
static const char *word_for(struct cli *cli, const char *pointer)
{
	char key[KEY_MAX];
	const char *rest = cut_key(pointer, key);
	const char *option = option_for(cli->command, key);

	if (strcmp(key, "run_id") == 0)
		return "RUN";
	if (strcmp(key, "code") == 0 && option)
		return "the program";
	if (strcmp(key, "args") == 0 && cli->command->takes_rest)
		return "the arguments behind --";
	if (cli->has_timeout && strcmp(pointer, "/limits/wall_ms") == 0)
		return "--timeout";
	if (strcmp(key, "limits") == 0 && option)
		return arena_printf(&cli->arena, "--limit %s", limit_word(cli, rest));
	if (!option)
		return NULL;
	if (strcmp(option, "tool") == 0)
		return tool_word(cli, rest);
	return strcmp(key, "schema") == 0 && rest[0]
		       ? arena_printf(&cli->arena, "--%s, at %s", option, rest)
		       : arena_printf(&cli->arena, "--%s", option);
}

/* A number at the end, in the unit that the key's name says. */
static const char *with_units(struct cli *cli, const char *pointer, const char *message)
{
	const char *number = message + strcspn(message, "0123456789");
	const char *slash = strrchr(pointer, '/');
	const struct value *value;

	if (!slash || !*number || strspn(number, "0123456789") != strlen(number) ||
		strlen(number) > 18)
		return message;
	value = value_int(&cli->arena, strtoll(number, NULL, 10));
	return arena_printf(&cli->arena, "%.*s%s", (int)(number - message), message,
		output_number(&cli->arena, slash + 1, value));
}

/* Patterns of the protocol's schemas, in words. */
static const struct {
	const char *pattern, *rule;
} rules[] = {
	{ "^[0-7][0-9A-HJKMNP-TV-Z]{25}$",
		"it is not a whole id, which has 26 digits and capital letters" },
	{ "^[A-Za-z][A-Za-z0-9_]{0,63}$",
		"write a name of up to 64 letters, digits and _, which begins with a letter" },
	{ "^[A-Za-z0-9._-]{1,32}$", "write a name of up to 32 letters, digits, . _ and -" },
	{ "^[a-z0-9-]{1,32}$", "write a name of up to 32 small letters, digits and -" },
	{ "^[a-z0-9][a-z0-9._-]{0,30}$",
		"write a name of up to 31 small letters, digits, . _ and -, which begins with a letter or digit" },
	{ "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$",
		"write a name of up to 64 letters, digits, . _ and -, which begins with a letter or digit" },
	{ "^sha256:[0-9a-f]{64}$", "write sha256: and 64 digits, of 0 to 9 and a to f" },
};

/* The rule that a message with a pattern is about, or NULL. */
static const char *rule_of(const char *message)
{
	size_t front = strlen(PATTERN " \"");

	if (strncmp(message, PATTERN " \"", front) != 0)
		return NULL;
	for (size_t i = 0; i < COUNT_OF(rules); i++) {
		size_t len = strlen(rules[i].pattern);

		if (strncmp(message + front, rules[i].pattern, len) == 0 &&
			strcmp(message + front + len, "\"") == 0)
			return rules[i].rule;
	}
	return NULL;
}

/* An operand that breaks a rule, or NULL: 'SESSION "zz"'. */
static const char *operand_word(struct cli *cli, const char *pointer)
{
	static const char *const names[][2] = { { "/session", "SESSION" }, { "/name", "NAME" } };

	for (size_t i = 0; i < COUNT_OF(names); i++) {
		const char *given = cli_operand(cli, i + 1);

		if (strcmp(pointer, names[i][0]) == 0)
			return given ? arena_printf(&cli->arena, "%s \"%s\"", names[i][1],
					       output_safe(&cli->arena, given))
				     : names[i][1];
	}
	return NULL;
}

/* Such a word with what it was given, or the word. */
static const char *with_given(struct cli *cli, const char *pointer, const char *word)
{
	char key[KEY_MAX];
	const char *rest = cut_key(pointer, key);
	const char *option = option_for(cli->command, key);
	const char *given =
		option && strcmp(option, "tool") != 0 ? given_word(cli, option, rest) : NULL;

	return given ? arena_printf(&cli->arena, "%s \"%s\"", word, output_safe(&cli->arena, given))
		     : word;
}

const char *cli_refusal(struct cli *cli, const char *pointer, const char *message)
{
	size_t len = strlen(pointer);
	const char *word = pointer[0] == '/' ? word_for(cli, pointer) : NULL;
	const char *rule;

	if (strncmp(message, pointer, len) == 0 && strncmp(message + len, ": ", 2) == 0)
		message += len + 2;
	rule = rule_of(message);
	if (rule)
		word = word ? with_given(cli, pointer, word) : operand_word(cli, pointer);
	if (!word)
		return NULL;
	if (strcmp(word, "RUN") == 0 && strncmp(message, PATTERN, strlen(PATTERN)) == 0)
		message = "not a name that a run can have";
	else if (rule)
		message = rule;
	return arena_printf(&cli->arena, "%s: %s", word,
		output_safe(&cli->arena, with_units(cli, pointer, message)));
}

/* What to type after an error: where it points to, and what its message has. */
static const struct {
	const char *place; /* the beginning of the pointer */
	const char *words;
	const char *advice;
} advices[] = {
	{ "/limits/", "must be at most ",
		"cectl runtimes shows what you may ask for; an administrator can raise it with "
		"the setting \"most\"" },
	{ "/files/", "blob.put", "cectl put FILE sends it" },
	{ "", "say what is to be kept", /* the error of admin.gc without these keys */
		"cectl gc --older-than 90d, --keep-runs N or --keep-size 10G; with --dry-run it "
		"only says what would leave" },
	{ "", "message has more than ",
		"the program, its stdin, its input and its files go in one message: cectl put FILE "
		"sends a file before the run" },
	{ "", " has no stream ", "cectl show RUN lists its files and artifacts" },
	{ "", LIST_METHOD " shows those that are",
		"cectl session open --states N keeps more of them, and cectl session keep pins one" },
	{ "/session", PATTERN, "cectl session list shows the ids of open sessions" },
	{ "/run_id", "", "RUN is an id, any unique beginning of one, last, or last~N" },
};

const char *cli_advice(const char *pointer, const char *message)
{
	for (size_t i = 0; i < COUNT_OF(advices); i++)
		if (strncmp(pointer, advices[i].place, strlen(advices[i].place)) == 0 &&
			strstr(message, advices[i].words))
			return advices[i].advice;
	return NULL;
}

/* "cectl session list shows those that are" */
static const char *with_command(struct cli *cli, const char *message)
{
	const char *method = strstr(message, LIST_METHOD);

	if (!method)
		return message;
	return arena_printf(&cli->arena, "%.*scectl session list%s", (int)(method - message),
		message, method + strlen(LIST_METHOD));
}

/*
 * "--limit wall: must be ..." and true when an option caused the error, else "code: message" and
 * false.
 */
static bool say_refusal(struct cli *cli, const struct value *error)
{
	const char *code = output_text(&cli->arena, value_get(error, "code"));
	const char *message = output_text(&cli->arena, value_get(error, "message"));
	const char *pointer =
		output_text(&cli->arena, value_get(value_get(error, "data"), "pointer"));
	const char *in_words = cli_refusal(cli, pointer, message);

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
	say(&cli->err, PAINT_PLAIN, ": %s", with_command(cli, message));
	return false;
}

static int tell_refusal(struct cli *cli, const struct value *error)
{
	const struct value *data = value_get(error, "data");
	const char *pointer = output_text(&cli->arena, value_get(data, "pointer"));
	const char *advice =
		cli_advice(pointer, output_text(&cli->arena, value_get(error, "message")));
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

/* ---- asking -------------------------------------------------------------------------------- */

/* The copy of a store is opened by the first question. */
static int call_copy(struct cli *cli, const struct client_question *question,
	const struct value **ret_result, struct err *err)
{
	if (!offline_can_answer(question->method))
		return err_set(err, ERR_UNSUPPORTED,
			"%s needs a daemon: a copy of a store only answers about runs that were",
			cli->command->name);
	return offline_call(cli->store, &cli->copy, question, &cli->arena, ret_result, err);
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
	int status;

	if (!params || !value_ok(&cli->arena))
		return cli_no_memory(cli);
	status = cli_ask_quietly(cli, method, params, watch, ret_result, &err);
	return status == 0 ? 0 : cli_ask_failed(cli, status, status > 0 ? *ret_result : NULL, &err);
}

/* A connection on which the daemon did not answer `hello` is no connection. */
static int call_daemon(struct cli *cli, const struct client_question *question,
	const struct value **ret_result, struct err *err)
{
	int status;

	if (!cli->client) {
		cli->client = client_open(client_socket_path(cli->socket, &cli->arena), err);
		if (!cli->client)
			return -1;
		client_greet(cli->client, cli->patience_ms);
	}
	status = client_call(cli->client, question, &cli->arena, ret_result, err);
	if (!client_is_welcome(cli->client)) {
		client_close(cli->client);
		cli->client = NULL;
	}
	return status;
}

int cli_ask_quietly(struct cli *cli, const char *method, const struct value *params,
	const struct client_watch *watch, const struct value **ret_result, struct err *err)
{
	static const struct client_watch patient = { .timeout_ms = ANSWER_MS };
	const struct client_question question = { method, params, watch ? watch : &patient };

	return cli->store ? call_copy(cli, &question, ret_result, err)
			  : call_daemon(cli, &question, ret_result, err);
}

/* ---- the command line ---------------------------------------------------------------------- */

const struct words *cli_words(const struct cli *cli, const char *option)
{
	return parsed_words(&cli->given, option);
}

const char *cli_text(const struct cli *cli, const char *option)
{
	return parsed_text(&cli->given, option);
}

bool cli_flag(const struct cli *cli, const char *option)
{
	return parsed_flag(&cli->given, option);
}

const char *cli_operand(const struct cli *cli, size_t index)
{
	return index < cli->given.operands.count ? cli->given.operands.items[index] : NULL;
}

/* NAME=VALUE: 0, or -1 with *err. */
static int put_pair(struct arena *arena, struct value *map, const char *word, struct err *err)
{
	const char *equals = strchr(word, '=');
	size_t len = equals ? (size_t)(equals - word) : 0;

	if (!len)
		return err_set(err, ERR_INVALID, "%s: it is written as NAME=VALUE", word);
	if (value_get_len(map, word, len))
		return err_set(err, ERR_INVALID, "%.*s is given twice", (int)len, word);
	(void)value_map_put_len(arena, map, word, len, value_text(arena, equals + 1));
	return 0;
}

static struct value *word_value(
	struct arena *arena, const struct option_row *row, const char *word, struct err *err)
{
	return row->value ? row->value(arena, word, err) : value_text(arena, word);
}

/* The value of a row that was given; NULL with *err. */
static struct value *row_value(struct arena *arena, const struct option_row *row,
	const struct words *words, struct err *err)
{
	struct value *all = row->kind == OPTION_MAP ? value_map(arena) : value_list(arena);

	if (row->kind == OPTION_FLAG)
		return value_bool(arena, true);
	if (row->kind == OPTION_TEXT || row->kind == OPTION_ONCE)
		return word_value(arena, row, words->items[words->count - 1], err);
	for (size_t i = 0; i < words->count && !err->code; i++) {
		if (row->kind == OPTION_MAP)
			(void)put_pair(arena, all, words->items[i], err);
		else
			(void)value_list_add(
				arena, all, word_value(arena, row, words->items[i], err));
	}
	return all;
}

int cli_put_options(struct cli *cli, struct value *params)
{
	const struct command *command = cli->command;
	const char *operand = cli_operand(cli, 0);
	struct err err = ERR_INIT;
	struct value *value;

	for (const struct option_row *row = command->options; row && row->name; row++) {
		const struct words *words = &cli->given.given[row - command->options];

		if (!row->param || !words->count)
			continue;
		value = row_value(&cli->arena, row, words, &err);
		if (err.code)
			return cli_usage(cli, row->kind == OPTION_MAP ? "--%s %s" : "--%s: %s",
				row->name, err.text);
		(void)value_map_put(&cli->arena, params, row->param, value);
	}
	if (!command->operand_param || !operand)
		return 0;
	value = command->operand_value ? command->operand_value(&cli->arena, operand, &err)
				       : value_text(&cli->arena, operand);
	if (err.code)
		return cli_usage(cli, "%s", err.text);
	(void)value_map_put(&cli->arena, params, command->operand_param, value);
	return 0;
}

int cli_run(struct cli *cli)
{
	static const struct client_watch patient = { .timeout_ms = 0 };
	const struct command *command = cli->command;
	struct value *params = value_map(&cli->arena);
	const struct value *result = NULL;
	int status;

	if (command->run)
		return command->run(cli);
	status = cli_put_options(cli, params);
	if (status == 0)
		status = cli_ask(cli, command->method, params,
			command->takes_long ? &patient : NULL, &result);
	if (status != 0)
		return status;
	status = command->status ? command->status(result) : EXIT_OK;
	if (cli->json)
		return cli_document(cli, result, status);
	command->show(cli, result);
	return status;
}
