#include <string.h>

#include "daemon/gate/budget_parts.h"

#define SOON_MS 1000 /* retry time reported when only a run in progress is in the way */

const char *budget_name_in(const struct budget_case *what, enum budget_scope scope)
{
	return scope == BUDGET_UID ? "" : scope == BUDGET_AGENT ? what->agent : what->task;
}

/* ---- bounds --------------------------------------------------------------------------------- */

uint64_t budget_most(const struct budget_limits *limits, enum budget_measure measure)
{
	const uint64_t all[BUDGET_MEASURE_COUNT] = {
#define LIMIT(name, uid, agent, task, highest, meaning) limits->name,
		CONFIG_BUDGETS(LIMIT)
#undef LIMIT
	};

	return all[measure];
}

uint64_t budget_spent_in(const struct budget_entry *entry, enum budget_measure measure)
{
	const uint64_t all[BUDGET_MEASURE_COUNT] = {
		[BUDGET_RUNNING] = entry->running,
		[BUDGET_RUNS_PER_MINUTE] = entry->minute.sum[SPENT_RUNS],
		[BUDGET_CPU_MS] = (entry->window.sum[SPENT_CPU_US] + entry->cpu_held_us) / 1000,
		[BUDGET_WALL_MS] = (entry->window.sum[SPENT_WALL_US] + entry->wall_held_us) / 1000,
		[BUDGET_STORED_BYTES] = entry->window.sum[SPENT_BYTES],
		[BUDGET_FAILURES] = entry->failures,
	};

	return all[measure];
}

int64_t budget_open_us(
	const struct budgets *budgets, const struct budget_entry *entry, int64_t now_us)
{
	return entry->failed_us + budgets->circuit_us - now_us;
}

static int64_t wait_us(const struct budgets *budgets, const struct budget_entry *entry,
	enum budget_measure measure, uint64_t most, int64_t now_us)
{
	switch (measure) {
	case BUDGET_RUNS_PER_MINUTE:
		return spending_until_below(&entry->minute, SPENT_RUNS, most, now_us);
	case BUDGET_CPU_MS:
		return spending_until_below(&entry->window, SPENT_CPU_US, most * 1000, now_us);
	case BUDGET_WALL_MS:
		return spending_until_below(&entry->window, SPENT_WALL_US, most * 1000, now_us);
	case BUDGET_STORED_BYTES:
		return spending_until_below(&entry->window, SPENT_BYTES, most, now_us);
	case BUDGET_FAILURES:
		return budget_open_us(budgets, entry, now_us);
	case BUDGET_RUNNING:
	case BUDGET_MEASURE_COUNT:
		break;
	}
	return 0;
}

/* True at the bound.  A circuit whose time has passed lets one trial run through. */
static bool is_spent(const struct budgets *budgets, const struct budget_entry *entry,
	enum budget_measure measure, uint64_t most, int64_t now_us)
{
	if (!most || budget_spent_in(entry, measure) < most)
		return false;
	return measure != BUDGET_FAILURES || entry->trial ||
	       budget_open_us(budgets, entry, now_us) > 0;
}

#define EVERY_MEASURE ((1U << BUDGET_MEASURE_COUNT) - 1)
#define HELD_MEASURES (1U << BUDGET_RUNNING | 1U << BUDGET_CPU_MS | 1U << BUDGET_WALL_MS)

/* `measures`: bits 1 << measure; only these are checked. */
static bool is_refused(const struct budgets *budgets, const struct budget_entry *entry,
	const struct budget_limits *limits, unsigned measures, int64_t now_us,
	struct budget_refusal *ret_refusal)
{
	for (unsigned i = 0; i < BUDGET_MEASURE_COUNT; i++) {
		enum budget_measure measure = (enum budget_measure)i;
		uint64_t most = measures >> i & 1U ? budget_most(limits, measure) : 0;
		int64_t wait_ms;

		if (!is_spent(budgets, entry, measure, most, now_us))
			continue;
		wait_ms = wait_us(budgets, entry, measure, most, now_us) / 1000 + 1;
		*ret_refusal = (struct budget_refusal){ entry->scope, measure,
			budget_spent_in(entry, measure), most, wait_ms > 1 ? wait_ms : SOON_MS,
			budget_is_shared(entry) };
		return true;
	}
	return false;
}

static void hold(struct budget_entry *entry, const struct budget_ticket *ticket, int64_t now_us)
{
	entry->running++;
	entry->cpu_held_us += ticket->cpu_us;
	entry->wall_held_us += ticket->wall_us;
	entry->used_us = now_us;
}

static void let_go(struct budget_entry *entry, struct budget_ticket *ticket, int64_t now_us)
{
	entry->running--;
	entry->cpu_held_us -= ticket->cpu_us;
	entry->wall_held_us -= ticket->wall_us;
	entry->used_us = now_us;
	if (ticket->trial[entry->scope])
		entry->trial = ticket->trial[entry->scope] = false;
}

static void enter(const struct budget_case *what, struct budget_ticket *ticket,
	struct budget_entry *entry, int64_t now_us)
{
	uint64_t most = what->limits[entry->scope].failures;

	hold(entry, ticket, now_us);
	entry->attempts++;
	spending_add(&entry->minute, SPENT_RUNS, 1, 0);
	spending_add(&entry->window, SPENT_RUNS, 1, 0);
	ticket->trial[entry->scope] = most && entry->failures >= most;
	entry->trial = entry->trial || ticket->trial[entry->scope];
	if (entry->scope == BUDGET_TASK && !budget_is_shared(entry))
		ticket->attempt = entry->attempts;
}

int budgets_admit(struct budgets *budgets, const struct budget_case *what, int64_t now_us,
	struct budget_ticket *ret_ticket, struct budget_refusal *ret_refusal)
{
	struct budget_ticket ticket = { .cpu_us = what->cpu_ms * 1000,
		.wall_us = what->wall_ms * 1000 };

	*ret_ticket = (struct budget_ticket){ .attempt = 0 };
	for (unsigned i = 0; i < BUDGET_SCOPE_COUNT; i++) {
		const char *name = budget_name_in(what, (enum budget_scope)i);

		if (!name)
			continue;
		ticket.entries[i] =
			budget_entry_for(budgets, (enum budget_scope)i, what->uid, name, now_us);
		if (!ticket.entries[i])
			return -1;
		if (is_refused(budgets, ticket.entries[i], &what->limits[i], EVERY_MEASURE, now_us,
			    ret_refusal))
			return 1;
		/* protects it from make_room() for the next entry */
		ticket.entries[i]->used_us = now_us;
	}
	for (unsigned i = 0; i < BUDGET_SCOPE_COUNT; i++)
		if (ticket.entries[i])
			enter(what, &ticket, ticket.entries[i], now_us);
	*ret_ticket = ticket;
	return 0;
}

void budgets_pause(struct budgets *budgets, struct budget_ticket *ticket, int64_t now_us)
{
	(void)budgets;
	for (unsigned i = 0; i < BUDGET_SCOPE_COUNT && !ticket->paused; i++) {
		if (!ticket->entries[i])
			continue;
		let_go(ticket->entries[i], ticket, now_us);
		ticket->entries[i]->paused++;
	}
	ticket->paused = true;
}

int budgets_resume(struct budgets *budgets, const struct budget_case *what, int64_t now_us,
	struct budget_ticket *ticket, struct budget_refusal *ret_refusal)
{
	for (unsigned i = 0; i < BUDGET_SCOPE_COUNT && ticket->paused; i++) {
		if (!ticket->entries[i])
			continue;
		budget_age(ticket->entries[i], now_us);
		if (is_refused(budgets, ticket->entries[i], &what->limits[i], HELD_MEASURES, now_us,
			    ret_refusal))
			return 1;
	}
	for (unsigned i = 0; i < BUDGET_SCOPE_COUNT && ticket->paused; i++) {
		if (!ticket->entries[i])
			continue;
		hold(ticket->entries[i], ticket, now_us);
		ticket->entries[i]->paused--;
	}
	ticket->paused = false;
	return 0;
}

/* ---- spending ------------------------------------------------------------------------------- */

/* The shared entry counts no failures: failures of one task say nothing about another. */
static void note_end(struct budget_entry *entry, enum budget_end end, int64_t at_us)
{
	if (budget_is_shared(entry))
		return;
	if (end == BUDGET_OK)
		entry->failures = 0;
	if (end != BUDGET_FAILED)
		return;
	entry->failures++;
	entry->failed_us = at_us;
}

static void note_spent(struct budget_entry *entry, const struct budget_spent *spent, int64_t age_us)
{
	spending_add(&entry->window, SPENT_CPU_US, spent->cpu_us, age_us);
	spending_add(&entry->window, SPENT_WALL_US, spent->wall_us, age_us);
	spending_add(&entry->window, SPENT_BYTES, spent->stored_bytes, age_us);
}

void budgets_settle(struct budgets *budgets, struct budget_ticket *ticket,
	const struct budget_spent *spent, int64_t now_us)
{
	(void)budgets;
	for (unsigned i = 0; i < BUDGET_SCOPE_COUNT; i++) {
		struct budget_entry *entry = ticket->entries[i];

		if (!entry)
			continue;
		budget_age(entry, now_us);
		entry->used_us = now_us;
		if (ticket->paused)
			entry->paused--;
		else
			let_go(entry, ticket, now_us);
		note_spent(entry, spent, 0);
		note_end(entry, spent->end, now_us);
		ticket->entries[i] = NULL;
	}
}

void budgets_remember(struct budgets *budgets, const struct budget_case *what,
	const struct budget_spent *spent, bool of_uid, int64_t age_us, int64_t now_us)
{
	/* After the wall clock was set back, a run counts as new rather than not at all. */
	int64_t past_us = age_us < 0 ? 0 : age_us;

	for (unsigned i = 0; i < BUDGET_SCOPE_COUNT; i++) {
		const char *name = budget_name_in(what, (enum budget_scope)i);
		bool counts = name && (i != BUDGET_UID || of_uid);
		struct budget_entry *entry =
			counts ? budget_entry_for(
					 budgets, (enum budget_scope)i, what->uid, name, now_us)
			       : NULL;

		if (!entry)
			continue;
		entry->attempts++;
		spending_add(&entry->minute, SPENT_RUNS, 1, past_us);
		spending_add(&entry->window, SPENT_RUNS, 1, past_us);
		note_spent(entry, spent, past_us);
		note_end(entry, spent->end, now_us - past_us);
	}
}

bool budgets_reset(struct budgets *budgets, enum budget_scope scope, uint32_t uid, const char *name)
{
	struct budget_entry *entry = budget_find(budgets, scope, uid, name);

	if (!entry && !strcmp(name, BUDGET_OTHERS_TOLD))
		entry = budget_find(budgets, scope, uid, BUDGET_OTHERS);
	if (!entry)
		return false;
	spending_forget(&entry->minute);
	spending_forget(&entry->window);
	entry->attempts = entry->failures = 0;
	entry->trial = false;
	return true;
}
