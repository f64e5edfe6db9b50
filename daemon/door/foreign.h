/*
 * Somebody speaks something else than MessagePack-RPC on the socket: HTTP, JSON, or types by hand.  No
 * request begins with a byte of text, so the first byte that a client sends tells.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "proto/base/buf.h"

bool foreign_is_text(const char *bytes, size_t len);

/* What is spoken here, in one line, in the form that its sender shows to people.  -1: no memory. */
int foreign_answer(const char *bytes, size_t len, struct buf *buf);
