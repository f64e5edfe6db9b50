/*
 * JSON of a request and of its result for `records`, without the fields that have their own
 * column.
 */
#pragma once

#include "proto/base/arena.h"
#include "proto/base/buf.h"
#include "proto/base/err.h"
#include "proto/job/job.h"
#include "proto/value.h"

struct store_run;

/* Memory for the columns of one run, which are borrowed from it until run_json_clear(). */
struct run_json {
	struct arena arena;
	struct buf text;
};

void run_json_init(struct run_json *json);
void run_json_clear(struct run_json *json);
void run_json_done(struct run_json *json);

struct run_columns {
	struct value *whole; /* the result as a map */
	struct bytes setting;
	struct bytes trace;
	struct bytes more;
};

/* The request.  Of its secrets only the number is written. */
int run_json_request(struct run_json *json, const struct job_spec *spec, struct bytes *ret_text,
	struct err *err);

/*
 * The policy that let a run begin, in case its end is never recorded; empty where there was no
 * verdict.  It is written to the column `setting`, which the end of the run overwrites.
 */
int run_json_begun(struct run_json *json, const struct store_run *run, struct bytes *ret_text,
	struct err *err);

/* Any value. */
int run_json_value(
	struct run_json *json, const struct value *value, struct bytes *ret_text, struct err *err);

/* `asked`: the limits that the request named, or NULL. */
int run_json_result(struct run_json *json, const struct job_result *result,
	const struct value *asked, struct run_columns *ret_columns, struct err *err);
