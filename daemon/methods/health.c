#include "daemon/methods/health.h"

#include <string.h>

#include "daemon/loop/service_manager.h"
#include "proto/base/clock.h"
#include "proto/base/container.h"
#include "proto/base/log.h"
#include "proto/fill.h"
#include "proto/store_room.h"

static const char *const level_words[] = {
	[HEALTH_OK] = "ok",
	[HEALTH_DEGRADED] = "degraded",
	[HEALTH_FAILING] = "failing",
};

const char *health_word(enum health_level level)
{
	return level_words[level];
}

void health_init(struct health *health)
{
	health->count = 0;
}

/* ---- what is a fault ------------------------------------------------------------------------- */

static bool is_text(const struct value *found)
{
	return value_is(found, VALUE_TEXT) && found->text.len > 0;
}

static bool is_map(const struct value *found)
{
	return value_is(found, VALUE_MAP);
}

static bool is_true(const struct value *found)
{
	return value_as_bool(found, false);
}

static bool is_false(const struct value *found)
{
	return found && !value_as_bool(found, true);
}

static bool is_none(const struct value *found)
{
	return found && value_as_int(found, 1) == 0;
}

static bool is_some(const struct value *found)
{
	return value_as_int(found, 0) > 0;
}

static bool is_below_least(const struct value *found)
{
	return found && value_as_int(found, STORE_ROOM_NEAR) < STORE_ROOM_LEAST;
}

static bool is_below_near(const struct value *found)
{
	return found && value_as_int(found, STORE_ROOM_NEAR) < STORE_ROOM_NEAR &&
	       !is_below_least(found);
}

/* Of a part that has no text of its own, `message` says what is wrong. */
static const struct check {
	const char *part;
	enum health_level level;
	const char *path; /* of the value in the status */
	bool (*is_fault)(const struct value *found);
	const char *message; /* NULL: the value, which is text */
	const char *remedy;
} checks[] = {
	{ "start", HEALTH_FAILING, "ready", is_false, "no worker has been warm yet",
		"wait; if it lasts, see the log: journalctl -u ced" },
	{ "stop", HEALTH_FAILING, "draining", is_true, "the daemon was asked to stop",
		"start it again: systemctl start ced" },
	{ "record", HEALTH_FAILING, "trouble", is_text, NULL,
		"see \"The store is in trouble\" in docs/operations/runbook.md" },
	{ "store", HEALTH_FAILING, "store.unreadable", is_text, NULL,
		"see the log, and check the disk: cectl audit verify" },
	{ "disk", HEALTH_FAILING, "store.free_bytes", is_below_least,
		"the store's disk is full: runs are refused",
		"make room: cectl gc --older-than 30d, or --keep-runs 1000, or enlarge the disk" },
	{ "disk", HEALTH_DEGRADED, "store.free_bytes", is_below_near,
		"the store's disk is nearly full", "make room: cectl gc --older-than 30d" },
	{ "inspectors", HEALTH_FAILING, "inspectors.ready", is_none,
		"no inspector is ready: programs that need a verdict are denied",
		"see the log: journalctl -u ced" },
	{ "canary", HEALTH_DEGRADED, "canary.trouble", is_text, NULL,
		"see the log (journalctl -u ced), and cectl doctor; if it lasts, systemd restarts it" },
	{ "drain", HEALTH_DEGRADED, "drained", is_true, "an administrator stopped new runs",
		"when the reason is gone: cectl resume" },
	{ "log", HEALTH_DEGRADED, "log_held", is_map,
		"another program keeps the store's log from being emptied",
		"cectl status names the program and the command that ends it" },
	{ "settings", HEALTH_DEGRADED, "reload.trouble", is_text, NULL,
		"correct it and type cectl reload: with these settings no restart would succeed" },
	{ "audit", HEALTH_DEGRADED, "audit.alarm", is_text, NULL,
		"see \"Has anybody touched it?\" in docs/operations/record.md" },
	{ "checkpoints", HEALTH_DEGRADED, "audit.trouble", is_text, NULL,
		"make the file of checkpoint_file writable for the daemon" },
	{ "socket", HEALTH_DEGRADED, "socket.trouble", is_text, NULL,
		"make its folder writable for the daemon" },
	{ "egress", HEALTH_DEGRADED, "egress.trouble", is_text, NULL,
		"see the log: journalctl -u ced" },
	{ "gc", HEALTH_DEGRADED, "gc.trouble", is_text, NULL, "cectl gc tries again" },
	{ "pages", HEALTH_DEGRADED, "check.damages", is_some, "pages of the store are damaged",
		"see \"Damage\" in docs/operations/runbook.md" },
	{ "pages", HEALTH_DEGRADED, "check.met", is_some, "a query met damage in the store",
		"see \"Damage\" in docs/operations/runbook.md" },
	{ "clock", HEALTH_DEGRADED, "clock.doubted_ms", is_some,
		"the wall clock was set ahead: contents are not deleted by age",
		"set the clock; after a day it is trusted again" },
};

/* Each runtime of the status. */
static const struct check runtime_check = { "runtime", HEALTH_DEGRADED, "trouble", is_text, NULL,
	"cectl runtimes and the log have the reason: journalctl -u ced" };

/* "store.free_bytes": a value in a map of the status. */
static const struct value *find_path(const struct value *status, const char *path)
{
	const char *dot = strchr(path, '.');

	if (!dot)
		return value_get(status, path);
	return value_get(value_get_len(status, path, (size_t)(dot - path)), dot + 1);
}

/* ---- since when ------------------------------------------------------------------------------ */

static struct health_fault *find_fault(struct health *health, const char *name)
{
	for (unsigned i = 0; i < health->count; i++)
		if (strcmp(health->faults[i].name, name) == 0)
			return &health->faults[i];
	return NULL;
}

/* A fault that gets worse, or less bad, is told anew. */
static void take_level(struct health_fault *fault, enum health_level level, const char *message)
{
	const char *word = health_word(level);

	if (fault->level == level)
		return;
	fault->level = level;
	fault->since_us = clock_wall_us();
	log_event(LOG_LEVEL_WARNING, "health.fault", LOG_STR("part", fault->name),
		LOG_STR("level", word), LOG_STR("message", message));
	host_journal(HOST_WARNING, "health.fault", message,
		(const struct host_field[]){ { "PART", fault->name }, { "LEVEL", word } }, 2);
}

/* NULL: there are HEALTH_MOST faults already. */
static struct health_fault *note_fault(
	struct health *health, const char *name, enum health_level level, const char *message)
{
	struct health_fault *fault = find_fault(health, name);

	if (!fault && health->count < HEALTH_MOST) {
		fault = &health->faults[health->count++];
		*fault = (struct health_fault){ .level = HEALTH_OK };
		cut_printf(fault->name, sizeof(fault->name), "%s", name);
	}
	if (!fault)
		return NULL;
	take_level(fault, level, message);
	fault->seen = true;
	return fault;
}

static void forget_unseen(struct health *health)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < health->count; i++) {
		if (health->faults[i].seen)
			health->faults[kept++] = health->faults[i];
		else
			log_event(LOG_LEVEL_NOTICE, "health.recovered",
				LOG_STR("part", health->faults[i].name));
	}
	health->count = kept;
}

/* ---- a look ---------------------------------------------------------------------------------- */

struct look {
	struct health *health;
	struct arena *arena;
	struct value *lists[HEALTH_FAILING + 1]; /* of each level */
	enum health_level worst;
};

static void report_fault(
	struct look *look, const char *name, const struct check *check, const struct value *found)
{
	const char *text = check->message ? check->message : value_as_text(found);
	const char *message = text ? text : "";
	struct health_fault *fault = note_fault(look->health, name, check->level, message);
	struct fill map = fill_start(look->arena);

	fill_text(&map, "part", name);
	fill_text(&map, "level", health_word(check->level));
	fill_int(&map, "since_us", fault ? fault->since_us : clock_wall_us());
	fill_text(&map, "message", message);
	fill_text(&map, "remedy", check->remedy);
	(void)value_list_add(look->arena, look->lists[check->level], fill_done(&map));
	if (check->level > look->worst)
		look->worst = check->level;
}

/* The store was not looked at: what was wrong there still is. */
static void keep_store_faults(struct health *health)
{
	for (size_t i = 0; i < COUNT_OF(checks); i++) {
		struct health_fault *fault = find_fault(health, checks[i].part);

		if (fault && strncmp(checks[i].path, "store.", strlen("store.")) == 0)
			fault->seen = true;
	}
}

static void look_at_runtimes(struct look *look, const struct value *status)
{
	const struct value *runtimes = value_get(status, "runtimes");

	for (size_t i = 0; value_at(runtimes, i); i++) {
		const struct value *runtime = value_at(runtimes, i);
		const struct value *found = value_get(runtime, runtime_check.path);
		const char *word = value_as_text(value_get(runtime, "name"));
		char name[HEALTH_NAME_MOST];

		if (!runtime_check.is_fault(found))
			continue;
		cut_printf(name, sizeof(name), "%s %s", runtime_check.part, word ? word : "");
		report_fault(look, name, &runtime_check, found);
	}
}

static struct value *worst_first(const struct look *look)
{
	struct value *faults = value_list(look->arena);

	for (unsigned level = HEALTH_FAILING; level > HEALTH_OK; level--) {
		const struct value *list = look->lists[level];

		for (size_t i = 0; value_at(list, i); i++)
			(void)value_list_add(look->arena, faults, value_at(list, i));
	}
	return faults;
}

struct value *health_look(struct health *health, const struct value *status, struct arena *arena)
{
	struct look look = { .health = health, .arena = arena };
	struct fill map = fill_start(arena);

	for (unsigned level = 0; level < COUNT_OF(look.lists); level++)
		look.lists[level] = value_list(arena);
	for (unsigned i = 0; i < health->count; i++)
		health->faults[i].seen = false;
	for (size_t i = 0; i < COUNT_OF(checks); i++) {
		const struct value *found = find_path(status, checks[i].path);

		if (checks[i].is_fault(found))
			report_fault(&look, checks[i].part, &checks[i], found);
	}
	look_at_runtimes(&look, status);
	if (!value_get(status, "store"))
		keep_store_faults(health);
	forget_unseen(health);
	fill_text(&map, "status", health_word(look.worst));
	fill_value(&map, "faults", worst_first(&look));
	return fill_done(&map);
}
