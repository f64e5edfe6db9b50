#include "daemon/gate/budgets.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/gate/spending.h"
#include "proto/base/container.h"

#define NAME_BYTES_MAX 512
#define OTHERS         "\xff" /* no name of a caller's: those are UTF-8 */
#define OTHERS_UID     UINT32_MAX
#define MINUTE_US      INT64_C(60000000)
#define SWEEP_EVERY_US INT64_C(1000000)
#define SOON_MS        1000 /* said when what is in the way is a run that is under way */

struct budget_entry {
	struct spending minute; /* runs alone */
	struct spending window;
	uint64_t running, attempts, failures;
	uint64_t cpu_held_us, wall_held_us;
	int64_t failed_us; /* when the last one did */
	int64_t used_us;
	bool trial; /* a run is under way that decides */
	enum budget_scope scope;
	uint32_t uid;
	size_t key_len;
	char key[1 + sizeof(uint32_t) + NAME_BYTES_MAX + 1]; /* ends in the name and its NUL */
};

struct budget_names {
	size_t count;
};

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

/* ---- entries -------------------------------------------------------------------------------- */

void budgets_init(struct budgets *budgets, uint64_t window_ms, uint64_t circuit_ms)
{
	*budgets = (struct budgets){ .window_us = (int64_t)window_ms * 1000,
		.circuit_us = (int64_t)circuit_ms * 1000 };
	map_init(&budgets->entries);
	map_init(&budgets->names);
}

void budgets_done(struct budgets *budgets)
{
	map_done_with(&budgets->entries, free);
	map_done_with(&budgets->names, free);
}

static const char *name_of(const struct budget_entry *entry)
{
	return entry->key + 1 + sizeof(entry->uid);
}

static size_t make_key(char *key, enum budget_scope scope, uint32_t uid, const char *name)
{
	size_t len = strnlen(name, NAME_BYTES_MAX);

	key[0] = (char)scope;
	memcpy(key + 1, &uid, sizeof(uid));
	memcpy(key + 1 + sizeof(uid), name, len);
	key[1 + sizeof(uid) + len] = '\0';
	return 1 + sizeof(uid) + len;
}

static struct budget_names *names_of(const struct budgets *budgets, uint32_t uid)
{
	return map_get(&budgets->names, &uid, sizeof(uid));
}

static int count_name(struct budgets *budgets, uint32_t uid)
{
	struct budget_names *names = names_of(budgets, uid);

	if (!names) {
		names = calloc(1, sizeof(*names));
		if (!names || map_put(&budgets->names, &uid, sizeof(uid), names, NULL) < 0) {
			free(names);
			return -1;
		}
	}
	names->count++;
	return 0;
}

static void drop_name(struct budgets *budgets, uint32_t uid)
{
	struct budget_names *names = names_of(budgets, uid);

	if (names && --names->count == 0)
		free(map_remove(&budgets->names, &uid, sizeof(uid)));
}

static void age(struct budget_entry *entry, int64_t now_us)
{
	spending_move_on(&entry->minute, now_us);
	spending_move_on(&entry->window, now_us);
}

/* It says no more than one that is made anew. */
static bool says_nothing(const struct budgets *budgets, struct budget_entry *entry, int64_t now_us)
{
	int64_t quiet_us = now_us - entry->used_us;

	age(entry, now_us);
	return !entry->running && !entry->window.sum[SPENT_RUNS] &&
	       !entry->minute.sum[SPENT_RUNS] && quiet_us >= budgets->window_us &&
	       (!entry->failures || quiet_us >= 2 * budgets->circuit_us);
}

struct sweep {
	struct budgets *budgets;
	int64_t now_us;
	struct budget_entry *gone[256]; /* in one go */
	size_t count;
};

static int gather_silent(void *context, const void *key, size_t key_len, void *value)
{
	struct sweep *sweep = context;

	(void)key;
	(void)key_len;
	if (says_nothing(sweep->budgets, value, sweep->now_us))
		sweep->gone[sweep->count++] = value;
	return sweep->count == COUNT_OF(sweep->gone);
}

/* Seldom, since it looks at all of them. */
static void make_room(struct budgets *budgets, int64_t now_us)
{
	struct sweep sweep = { budgets, now_us, { NULL }, 0 };

	if (budgets->swept_us && now_us - budgets->swept_us < SWEEP_EVERY_US)
		return;
	budgets->swept_us = now_us;
	(void)map_each(&budgets->entries, gather_silent, &sweep);
	for (size_t i = 0; i < sweep.count; i++) {
		struct budget_entry *entry = sweep.gone[i];

		(void)map_remove(&budgets->entries, entry->key, entry->key_len);
		if (entry->scope != BUDGET_UID)
			drop_name(budgets, entry->uid);
		free(entry);
	}
}

static bool is_full(const struct budgets *budgets, enum budget_scope scope, uint32_t uid)
{
	const struct budget_names *names = names_of(budgets, uid);

	return budgets->entries.count >= BUDGET_ENTRIES_MAX ||
	       (scope != BUDGET_UID && names && names->count >= BUDGET_NAMES_PER_UID);
}

static struct budget_entry *entry_new(struct budgets *budgets, enum budget_scope scope,
	uint32_t uid, const char *name, int64_t now_us)
{
	struct budget_entry *entry = calloc(1, sizeof(*entry));

	if (!entry || (scope != BUDGET_UID && count_name(budgets, uid) < 0)) {
		free(entry);
		return NULL;
	}
	entry->scope = scope;
	entry->uid = uid;
	entry->key_len = make_key(entry->key, scope, uid, name);
	spending_init(&entry->minute, MINUTE_US, now_us);
	spending_init(&entry->window, budgets->window_us, now_us);
	entry->used_us = now_us;
	if (map_put(&budgets->entries, entry->key, entry->key_len, entry, NULL) < 0) {
		if (scope != BUDGET_UID)
			drop_name(budgets, uid);
		free(entry);
		return NULL;
	}
	return entry;
}

static struct budget_entry *find(
	const struct budgets *budgets, enum budget_scope scope, uint32_t uid, const char *name)
{
	char key[sizeof(((struct budget_entry *)NULL)->key)];
	size_t len = make_key(key, scope, uid, name);

	return map_get(&budgets->entries, key, len);
}

/* Its own, or the one that it shares; NULL: no memory. */
static struct budget_entry *entry_for(struct budgets *budgets, enum budget_scope scope,
	uint32_t uid, const char *name, int64_t now_us)
{
	struct budget_entry *entry = find(budgets, scope, uid, name);

	if (!entry && is_full(budgets, scope, uid))
		make_room(budgets, now_us);
	if (!entry && is_full(budgets, scope, uid)) {
		name = OTHERS;
		uid = scope == BUDGET_UID ? OTHERS_UID : uid;
		entry = find(budgets, scope, uid, name);
	}
	if (!entry)
		entry = entry_new(budgets, scope, uid, name, now_us);
	if (entry)
		age(entry, now_us);
	return entry;
}

static const char *name_in(const struct budget_case *what, enum budget_scope scope)
{
	return scope == BUDGET_UID ? "" : scope == BUDGET_AGENT ? what->agent : what->task;
}

/* ---- bounds --------------------------------------------------------------------------------- */

static uint64_t most_of(const struct budget_limits *limits, enum budget_measure measure)
{
	const uint64_t all[BUDGET_MEASURE_COUNT] = {
#define LIMIT(name, uid, agent, task, highest, meaning) limits->name,
		CONFIG_BUDGETS(LIMIT)
#undef LIMIT
	};

	return all[measure];
}

static uint64_t spent_of(const struct budget_entry *entry, enum budget_measure measure)
{
	const uint64_t all[BUDGET_MEASURE_COUNT] = {
		[BUDGET_RUNNING] = entry->running,
		[BUDGET_RUNS_PER_MINUTE] = entry->minute.sum[SPENT_RUNS],
		[BUDGET_CPU_MS] = (entry->window.sum[SPENT_CPU_US] + entry->cpu_held_us) / 1000,
		[BUDGET_WALL_MS] = (entry->window.sum[SPENT_WALL_US] + entry->wall_held_us) / 1000,
		[BUDGET_STORED_BYTES] = entry->window.sum[SPENT_BYTES],
		[BUDGET_FAILURES] = entry->failures,
	};

	return all[measure];
}

static int64_t open_for_us(
	const struct budgets *budgets, const struct budget_entry *entry, int64_t now_us)
{
	return entry->failed_us + budgets->circuit_us - now_us;
}

static int64_t wait_us(const struct budgets *budgets, const struct budget_entry *entry,
	enum budget_measure measure, uint64_t most, int64_t now_us)
{
	switch (measure) {
	case BUDGET_RUNS_PER_MINUTE:
		return spending_until_below(&entry->minute, SPENT_RUNS, most, now_us);
	case BUDGET_CPU_MS:
		return spending_until_below(&entry->window, SPENT_CPU_US, most * 1000, now_us);
	case BUDGET_WALL_MS:
		return spending_until_below(&entry->window, SPENT_WALL_US, most * 1000, now_us);
	case BUDGET_STORED_BYTES:
		return spending_until_below(&entry->window, SPENT_BYTES, most, now_us);
	case BUDGET_FAILURES:
		return open_for_us(budgets, entry, now_us);
	case BUDGET_RUNNING:
	case BUDGET_MEASURE_COUNT:
		break;
	}
	return 0;
}

/* At its bound; a circuit that has been open for its time lets one run through. */
static bool is_spent(const struct budgets *budgets, const struct budget_entry *entry,
	enum budget_measure measure, uint64_t most, int64_t now_us)
{
	if (!most || spent_of(entry, measure) < most)
		return false;
	return measure != BUDGET_FAILURES || entry->trial ||
	       open_for_us(budgets, entry, now_us) > 0;
}

static bool is_refused(const struct budgets *budgets, const struct budget_entry *entry,
	const struct budget_limits *limits, int64_t now_us, struct budget_refusal *ret_refusal)
{
	for (unsigned i = 0; i < BUDGET_MEASURE_COUNT; i++) {
		enum budget_measure measure = (enum budget_measure)i;
		uint64_t most = most_of(limits, measure);
		int64_t wait_ms;

		if (!is_spent(budgets, entry, measure, most, now_us))
			continue;
		wait_ms = wait_us(budgets, entry, measure, most, now_us) / 1000 + 1;
		*ret_refusal = (struct budget_refusal){ entry->scope, measure,
			spent_of(entry, measure), most, wait_ms > 1 ? wait_ms : SOON_MS };
		return true;
	}
	return false;
}

static void enter(const struct budget_case *what, struct budget_ticket *ticket,
	struct budget_entry *entry, int64_t now_us)
{
	uint64_t most = what->limits[entry->scope].failures;

	entry->running++;
	entry->attempts++;
	entry->cpu_held_us += ticket->cpu_us;
	entry->wall_held_us += ticket->wall_us;
	entry->used_us = now_us;
	spending_add(&entry->minute, SPENT_RUNS, 1, 0);
	spending_add(&entry->window, SPENT_RUNS, 1, 0);
	ticket->trial[entry->scope] = most && entry->failures >= most;
	entry->trial = entry->trial || ticket->trial[entry->scope];
	if (entry->scope == BUDGET_TASK)
		ticket->attempt = entry->attempts;
}

int budgets_admit(struct budgets *budgets, const struct budget_case *what, int64_t now_us,
	struct budget_ticket *ret_ticket, struct budget_refusal *ret_refusal)
{
	struct budget_ticket ticket = { .cpu_us = what->cpu_ms * 1000,
		.wall_us = what->wall_ms * 1000 };

	*ret_ticket = (struct budget_ticket){ .attempt = 0 };
	for (unsigned i = 0; i < BUDGET_SCOPE_COUNT; i++) {
		const char *name = name_in(what, (enum budget_scope)i);

		if (!name)
			continue;
		ticket.entries[i] =
			entry_for(budgets, (enum budget_scope)i, what->uid, name, now_us);
		if (!ticket.entries[i])
			return -1;
		if (is_refused(budgets, ticket.entries[i], &what->limits[i], now_us, ret_refusal))
			return 1;
		ticket.entries[i]->used_us = now_us; /* or the next one's room would be this */
	}
	for (unsigned i = 0; i < BUDGET_SCOPE_COUNT; i++)
		if (ticket.entries[i])
			enter(what, &ticket, ticket.entries[i], now_us);
	*ret_ticket = ticket;
	return 0;
}

/* ---- what was spent ------------------------------------------------------------------------- */

static void note_end(struct budget_entry *entry, enum budget_end end, int64_t at_us)
{
	if (end == BUDGET_OK)
		entry->failures = 0;
	if (end != BUDGET_FAILED)
		return;
	entry->failures++;
	entry->failed_us = at_us;
}

static void note_spent(struct budget_entry *entry, const struct budget_spent *spent, int64_t age_us)
{
	spending_add(&entry->window, SPENT_CPU_US, spent->cpu_us, age_us);
	spending_add(&entry->window, SPENT_WALL_US, spent->wall_us, age_us);
	spending_add(&entry->window, SPENT_BYTES, spent->stored_bytes, age_us);
}

void budgets_settle(struct budgets *budgets, struct budget_ticket *ticket,
	const struct budget_spent *spent, int64_t now_us)
{
	(void)budgets;
	for (unsigned i = 0; i < BUDGET_SCOPE_COUNT; i++) {
		struct budget_entry *entry = ticket->entries[i];

		if (!entry)
			continue;
		age(entry, now_us);
		entry->running--;
		entry->cpu_held_us -= ticket->cpu_us;
		entry->wall_held_us -= ticket->wall_us;
		entry->used_us = now_us;
		if (ticket->trial[i])
			entry->trial = false;
		note_spent(entry, spent, 0);
		note_end(entry, spent->end, now_us);
		ticket->entries[i] = NULL;
	}
}

void budgets_remember(struct budgets *budgets, const struct budget_case *what,
	const struct budget_spent *spent, bool of_uid, int64_t age_us, int64_t now_us)
{
	/* A clock that was set back makes it new, and not free. */
	int64_t past_us = age_us < 0 ? 0 : age_us;

	for (unsigned i = 0; i < BUDGET_SCOPE_COUNT; i++) {
		const char *name = name_in(what, (enum budget_scope)i);
		bool counts = name && (i != BUDGET_UID || of_uid);
		struct budget_entry *entry =
			counts ? entry_for(budgets, (enum budget_scope)i, what->uid, name, now_us)
			       : NULL;

		if (!entry)
			continue;
		entry->attempts++;
		spending_add(&entry->minute, SPENT_RUNS, 1, past_us);
		spending_add(&entry->window, SPENT_RUNS, 1, past_us);
		note_spent(entry, spent, past_us);
		note_end(entry, spent->end, now_us - past_us);
	}
}

bool budgets_reset(struct budgets *budgets, enum budget_scope scope, uint32_t uid, const char *name)
{
	struct budget_entry *entry = find(budgets, scope, uid, name);

	if (!entry)
		return false;
	spending_forget(&entry->minute);
	spending_forget(&entry->window);
	entry->attempts = entry->failures = 0;
	entry->trial = false;
	return true;
}

/* ---- telling -------------------------------------------------------------------------------- */

static struct value *left_of(
	const struct budget_entry *entry, const struct budget_limits *limits, struct arena *arena)
{
	struct value *map = NULL;

	for (unsigned i = 0; i < BUDGET_MEASURE_COUNT; i++) {
		uint64_t most = most_of(limits, (enum budget_measure)i);
		uint64_t spent = spent_of(entry, (enum budget_measure)i);

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
		if (most_of(limits, (enum budget_measure)i))
			return true;
	return false;
}

struct value *budgets_left(struct budgets *budgets, const struct budget_case *what, int64_t now_us,
	struct arena *arena)
{
	struct value *map = NULL;

	for (unsigned i = 0; i < BUDGET_SCOPE_COUNT; i++) {
		const char *name = name_in(what, (enum budget_scope)i);
		bool tells = name && is_bounded(&what->limits[i]);
		struct budget_entry *entry =
			tells ? entry_for(budgets, (enum budget_scope)i, what->uid, name, now_us)
			      : NULL;
		struct value *left = entry ? left_of(entry, &what->limits[i], arena) : NULL;

		if (!left)
			continue;
		map = map ? map : value_map(arena);
		value_map_put(arena, map, scope_words[i], left);
	}
	return map;
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
	const char *name = name_of(entry);
	int64_t open_us = open_for_us(description->budgets, entry, description->now_us);

	age(entry, description->now_us);
	value_map_put(arena, map, "scope", value_text(arena, scope_words[entry->scope]));
	if (entry->uid != OTHERS_UID)
		value_map_put(arena, map, "uid", value_int(arena, entry->uid));
	if (entry->scope != BUDGET_UID || entry->uid == OTHERS_UID)
		value_map_put(arena, map, "name",
			value_text(arena, strcmp(name, OTHERS) ? name : "(others)"));
	for (unsigned i = 0; i < BUDGET_MEASURE_COUNT; i++)
		value_map_put(arena, map, measure_words[i],
			value_uint(arena, spent_of(entry, (enum budget_measure)i)));
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
