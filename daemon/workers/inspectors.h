/*
 * Keeps as many inspectors alive as the configuration wants: asks the spawner for each, hands
 * its socket to the policy, replaces those that die or are too slow.
 */
#pragma once

#include <stdint.h>

#include "proto/base/err.h"
#include "proto/internal/privmsg.h"

struct config;
struct inspectors;
struct policies;
struct spawner_link;
struct uv_loop_s;

/* What it works with; all of it outlives it. */
struct inspectors_parts {
	struct uv_loop_s *loop;
	const struct config *config;
	struct spawner_link *spawner;
	struct policies *policies;
};

/* What it reports.  The two questions return true when the daemon ends because of it. */
struct inspectors_events {
	void (*on_ready)(void *owner);
	bool (*cannot_jail)(void *owner, const char *why);
	bool (*cannot_start)(void *owner, const char *why, const char *repair);
	void *owner;
};

struct inspectors *inspectors_start(const struct inspectors_parts *parts,
	const struct inspectors_events *events, struct err *err);
void inspectors_child_exited(struct inspectors *inspectors, uint32_t child, int status);

/* Fills in what one may use, in a PRIV_INSPECTOR. */
void inspectors_ceilings(const struct config *config, struct priv_msg *msg);

/* Asks for no more.  Free comes when neither the policies nor the spawner can call any more. */
void inspectors_closing(struct inspectors *inspectors);
void inspectors_free(struct inspectors *inspectors);
