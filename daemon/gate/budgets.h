/*
 * What users, their agents and their tasks have spent, and may still spend.
 *
 * An entry counts for one uid, for one agent below a uid, or for one task below a uid: runs in the
 * house, runs in the last minute, and cpu time, wall time and bytes stored in a window; and how
 * many attempts in a row have failed.  A run is admitted when none of its entries is at a bound.
 * While it is in the house its limits are held against the window as if they were spent, so that
 * many at once cannot spend together what each of them may; at most one run goes past a bound, by
 * no more than its own limit.
 *
 *	          failures reach the bound             its time has passed
 *	CLOSED ----------------------------> OPEN ----------------------------> ON TRIAL
 *	  ^                                   ^                                    |
 *	  |           a run was ok            +---------- it failed ---------------+
 *	  +------------------------------------------------------------------------+
 *
 * Open, nothing is admitted; on trial, one run at a time.  Windows move with the monotonic clock, so
 * that the wall clock may jump.
 *
 * Callers invent agents and tasks.  An entry that says nothing any more (nothing spent, nothing
 * failed, nothing running) may go and be made anew; any other stays.  Where there is no room for
 * another, what has none of its own shares one of its uid, "(others)", and its bounds, but for
 * failures, which the shared entry does not count.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/settings/config.h"
#include "proto/base/map.h"
#include "proto/value.h"

#define BUDGET_NAMES_PER_UID 1024  /* agents and tasks with an entry of their own */
#define BUDGET_ENTRIES_MAX   16384 /* of all users */
#define BUDGET_OTHERS_TOLD   "(others)"

enum budget_measure {
	BUDGET_RUNNING,
	BUDGET_RUNS_PER_MINUTE,
	BUDGET_CPU_MS,
	BUDGET_WALL_MS,
	BUDGET_STORED_BYTES,
	BUDGET_FAILURES,
	BUDGET_MEASURE_COUNT,
};

struct budgets {
	struct map entries; /* scope, uid and name -> struct budget_entry */
	struct map names;   /* uid -> how many names it has, as struct budget_names */
	int64_t window_us, circuit_us;
	int64_t swept_us;
};

struct budget_entry;

/* Whom a run counts for. */
struct budget_case {
	uint32_t uid;
	const char *agent, *task; /* or NULL */
	struct budget_limits limits[BUDGET_SCOPE_COUNT];
	uint64_t cpu_ms, wall_ms; /* the most that it can spend */
};

/* Of one run that was admitted, until it is settled. */
struct budget_ticket {
	struct budget_entry *entries[BUDGET_SCOPE_COUNT];
	uint64_t cpu_us, wall_us; /* held */
	uint64_t attempt;         /* of its task; 0: it has none */
	bool trial[BUDGET_SCOPE_COUNT];
	bool paused;           /* budgets_pause() has given back what it held */
	bool counted;          /* the owner's: what it stores is counted, */
	uint64_t stored_bytes; /* so many bytes */
};

/* Why a run was not admitted. */
struct budget_refusal {
	enum budget_scope scope;
	enum budget_measure measure;
	uint64_t spent, most;
	int64_t retry_after_ms;
	bool shared; /* the bound of "(others)" */
};

/* What a run came to. */
enum budget_end {
	BUDGET_OK,
	BUDGET_FAILED, /* for what the program is or did */
	BUDGET_NEITHER,
};

struct budget_spent {
	enum budget_end end;
	uint64_t cpu_us, wall_us, stored_bytes;
};

const char *budget_scope_word(enum budget_scope scope);
const char *budget_measure_word(enum budget_measure measure);

void budgets_init(struct budgets *budgets, uint64_t window_ms, uint64_t circuit_ms);
void budgets_done(struct budgets *budgets);

/* 0: admitted; 1: *ret_refusal says why not, and the ticket holds nothing; -1: no memory. */
int budgets_admit(struct budgets *budgets, const struct budget_case *what, int64_t now_us,
	struct budget_ticket *ret_ticket, struct budget_refusal *ret_refusal);

/* The run waits for a person, maybe for days: until budgets_resume() it is not running and holds nothing. */
void budgets_pause(struct budgets *budgets, struct budget_ticket *ticket, int64_t now_us);

/* 0: it goes on; 1: *ret_refusal says why not, since others have spent what it would hold. */
int budgets_resume(struct budgets *budgets, const struct budget_case *what, int64_t now_us,
	struct budget_ticket *ticket, struct budget_refusal *ret_refusal);

/* It has ended.  May be called again: a ticket counts once. */
void budgets_settle(struct budgets *budgets, struct budget_ticket *ticket,
	const struct budget_spent *spent, int64_t now_us);

/* What was spent before this daemon started, `age_us` ago; `of_uid`: also for the uid itself. */
void budgets_remember(struct budgets *budgets, const struct budget_case *what,
	const struct budget_spent *spent, bool of_uid, int64_t age_us, int64_t now_us);

/* Forgets what one entry has spent and failed; false: there is none. */
bool budgets_reset(
	struct budgets *budgets, enum budget_scope scope, uint32_t uid, const char *name);

/* What is left under these limits: {uid: {cpu_ms, …}, agent: …, task: …}, or NULL: nothing is bounded. */
struct value *budgets_left(struct budgets *budgets, const struct budget_case *what, int64_t now_us,
	struct arena *arena);

/*
 * The count of failures that is nearest to its bound, when one of a case's scopes has failed last and has
 * a bound: how many of how many, and for how long nothing is let in (0: still open).  false: none.
 */
bool budgets_failing(struct budgets *budgets, const struct budget_case *what, int64_t now_us,
	struct budget_refusal *ret_failing);

/* [{scope, uid, name, running, …}] of one uid, or of all; at most `most`, and whether there are more. */
struct value *budgets_describe(struct budgets *budgets, const uint32_t *uid, size_t most,
	int64_t now_us, struct arena *arena, bool *ret_more);
