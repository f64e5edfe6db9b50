/*
 * The envelopes of MessagePack-RPC: request [0, msgid, method, [params]], response [1, msgid,
 * error, result], notification [2, method, [params]].
 *
 * `params` is one map.  An empty list means an empty map.  A message points into the bytes and the
 * arena from which it was read.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/buf.h"
#include "proto/base/err.h"
#include "proto/value.h"

#define RPC_METHOD_LEN_MAX 64

enum rpc_kind {
	RPC_REQUEST = 0,
	RPC_RESPONSE = 1,
	RPC_NOTIFICATION = 2
};

struct rpc_message {
	enum rpc_kind kind;
	uint32_t msgid;             /* requests and responses */
	const char *method;         /* requests and notifications; no inner NUL */
	const struct value *params; /* requests and notifications: a map, never NULL */
	const struct value *error;  /* responses: NULL when it is nil */
	const struct value *result; /* responses: never NULL */
};

/* Why a message was rejected, for the answer to its sender. */
struct rpc_fault {
	bool has_msgid; /* it was a request, and its id could be read */
	uint32_t msgid;
	/* its front is that of a notification, so the sender expects no answer */
	bool is_notification;
	/* a stable word: one of struct wire_fault, too_long, nul or too_large */
	const char *reason;
};

/*
 * Reads one whole message that frame_next() returned.  The message points into `bytes`, which this
 * function changes.  bytes[len] must exist (see wire_decode_in_place()).  Returns 0, or -1 with
 * *err and *ret_fault.
 */
int rpc_read(struct arena *arena, char *bytes, size_t len, struct rpc_message *ret_message,
	struct rpc_fault *ret_fault, struct err *err);

/* As rpc_read(), from a value.  ret_fault may be NULL. */
int rpc_read_value(const struct value *envelope, struct rpc_message *ret_message,
	struct rpc_fault *ret_fault, struct err *err);

/* Reads the id of a request from the front of its bytes.  The rest may be missing or invalid. */
bool rpc_peek_msgid(const char *bytes, size_t len, uint32_t *ret_msgid);

/* Returns whether the bytes begin with a list of three whose first item is RPC_NOTIFICATION. */
bool rpc_peek_notification(const char *bytes, size_t len);

/* ---- errors ------------------------------------------------------------------------------- */

/* X(NAME, word on the wire, meaning): the codes of an error object. */
#define RPC_CODES(X)                                                                           \
	X(BAD_REQUEST, "bad_request", "the message breaks the contract; data says where, why") \
	X(UNKNOWN_METHOD, "unknown_method", "no such method")                                  \
	X(FORBIDDEN, "forbidden", "this caller may not do that")                               \
	X(NOT_FOUND, "not_found", "there is no such thing, or not for this caller")            \
	X(CONFLICT, "conflict", "the same id came with other content")                         \
	X(TOO_LARGE, "too_large", "a ceiling on size was passed")                              \
	X(BUSY, "busy", "try again after data.retry_after_ms")                                 \
	X(DRAINING, "draining", "the daemon takes no new work")                                \
	X(INTERNAL, "internal", "our fault")

enum rpc_code {
#define RPC_CODE_NAME(name, word, meaning) RPC_CODE_##name,
	RPC_CODES(RPC_CODE_NAME)
#undef RPC_CODE_NAME
	RPC_CODE_COUNT, /* also: an unknown word */
};

const char *rpc_code_word(enum rpc_code code);
enum rpc_code rpc_code_from_word(const char *word);

struct rpc_error {
	enum rpc_code code;
	const char *message;
	const struct value *data; /* a map, or NULL */
};

/*
 * Reads the error of a response, for clients.  A code that is missing, unknown or not text becomes
 * `internal`.
 */
struct rpc_error rpc_error_from_value(const struct value *error);

/* ---- writing ------------------------------------------------------------------------------ */

/* Each function appends one whole message, or appends nothing and returns -1 with *err. */
int rpc_write_request(struct buf *buf, uint32_t msgid, const char *method,
	const struct value *params, struct err *err);
int rpc_write_result(struct buf *buf, uint32_t msgid, const struct value *result, struct err *err);
int rpc_write_error(
	struct buf *buf, uint32_t msgid, const struct rpc_error *error, struct err *err);
int rpc_write_notification(
	struct buf *buf, const char *method, const struct value *params, struct err *err);
