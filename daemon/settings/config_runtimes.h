/*
 * Runtimes: sections `runtime NAME { ... }` of the configuration, and what ced ships of them.
 *
 * `python` always exists.  Two more of Python exist when the configuration has a section of their
 * name.  That section may be empty, and may override any setting:
 *
 *	runtime python-data { }		 numpy, pandas and matplotlib are imported already
 *	runtime python-mp { }		 programs may fork; they still start no other programs
 */
#pragma once

#include "daemon/settings/setting.h"

extern const struct setting config_runtime[]; /* of struct config_runtime */

/* Adds a shipped runtime of Python.  Returns false if none has that name. */
bool config_add_python(struct config *config, const char *name);

/*
 * Adds the other runtimes that ced ships, if their interpreters are on this host.  Call it before
 * reading a file.
 */
void config_add_shipped(struct config *config);

/* Adds or changes the runtime of a section, and adds its limits. */
int config_take_runtime(void *config, const struct setting *row, const struct config_item *section,
	struct err *err);

/* Drops runtimes that are off, fills in general settings, and checks related settings. */
int config_finish_runtimes(struct config *config, struct err *err);
