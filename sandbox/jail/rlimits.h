/*
 * Resource limits as rows.  Soft and hard limit are the same, so that the process cannot raise
 * them.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "proto/base/err.h"

struct rlimit_row {
	int resource; /* RLIMIT_CORE ... */
	uint64_t value;
};

/* Sets each row for the calling process.  A value above the present hard limit is cut to it. */
int rlimits_set(const struct rlimit_row *rows, size_t count, struct err *err);
