/*
 * Notifications about one run, as they travel: run.output, a piece of what a program wrote, and
 * run.started, which run it is that a request has become.
 */
#pragma once

#include "proto/base/buf.h"
#include "proto/base/err.h"
#include "proto/value.h"

/* Appends one to `buf`.  -1: no room. */
int notice_write(struct buf *buf, const char *run_id, const char *stream, uint64_t offset,
	struct bytes piece, struct err *err);

/* The same for run.started; `id` is the caller's own name for it, or NULL. */
int notice_write_started(
	struct buf *buf, const char *run_id, uint32_t msgid, const char *id, struct err *err);
