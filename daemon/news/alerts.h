/*
 * Alerts: checks each recorded run against the rules of the configuration (alert_rule.h).  A rule
 * that applies raises an event for subscribers, a journal entry with fields and a line in the log.
 * A separate service receives the events and starts commands (runner.h).  Alerts delay no run: the
 * run has been recorded, and its answer does not wait for them.
 */
#pragma once

#include <stdint.h>

#include "daemon/loop/loop.h"
#include "daemon/settings/alert_rule.h"
#include "proto/base/map.h"
#include "proto/job/job.h"
#include "proto/value.h"

struct request;
struct services;

struct alerts {
	struct services *services;
	const struct alert_rule *rules;
	unsigned count;
	struct map tallies; /* rule and user or agent -> struct tally */
	struct map seen;    /* digests of program, user and agent -> anything */
	struct timer *back; /* until the runs lost with the last daemon are reported */
	/* since the start, for admin.status */
	uint64_t raised;
	int64_t last_wall_us;
	char last[64];
};

void alerts_init(struct alerts *alerts, struct services *services);
void alerts_done(struct alerts *alerts);

/* The rules of the settings have changed: they count from nothing. */
void alerts_set(struct alerts *alerts);

/* A run as it is recorded, with secrets masked.  Texts may be NULL. */
struct alert_run {
	const char *run_id, *code_hash;
	const char *agent, *task, *language, *policy;
	uint32_t uid;
	enum outcome outcome;
	const struct policy_verdict *verdict; /* NULL: there was none */
};

/* Checks a run against the rules, after it has been recorded. */
void alerts_run_ended(struct alerts *alerts, const struct alert_run *run);

/* At the start: checks each run that was lost with the last daemon, with the outcome `lost`. */
void alerts_check_lost(struct alerts *alerts);
/* Checks one of these runs; `run` is an entry of a list of runs. */
/* Stops the report of lost runs.  To be called before the loop ends. */
void alerts_stop(struct alerts *alerts);

/* {rules, raised, last?, last_us?} for admin.status. */
struct value *alerts_describe(const struct alerts *alerts, struct arena *arena);
