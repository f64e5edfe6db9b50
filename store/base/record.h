/*
 * Shared by the writer of a run (store/write/run_write.c) and its readers (store/read/run_read.c).
 */
#pragma once

#include <stdint.h>

#include <sqlite3.h>

#include "proto/base/err.h"
#include "proto/job/job.h"
#include "proto/value.h"
#include "store/base/stmt.h"

struct store;

/* The column `form` of `displays`. */
enum record_form {
	RECORD_FORM_TEXT,
	RECORD_FORM_BYTES,
	RECORD_FORM_JSON,
};

#define RECORD_JSON_BYTES_MAX ((size_t)128 << 20)
#define RECORD_UNCOUNTED      (-1) /* in `stored_bytes`: store_each_spent() skips the run */
#define RECORD_TRACE_INLINE_MAX \
	((size_t)32 << 10) /* the view `steps` reads only data inside the row */

/*
 * The numbers of struct job_metrics that are columns of `runs`, in the order of the columns.  The
 * time that the record itself took is not among them: it is known only when the record has been
 * written.
 */
/* clang-format off */
#define RECORD_METRICS(X) \
	X(queue_us) X(policy_us) X(start_us) X(exec_us) X(collect_us) X(total_us) \
	X(cpu_user_us) X(cpu_sys_us) X(memory_peak_bytes) X(disk_bytes) \
	X(ctx_voluntary) X(ctx_forced)
/* clang-format on */

/* Their number, without `warm`. */
enum {
#define RECORD_METRIC_PLACE(name) RECORD_METRIC_##name,
	RECORD_METRICS(RECORD_METRIC_PLACE)
#undef RECORD_METRIC_PLACE
	RECORD_METRICS_COUNT
};

/* Finds the key of a run: 0 found, 1 no such run, -1. */
int record_find(struct store *store, const char *run_id, int64_t *ret_key, struct err *err);

/* The columns of STMT_RECORD_READ. */
enum record_column {
	RECORD_REQUEST,
	RECORD_REFUSED,
	RECORD_CODE,
	RECORD_STDIN,
	RECORD_SETTING,
	RECORD_STDOUT,
	RECORD_STDOUT_TAIL,
	RECORD_STDERR,
	RECORD_STDERR_TAIL,
	RECORD_TRACE,
	RECORD_MORE,
};

/*
 * Steps the statement `name` to the row of the key: 0, 1 there is none, -1.  The caller resets it.
 */
int record_row(struct store *store, enum stmt_name name, int64_t key, sqlite3_stmt **ret_row,
	struct err *err);

/* At most `most` bytes from the front.  It ends between two characters where that is possible. */
struct value *record_part(struct arena *arena, struct bytes bytes, uint64_t most);
