#include "daemon/inspector/found.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/utf8.h"

int found_init(struct found *found)
{
	*found = (struct found){ 0 };
	found->ones = calloc(FOUND_MAX, sizeof(*found->ones));
	found->report = calloc(INSPECT_FINDINGS_MAX, sizeof(*found->report));
	if (found->ones && found->report)
		return 0;
	found_done(found);
	return -1;
}

void found_done(struct found *found)
{
	free(found->ones);
	free(found->report);
	*found = (struct found){ 0 };
}

void found_reset(struct found *found)
{
	found->count = 0;
	found->cut = WEIGHT_OFF;
}

static void leave_out(uint32_t *cut, uint32_t weight)
{
	if (weight > *cut)
		*cut = weight;
}

void found_add(struct found *found, uint32_t rule, uint32_t weight, uint32_t start, uint32_t end)
{
	if (found->count == FOUND_MAX) {
		if (rule != INSPECT_LATE) {
			leave_out(&found->cut, weight);
			return;
		}
		leave_out(&found->cut, found->ones[--found->count].weight);
	}
	found->ones[found->count++] = (struct found_one){ rule, weight, { start, end } };
}

void found_drop(struct found *found, uint32_t rule)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < found->count; i++)
		if (found->ones[i].rule != rule)
			found->ones[count++] = found->ones[i];
	found->count = count;
}

static int compare(uint32_t a, uint32_t b)
{
	return (a > b) - (a < b);
}

static int compare_ones(const void *left, const void *right)
{
	const struct found_one *a = left;
	const struct found_one *b = right;
	int order = compare(a->at.start, b->at.start);

	if (order == 0)
		order = compare(a->at.end, b->at.end);
	if (order == 0)
		order = compare(b->weight, a->weight);
	return order ? order : compare(a->rule, b->rule);
}

/* Of those at the same place the first stays. */
static void drop_doubles(struct found *found)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < found->count; i++) {
		const struct found_one *one = &found->ones[i];
		const struct found_one *last = count > 0 ? &found->ones[count - 1] : NULL;

		if (!last || one->at.start != last->at.start || one->at.end != last->at.end)
			found->ones[count++] = *one;
	}
	found->count = count;
}

/* The lightest that there is room for, and how many of that weight. */
struct room {
	uint32_t weight;
	uint32_t count;
};

static struct room room_for(const struct found *found)
{
	uint32_t of[WEIGHT_COUNT] = { 0 };
	struct room room = { WEIGHT_DENY, INSPECT_FINDINGS_MAX };

	for (uint32_t i = 0; i < found->count; i++)
		of[found->ones[i].weight]++;
	while (room.weight > WEIGHT_OFF && of[room.weight] < room.count) {
		room.count -= of[room.weight];
		room.weight--;
	}
	return room;
}

/* Takes a place in the answer, if there is one for it. */
static bool takes_room(struct room *room, const struct found_one *one)
{
	if (one->weight != room->weight)
		return one->weight > room->weight;
	if (room->count == 0)
		return false;
	room->count--;
	return true;
}

/* What stands there: its first line, cut at a whole character.  Not UTF-8: nothing. */
static void fill_text(struct inspect_finding *finding, const char *text, size_t len)
{
	const char *line_end = memchr(text, '\n', len);

	if (line_end)
		len = (size_t)(line_end - text);
	if (len > INSPECT_TEXT_MAX)
		len = utf8_whole_prefix(text, INSPECT_TEXT_MAX);
	if (!utf8_is_valid(text, len))
		len = 0;
	memcpy(finding->text, text, len);
	finding->text_len = (uint32_t)len;
}

/* A walk over the program that remembers which line and column it has reached. */
struct walk {
	const char *code;
	size_t len;
	size_t at;
	uint32_t line;
	uint32_t column;
};

static void walk_to(struct walk *walk, size_t place)
{
	for (; walk->at < place && walk->at < walk->len; walk->at++) {
		unsigned char byte = (unsigned char)walk->code[walk->at];

		if (byte == '\n') {
			walk->line++;
			walk->column = 1;
		} else if ((byte & 0xc0U) != 0x80U) {
			walk->column++;
		}
	}
}

struct inspect_findings found_report(struct found *found, const char *code, size_t len)
{
	struct inspect_findings report = { .findings = found->report, .cut = found->cut };
	struct walk walk = { .code = code, .len = len, .line = 1, .column = 1 };
	struct room room;

	qsort(found->ones, found->count, sizeof(*found->ones), compare_ones);
	drop_doubles(found);
	room = room_for(found);
	for (uint32_t i = 0; i < found->count; i++) {
		const struct found_one *one = &found->ones[i];
		struct inspect_finding *finding = &found->report[report.count];

		if (!takes_room(&room, one)) {
			leave_out(&report.cut, one->weight);
			continue;
		}
		walk_to(&walk, one->at.start);
		finding->rule = one->rule;
		finding->line = walk.line;
		finding->column = walk.column;
		fill_text(finding, code + one->at.start, one->at.end - one->at.start);
		report.count++;
	}
	return report;
}
