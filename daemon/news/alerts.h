/*
 * Tells of what the administrator wants to hear of: rules of the configuration (alert_rule.h) are
 * held against each run that is on the record.  One that applies is an event for those who subscribed,
 * an entry with fields in the journal and a line in the log.  Commands are started by a service of its
 * own that hears the events (runner.h).  Nothing here holds a run up: it has been recorded, and its answer does not wait.
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
	struct map tallies; /* rule and whom -> struct tally */
	struct map seen;    /* digests of programs and who ran them -> anything */
	struct timer *back; /* until those are told of that were lost with the last daemon */
	/* since the start, for admin.status */
	uint64_t raised;
	int64_t last_wall_us;
	char last[64];
};

void alerts_init(struct alerts *alerts, struct services *services);
void alerts_done(struct alerts *alerts);

/* A run as it stands on the record: secrets are masked there.  Texts may be NULL. */
struct alert_run {
	const char *run_id, *code_hash;
	const char *agent, *task, *language, *policy;
	uint32_t uid;
	enum outcome outcome;
	const struct policy_verdict *verdict; /* NULL: it came to none */
};

/* It is on the record. */
void alerts_run_ended(struct alerts *alerts, const struct alert_run *run);

/* At the start, when runs were lost with the last daemon: each is told as one that has ended so. */
void alerts_tell_lost(struct alerts *alerts);
/* One of them, as lists have it. */
void alerts_run_lost(struct alerts *alerts, const struct value *run);
/* Nothing is told any more; before the loop ends. */
void alerts_stop(struct alerts *alerts);

/* {rules, raised, last?, last_us?} for admin.status. */
struct value *alerts_describe(const struct alerts *alerts, struct arena *arena);
