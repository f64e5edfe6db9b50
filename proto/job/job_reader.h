/*
 * Reads the params of one request into a job_spec.  job_spec.c controls the reading.  job_inputs.c
 * reads the inputs of the program.
 *
 * A take_ function reads one group of keys.  It returns 0; 1 when the request is refused, and notes
 * the refusal; -1 without memory, and notes the error.  job_param() returns only values of the
 * shape that proto/method/schemas/run.json requires, so take_ functions do not check types.
 */
#pragma once

#include "proto/job/job.h"
#include "proto/pointer.h"
#include "proto/schema/schema.h"

struct job_reader {
	struct arena *arena;
	const struct value *params;
	const struct job_bounds *bounds;
	struct job_spec spec;
	struct job_refusal refusal;
	struct err *err;
	/* For callers that want all errors: */
	struct job_refusals *all;          /* NULL: stop at the first error */
	const struct schema_report *shape; /* the schema's errors in the params */
};

/* Returns a key of the request; NULL when it is missing or does not have the required shape. */
const struct value *job_param(const struct job_reader *reader, const char *key);

/*
 * Notes why the request is refused.  Returns 1 normally.  Returns 0 when the caller wants all
 * errors, so that the take_ function continues where it can.  Returns -1 without memory.
 */
int job_refuse(struct job_reader *reader, const struct place *at, const char *reason,
	const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Notes that there is no memory.  Returns -1. */
int job_no_memory(struct job_reader *reader);

/* Makes the place of a key of the request. */
struct place job_key(const char *key);

/* Returns the bytes of a str or bin. */
struct bytes job_bytes_of(const struct value *value);

int job_take_args(struct job_reader *reader);
int job_take_stdin(struct job_reader *reader);
int job_take_files(struct job_reader *reader);
int job_take_env(struct job_reader *reader);
int job_take_artifacts(struct job_reader *reader);
int job_take_labels(struct job_reader *reader);
int job_take_secrets(struct job_reader *reader);

/*
 * Checks that the program, its files and stdin fit the run's disk limits.  Call it after files,
 * stdin and limits have been read.
 */
int job_check_room(struct job_reader *reader);
