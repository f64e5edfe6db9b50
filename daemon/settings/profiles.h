/*
 * Python runtimes that ced ships: what each one imports ahead, may read and may do.
 *
 * `python` always exists.  Each of the others exists when the configuration has a section of its
 * name.  That section may be empty, and may override any setting:
 *
 *	runtime python-data { }		 numpy, pandas and matplotlib are imported already
 *	runtime python-mp { }		 programs may fork; they still start no other programs
 */
#pragma once

#include <stdbool.h>

#include "daemon/settings/config.h"

/* Fills in `runtime` for a name.  False: the name is unknown, and nothing was changed. */
bool profile_fill(struct config_runtime *runtime, const char *name);

/* Completes a python runtime's section: the folder of its venv, and the file name of programs. */
void profile_finish(struct config_runtime *runtime);
