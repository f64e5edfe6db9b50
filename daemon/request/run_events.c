#include "daemon/request/run_events.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "daemon/loop/service_manager.h"
#include "daemon/news/events.h"
#include "daemon/request/call_approval.h"
#include "daemon/request/parking.h"
#include "daemon/request/request.h"
#include "daemon/services.h"
#include "daemon/settings/config.h"
#include "proto/base/container.h"

#define EVENT_BYTES ((size_t)32 << 10)
#define RULES_MOST  16
#define NAME_BYTES  512 /* 128 characters of at most four bytes */

/* Which events report the end of a run, beside `finished`. */
static const struct {
	bool limit;  /* a limit ended the run */
	bool denied; /* the run was not allowed: reported as `denied` instead of `finished` */
} ends[OUTCOME_COUNT] = {
	[OUTCOME_WALL_LIMIT] = { .limit = true },
	[OUTCOME_CPU_LIMIT] = { .limit = true },
	[OUTCOME_MEMORY_LIMIT] = { .limit = true },
	[OUTCOME_DISK_LIMIT] = { .limit = true },
	[OUTCOME_OUTPUT_LIMIT] = { .limit = true },
	[OUTCOME_PIDS_LIMIT] = { .limit = true },
	[OUTCOME_POLICY_DENIED] = { .denied = true },
	[OUTCOME_APPROVAL_DENIED] = { .denied = true },
	[OUTCOME_APPROVAL_EXPIRED] = { .denied = true },
	[OUTCOME_BUDGET_EXCEEDED] = { .denied = true },
	[OUTCOME_REFUSED] = { .denied = true },
};

/* Returns a value of a request that the contract rejected, if it is short enough for a name. */
static const char *refused_text(const struct request *request, const char *key)
{
	const char *text = value_as_text(value_get(request->masked.params, key));

	return text && strlen(text) <= NAME_BYTES ? text : NULL;
}

static const char *agent_of(const struct request *request)
{
	return request_is_read(request) ? request->masked.spec.agent
					: refused_text(request, "agent");
}

static const char *task_of(const struct request *request)
{
	return request_is_read(request) ? request->masked.spec.task : refused_text(request, "task");
}

static struct event event_of(const struct request *request, enum event_kind kind)
{
	return (struct event){ .kind = kind,
		.of_run = true,
		.uid = request->caller.uid,
		.agent = agent_of(request),
		.task = task_of(request) };
}

static void put_event_text(
	struct arena *arena, struct value *map, const char *key, const char *text)
{
	if (text && text[0])
		value_map_put(arena, map, key, value_text(arena, text));
}

/* Describes the run, with the same keys in every event. */
static struct value *describe_run(
	struct arena *arena, const struct request *request, const struct event *event)
{
	struct value *map = event_start(arena, event);

	put_event_text(arena, map, "run_id", request->result.run_id);
	value_map_put(arena, map, "uid", value_int(arena, request->caller.uid));
	put_event_text(arena, map, "agent", agent_of(request));
	put_event_text(arena, map, "task", task_of(request));
	if (!request_is_read(request))
		return map;
	put_event_text(arena, map, "language", request->masked.spec.language);
	put_event_text(arena, map, "policy",
		request->policy ? policy_name(request->policy) : request->masked.spec.policy);
	put_event_text(arena, map, "code_hash", request->result.code_hash);
	return map;
}

static bool has_rule(const struct value *rules, const char *rule)
{
	for (size_t i = 0; i < rules->list.count; i++)
		if (!strcmp(value_as_text(rules->list.items[i]), rule))
			return true;
	return false;
}

/* Adds the rules that decided, each once. */
static void put_event_rules(
	struct arena *arena, struct value *map, const struct policy_verdict *verdict)
{
	const char *word = policy_decision_word(verdict->decision);
	struct value *rules = value_list(arena);

	for (size_t i = 0; rules && i < verdict->finding_count; i++) {
		const struct policy_finding *finding = &verdict->findings[i];

		if (rules->list.count < RULES_MOST && !strcmp(finding->severity, word) &&
			!has_rule(rules, finding->rule))
			value_list_add(arena, rules, value_text(arena, finding->rule));
	}
	value_map_put(arena, map, "rules", rules);
}

/* Adds how the run ended, and by which rules or limit. */
static void put_run_end(
	struct arena *arena, struct value *map, const struct request *request, enum event_kind kind)
{
	const struct job_result *result = &request->result;

	put_event_text(arena, map, "outcome", outcome_word(result->outcome));
	value_map_put(arena, map, "ok", value_bool(arena, result->outcome == OUTCOME_OK));
	put_event_text(arena, map, "ran", ran_word(result->ran));
	put_event_text(arena, map, "reason", request->masked.result.reason);
	value_map_put(arena, map, "exec_us", value_int(arena, result->metrics.exec_us));
	value_map_put(arena, map, "total_us", value_int(arena, result->metrics.total_us));
	if (kind == EVENT_DENIED && result->has_verdict)
		put_event_rules(arena, map, &result->verdict);
	if (kind == EVENT_LIMIT)
		put_event_text(
			arena, map, "limit", value_as_text(value_get(result->evidence, "limit")));
}

/* Adds the rules that ask for approval and the time limit, or the uid that decided. */
static void put_parking(
	struct arena *arena, struct value *map, const struct request *request, enum event_kind kind)
{
	const struct parking *parking = request->parking;

	put_event_rules(arena, map, &request->result.verdict);
	if (kind == EVENT_ASKED)
		value_map_put(arena, map, "until_us", value_int(arena, parking->until_wall_us));
	else
		value_map_put(arena, map, "by", value_int(arena, parking->by));
	put_event_text(arena, map, "reason", parking->reason);
}

/* Builds an event only if a client has subscribed to it.  Returns whether it was sent. */
static bool send_event(const struct request *request, enum event_kind kind)
{
	const struct event event = event_of(request, kind);
	struct events *events = request->services->events;
	struct arena arena;
	struct value *map;

	if (!events_hears(events, &event))
		return false;
	arena_init(&arena, EVENT_BYTES);
	map = describe_run(&arena, request, &event);
	if (kind == EVENT_ASKED || kind == EVENT_APPROVED)
		put_parking(&arena, map, request, kind);
	else if (kind != EVENT_STARTED)
		put_run_end(&arena, map, request, kind);
	events_tell(events, &event, map);
	arena_done(&arena);
	return true;
}

void event_run_asked(const struct request *request)
{
	(void)send_event(request, EVENT_ASKED);
}

void event_run_approved(const struct request *request)
{
	(void)send_event(request, EVENT_APPROVED);
}

/* The same keys as for a run, and which call it is. */
static void send_call_event(const struct call_approval *asked, enum event_kind kind)
{
	const struct event event = event_of(asked->request, kind);
	struct events *events = asked->request->services->events;
	struct value *rules;
	struct value *map;
	struct arena arena;

	if (!events_hears(events, &event))
		return;
	arena_init(&arena, EVENT_BYTES);
	map = describe_run(&arena, asked->request, &event);
	value_map_put(&arena, map, "call", value_uint(&arena, asked->number));
	put_event_text(&arena, map, "tool", asked->tool);
	rules = value_list(&arena);
	if (asked->rule)
		value_list_add(&arena, rules, value_text(&arena, asked->rule));
	value_map_put(&arena, map, "rules", rules);
	if (kind == EVENT_ASKED)
		value_map_put(&arena, map, "until_us", value_int(&arena, asked->until_wall_us));
	else
		value_map_put(&arena, map, "by", value_int(&arena, asked->by));
	put_event_text(&arena, map, "reason", asked->reason);
	events_tell(events, &event, map);
	arena_done(&arena);
}

void event_call_asked(const struct call_approval *asked)
{
	send_call_event(asked, EVENT_ASKED);
}

void event_call_approved(const struct call_approval *asked)
{
	send_call_event(asked, EVENT_APPROVED);
}

/* ---- the journal ---------------------------------------------------------------------------- */

static bool goes_into_journal(const struct request *request)
{
	const char *which = request->services->config->journal_runs;

	if (strcmp(which, "failed") == 0)
		return request->result.outcome != OUTCOME_OK;
	return strcmp(which, "all") == 0;
}

static void write_journal(const struct request *request)
{
	const struct job_result *result = &request->result;
	const char *outcome = outcome_word(result->outcome);
	bool ok = result->outcome == OUTCOME_OK;
	const char *agent = agent_of(request);
	char message[sizeof(result->run_id) + 64];
	char uid[16];
	const struct host_field fields[] = {
		{ "RUN_ID", result->run_id },
		{ "OUTCOME", outcome },
		{ "UID", uid },
		{ "AGENT", agent ? agent : "" },
		{ "CODE_HASH", result->code_hash },
	};

	(void)snprintf(uid, sizeof(uid), "%" PRIu32, request->caller.uid);
	cut_printf(message, sizeof(message), "run %s ended as %s", result->run_id, outcome);
	host_journal(ok ? HOST_INFO : HOST_NOTICE, "run", message, fields, COUNT_OF(fields));
}

void event_run_ended(const struct request *request)
{
	enum outcome outcome = request->result.outcome;

	if (request->known == UNKNOWN)
		return;
	if (goes_into_journal(request))
		write_journal(request);
	if (ends[outcome].limit)
		(void)send_event(request, EVENT_LIMIT);
	(void)send_event(request, ends[outcome].denied ? EVENT_DENIED : EVENT_FINISHED);
}

bool run_is_watched(const struct request *request)
{
	const struct event event = event_of(request, EVENT_STARTED);

	return events_hears(request->services->events, &event);
}

void event_run_started(struct request *request)
{
	if ((request->sent & SENT_EVENT) || request->known == UNKNOWN ||
		!request->execution.started_us)
		return;
	if (send_event(request, EVENT_STARTED))
		request->sent |= SENT_EVENT;
}
