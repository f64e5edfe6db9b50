/*
 * A great many runs that look like those of a house full of agents, to be written through the
 * store's own code: for programs that measure a large store.
 *
 * The spread is that of a real one as far as we know it: a few callers and agents do most of the
 * work, tasks come and go, half of all programs were seen before, one word in two is a common one.
 * The same seed gives the same runs, apart from their ids.
 */
#pragma once

#include <stdint.h>

#include "tests/unit/store_sample.h"

#define HERD_UID_FIRST   1000U
#define HERD_UIDS        12U
#define HERD_AGENTS      40U
#define HERD_TASK_RUNS   40U /* a task is so many runs, one after the other or nearly */
#define HERD_KNOWN_CODES 2000U
#define HERD_WORDS       20000U
#define HERD_TEXT_BYTES  4096
#define HERD_OLD_WORD    "yesteryear" /* in half of what the oldest twentieth wrote, and never since */

struct herd {
	struct sample sample;
	struct ulid_source ids;
	uint64_t random;
	uint64_t number; /* of the run that the sample holds */
	uint64_t count;
	uint64_t first_ms, span_ms;
	char code[HERD_TEXT_BYTES];
	char out[HERD_TEXT_BYTES];
	char errout[HERD_TEXT_BYTES];
	char agent[32], task[32], caller_id[48];
	char label_values[3][32];
	struct job_pair labels[3];
	struct policy_finding findings[2];
};

/* `count` runs that end now and began `days` ago. */
void herd_init(struct herd *herd, uint64_t seed, uint64_t count, unsigned days);
void herd_done(struct herd *herd);

/* The next run; what it points to is good until the one after. */
int herd_next(struct herd *herd, struct store_run *ret_run, struct err *err);

/* The word of a rank: 0 stands in nearly every text, the last in one of many thousands. */
void herd_word(unsigned rank, char ret_word[16]);
