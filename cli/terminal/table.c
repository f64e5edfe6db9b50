#include "cli/terminal/table.h"

#include <assert.h>
#include <string.h>

#include "cli/base/safe.h"

#define GAP            2  /* columns between two columns */
#define FLEXIBLE_LEAST 12 /* a flexible column is not narrower than this */
#define READABLE_LEAST 24 /* nor is the last one, as long as others can be left out */
#define WRAP_LINES     8  /* what does not fit goes on below, so many lines in all */

struct table_line {
	struct table_line *next;
	struct table_cell cells[];
};

/* The width of each column for one print; 0: left out. */
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

static void cut_flexible(
	const struct table *table, struct layout *layout, size_t room, size_t last_least)
{
	size_t least = last_least;

	for (size_t i = table->column_count; i-- > 0;) {
		size_t total = total_width(table, layout);
		size_t over = total > room ? total - room : 0;
		size_t *width = &layout->widths[i];

		if (!table->columns[i].flexible || *width == 0)
			continue;
		if (*width > least)
			*width = *width - least > over ? *width - over : least;
		least = FLEXIBLE_LEAST;
	}
}

/* The last flexible column is worth more than being readable: with `spare` it is not left out. */
static bool drop_one(const struct table *table, struct layout *layout, bool spare)
{
	size_t last = table->column_count;

	size_t worst = table->column_count;
	unsigned drop = 0;

	for (size_t i = 0; spare && i < table->column_count; i++) {
		if (layout->widths[i] > 0 && table->columns[i].flexible)
			last = i;
	}
	for (size_t i = 0; i < table->column_count; i++) {
		if (i != last && layout->widths[i] > 0 && table->columns[i].drop > drop) {
			drop = table->columns[i].drop;
			worst = i;
		}
	}
	if (worst == table->column_count)
		return false;
	layout->widths[worst] = 0;
	return true;
}

/* Leaves columns out until the rest fits with its flexible columns cut; false: it does not. */
static bool fit_with(
	const struct table *table, struct layout *layout, size_t room, size_t last_least)
{
	struct layout full = *layout;

	for (;;) {
		struct layout cut = full;

		cut_flexible(table, &cut, room, last_least);
		if (total_width(table, &cut) <= room) {
			*layout = cut;
			return true;
		}
		if (!drop_one(table, &full, last_least > FLEXIBLE_LEAST)) {
			*layout = cut;
			return false;
		}
	}
}

static void fit(const struct table *table, struct layout *layout, size_t room)
{
	struct layout full = *layout;

	if (room == 0 || fit_with(table, layout, room, READABLE_LEAST))
		return;
	*layout = full;
	(void)fit_with(table, layout, room, FLEXIBLE_LEAST);
}

/* ---- printing ------------------------------------------------------------------------------- */

/* The part of a cell that one line shows. */
struct piece {
	const char *text;
	size_t len;
	const char *cut; /* a mark behind it, or "" */
};

/* The part of a long text for this line: up to a blank or a comma, if there is one. */
static size_t break_at(const char *text, size_t width)
{
	size_t len = safe_fit(text, strlen(text), width);

	while (len > 0 && text[len] != ' ' && text[len - 1] != ',')
		len--;
	while (len > 0 && text[len - 1] == ' ')
		len--;
	return len;
}

static struct piece cut_piece(const struct output *out, const char *text, size_t width)
{
	const char *mark = output_mark(out, MARK_CUT);
	size_t len = safe_fit(text, strlen(text), width - text_columns(mark));

	return (struct piece){ text, len, mark };
}

/* Takes the next piece off *text, which is NULL afterwards when nothing is left. */
static struct piece next_piece(
	const struct output *out, const char **text, size_t width, bool wraps)
{
	const char *from = *text;
	size_t len = wraps ? break_at(from, width) : 0;
	struct piece piece = { from, strlen(from), "" };

	*text = NULL;
	if (text_columns(from) <= width)
		return piece;
	if (len == 0) /* one long word, such as a digest: its beginning is enough */
		return cut_piece(out, from, width);
	piece.len = len;
	*text = from + len + strspn(from + len, " ");
	if (!**text)
		*text = NULL;
	return piece;
}

static void print_piece(const struct output *out, const struct piece *piece, size_t width,
	bool right, bool last, enum paint paint)
{
	size_t columns = safe_columns(piece->text, piece->len) + text_columns(piece->cut);
	size_t blanks = columns < width ? width - columns : 0;

	if (right)
		say(out, PAINT_PLAIN, "%*s", (int)blanks, "");
	say(out, paint, "%.*s%s", (int)piece->len, piece->text, piece->cut);
	if (!right && !last)
		say(out, PAINT_PLAIN, "%*s", (int)blanks, "");
}

/* The last column that has something on this line, so that no line ends with blanks. */
static size_t last_of(
	const struct table *table, const struct layout *layout, const char *const *texts)
{
	size_t last = 0;

	for (size_t i = 0; i < table->column_count; i++) {
		if (layout->widths[i] > 0 && texts[i])
			last = i;
	}
	return last;
}

/* One line of a row; `texts` are moved on to what follows below.  Whether there is more. */
static bool print_one(const struct table *table, const struct layout *layout,
	const struct output *out, const struct table_cell *cells, const char **texts, bool wraps)
{
	size_t last = last_of(table, layout, texts);
	bool begun = false;
	bool more = false;

	for (size_t i = 0; i <= last; i++) {
		struct piece piece = { "", 0, "" };

		if (layout->widths[i] == 0)
			continue;
		if (begun)
			say(out, PAINT_PLAIN, "%*s", GAP, "");
		begun = true;
		if (texts[i])
			piece = next_piece(out, &texts[i], layout->widths[i],
				wraps && table->columns[i].flexible);
		print_piece(out, &piece, layout->widths[i], table->columns[i].right, i == last,
			cells[i].paint);
		more = more || texts[i];
	}
	say(out, PAINT_PLAIN, "\n");
	return more;
}

static void print_line(const struct table *table, const struct layout *layout,
	const struct output *out, size_t indent, const struct table_cell *cells)
{
	const char *texts[TABLE_COLUMNS_MAX];
	bool more = true;

	for (size_t i = 0; i < table->column_count; i++)
		texts[i] = cell_text(&cells[i]);
	for (unsigned line = 1; more && line <= WRAP_LINES; line++) {
		say(out, PAINT_PLAIN, "%*s", (int)indent, "");
		more = print_one(table, layout, out, cells, texts, line < WRAP_LINES);
	}
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
