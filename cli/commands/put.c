
#include "cli/base/source.h"
#include "cli/commands/commands.h"
#include "cli/session/page.h"

static struct value *file_value(struct arena *arena, const char *path, struct err *err)
{
	struct source source = { NULL, 0 };

	return source_read(arena, path, &source, err) < 0
		       ? NULL
		       : value_blob_borrowed(arena, source.bytes, source.len);
}

static void show_put(struct cli *cli, const struct value *result)
{
	say(&cli->out, PAINT_PLAIN, "%s  %s\n", page_text(cli, result, "sha256"),
		output_safe(&cli->arena, cli_operand(cli, 0)));
}

// clang-format off
const struct command put_command = {
	.name = "put",
	.operands = "FILE",
	.summary = "send a file ahead, to be used in runs by its hash",
	.about = "Sends a file's content to the daemon, which keeps it for a while, and prints "
		 "its SHA-256.  `cectl run -f SHA256:DEST` gives it to a program without sending "
		 "it again.  Only you can use it.  The daemon forgets it when it is not used, "
		 "and at a restart.",
	.operand_least = 1, .operand_most = 1,
	.examples = EXAMPLES(
		{ "cectl put data.csv", "prints sha256:... data.csv" },
		{ "cectl run plot.py -f sha256:6f1e...:data.csv", "a file that does not travel again" }),
	.method = "blob.put",
	.operand_param = "data",
	.operand_value = file_value,
	.show = show_put,
};
// clang-format on
