#include "cli/session/refusal.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/units.h"
#include "cli/session/page.h"
#include "proto/base/container.h"

#define KEY_MAX      64
#define PATTERN      "must match the pattern"
#define AT_MOST      "must be at most "
#define TOO_LONG     "message has more than "
#define NOTHING_KEPT "say what is to be kept" /* the error of admin.gc without these keys */

/* Keys of the protocol whose option has another name. */
static const struct {
	const char *key;
	const char *option;
} others[] = {
	{ "timeout_ms", "timeout" },
	{ "ttl_ms", "ttl" },
	{ "older_than_s", "older-than" },
	{ "keep_bytes", "keep-size" },
	{ "secrets", "secret" },
};

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
	for (size_t i = 0; i < COUNT_OF(others); i++) {
		if (strcmp(others[i].key, key) == 0)
			key = others[i].option;
	}
	for (const struct option_row *row = command->options; row && row->name; row++) {
		if (is_option(row->name, key))
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
		page_number(cli, slash + 1, value));
}

const char *refusal_text(struct cli *cli, const char *pointer, const char *message)
{
	size_t len = strlen(pointer);
	const char *word = pointer[0] == '/' ? word_for(cli, pointer) : NULL;

	if (!word)
		return NULL;
	if (strncmp(message, pointer, len) == 0 && strncmp(message + len, ": ", 2) == 0)
		message += len + 2;
	if (strcmp(word, "RUN") == 0 && strncmp(message, PATTERN, strlen(PATTERN)) == 0)
		message = "not a name that a run can have";
	return arena_printf(&cli->arena, "%s: %s", word,
		output_safe(&cli->arena, with_units(cli, pointer, message)));
}

const char *refusal_advice(const char *pointer, const char *message)
{
	if (strncmp(pointer, "/limits/", 8) == 0 && strstr(message, AT_MOST))
		return "cectl runtimes shows what you may ask for; an administrator can raise it with "
		       "the setting \"most\"";
	if (strncmp(pointer, "/files/", 7) == 0 && strstr(message, "blob.put"))
		return "cectl put FILE sends it";
	if (strstr(message, NOTHING_KEPT))
		return "cectl gc --older-than 90d, --keep-runs N or --keep-size 10G; with --dry-run it "
		       "only says what would leave";
	if (strncmp(message, TOO_LONG, strlen(TOO_LONG)) == 0)
		return "the program, its stdin, its input and its files go in one message: cectl put FILE "
		       "sends a file before the run";
	if (strcmp(pointer, "/run_id") == 0)
		return "RUN is an id, any unique beginning of one, last, or last~N";
	return NULL;
}
