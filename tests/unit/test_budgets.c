#include <stdio.h>
#include <string.h>

#include "daemon/gate/budgets.h"
#include "tests/check.h"

#define S      INT64_C(1000000)
#define WINDOW (UINT64_C(3600) * 1000)
#define OPEN   (UINT64_C(600) * 1000)

static struct budgets budgets;
static struct budget_refusal refusal;

static void begin(void)
{
	budgets_init(&budgets, WINDOW, OPEN);
}

static struct budget_case by(const char *agent, const char *task)
{
	return (struct budget_case){
		.uid = 1000, .agent = agent, .task = task, .cpu_ms = 1000, .wall_ms = 2000
	};
}

static int admit(const struct budget_case *what, int64_t now_us, struct budget_ticket *ticket)
{
	return budgets_admit(&budgets, what, now_us, ticket, &refusal);
}

static void ends(struct budget_ticket *ticket, enum budget_end end, uint64_t cpu_ms, int64_t now_us)
{
	const struct budget_spent spent = { end, cpu_ms * 1000, 0, 10 };

	budgets_settle(&budgets, ticket, &spent, now_us);
}

/* Admits and ends one run. */
static int run(const struct budget_case *what, enum budget_end end, uint64_t cpu_ms, int64_t now_us)
{
	struct budget_ticket ticket;
	int answer = admit(what, now_us, &ticket);

	if (answer == 0)
		ends(&ticket, end, cpu_ms, now_us);
	return answer;
}

TEST(without_bounds_everything_is_admitted_and_counted)
{
	struct budget_case what = by("a", "t");
	struct arena arena;
	bool more = true;
	const struct value *list;

	begin();
	arena_init(&arena, 1 << 20);
	for (int i = 0; i < 100; i++)
		CHECK_EQ_INT(run(&what, BUDGET_FAILED, 5, 100 * S), 0);
	CHECK(!budgets_left(&budgets, &what, 100 * S, &arena));
	list = budgets_describe(&budgets, NULL, 10, 100 * S, &arena, &more);
	CHECK_EQ_INT(list->list.count, 3);
	CHECK(!more);
	for (size_t i = 0; i < 3; i++) {
		CHECK_EQ_INT(value_as_int(value_get(value_at(list, i), "cpu_ms"), 0), 500);
		CHECK_EQ_INT(value_as_int(value_get(value_at(list, i), "failures"), 0), 100);
		CHECK_EQ_INT(value_as_int(value_get(value_at(list, i), "stored_bytes"), 0), 1000);
	}
	arena_done(&arena);
	budgets_done(&budgets);
}

TEST(runs_together_are_bounded)
{
	struct budget_case what = by(NULL, NULL);
	struct budget_ticket one, other;

	begin();
	what.limits[BUDGET_UID].running = 1;
	CHECK_EQ_INT(admit(&what, S, &one), 0);
	CHECK_EQ_INT(admit(&what, S, &other), 1);
	CHECK_EQ_INT(refusal.measure, BUDGET_RUNNING);
	CHECK_EQ_INT(refusal.spent, 1);
	CHECK(refusal.retry_after_ms > 0);
	ends(&one, BUDGET_OK, 1, S);
	ends(&one, BUDGET_OK, 1, S); /* counts once */
	CHECK_EQ_INT(admit(&what, S, &other), 0);
	ends(&other, BUDGET_OK, 1, S);
	budgets_done(&budgets);
}

TEST(runs_within_a_minute_are_bounded_and_the_time_to_come_back_is_right)
{
	struct budget_case what = by("a", NULL);

	begin();
	what.limits[BUDGET_AGENT].runs_per_minute = 2;
	CHECK_EQ_INT(run(&what, BUDGET_OK, 0, 1000 * S), 0);
	CHECK_EQ_INT(run(&what, BUDGET_OK, 0, 1010 * S), 0);
	CHECK_EQ_INT(run(&what, BUDGET_OK, 0, 1020 * S), 1);
	CHECK_EQ_INT(refusal.scope, BUDGET_AGENT);
	CHECK_EQ_INT(run(&what, BUDGET_OK, 0, 1020 * S + refusal.retry_after_ms * 1000), 0);
	CHECK(refusal.retry_after_ms <= 60000);
	budgets_done(&budgets);
}

TEST(what_is_spent_comes_back_when_the_window_has_passed)
{
	struct budget_case what = by(NULL, NULL);
	int64_t wait_us;

	begin();
	what.limits[BUDGET_UID].cpu_ms = 5000;
	CHECK_EQ_INT(run(&what, BUDGET_OK, 5000, 10000 * S), 0);
	CHECK_EQ_INT(run(&what, BUDGET_OK, 0, 10001 * S), 1);
	CHECK_EQ_INT(refusal.measure, BUDGET_CPU_MS);
	CHECK_EQ_INT(refusal.spent, 5000);
	CHECK_EQ_INT(refusal.most, 5000);
	wait_us = refusal.retry_after_ms * 1000;
	CHECK_EQ_INT(run(&what, BUDGET_OK, 0, 10001 * S + wait_us - 2000), 1);
	CHECK_EQ_INT(run(&what, BUDGET_OK, 0, 10001 * S + wait_us), 0);
	CHECK_EQ_INT(run(&what, BUDGET_OK, 0, 90000 * S), 0);
	budgets_done(&budgets);
}

TEST(many_at_once_spend_no_more_than_one_past_the_bound)
{
	struct budget_case what = by(NULL, NULL);
	struct budget_ticket tickets[10];
	int admitted = 0;

	begin();
	what.limits[BUDGET_UID].cpu_ms = 2500; /* of 1000 each */
	for (int i = 0; i < 10; i++)
		admitted += admit(&what, S, &tickets[i]) == 0;
	CHECK_EQ_INT(admitted, 3);
	for (int i = 0; i < 3; i++)
		ends(&tickets[i], BUDGET_OK, 1, S);
	CHECK_EQ_INT(admit(&what, S, &tickets[0]), 0); /* they took less than they could have */
	ends(&tickets[0], BUDGET_OK, 1, S);
	budgets_done(&budgets);
}

TEST(attempts_that_fail_open_the_circuit_and_time_or_success_closes_it)
{
	struct budget_case what = by(NULL, "t");
	struct budget_ticket trial, other;

	begin();
	what.limits[BUDGET_TASK].failures = 3;
	CHECK_EQ_INT(run(&what, BUDGET_FAILED, 0, 100 * S), 0);
	CHECK_EQ_INT(run(&what, BUDGET_OK, 0, 100 * S), 0); /* the count starts again */
	for (int i = 0; i < 3; i++)
		CHECK_EQ_INT(run(&what, BUDGET_FAILED, 0, 100 * S), 0);
	CHECK_EQ_INT(run(&what, BUDGET_OK, 0, 110 * S), 1);
	CHECK_EQ_INT(refusal.measure, BUDGET_FAILURES);
	CHECK_EQ_INT(refusal.retry_after_ms, 590001);
	CHECK_EQ_INT(admit(&what, 701 * S, &trial), 0); /* one trial run decides */
	CHECK_EQ_INT(trial.attempt, 6);
	CHECK_EQ_INT(admit(&what, 701 * S, &other), 1);
	ends(&trial, BUDGET_FAILED, 0, 702 * S);
	CHECK_EQ_INT(run(&what, BUDGET_OK, 0, 703 * S), 1);
	CHECK_EQ_INT(run(&what, BUDGET_NEITHER, 0, 1303 * S), 0); /* decides nothing */
	CHECK_EQ_INT(run(&what, BUDGET_OK, 0, 1304 * S), 0);
	for (int i = 0; i < 3; i++)
		CHECK_EQ_INT(run(&what, BUDGET_FAILED, 0, 1305 * S), 0);
	CHECK_EQ_INT(run(&what, BUDGET_OK, 0, 1306 * S), 1);
	CHECK(budgets_reset(&budgets, BUDGET_TASK, 1000, "t"));
	CHECK(!budgets_reset(&budgets, BUDGET_TASK, 1001, "t"));
	CHECK_EQ_INT(run(&what, BUDGET_OK, 0, 1306 * S), 0);
	budgets_done(&budgets);
}

TEST(a_refused_run_holds_nothing)
{
	struct budget_case what = by("a", "t");
	struct budget_ticket ticket;
	struct arena arena;
	bool more;

	begin();
	what.limits[BUDGET_TASK].running = 1;
	CHECK_EQ_INT(admit(&what, S, &ticket), 0);
	for (int i = 0; i < 5; i++) {
		struct budget_ticket none;

		CHECK_EQ_INT(admit(&what, S, &none), 1);
		ends(&none, BUDGET_FAILED, 5, S);
	}
	ends(&ticket, BUDGET_OK, 7, S);
	arena_init(&arena, 1 << 20);
	CHECK_EQ_INT(
		value_as_int(
			value_get(
				value_at(budgets_describe(&budgets, NULL, 1, S, &arena, &more), 0),
				"cpu_ms"),
			0),
		7);
	arena_done(&arena);
	budgets_done(&budgets);
}

TEST(what_was_spent_before_is_remembered_by_its_age_and_a_clock_set_back_forgives_nothing)
{
	const struct budget_spent spent = { BUDGET_FAILED, 1000000, 0, 0 };
	struct budget_case what = by(NULL, "t");

	begin();
	what.limits[BUDGET_UID].cpu_ms = 2000;
	budgets_remember(&budgets, &what, &spent, true, 2 * (int64_t)WINDOW * 1000, 20000 * S);
	budgets_remember(&budgets, &what, &spent, true, 100 * S, 20000 * S);
	CHECK_EQ_INT(run(&what, BUDGET_OK, 0, 20000 * S), 0);
	budgets_remember(&budgets, &what, &spent, true, -500000 * S, 20000 * S);
	CHECK_EQ_INT(run(&what, BUDGET_OK, 0, 20000 * S), 1);
	budgets_done(&budgets);
}

TEST(invented_names_share_one_budget_when_there_is_no_room_and_free_nobody)
{
	struct budget_case bad = by(NULL, "bad");
	char name[32];

	begin();
	bad.limits[BUDGET_TASK].failures = 3;
	for (int i = 0; i < 3; i++)
		CHECK_EQ_INT(run(&bad, BUDGET_FAILED, 0, 100 * S), 0);
	for (int i = 0; i < 3 * BUDGET_NAMES_PER_UID; i++) {
		struct budget_case what = by(NULL, name);

		(void)snprintf(name, sizeof(name), "t%d", i);
		CHECK_EQ_INT(run(&what, BUDGET_OK, 0, 100 * S + i * S / 10), 0);
	}
	CHECK_EQ_INT(budgets.entries.count, 1 + BUDGET_NAMES_PER_UID + 1);
	CHECK_EQ_INT(run(&bad, BUDGET_OK, 0, 400 * S), 1);
	for (int i = 0; i < 4; i++) { /* the shared counter has its limits too */
		struct budget_case what = by(NULL, name);

		what.limits[BUDGET_TASK].runs_per_minute = 3;
		(void)snprintf(name, sizeof(name), "more%d", i);
		CHECK_EQ_INT(run(&what, BUDGET_FAILED, 0, 500 * S), i == 3);
	}
	CHECK(refusal.shared);
	CHECK(budgets_reset(&budgets, BUDGET_TASK, 1000, BUDGET_OTHERS_SHOWN));
	CHECK_EQ_INT(run(&bad, BUDGET_OK, 0, 500 * S), 1);
	CHECK(!refusal.shared);
	bad.task = "quiet"; /* hours later there is room again */
	CHECK_EQ_INT(run(&bad, BUDGET_OK, 0, 90000 * S), 0);
	CHECK(budgets.entries.count < BUDGET_NAMES_PER_UID);
	budgets_done(&budgets);
}

TEST(a_task_without_an_entry_of_its_own_inherits_no_failures)
{
	char name[32];

	begin();
	for (int i = 0; i < BUDGET_NAMES_PER_UID + 10; i++) {
		struct budget_case what = by(NULL, name);

		what.limits[BUDGET_TASK].failures = 3;
		(void)snprintf(name, sizeof(name), "t%d", i);
		CHECK_EQ_INT(run(&what, BUDGET_FAILED, 0, 100 * S), 0);
	}
	budgets_done(&budgets);
}

TEST(a_run_that_waits_for_a_person_holds_nothing)
{
	struct budget_case what = by(NULL, "t");
	struct budget_ticket parked, other;

	begin();
	what.limits[BUDGET_TASK].cpu_ms = 1000;
	what.limits[BUDGET_TASK].running = 1;
	CHECK_EQ_INT(admit(&what, S, &parked), 0);
	CHECK_EQ_INT(admit(&what, S, &other), 1);
	budgets_pause(&budgets, &parked, S);
	CHECK_EQ_INT(admit(&what, S, &other), 0);
	CHECK_EQ_INT(budgets_resume(&budgets, &what, S, &parked, &refusal), 1);
	CHECK_EQ_INT(refusal.measure, BUDGET_RUNNING);
	ends(&other, BUDGET_OK, 1, S);
	CHECK_EQ_INT(budgets_resume(&budgets, &what, S, &parked, &refusal), 0);
	CHECK_EQ_INT(admit(&what, S, &other), 1);
	ends(&parked, BUDGET_OK, 1, S);
	CHECK_EQ_INT(run(&what, BUDGET_OK, 1, S), 0);
	CHECK_EQ_INT(admit(&what, S, &parked), 0); /* an approver refuses this one */
	budgets_pause(&budgets, &parked, S);
	ends(&parked, BUDGET_NEITHER, 0, S);
	CHECK_EQ_INT(run(&what, BUDGET_OK, 1, S), 0);
	budgets_done(&budgets);
}

TEST(what_is_left_is_told)
{
	struct budget_case what = by("a", NULL);
	struct arena arena;
	const struct value *left;

	begin();
	arena_init(&arena, 1 << 16);
	what.limits[BUDGET_UID].cpu_ms = 1000;
	what.limits[BUDGET_AGENT].runs_per_minute = 10;
	CHECK_EQ_INT(run(&what, BUDGET_OK, 300, S), 0);
	left = budgets_left(&budgets, &what, S, &arena);
	CHECK_EQ_INT(value_as_int(value_get(value_get(left, "uid"), "cpu_ms"), 0), 700);
	CHECK_EQ_INT(value_as_int(value_get(value_get(left, "agent"), "runs_per_minute"), 0), 9);
	CHECK(!value_get(left, "task"));
	arena_done(&arena);
	budgets_done(&budgets);
}
