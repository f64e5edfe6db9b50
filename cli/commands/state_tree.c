#include "cli/commands/state_tree.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/safe.h"
#include "cli/session/page.h"
#include "proto/base/cleanup.h"

#define INDENT     4
#define DEPTH_MAX  8 /* deeper branches are not indented further */
#define TEXT_LEAST 20

static int compare(const void *key, const void *row)
{
	const uint64_t state = *(const uint64_t *)key;
	const uint64_t cell = ((const struct state_row *)row)->cell;

	return state < cell ? -1 : state > cell;
}

struct state_row *state_tree_find(struct state_row *rows, size_t count, uint64_t state)
{
	return count ? bsearch(&state, rows, count, sizeof(*rows), compare) : NULL;
}

/* ---- the order ------------------------------------------------------------------------------ */

/* Links between rows, by index + 1; row `count` stands for what is before all of them. */
struct links {
	size_t *first, *last, *next, *parent;
	size_t *order; /* the rows from top to bottom */
};

static void links_free(struct links *links)
{
	free(links->first);
	free(links);
}
AUTO_DEFINE(struct links, links_free);

static struct links *links_new(size_t count)
{
	struct links *links = calloc(1, sizeof(*links));
	size_t *all = links ? calloc((count + 1) * 5, sizeof(*all)) : NULL;

	if (!all) {
		free(links);
		return NULL;
	}
	links->first = all;
	links->last = all + (count + 1);
	links->next = all + (count + 1) * 2;
	links->parent = all + (count + 1) * 3;
	links->order = all + (count + 1) * 4;
	return links;
}

static void link_rows(struct links *links, struct state_row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct state_row *from = rows[i].from < rows[i].cell
						       ? state_tree_find(rows, count, rows[i].from)
						       : NULL;
		size_t parent = from ? (size_t)(from - rows) : count;

		links->parent[i] = parent;
		if (links->last[parent])
			links->next[links->last[parent] - 1] = i + 1;
		else
			links->first[parent] = i + 1;
		links->last[parent] = i + 1;
	}
}

/* The row below a subtree that is over; 0: none. */
static size_t after_subtree(const struct links *links, size_t row, size_t count)
{
	while (row != count && !links->next[row])
		row = links->parent[row];
	return row == count ? 0 : links->next[row];
}

/* A cell whose state has one follower is above it; several followers are branches. */
static void order_rows(struct links *links, struct state_row *rows, size_t count)
{
	size_t filled = 0;

	for (size_t at = links->first[count]; at;) {
		size_t row = at - 1;
		size_t parent = links->parent[row];
		bool is_branch = links->first[parent] != links->last[parent];

		rows[row].depth = (parent == count ? 0 : rows[parent].depth) +
				  (is_branch && parent != count ? 1 : 0);
		links->order[filled++] = row;
		at = links->first[row] ? links->first[row] : after_subtree(links, row, count);
	}
}

/* ---- a row ---------------------------------------------------------------------------------- */

/* Its first line that is not blank. */
static size_t find_line(const struct state_row *row, size_t *ret_len)
{
	size_t at = 0;

	while (at < row->len && strchr(" \t\r\n", row->text[at]))
		at++;
	for (*ret_len = 0; at + *ret_len < row->len && row->text[at + *ret_len] != '\n';)
		++*ret_len;
	return at;
}

static void show_text(struct cli *cli, const struct state_row *row, size_t columns)
{
	size_t len;
	size_t at = find_line(row, &len);
	const char *line = arena_copy(&cli->arena, row->text + at, len);
	const char *safe = output_safe(&cli->arena, line ? line : "");
	size_t fitting = safe_fit(safe, strlen(safe), columns);

	say(&cli->out, PAINT_PLAIN, "%.*s%s", (int)fitting, safe,
		safe[fitting] ? output_mark(&cli->out, MARK_CUT) : "");
}

static void show_row(struct cli *cli, const struct state_row *row)
{
	size_t indent = INDENT * (row->depth < DEPTH_MAX ? row->depth : DEPTH_MAX);
	size_t width = output_text_width(&cli->out);
	size_t taken = indent + 40;

	say(&cli->out, row->is_here ? PAINT_BOLD : PAINT_PLAIN, "%*s%6" PRIu64 "  ", (int)indent,
		"", row->cell);
	show_text(cli, row, width > taken + TEXT_LEAST ? width - taken : TEXT_LEAST);
	if (strcmp(row->outcome, "ok") != 0)
		say(&cli->out, output_outcome_paint(row->outcome), "  %s", row->outcome);
	if (row->is_undone)
		say(&cli->out, PAINT_DIM, "  undone");
	if (row->is_kept)
		say(&cli->out, PAINT_GREEN, "  kept");
	if (row->pin)
		say(&cli->out, PAINT_GREEN, ", pinned%s%s", row->pin[0] ? " as " : "",
			output_safe(&cli->arena, row->pin));
	if (row->is_here)
		say(&cli->out, PAINT_CYAN, "  %s here", output_mark(&cli->out, MARK_LINE));
	say(&cli->out, PAINT_PLAIN, "\n");
}

void state_tree_show(struct cli *cli, struct state_row *rows, size_t count)
{
	auto_of(links_free) struct links *links = links_new(count);

	if (!links) {
		(void)cli_no_memory(cli);
		return;
	}
	link_rows(links, rows, count);
	order_rows(links, rows, count);
	for (size_t i = 0; i < count; i++)
		show_row(cli, &rows[links->order[i]]);
}
