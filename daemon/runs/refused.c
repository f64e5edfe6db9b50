#include "daemon/runs/refused.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "proto/callname.h"

static int by_time(const void *one, const void *other)
{
	const struct slotmsg_refused *a = one;
	const struct slotmsg_refused *b = other;

	return (a->first_us > b->first_us) - (a->first_us < b->first_us);
}

static int64_t within(int64_t at_us, int64_t from_us, int64_t until_us)
{
	if (at_us > until_us)
		at_us = until_us;
	return at_us > from_us ? at_us - from_us : 0;
}

void refused_tell(struct arena *arena, const struct facts *facts, int64_t begun_us,
	int64_t ended_us, struct job_result *result)
{
	struct slotmsg_refused rows[SLOTMSG_REFUSED_MAX];
	struct job_refused *refused = NULL;

	if (facts->refused_count)
		refused = arena_alloc(arena, facts->refused_count * sizeof(*refused));
	if (!refused)
		return;
	memcpy(rows, facts->refused, facts->refused_count * sizeof(*rows));
	qsort(rows, facts->refused_count, sizeof(*rows), by_time);
	for (size_t i = 0; i < facts->refused_count; i++)
		refused[i] = (struct job_refused){
			.call = call_name_or_number(arena, rows[i].nr),
			.kind = call_kind(arena, rows[i].nr, rows[i].kind),
			.wish = call_wish(rows[i].nr, rows[i].kind),
			.count = rows[i].count,
			.first_us = within(rows[i].first_us, begun_us, ended_us),
			.ended = rows[i].ended,
		};
	result->refused = refused;
	result->refused_count = facts->refused_count;
	result->refused_others = facts->refused_others;
}

const char *refused_note(struct arena *arena, const struct job_refused *refused)
{
	const char *kind = refused->kind ? refused->kind : "";
	const char *note;

	if (refused->count == 1)
		note = arena_printf(
			arena, "%s(%s): tried to %s", refused->call, kind, refused->wish);
	else
		note = arena_printf(arena, "%s(%s), %" PRIu32 " times: tried to %s", refused->call,
			kind, refused->count, refused->wish);
	return note;
}
