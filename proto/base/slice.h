/*
 * How soon the kernel lets a thread run when it wakes up.  A thread that asks for a shorter time slice gets
 * the processor at once from one with a longer slice, and not more of it in all (EEVDF, Linux 6.12).
 */
#pragma once

#include <stdint.h>

/* In microseconds.  Whoever asks for none has some milliseconds. */
#define SLICE_SHORTEST \
	100 /* of what somebody waits for: the loop, and a worker that has got its job */
#define SLICE_SHORT 200 /* of the recorder, which may wait until the worker runs */

/*
 * Asks for a time slice for the calling thread.  Threads and processes that it starts later have ordinary
 * ones.  An older kernel ignores it, and so does a thread whose policy is not an ordinary one.
 */
void slice_ask(uint64_t us);
