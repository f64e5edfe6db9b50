/*
 * A runtime of this host: its section of the configuration, what it is made of, and its zygotes and
 * warm workers, which the pool tends (pool.h).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/loop/loop.h"
#include "daemon/settings/config.h"
#include "daemon/workers/worker.h"
#include "daemon/workers/worker_queue.h"
#include "proto/base/arena.h"
#include "proto/base/list.h"
#include "proto/value.h"

struct pool;

struct runtime {
	struct pool *pool;
	struct runtime *steady; /* whose workers take its deterministic runs: its twin, or itself */
	bool is_steady;         /* it is such a twin: its zygote comes on demand, and leaves */
	const struct config_runtime *config;
	uint32_t number;               /* with the spawner */
	char version[64];              /* "3.11.2", once the first zygote has said it */
	char absent[SLOTMSG_TEXT_MAX]; /* modules that it is to import and cannot */
	char harness[CONFIG_TEXT_MAX]; /* folder of what makes a zygote of the interpreter */
	char digest[80];               /* "sha256:…", fingerprint.h; "" until it is known */
	struct list zygotes;           /* newest first; the first is the one in use */
	struct list warm;              /* workers, the one that has waited longest first */
	struct queue_goods goods;      /* how its workers are shared */
	unsigned wanted;               /* slots that should be open */
	struct job_limits limits;      /* that its workers are made with */
	unsigned failures;             /* zygotes in a row that never got ready */
	struct timer *retry;
	int64_t starved_ms;  /* when a run last found no warm worker */
	int64_t taken_ms;    /* and when one last found one */
	uint64_t runs, cold; /* taken, and how many of them had to wait */
	char trouble[256];   /* why there is no zygote, for status; "" when all is well */
};

/* For `runtimes` and `admin.status`: {name, version, digest, warm, running, making, slots, …}. */
struct value *runtime_describe(const struct runtime *runtime, struct arena *arena);

/* The language that its programs are written in, whatever its section is called. */
const char *runtime_language(const struct runtime *runtime);

/* Whether its workers hold programs to the rules of their policy while they run. */
bool runtime_holds_rules(const struct runtime *runtime);

/* Whether its zygote has imported a module of this name, or one below it. */
bool runtime_has_module(const struct runtime *runtime, struct bytes name);

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

/* How many of its workers are in a state. */
unsigned runtime_count_workers(const struct runtime *runtime, enum worker_state state);

/* Of what the zygote that is being started will be; `digest` is known some time later. */
void runtime_take_fingerprint(const struct runtime *runtime);
