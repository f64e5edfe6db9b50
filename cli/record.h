/*
 * A record as runs.get answers it, in sections for people.  `show`, `trace` and `demo` use them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "cli/commands.h"

/* The full record of a run by any of its names.  Returns 0 or the exit status, as cli_ask(). */
int record_get(struct cli *cli, const char *name, const struct value **ret_record);

/* Two lines: id and outcome, and the reason. */
void record_show_head(struct cli *cli, const struct value *record);

/* When, who, which program, how it ended. */
void record_show_facts(struct cli *cli, const struct value *record);

void record_show_policy(struct cli *cli, const struct value *record);
void record_show_evidence(struct cli *cli, const struct value *record);
void record_show_output_errors(struct cli *cli, const struct value *record);
void record_show_limits(struct cli *cli, const struct value *record);
void record_show_times(struct cli *cli, const struct value *record);
void record_show_code(struct cli *cli, const struct value *record, bool full);
void record_show_streams(struct cli *cli, const struct value *record, bool full);
void record_show_artifacts(struct cli *cli, const struct value *record);
void record_show_trace(struct cli *cli, const struct value *record);
