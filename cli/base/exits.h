/*
 * Exit statuses, written once: what `cectl run` and `cectl wait` exit with for each outcome, and
 * the page of `--help` that says so.
 */
#pragma once

#include "proto/base/buf.h"
#include "proto/value.h"

#define EXIT_OK      0
#define EXIT_FAILED  1   /* the daemon said no: no such run, not allowed ... */
#define EXIT_USAGE   2   /* the command line is wrong */
#define EXIT_BUSY    75  /* EX_TEMPFAIL of sysexits.h: the same again, later */
#define EXIT_TIME    124 /* a time limit, or a wait that was given up */
#define EXIT_SERVICE 125 /* no daemon, or a failure of cectl or the sandbox */
#define EXIT_REFUSED 126 /* policy, contract, budget */

/* For a result as `run` and `wait` answer it. */
int exits_for_result(const struct value *result);

/* For an error reply {code, message, data} to `run` or `check`. */
int exits_for_error(const struct value *error);

/* The table for help pages. */
int exits_help(struct buf *out);
