/* The methods about budgets, and the start of the budgets from what the store has recorded. */
#pragma once

#include "daemon/methods/call.h"

struct services;
struct store;

/* Answers budgets.list. */
void method_budgets(struct call *call);

/* admin.reset_budget: resets the budget that its params name; false: nothing was spent there. */
bool budgets_reset_asked(struct call *call);

/*
 * Starts services->budgets with the runs of the last window that the store has recorded, except
 * those that were reset since.  0, or -1; call budgets_done() after both.
 */
int budgets_load(struct services *services, struct store *store, struct err *err);
