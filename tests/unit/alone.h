/*
 * One worker in one slot without a pool.  A stand-in plays the zygote and counts the calls it
 * gets; the test plays the slot and the program.
 */

#ifndef CED_TESTS_ALONE_H
#define CED_TESTS_ALONE_H

#include "daemon/workers/worker.h"
#include "tests/unit/playing.h"

struct zygote {
	uv_loop_t *loop;
	unsigned warm, empty; /* calls of each kind */
};

struct alone {
	uv_loop_t loop;
	struct playing play;
	struct zygote zygote;
	struct worker *worker;
	int slot;             /* the slot's end; -1 after the test has closed it */
	struct played played; /* the test's ends of the last worker made */
};

/* The limits of a worker that alone_make() makes. */
extern const struct job_limits ALONE_LIMITS;

/* Opens an EMPTY slot and takes over the knobs.  NULL: no knobs. */
bool alone_open(struct alone *alone, struct knobs *knobs);
void alone_close(struct alone *alone);

/* alone_make() begins to make a worker, alone_warm() brings it to WARM. */
bool alone_make(struct alone *alone);
bool alone_warm(struct alone *alone);

/* Counts the open descriptors of this process, so that a test can find a leak. */
unsigned alone_fd_count(void);

/* Creates a file with this text, to serve as a knob. */
int alone_file(const char *text);

#endif
