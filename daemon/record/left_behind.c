#include "daemon/record/left_behind.h"

#include <inttypes.h>
#include <string.h>

#include "proto/base/log.h"
#include "store/store.h"

void left_behind_begin(struct left_behind *behind, bool again)
{
	if (!again)
		memset(behind, 0, sizeof(*behind));
	behind->runs = 0;
	behind->in_a_row = 0;
}

static bool is_named(const struct left_behind *behind, const char *name)
{
	for (unsigned i = 0; i < behind->named; i++)
		if (strcmp(behind->names[i], name) == 0)
			return true;
	return false;
}

void left_behind_note(struct left_behind *behind, const char *name, const char *why)
{
	behind->runs++;
	behind->in_a_row++;
	cut_printf(behind->why, sizeof(behind->why), "%s", why);
	if (behind->named == LEFT_BEHIND_NAMED || is_named(behind, name))
		return;
	cut_printf(behind->names[behind->named++], sizeof(behind->names[0]), "%s", name);
	log_event(LOG_LEVEL_WARNING, "gc.left_behind", LOG_STR("run", name), LOG_STR("why", why));
}

void left_behind_note_rows(struct left_behind *behind, uint64_t runs, int64_t row, const char *why)
{
	char name[RUN_ID_LEN + 1];

	cut_printf(name, sizeof(name), "row %" PRId64, row);
	left_behind_note(behind, name, why);
	behind->runs += runs - 1;
}

void left_behind_gone(struct left_behind *behind)
{
	behind->in_a_row = 0;
}

bool left_behind_goes_on(const struct left_behind *behind, const struct err *err)
{
	return err->code != ERR_CLOSED && !store_is_shut(err) && behind->in_a_row < LEFT_BEHIND_ROW;
}

void left_behind_describe(const struct left_behind *behind, struct fill *fill)
{
	struct fill map = fill_start(fill->arena);
	struct value *names = value_list(fill->arena);

	if (!behind->runs)
		return;
	for (unsigned i = 0; i < behind->named; i++)
		if (value_list_add(fill->arena, names, value_text(fill->arena, behind->names[i])) <
			0)
			fill->failed = true;
	fill_uint(&map, "runs", behind->runs);
	fill_value(&map, "names", names);
	fill_text(&map, "why", behind->why);
	fill_value(fill, "left_behind", fill_done(&map));
}
