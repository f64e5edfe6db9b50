/*
 * The reading of one request: params on one side, a job_spec on the other.  Shared by job_spec.c,
 * which leads, and job_inputs.c, which reads what the program gets.
 *
 * A take_ function reads one group of keys.  It returns 0; 1 when the request is refused, with
 * the refusal noted; -1 without memory, with the error noted.  What job_param() gives has the shape
 * that proto/method/schemas/run.json asks for, so types need no second look.
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
	/* Who wants to know all that is wrong: */
	struct job_refusals *all;          /* NULL: the first will do */
	const struct schema_report *shape; /* of the params, by their schema */
};

/* A key of the request; NULL when it is not there, or has not the shape that it should have. */
const struct value *job_param(const struct job_reader *reader, const char *key);

/*
 * Notes why the request is refused.  Returns 1; 0 when all that is wrong is wanted, so a take_
 * function goes on as far as it makes sense; -1 without memory.
 */
int job_refuse(struct job_reader *reader, const struct place *at, const char *reason,
	const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Notes that there was no memory; returns -1. */
int job_no_memory(struct job_reader *reader);

/* The place of a key of the request. */
struct place job_key(const char *key);

/* The bytes of a str or bin. */
struct bytes job_bytes_of(const struct value *value);

int job_take_args(struct job_reader *reader);
int job_take_stdin(struct job_reader *reader);
int job_take_files(struct job_reader *reader);
int job_take_env(struct job_reader *reader);
int job_take_artifacts(struct job_reader *reader);
int job_take_labels(struct job_reader *reader);
int job_take_secrets(struct job_reader *reader);

/* After files, stdin and limits: whether the disk that the run gets holds what comes with it. */
int job_check_room(struct job_reader *reader);
