/*
 * Checks programs against rules: all of an inspector except its socket and its jail.
 *
 *	bytes_check -> syntax_parse -> rule queries -> suspects -> scope queries -> findings
 *
 * The rules are compiled once; a check hardly allocates.
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
 * Returns the findings, sorted by place and valid until the next call.  If the effort was not
 * enough, INSPECT_LATE is among them.  A policy or language that the rules do not have is an error.
 */
int inspector_check(struct inspector *inspector, const struct inspect_check *check,
	struct effort *effort, struct inspect_findings *ret_findings, struct err *err);
