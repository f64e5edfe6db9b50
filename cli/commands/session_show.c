/* cectl session show: the cells of a session, open or over, as the tree of its states. */
#include <stdlib.h>
#include <string.h>

#include "cli/base/exits.h"
#include "cli/commands/record.h"
#include "cli/commands/session.h"
#include "cli/commands/state_tree.h"
#include "cli/session/page.h"
#include "proto/base/cleanup.h"

#define CELLS_SHOWN 1000 /* as many as one answer of runs.list has */

static int list_cells(struct cli *cli, const char *session, const struct value **ret_result)
{
	struct value *params = session_close_params(cli, session);

	(void)value_map_put(&cli->arena, params, "limit", value_uint(&cli->arena, CELLS_SHOWN));
	return cli_ask(cli, "runs.list", params, NULL, ret_result);
}

/* A cell that never began has no number, and no place in the tree. */
static bool fill_row(struct cli *cli, struct state_row *row, const struct value *record,
	const struct value *open)
{
	const struct value *session = value_get(record, "session");
	const struct value *code = value_get(value_get(record, "request"), "code");

	*row = (struct state_row){
		.cell = (uint64_t)page_int(session, "cell"),
		.from = (uint64_t)page_int(session, "from"),
		.is_undone = page_int(session, "state") != page_int(session, "cell"),
		.outcome = page_outcome(cli, record, "outcome"),
		.text = page_is_bytes(code) ? code->text.bytes : "",
		.len = page_is_bytes(code) ? code->text.len : 0,
	};
	row->is_here = !row->is_undone && row->cell == (uint64_t)page_int(open, "state");
	row->is_kept = !row->is_undone && session_has_kept(open, row->cell);
	row->pin = row->is_kept ? session_pin(cli, open, row->cell) : NULL;
	return row->cell > 0;
}

static void tell_end(struct cli *cli, const struct value *record)
{
	const struct value *session = value_get(record, "session");
	const char *why = page_text(cli, session, "why");

	if (why[0])
		say(&cli->out, PAINT_DIM, "it ended with cell %s: %s\n",
			page_text(cli, session, "cell"), why);
}

static int compare(const void *a, const void *b)
{
	const struct state_row *left = a;
	const struct state_row *right = b;

	return left->cell < right->cell ? -1 : left->cell > right->cell;
}

static int show_rows(struct cli *cli, const struct value *runs, const struct value *open)
{
	auto_free struct state_row *rows = calloc(CELLS_SHOWN, sizeof(*rows));
	size_t count = 0;

	if (!rows)
		return cli_no_memory(cli);
	for (size_t i = 0; value_at(runs, i) && count < CELLS_SHOWN; i++) {
		const char *run_id = value_as_text(value_get(value_at(runs, i), "run_id"));
		const struct value *record = NULL;
		int status = run_id ? record_get(cli, run_id, &record) : EXIT_SERVICE;

		if (status != 0)
			return status;
		tell_end(cli, record);
		count += fill_row(cli, &rows[count], record, open);
	}
	qsort(rows, count, sizeof(*rows), compare);
	state_tree_show(cli, rows, count);
	return EXIT_OK;
}

int session_show(struct cli *cli, const char *session)
{
	const struct value *result = NULL;
	const struct value *open = NULL;
	int status = list_cells(cli, session, &result);

	if (status != 0)
		return status;
	if (cli->json)
		return cli_document(cli, result, EXIT_OK);
	status = session_find(cli, session, &open);
	if (status != 0)
		return status;
	if (!open && !value_at(value_get(result, "runs"), 0))
		return cli_fail_with(cli, ERR_MISSING,
			"session %s is not open, and the record has no cell of it", session);
	say(&cli->out, PAINT_DIM, "session %s %s\n", output_safe(&cli->arena, session),
		open ? "is open" : "is over");
	if (value_as_bool(value_get(result, "more"), false))
		say(&cli->out, PAINT_DIM, "its newest %d cells:\n", CELLS_SHOWN);
	return show_rows(cli, value_get(result, "runs"), open);
}
