/*
 * stdin and stdout of `cectl mcp`: JSON-RPC 2.0, one message a line.
 *
 * Nothing here waits: the owner polls both descriptors.  stdout carries the protocol and nothing
 * else.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "proto/base/buf.h"
#include "proto/base/err.h"
#include "proto/value.h"

#define JSONRPC_LINE_MAX    ((size_t)24 << 20) /* the files of a run, in JSON, fit */
#define JSONRPC_LINE_DEPTH  64
#define JSONRPC_UNSENT_HIGH ((size_t)8 << 20) /* past this, nothing more is read */

/* The codes of JSON-RPC. */
enum jsonrpc_code {
	JSONRPC_PARSE_ERROR = -32700,
	JSONRPC_INVALID_REQUEST = -32600,
	JSONRPC_UNKNOWN_METHOD = -32601,
	JSONRPC_INVALID_PARAMS = -32602,
	JSONRPC_INTERNAL = -32603,
	JSONRPC_NOT_FOUND = -32002, /* of a resource */
};

struct jsonrpc_in {
	struct buf line;
	size_t looked; /* bytes of `line` that hold no newline */
	bool skips;    /* the rest of a line that is too long */
	bool ended;
};

struct jsonrpc_out {
	struct buf bytes;
	bool broken; /* nobody reads any more */
};

enum jsonrpc_line {
	JSONRPC_NONE,
	JSONRPC_LINE,
	JSONRPC_TOO_LONG, /* such a line was there; it is skipped up to its end */
};

void jsonrpc_in_init(struct jsonrpc_in *in);
void jsonrpc_in_done(struct jsonrpc_in *in);

/* Reads what is there.  At the end of stdin `ended` becomes true. */
void jsonrpc_in_read(struct jsonrpc_in *in, int fd);

/* The next whole line, without its newline; valid until jsonrpc_in_next().  Empty ones are left out. */
enum jsonrpc_line jsonrpc_in_line(struct jsonrpc_in *in, const char **ret_line, size_t *ret_len);
void jsonrpc_in_next(struct jsonrpc_in *in, size_t len);

void jsonrpc_out_init(struct jsonrpc_out *out);
void jsonrpc_out_done(struct jsonrpc_out *out);

/* Writes what the reader takes now.  `fd` may block; a poll has said that it can be written. */
void jsonrpc_out_write(struct jsonrpc_out *out, int fd);

/* Messages.  `id` is a number or a text, or NULL for null. */
void jsonrpc_result(struct jsonrpc_out *out, const struct value *id, const struct value *result);
void jsonrpc_error(struct jsonrpc_out *out, const struct value *id, enum jsonrpc_code code,
	const char *format, ...) __attribute__((format(printf, 4, 5)));
void jsonrpc_notify(struct jsonrpc_out *out, const char *method, const struct value *params);
