/*
 * Holds programs against rules: the whole of an inspector but for its socket and its jail.
 *
 *	bytes_check -> syntax_parse -> rule queries -> suspects -> scope queries -> findings
 *
 * The rules are compiled once; a check allocates next to nothing.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "daemon/inspector/effort.h"
#include "proto/base/err.h"
#include "proto/internal/inspectmsg.h"

struct inspector;

/* Compiles the body of a RULES message.  Keeps `body` until inspector_free(). */
struct inspector *inspector_new(const char *body, size_t len, struct err *err);
void inspector_free(struct inspector *inspector);

/*
 * What there is to find, sorted by place; valid until the next call.  A program that costs more than
 * the effort has INSPECT_LATE among it.  A policy or language that
 * the rules do not have is an error.
 */
int inspector_check(struct inspector *inspector, const struct inspect_check *check,
	struct effort *effort, struct inspect_findings *ret_findings, struct err *err);
