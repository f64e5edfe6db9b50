#include "cli/commands/filters.h"

#include <string.h>

#include "cli/base/language.h"
#include "cli/base/times.h"
#include "cli/base/users.h"
#include "proto/base/clock.h"

static int put_text(struct cli *cli, struct value *params, const char *key, const char *text)
{
	if (!text)
		return 0;
	return value_map_put(&cli->arena, params, key, value_text(&cli->arena, text));
}

static int put_int(struct cli *cli, struct value *params, const char *key, int64_t integer)
{
	return value_map_put(&cli->arena, params, key, value_int(&cli->arena, integer));
}

/* 0, or the exit status. */
static int put_language(struct cli *cli, struct value *params, const char *text)
{
	struct err err = ERR_INIT;

	if (text && language_check(text, &err) < 0)
		return cli_usage(cli, "--language: %s", err.text);
	return put_text(cli, params, "language", text) < 0 ? cli_no_memory(cli) : 0;
}

/* 0, or the exit status. */
static int put_time(struct cli *cli, struct value *params, const char *option, const char *key,
	const char *text)
{
	struct err err = ERR_INIT;
	int64_t us = 0;

	if (!text)
		return 0;
	if (times_parse(text, clock_wall_us(), &us, &err) < 0)
		return cli_usage(cli, "%s: %s", option, err.text);
	return put_int(cli, params, key, us) < 0 ? cli_no_memory(cli) : 0;
}

static int put_uid(struct cli *cli, struct value *params, const char *text)
{
	struct err err = ERR_INIT;
	uint32_t uid = 0;

	if (!text)
		return 0;
	if (users_parse(text, &uid, &err) < 0)
		return cli_usage(cli, "--uid: %s", err.text);
	return put_int(cli, params, "uid", uid) < 0 ? cli_no_memory(cli) : 0;
}

/* With or without "sha256:" in front. */
static int put_code_hash(struct cli *cli, struct value *params, const char *text)
{
	if (!text || strchr(text, ':'))
		return put_text(cli, params, "code_hash", text);
	return put_text(cli, params, "code_hash", arena_printf(&cli->arena, "sha256:%s", text));
}

/* {NAME: VALUE}; -1 when it is not written as NAME=VALUE. */
static int put_label(struct cli *cli, struct value *params, const char *text)
{
	const char *equals = text ? strchr(text, '=') : NULL;
	struct value *label;

	if (!text)
		return 0;
	if (!equals || equals == text)
		return -1;
	label = value_map(&cli->arena);
	if (value_map_put_len(&cli->arena, label, text, (size_t)(equals - text),
		    value_text(&cli->arena, equals + 1)) < 0)
		return -1;
	return value_map_put(&cli->arena, params, "label", label);
}

int filters_put(struct cli *cli, const struct filter_options *options, struct value *params)
{
	int status = put_time(cli, params, "--since", "since", options->since);

	if (status == 0)
		status = put_time(cli, params, "--until", "until", options->until);
	if (status == 0)
		status = put_uid(cli, params, options->uid);
	if (status == 0)
		status = put_language(cli, params, options->language);
	if (status != 0)
		return status;
	if (put_label(cli, params, options->label) != 0)
		return cli_usage(cli, "--label is written as NAME=VALUE");
	if (put_text(cli, params, "outcome", options->outcome) < 0 ||
		put_text(cli, params, "agent", options->agent) < 0 ||
		put_text(cli, params, "task", options->task) < 0 ||
		put_text(cli, params, "policy", options->policy) < 0 ||
		put_text(cli, params, "rule", options->rule) < 0 ||
		put_text(cli, params, "text", options->text) < 0 ||
		put_code_hash(cli, params, options->code_hash) < 0)
		return cli_no_memory(cli);
	return 0;
}
