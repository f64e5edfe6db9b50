#include "daemon/settings/config_adopt.h"

#include <stdio.h>
#include <string.h>

#include "daemon/settings/config_allowances.h"
#include "daemon/settings/config_egress.h"
#include "daemon/settings/config_file.h"
#include "daemon/settings/config_numbers.h"
#include "daemon/settings/setting.h"
#include "proto/base/container.h"

struct adopting {
	struct config *now, *fresh;
	struct config_changes *changes;
};

static struct config_change *note(struct adopting *all, const char *key, bool waits)
{
	static struct config_change spare; /* written and never read */
	struct config_changes *changes = all->changes;
	struct config_change *change = &spare;

	if (changes->count < CONFIG_CHANGES_MAX)
		change = &changes->items[changes->count++];
	else
		changes->left_out++;
	*change = (struct config_change){ .waits = waits };
	cut_printf(change->key, sizeof(change->key), "%s", key);
	return change;
}

/* ---- single settings ------------------------------------------------------------------------- */

static size_t size_of(const struct setting *row)
{
	return row->type == SETTING_NUMBER ? sizeof(uint64_t) : row->size;
}

static bool differs(const struct setting *row, const char *one, const char *other)
{
	if (row->type == SETTING_TEXT)
		return strcmp(one, other) != 0;
	return memcmp(one, other, size_of(row)) != 0;
}

static void show(char *text, const struct setting *row, const char *field,
	const struct config *config, const char *key)
{
	const struct config_written *written = setting_written(config, key);

	if (row->type == SETTING_NUMBER)
		config_number_text(
			text, CONFIG_SHOWN_MAX, row->name, *(const uint64_t *)(const void *)field);
	else if (row->type == SETTING_TEXT)
		cut_printf(text, CONFIG_SHOWN_MAX, "%s", field);
	else
		cut_printf(text, CONFIG_SHOWN_MAX, "%s", written ? written->value : "{}");
}

static void adopt_row(struct adopting *all, const char *key, const struct setting *row, char *now,
	const char *fresh)
{
	struct config_change *change;

	if (!size_of(row) || !differs(row, now, fresh))
		return;
	change = note(all, key, row->change == CHANGE_RESTART);
	show(change->from, row, now, all->now, key);
	show(change->to, row, fresh, all->fresh, key);
	if (row->change == CHANGE_RELOAD)
		memcpy(now, fresh, size_of(row));
}

static void adopt_rows(struct adopting *all, const char *prefix, const struct setting *table,
	char *now, const char *fresh)
{
	for (SETTING_EACH(row, table)) {
		char key[CONFIG_KEY_MAX];

		cut_printf(key, sizeof(key), "%s%s", prefix, row->name);
		if (row->type == SETTING_NAMED)
			continue;
		if (!row->section) {
			adopt_row(all, key, row, now + row->offset, fresh + row->offset);
			continue;
		}
		cut_printf(key, sizeof(key), "%s%s.", prefix, row->name);
		adopt_rows(all, key, row->section, now + row->offset, fresh + row->offset);
	}
}

/* ---- sections with names --------------------------------------------------------------------- */

/* An array of structs that have a name. */
struct named_array {
	const char *section;
	const void *items;
	size_t size, name_at;
	unsigned count;
};

static const char *item_of(const struct named_array *array, unsigned index)
{
	return (const char *)array->items + index * array->size;
}

static const char *find_item(const struct named_array *array, const char *name)
{
	for (unsigned i = 0; i < array->count; i++)
		if (strcmp(item_of(array, i) + array->name_at, name) == 0)
			return item_of(array, i);
	return NULL;
}

/* Notes what `one` has that `other` lacks, and with `both` what is not the same there. */
static void note_items(struct adopting *all, const struct named_array *one,
	const struct named_array *other, bool both, bool waits)
{
	for (unsigned i = 0; i < one->count; i++) {
		const char *item = item_of(one, i);
		const char *found = find_item(other, item + one->name_at);
		char key[CONFIG_KEY_MAX];

		if (found && (!both || memcmp(found, item, one->size) == 0))
			continue;
		cut_printf(key, sizeof(key), "%s.%s", one->section, item + one->name_at);
		(void)note(all, key, waits);
	}
}

#define ARRAY(word, config, field, count_field)                                                  \
	{                                                                                        \
		.section = (word), .items = (config)->field, .size = sizeof((config)->field[0]), \
		.name_at = offsetof(__typeof__((config)->field[0]), name),                       \
		.count = (config)->count_field                                                   \
	}

#define NOTE_ARRAY(all, word, field, count_field, waits)                                \
	do {                                                                            \
		struct named_array old = ARRAY(word, (all)->now, field, count_field);   \
		struct named_array new = ARRAY(word, (all)->fresh, field, count_field); \
		note_items(all, &new, &old, true, waits);                               \
		note_items(all, &old, &new, false, waits);                              \
	} while (0)

static bool is_same_allowance(
	const struct config_allowance *one, const struct config_allowance *other)
{
	return one->whom == other->whom && strcmp(one->name, other->name) == 0;
}

static const struct config_allowance *find_allowance(
	const struct config *config, const struct config_allowance *wanted)
{
	for (unsigned i = 0; i < config->allowance_count; i++)
		if (is_same_allowance(&config->allowances[i], wanted))
			return &config->allowances[i];
	return NULL;
}

/* A configuration is zeroed before it is filled, so what pads its structs is equal, too. */
static bool is_same_memory(const void *one, const void *other, size_t size)
{
	return memcmp(one, other, size) == 0;
}

static void note_allowances(
	struct adopting *all, const struct config *one, const struct config *other, bool both)
{
	for (unsigned i = 0; i < one->allowance_count; i++) {
		const struct config_allowance *item = &one->allowances[i];
		const struct config_allowance *found = find_allowance(other, item);
		char key[CONFIG_KEY_MAX];

		if (found && (!both || is_same_memory(found, item, sizeof(*item))))
			continue;
		cut_printf(key, sizeof(key),
			item->whom == FOR_RUNTIME ? "%s.%s.limits" : "for_%s.%s",
			config_for_word(item->whom), item->name);
		(void)note(all, key, false);
	}
}

static bool is_written_for(
	const struct config *config, const struct config_runtime *runtime, const char *setting)
{
	char key[CONFIG_KEY_MAX];

	cut_printf(key, sizeof(key), "runtime.%s.%s", runtime->name, setting);
	return setting_written(config, key) != NULL;
}

/* Numbers of workers that follow from the general ones are no change of the runtime. */
static void level_workers(struct adopting *all)
{
	const struct named_array old = ARRAY("runtime", all->now, runtimes, runtime_count);

	for (unsigned i = 0; i < all->fresh->runtime_count; i++) {
		struct config_runtime *fresh = &all->fresh->runtimes[i];
		const struct config_runtime *now = (const void *)find_item(&old, fresh->name);

		if (now && !is_written_for(all->now, now, "workers_min") &&
			!is_written_for(all->fresh, now, "workers_min"))
			fresh->workers_min = now->workers_min;
		if (now && !is_written_for(all->now, now, "workers_max") &&
			!is_written_for(all->fresh, now, "workers_max"))
			fresh->workers_max = now->workers_max;
	}
}

static void adopt_named(struct adopting *all)
{
	struct config *now = all->now;
	struct config *fresh = all->fresh;

	level_workers(all);
	NOTE_ARRAY(all, "runtime", runtimes, runtime_count, true);
	NOTE_ARRAY(all, "packages", packages, package_count, true);
	NOTE_ARRAY(all, "alert", alerts, alert_count, false);
	note_allowances(all, fresh, now, true);
	note_allowances(all, now, fresh, false);
	memcpy(now->alerts, fresh->alerts, sizeof(now->alerts));
	now->alert_count = fresh->alert_count;
	memcpy(now->allowances, fresh->allowances, sizeof(now->allowances));
	now->allowance_count = fresh->allowance_count;
}

/* ---- the network, and layers ----------------------------------------------------------------- */

/* Takes the lists of hosts out of `fresh`, and says that they need a restart. */
static void withhold_network(struct adopting *all)
{
	struct config *fresh = all->fresh;

	cut_printf(note(all, "egress", true)->to, CONFIG_SHOWN_MAX,
		"the daemon started without a network");
	memset(fresh->egress.allow, 0, sizeof(fresh->egress.allow));
	for (unsigned i = 0; i < fresh->allowance_count; i++) {
		fresh->allowances[i].has_egress = false;
		memset(fresh->allowances[i].egress_allow, 0,
			sizeof(fresh->allowances[i].egress_allow));
	}
}

/* ---- what was written ------------------------------------------------------------------------ */

static bool is_below(const char *key, const char *section)
{
	size_t len = strlen(section);

	return strncmp(key, section, len) == 0 && (key[len] == '\0' || key[len] == '.');
}

static bool waits(const struct config_changes *changes, const char *key)
{
	for (unsigned i = 0; i < changes->count; i++)
		if (changes->items[i].waits && is_below(key, changes->items[i].key))
			return true;
	return false;
}

/* What waits for a restart is in force as it was written before. */
static void adopt_written(struct adopting *all)
{
	struct config *now = all->now;
	struct config *fresh = all->fresh;
	unsigned kept = 0;

	for (unsigned i = 0; i < fresh->written_count; i++)
		if (!waits(all->changes, fresh->written[i].key))
			fresh->written[kept++] = fresh->written[i];
	for (unsigned i = 0; i < now->written_count && kept < CONFIG_WRITTEN_MAX; i++) {
		if (!waits(all->changes, now->written[i].key))
			continue;
		fresh->written[kept] = now->written[i];
		fresh->written[kept++].from_start = true;
	}
	memcpy(now->written, fresh->written, sizeof(now->written));
	now->written_count = kept;
	memcpy(now->files, fresh->files, sizeof(now->files));
	now->file_count = fresh->file_count;
}

void config_adopt(
	struct config *now, struct config *fresh, bool sealed, struct config_changes *ret_changes)
{
	struct adopting all = { now, fresh, ret_changes };

	ret_changes->count = ret_changes->left_out = 0;
	if (sealed && config_has_egress(fresh))
		withhold_network(&all);
	adopt_rows(&all, "", config_settings, (char *)now, (const char *)fresh);
	if (now->layers.named != fresh->layers.named ||
		now->layers.require != fresh->layers.require)
		(void)note(&all, "require", true);
	adopt_named(&all);
	adopt_written(&all);
}
