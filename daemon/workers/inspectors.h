/*
 * Keeps as many inspectors running as the configuration says.  It requests each from the spawner,
 * gives its socket to the policy, and replaces inspectors that die or are too slow.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/err.h"
#include "proto/internal/privmsg.h"

struct config;
struct inspectors;
struct policies;
struct spawner_link;
struct uv_loop_s;

/* The parts it uses.  All of them must outlive the inspectors. */
struct inspectors_parts {
	struct uv_loop_s *loop;
	const struct config *config;
	struct spawner_link *spawner;
	struct policies *policies;
};

/*
 * Reports to the owner.  cannot_jail() and cannot_start() return true when the daemon ends because
 * of the report.
 */
struct inspectors_events {
	void (*on_ready)(void *owner);
	bool (*cannot_jail)(void *owner, const char *why);
	bool (*cannot_start)(void *owner, const char *why, const char *repair);
	void *owner;
};

struct inspectors *inspectors_start(const struct inspectors_parts *parts,
	const struct inspectors_events *events, struct err *err);
void inspectors_child_exited(struct inspectors *inspectors, uint32_t child, int status);

/* Fills in a PRIV_INSPECTOR message with the limits of one inspector. */
void inspectors_ceilings(const struct config *config, struct priv_msg *msg);

/*
 * Requests no more inspectors.  The owner calls inspectors_free() when neither the policies nor the
 * spawner can call back any more.
 */
void inspectors_closing(struct inspectors *inspectors);
void inspectors_free(struct inspectors *inspectors);

/* Requests no more inspectors and kills those there are. */
void inspectors_end(struct inspectors *inspectors);

/* Whether the spawner owes them no answer: then they may be freed. */
bool inspectors_are_quiet(const struct inspectors *inspectors);
