/* Reads the files, stdin and JSON text of the command line. */
#pragma once

#include <stddef.h>

#include "proto/base/arena.h"
#include "proto/base/err.h"
#include "proto/value.h"

/* A request of more than this cannot be sent anyway. */
#define SOURCE_BYTES_MAX ((size_t)16 << 20)

struct source {
	const char *bytes; /* in the arena, with a NUL behind them */
	size_t len;
};

/* Reads a file, a pipe, or stdin for "-". */
int source_read(struct arena *arena, const char *path, struct source *ret_source, struct err *err);

/* JSON text as a value. */
int source_json(struct arena *arena, const char *json, size_t len, struct value **ret_value,
	struct err *err);
