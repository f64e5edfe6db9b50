/*
 * A worker's end of the job socket: one job comes, a few words go back.
 *
 * Whoever holds the other end is believed; whatever is out of shape ends the worker, since there
 * is nobody to complain to.  The program can reach this socket too and say what it likes: see
 * slotmsg.h for why that is harmless.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "proto/internal/slotmsg.h"

struct joblink_job {
	char *body; /* of job.len bytes: inside joblink.c or from malloc; lives until the end */
	size_t len;
	int stdin_fd; /* -1: none came */
};

/* Waits for JOB_START.  -1: the daemon has gone or sent something else. */
int joblink_wait(int sock, struct joblink_job *ret_job, struct err *err);

/* Sends one word; `body` may be NULL when `len` is 0. */
int joblink_tell(int sock, enum job_kind kind, int32_t exit_code, const void *body, size_t len,
	struct err *err);

/* Stays until the daemon closes its end.  Nothing that comes is looked at. */
void joblink_linger(int sock);
