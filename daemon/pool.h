/*
 * Warm workers for each runtime: zygotes that fork slots, slots that hold workers.
 *
 * What makes runs deterministic must be so before an interpreter starts, where a zygote holds one:
 * such a runtime has a twin, with zygotes of its own, the first of which starts with the first
 * deterministic run.
 *
 * A runtime has one zygote that is used and, while it is being replaced, older ones that finish
 * what they run.  The pool keeps at least workers_min slots and opens more, up to workers_max,
 * when a run finds no warm worker; what has been idle for a while beyond the floor is closed.
 *
 * Lives from pool_start() until the daemon ends: pool_stop() ends what runs, pool_close() lets go of
 * everything at once (the spawner kills what is left when the daemon leaves).
 */
#pragma once

#include <stdbool.h>

#include "daemon/config.h"
#include "daemon/loop.h"
#include "daemon/residue.h"
#include "daemon/spawner_link.h"
#include "proto/base/arena.h"
#include "proto/base/list.h"
#include "proto/value.h"

struct worker;
struct zygote;
struct execution;

struct runtime {
	struct pool *pool;
	struct runtime *steady; /* whose workers take its deterministic runs: its twin, or itself */
	bool is_steady;         /* it is such a twin: its zygote comes on demand, and leaves */
	const struct config_runtime *config;
	uint32_t number;               /* with the spawner */
	char version[64];              /* "3.11.2", once the first zygote has said it */
	char harness[CONFIG_TEXT_MAX]; /* folder of what makes a zygote of the interpreter */
	char digest[80];               /* "sha256:…", fingerprint.h; "" until it is known */
	struct list zygotes;           /* newest first; the first is the one in use */
	struct list warm;              /* workers, the one that has waited longest first */
	unsigned wanted;               /* slots that should be open */
	struct job_limits limits;      /* that its workers are made with */
	unsigned failures;             /* zygotes in a row that never got ready */
	struct timer *retry;
	int64_t starved_ms;  /* when a run last found no warm worker */
	int64_t taken_ms;    /* and when one last found one */
	uint64_t runs, cold; /* taken, and how many of them had to wait */
	char trouble[256];   /* why there is no zygote, for status; "" when all is well */
};

struct pool {
	uv_loop_t *loop;
	const struct config *config;
	struct spawner_link *spawner;
	struct priv_host host;
	struct runtime *runtimes; /* those of the configuration, then twins of some of them */
	unsigned runtime_count;
	unsigned all_count; /* with the twins */
	struct timer *upkeep;
	struct residue residue;
	bool closing;
	void (*on_warm)(void *context, struct runtime *runtime);
	void *context;
};

/* Configures the spawner's side (before the loop runs).  `host` is what HELLO answered. */
int pool_configure(struct pool *pool, const struct config *config, const struct priv_host *host,
	struct spawner_link *spawner, const char *harness_dir, struct err *err);

/* Starts the zygotes.  on_warm comes whenever a worker of a runtime is ready to be taken. */
int pool_start(struct pool *pool, uv_loop_t *loop,
	void (*on_warm)(void *context, struct runtime *runtime), void *context, struct err *err);

/* NULL: this host has no such runtime. */
struct runtime *pool_find(struct pool *pool, const char *name);

/* A WARM worker, or NULL (then more are on their way and on_warm will come). */
struct worker *pool_take(struct runtime *runtime);

/* A child of the spawner ended.  True when it was one of ours. */
bool pool_child_exited(struct pool *pool, uint32_t child, int status);

/* For `runtimes` and `admin.status`: {name, version, digest, warm, running, making, slots, …}. */
struct value *pool_describe(const struct runtime *runtime, struct arena *arena);

/* The language that its programs are written in, whatever its section is called. */
const char *runtime_language(const struct runtime *runtime);

/* Whether stdin travels to its workers in the job's body and not as a descriptor. */
bool runtime_reads_stdin_inline(const struct runtime *runtime);

/*
 * How its interpreter words errors (complaint.h), NULL behind the last.  False where a harness tells
 * of them.
 */
bool runtime_forms(
	const struct runtime *runtime, const char *ret_forms[static CONFIG_FORMS_MAX + 1]);

/* Whether all its workers are made of what has this digest: nothing takes its place just now. */
bool runtime_is_made_of(const struct runtime *runtime, const char *digest);

/* {name, version, digest} of a result. */
struct value *runtime_stamp(const struct runtime *runtime, struct arena *arena);

/* Gives every worker up: what runs in them ends now, in this call, and is told so.  Makes no more. */
void pool_stop(struct pool *pool);

/* Frees everything.  No run may be in a worker any more. */
void pool_close(struct pool *pool);

/* ---- what workers tell their zygote -------------------------------------------------------- */

uv_loop_t *zygote_loop(struct zygote *zygote);
struct runtime *zygote_runtime(struct zygote *zygote);
void zygote_on_warm(struct zygote *zygote, struct worker *worker);
void zygote_on_empty(struct zygote *zygote, struct worker *worker);
void zygote_on_slot_lost(struct zygote *zygote, struct worker *worker);
