/*
 * The run.output notification: a piece of what a program wrote, as it travels.
 */
#pragma once

#include "proto/base/buf.h"
#include "proto/base/err.h"
#include "proto/value.h"

/* Appends one to `buf`.  -1: no room. */
int notice_write(struct buf *buf, const char *run_id, const char *stream, uint64_t offset,
	struct bytes piece, struct err *err);
