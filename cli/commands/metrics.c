/* cectl metrics: the daemon's counters for Prometheus. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/base/exits.h"
#include "cli/commands/commands.h"
#include "cli/commands/metrics_text.h"
#include "proto/base/cleanup.h"
#include "proto/base/fdio.h"

#define TEXT_BYTES ((size_t)4 << 20)
#define UP         "# HELP ced_up 1 while the daemon answers.\n# TYPE ced_up gauge\nced_up %d\n"

static int fail_sys(struct cli *cli, const char *path)
{
	struct err err = ERR_INIT;

	(void)err_sys(&err, "%s", path);
	return cli_fail(cli, &err);
}

/* A rename would replace whatever is there: a device, a link. */
static int check_place(struct cli *cli, const char *path)
{
	struct stat st;

	if (lstat(path, &st) < 0 || S_ISREG(st.st_mode))
		return EXIT_OK;
	return cli_fail_with(cli, ERR_EXISTS,
		"%s is there already and is not an ordinary file: name another", path);
}

/* A reader of the file never sees half of it. */
static int write_file(struct cli *cli, const char *path, const struct buf *text)
{
	const char *part = arena_printf(&cli->arena, "%s.%ld.part", path, (long)getpid());
	struct err err = ERR_INIT;
	int status = EXIT_OK;
	int fd;

	if (!part)
		return cli_no_memory(cli);
	fd = open(part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0)
		return fail_sys(cli, part);
	if (write_all(fd, text->bytes, text->len, &err) < 0)
		status = cli_fail(cli, &err);
	if (close(fd) < 0 && status == EXIT_OK)
		status = fail_sys(cli, part);
	if (status == EXIT_OK && rename(part, path) < 0)
		status = fail_sys(cli, path);
	if (status != EXIT_OK)
		(void)unlink(part);
	return status;
}

/* Of a dead daemon the collector would else serve what was true before. */
static int write_down(struct cli *cli, const char *path)
{
	struct buf text;
	int status;

	buf_init(&text, TEXT_BYTES);
	status = buf_printf(&text, UP, 0) < 0 ? cli_no_memory(cli) : write_file(cli, path, &text);
	buf_done(&text);
	return status;
}

static int metrics_run(struct cli *cli)
{
	const char *path = cli_text(cli, "write");
	const struct value *result = NULL;
	struct err err = ERR_INIT;
	struct buf text;
	int status;

	if (path && cli->json)
		return cli_usage(cli, "--write and --json: one of them");
	if (path && check_place(cli, path) != EXIT_OK)
		return EXIT_FAILED;
	status = cli_ask_quietly(cli, "admin.metrics", value_map(&cli->arena), NULL, &result, &err);
	if (status != 0) {
		if (status < 0 && path && err.sys_errno != EACCES)
			(void)write_down(cli, path);
		return cli_ask_failed(cli, status, status > 0 ? result : NULL, &err);
	}
	if (cli->json)
		return cli_document(cli, result, EXIT_OK);
	buf_init(&text, TEXT_BYTES);
	if (buf_printf(&text, UP, 1) < 0 || metrics_text(result, &text) < 0)
		status = cli_no_memory(cli);
	else if (path)
		status = write_file(cli, path, &text);
	else
		say(&cli->out, PAINT_PLAIN, "%.*s", (int)text.len, text.bytes);
	buf_done(&text);
	return status;
}

// clang-format off
const struct command metrics_command = {
	.name = "metrics",
	.summary = "counters and times for Prometheus",
	.about = "For administrators. Prints the daemon's counters, gauges and histograms since its "
		 "start in the text format of Prometheus: runs by language, policy, outcome and agent, "
		 "the time of each phase, workers, the store, and which part has a fault.\n"
		 "With --write the file is replaced at once and whole, as the textfile collector of "
		 "node_exporter needs it.  While no daemon answers, it says ced_up 0 and nothing else.",
	.options = OPTIONS(
		{ 0, "write", "FILE", OPTION_TEXT, NULL, NULL, "into this file instead of stdout" }),
	.examples = EXAMPLES(
		{ "cectl metrics | grep ced_fault", "has a part a fault?" },
		{ "cectl metrics --write /var/lib/prometheus/node-exporter/ced.prom",
		  "from a timer, for node_exporter" }),
	.run = metrics_run,
};
// clang-format on
