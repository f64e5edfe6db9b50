/*
 * Internals of budgets, shared by three files: budgets.c admits runs and counts their spending,
 * budget_entries.c finds or makes entries, budgets_told.c reports amounts spent and left.
 */
#pragma once

#include "daemon/gate/budgets.h"
#include "daemon/gate/spending.h"

#define BUDGET_NAME_BYTES 512
#define BUDGET_OTHERS     "\xff" /* cannot be a caller's name: those are UTF-8 */
#define BUDGET_OTHERS_UID UINT32_MAX

struct budget_entry {
	struct spending minute; /* counts runs only */
	struct spending window;
	uint64_t running, attempts, failures;
	uint64_t paused; /* runs that wait for approval; their tickets point here */
	uint64_t cpu_held_us, wall_held_us;
	int64_t failed_us; /* time of the last failure */
	int64_t used_us;
	bool trial; /* a trial run is in progress; its end decides whether the circuit closes */
	enum budget_scope scope;
	uint32_t uid;
	size_t key_len;
	/* the key ends in the name and its NUL */
	char key[1 + sizeof(uint32_t) + BUDGET_NAME_BYTES + 1];
};

/* ---- budget_entries.c ---- */

const char *budget_name(const struct budget_entry *entry);

/* True for the "(others)" entry, which names without an entry of their own share. */
bool budget_is_shared(const struct budget_entry *entry);

/* Drops spending that is older than the minute and the window. */
void budget_age(struct budget_entry *entry, int64_t now_us);

struct budget_entry *budget_find(
	const struct budgets *budgets, enum budget_scope scope, uint32_t uid, const char *name);

/* Returns the entry for this name (made if it is missing), or the shared one.  NULL: no memory. */
struct budget_entry *budget_entry_for(struct budgets *budgets, enum budget_scope scope,
	uint32_t uid, const char *name, int64_t now_us);

/* ---- budgets.c ---- */

/* The name that a run counts for in this scope, or NULL. */
const char *budget_name_in(const struct budget_case *what, enum budget_scope scope);

uint64_t budget_most(const struct budget_limits *limits, enum budget_measure measure);
uint64_t budget_spent_in(const struct budget_entry *entry, enum budget_measure measure);

/* How long an open circuit stays open; not positive when that time has passed. */
int64_t budget_open_us(
	const struct budgets *budgets, const struct budget_entry *entry, int64_t now_us);
