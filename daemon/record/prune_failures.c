#include "daemon/record/prune_failures.h"

#include <inttypes.h>
#include <string.h>

#include "proto/base/log.h"
#include "store/store.h"

void prune_failures_start(struct prune_failures *behind, bool again)
{
	if (!again)
		memset(behind, 0, sizeof(*behind));
	behind->runs = 0;
	behind->in_a_row = 0;
}

static bool is_named(const struct prune_failures *behind, const char *name)
{
	for (unsigned i = 0; i < behind->named; i++)
		if (strcmp(behind->names[i], name) == 0)
			return true;
	return false;
}

void prune_failures_add(struct prune_failures *behind, const char *name, const char *why)
{
	behind->runs++;
	behind->in_a_row++;
	cut_printf(behind->why, sizeof(behind->why), "%s", why);
	if (behind->named == PRUNE_FAILURES_NAMED || is_named(behind, name))
		return;
	cut_printf(behind->names[behind->named++], sizeof(behind->names[0]), "%s", name);
	log_event(LOG_LEVEL_WARNING, "gc.left_behind", LOG_STR("run", name), LOG_STR("why", why));
}

void prune_failures_add_rows(
	struct prune_failures *behind, uint64_t runs, int64_t row, const char *why)
{
	char name[RUN_ID_LEN + 1];

	cut_printf(name, sizeof(name), "row %" PRId64, row);
	prune_failures_add(behind, name, why);
	behind->runs += runs - 1;
}

void prune_failures_success(struct prune_failures *behind)
{
	behind->in_a_row = 0;
}

bool prune_failures_may_continue(const struct prune_failures *behind, const struct err *err)
{
	return err->code != ERR_CLOSED && !store_is_shut(err) &&
	       behind->in_a_row < PRUNE_FAILURES_IN_A_ROW;
}

void prune_failures_describe(const struct prune_failures *behind, struct fill *fill)
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
