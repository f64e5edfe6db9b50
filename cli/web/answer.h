/*
 * The answers of `cectl web`: a head with the headers that keep a browser from doing anything but show
 * our page, and a body.  Every answer ends its connection.
 */
#pragma once

#include <stddef.h>

#include "proto/base/buf.h"
#include "proto/base/err.h"
#include "proto/value.h"

/* Of one answer.  The longest that the daemon gives is a page of an output. */
#define ANSWER_BYTES_MAX ((size_t)64 << 20)

/* Replaces what `out` holds by the whole answer. -1: no memory, or too long; `out` is empty then. */
int answer_bytes(struct buf *out, unsigned status, const char *type, const void *body, size_t len);

/* A sentence for people, as plain text. */
int answer_text(struct buf *out, unsigned status, const char *text);

/* A value as JSON; bytes are {"base64": ...}. */
int answer_value(struct buf *out, unsigned status, const struct value *value);

/* {"error": {"code", "message"}}, as `cectl --json` has it. */
int answer_error(struct buf *out, unsigned status, const char *code, const char *message);

/* What the daemon refused: its error, under the status that fits its code. */
int answer_refusal(struct buf *out, const struct value *error);

/* The head of a stream of events, which ends with its connection. */
int answer_stream(struct buf *out);

/* Appends an event to a stream. */
int answer_event(struct buf *out, const struct value *event);
