/* Words of commands that `cectl complete` offers. */
#pragma once

#include <stddef.h>

#include "cli/session/cli.h"

/* The name of a column of `cectl runs`; NULL: there is no such index. */
const char *runs_column(size_t index);

/* The key of every setting, which the daemon's own program knows.  NULL: it is not installed. */
const struct value *config_keys(struct cli *cli);
