/*
 * What a shell may offer for the last of these words: from the tables of commands and options, from
 * the schema of the method that a command asks, and from the daemon, which gets half a second.
 *
 * The answer is one word a line, perhaps with a tab and its meaning.  Nothing goes to stderr,
 * because it would be printed into a line that somebody types.
 */
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "cli/base/exits.h"
#include "cli/commands/commands.h"
#include "cli/commands/job_options.h"
#include "cli/commands/words.h"
#include "cli/mcp/config.h"
#include "proto/base/container.h"
#include "proto/json.h"
#include "proto/method/method.h"

#define DAEMON_US   500000L
#define RUNS_LISTED 50

#define OPTION_WORD_MAX 64

struct completion {
	struct cli *cli;
	const char *prefix; /* what the word begins with */
	const char *before; /* what is printed in front of each answer: "--policy=" */
};

static const struct command *const commands[] = {
#define COMMAND_ROW(heading, name) &name##_command,
	COMMANDS(COMMAND_ROW)
#undef COMMAND_ROW
};

/* Names that callers choose are offered only if no shell reads anything else in them. */
static bool is_plain(const char *word)
{
	return *word && *word != '-' &&
	       strspn(word,
		       "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._:/@%+-") ==
		       strlen(word);
}

static void offer(const struct completion *completion, const char *word, const char *meaning)
{
	struct cli *cli = completion->cli;

	if (strncmp(word, completion->prefix, strlen(completion->prefix)) != 0)
		return;
	say(&cli->out, PAINT_PLAIN, "%s%s", completion->before, word);
	if (meaning && *meaning)
		say(&cli->out, PAINT_PLAIN, "\t%s", output_safe(&cli->arena, meaning));
	say(&cli->out, PAINT_PLAIN, "\n");
}

/* ---- from the daemon ------------------------------------------------------------------------- */

static void leave(int signal)
{
	(void)signal;
	_exit(EXIT_OK);
}

/* Whatever the daemon does: what was found until then is printed, and cectl ends. */
static void limit_time(struct cli *cli)
{
	const struct sigaction action = { .sa_handler = leave };
	const struct itimerval limit = { .it_value = { .tv_usec = DAEMON_US } };

	(void)fflush(cli->out.file);
	(void)sigaction(SIGALRM, &action, NULL);
	(void)setitimer(ITIMER_REAL, &limit, NULL);
}

/* A list of the daemon: which method has it, where, and which fields are word and meaning. */
struct source {
	const char *method, *list, *word, *meaning;
	const char *fixed; /* a word that may stand for one of them */
	const char *key;   /* one param, and its value */
	const char *value;
};

static const struct source runs = { "runs.list", "runs", "run_id", "outcome", "last", NULL, NULL };
static const struct source sessions = { "session.list", "sessions", "session", "language", NULL,
	NULL, NULL };
static const struct source policies = { "policies.list", "policies", "name", "description", NULL,
	NULL, NULL };
static const struct source languages = { "runtimes", "runtimes", "name", "language", NULL, NULL,
	NULL };
static const struct source agents = { "stats", "by", "key", NULL, NULL, "by", "agent" };

static void offer_list(const struct completion *completion, const struct source *source)
{
	struct cli *cli = completion->cli;
	struct value *params = value_map(&cli->arena);
	const struct value *answer = NULL;
	const struct value *list;
	struct err err = ERR_INIT;

	if (source->fixed)
		offer(completion, source->fixed, NULL);
	if (source == &runs)
		(void)value_map_put(
			&cli->arena, params, "limit", value_int(&cli->arena, RUNS_LISTED));
	if (source->key)
		(void)value_map_put(
			&cli->arena, params, source->key, value_text(&cli->arena, source->value));
	limit_time(cli);
	if (!value_ok(&cli->arena) ||
		cli_ask_quietly(cli, source->method, params, NULL, &answer, &err) != 0)
		return;
	list = value_get(answer, source->list);
	for (size_t i = 0; value_at(list, i); i++) {
		const char *word = value_as_text(value_get(value_at(list, i), source->word));

		if (word && is_plain(word))
			offer(completion, word,
				source->meaning
					? output_text(&cli->arena,
						  value_get(value_at(list, i), source->meaning))
					: NULL);
	}
}

/* ---- values ---------------------------------------------------------------------------------- */

/* One that is not complete yet: the shell goes on behind it. */
static void offer_limits(const struct completion *completion)
{
	struct arena *arena = &completion->cli->arena;

	for (size_t i = 0; i < JOB_LIMIT_COUNT; i++) {
		const char *word =
			arena_printf(arena, "%s=", limit_word(completion->cli, job_limit_names[i]));

		if (word)
			offer(completion, word, NULL);
	}
}

/* Names by commas: the last one is completed. */
static void offer_columns(const struct completion *completion)
{
	const char *comma = strrchr(completion->prefix, ',');
	size_t len = comma ? (size_t)(comma - completion->prefix) + 1 : 0;
	struct completion last = { completion->cli, completion->prefix + len,
		arena_printf(&completion->cli->arena, "%s%.*s", completion->before, (int)len,
			completion->prefix) };

	for (size_t i = 0; last.before && runs_column(i); i++)
		offer(&last, runs_column(i), NULL);
	if (last.before && !len)
		offer(&last, "all", NULL);
}

static void offer_clients(const struct completion *completion)
{
	for (size_t i = 0; config_client(i); i++)
		offer(completion, config_client(i), NULL);
}

static void offer_keys(const struct completion *completion)
{
	const struct value *all = config_keys(completion->cli);

	for (size_t i = 0; value_at(all, i); i++) {
		const char *key = value_as_text(value_get(value_at(all, i), "key"));

		if (key && is_plain(key))
			offer(completion, key,
				value_as_text(value_get(value_at(all, i), "meaning")));
	}
}

/* What an option or an operand is about, by its name or by what the help calls its value. */
static const struct {
	const char *command; /* NULL: any */
	const char *name;
	const struct source *source; /* a list of the daemon, ... */
	const char *words;           /* ... or these, ... */
	void (*offer)(const struct completion *completion);
} values[] = {
	{ NULL, "RUN", &runs, NULL, NULL },
	{ NULL, "SESSION", &sessions, NULL, NULL },
	{ NULL, "policy", &policies, NULL, NULL },
	{ NULL, "language", &languages, NULL, NULL },
	{ NULL, "agent", &agents, NULL, NULL },
	{ "policy", "NAME", &policies, NULL, NULL },
	{ "runtimes", "NAME", &languages, NULL, NULL },
	{ "run", "limit", NULL, NULL, offer_limits },
	{ "check", "limit", NULL, NULL, offer_limits },
	{ "session open", "limit", NULL, NULL, offer_limits },
	{ "repl", "limit", NULL, NULL, offer_limits },
	{ "runs", "columns", NULL, NULL, offer_columns },
	{ "mcp", "config", NULL, NULL, offer_clients },
	{ "config explain", "KEY", NULL, NULL, offer_keys },
	{ "config show", "KEY", NULL, NULL, offer_keys },
	{ "audit export", "format", NULL, "json ocsf otlp", NULL },
	{ "output", "stream", NULL, "stdout stderr stdin code", NULL },
};

/* The method whose schema has the words of a command that asks no method by itself. */
static const struct {
	const char *command, *method;
} asks[] = {
	{ "runs", "runs.list" },
	{ "stats", "stats" },
	{ "watch", "events.subscribe" },
	{ "session open", "session.open" },
};

static void offer_words(const struct completion *completion, const char *words)
{
	char word[OPTION_WORD_MAX];

	for (; *words; words += strcspn(words, " "), words += strspn(words, " ")) {
		cut_printf(word, sizeof(word), "%.*s", (int)strcspn(words, " "), words);
		offer(completion, word, NULL);
	}
}

static bool offer_value(
	const struct completion *completion, const struct command *command, const char *name)
{
	for (size_t i = 0; i < COUNT_OF(values); i++) {
		if (strcmp(values[i].name, name) == 0 &&
			(!values[i].command || strcmp(values[i].command, command->name) == 0)) {
			if (values[i].source)
				offer_list(completion, values[i].source);
			else if (values[i].words)
				offer_words(completion, values[i].words);
			else
				values[i].offer(completion);
			return true;
		}
	}
	return false;
}

static const struct method *schema_of(const struct command *command)
{
	for (size_t i = 0; i < COUNT_OF(asks); i++)
		if (strcmp(asks[i].command, command->name) == 0)
			return method_find(asks[i].method);
	return method_find(command->method ? command->method : "run");
}

/* The words that the schema allows for a param, or for the items of its list. */
static void offer_enum(
	const struct completion *completion, const struct command *command, const char *param)
{
	struct cli *cli = completion->cli;
	const struct method *method = schema_of(command);
	size_t len = 0;
	const char *text = method ? method_contract_text(method->params_file, &len) : NULL;
	struct value *schema = NULL;
	const struct value *property;
	const struct value *words;
	struct err err = ERR_INIT;

	if (!text || json_parse(&cli->arena, text, len, NULL, &schema, &err) < 0)
		return;
	property = value_get(value_get(schema, "properties"), param);
	words = value_get(property, "enum");
	if (!words)
		words = value_get(value_get(property, "items"), "enum");
	for (size_t i = 0; value_at(words, i); i++) {
		if (value_as_text(value_at(words, i)))
			offer(completion, value_as_text(value_at(words, i)), NULL);
	}
}

static void offer_option_value(const struct completion *completion, const struct command *command,
	const struct option_row *row)
{
	if (!offer_value(completion, command, row->name) &&
		!offer_value(completion, command, row->argument) && row->param)
		offer_enum(completion, command, row->param);
}

/* ---- operands -------------------------------------------------------------------------------- */

/* The next word of an operand's usage, without brackets and dots; "" at its end. */
static const char *usage_word(const char *usage, char *word, size_t size)
{
	size_t len;

	usage += strspn(usage, " []");
	len = strcspn(usage, " []");
	cut_printf(word, size, "%.*s", (int)len, usage);
	if (len > 3 && strcmp(word + len - 3, "...") == 0)
		word[len - 3] = '\0';
	return usage + len;
}

/* "list | show NAME | test FILE...": the first operand chooses, the others follow it. */
static void offer_choice(const struct completion *completion, const struct command *command,
	const struct words *operands)
{
	char word[64];

	for (const char *usage = command->operands; *usage;) {
		const char *end = usage + strcspn(usage, "|");

		usage = usage_word(usage, word, sizeof(word));
		if (operands->count == 0)
			offer(completion, word, NULL);
		else if (strcmp(operands->items[0], word) == 0) {
			for (size_t i = 0; i < operands->count && usage < end; i++)
				usage = usage_word(usage, word, sizeof(word));
			(void)offer_value(completion, command, word);
		}
		usage = *end ? end + 1 : end;
	}
}

static void offer_operand(const struct completion *completion, const struct command *command,
	const struct words *operands)
{
	const char *usage = command->operands;
	char word[64] = "";

	if (!usage || operands->count >= command->operand_most)
		return;
	if (usage[0] >= 'a' && usage[0] <= 'z') {
		offer_choice(completion, command, operands);
		return;
	}
	for (size_t i = 0; i <= operands->count && *usage; i++)
		usage = usage_word(usage, word, sizeof(word));
	(void)offer_value(completion, command, word);
}

/* ---- the line -------------------------------------------------------------------------------- */

static void offer_rows(const struct completion *completion, const struct command *command,
	const struct option_row *rows)
{
	char word[OPTION_WORD_MAX];

	for (; rows && rows->name; rows++) {
		cut_printf(word, sizeof(word), "--%s", rows->name);
		if (!command || options_common_fits(command, rows))
			offer(completion, word, rows->meaning);
	}
}

static const struct option_row *row_in(const struct option_row *rows, const char *word, size_t len)
{
	for (; rows && rows->name; rows++) {
		if (word[1] == '-' ? strlen(rows->name) == len - 2 &&
					     strncmp(rows->name, word + 2, len - 2) == 0
				   : len == 2 && rows->letter == word[1])
			return rows;
	}
	return NULL;
}

/* The option that these `len` bytes are, or NULL. */
static const struct option_row *option_of(
	const struct command *command, const char *word, size_t len)
{
	const struct option_row *row;

	if (len < 2 || word[0] != '-')
		return NULL;
	row = command ? row_in(command->options, word, len) : NULL;
	return row ? row : row_in(options_common(), word, len);
}

/* The second words of commands that begin with this one. */
static void offer_second_words(const struct completion *completion, const char *first)
{
	size_t len = strlen(first);

	for (size_t i = 0; i < COUNT_OF(commands); i++) {
		const char *name = commands[i]->name;

		if (strncmp(name, first, len) == 0 && name[len] == ' ')
			offer(completion, name + len + 1, commands[i]->summary);
	}
}

/* A first word of several commands has no summary. */
static void offer_first_words(const struct completion *completion)
{
	const char *last = "";

	for (size_t i = 0; i < COUNT_OF(commands); i++) {
		const char *name = commands[i]->name;
		size_t len = strcspn(name, " ");
		char *word = arena_copy(&completion->cli->arena, name, len);

		if (!word || strcmp(word, last) == 0)
			continue;
		offer(completion, word, name[len] ? NULL : commands[i]->summary);
		last = word;
	}
	offer(completion, "help", "about a command");
}

static void offer_commands(const struct completion *completion, const char *first)
{
	if (first[0])
		offer_second_words(completion, first);
	else
		offer_first_words(completion);
}

/* The words before the last one: what they name. */
struct line {
	const struct command *command;
	const char *first;              /* of a command of two words */
	const struct option_row *waits; /* an option whose value is the last word */
	bool rest;                      /* behind "--" */
	struct words operands;
};

static void take_operand(struct line *line, const char *word)
{
	char both[64];

	if (line->command) {
		line->operands.items[line->operands.count++] = word;
		return;
	}
	cut_printf(both, sizeof(both), "%s%s%s", line->first, *line->first ? " " : "", word);
	for (size_t i = 0; i < COUNT_OF(commands); i++) {
		if (strcmp(commands[i]->name, both) == 0)
			line->command = commands[i];
	}
	if (strcmp(word, "help") != 0)
		line->first = word;
}

static void read_line(struct line *line, const struct words *words)
{
	for (size_t i = 0; i + 1 < words->count && !line->rest; i++) {
		const char *word = words->items[i];

		if (line->waits) {
			line->waits = NULL;
		} else if (strcmp(word, "--") == 0) {
			line->rest = true;
		} else if (word[0] != '-' || !word[1]) {
			take_operand(line, word);
		} else {
			const struct option_row *row = option_of(line->command, word, strlen(word));

			line->waits = row && row->argument ? row : NULL;
		}
	}
}

/* "--policy=st": the answers are whole words. */
static bool complete_attached(
	struct completion *completion, const struct command *command, const char *word)
{
	size_t len = strcspn(word, "=");
	const struct option_row *row = word[len] ? option_of(command, word, len) : NULL;

	if (!row || !row->argument || !command)
		return false;
	completion->before = arena_printf(&completion->cli->arena, "%.*s", (int)len + 1, word);
	completion->prefix = word + len + 1;
	if (completion->before)
		offer_option_value(completion, command, row);
	return true;
}

static void complete_word(struct completion *completion, const struct line *line)
{
	const struct command *command = line->command;

	if (line->rest || (line->waits && !command) ||
		complete_attached(completion, command, completion->prefix))
		return;
	if (line->waits)
		offer_option_value(completion, command, line->waits);
	else if (completion->prefix[0] == '-') {
		offer_rows(completion, command, command ? command->options : NULL);
		offer_rows(completion, command, options_common());
	} else if (!command)
		offer_commands(completion, line->first);
	else
		offer_operand(completion, command, &line->operands);
}

static int complete_run(struct cli *cli)
{
	const struct words *words = &cli->given.rest;
	struct line line = { .first = "" };
	struct completion completion = { cli, "", "" };

	line.operands.items = arena_array(&cli->arena, const char *, words->count + 1);
	if (!line.operands.items)
		return EXIT_OK;
	if (words->count > 0)
		completion.prefix = words->items[words->count - 1];
	read_line(&line, words);
	complete_word(&completion, &line);
	return EXIT_OK;
}

/* For shells, so `cectl --help` does not list it. */
const struct command complete_command = {
	.name = "complete",
	.operands = "-- WORD...",
	.summary = "what a shell may offer for the last word",
	.about =
		"For the completion of shells: the words are those after cectl, the last one is not "
		"finished.  Each line of the answer is a word, perhaps with a tab and its meaning.",
	.takes_rest = true,
	.run = complete_run,
};
