/*
 * ced: the daemon.  ced-spawner starts it without privileges and passes it the descriptor of the
 * socket between them.
 */
#include <getopt.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/lockdown.h"
#include "daemon/news/runner.h"
#include "daemon/server.h"
#include "daemon/settings/config_file.h"
#include "daemon/settings/config_report.h"
#include "proto/base/log.h"
#include "proto/base/standard_fds.h"
#include "proto/fill.h"
#include "proto/json.h"
#include "proto/version.h"

#define LARGE_BYTES (1 << 20)

static const struct option long_options[] = {
	{ "config", required_argument, NULL, 'c' },
	{ "socket", required_argument, NULL, 's' },
	{ "state", required_argument, NULL, 'd' },
	{ "libexec", required_argument, NULL, 'l' },
	{ "spawner-fd", required_argument, NULL, 'f' },
	{ "verbose", no_argument, NULL, 'v' },
	{ "json", no_argument, NULL, 'j' },
	{ "settings", no_argument, NULL, 'S' },
	{ "in-force", no_argument, NULL, 'F' },
	{ "check-config", required_argument, NULL, 'C' },
	{ "alerts", no_argument, NULL, 'A' },
	{ "version", no_argument, NULL, 'V' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

static const char help[] =
	"usage: ced-spawner [--user NAME] -- [--config FILE] [--socket PATH] [--state DIR] [--verbose]\n"
	"       ced --settings [--json] | --in-force [--config FILE] | --version | --help\n"
	"       ced --check-config FILE [--json]\n"
	"       ced --alerts [--config FILE] [--socket PATH]\n"
	"\n"
	"ced runs programs that agents send, in jails.  ced-spawner starts it; on its own it only\n"
	"reports about itself.\n"
	"\n"
	"  --alerts             starts the commands of the daemon's alerts\n"
	"  --check-config FILE  looks for mistakes in these settings and in the files that they name; exits with 1\n"
	"                       when there is one\n"
	"  --config FILE        settings; --settings lists them all, --in-force the values that FILE leads to\n"
	"  --socket PATH        where clients connect\n"
	"  --state DIR          folder of the audit store\n"
	"  --verbose            log more\n";

/* Returns the folder of our own binary; the inspector and the harnesses are in it too. */
static char *own_folder(void)
{
	static char path[4096];
	char *slash = realpath("/proc/self/exe", path) ? strrchr(path, '/') : NULL;

	if (slash)
		*slash = '\0';
	return slash ? path : NULL;
}

/* ---- what it prints -------------------------------------------------------------------------- */

#define ANSWER_BYTES ((size_t)16 << 20)

enum action {
	ACTION_RUN,
	ACTION_SETTINGS,
	ACTION_IN_FORCE,
	ACTION_CHECK,
	ACTION_ALERTS,
	ACTION_VERSION,
	ACTION_HELP,
	ACTION_USAGE, /* the command line is wrong */
};

struct wish {
	struct server_options options;
	enum action action;
	enum log_level level;
	bool json;
};

static int print_json(const struct value *value)
{
	struct err err = ERR_INIT;
	struct buf text;
	int result;

	buf_init(&text, ANSWER_BYTES);
	result = value ? json_write(&text, value, JSON_WRITE_COMPACT, &err) : -1;
	if (result == 0)
		printf("%.*s\n", (int)text.len, text.bytes);
	else
		fprintf(stderr, "ced: %s\n", value ? err.text : "no memory for the answer");
	buf_done(&text);
	return result;
}

static int print_settings(const struct wish *wish)
{
	struct arena arena;
	int result = 0;

	if (!wish->json) {
		config_print_settings(stdout);
		return EXIT_SUCCESS;
	}
	arena_init(&arena, ANSWER_BYTES);
	result = print_json(config_describe_all(&arena));
	arena_done(&arena);
	return result < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* Reads a configuration as the daemon does at its start.  Prints every fault that it has. */
static int read_config(struct config *config, const struct config_sources *sources)
{
	struct setting_faults faults = { .count = 0 };

	if (config_read_all(config, sources, &faults) == 0)
		return EXIT_SUCCESS;
	for (unsigned i = 0; i < faults.count; i++)
		fprintf(stderr, "%s\n", faults.items[i].text);
	return EXIT_FAILURE;
}

/* Prints the values that a configuration leads to, for people and for `cectl doctor`. */
static int print_in_force(const struct config_sources *sources)
{
	static struct config config;

	if (read_config(&config, sources) != EXIT_SUCCESS)
		return EXIT_FAILURE;
	config_print_in_force(&config, stdout);
	return EXIT_SUCCESS;
}

/* {ok, files, settings, runtimes, complaints} */
static int print_check(const struct config *config, const struct setting_faults *faults)
{
	struct arena arena;
	struct fill fill;
	struct value *files;
	struct value *complaints;
	int result;

	arena_init(&arena, ANSWER_BYTES);
	fill = fill_start(&arena);
	files = value_list(&arena);
	complaints = value_list(&arena);
	for (unsigned i = 0; i < config->file_count; i++)
		value_list_add(&arena, files, value_text(&arena, config->files[i]));
	for (unsigned i = 0; i < faults->count; i++)
		value_list_add(&arena, complaints,
			config_describe_fault(config, &faults->items[i], &arena));
	fill_bool(&fill, "ok", !faults->count);
	fill_value(&fill, "files", files);
	fill_uint(&fill, "settings", config->written_count);
	fill_uint(&fill, "runtimes", config->runtime_count);
	fill_value(&fill, "complaints", complaints);
	result = print_json(fill_done(&fill));
	arena_done(&arena);
	return result < 0 || faults->count ? EXIT_FAILURE : EXIT_SUCCESS;
}

static int check_config(const struct wish *wish)
{
	const struct config_sources *sources = &wish->options.sources;
	struct setting_faults faults = { .count = 0 };
	const struct config *config = NULL;
	int result = server_check(sources, &faults, &config);

	if (wish->json)
		return print_check(config, &faults);
	for (unsigned i = 0; i < faults.count; i++)
		fprintf(stderr, "%s\n", faults.items[i].text);
	if (result < 0)
		return EXIT_FAILURE;
	printf("%s: no mistake found in it, its policies and its patterns (%u settings, %u runtimes); "
	       "`cectl doctor --config` tries what the host gives to jails\n",
		sources->path, config->written_count, config->runtime_count);
	return EXIT_SUCCESS;
}

static int start_commands(const struct config_sources *sources)
{
	static struct config config;

	if (read_config(&config, sources) != EXIT_SUCCESS)
		return EXIT_FAILURE;
	log_start("ced-alerts", LOG_LEVEL_INFO);
	return runner_run(&config);
}

static void read_options(int argc, char **argv, struct wish *wish)
{
	struct config_sources *sources = &wish->options.sources;
	int letter;

	while ((letter = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
		switch (letter) {
		case 'c':
			sources->path = optarg;
			break;
		case 's':
			sources->socket = optarg;
			break;
		case 'd':
			sources->state = optarg;
			break;
		case 'l':
			wish->options.libexec = optarg;
			break;
		case 'f':
			wish->options.spawner_fd = (int)strtol(optarg, NULL, 10);
			break;
		case 'v':
			wish->level = LOG_LEVEL_DEBUG;
			break;
		case 'j':
			wish->json = true;
			break;
		case 'S':
			wish->action = ACTION_SETTINGS;
			break;
		case 'F':
			wish->action = ACTION_IN_FORCE;
			break;
		case 'C':
			sources->path = optarg;
			wish->action = ACTION_CHECK;
			break;
		case 'A':
			wish->action = ACTION_ALERTS;
			break;
		case 'V':
			wish->action = ACTION_VERSION;
			return;
		case 'h':
			wish->action = ACTION_HELP;
			return;
		default:
			wish->action = ACTION_USAGE;
			return;
		}
	}
}

/* Returns -1 to start the daemon, else the exit status. */
static int answer(const struct wish *wish)
{
	switch (wish->action) {
	case ACTION_RUN:
		return -1;
	case ACTION_SETTINGS:
		return print_settings(wish);
	case ACTION_IN_FORCE:
		return print_in_force(&wish->options.sources);
	case ACTION_CHECK:
		return check_config(wish);
	case ACTION_ALERTS:
		return start_commands(&wish->options.sources);
	case ACTION_VERSION:
		puts("ced " CED_VERSION);
		return EXIT_SUCCESS;
	case ACTION_HELP:
		fputs(help, stdout);
		return EXIT_SUCCESS;
	case ACTION_USAGE:
		break;
	}
	fputs(help, stderr);
	return EXIT_FAILURE;
}

/* Returns the exit status after printing: EXIT_FAILURE when the output could not be written. */
static int after_printing(int exit_code)
{
	if (exit_code != EXIT_SUCCESS || (fflush(stdout) == 0 && !ferror(stdout)))
		return exit_code;
	fputs("ced: cannot write the answer\n", stderr);
	return EXIT_FAILURE;
}

int main(int argc, char **argv)
{
	struct wish wish = { .options = { .spawner_fd = -1,
				     .libexec = own_folder(),
				     .sources = { .shipped = true } },
		.level = LOG_LEVEL_INFO };
	const struct server_options *options = &wish.options;
	struct err err = ERR_INIT;
	struct server *server;
	int exit_code;

	if (standard_fds_hold() < 0)
		return EXIT_FAILURE;
	read_options(argc, argv, &wish);
	exit_code = answer(&wish);
	if (exit_code >= 0)
		return after_printing(exit_code);
	if (options->spawner_fd < 0 || !options->libexec) {
		fputs(help, stderr);
		return EXIT_FAILURE;
	}
	log_start("ced", wish.level);
	/* When a run has ended, the memory of its large messages and outputs is given back. */
	(void)mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
	(void)mallopt(M_TRIM_THRESHOLD, LARGE_BYTES);
	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGHUP, SIG_IGN); /* until the loop watches for it */
	server = server_start(options, &err);
	if (!server || lockdown(&err) < 0) {
		log_event(LOG_LEVEL_ERROR, "start.failed", LOG_STR("why", err.text));
		return EXIT_FAILURE;
	}
	return server_run(server);
}
