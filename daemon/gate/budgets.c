#include "daemon/gate/budgets.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/gate/spending.h"
#include "proto/base/container.h"
#include "proto/fill.h"

#define MINUTE_US         INT64_C(60000000)
#define SWEEP_EVERY_US    INT64_C(1000000)
#define SOON_MS           1000 /* retry time reported when only a run in progress is in the way */
#define BUDGET_NAME_BYTES 512
#define BUDGET_OTHERS     "\xff" /* cannot be a caller's name: those are UTF-8 */
#define BUDGET_OTHERS_UID UINT32_MAX

struct budget_entry {
	struct spending minute; /* counts runs only */
	struct spending window;
	uint64_t running, attempts, failures;
	uint64_t paused; /* runs that wait for approval; their tickets point here */
	uint64_t cpu_held_us, wall_held_us;
	int64_t failed_us; /* time of the last failure */
	int64_t used_us;
	bool trial; /* a trial run is in progress; its end decides whether the circuit closes */
	enum budget_scope scope;
	uint32_t uid;
	size_t key_len;
	/* the key ends in the name and its NUL */
	char key[1 + sizeof(uint32_t) + BUDGET_NAME_BYTES + 1];
};

/* ---- entries -------------------------------------------------------------------------------- */

struct budget_names {
	size_t count;
};

void budgets_init(struct budgets *budgets, uint64_t window_ms, uint64_t circuit_ms)
{
	*budgets = (struct budgets){ .window_us = (int64_t)window_ms * 1000,
		.circuit_us = (int64_t)circuit_ms * 1000 };
	map_init(&budgets->entries);
	map_init(&budgets->names);
}

void budgets_set_circuit(struct budgets *budgets, uint64_t circuit_ms)
{
	budgets->circuit_us = (int64_t)circuit_ms * 1000;
}

void budgets_done(struct budgets *budgets)
{
	map_done_with(&budgets->entries, free);
	map_done_with(&budgets->names, free);
}

static size_t make_key(char *key, enum budget_scope scope, uint32_t uid, const char *name)
{
	size_t len = strnlen(name, BUDGET_NAME_BYTES);

	key[0] = (char)scope;
	memcpy(key + 1, &uid, sizeof(uid));
	memcpy(key + 1 + sizeof(uid), name, len);
	key[1 + sizeof(uid) + len] = '\0';
	return 1 + sizeof(uid) + len;
}

static const char *budget_name(const struct budget_entry *entry)
{
	return entry->key + 1 + sizeof(entry->uid);
}

/* True for the "(others)" entry, which names without an entry of their own share. */
static bool budget_is_shared(const struct budget_entry *entry)
{
	return !strcmp(budget_name(entry), BUDGET_OTHERS);
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

/* Drops spending that is older than the minute and the window. */
static void budget_age(struct budget_entry *entry, int64_t now_us)
{
	spending_move_on(&entry->minute, now_us);
	spending_move_on(&entry->window, now_us);
}

/* True when dropping the entry loses nothing: a new one would say the same. */
static bool says_nothing(const struct budgets *budgets, struct budget_entry *entry, int64_t now_us)
{
	int64_t quiet_us = now_us - entry->used_us;

	budget_age(entry, now_us);
	return !entry->running && !entry->paused && !entry->window.sum[SPENT_RUNS] &&
	       !entry->minute.sum[SPENT_RUNS] && quiet_us >= budgets->window_us &&
	       (!entry->failures || quiet_us >= 2 * budgets->circuit_us);
}

struct sweep {
	struct budgets *budgets;
	int64_t now_us;
	struct budget_entry *gone[256]; /* at most this many in one sweep */
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

/* Drops unneeded entries.  Looks at every entry, so it runs at most once a second. */
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

static struct budget_entry *budget_find(
	const struct budgets *budgets, enum budget_scope scope, uint32_t uid, const char *name)
{
	char key[sizeof(((struct budget_entry *)NULL)->key)];
	size_t len = make_key(key, scope, uid, name);

	return map_get(&budgets->entries, key, len);
}

/* Returns the entry for this name (made if it is missing), or the shared one.  NULL: no memory. */
static struct budget_entry *budget_entry_for(struct budgets *budgets, enum budget_scope scope,
	uint32_t uid, const char *name, int64_t now_us)
{
	struct budget_entry *entry = budget_find(budgets, scope, uid, name);

	if (!entry && is_full(budgets, scope, uid))
		make_room(budgets, now_us);
	if (!entry && is_full(budgets, scope, uid)) {
		name = BUDGET_OTHERS;
		uid = scope == BUDGET_UID ? BUDGET_OTHERS_UID : uid;
		entry = budget_find(budgets, scope, uid, name);
	}
	if (!entry)
		entry = entry_new(budgets, scope, uid, name, now_us);
	if (entry)
		budget_age(entry, now_us);
	return entry;
}

/* The name that a run counts for in this scope, or NULL. */
static const char *budget_name_in(const struct budget_case *what, enum budget_scope scope)
{
	return scope == BUDGET_UID ? "" : scope == BUDGET_AGENT ? what->agent : what->task;
}

/* ---- bounds --------------------------------------------------------------------------------- */

static uint64_t budget_most(const struct budget_limits *limits, enum budget_measure measure)
{
	const uint64_t all[BUDGET_MEASURE_COUNT] = {
#define LIMIT(name, uid, agent, task, highest, meaning) limits->name,
		CONFIG_BUDGETS(LIMIT)
#undef LIMIT
	};

	return all[measure];
}

static uint64_t budget_spent_in(const struct budget_entry *entry, enum budget_measure measure)
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

static int64_t budget_open_us(
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
		return budget_open_us(budgets, entry, now_us);
	case BUDGET_RUNNING:
	case BUDGET_MEASURE_COUNT:
		break;
	}
	return 0;
}

/* True at the bound.  A circuit whose time has passed lets one trial run through. */
static bool is_spent(const struct budgets *budgets, const struct budget_entry *entry,
	enum budget_measure measure, uint64_t most, int64_t now_us)
{
	if (!most || budget_spent_in(entry, measure) < most)
		return false;
	return measure != BUDGET_FAILURES || entry->trial ||
	       budget_open_us(budgets, entry, now_us) > 0;
}

#define EVERY_MEASURE ((1U << BUDGET_MEASURE_COUNT) - 1)
#define HELD_MEASURES (1U << BUDGET_RUNNING | 1U << BUDGET_CPU_MS | 1U << BUDGET_WALL_MS)

/* `measures`: bits 1 << measure; only these are checked. */
static bool is_refused(const struct budgets *budgets, const struct budget_entry *entry,
	const struct budget_limits *limits, unsigned measures, int64_t now_us,
	struct budget_refusal *ret_refusal)
{
	for (unsigned i = 0; i < BUDGET_MEASURE_COUNT; i++) {
		enum budget_measure measure = (enum budget_measure)i;
		uint64_t most = measures >> i & 1U ? budget_most(limits, measure) : 0;
		int64_t wait_ms;

		if (!is_spent(budgets, entry, measure, most, now_us))
			continue;
		wait_ms = wait_us(budgets, entry, measure, most, now_us) / 1000 + 1;
		*ret_refusal = (struct budget_refusal){ entry->scope, measure,
			budget_spent_in(entry, measure), most, wait_ms > 1 ? wait_ms : SOON_MS,
			budget_is_shared(entry) };
		return true;
	}
	return false;
}

static void hold(struct budget_entry *entry, const struct budget_ticket *ticket, int64_t now_us)
{
	entry->running++;
	entry->cpu_held_us += ticket->cpu_us;
	entry->wall_held_us += ticket->wall_us;
	entry->used_us = now_us;
}

static void let_go(struct budget_entry *entry, struct budget_ticket *ticket, int64_t now_us)
{
	entry->running--;
	entry->cpu_held_us -= ticket->cpu_us;
	entry->wall_held_us -= ticket->wall_us;
	entry->used_us = now_us;
	if (ticket->trial[entry->scope])
		entry->trial = ticket->trial[entry->scope] = false;
}

static void enter(const struct budget_case *what, struct budget_ticket *ticket,
	struct budget_entry *entry, int64_t now_us)
{
	uint64_t most = what->limits[entry->scope].failures;

	hold(entry, ticket, now_us);
	entry->attempts++;
	spending_add(&entry->minute, SPENT_RUNS, 1, 0);
	spending_add(&entry->window, SPENT_RUNS, 1, 0);
	ticket->trial[entry->scope] = most && entry->failures >= most;
	entry->trial = entry->trial || ticket->trial[entry->scope];
	if (entry->scope == BUDGET_TASK && !budget_is_shared(entry))
		ticket->attempt = entry->attempts;
}

int budgets_admit(struct budgets *budgets, const struct budget_case *what, int64_t now_us,
	struct budget_ticket *ret_ticket, struct budget_refusal *ret_refusal)
{
	struct budget_ticket ticket = { .cpu_us = what->cpu_ms * 1000,
		.wall_us = what->wall_ms * 1000 };

	*ret_ticket = (struct budget_ticket){ .attempt = 0 };
	for (unsigned i = 0; i < BUDGET_SCOPE_COUNT; i++) {
		const char *name = budget_name_in(what, (enum budget_scope)i);

		if (!name)
			continue;
		ticket.entries[i] =
			budget_entry_for(budgets, (enum budget_scope)i, what->uid, name, now_us);
		if (!ticket.entries[i])
			return -1;
		if (is_refused(budgets, ticket.entries[i], &what->limits[i], EVERY_MEASURE, now_us,
			    ret_refusal))
			return 1;
		/* protects it from make_room() for the next entry */
		ticket.entries[i]->used_us = now_us;
	}
	for (unsigned i = 0; i < BUDGET_SCOPE_COUNT; i++)
		if (ticket.entries[i])
			enter(what, &ticket, ticket.entries[i], now_us);
	*ret_ticket = ticket;
	return 0;
}

void budgets_pause(struct budgets *budgets, struct budget_ticket *ticket, int64_t now_us)
{
	(void)budgets;
	for (unsigned i = 0; i < BUDGET_SCOPE_COUNT && !ticket->paused; i++) {
		if (!ticket->entries[i])
			continue;
		let_go(ticket->entries[i], ticket, now_us);
		ticket->entries[i]->paused++;
	}
	ticket->paused = true;
}

int budgets_resume(struct budgets *budgets, const struct budget_case *what, int64_t now_us,
	struct budget_ticket *ticket, struct budget_refusal *ret_refusal)
{
	for (unsigned i = 0; i < BUDGET_SCOPE_COUNT && ticket->paused; i++) {
		if (!ticket->entries[i])
			continue;
		budget_age(ticket->entries[i], now_us);
		if (is_refused(budgets, ticket->entries[i], &what->limits[i], HELD_MEASURES, now_us,
			    ret_refusal))
			return 1;
	}
	for (unsigned i = 0; i < BUDGET_SCOPE_COUNT && ticket->paused; i++) {
		if (!ticket->entries[i])
			continue;
		hold(ticket->entries[i], ticket, now_us);
		ticket->entries[i]->paused--;
	}
	ticket->paused = false;
	return 0;
}

/* ---- spending ------------------------------------------------------------------------------- */

/* The shared entry counts no failures: failures of one task say nothing about another. */
static void note_end(struct budget_entry *entry, enum budget_end end, int64_t at_us)
{
	if (budget_is_shared(entry))
		return;
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
		budget_age(entry, now_us);
		entry->used_us = now_us;
		if (ticket->paused)
			entry->paused--;
		else
			let_go(entry, ticket, now_us);
		note_spent(entry, spent, 0);
		note_end(entry, spent->end, now_us);
		ticket->entries[i] = NULL;
	}
}

void budgets_remember(struct budgets *budgets, const struct budget_case *what,
	const struct budget_spent *spent, bool of_uid, int64_t age_us, int64_t now_us)
{
	/* After the wall clock was set back, a run counts as new rather than not at all. */
	int64_t past_us = age_us < 0 ? 0 : age_us;

	for (unsigned i = 0; i < BUDGET_SCOPE_COUNT; i++) {
		const char *name = budget_name_in(what, (enum budget_scope)i);
		bool counts = name && (i != BUDGET_UID || of_uid);
		struct budget_entry *entry =
			counts ? budget_entry_for(
					 budgets, (enum budget_scope)i, what->uid, name, now_us)
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

/* NULL: the case has no such name, or there is no memory. */
static struct budget_entry *entry_of(struct budgets *budgets, const struct budget_case *what,
	enum budget_scope scope, int64_t now_us)
{
	const char *name = budget_name_in(what, scope);

	return name ? budget_entry_for(budgets, scope, what->uid, name, now_us) : NULL;
}

void budgets_charge_cpu(
	struct budgets *budgets, const struct budget_case *what, uint64_t cpu_us, int64_t now_us)
{
	for (unsigned i = 0; i < BUDGET_SCOPE_COUNT; i++) {
		struct budget_entry *entry = entry_of(budgets, what, (enum budget_scope)i, now_us);

		if (!entry)
			continue;
		entry->used_us = now_us;
		spending_add(&entry->window, SPENT_CPU_US, cpu_us, 0);
	}
}

bool budgets_cpu_is_spent(struct budgets *budgets, const struct budget_case *what, int64_t now_us,
	struct budget_refusal *ret_refusal)
{
	for (unsigned i = 0; i < BUDGET_SCOPE_COUNT; i++) {
		const struct budget_entry *entry =
			entry_of(budgets, what, (enum budget_scope)i, now_us);
		const uint64_t spent = entry ? entry->window.sum[SPENT_CPU_US] / 1000 : 0;
		const uint64_t most = what->limits[i].cpu_ms;
		int64_t wait_ms;

		if (!most || spent < most)
			continue;
		wait_ms = wait_us(budgets, entry, BUDGET_CPU_MS, most, now_us) / 1000 + 1;
		*ret_refusal = (struct budget_refusal){ (enum budget_scope)i, BUDGET_CPU_MS, spent,
			most, wait_ms > 1 ? wait_ms : SOON_MS, budget_is_shared(entry) };
		return true;
	}
	return false;
}

bool budgets_reset(struct budgets *budgets, enum budget_scope scope, uint32_t uid, const char *name)
{
	struct budget_entry *entry = budget_find(budgets, scope, uid, name);

	if (!entry && !strcmp(name, BUDGET_OTHERS_SHOWN))
		entry = budget_find(budgets, scope, uid, BUDGET_OTHERS);
	if (!entry)
		return false;
	spending_forget(&entry->minute);
	spending_forget(&entry->window);
	entry->attempts = entry->failures = 0;
	entry->trial = false;
	return true;
}

/* ---- reports -------------------------------------------------------------------------------- */

static const char *const scope_words[] = {
	[BUDGET_UID] = "uid", [BUDGET_AGENT] = "agent", [BUDGET_TASK] = "task"
};

const char *budget_scope_word(enum budget_scope scope)
{
	return scope_words[scope];
}

const char *budget_owner(
	struct arena *arena, const struct budget_case *what, const struct budget_refusal *refusal)
{
	if (refusal->shared)
		return arena_printf(arena,
			"%ss of uid %u that share one budget, \"" BUDGET_OTHERS_SHOWN "\",",
			budget_scope_word(refusal->scope), what->uid);
	switch (refusal->scope) {
	case BUDGET_AGENT:
		return arena_printf(arena, "agent \"%s\"", what->agent);
	case BUDGET_TASK:
		return arena_printf(arena, "task \"%s\"", what->task);
	case BUDGET_UID:
	case BUDGET_SCOPE_COUNT:
		break;
	}
	return arena_printf(arena, "uid %u", what->uid);
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
		bool bounded = name && is_bounded(&what->limits[i]);
		struct budget_entry *entry =
			bounded ? budget_entry_for(
					  budgets, (enum budget_scope)i, what->uid, name, now_us)
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
	struct fill map = fill_start(arena);
	const char *name = budget_name(entry);
	int64_t open_us = budget_open_us(description->budgets, entry, description->now_us);

	budget_age(entry, description->now_us);
	fill_text(&map, "scope", scope_words[entry->scope]);
	if (entry->uid != BUDGET_OTHERS_UID)
		fill_int(&map, "uid", entry->uid);
	if (entry->scope != BUDGET_UID || entry->uid == BUDGET_OTHERS_UID)
		fill_text(&map, "name", budget_is_shared(entry) ? BUDGET_OTHERS_SHOWN : name);
	for (unsigned i = 0; i < BUDGET_MEASURE_COUNT; i++)
		fill_uint(&map, measure_words[i], budget_spent_in(entry, (enum budget_measure)i));
	fill_uint(&map, "attempts", entry->attempts);
	if (entry->failures && open_us > 0)
		fill_int(&map, "failed_ms_ago", (description->now_us - entry->failed_us) / 1000);
	return fill_done(&map);
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
