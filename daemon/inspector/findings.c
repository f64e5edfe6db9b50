#include "daemon/inspector/findings.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/utf8.h"

int findings_init(struct findings *findings)
{
	*findings = (struct findings){ 0 };
	findings->ones = calloc(FINDINGS_MAX, sizeof(*findings->ones));
	findings->report = calloc(INSPECT_FINDINGS_MAX, sizeof(*findings->report));
	if (findings->ones && findings->report)
		return 0;
	findings_done(findings);
	return -1;
}

void findings_done(struct findings *findings)
{
	free(findings->ones);
	free(findings->report);
	*findings = (struct findings){ 0 };
}

void findings_reset(struct findings *findings)
{
	findings->count = 0;
	findings->cut = WEIGHT_OFF;
}

static void leave_out(uint32_t *cut, uint32_t weight)
{
	if (weight > *cut)
		*cut = weight;
}

void findings_add(
	struct findings *findings, uint32_t rule, uint32_t weight, uint32_t start, uint32_t end)
{
	if (findings->count == FINDINGS_MAX) {
		if (rule != INSPECT_LATE) {
			leave_out(&findings->cut, weight);
			return;
		}
		leave_out(&findings->cut, findings->ones[--findings->count].weight);
	}
	findings->ones[findings->count++] = (struct finding){ rule, weight, { start, end } };
}

void findings_drop(struct findings *findings, uint32_t rule)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < findings->count; i++)
		if (findings->ones[i].rule != rule)
			findings->ones[count++] = findings->ones[i];
	findings->count = count;
}

static int compare(uint32_t a, uint32_t b)
{
	return (a > b) - (a < b);
}

static int compare_ones(const void *left, const void *right)
{
	const struct finding *a = left;
	const struct finding *b = right;
	int order = compare(a->at.start, b->at.start);

	if (order == 0)
		order = compare(a->at.end, b->at.end);
	if (order == 0)
		order = compare(b->weight, a->weight);
	return order ? order : compare(a->rule, b->rule);
}

/* Keeps the first finding of each place. */
static void drop_doubles(struct findings *findings)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < findings->count; i++) {
		const struct finding *one = &findings->ones[i];
		const struct finding *last = count > 0 ? &findings->ones[count - 1] : NULL;

		if (!last || one->at.start != last->at.start || one->at.end != last->at.end)
			findings->ones[count++] = *one;
	}
	findings->count = count;
}

/* The lightest weight that fits into the report, and how many of it fit. */
struct room {
	uint32_t weight;
	uint32_t count;
};

static struct room room_for(const struct findings *findings)
{
	uint32_t of[WEIGHT_COUNT] = { 0 };
	struct room room = { WEIGHT_DENY, INSPECT_FINDINGS_MAX };

	for (uint32_t i = 0; i < findings->count; i++)
		of[findings->ones[i].weight]++;
	while (room.weight > WEIGHT_OFF && of[room.weight] < room.count) {
		room.count -= of[room.weight];
		room.weight--;
	}
	return room;
}

/* Whether the finding fits into the report. */
static bool takes_room(struct room *room, const struct finding *one)
{
	if (one->weight != room->weight)
		return one->weight > room->weight;
	if (room->count == 0)
		return false;
	room->count--;
	return true;
}

/* The first line of the text, cut at a whole character.  Empty if it is not UTF-8. */
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

struct inspect_findings findings_report(struct findings *findings, const char *code, size_t len)
{
	struct inspect_findings report = { .findings = findings->report, .cut = findings->cut };
	struct walk walk = { .code = code, .len = len, .line = 1, .column = 1 };
	struct room room;

	qsort(findings->ones, findings->count, sizeof(*findings->ones), compare_ones);
	drop_doubles(findings);
	room = room_for(findings);
	for (uint32_t i = 0; i < findings->count; i++) {
		const struct finding *one = &findings->ones[i];
		struct inspect_finding *finding = &findings->report[report.count];

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
