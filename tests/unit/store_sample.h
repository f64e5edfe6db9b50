/*
 * Runs to write into a store, for tests and benches of the store: one folder, one source of ids,
 * and runs that look like those of an agent.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/ulid.h"
#include "store/store.h"

/* One run with everything it points to.  A caller may change its parts before writing it. */
struct sample {
	struct arena arena;
	struct job_spec spec;
	struct job_result result;
	struct store_run run;
	char run_id[RUN_ID_LEN + 1];
	struct store_call call; /* that sample_write() writes too, when it has a number */
};

/* A small run that ended well, with its own id: print(1), twelve steps, limits, a verdict. */
void sample_init(struct sample *sample);
void sample_done(struct sample *sample);

/* Gives the sample a new, higher id and a new time. */
void sample_next(struct sample *sample);

/* The run as the store gets it.  It points into the sample. */
struct store_run sample_begun(const struct sample *sample);
struct store_run sample_ended(struct sample *sample);

/* Writes begin and end in one transaction without waiting for its sync.  -1 with *err. */
int sample_write(struct store *store, struct sample *sample, struct err *err);

/* A store in its own folder below TMPDIR, with a run to write and an arena for answers. */
struct shop {
	char folder[64];
	struct store *store; /* NULL when it could not be opened: err says why */
	struct arena arena;
	struct sample sample;
	struct err err;
};

void shop_init(struct shop *shop);

/* Closes the store and opens it again. */
void shop_reopen(struct shop *shop);

/*
 * Damages the page of the database that holds the first occurrence of these bytes.  False: none
 * does.
 */
bool shop_spoil(struct shop *shop, const char *bytes);

/* Removes the folder with everything in it. */
void shop_done(struct shop *shop);

#define auto_shop __attribute__((cleanup(shop_done)))
