#include <string.h>

#include "cli/commands.h"
#include "cli/exits.h"
#include "cli/table.h"
#include "proto/base/buf.h"

static const struct example examples[] = {
	{ "cectl runtimes", "what can run here" },
	{ "cectl runtimes --json | jq -r '.runtimes[].name'", "only the names" },
	{ NULL, NULL },
};

static const struct table_column columns[] = {
	{ "LANGUAGE", false, false, 0 },
	{ "VERSION", false, false, 0 },
	{ "WARM", true, false, 0 },
	{ "PRELOADED", false, true, 1 },
	{ "DIGEST", false, true, 2 },
};

/* ["json", "re"] as "json re". */
static const char *join(struct cli *cli, const struct value *list)
{
	struct buf buf;
	const char *joined;

	buf_init(&buf, (size_t)1 << 16);
	for (size_t i = 0; value_at(list, i); i++) {
		if (i > 0)
			(void)buf_append_byte(&buf, ' ');
		(void)buf_append_text(&buf, output_text(&cli->arena, value_at(list, i)));
	}
	joined = arena_copy(&cli->arena, buf.bytes ? buf.bytes : "", buf.len);
	buf_done(&buf);
	return joined;
}

static void add_runtime(struct cli *cli, struct table *table, const struct value *runtime)
{
	struct arena *arena = &cli->arena;
	const struct value *name = value_get(runtime, "name");
	const struct value *warm = value_get(runtime, "warm");

	table_add(table, (struct table_cell[]){
				 { output_text(arena, name ? name : value_get(runtime, "language")),
					 PAINT_BOLD },
				 { output_text(arena, value_get(runtime, "version")), PAINT_PLAIN },
				 { output_text(arena, warm),
					 value_as_int(warm, 0) > 0 ? PAINT_GREEN : PAINT_YELLOW },
				 { join(cli, value_get(runtime, "preloaded")), PAINT_PLAIN },
				 { output_text(arena, value_get(runtime, "digest")), PAINT_DIM },
			 });
}

static int run(struct cli *cli, const void *given)
{
	const struct value *result = NULL;
	const struct value *runtimes;
	struct table table;
	int status = cli_ask(cli, "runtimes", value_map(&cli->arena), NULL, &result);

	(void)given;
	if (status != 0)
		return status;
	if (cli->json)
		return cli_document(cli, result, EXIT_OK);
	runtimes = value_is(result, VALUE_LIST) ? result : value_get(result, "runtimes");
	table_init(&table, &cli->arena, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; value_at(runtimes, i); i++)
		add_runtime(cli, &table, value_at(runtimes, i));
	table_print(&table, &cli->out, 0);
	return EXIT_OK;
}

const struct command runtimes_command = {
	.name = "runtimes",
	.operands = "",
	.summary = "the languages that can run, and how many workers are warm",
	.about = "Lists the runtimes that the host has configured: version, warm workers, modules "
		 "that are imported before a program arrives, and the digest of the whole runtime.",
	.examples = examples,
	.run = run,
};
