/*
 * Encodes notifications about one run: run.output carries a piece of a program's output,
 * run.started reports the id of the run that a request has become.
 */
#pragma once

#include "proto/base/buf.h"
#include "proto/base/err.h"
#include "proto/value.h"

/* Appends one run.output to `buf`.  Returns -1 when there is no room. */
int notification_write_output(struct buf *buf, const char *run_id, const char *stream,
	uint64_t offset, struct bytes piece, struct err *err);

/* The same for run.started; `id` is the name that the caller gave the run, or NULL. */
int notification_write_started(
	struct buf *buf, const char *run_id, uint32_t msgid, const char *id, struct err *err);
