/*
 * Describes to clients why the store cannot be written: the error is `busy` with a time to retry if
 * this will be over soon, else `internal`.  `data.reason` has the kind of failure.
 */
#pragma once

#include "proto/base/arena.h"
#include "proto/base/err.h"
#include "proto/value.h"
#include "proto/wire/rpc.h"

struct recorder;

enum rpc_code store_failure_code(const struct err *err);

/* After how many milliseconds to retry; 0: unknown. */
int64_t store_failure_retry_ms(const struct err *err);

/* {reason, retry_after_ms?}; nil when the arena is full. */
struct value *store_failure_data(struct arena *arena, const struct err *err);

/*
 * Puts `trouble` into a status, with `trouble_word` and `trouble_ms`: why nothing can be recorded,
 * or nil.
 */
void store_failure_describe(
	struct arena *arena, const struct recorder *recorder, struct value *status);

/* Puts `log_held` into a status: which process keeps the store's log from being emptied, or nil. */
void store_failure_describe_log(
	struct arena *arena, const struct recorder *recorder, struct value *status);
