#include "daemon/workers/package_sets.h"

#include <ctype.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proto/base/container.h"
#include "proto/base/log.h"
#include "proto/fill.h"
#include "proto/package_digest.h"

/* One set that a thread reads.  `sets` is NULL once the daemon no longer wants the answer. */
struct package_check {
	struct package_sets *sets;
	unsigned index;
	char path[CONFIG_TEXT_MAX];
	atomic_bool stop;
	char digest[DIGEST_TEXT_LEN + 1]; /* "": it failed */
	struct err err;
};

/* ---- on a thread ---------------------------------------------------------------------------- */

static int is_stopped(const struct package_scan *scan)
{
	struct package_check *check = scan->context;

	return atomic_load(&check->stop);
}

static void check_set(void *context)
{
	struct package_check *check = context;
	struct package_scan scan = PACKAGE_SCAN_USUAL;

	scan.on_progress = is_stopped;
	scan.context = check;
	if (package_digest(check->path, &scan, check->digest, &check->err) < 0)
		check->digest[0] = '\0';
}

/* ---- in the loop ---------------------------------------------------------------------------- */

static void turn_off(struct package_set *set, const char *why)
{
	if (set->state != PACKAGE_OFF || strcmp(set->why, why) != 0)
		log_event(LOG_LEVEL_WARNING, "packages.off", LOG_STR("name", set->config->name),
			LOG_STR("why", why));
	set->state = PACKAGE_OFF;
	cut_printf(set->why, sizeof(set->why), "%s", why);
}

static void take_answer(struct package_set *set, const struct package_check *check)
{
	char why[ERR_TEXT_MAX];

	cut_printf(set->found, sizeof(set->found), "%s", check->digest);
	if (!check->digest[0]) {
		turn_off(set, check->err.text);
		return;
	}
	if (strcmp(check->digest, set->config->digest) != 0) {
		cut_printf(why, sizeof(why),
			"its files have changed: the digest is %s, not that of the configuration",
			check->digest);
		turn_off(set, why);
		return;
	}
	if (set->state != PACKAGE_READY)
		log_event(LOG_LEVEL_INFO, "packages.ready", LOG_STR("name", set->config->name));
	set->state = PACKAGE_READY;
	set->why[0] = '\0';
}

static void begin(struct package_sets *sets, unsigned index);

static void on_checked(void *context)
{
	struct package_check *check = context;
	struct package_sets *sets = check->sets;
	unsigned next = check->index + 1;

	if (sets) {
		sets->check = NULL;
		take_answer(&sets->items[check->index], check);
		begin(sets, next);
	}
	free(check);
}

static void on_due(void *owner)
{
	struct package_sets *sets = owner;

	timer_close(sets->timer);
	sets->timer = NULL;
	begin(sets, 0);
}

/* After the last set it waits for the next time. */
static void begin(struct package_sets *sets, unsigned index)
{
	struct package_check *check;

	if (index == sets->count) {
		if (sets->check_ms)
			sets->timer = timer_new(sets->loop, sets->check_ms, 0, on_due, sets);
		return;
	}
	check = calloc(1, sizeof(*check));
	if (check) {
		check->sets = sets;
		check->index = index;
		atomic_init(&check->stop, false);
		cut_printf(check->path, sizeof(check->path), "%s", sets->items[index].config->path);
	}
	if (check && work_start(sets->loop, check_set, on_checked, check) == 0) {
		sets->check = check;
		return;
	}
	free(check);
	for (; index < sets->count; index++)
		turn_off(&sets->items[index], "there was no memory to check it");
}

int package_sets_start(
	struct package_sets *sets, uv_loop_t *loop, const struct config *config, struct err *err)
{
	*sets = (struct package_sets){ .loop = loop, .check_ms = config->packages_check_ms };
	if (!config->package_count)
		return 0;
	sets->items = calloc(config->package_count, sizeof(*sets->items));
	if (!sets->items)
		return err_set(err, ERR_MEMORY, "no memory for the package sets");
	sets->count = config->package_count;
	for (unsigned i = 0; i < sets->count; i++)
		sets->items[i].config = &config->packages[i];
	begin(sets, 0);
	return 0;
}

void package_sets_close(struct package_sets *sets)
{
	timer_close(sets->timer);
	if (sets->check) {
		atomic_store(&sets->check->stop, true);
		sets->check->sets = NULL;
	}
	free(sets->items);
	*sets = (struct package_sets){ .loop = NULL };
}

/* ---- asking --------------------------------------------------------------------------------- */

const struct package_set *package_sets_find(const struct package_sets *sets, const char *name)
{
	for (unsigned i = 0; i < sets->count; i++)
		if (strcmp(sets->items[i].config->name, name) == 0)
			return &sets->items[i];
	return NULL;
}

static bool has_id(const struct role_list *list, uint32_t id)
{
	for (unsigned i = 0; i < list->count; i++)
		if (list->ids[i] == id)
			return true;
	return false;
}

bool package_set_has_module(const struct package_set *set, struct bytes name)
{
	static const char *const ends[] = { "", ".py" };
	char path[CONFIG_TEXT_MAX + 128];

	if (set->state != PACKAGE_READY || !name.len || name.len > 64)
		return false;
	for (size_t i = 0; i < name.len; i++)
		if (!isalnum((unsigned char)name.data[i]) && name.data[i] != '_')
			return false;
	for (size_t i = 0; i < COUNT_OF(ends); i++) {
		cut_printf(path, sizeof(path), "%s/%.*s%s", set->config->path, (int)name.len,
			name.data, ends[i]);
		if (access(path, F_OK) == 0)
			return true;
	}
	return false;
}

bool package_set_is_for(const struct package_set *set, uint32_t uid, uint32_t gid)
{
	const struct config_package *config = set->config;

	return !config->is_for_some || has_id(&config->users, uid) || has_id(&config->groups, gid);
}

static struct value *describe(
	const struct package_set *set, bool is_for_admins, struct arena *arena)
{
	static const char *const words[] = {
		[PACKAGE_CHECKING] = "checking", [PACKAGE_READY] = "ready", [PACKAGE_OFF] = "off"
	};
	const struct config_package *config = set->config;
	struct fill fill = fill_start(arena);

	fill_text(&fill, "name", config->name);
	fill_text(&fill, "digest", config->digest);
	fill_text(&fill, "state", words[set->state]);
	fill_value(&fill, "why", value_text(arena, set->why[0] ? set->why : NULL));
	if (config->has_tools)
		fill_bool(&fill, "tools", true);
	if (config->is_default)
		fill_bool(&fill, "default", true);
	if (!is_for_admins)
		return fill_done(&fill);
	fill_text(&fill, "runtime", config->runtime);
	fill_text(&fill, "path", config->path);
	fill_value(&fill, "found", value_text(arena, set->found[0] ? set->found : NULL));
	return fill_done(&fill);
}

struct value *package_sets_describe(
	const struct package_sets *sets, const char *runtime, struct arena *arena)
{
	struct value *list = value_list(arena);

	for (unsigned i = 0; i < sets->count; i++)
		if (!runtime || strcmp(sets->items[i].config->runtime, runtime) == 0)
			value_list_add(arena, list, describe(&sets->items[i], !runtime, arena));
	return list;
}
