/*
 * Translates a refused request into the words of the command line: "--limit memory: must be at most
 * 1 GiB" for "/limits/memory_bytes: must be at most 1073741824".
 */
#pragma once

#include "cli/session/cli.h"

/*
 * The message behind the option or operand that it is about.  NULL: no word of this command's
 * line is, and the message stays as it is.  All of it is safe.
 */
const char *refusal_text(struct cli *cli, const char *pointer, const char *message);

/* A line that names the setting or person that can change it, or NULL. */
const char *refusal_advice(const char *pointer, const char *message);
