/*
 * BUDGET: checks what the caller, the agent and the task may still spend; counts at the end what
 * the run has spent.
 */
#include <inttypes.h>
#include <stdio.h>

#include "daemon/policy/allowances.h"
#include "daemon/redact/masked_record.h"
#include "daemon/request/run_calls.h"
#include "daemon/request/stages.h"
#include "daemon/services.h"
#include "proto/base/clock.h"

/*
 * Whether an outcome is a failure of the program.  BUDGET_NEITHER says nothing about the attempt.
 */
static const enum budget_end ends[OUTCOME_COUNT] = {
	[OUTCOME_NONE] = BUDGET_NEITHER,
	[OUTCOME_OK] = BUDGET_OK,
	[OUTCOME_EXIT] = BUDGET_FAILED,
	[OUTCOME_EXCEPTION] = BUDGET_FAILED,
	[OUTCOME_SYNTAX_ERROR] = BUDGET_FAILED,
	[OUTCOME_SIGNAL] = BUDGET_FAILED,
	[OUTCOME_WALL_LIMIT] = BUDGET_FAILED,
	[OUTCOME_CPU_LIMIT] = BUDGET_FAILED,
	[OUTCOME_MEMORY_LIMIT] = BUDGET_FAILED,
	[OUTCOME_DISK_LIMIT] = BUDGET_FAILED,
	[OUTCOME_OUTPUT_LIMIT] = BUDGET_FAILED,
	[OUTCOME_PIDS_LIMIT] = BUDGET_FAILED,
	[OUTCOME_SYSCALL_DENIED] = BUDGET_FAILED,
	[OUTCOME_OUTPUT_INVALID] = BUDGET_FAILED,
	[OUTCOME_POLICY_DENIED] = BUDGET_FAILED,
	[OUTCOME_APPROVAL_DENIED] = BUDGET_NEITHER,
	[OUTCOME_APPROVAL_EXPIRED] = BUDGET_NEITHER,
	[OUTCOME_BUDGET_EXCEEDED] = BUDGET_NEITHER,
	[OUTCOME_CANCELED] = BUDGET_NEITHER,
	[OUTCOME_BUSY] = BUDGET_NEITHER,
	[OUTCOME_SANDBOX_ERROR] = BUDGET_NEITHER,
	[OUTCOME_LOST] = BUDGET_NEITHER,
	[OUTCOME_REFUSED] = BUDGET_NEITHER,
};

enum budget_end budget_end_of(enum outcome outcome)
{
	return ends[outcome];
}

/* Uses the masked names, since they outlive the run and are shown. */
static struct budget_case case_of(const struct request *request)
{
	const struct job_spec *spec = &request->masked.spec;
	const struct allowance_case whom = { request->spec.language,
		request->policy ? policy_name(request->policy) : NULL, true, request->caller.uid,
		request->caller.gid };
	struct budget_case what = { .uid = request->caller.uid,
		.agent = spec->agent,
		.task = spec->task,
		.cpu_ms = request->spec.limits.cpu_ms,
		.wall_ms = request->spec.limits.wall_ms };

	allowances_budgets(request->services->config, &whom, what.limits);
	return what;
}

/* ---- rejecting ------------------------------------------------------------------------------ */

static const char *time_text(struct request *request, int64_t ms)
{
	if (ms < 120000)
		return arena_printf(
			&request->arena, "%" PRId64 ".%" PRId64 " s", ms / 1000, ms % 1000 / 100);
	return arena_printf(&request->arena, "%" PRId64 " min", (ms + 59999) / 60000);
}

/* A text for each measure, with the amount spent and the bound. */
static const char *const measures[BUDGET_MEASURE_COUNT] = {
	[BUDGET_RUNNING] = "%" PRIu64 " of %" PRIu64 " runs are in progress",
	[BUDGET_RUNS_PER_MINUTE] = "%" PRIu64 " of %" PRIu64 " runs began within a minute",
	[BUDGET_CPU_MS] = "%" PRIu64 " of %" PRIu64
			  " ms of cpu time are spent, or reserved by runs in progress",
	[BUDGET_WALL_MS] = "%" PRIu64 " of %" PRIu64
			   " ms of workers' time are spent, or reserved by runs in progress",
	[BUDGET_STORED_BYTES] = "%" PRIu64 " of %" PRIu64 " bytes are stored",
	[BUDGET_FAILURES] = "%" PRIu64 " of %" PRIu64 " attempts in a row have failed",
};

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral" /* the table above */
static const char *describe_spent(struct request *request, const struct budget_refusal *refusal)
{
	return arena_printf(
		&request->arena, measures[refusal->measure], refusal->spent, refusal->most);
}
#pragma GCC diagnostic pop

static struct value *describe_refusal(struct request *request, const struct budget_refusal *refusal)
{
	struct arena *arena = &request->arena;
	struct value *map = value_map(arena);
	struct value *exceeded = value_map(arena);

	value_map_put(
		arena, exceeded, "scope", value_text(arena, budget_scope_word(refusal->scope)));
	value_map_put(
		arena, exceeded, "what", value_text(arena, budget_measure_word(refusal->measure)));
	value_map_put(arena, exceeded, "spent", value_uint(arena, refusal->spent));
	value_map_put(arena, exceeded, "most", value_uint(arena, refusal->most));
	value_map_put(arena, exceeded, "retry_after_ms", value_int(arena, refusal->retry_after_ms));
	value_map_put(arena, map, "exceeded", exceeded);
	return map;
}

static enum stage refuse_over_budget(struct request *request, const struct budget_case *what,
	const struct budget_refusal *refusal)
{
	const char *reason = arena_printf(&request->arena,
		"The budget of %s is spent: %s; try again in %s, or ask an administrator to reset it.",
		budget_owner(&request->arena, what, refusal), describe_spent(request, refusal),
		time_text(request, refusal->retry_after_ms));

	request->result.budget = describe_refusal(request, refusal);
	request_step(
		request, "budget.exceeded", "budget", false, budget_measure_word(refusal->measure));
	return request_not_run(request, OUTCOME_BUDGET_EXCEEDED, reason);
}

/* While the run waited for approval it held nothing, so others may have spent what it needs. */
static enum stage resume_budget(struct request *request, const struct budget_case *what)
{
	const struct budget_spent nothing = { .end = BUDGET_NEITHER };
	struct budgets *budgets = request->services->budgets;
	struct budget_refusal refusal;

	if (budgets_resume(budgets, what, clock_us(), &request->budget, &refusal) == 0)
		return STAGE_POLICY;
	budgets_settle(budgets, &request->budget, &nothing, clock_us());
	return refuse_over_budget(request, what, &refusal);
}

void stage_budget_pause(struct request *request)
{
	if (request->budget.entries[BUDGET_UID])
		budgets_pause(request->services->budgets, &request->budget, clock_us());
}

enum stage stage_budget(struct request *request)
{
	struct budget_case what;
	struct budget_refusal refusal;
	int answer;

	if (request->is_check) /* it spends nothing */
		return STAGE_POLICY;
	what = case_of(request);
	if (request->budget.entries[BUDGET_UID]) /* a run that was admitted and then approved */
		return resume_budget(request, &what);
	answer = budgets_admit(
		request->services->budgets, &what, clock_us(), &request->budget, &refusal);

	if (answer > 0)
		return refuse_over_budget(request, &what, &refusal);
	if (answer < 0)
		return request_not_run(
			request, OUTCOME_SANDBOX_ERROR, "no memory to look up a budget");
	return STAGE_POLICY;
}

/* ---- settling ------------------------------------------------------------------------------- */

static uint64_t positive(int64_t number)
{
	return number > 0 ? (uint64_t)number : 0;
}

/*
 * Returns: Task "x" has failed 2 times in a row; after 3 failures in a row, attempts are refused.
 */
static const char *failing_text(struct request *request, const struct budget_case *what,
	const struct budget_refusal *failing)
{
	const char *of_whom = budget_owner(&request->arena, what, failing);
	const char *times = failing->spent == 1
				    ? "once"
				    : arena_printf(&request->arena, "%" PRIu64 " times in a row",
					      failing->spent);
	int64_t circuit_ms = (int64_t)request->services->config->circuit_ms;

	if (!of_whom || !times)
		return NULL;
	if (failing->spent < failing->most)
		return arena_printf(&request->arena,
			"%s has failed %s; after %" PRIu64
			" failures in a row, attempts are refused for %s",
			of_whom, times, failing->most, time_text(request, circuit_ms));
	return arena_printf(&request->arena,
		"%s has failed %s (at most %" PRIu64
		"): attempts are refused for %s, unless an administrator resets its budget",
		of_whom, times, failing->most, time_text(request, failing->retry_after_ms));
}

/* Reports with each failure how many are left, so that the caller learns it in time. */
static const struct value *with_failing(
	struct request *request, const struct budget_case *what, struct value *left)
{
	struct arena *arena = &request->arena;
	struct value *failing = value_map(arena);
	struct budget_refusal found;

	if (!left || ends[request->result.outcome] != BUDGET_FAILED ||
		!budgets_failing(request->services->budgets, what, clock_us(), &found))
		return left;
	value_map_put(arena, failing, "scope", value_text(arena, budget_scope_word(found.scope)));
	value_map_put(arena, failing, "failures", value_uint(arena, found.spent));
	value_map_put(arena, failing, "most", value_uint(arena, found.most));
	if (found.retry_after_ms)
		value_map_put(
			arena, failing, "retry_after_ms", value_int(arena, found.retry_after_ms));
	value_map_put(
		arena, failing, "message", value_text(arena, failing_text(request, what, &found)));
	value_map_put(arena, left, "failing", failing);
	return left;
}

void stage_budget_settle(struct request *request)
{
	const struct job_metrics *metrics = &request->result.metrics;
	struct job_result *result = &request->result;
	struct budgets *budgets = request->services->budgets;
	struct budget_spent spent = { .end = ends[result->outcome] };
	struct budget_case what;

	if (!request->budget.entries[BUDGET_UID])
		return; /* it was not admitted, or is settled already */
	if (!result->cached_from[0]) {
		spent.cpu_us = positive(metrics->cpu_user_us) + positive(metrics->cpu_sys_us);
		spent.wall_us = positive(metrics->start_us) + positive(metrics->exec_us);
	}
	spent.stored_bytes = masked_spec_cost(&request->spec) + masked_result_cost(result);
	if (request->calls)
		spent.stored_bytes += run_calls_stored(request->calls);
	request->budget.stored_bytes = spent.stored_bytes;
	request->budget.counted = true;
	what = case_of(request);
	result->attempt = request->budget.attempt;
	budgets_settle(budgets, &request->budget, &spent, clock_us());
	result->budget = with_failing(
		request, &what, budgets_left(budgets, &what, clock_us(), &request->arena));
}
