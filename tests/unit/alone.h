/*
 * One worker in one slot without a pool: the zygote is a stand-in that counts what it is told, the
 * slot and the program are played by the test.
 */

#ifndef CED_TESTS_ALONE_H
#define CED_TESTS_ALONE_H

#include "daemon/workers/worker.h"
#include "tests/unit/playing.h"

struct zygote {
	uv_loop_t *loop;
	unsigned warm, empty, lost; /* how often it was told so */
};

struct alone {
	uv_loop_t loop;
	struct playing play;
	struct zygote zygote;
	struct worker *worker;
	int slot;             /* the slot's end; -1 when the test has closed it */
	struct played played; /* the ends of the last worker that was made */
};

/* What alone_make() makes a worker with. */
extern const struct job_limits ALONE_LIMITS;

/* An EMPTY slot.  The knobs are moved in; NULL: none. */
bool alone_open(struct alone *alone, struct knobs *knobs);
void alone_close(struct alone *alone);

/* Begins to make a worker, and what brings it to WARM. */
bool alone_make(struct alone *alone);
bool alone_warm(struct alone *alone);

/* Open descriptors of this process, to see that none is lost. */
unsigned alone_fd_count(void);

/* A file that a knob can stand for. */
int alone_file(const char *text);

#endif
