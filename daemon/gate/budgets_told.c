#include <string.h>

#include "daemon/gate/budget_parts.h"

static const char *const scope_words[] = {
	[BUDGET_UID] = "uid", [BUDGET_AGENT] = "agent", [BUDGET_TASK] = "task"
};

const char *budget_scope_word(enum budget_scope scope)
{
	return scope_words[scope];
}

#define WORD(name, uid, agent, task, highest, meaning) #name,
static const char *const measure_words[BUDGET_MEASURE_COUNT] = { CONFIG_BUDGETS(WORD) };
#undef WORD

const char *budget_measure_word(enum budget_measure measure)
{
	return measure_words[measure];
}

static struct value *left_of(
	const struct budget_entry *entry, const struct budget_limits *limits, struct arena *arena)
{
	struct value *map = NULL;

	for (unsigned i = 0; i < BUDGET_MEASURE_COUNT; i++) {
		uint64_t most = budget_most(limits, (enum budget_measure)i);
		uint64_t spent = budget_spent_in(entry, (enum budget_measure)i);

		if (!most)
			continue;
		map = map ? map : value_map(arena);
		value_map_put(arena, map, measure_words[i],
			value_uint(arena, spent < most ? most - spent : 0));
	}
	return map;
}

static bool is_bounded(const struct budget_limits *limits)
{
	for (unsigned i = 0; i < BUDGET_MEASURE_COUNT; i++)
		if (budget_most(limits, (enum budget_measure)i))
			return true;
	return false;
}

struct value *budgets_left(struct budgets *budgets, const struct budget_case *what, int64_t now_us,
	struct arena *arena)
{
	struct value *map = NULL;

	for (unsigned i = 0; i < BUDGET_SCOPE_COUNT; i++) {
		const char *name = budget_name_in(what, (enum budget_scope)i);
		bool tells = name && is_bounded(&what->limits[i]);
		struct budget_entry *entry = tells ? budget_entry_for(budgets, (enum budget_scope)i,
							     what->uid, name, now_us)
						   : NULL;
		struct value *left = entry ? left_of(entry, &what->limits[i], arena) : NULL;

		if (!left)
			continue;
		map = map ? map : value_map(arena);
		value_map_put(arena, map, scope_words[i], left);
	}
	return map;
}

/* Failures may exceed the bound: runs failed concurrently, or the bound was lowered. */
static uint64_t attempts_left(uint64_t most, uint64_t failures)
{
	return failures < most ? most - failures : 0;
}

bool budgets_failing(struct budgets *budgets, const struct budget_case *what, int64_t now_us,
	struct budget_refusal *ret_failing)
{
	bool found = false;

	for (unsigned i = 0; i < BUDGET_SCOPE_COUNT; i++) {
		const char *name = budget_name_in(what, (enum budget_scope)i);
		uint64_t most = what->limits[i].failures;
		const struct budget_entry *entry =
			name && most ? budget_find(budgets, (enum budget_scope)i, what->uid, name)
				     : NULL;
		int64_t open_us;

		if (!entry || !entry->failures ||
			(found && attempts_left(most, entry->failures) >=
					  attempts_left(ret_failing->most, ret_failing->spent)))
			continue;
		open_us = entry->failures >= most ? budget_open_us(budgets, entry, now_us) : 0;
		*ret_failing = (struct budget_refusal){ (enum budget_scope)i, BUDGET_FAILURES,
			entry->failures, most, open_us > 0 ? open_us / 1000 + 1 : 0, false };
		found = true;
	}
	return found;
}

struct description {
	struct budgets *budgets;
	const uint32_t *uid;
	size_t most;
	int64_t now_us;
	struct arena *arena;
	struct value *list;
	bool more;
};

static struct value *describe(struct description *description, struct budget_entry *entry)
{
	struct arena *arena = description->arena;
	struct value *map = value_map(arena);
	const char *name = budget_name(entry);
	int64_t open_us = budget_open_us(description->budgets, entry, description->now_us);

	budget_age(entry, description->now_us);
	value_map_put(arena, map, "scope", value_text(arena, scope_words[entry->scope]));
	if (entry->uid != BUDGET_OTHERS_UID)
		value_map_put(arena, map, "uid", value_int(arena, entry->uid));
	if (entry->scope != BUDGET_UID || entry->uid == BUDGET_OTHERS_UID)
		value_map_put(arena, map, "name",
			value_text(arena, budget_is_shared(entry) ? BUDGET_OTHERS_TOLD : name));
	for (unsigned i = 0; i < BUDGET_MEASURE_COUNT; i++)
		value_map_put(arena, map, measure_words[i],
			value_uint(arena, budget_spent_in(entry, (enum budget_measure)i)));
	value_map_put(arena, map, "attempts", value_uint(arena, entry->attempts));
	if (entry->failures && open_us > 0)
		value_map_put(arena, map, "failed_ms_ago",
			value_int(arena, (description->now_us - entry->failed_us) / 1000));
	return map;
}

static int describe_entry(void *context, const void *key, size_t key_len, void *value)
{
	struct description *description = context;
	struct budget_entry *entry = value;

	(void)key;
	(void)key_len;
	if (description->uid && entry->uid != *description->uid)
		return 0;
	if (description->list->list.count >= description->most) {
		description->more = true;
		return 1;
	}
	value_list_add(description->arena, description->list, describe(description, entry));
	return 0;
}

struct value *budgets_describe(struct budgets *budgets, const uint32_t *uid, size_t most,
	int64_t now_us, struct arena *arena, bool *ret_more)
{
	struct description description = { budgets, uid, most, now_us, arena, value_list(arena),
		false };

	if (description.list)
		(void)map_each(&budgets->entries, describe_entry, &description);
	*ret_more = description.more;
	return description.list;
}
