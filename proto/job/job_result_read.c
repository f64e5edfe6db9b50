/* Reads a result from an answer or from a record. */
#include <signal.h>
#include <string.h>

#include "proto/base/container.h"
#include "proto/job/job.h"
#include "proto/job/job_display.h"
#include "proto/number.h"

#define SIGNALS_MAX 64

/* The state while a result is read.  The first missing or invalid field sets `failed`. */
struct reading {
	struct arena *arena;
	const struct value *map;
	struct job_result *result;
	bool failed;
};

/* Returns the value of a key; NULL when the key is missing or nil. */
static const struct value *some(const struct value *map, const char *key)
{
	const struct value *value = value_get(map, key);

	return value_is(value, VALUE_NIL) ? NULL : value;
}

static uint64_t number_of(const struct value *map, const char *key)
{
	uint64_t number = 0;
	const struct value *value = some(map, key);

	if (value)
		(void)number_as_u64(value, &number);
	return number;
}

static struct bytes bytes_of(const struct value *map, const char *key)
{
	const struct value *value = some(map, key);

	if (!value_is(value, VALUE_TEXT) && !value_is(value, VALUE_BYTES))
		return (struct bytes){ NULL, 0 };
	return (struct bytes){ value->text.bytes, value->text.len };
}

/* Returns a NUL-terminated copy.  A missing text is NULL when it is optional, else "". */
static const char *text_of(
	struct reading *reading, const struct value *map, const char *key, bool optional)
{
	struct bytes bytes = bytes_of(map, key);
	const char *text;

	if (!bytes.data)
		return optional ? NULL : "";
	text = arena_copy(reading->arena, bytes.data, bytes.len);
	reading->failed = reading->failed || !text;
	return text;
}

/*
 * Allocates an array for the items of a list.  Returns NULL for an empty list, which is no failure.
 */
static void *room_for(struct reading *reading, const struct value *list, size_t size, size_t *ret)
{
	void *room;

	*ret = value_is(list, VALUE_LIST) ? list->list.count : 0;
	if (!*ret)
		return NULL;
	room = arena_calloc(reading->arena, *ret, size);
	reading->failed = reading->failed || !room;
	if (!room)
		*ret = 0;
	return room;
}

/* ---- the parts ---------------------------------------------------------------------------- */

static int signal_of(const char *word)
{
	if (!word || strncmp(word, "SIG", 3) != 0)
		return 0;
	for (int number = 1; number <= SIGNALS_MAX; number++) {
		const char *name = sigabbrev_np(number);

		if (name && strcmp(name, word + 3) == 0)
			return number;
	}
	for (int number = 0; word[3] >= '0' && word[3] <= '9'; word++) {
		number = number * 10 + (word[3] - '0');
		if (!word[4] || number > SIGNALS_MAX)
			return number;
	}
	return 0;
}

static enum ran ran_of(const char *word)
{
	enum ran ran = RAN_NO;

	while (ran < RAN_UNKNOWN && (!word || strcmp(ran_word(ran), word) != 0))
		ran++;
	return ran;
}

static void read_ending(struct reading *reading)
{
	const struct value *map = reading->map;
	struct job_result *result = reading->result;
	const struct value *exit_code = some(map, "exit_code");

	result->outcome = outcome_from_word(value_as_text(some(map, "outcome")));
	result->ran = ran_of(value_as_text(some(map, "ran")));
	result->masks = number_of(map, "masks");
	result->reason = text_of(reading, map, "reason", false);
	result->has_exit_code = exit_code != NULL;
	result->exit_code = (int)value_as_int(exit_code, 0);
	result->signal = signal_of(value_as_text(some(map, "signal")));
	reading->failed = reading->failed || result->outcome == OUTCOME_NONE;
}

static bool is_listed(const struct value *list, const char *word)
{
	for (size_t i = 0; value_at(list, i); i++) {
		const char *item = value_as_text(value_at(list, i));

		if (item && strcmp(item, word) == 0)
			return true;
	}
	return false;
}

static void read_streams(struct reading *reading)
{
	const struct value *map = reading->map;
	const struct value *truncated = some(map, "truncated");
	struct job_stream *out = &reading->result->out;
	struct job_stream *errout = &reading->result->errout;

	*out = (struct job_stream){ bytes_of(map, "stdout"), bytes_of(map, "stdout_tail"), 0,
		number_of(map, "stdout_bytes"), is_listed(truncated, "stdout") };
	*errout = (struct job_stream){ bytes_of(map, "stderr"), bytes_of(map, "stderr_tail"), 0,
		number_of(map, "stderr_bytes"), is_listed(truncated, "stderr") };
	reading->result->display_truncated = is_listed(truncated, "display");
	reading->result->display_broken = value_as_bool(some(map, "display_broken"), false);
}

static void read_refused(struct reading *reading)
{
	const struct value *list = some(reading->map, "refused_calls");
	size_t count = 0;
	struct job_refused *refused = room_for(reading, list, sizeof(*refused), &count);

	for (size_t i = 0; i < count; i++) {
		const struct value *item = value_at(list, i);

		refused[i] = (struct job_refused){ text_of(reading, item, "call", false),
			text_of(reading, item, "kind", true), text_of(reading, item, "wish", false),
			(uint32_t)number_of(item, "count"), (int64_t)number_of(item, "first_us"),
			value_as_bool(value_get(item, "ended"), false) };
	}
	reading->result->refused = refused;
	reading->result->refused_count = count;
	reading->result->refused_others = (uint32_t)number_of(reading->map, "refused_others");
}

static void read_output_errors(struct reading *reading)
{
	const struct value *list = some(reading->map, "output_errors");
	size_t count = 0;
	struct job_output_error *errors = room_for(reading, list, sizeof(*errors), &count);

	for (size_t i = 0; i < count; i++) {
		const struct value *item = value_at(list, i);

		errors[i] = (struct job_output_error){ text_of(reading, item, "pointer", false),
			text_of(reading, item, "schema_pointer", false),
			text_of(reading, item, "message", false) };
	}
	reading->result->output_errors = errors;
	reading->result->output_error_count = count;
}

static void read_findings(struct reading *reading, const struct value *list)
{
	struct policy_verdict *verdict = &reading->result->verdict;
	struct policy_finding *findings =
		room_for(reading, list, sizeof(*findings), &verdict->finding_count);

	for (size_t i = 0; i < verdict->finding_count; i++) {
		const struct value *item = value_at(list, i);

		findings[i] = (struct policy_finding){ text_of(reading, item, "rule", false),
			text_of(reading, item, "severity", false),
			(uint32_t)number_of(item, "line"), (uint32_t)number_of(item, "column"),
			text_of(reading, item, "text", false),
			text_of(reading, item, "message", false),
			text_of(reading, item, "hint", true) };
	}
	verdict->findings = findings;
}

static enum policy_decision decision_of(const char *word)
{
	unsigned decision = POLICY_ALLOW;

	while (decision < POLICY_DENY &&
		(!word || strcmp(policy_decision_word((enum policy_decision)decision), word) != 0))
		decision++;
	return (enum policy_decision)decision;
}

static void read_policy(struct reading *reading, const struct value *policy)
{
	struct policy_verdict *verdict = &reading->result->verdict;

	/* In the record of a run without a verdict this is the policy's name. */
	if (!value_is(policy, VALUE_MAP))
		return;
	reading->result->has_verdict = true;
	verdict->decision = decision_of(value_as_text(value_get(policy, "decision")));
	verdict->name = text_of(reading, policy, "name", false);
	verdict->digest = text_of(reading, policy, "digest", false);
	read_findings(reading, some(policy, "findings"));
}

static void read_artifacts(struct reading *reading)
{
	const struct value *list = some(reading->map, "artifacts");
	struct job_result *result = reading->result;
	struct job_artifact *artifacts =
		room_for(reading, list, sizeof(*artifacts), &result->artifact_count);

	for (size_t i = 0; i < result->artifact_count; i++) {
		const struct value *item = value_at(list, i);
		const char *sha256 = value_as_text(some(item, "sha256"));

		artifacts[i].path = text_of(reading, item, "path", false);
		artifacts[i].data = bytes_of(item, "data");
		artifacts[i].mode = (uint32_t)number_of(item, "mode");
		/* or another artifact is */
		artifacts[i].masked = some(reading->map, "masks") != NULL;
		cut_printf(artifacts[i].sha256, sizeof(artifacts[i].sha256), "%s",
			sha256 ? sha256 : "");
	}
	result->artifacts = artifacts;
}

static void read_skipped(struct reading *reading)
{
	const struct value *list = some(reading->map, "artifacts_skipped");
	struct job_result *result = reading->result;
	struct job_skipped *skipped =
		room_for(reading, list, sizeof(*skipped), &result->skipped_count);

	for (size_t i = 0; i < result->skipped_count; i++) {
		const struct value *item = value_at(list, i);

		skipped[i] = (struct job_skipped){ text_of(reading, item, "path", false),
			text_of(reading, item, "reason", false) };
	}
	result->skipped = skipped;
}

static void read_limits(struct reading *reading)
{
	const struct value *limits = some(reading->map, "limits");

	for (size_t i = 0; i < JOB_LIMIT_COUNT; i++)
		reading->result->limits.each[i] = number_of(limits, job_limit_names[i]);
	reading->result->enforced_by = some(limits, "enforced_by");
}

/* ---- the whole ---------------------------------------------------------------------------- */

int job_result_from_value(struct arena *arena, const struct value *map,
	struct job_result *ret_result, struct err *err)
{
	struct job_result result = { .outcome = OUTCOME_NONE };
	struct reading reading = { arena, map, &result, false };

	read_ending(&reading);
	read_streams(&reading);
	result.display = job_display_of_record(arena, some(map, "display"));
	result.value = value_get(map, "value"); /* null is a valid value */
	result.error = some(map, "error");
	result.evidence = some(map, "evidence");
	result.files = some(map, "files");
	result.calls = some(map, "calls");
	result.connections = some(map, "connections");
	result.connections_others = (uint64_t)number_of(map, "connections_others");
	result.connections_others_bytes = (uint64_t)number_of(map, "connections_others_bytes");
	result.connections_lost = value_as_bool(value_get(map, "connections_lost"), false);
	result.runtime = some(map, "runtime");
	read_refused(&reading);
	read_output_errors(&reading);
	read_policy(&reading, some(map, "policy"));
	read_artifacts(&reading);
	read_skipped(&reading);
	read_limits(&reading);
	if (reading.failed)
		return err_set(err, arena->failed ? ERR_MEMORY : ERR_INVALID,
			"a recorded result cannot be read");
	*ret_result = result;
	return 0;
}

int policy_verdict_from_value(struct arena *arena, const struct value *value,
	struct policy_verdict *ret_verdict, struct err *err)
{
	struct job_result result = { .outcome = OUTCOME_NONE };
	struct reading reading = { arena, NULL, &result, false };

	read_policy(&reading, value);
	if (reading.failed || !result.has_verdict)
		return err_set(err, arena->failed ? ERR_MEMORY : ERR_INVALID,
			"a recorded verdict cannot be read");
	*ret_verdict = result.verdict;
	return 0;
}
