/*
 * A worker's end of the job socket: one job comes, a few messages go back.
 *
 * The worker trusts the other end.  It exits when a message is malformed, since it has no way to
 * report that.  The program can write to this socket too: slotmsg.h says why that is harmless.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "proto/internal/slotmsg.h"

#define JOBLINK_FDS_MAX 4

struct joblink_job {
	char *body; /* job.len bytes, until joblink_forget() */
	size_t len;
	/*
	 * As they came; -1: fewer came.  With JOB_START: stdin if there is one, and what the program
	 * displays into if it does.  With JOB_CELL: stdout, stderr, and then the same.  With JOB_KEEP:
	 * the job socket of the state, and where it says hello.
	 */
	int fds[JOBLINK_FDS_MAX];
};

/* Writes to the memory that a job is read into, as a learner does (footprint.h), which reads none. */
void joblink_touch(void);

/* Waits for JOB_START.  -1: the daemon has gone or sent something else. */
int joblink_wait(int sock, struct joblink_job *ret_job, struct err *err);

/* The job's body is gone.  The caller owns the descriptors. */
void joblink_forget(struct joblink_job *job);

/*
 * Between cells: waits for JOB_CELL or JOB_KEEP, which it returns.  Forgets the job before it.  The
 * caller owns the descriptors.  -1: the daemon has gone or sent something else.
 */
int joblink_wait_next(int sock, struct joblink_job *job, struct err *err);

/* Waits for a message of this kind, which has no body.  -1: the daemon has gone or sent another. */
int joblink_wait_word(int sock, enum job_kind kind);

/* Waits for JOB_GO.  -1: the daemon has gone or sent something else. */
int joblink_wait_go(int sock, struct err *err);

/* Sends one message; `body` may be NULL if `len` is 0. */
int joblink_tell(int sock, enum job_kind kind, int32_t exit_code, const void *body, size_t len,
	struct err *err);

/*
 * Says that the worker waits for its job.  It carries the CPU time so far, which is not the job's.
 */
int joblink_ready(int sock);

/* Says why the job could not begin, and exits when the daemon has closed its end. */
__attribute__((noreturn)) void joblink_fail(int sock, const char *why);

/*
 * Says why a later cell with this number does not begin, and that it is over.  The worker then waits
 * for the next one.
 */
int joblink_refuse_cell(int sock, uint32_t turn, const char *why, struct err *err);

/* Waits until the daemon closes its end, and ignores everything that comes. */
void joblink_linger(int sock);
