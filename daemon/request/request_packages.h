/*
 * The package sets of a run: those that its request names, or the default ones of its runtime.
 *
 * They are found once, in the stage of the contract.  Runs of a host without sets pay nothing.
 */
#pragma once

#include "daemon/request/request.h"

enum packages_answer {
	PACKAGES_FOUND,
	PACKAGES_REFUSED,     /* one does not exist, is off, or is not for this runtime or caller */
	PACKAGES_CHECKED_NOW, /* one is being checked for the first time */
};

/* For whoever is no run.  The sets are in the arena of the wish. */
enum packages_answer packages_choose(const struct wish *wish, struct chosen_packages *ret_chosen,
	struct job_refusal *ret_refusal);

/* Fills in request->packages.  Needs the runtime. */
enum packages_answer request_packages_find(
	struct request *request, struct job_refusal *ret_refusal);

/* Whether this caller may use the set. */
bool packages_may_use(const struct wish *wish, const struct package_set *set);

/* Returns [{name, digest}] for a result. */
struct value *packages_stamp(struct arena *arena, const struct chosen_packages *chosen);

/* Tells the execution which sets the worker, and which set the slot, prepares. */
void request_packages_give(struct request *request);
