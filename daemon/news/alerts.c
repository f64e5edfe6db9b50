#include "daemon/news/alerts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/loop/service_manager.h"
#include "daemon/loop/thread_work.h"
#include "daemon/news/events.h"
#include "daemon/record/readers.h"
#include "daemon/services.h"
#include "daemon/settings/config.h"
#include "proto/base/clock.h"
#include "proto/base/log.h"
#include "proto/digest.h"
#include "proto/fill.h"

#define BACK_MS     5000 /* the command runner connects again within two seconds */
#define LOST_MOST   200
#define LIST_BYTES  ((size_t)4 << 20)
#define TALLIES_MAX 1024
#define SEEN_MAX    65536
#define EVENT_BYTES ((size_t)64 << 10)

/* The times of the runs that a rule counts, as a ring, and until when the rule rests. */
struct tally {
	int64_t times_ms[ALERT_COUNT_MAX];
	unsigned next;
	int64_t touched_ms, rested_until_ms;
};

struct tally_key {
	uint32_t rule, uid;
	uint8_t agent[DIGEST_LEN];
};

/* A copy of what an alert reports of a run, since the run may have been freed by then. */
struct sighting {
	char run_id[RUN_ID_LEN + 1];
	uint32_t uid;
	char agent[129], task[129], language[33], policy[65];
	char code_hash[HASH_TEXT_LEN + 1];
	char finding[128];
	enum outcome outcome;
};

/* A search of the store, on a thread, for earlier runs of a program. */
struct search {
	struct alerts *alerts;
	const struct alert_rule *rule;
	struct sighting seen;
	bool is_new;
};

/* ---- raising -------------------------------------------------------------------------------- */

static struct value *describe(
	struct arena *arena, const struct alert_rule *rule, const struct sighting *seen)
{
	struct fill fill = fill_start(arena);

	fill_text(&fill, "run_id", seen->run_id);
	fill_text(&fill, "outcome", outcome_word(seen->outcome));
	fill_uint(&fill, "uid", seen->uid);
	fill_optional_text(&fill, "agent", seen->agent[0] ? seen->agent : NULL);
	fill_optional_text(&fill, "task", seen->task[0] ? seen->task : NULL);
	fill_optional_text(&fill, "language", seen->language[0] ? seen->language : NULL);
	fill_optional_text(&fill, "policy", seen->policy[0] ? seen->policy : NULL);
	fill_optional_text(&fill, "code_hash", seen->code_hash[0] ? seen->code_hash : NULL);
	fill_optional_text(&fill, "rule", seen->finding[0] ? seen->finding : NULL);
	fill_uint(&fill, "count", rule->count);
	return fill_done(&fill);
}

static void write_journal(
	const struct alert_rule *rule, const struct sighting *seen, const char *message)
{
	char uid[16];
	const struct host_field fields[] = {
		{ "ALERT", rule->name },
		{ "RUN_ID", seen->run_id },
		{ "OUTCOME", outcome_word(seen->outcome) },
		{ "UID", uid },
		{ "AGENT", seen->agent },
		{ "CODE_HASH", seen->code_hash },
		{ "RULE", seen->finding },
	};

	(void)snprintf(uid, sizeof(uid), "%" PRIu32, seen->uid);
	host_journal(HOST_WARNING, "alert", message, fields, COUNT_OF(fields));
	log_event(LOG_LEVEL_WARNING, "alert", LOG_STR("alert", rule->name),
		LOG_STR("run", seen->run_id), LOG_STR("outcome", outcome_word(seen->outcome)),
		LOG_INT("uid", seen->uid), LOG_STR("agent", seen->agent));
}

static void raise_alert(
	struct alerts *alerts, const struct alert_rule *rule, const struct sighting *seen)
{
	struct value *more;
	struct arena arena;
	char message[256];

	alerts->raised++;
	alerts->last_wall_us = clock_wall_us();
	cut_printf(alerts->last, sizeof(alerts->last), "%s", rule->name);
	if (rule->new_code)
		cut_printf(message, sizeof(message), "%s: a program that has not run before",
			rule->name);
	else if (rule->count > 1)
		cut_printf(message, sizeof(message), "%s: %" PRIu64 " runs within %" PRIu64 " s",
			rule->name, rule->count, rule->within_ms / 1000);
	else
		cut_printf(message, sizeof(message), "%s: %s", rule->name,
			outcome_word(seen->outcome));
	write_journal(rule, seen, message);
	arena_init(&arena, EVENT_BYTES);
	more = describe(&arena, rule, seen);
	if (more)
		events_alert(alerts->services->events, rule->name, message, more);
	arena_done(&arena);
}

/* ---- counting ------------------------------------------------------------------------------- */

struct oldest {
	struct tally_key key;
	struct tally *tally;
};

static int find_oldest(void *context, const void *key, size_t key_len, void *value)
{
	struct oldest *oldest = context;
	struct tally *tally = value;

	if (oldest->tally && oldest->tally->touched_ms <= tally->touched_ms)
		return 0;
	oldest->tally = tally;
	memcpy(&oldest->key, key, key_len);
	return 0;
}

static void make_room(struct alerts *alerts)
{
	struct oldest oldest = { .tally = NULL };

	if (alerts->tallies.count < TALLIES_MAX)
		return;
	(void)map_each(&alerts->tallies, find_oldest, &oldest);
	free(map_remove(&alerts->tallies, &oldest.key, sizeof(oldest.key)));
}

/* NULL: there is no memory, and the run is not counted. */
static struct tally *tally_of(
	struct alerts *alerts, const struct alert_rule *rule, const struct sighting *seen)
{
	struct tally_key key = { .rule = (uint32_t)(rule - alerts->rules) };
	struct tally *tally;

	if (rule->per != ALERT_PER_ALL)
		key.uid = seen->uid;
	if (rule->per == ALERT_PER_AGENT)
		digest_of(seen->agent, strlen(seen->agent), key.agent);
	tally = map_get(&alerts->tallies, &key, sizeof(key));
	if (tally)
		return tally;
	make_room(alerts);
	tally = calloc(1, sizeof(*tally));
	if (tally && map_put(&alerts->tallies, &key, sizeof(key), tally, NULL) < 0) {
		free(tally);
		return NULL;
	}
	return tally;
}

/* Counts a run, and returns whether the rule now raises an alert. */
static bool count_up(const struct alert_rule *rule, struct tally *tally, int64_t now_ms)
{
	int64_t first_ms;

	tally->touched_ms = now_ms;
	tally->times_ms[tally->next] = now_ms;
	tally->next = (tally->next + 1) % (unsigned)rule->count;
	first_ms = tally->times_ms[tally->next]; /* the first of the last `count` */
	if (!first_ms || now_ms - first_ms > (int64_t)rule->within_ms ||
		now_ms < tally->rested_until_ms)
		return false;
	tally->rested_until_ms = now_ms + (int64_t)rule->rest_ms;
	memset(tally->times_ms, 0, sizeof(tally->times_ms));
	return true;
}

static void count_run(
	struct alerts *alerts, const struct alert_rule *rule, const struct sighting *seen)
{
	struct tally *tally = tally_of(alerts, rule, seen);

	if (tally && count_up(rule, tally, clock_ms()))
		raise_alert(alerts, rule, seen);
}

/* ---- new programs --------------------------------------------------------------------------- */

static void search_store(void *context)
{
	struct search *search = context;
	const struct store_filter filter = { .all_callers = true,
		.has_uid_filter = true,
		.uid_filter = search->seen.uid,
		.agent = search->seen.agent[0] ? search->seen.agent : NULL,
		.code_hash = search->seen.code_hash,
		.limit = 2 };
	struct err err = ERR_INIT;
	struct store *store = readers_take(search->alerts->services->readers, &err);
	struct value *page = NULL;
	struct arena arena;

	if (!store)
		return;
	arena_init(&arena, EVENT_BYTES);
	if (store_list(store, &filter, &arena, &page, &err) == 0)
		search->is_new = !value_at(value_get(page, "runs"), 1); /* the first is this run */
	arena_done(&arena);
	readers_give(search->alerts->services->readers, store);
}

static void searched(void *context)
{
	auto_free struct search *search = context;

	if (search->is_new && !search->alerts->services->state->closing)
		count_run(search->alerts, search->rule, &search->seen);
}

/* Whether this user and agent ran this program since the start.  Notes that they did. */
static bool was_seen(struct alerts *alerts, const struct sighting *seen)
{
	struct digest digest;
	uint8_t key[DIGEST_LEN];

	digest_start(&digest);
	digest_add_u64(&digest, seen->uid);
	digest_add_sized(&digest, seen->agent, strlen(seen->agent));
	digest_add_sized(&digest, seen->code_hash, strlen(seen->code_hash));
	digest_end(&digest, key);
	if (map_get(&alerts->seen, key, sizeof(key)))
		return true;
	if (alerts->seen.count >= SEEN_MAX) {
		map_done(&alerts->seen);
		map_init(&alerts->seen);
	}
	(void)map_put(&alerts->seen, key, sizeof(key), alerts, NULL);
	return false;
}

static void look_whether_new(
	struct alerts *alerts, const struct alert_rule *rule, const struct sighting *seen)
{
	struct search *search = calloc(1, sizeof(*search));

	if (!search)
		return;
	*search = (struct search){ .alerts = alerts, .rule = rule, .seen = *seen };
	if (thread_work_start(
		    alerts->services->thread_work, getuid(), search_store, searched, search) < 0)
		free(search);
}

/* ---- rules ---------------------------------------------------------------------------------- */

static bool matches(const char *pattern, const char *text)
{
	size_t len = strlen(pattern);

	if (len && pattern[len - 1] == '*')
		return strncmp(pattern, text, len - 1) == 0;
	return strcmp(pattern, text) == 0;
}

/* `verdict` is NULL when there was none. */
static bool has_finding(
	const struct alert_rule *rule, const struct policy_verdict *verdict, struct sighting *seen)
{
	if (!rule->rule[0])
		return true;
	for (size_t i = 0; verdict && i < verdict->finding_count; i++) {
		if (!matches(rule->rule, verdict->findings[i].rule))
			continue;
		cut_printf(seen->finding, sizeof(seen->finding), "%s", verdict->findings[i].rule);
		return true;
	}
	return false;
}

static bool applies(
	const struct alert_rule *rule, const struct policy_verdict *verdict, struct sighting *seen)
{
	seen->finding[0] = '\0';
	return (!rule->outcomes || rule->outcomes & (1U << (unsigned)seen->outcome)) &&
	       (!rule->has_uid || rule->uid == seen->uid) &&
	       (!rule->agent[0] || matches(rule->agent, seen->agent)) &&
	       (!rule->language[0] || strcmp(rule->language, seen->language) == 0) &&
	       (!rule->new_code || seen->code_hash[0]) && has_finding(rule, verdict, seen);
}

static void take_text(char *room, size_t size, const char *text)
{
	cut_printf(room, size, "%s", text ? text : "");
}

static void take_facts(const struct alert_run *run, struct sighting *seen)
{
	memset(seen, 0, sizeof(*seen));
	take_text(seen->run_id, sizeof(seen->run_id), run->run_id);
	take_text(seen->code_hash, sizeof(seen->code_hash), run->code_hash);
	seen->uid = run->uid;
	seen->outcome = run->outcome;
	take_text(seen->agent, sizeof(seen->agent), run->agent);
	take_text(seen->task, sizeof(seen->task), run->task);
	take_text(seen->language, sizeof(seen->language), run->language);
	take_text(seen->policy, sizeof(seen->policy), run->policy);
}

void alerts_run_ended(struct alerts *alerts, const struct alert_run *run)
{
	const struct policy_verdict *verdict = run->verdict;
	struct sighting seen;
	bool asked = false;
	bool is_old = false;

	if (!alerts->count)
		return;
	take_facts(run, &seen);
	for (unsigned i = 0; i < alerts->count; i++) {
		const struct alert_rule *rule = &alerts->rules[i];

		if (!applies(rule, verdict, &seen))
			continue;
		if (!rule->new_code) {
			count_run(alerts, rule, &seen);
			continue;
		}
		is_old = asked ? is_old : was_seen(alerts, &seen);
		asked = true;
		if (!is_old)
			look_whether_new(alerts, rule, &seen);
	}
}

/* A lost run has no recorded findings, and rules about new programs do not apply to it. */
static void alert_lost_run(struct alerts *alerts, const struct value *run)
{
	struct sighting seen = { .outcome = OUTCOME_LOST };

	take_text(seen.run_id, sizeof(seen.run_id), value_as_text(value_get(run, "run_id")));
	take_text(seen.agent, sizeof(seen.agent), value_as_text(value_get(run, "agent")));
	take_text(seen.task, sizeof(seen.task), value_as_text(value_get(run, "task")));
	take_text(seen.language, sizeof(seen.language), value_as_text(value_get(run, "language")));
	take_text(seen.policy, sizeof(seen.policy), value_as_text(value_get(run, "policy")));
	take_text(
		seen.code_hash, sizeof(seen.code_hash), value_as_text(value_get(run, "code_hash")));
	seen.uid = (uint32_t)value_as_int(value_get(run, "uid"), 0);
	for (unsigned i = 0; i < alerts->count; i++)
		if (!alerts->rules[i].new_code && applies(&alerts->rules[i], NULL, &seen))
			count_run(alerts, &alerts->rules[i], &seen);
}

/* ---- start, end and status ------------------------------------------------------------------ */

void alerts_init(struct alerts *alerts, struct services *services)
{
	*alerts = (struct alerts){ .services = services,
		.rules = services->config->alerts,
		.count = services->config->alert_count };
	map_init(&alerts->tallies);
	map_init(&alerts->seen);
}

void alerts_set(struct alerts *alerts)
{
	map_done_with(&alerts->tallies, free);
	map_init(&alerts->tallies);
	alerts->count = alerts->services->config->alert_count;
}

void alerts_done(struct alerts *alerts)
{
	map_done_with(&alerts->tallies, free);
	map_done(&alerts->seen);
}

struct value *alerts_describe(const struct alerts *alerts, struct arena *arena)
{
	struct fill fill = fill_start(arena);

	fill_uint(&fill, "rules", alerts->count);
	fill_uint(&fill, "raised", alerts->raised);
	if (alerts->last_wall_us) {
		fill_text(&fill, "last", alerts->last);
		fill_int(&fill, "last_us", alerts->last_wall_us);
	}
	return fill_done(&fill);
}

/* ---- runs that were lost with the last daemon, once clients have subscribed again ------------ */

/* The search for lost runs, on a thread. */
struct lost_search {
	struct alerts *alerts;
	struct arena arena;
	struct value *page; /* NULL: the search failed */
};

static void lost_read(void *context)
{
	struct lost_search *search = context;
	struct readers *readers = search->alerts->services->readers;
	const struct store_filter filter = {
		.all_callers = true, .outcome = outcome_word(OUTCOME_LOST), .limit = LOST_MOST
	};
	struct err err = ERR_INIT;
	struct store *store = readers_take(readers, &err);

	if (!store)
		return;
	if (store_list(store, &filter, &search->arena, &search->page, &err) < 0)
		search->page = NULL;
	readers_give(readers, store);
}

/* Skips runs that an earlier daemon has reported as lost. */
static void lost_check(void *context)
{
	struct lost_search *search = context;
	const struct services *services = search->alerts->services;
	const struct value *runs = value_get(search->page, "runs");

	for (size_t i = 0; !services->state->closing && value_at(runs, i); i++) {
		const struct value *run = value_at(runs, i);

		if (value_as_int(value_get(run, "ended_us"), 0) >= services->state->started_wall_us)
			alert_lost_run(search->alerts, run);
	}
	arena_done(&search->arena);
	free(search);
}

static void lost_start(void *owner)
{
	struct alerts *alerts = owner;
	struct lost_search *search = calloc(1, sizeof(*search));

	timer_close(alerts->back);
	alerts->back = NULL;
	if (!search)
		return;
	search->alerts = alerts;
	arena_init(&search->arena, LIST_BYTES);
	if (thread_work_start(
		    alerts->services->thread_work, getuid(), lost_read, lost_check, search) < 0)
		free(search);
}

void alerts_check_lost(struct alerts *alerts)
{
	if (alerts->count)
		alerts->back = timer_new(alerts->services->loop, BACK_MS, 0, lost_start, alerts);
}

void alerts_stop(struct alerts *alerts)
{
	timer_close(alerts->back);
	alerts->back = NULL;
}
