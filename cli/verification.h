/*
 * The parts of a store, verified on tracks that go side by side.
 *
 * A track is a thread with its own connection (with --store: its own open copy) and its own arena,
 * and asks for its parts one after the other.  The thread that began it all draws one bar over
 * them, waits, and alone tells what went wrong, once; when a track fails the other ends after the
 * question that it is at.
 *
 * Ownership: what was found lies in the arenas of the tracks, until verification_done().
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "cli/bar.h"
#include "cli/commands.h"

#define VERIFICATION_PARTS  5
#define VERIFICATION_TRACKS 2
#define VERIFICATION_LISTED 200 /* problems; the rest is counted */

/* Under the lock while tracks go, but for the list, which is its track's alone. */
struct verification_part {
	int64_t checked;
	int64_t found;
	double done;            /* 0 to 1 */
	struct value *problems; /* NULL: none yet */
};

struct verification_track {
	struct verification *verification;
	unsigned number;
	pthread_t thread;
	bool began;
	struct cli cli;             /* its own, for its questions */
	size_t part;                /* under way; under the lock */
	int status;                 /* as cli_ask_quietly(), of the last question */
	const struct value *answer; /* to it */
	struct err err;             /* where there was none */
};

struct verification {
	struct cli *cli;
	int64_t from, to;         /* only these links of the chain; 0: everything */
	const char *key, *second; /* to go by; NULL: the daemon's own */
	int64_t found;            /* filled in, with what follows */
	int64_t links;            /* that the chain has */
	struct value *problems;   /* in the order of the parts, so many as are listed */
	struct bar bar;
	pthread_mutex_t lock;
	pthread_cond_t moved; /* a track has something to show, or has ended */
	unsigned going;       /* tracks; under the lock */
	bool stopped;         /* the same */
	struct verification_part parts[VERIFICATION_PARTS];
	struct verification_track tracks[VERIFICATION_TRACKS];
};

/* "chain" ..., and what it counts: "links" ... */
const char *verification_part_name(size_t part);
const char *verification_part_unit(size_t part);

void verification_init(struct verification *verification, struct cli *cli);
void verification_done(struct verification *verification);

/* 0 with what was found; else the exit status, after telling the reason. */
int verification_run(struct verification *verification);
