/*
 * A record as runs.get answers it, in sections for people.  `show`, `trace` and `demo` use them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/session/cli.h"
#include "proto/base/buf.h"

/* The full record of a run by any of its names.  Returns 0 or the exit status, as cli_ask(). */
int record_get(struct cli *cli, const char *name, const struct value **ret_record);

/* The whole id behind any of a run's names; asks the daemon unless it is whole already. */
int record_resolve(struct cli *cli, const char *name, const char **ret_run_id);

/* One page of a stored stream, as runs.output answers it: {data, offset, total, eof}. */
int record_page(struct cli *cli, const char *name, const char *stream, uint64_t offset,
	uint64_t len, const struct value **ret_page);

/*
 * Appends a stored stream from `*offset` on, moving it, until `to`, its end, or a full buffer.
 * Returns 0 or the exit status.
 */
int record_fetch(struct cli *cli, const char *name, const char *stream, uint64_t *offset,
	uint64_t to, struct buf *out);

/* Whether a stream of this name was truncated, as the record says. */
bool record_is_truncated(const struct value *record, const char *stream);

/* "stdout_bytes" of a record, say: the number under NAME and what follows it. */
int64_t record_bytes(const struct value *record, const char *stream);

/* Two lines: id and outcome, and the reason. */
void record_show_head(struct cli *cli, const struct value *record);

/* Everything about it: a page of sections.  `full`: all of its code and output. */
void record_show(struct cli *cli, const struct value *record, bool full);

void record_show_code(struct cli *cli, const struct value *record, bool full);
void record_show_trace(struct cli *cli, const struct value *record);

/* A section with its connections; nothing for a run without a network. */
void record_show_connections(struct cli *cli, const struct value *record);

/* A section with its package sets and their digests; nothing for a run without any. */
void record_show_packages(struct cli *cli, const struct value *record);
