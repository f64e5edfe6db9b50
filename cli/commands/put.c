#include <inttypes.h>
#include <string.h>

#include "cli/base/exits.h"
#include "cli/base/source.h"
#include "cli/commands/commands.h"
#include "cli/session/page.h"

static const struct example examples[] = {
	{ "cectl put data.csv", "prints sha256:... data.csv" },
	{ "cectl run plot.py -f sha256:6f1e...:data.csv", "a file that does not travel again" },
	{ NULL, NULL },
};

/* {sha256, bytes, complete} of the file. */
static int put_put(struct cli *cli, const char *path, const struct value **ret_result)
{
	struct value *params = value_map(&cli->arena);
	struct source source = { NULL, 0 };
	struct err err = ERR_INIT;

	if (source_read(&cli->arena, path, &source, &err) < 0)
		return cli_usage(cli, "%s", err.text);
	if (value_map_put(&cli->arena, params, "data",
		    value_blob_borrowed(&cli->arena, source.bytes, source.len)) < 0)
		return cli_no_memory(cli);
	return cli_ask(cli, "blob.put", params, NULL, ret_result);
}

static int put_run(struct cli *cli, const void *given)
{
	const struct value *result = NULL;
	const char *path = cli->operands.items[0];
	int status = put_put(cli, path, &result);

	(void)given;
	if (status != 0)
		return status;
	if (cli->json)
		return cli_document(cli, result, EXIT_OK);
	say(&cli->out, PAINT_PLAIN, "%s  %s\n", page_text(cli, result, "sha256"),
		output_safe(&cli->arena, path));
	return EXIT_OK;
}

const struct command put_command = {
	.name = "put",
	.operands = "FILE",
	.summary = "send a file ahead, to be used in runs by its hash",
	.about = "Sends a file's content to the daemon, which keeps it for a while, and prints "
		 "its SHA-256.  `cectl run -f SHA256:DEST` gives it to a program without sending "
		 "it again.  Only you can use it.  The daemon forgets it when it is not used, "
		 "and at a restart.",
	.operand_least = 1,
	.operand_most = 1,
	.examples = examples,
	.run = put_run,
};
