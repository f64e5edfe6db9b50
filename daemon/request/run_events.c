#include "daemon/request/run_events.h"

#include <string.h>

#include "daemon/news/events.h"
#include "daemon/request/parking.h"
#include "daemon/request/request.h"
#include "daemon/services.h"

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
static const char *sent(const struct request *request, const char *key)
{
	const char *text = value_as_text(value_get(request->kept.params, key));

	return text && strlen(text) <= NAME_BYTES ? text : NULL;
}

static const char *agent_of(const struct request *request)
{
	return request_is_read(request) ? request->kept.spec.agent : sent(request, "agent");
}

static const char *task_of(const struct request *request)
{
	return request_is_read(request) ? request->kept.spec.task : sent(request, "task");
}

static struct event event_of(const struct request *request, enum event_kind kind)
{
	return (struct event){ .kind = kind,
		.of_run = true,
		.uid = request->caller.uid,
		.agent = agent_of(request),
		.task = task_of(request) };
}

static void put_text(struct arena *arena, struct value *map, const char *key, const char *text)
{
	if (text && text[0])
		value_map_put(arena, map, key, value_text(arena, text));
}

/* Describes the run, with the same keys in every event. */
static struct value *describe(
	struct arena *arena, const struct request *request, const struct event *event)
{
	struct value *told = event_start(arena, event);

	put_text(arena, told, "run_id", request->result.run_id);
	value_map_put(arena, told, "uid", value_int(arena, request->caller.uid));
	put_text(arena, told, "agent", agent_of(request));
	put_text(arena, told, "task", task_of(request));
	if (!request_is_read(request))
		return told;
	put_text(arena, told, "language", request->kept.spec.language);
	put_text(arena, told, "policy",
		request->policy ? policy_name(request->policy) : request->kept.spec.policy);
	put_text(arena, told, "code_hash", request->result.code_hash);
	return told;
}

static bool has_rule(const struct value *rules, const char *rule)
{
	for (size_t i = 0; i < rules->list.count; i++)
		if (!strcmp(value_as_text(rules->list.items[i]), rule))
			return true;
	return false;
}

/* Adds the rules that decided, each once. */
static void put_rules(struct arena *arena, struct value *told, const struct policy_verdict *verdict)
{
	const char *word = policy_decision_word(verdict->decision);
	struct value *rules = value_list(arena);

	for (size_t i = 0; rules && i < verdict->finding_count; i++) {
		const struct policy_finding *finding = &verdict->findings[i];

		if (rules->list.count < RULES_MOST && !strcmp(finding->severity, word) &&
			!has_rule(rules, finding->rule))
			value_list_add(arena, rules, value_text(arena, finding->rule));
	}
	value_map_put(arena, told, "rules", rules);
}

/* Adds how the run ended, and by which rules or limit. */
static void put_end(struct arena *arena, struct value *told, const struct request *request,
	enum event_kind kind)
{
	const struct job_result *result = &request->result;

	put_text(arena, told, "outcome", outcome_word(result->outcome));
	value_map_put(arena, told, "ok", value_bool(arena, result->outcome == OUTCOME_OK));
	put_text(arena, told, "ran", ran_word(result->ran));
	put_text(arena, told, "reason", request->kept.result.reason);
	value_map_put(arena, told, "exec_us", value_int(arena, result->metrics.exec_us));
	value_map_put(arena, told, "total_us", value_int(arena, result->metrics.total_us));
	if (kind == EVENT_DENIED && result->has_verdict)
		put_rules(arena, told, &result->verdict);
	if (kind == EVENT_LIMIT)
		put_text(arena, told, "limit", value_as_text(value_get(result->evidence, "limit")));
}

/* Adds the rules that ask for approval and the time limit, or the uid that decided. */
static void put_parking(struct arena *arena, struct value *told, const struct request *request,
	enum event_kind kind)
{
	const struct parking *parking = request->parking;

	put_rules(arena, told, &request->result.verdict);
	if (kind == EVENT_ASKED)
		value_map_put(arena, told, "until_us", value_int(arena, parking->until_wall_us));
	else
		value_map_put(arena, told, "by", value_int(arena, parking->by));
	put_text(arena, told, "reason", parking->reason);
}

static void put_nothing(struct arena *arena, struct value *told, const struct request *request,
	enum event_kind kind)
{
	(void)arena;
	(void)told;
	(void)request;
	(void)kind;
}

/* Builds an event only if a client has subscribed to it.  Returns whether it was sent. */
static bool tell(const struct request *request, enum event_kind kind,
	void (*put)(struct arena *arena, struct value *told, const struct request *request,
		enum event_kind kind))
{
	const struct event event = event_of(request, kind);
	struct events *events = request->services->events;
	struct arena arena;
	struct value *told;

	if (!events_hears(events, &event))
		return false;
	arena_init(&arena, EVENT_BYTES);
	told = describe(&arena, request, &event);
	put(&arena, told, request, kind);
	events_tell(events, &event, told);
	arena_done(&arena);
	return true;
}

void event_run_asked(const struct request *request)
{
	(void)tell(request, EVENT_ASKED, put_parking);
}

void event_run_approved(const struct request *request)
{
	(void)tell(request, EVENT_APPROVED, put_parking);
}

void event_run_ended(const struct request *request)
{
	enum outcome outcome = request->result.outcome;

	if (request->known == UNKNOWN)
		return;
	if (ends[outcome].limit)
		(void)tell(request, EVENT_LIMIT, put_end);
	(void)tell(request, ends[outcome].denied ? EVENT_DENIED : EVENT_FINISHED, put_end);
}

bool run_is_watched(const struct request *request)
{
	const struct event event = event_of(request, EVENT_STARTED);

	return events_hears(request->services->events, &event);
}

void event_run_started(struct request *request)
{
	if ((request->told & TOLD_EVENT) || request->known == UNKNOWN ||
		!request->execution.started_us)
		return;
	if (tell(request, EVENT_STARTED, put_nothing))
		request->told |= TOLD_EVENT;
}
