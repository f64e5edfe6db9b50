#include "daemon/inspector/shape.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/inspector/reading.h"
#include "daemon/inspector/shared_fields.h"

struct maker {
	struct reading reading;
	struct shapes *shapes;
	const TSQuery *query;
	const TSLanguage *language;
	uint32_t asked;
	bool gave_up;
};

static uint32_t give_up(struct maker *maker)
{
	maker->gave_up = true;
	maker->reading.at = maker->reading.len;
	return 0;
}

static char here(const struct maker *maker)
{
	return reading_here(&maker->reading);
}

static struct shape_step *step_at(const struct maker *maker, uint32_t index)
{
	return &maker->shapes->steps[index];
}

static uint32_t add_step(struct maker *maker, TSSymbol kind)
{
	struct shapes *shapes = maker->shapes;

	if (shapes->count + 1 >= shapes->size) {
		uint32_t size = shapes->size ? shapes->size * 2 : 64;
		struct shape_step *steps = reallocarray(shapes->steps, size, sizeof(*steps));

		if (!steps)
			return give_up(maker);
		shapes->steps = steps;
		shapes->size = size;
	}
	shapes->steps[++shapes->count] = (struct shape_step){ .kind = kind };
	return shapes->count;
}

/* ---- what stands behind a pattern ----------------------------------------------------------- */

static void add_capture(struct maker *maker, uint32_t first, uint32_t id)
{
	for (uint32_t i = first; i; i = step_at(maker, i)->other) {
		struct shape_step *step = step_at(maker, i);

		if (step->capture_count == STEP_CAPTURES_MAX) {
			(void)give_up(maker);
			return;
		}
		step->captures[step->capture_count++] = (uint16_t)id;
		step->captured = true;
	}
}

static uint32_t capture_id(const TSQuery *query, const char *name, size_t len)
{
	uint32_t count = ts_query_capture_count(query);

	for (uint32_t id = 0; id < count; id++) {
		uint32_t known_len;
		const char *known = ts_query_capture_name_for_id(query, id, &known_len);

		if (known_len == len && memcmp(known, name, len) == 0)
			return id;
	}
	return count;
}

/* Captures, which hold for all alternatives; what may come more than once is not for us. */
static void read_captures(struct maker *maker, uint32_t first)
{
	struct reading *reading = &maker->reading;

	for (reading_skip_blanks(reading); here(maker) == '@'; reading_skip_blanks(reading)) {
		const char *name;
		uint32_t id;
		size_t len;

		reading->at++;
		name = reading_name(reading, &len);
		id = capture_id(maker->query, name, len);
		if (id == ts_query_capture_count(maker->query))
			(void)give_up(maker);
		else
			add_capture(maker, first, id);
	}
	if (here(maker) && strchr("*+?", here(maker)))
		(void)give_up(maker);
}

/* ---- patterns ------------------------------------------------------------------------------- */

static uint32_t read_pattern(struct maker *maker);

static void check_field(
	struct maker *maker, uint32_t parent, uint32_t child, const char *name, size_t len)
{
	const struct shape_step *holder = step_at(maker, parent);
	const char *kind = ts_language_symbol_name(maker->language, holder->kind);
	const struct shared_field *shared = shared_field_find(
		ts_language_name(maker->language), holder->any ? NULL : kind, name, len);

	if (!shared)
		return;
	if (holder->any || !shared->once)
		(void)give_up(maker);
	for (uint32_t i = child; i; i = step_at(maker, i)->other)
		step_at(maker, i)->once = true;
}

static uint32_t read_child(struct maker *maker, uint32_t parent)
{
	struct reading *reading = &maker->reading;
	const char *name = NULL;
	TSFieldId field = 0;
	size_t len = 0;
	uint32_t first;

	if (reading_name_len(reading) > 0) {
		name = reading_name(reading, &len);
		field = ts_language_field_id_for_name(maker->language, name, (uint32_t)len);
		reading_skip_blanks(reading);
		if (field == 0 || here(maker) != ':')
			return give_up(maker);
		reading->at++;
		reading_skip_blanks(reading);
	}
	first = read_pattern(maker);
	for (uint32_t i = first; i; i = step_at(maker, i)->other)
		step_at(maker, i)->field = field;
	if (first && name)
		check_field(maker, parent, first, name, len);
	return maker->gave_up ? 0 : first;
}

/* A dot behind what tree-sitter only looks for where it stands first is for tree-sitter. */
static void check_dot(struct maker *maker, uint32_t before)
{
	const struct shape_step *step = before ? step_at(maker, before) : NULL;

	if (step && !step->captured && (step->other || (step->inside && !step->immediate)))
		(void)give_up(maker);
}

static bool read_dot(struct maker *maker)
{
	if (here(maker) != '.')
		return false;
	maker->reading.at++;
	reading_skip_blanks(&maker->reading);
	return true;
}

/* `child` comes behind `before`, or first of what is in `parent`. */
static void put_child(struct maker *maker, uint32_t parent, uint32_t before, uint32_t child)
{
	for (uint32_t i = before; i; i = step_at(maker, i)->other)
		step_at(maker, i)->next = child;
	if (!before)
		step_at(maker, parent)->inside = child;
	step_at(maker, parent)->captured |= step_at(maker, child)->captured;
}

static void mark_immediate(struct maker *maker, uint32_t child)
{
	for (uint32_t i = child; i; i = step_at(maker, i)->other)
		step_at(maker, i)->immediate = true;
}

/* What tree-sitter takes for the last depends on nodes that are not seen: with a dot it is its own. */
static void end_children(struct maker *maker, bool dot)
{
	maker->reading.at++;
	if (dot)
		(void)give_up(maker);
}

static void read_children(struct maker *maker, uint32_t parent)
{
	uint32_t before = 0;

	while (!maker->gave_up) {
		bool dot;
		uint32_t child;

		reading_skip_blanks(&maker->reading);
		dot = read_dot(maker);
		if (here(maker) == ')') {
			end_children(maker, dot);
			return;
		}
		if (dot)
			check_dot(maker, before);
		child = read_child(maker, parent);
		if (!child)
			return;
		mark_immediate(maker, dot ? child : 0);
		put_child(maker, parent, before, child);
		before = child;
	}
}

/* (kind ...) behind its bracket. */
static uint32_t read_node(struct maker *maker)
{
	const TSLanguage *language = maker->language;
	size_t len;
	const char *name = reading_name(&maker->reading, &len);
	bool is_any = len == 1 && name[0] == '_';
	bool is_error = len == 5 && !memcmp(name, "ERROR", 5);
	TSSymbol kind = is_error ? (TSSymbol)-1
				 : ts_language_symbol_for_name(language, name, (uint32_t)len, true);
	uint32_t step;

	reading_skip_blanks(&maker->reading);
	if (len == 0 || here(maker) == '/' || (!is_any && kind == 0))
		return give_up(maker);
	if (!is_any && !is_error && ts_language_symbol_type(language, kind) != TSSymbolTypeRegular)
		return give_up(maker);
	step = add_step(maker, kind);
	if (!step)
		return 0;
	step_at(maker, step)->any = is_any;
	read_children(maker, step);
	return maker->gave_up ? 0 : step;
}

static uint32_t read_anonymous(struct maker *maker)
{
	const char *text = maker->reading.text + maker->reading.at + 1;
	TSSymbol kind;
	size_t len;

	reading_skip_quotes(&maker->reading);
	len = (size_t)(maker->reading.text + maker->reading.at - text);
	len = len > 0 ? len - 1 : 0;
	kind = ts_language_symbol_for_name(maker->language, text, (uint32_t)len, false);
	if (kind == 0 || memchr(text, '\\', len))
		return give_up(maker);
	return add_step(maker, kind);
}

static uint32_t count_captures(const struct maker *maker, uint32_t step)
{
	uint32_t count = step_at(maker, step)->capture_count;

	for (uint32_t i = step_at(maker, step)->inside; i; i = step_at(maker, i)->next)
		count += count_captures(maker, i);
	return count;
}

/*
 * Of ways that differ in nothing that is told, tree-sitter tells one.  So no node may go two ways
 * through the same brackets, and all ways tell as much.
 */
static bool is_clear_choice(const struct maker *maker, uint32_t first)
{
	for (uint32_t i = first; i; i = step_at(maker, i)->other)
		for (uint32_t k = step_at(maker, i)->other; k; k = step_at(maker, k)->other)
			if (step_at(maker, i)->kind == step_at(maker, k)->kind ||
				step_at(maker, i)->any || step_at(maker, k)->any ||
				count_captures(maker, i) != count_captures(maker, k))
				return false;
	return true;
}

/* Alternatives behind their bracket. */
static uint32_t read_choice(struct maker *maker)
{
	uint32_t first = 0;
	uint32_t before = 0;

	for (reading_skip_blanks(&maker->reading); here(maker) && here(maker) != ']';
		reading_skip_blanks(&maker->reading)) {
		uint32_t step = here(maker) == '[' ? give_up(maker) : read_pattern(maker);

		if (!step)
			return 0;
		if (before)
			step_at(maker, before)->other = step;
		else
			first = step;
		before = step;
	}
	maker->reading.at++;
	return first && is_clear_choice(maker, first) ? first : give_up(maker);
}

/* NOLINTNEXTLINE(misc-no-recursion): no deeper than tree-sitter has gone into the same text */
static uint32_t read_pattern(struct maker *maker)
{
	char begin = here(maker);
	uint32_t first;

	if (begin == '"') {
		first = read_anonymous(maker);
	} else if (begin == '[' || begin == '(') {
		maker->reading.at++;
		reading_skip_blanks(&maker->reading);
		first = begin == '[' ? read_choice(maker) : read_node(maker);
	} else {
		first = give_up(maker);
	}
	if (first)
		read_captures(maker, first);
	return maker->gave_up ? 0 : first;
}

/* ((kind ...) @capture (#condition ...)) behind its first bracket: one pattern, then conditions. */
static uint32_t read_group(struct maker *maker)
{
	struct reading *reading = &maker->reading;
	uint32_t first = read_pattern(maker);

	for (reading_skip_blanks(reading); here(maker) == '('; reading_skip_blanks(reading)) {
		reading->at++;
		reading_skip_blanks(reading);
		if (here(maker) != '#')
			return give_up(maker);
		reading_skip_inside(reading);
	}
	if (here(maker) != ')')
		return give_up(maker);
	reading->at++;
	reading_skip_blanks(reading);
	return first;
}

static bool is_group(const struct maker *maker)
{
	struct reading ahead = maker->reading;

	if (reading_here(&ahead) != '(')
		return false;
	ahead.at++;
	reading_skip_blanks(&ahead);
	return reading_here(&ahead) && strchr("([\"", reading_here(&ahead));
}

static bool is_about(const struct maker *maker, uint32_t step)
{
	for (uint32_t i = 0; i < step_at(maker, step)->capture_count; i++)
		if (step_at(maker, step)->captures[i] == maker->asked)
			return true;
	return false;
}

/* The step that the condition is about, among those that each way goes through; or 0. */
static uint32_t find_certain(const struct maker *maker, uint32_t step)
{
	uint32_t found = is_about(maker, step) ? step : 0;

	if (step_at(maker, step)->other)
		return 0;
	for (uint32_t i = step_at(maker, step)->inside; i && !found; i = step_at(maker, i)->next)
		found = find_certain(maker, i);
	return found;
}

/* What a condition is about must be one node, wherever the pattern fits. */
static bool find_asked(struct maker *maker, uint32_t root, uint32_t before)
{
	uint32_t count = 0;
	uint32_t asked;

	if (maker->asked == SHAPE_ASKED_NONE)
		return true;
	for (uint32_t i = before + 1; i <= maker->shapes->count; i++)
		count += is_about(maker, i);
	asked = find_certain(maker, root);
	if (count != 1 || !asked)
		return false;
	step_at(maker, asked)->asked = true;
	return true;
}

static bool is_for_us(struct maker *maker, uint32_t root, uint32_t before)
{
	return root && !maker->gave_up && !step_at(maker, root)->any &&
	       count_captures(maker, root) <= SHAPE_CAPTURES_MAX && find_asked(maker, root, before);
}

uint32_t shape_read(struct shapes *shapes, const TSQuery *query, const TSLanguage *language,
	const char *text, size_t len, uint32_t asked)
{
	struct maker maker = { .reading = { .text = text, .len = len },
		.shapes = shapes,
		.query = query,
		.language = language,
		.asked = asked };
	uint32_t count = shapes->count;
	uint32_t root;

	reading_skip_blanks(&maker.reading);
	if (is_group(&maker)) {
		maker.reading.at++;
		reading_skip_blanks(&maker.reading);
		root = read_group(&maker);
	} else {
		root = read_pattern(&maker);
	}
	reading_skip_blanks(&maker.reading);
	if (maker.reading.at < len || !is_for_us(&maker, root, count)) {
		shapes->count = count;
		return 0;
	}
	return root;
}

void shapes_done(struct shapes *shapes)
{
	free(shapes->steps);
	*shapes = (struct shapes){ 0 };
}
