/*
 * What cectl knows of each outcome, written once: what `cectl run` and `cectl wait` exit with, the
 * page of `--help` that says so, how grave it is and whose doing.
 */
#pragma once

#include <stdbool.h>

#include "proto/base/buf.h"
#include "proto/value.h"

#define EXIT_OK      0
#define EXIT_FAILED  1   /* the daemon said no: no such run, not allowed ... */
#define EXIT_USAGE   2   /* the command line is wrong */
#define EXIT_BUSY    75  /* EX_TEMPFAIL of sysexits.h: the same again, later */
#define EXIT_TIME    124 /* a time limit, or a wait that was given up */
#define EXIT_SERVICE 125 /* no daemon, or a failure of cectl or the sandbox */
#define EXIT_REFUSED 126 /* policy, contract, budget */

/* As OCSF counts it; all that is not listed is informational. */
enum severity {
	SEVERITY_INFORMATIONAL = 1,
	SEVERITY_LOW = 2,
	SEVERITY_MEDIUM = 3,
	SEVERITY_HIGH = 4,
};

struct outcome_facts {
	int status; /* below 0: only the result can say */
	enum severity severity;
	bool blocked; /* it was not let, or not let go on */
	bool own_end; /* of the program: its code, an exception, its output */
};

/* An outcome that is not known is a failure of the service. */
const struct outcome_facts *outcome_facts(const char *outcome);

/* For a result as `run` and `wait` answer it. */
int exits_for_result(const struct value *result);

/* For an error reply {code, message, data} to `run` or `check`. */
int exits_for_error(const struct value *error);

/* The table for help pages. */
int exits_help(struct buf *out);
