/*
 * The parts of budgets, which know each other: budgets.c decides who may spend and counts what was
 * spent, budget_entries.c knows for whom, budgets_told.c says what is spent and left.
 */
#pragma once

#include "daemon/gate/budgets.h"
#include "daemon/gate/spending.h"

#define BUDGET_NAME_BYTES 512
#define BUDGET_OTHERS     "\xff" /* no name of a caller's: those are UTF-8 */
#define BUDGET_OTHERS_UID UINT32_MAX

struct budget_entry {
	struct spending minute; /* runs alone */
	struct spending window;
	uint64_t running, attempts, failures;
	uint64_t paused; /* runs that wait for a person, whose tickets point here */
	uint64_t cpu_held_us, wall_held_us;
	int64_t failed_us; /* when the last one did */
	int64_t used_us;
	bool trial; /* a run is under way that decides */
	enum budget_scope scope;
	uint32_t uid;
	size_t key_len;
	char key[1 + sizeof(uint32_t) + BUDGET_NAME_BYTES + 1]; /* ends in the name and its NUL */
};

/* ---- budget_entries.c ---- */

const char *budget_name(const struct budget_entry *entry);

/* "(others)": what names without an entry of their own share. */
bool budget_is_shared(const struct budget_entry *entry);

/* Lets go of what is no longer of its minute and its window. */
void budget_age(struct budget_entry *entry, int64_t now_us);

struct budget_entry *budget_find(
	const struct budgets *budgets, enum budget_scope scope, uint32_t uid, const char *name);

/* Its own, made if need be, or the one that it shares; NULL: no memory. */
struct budget_entry *budget_entry_for(struct budgets *budgets, enum budget_scope scope,
	uint32_t uid, const char *name, int64_t now_us);

/* ---- budgets.c ---- */

/* For whom in this scope, or NULL. */
const char *budget_name_in(const struct budget_case *what, enum budget_scope scope);

uint64_t budget_most(const struct budget_limits *limits, enum budget_measure measure);
uint64_t budget_spent_in(const struct budget_entry *entry, enum budget_measure measure);

/* How long its circuit, if it is open, still is. */
int64_t budget_open_us(
	const struct budgets *budgets, const struct budget_entry *entry, int64_t now_us);
