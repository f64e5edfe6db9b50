#include "cli/table.h"

#include <assert.h>
#include <string.h>

#include "cli/safe.h"

#define GAP            2  /* columns between two columns */
#define FLEXIBLE_LEAST 12 /* a flexible column is not cut below this */

struct table_line {
	struct table_line *next;
	struct table_cell cells[];
};

/* What one print works out: how wide each column is; 0 means left out. */
struct layout {
	size_t widths[TABLE_COLUMNS_MAX];
};

void table_init(struct table *table, struct arena *arena, const struct table_column *columns,
	size_t column_count)
{
	assert(column_count <= TABLE_COLUMNS_MAX);
	*table = (struct table){
		.arena = arena,
		.columns = columns,
		.column_count = column_count,
	};
	table->end = &table->first;
}

void table_add(struct table *table, const struct table_cell *cells)
{
	size_t cells_size = table->column_count * sizeof(*cells);
	struct table_line *line = arena_alloc(table->arena, sizeof(*line) + cells_size);

	if (!line) {
		table->failed = true;
		return;
	}
	memcpy(line->cells, cells, cells_size);
	*table->end = line;
	table->end = &line->next;
	table->line_count++;
}

static const char *cell_text(const struct table_cell *cell)
{
	return cell->text && cell->text[0] ? cell->text : "-";
}

static size_t text_columns(const char *text)
{
	return safe_columns(text, strlen(text));
}

static void measure(const struct table *table, struct layout *layout)
{
	for (size_t i = 0; i < table->column_count; i++) {
		layout->widths[i] = text_columns(table->columns[i].title);
		for (const struct table_line *line = table->first; line; line = line->next) {
			size_t columns = text_columns(cell_text(&line->cells[i]));

			if (columns > layout->widths[i])
				layout->widths[i] = columns;
		}
	}
}

static size_t total_width(const struct table *table, const struct layout *layout)
{
	size_t total = 0;

	for (size_t i = 0; i < table->column_count; i++) {
		if (layout->widths[i] > 0)
			total += layout->widths[i] + (total > 0 ? GAP : 0);
	}
	return total;
}

static void cut_flexible(const struct table *table, struct layout *layout, size_t room)
{
	for (size_t i = table->column_count; i-- > 0;) {
		size_t total = total_width(table, layout);
		size_t over = total > room ? total - room : 0;
		size_t *width = &layout->widths[i];

		if (!table->columns[i].flexible || *width <= FLEXIBLE_LEAST)
			continue;
		*width = *width - FLEXIBLE_LEAST > over ? *width - over : FLEXIBLE_LEAST;
	}
}

static bool drop_one(const struct table *table, struct layout *layout)
{
	size_t worst = table->column_count;
	unsigned drop = 0;

	for (size_t i = 0; i < table->column_count; i++) {
		if (layout->widths[i] > 0 && table->columns[i].drop > drop) {
			drop = table->columns[i].drop;
			worst = i;
		}
	}
	if (worst == table->column_count)
		return false;
	layout->widths[worst] = 0;
	return true;
}

/* Leaves columns out until the rest fits with its flexible columns cut. */
static void fit(const struct table *table, struct layout *layout, size_t room)
{
	struct layout full = *layout;

	if (room == 0)
		return;
	for (;;) {
		*layout = full;
		cut_flexible(table, layout, room);
		if (total_width(table, layout) <= room || !drop_one(table, &full))
			return;
	}
}

static void print_cell(const struct output *out, const char *text, size_t width, bool right,
	bool last, enum paint paint)
{
	size_t len = strlen(text);
	size_t columns = safe_columns(text, len);
	const char *cut = "";

	if (columns > width) {
		cut = output_mark(out, MARK_CUT);
		len = safe_fit(text, len, width - text_columns(cut));
		columns = safe_columns(text, len) + text_columns(cut);
	}
	if (right)
		say(out, PAINT_PLAIN, "%*s", (int)(width - columns), "");
	say(out, paint, "%.*s%s", (int)len, text, cut);
	if (!right && !last)
		say(out, PAINT_PLAIN, "%*s", (int)(width - columns), "");
}

static void print_line(const struct table *table, const struct layout *layout,
	const struct output *out, size_t indent, const struct table_cell *cells)
{
	size_t last = 0;
	bool begun = false;

	for (size_t i = 0; i < table->column_count; i++) {
		if (layout->widths[i] > 0)
			last = i;
	}
	say(out, PAINT_PLAIN, "%*s", (int)indent, "");
	for (size_t i = 0; i <= last; i++) {
		if (layout->widths[i] == 0)
			continue;
		if (begun)
			say(out, PAINT_PLAIN, "%*s", GAP, "");
		begun = true;
		print_cell(out, cell_text(&cells[i]), layout->widths[i], table->columns[i].right,
			i == last, cells[i].paint);
	}
	say(out, PAINT_PLAIN, "\n");
}

void table_print(const struct table *table, const struct output *out, size_t indent)
{
	struct table_cell titles[TABLE_COLUMNS_MAX] = { 0 };
	struct layout layout = { 0 };

	measure(table, &layout);
	fit(table, &layout, out->width > indent ? out->width - indent : 0);
	for (size_t i = 0; i < table->column_count; i++)
		titles[i] = (struct table_cell){ table->columns[i].title, PAINT_DIM };
	print_line(table, &layout, out, indent, titles);
	for (const struct table_line *line = table->first; line; line = line->next)
		print_line(table, &layout, out, indent, line->cells);
	if (table->failed)
		say(out, PAINT_RED, "%*s(not all rows fitted into memory)\n", (int)indent, "");
}
