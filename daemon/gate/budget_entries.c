#include <stdlib.h>
#include <string.h>

#include "daemon/gate/budget_parts.h"
#include "proto/base/container.h"

#define MINUTE_US      INT64_C(60000000)
#define SWEEP_EVERY_US INT64_C(1000000)

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

const char *budget_name(const struct budget_entry *entry)
{
	return entry->key + 1 + sizeof(entry->uid);
}

bool budget_is_shared(const struct budget_entry *entry)
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

void budget_age(struct budget_entry *entry, int64_t now_us)
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

struct budget_entry *budget_find(
	const struct budgets *budgets, enum budget_scope scope, uint32_t uid, const char *name)
{
	char key[sizeof(((struct budget_entry *)NULL)->key)];
	size_t len = make_key(key, scope, uid, name);

	return map_get(&budgets->entries, key, len);
}

struct budget_entry *budget_entry_for(struct budgets *budgets, enum budget_scope scope,
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
