/* What clients ask about budgets, and what the store tells of them at the start. */
#pragma once

#include "daemon/methods/call.h"

struct services;
struct store;

/* Answers budgets.list. */
void method_budgets(struct call *call);

/* admin.reset_budget: forgets what its params name; false: nothing was spent there. */
bool budgets_reset_asked(struct call *call);

/*
 * Starts services->budgets with what the store knows of the last window and was not reset since.  0,
 * or -1; then budgets_done() too.
 */
int budgets_load(struct services *services, struct store *store, struct err *err);
