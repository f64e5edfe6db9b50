/*
 * Tools of `cectl run --tool NAME=COMMAND`: the program calls them, and cectl runs the command for
 * each call, outside of every jail, one after the other.
 */
#pragma once

#include "cli/session/cli.h"

/* Adds `tools` to the params, from --tool and --tool-schema.  0, or the exit status. */
int tool_commands_put(struct cli *cli, struct value *params);

/*
 * Answers one run.call: runs the command and sends what it prints.  -1 when the answer cannot be
 * sent.
 */
int tool_commands_answer(struct cli *cli, const struct value *call, struct err *err);
