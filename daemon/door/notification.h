/*
 * Encodes notifications about one run: run.output carries a piece of a program's output,
 * run.display one item that it displays; run.started reports the id of the run that a request has
 * become, run.call asks for the result of a tool, run.call_asked says that an approver must allow the
 * call first, and run.call_over takes either back.
 */
#pragma once

#include "proto/base/buf.h"
#include "proto/base/err.h"
#include "proto/value.h"

/* Appends one run.output to `buf`.  Returns -1 when there is no room. */
int notification_write_output(struct buf *buf, const char *run_id, const char *stream,
	uint64_t offset, struct bytes piece, struct err *err);

/* A call of a tool. */
struct call_notice {
	const char *run_id;
	uint32_t call;
	const char *tool;
	const struct value *args;
	int64_t deadline_us; /* since 1970 */
};

/* The same for run.call, which asks the client for a result. */
int notification_write_call(struct buf *buf, const struct call_notice *notice, struct err *err);

/* A call that waits for an approver. */
struct call_asked_notice {
	const char *run_id;
	uint32_t call;
	const char *tool;
	const char *policy;
	const char *rule; /* or NULL */
	int64_t until_us; /* since 1970 */
};

/* The same for run.call_asked. */
int notification_write_call_asked(
	struct buf *buf, const struct call_asked_notice *notice, struct err *err);

/* The same for run.call_over: nobody waits for this call any more. */
int notification_write_call_over(
	struct buf *buf, const char *run_id, uint32_t call, const char *why, struct err *err);

/* The same for run.display; `item` as in job_display.h. */
int notification_write_display(
	struct buf *buf, const char *run_id, const struct value *item, struct err *err);

/* The same for run.started; `id` is the name that the caller gave the run, or NULL. */
int notification_write_started(
	struct buf *buf, const char *run_id, uint32_t msgid, const char *id, struct err *err);
