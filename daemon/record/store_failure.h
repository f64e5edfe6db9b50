/*
 * A store that cannot be written, in the words of an answer: what is over soon is `busy`, with the
 * time to come back; all else is `internal`.  `data.reason` says which it is.
 */
#pragma once

#include "proto/base/arena.h"
#include "proto/base/err.h"
#include "proto/value.h"
#include "proto/wire/rpc.h"

struct recorder;

enum rpc_code store_failure_code(const struct err *err);

/* In how many milliseconds it is worth asking again; 0: nobody can know. */
int64_t store_failure_retry_ms(const struct err *err);

/* {reason, retry_after_ms?}; nil when the arena is full. */
struct value *store_failure_data(struct arena *arena, const struct err *err);

/* Puts `trouble`, why nothing can be recorded or nil, with `trouble_word` and `trouble_ms` into a status. */
void store_failure_describe(
	struct arena *arena, const struct recorder *recorder, struct value *status);

/* Puts `log_held`, who keeps the store's log from being emptied or nil, into a status. */
void store_failure_describe_log(
	struct arena *arena, const struct recorder *recorder, struct value *status);
