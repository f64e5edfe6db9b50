/*
 * Counts what users, their agents and their tasks spend, and limits it.
 *
 * An entry counts for one uid, for one agent of a uid, or for one task of a uid.  It counts:
 *     * runs in progress, and runs in the last minute
 *     * CPU time, wall time and stored bytes within a window
 *     * failed attempts in a row
 * A run is admitted when none of its entries has reached a bound.  While it is in progress, its
 * limits count against the window as if they were spent.  So concurrent runs cannot together spend
 * what each alone may spend.  At most one run exceeds a bound, by no more than its own limit.
 *
 *        failures reach the bound           its time has passed
 *   CLOSED ----------------------------> OPEN ----------------------------> ON TRIAL
 *     ^                                    ^                                    |
 *     |     a run succeeded                +------------ it failed -------------+
 *     +------------------------------------------------------------------------+
 *
 * An open circuit admits nothing; on trial, it admits one run at a time.  Windows follow the
 * monotonic clock, so jumps of the wall clock do not affect them.
 *
 * Callers choose the names of agents and tasks.  An entry that holds no information (nothing spent,
 * failed or running) may be dropped and made again; other entries stay.  When there is no room for
 * a new entry, the name shares the entry "(others)" of its uid, and that entry's bounds.  The
 * shared entry does not count failures.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/settings/config.h"
#include "proto/base/map.h"
#include "proto/value.h"

#define BUDGET_NAMES_PER_UID 1024  /* entries of agents and tasks */
#define BUDGET_ENTRIES_MAX   16384 /* for all users together */
#define BUDGET_OTHERS_SHOWN  "(others)"

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
	struct map names;   /* uid -> struct budget_names, which counts its names */
	int64_t window_us, circuit_us;
	int64_t swept_us;
};

struct budget_entry;

/* The uid, agent and task that a run counts for, with their limits. */
struct budget_case {
	uint32_t uid;
	const char *agent, *task; /* or NULL */
	struct budget_limits limits[BUDGET_SCOPE_COUNT];
	uint64_t cpu_ms, wall_ms; /* the most that it can spend */
};

/* One admitted run, until it is settled. */
struct budget_ticket {
	struct budget_entry *entries[BUDGET_SCOPE_COUNT];
	uint64_t cpu_us, wall_us; /* counted as spent while the run is in progress */
	uint64_t attempt;         /* number of the attempt in its task; 0: no task */
	bool trial[BUDGET_SCOPE_COUNT];
	bool paused;           /* budgets_pause() has released what it held */
	bool counted;          /* set by the owner: stored_bytes is counted */
	uint64_t stored_bytes; /* what the record of the run stores */
};

/* Why a run was not admitted. */
struct budget_refusal {
	enum budget_scope scope;
	enum budget_measure measure;
	uint64_t spent, most;
	int64_t retry_after_ms;
	bool shared; /* the bound of the entry "(others)" */
};

/* How a run ended. */
enum budget_end {
	BUDGET_OK,
	BUDGET_FAILED, /* because of what the program is or did */
	BUDGET_NEITHER,
};

struct budget_spent {
	enum budget_end end;
	uint64_t cpu_us, wall_us, stored_bytes;
};

const char *budget_scope_word(enum budget_scope scope);

/* For a message: `agent "x"`.  NULL without memory. */
const char *budget_owner(
	struct arena *arena, const struct budget_case *what, const struct budget_refusal *refusal);
const char *budget_measure_word(enum budget_measure measure);

void budgets_init(struct budgets *budgets, uint64_t window_ms, uint64_t circuit_ms);

/* For attempts that fail from now on. */
void budgets_set_circuit(struct budgets *budgets, uint64_t circuit_ms);
void budgets_done(struct budgets *budgets);

/*
 * Returns 0 when the run is admitted.  Returns 1 when it is not: *ret_refusal says why, and the
 * ticket holds nothing.  Returns -1 without memory.
 */
int budgets_admit(struct budgets *budgets, const struct budget_case *what, int64_t now_us,
	struct budget_ticket *ret_ticket, struct budget_refusal *ret_refusal);

/*
 * The run waits for approval, maybe for days.  Until budgets_resume() it does not count as running
 * and holds nothing.
 */
void budgets_pause(struct budgets *budgets, struct budget_ticket *ticket, int64_t now_us);

/*
 * Returns 0 when the run may continue.  Returns 1 when other runs have spent what it would hold;
 * *ret_refusal says so.
 */
int budgets_resume(struct budgets *budgets, const struct budget_case *what, int64_t now_us,
	struct budget_ticket *ticket, struct budget_refusal *ret_refusal);

/* Counts what an ended run has spent.  Further calls with the ticket do nothing. */
void budgets_settle(struct budgets *budgets, struct budget_ticket *ticket,
	const struct budget_spent *spent, int64_t now_us);

/* Counts a run that ended `age_us` ago, before this daemon started.  `of_uid`: also for the uid. */
void budgets_remember(struct budgets *budgets, const struct budget_case *what,
	const struct budget_spent *spent, bool of_uid, int64_t age_us, int64_t now_us);

/* Counts cpu time that belongs to no run. */
void budgets_charge_cpu(
	struct budgets *budgets, const struct budget_case *what, uint64_t cpu_us, int64_t now_us);

/* Whether this case has spent its cpu time, without what runs hold: then *ret_refusal says how much. */
bool budgets_cpu_is_spent(struct budgets *budgets, const struct budget_case *what, int64_t now_us,
	struct budget_refusal *ret_refusal);

/* Resets what one entry has spent and its failures.  Returns false when there is no such entry. */
bool budgets_reset(
	struct budgets *budgets, enum budget_scope scope, uint32_t uid, const char *name);

/*
 * Returns the remaining amounts under these limits: {uid: {cpu_ms, …}, agent: …, task: …}.  NULL:
 * there is no bound.
 */
struct value *budgets_left(struct budgets *budgets, const struct budget_case *what, int64_t now_us,
	struct arena *arena);

/*
 * Finds the scope of this case that is nearest to its bound on failures.  Reports the failures, the
 * bound, and how long the circuit stays open (0: it is not open).  Returns false when no scope with
 * a bound has failures.
 */
bool budgets_failing(struct budgets *budgets, const struct budget_case *what, int64_t now_us,
	struct budget_refusal *ret_failing);

/*
 * Returns [{scope, uid, name, running, …}] of one uid, or of all uids when `uid` is NULL.  Lists at
 * most `most` entries; *ret_more says whether there are more.
 */
struct value *budgets_describe(struct budgets *budgets, const uint32_t *uid, size_t most,
	int64_t now_us, struct arena *arena, bool *ret_more);
