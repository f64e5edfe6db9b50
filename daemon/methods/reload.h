/*
 * Reads settings, policies and patterns of secrets again while the daemon works: admin.reload, and
 * SIGHUP.
 *
 *	IDLE --> READING (a thread) --> TRYING (an inspector reads new rules) --> IDLE
 *	            |                      |
 *	            +---- refused ---------+--> the old ones stay in force
 *
 * Nothing changes before everything is known to be right.  A run in progress keeps its policy, its
 * limits and its budgets: it holds the policies that it began with (policy.h).  Their inspectors
 * end when no run asks them any more, and their rules when no run is left that has them.  It also
 * keeps the patterns with which its masking began.
 *
 * Roles follow from the settings in force on open connections too.  A call in progress keeps the
 * right with which it began.
 *
 * Settings that were fixed when the daemon started need a restart.  They keep their values, and the
 * answer names them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/loop/loop.h"
#include "daemon/settings/config_adopt.h"
#include "proto/base/err.h"
#include "proto/base/list.h"
#include "proto/job/job.h"
#include "proto/value.h"

/* Earlier policies that runs still have.  They take some MB each. */
#define RELOAD_EARLIER_MAX 8

struct call;
struct reload_task;
struct services;

struct reload {
	struct services *services;
	struct config *config; /* those in force, which others only read */
	struct job_bounds *bounds;
	bool has_network;         /* since the start */
	struct reload_task *task; /* in progress, or NULL */
	struct list earlier;      /* policies that are no longer in force */
	unsigned earlier_count;
	struct timer *look;             /* while there are earlier ones */
	struct config_changes *waiting; /* of the last reload that was accepted, or NULL */
	uint64_t done, refused;
	int64_t last_wall_us; /* of the last one that was accepted */
	int64_t refused_wall_us;
	struct err trouble; /* why the last one was refused; empty when it was accepted */
};

void reload_init(struct reload *reload, struct services *services, struct config *config,
	struct job_bounds *bounds);

/* At the start, when the settings are read. */
void reload_ready(struct reload *reload);

/* Starts one for nobody, as SIGHUP does. */
void reload_start(struct reload *reload);

/*
 * {done, refused, last_us?, trouble?, trouble_us?, waits, earlier_policies} for admin.status.
 */
struct value *reload_describe(const struct reload *reload, struct arena *arena);

void reload_stop(struct reload *reload);  /* asks no inspector any more */
void reload_close(struct reload *reload); /* after the spawner is gone */
