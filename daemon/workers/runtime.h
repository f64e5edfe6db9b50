/*
 * A runtime of this host: its section of the configuration, its digest, its zygotes and its warm
 * workers.  The pool owns all runtimes; pool.h has what it does with them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/loop/loop.h"
#include "daemon/settings/config.h"
#include "daemon/workers/outer_cgroups.h"
#include "daemon/workers/package_sets.h"
#include "daemon/workers/reclaim.h"
#include "daemon/workers/spawner_link.h"
#include "daemon/workers/worker.h"
#include "daemon/workers/worker_queue.h"
#include "proto/base/arena.h"
#include "proto/base/list.h"
#include "proto/value.h"

/* The runtimes of this host, and what they share. */
struct pool {
	uv_loop_t *loop;
	const struct config *config;
	struct spawner_link *spawner;
	struct priv_host host;
	struct runtime *runtimes; /* those of the configuration, then the twins of some of them */
	unsigned runtime_count;
	unsigned all_count; /* including twins */
	struct timer *upkeep;
	struct reclaim reclaim;
	struct package_sets packages;
	struct outer_cgroups outer_cgroups; /* memory cgroups above all jails */
	bool closing;
	void (*on_warm)(void *context, struct runtime *runtime);
	void *context;
};

struct runtime {
	struct pool *pool;
	struct runtime *steady; /* its workers take the deterministic runs: its twin, or itself */
	bool is_steady;         /* it is a twin: its zygote starts on demand and ends when idle */
	struct runtime *networked; /* its workers take the runs with a network: a twin, or NULL */
	bool is_networked;         /* it is that twin, and otherwise like one that is steady */
	const struct config_runtime *config;
	uint32_t number;               /* the spawner's number for it */
	char version[64];              /* "3.11.2", once the first zygote has reported it */
	char absent[SLOTMSG_TEXT_MAX]; /* configured modules that it cannot import */
	char harness[CONFIG_TEXT_MAX]; /* folder with the files of its harness */
	char digest[80];               /* "sha256:…", fingerprint.h; "" while unknown */
	struct list zygotes;           /* newest first; the first is the one in use */
	struct list warm;              /* workers; the one that was ready first is first */
	struct queue_shares shares;    /* how its workers are shared */
	unsigned wanted;               /* the number of slots to keep open */
	struct job_limits limits;      /* of new workers */
	unsigned failures;             /* zygotes in a row that never got ready */
	bool is_slow;                  /* the last one needed longer: the next one is given more */
	struct timer *retry;
	int64_t starved_ms;  /* when a run last had to wait for a worker */
	int64_t taken_ms;    /* when a run last got one */
	int64_t wasted_ms;   /* when a worker was last given up that was taken for a run to come */
	uint64_t runs, cold; /* runs that got a worker; runs that came while none was warm */
	char trouble[256];   /* why there is no zygote, for status; "" when there is one */
};

/* For `runtimes` and `admin.status`: {name, version, digest, warm, running, making, slots, …}. */
struct value *runtime_describe(const struct runtime *runtime, struct arena *arena);

/* Returns the language of its programs.  Its section may have another name. */
const char *runtime_language(const struct runtime *runtime);

/* Whether its workers hold programs to the rules of their policy while they run. */
bool runtime_holds_rules(const struct runtime *runtime);

/* Whether its zygote has imported a module of this name, or a submodule of it. */
bool runtime_has_module(const struct runtime *runtime, struct bytes name);

/* Whether its workers can compile a program and wait before they run it (JOB_FLAG_GATE). */
bool runtime_has_gate(const struct runtime *runtime);

/* Whether its workers receive stdin in the job's body and not as a descriptor. */
bool runtime_reads_stdin_inline(const struct runtime *runtime);

/* Whether its workers can run cells of a session. */
bool runtime_has_cells(const struct runtime *runtime);

/*
 * Returns the forms of its interpreter's errors (complaint.h); NULL follows the last.  False: a
 * harness reports errors, so the forms are not needed.
 */
bool runtime_forms(
	const struct runtime *runtime, const char *ret_forms[static CONFIG_FORMS_MAX + 1]);

/* Whether all its workers have this digest, and its zygote is not being replaced. */
bool runtime_is_made_of(const struct runtime *runtime, const char *digest);

/* Returns {name, version, digest} for a result. */
struct value *runtime_stamp(const struct runtime *runtime, struct arena *arena);

/* Computes the digest of the zygote that is being started.  `digest` is set some time later. */
void runtime_take_fingerprint(const struct runtime *runtime);
