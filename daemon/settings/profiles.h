/*
 * Runtimes of Python that come with ced: what each of them preloads, may read and may do.
 *
 * `python` is always there.  The others are there when the configuration has a section of their name,
 * which may be empty and may change whatever it names:
 *
 *	runtime python-data { }		 numpy, pandas and matplotlib are imported already
 *	runtime python-mp { }		 programs may fork; they still start no other programs
 */
#pragma once

#include <stdbool.h>

#include "daemon/settings/config.h"

/* Describes `runtime` by its name.  False, and nothing done, for a name that says nothing to us. */
bool profile_fill(struct config_runtime *runtime, const char *name);

/* What follows from the rest of any python's section: the folder of its venv, how programs are called. */
void profile_finish(struct config_runtime *runtime);
