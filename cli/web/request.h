/*
 * The head of an HTTP request, as browsers send it to `cectl web`.  Nothing else is read from them.
 *
 * The reader is strict, since every head that two programs may read differently is an attack: lines
 * end with CRLF, values are visible ASCII, the target is a path, no header that matters comes twice,
 * and there is no body.  A path is compared as it stands, so "/../x" and "/%2e" are names of nothing.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "proto/base/arena.h"
#include "proto/base/err.h"
#include "proto/value.h"

#define REQUEST_HEAD_MAX ((size_t)8 << 10)
#define REQUEST_LINES    64

enum request_state {
	REQUEST_MORE,     /* the head is not whole */
	REQUEST_WHOLE,    /* all of `struct web_request` is there */
	REQUEST_TOO_LONG, /* more than REQUEST_HEAD_MAX bytes, or REQUEST_LINES lines */
	REQUEST_BAD,
};

/* The texts lie in the head.  NULL: the header is absent. */
struct web_request {
	const char *method;
	const char *path;  /* up to a '?' */
	const char *query; /* behind it, or NULL */
	const char *host;
	const char *origin;
	const char *site; /* Sec-Fetch-Site */
	const char *authorization;
	const char *body_len; /* Content-Length */
	const char *coding;   /* Transfer-Encoding */
};

/*
 * Reads what has come of a head.  `bytes` must have one byte more than `len`.  Writes NULs into a head
 * that is whole, to end its texts there.
 */
enum request_state request_read(char *bytes, size_t len, struct web_request *ret_request);

/*
 * The params of a question: "params=" and a JSON map with percent-encoded signs.  Without a query they
 * are an empty map.
 */
int request_params(
	struct arena *arena, const char *query, struct value **ret_params, struct err *err);
