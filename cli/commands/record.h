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

/* Two lines: id and outcome, and the reason. */
void record_show_head(struct cli *cli, const struct value *record);

/* When, who, which program, how it ended. */
void record_show_facts(struct cli *cli, const struct value *record);

void record_show_policy(struct cli *cli, const struct value *record);
void record_show_evidence(struct cli *cli, const struct value *record);
void record_show_refused(struct cli *cli, const struct value *record);
void record_show_files(struct cli *cli, const struct value *record);
void record_show_output_errors(struct cli *cli, const struct value *record);
void record_show_limits(struct cli *cli, const struct value *record);
void record_show_times(struct cli *cli, const struct value *record);
void record_show_code(struct cli *cli, const struct value *record, bool full);
void record_show_streams(struct cli *cli, const struct value *record, bool full);
void record_show_artifacts(struct cli *cli, const struct value *record);
void record_show_trace(struct cli *cli, const struct value *record);
