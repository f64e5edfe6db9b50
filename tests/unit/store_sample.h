/*
 * Runs to write into a store, for its tests and its bench: one folder, one source of ids, and
 * runs that look like those of an agent.
 */
#pragma once

#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/ulid.h"
#include "store/store.h"

/* One run with everything it points to.  Its parts may be changed before it is written. */
struct sample {
	struct arena arena;
	struct job_spec spec;
	struct job_result result;
	struct store_run run;
	char run_id[RUN_ID_LEN + 1];
};

/* A small run that ended well, with an id of its own: print(1), twelve steps, limits, a verdict. */
void sample_init(struct sample *sample);
void sample_done(struct sample *sample);

/* Another id and another time; ids rise. */
void sample_next(struct sample *sample);

/* What the store is given; points into the sample. */
struct store_run sample_begun(const struct sample *sample);
struct store_run sample_ended(struct sample *sample);

/* Begun and ended in one transaction that nobody waits for; -1 with *err. */
int sample_write(struct store *store, struct sample *sample, struct err *err);

/* A folder for a store, below TMPDIR; `ret_folder` has room for 64 bytes.  Empty on failure. */
void sample_folder(char ret_folder[64]);

/* Removes the folder with the store in it. */
void sample_remove(const char *folder);
