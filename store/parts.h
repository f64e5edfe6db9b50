/*
 * A request and a result taken apart into what the columns of `records` hold.  Everything lies in
 * the store's scratch memory and is gone when the record has been written.
 */
#pragma once

#include "proto/base/err.h"
#include "proto/job/job.h"
#include "proto/value.h"

struct store;
struct store_run;

/* A result, in JSON where it is not a column of its own. */
struct parts {
	struct value *whole;
	struct bytes setting;
	struct bytes trace;
	struct bytes more;
};

/* JSON of what was asked, without what has a column of its own; of secrets, how many were named. */
int parts_request(
	struct store *store, const struct job_spec *spec, struct bytes *ret_text, struct err *err);

/*
 * JSON of the policy that let a run begin, should nobody write down how it ended; nothing where there
 * was no verdict.  In the place of the setting that its end has.
 */
int parts_begun(
	struct store *store, const struct store_run *run, struct bytes *ret_text, struct err *err);

/* `asked`: the limits that were named, or NULL. */
int parts_result(struct store *store, const struct job_result *result, const struct value *asked,
	struct parts *ret_parts, struct err *err);
