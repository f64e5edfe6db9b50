/* One `runs.replay`, for `replay` and `session replay`. */
#pragma once

#include <stddef.h>

#include "cli/session/cli.h"

/*
 * Asks with these params, and shows that time passes.  Tools are asked if --tool names some.  Ctrl-C
 * ends the run.  Returns 0 or the exit status, as cli_ask().
 */
int replay_ask(struct cli *cli, struct value *params, const struct value **ret_answer);

/* Prints a list of {what, line?, recorded, replayed} as a table. */
void replay_show_sides(struct cli *cli, const struct value *list);

/*
 * Refuses a --tool whose name no request of these records offers.  Returns 0 or the exit status.
 * Names of records without contents are not known: they pass.
 */
int replay_check_tools(struct cli *cli, const struct value *const *records, size_t count);
