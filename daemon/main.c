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
#include "daemon/settings/config_check.h"
#include "daemon/settings/config_file.h"
#include "daemon/settings/config_runtimes.h"
#include "proto/base/log.h"
#include "proto/base/standard_fds.h"
#include "proto/version.h"

#define LARGE_BYTES (1 << 20)

static const struct option long_options[] = {
	{ "config", required_argument, NULL, 'c' },
	{ "socket", required_argument, NULL, 's' },
	{ "state", required_argument, NULL, 'd' },
	{ "libexec", required_argument, NULL, 'l' },
	{ "spawner-fd", required_argument, NULL, 'f' },
	{ "verbose", no_argument, NULL, 'v' },
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
	"       ced --settings | --in-force [--config FILE] | --version | --help\n"
	"       ced --check-config FILE\n"
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

/*
 * Reads a configuration as the daemon does at its start.  Prints the reason and returns
 * EXIT_FAILURE when the daemon would not start with it.
 */
static int read_config(struct config *config, const char *path)
{
	struct err err = ERR_INIT;

	config_init(config);
	config_add_shipped(config);
	if ((!path || config_load(config, path, &err) == 0) && config_finish(config, &err) == 0)
		return EXIT_SUCCESS;
	fprintf(stderr, "%s\n", err.text);
	return EXIT_FAILURE;
}

/* Prints the values that a configuration leads to, for people and for `cectl doctor`. */
static int print_in_force(const char *path)
{
	static struct config config;

	if (read_config(&config, path) != EXIT_SUCCESS)
		return EXIT_FAILURE;
	config_print_in_force(&config, stdout);
	return EXIT_SUCCESS;
}

static int check_config(const char *path)
{
	struct err err = ERR_INIT;

	if (server_check(path, stdout, &err) == 0)
		return EXIT_SUCCESS;
	fprintf(stderr, "%s\n", err.text);
	return EXIT_FAILURE;
}

static int start_commands(const struct server_options *options)
{
	static struct config config;

	if (read_config(&config, options->config_path) != EXIT_SUCCESS)
		return EXIT_FAILURE;
	if (options->socket_path)
		cut_printf(config.socket, sizeof(config.socket), "%s", options->socket_path);
	log_start("ced-alerts", LOG_LEVEL_INFO);
	return runner_run(&config);
}

/* Returns -1 to continue, else the exit status. */
static int read_options(int argc, char **argv, struct server_options *ret, enum log_level *level)
{
	bool in_force = false;
	bool alerts = false;
	int letter;

	while ((letter = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
		switch (letter) {
		case 'c':
			ret->config_path = optarg;
			break;
		case 's':
			ret->socket_path = optarg;
			break;
		case 'd':
			ret->state_path = optarg;
			break;
		case 'l':
			ret->libexec = optarg;
			break;
		case 'f':
			ret->spawner_fd = (int)strtol(optarg, NULL, 10);
			break;
		case 'v':
			*level = LOG_LEVEL_DEBUG;
			break;
		case 'S':
			config_print_settings(stdout);
			return EXIT_SUCCESS;
		case 'F':
			in_force = true; /* --config may follow */
			break;
		case 'C':
			return check_config(optarg);
		case 'A':
			alerts = true;
			break;
		case 'V':
			puts("ced " CED_VERSION);
			return EXIT_SUCCESS;
		case 'h':
			fputs(help, stdout);
			return EXIT_SUCCESS;
		default:
			fputs(help, stderr);
			return EXIT_FAILURE;
		}
	}
	if (alerts)
		return start_commands(ret);
	return in_force ? print_in_force(ret->config_path) : -1;
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
	struct server_options options = {
		.spawner_fd = -1, .libexec = own_folder(), .shipped = true
	};
	enum log_level level = LOG_LEVEL_INFO;
	struct err err = ERR_INIT;
	struct server *server;
	int exit_code;

	if (standard_fds_hold() < 0)
		return EXIT_FAILURE;
	exit_code = read_options(argc, argv, &options, &level);
	if (exit_code >= 0)
		return after_printing(exit_code);
	if (options.spawner_fd < 0 || !options.libexec) {
		fputs(help, stderr);
		return EXIT_FAILURE;
	}
	log_start("ced", level);
	/* When a run has ended, the memory of its large messages and outputs is given back. */
	(void)mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
	(void)mallopt(M_TRIM_THRESHOLD, LARGE_BYTES);
	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGHUP, SIG_IGN); /* settings are read at the start only */
	server = server_start(&options, &err);
	if (!server || lockdown(&err) < 0) {
		log_event(LOG_LEVEL_ERROR, "start.failed", LOG_STR("why", err.text));
		return EXIT_FAILURE;
	}
	return server_run(server);
}
