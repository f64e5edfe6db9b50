/*
 * Package sets: sections `packages NAME { ... }` of the configuration.
 *
 *	packages data2024 {
 *		runtime = "python"  path = "/srv/ced/sets/data2024"  digest = "sha256:..."
 *	}
 *
 * cectl packages add builds such a folder and prints its section.
 */
#pragma once

#include "daemon/settings/setting.h"

/* Rows of a set, for settings.md: struct config_package. */
extern const struct setting config_packages[];

/* Adds the set of a section. */
int config_take_packages(void *config, const struct setting *row, const struct config_item *section,
	struct err *err);

/* Checks sets against runtimes, after these are complete. */
int config_finish_packages(const struct config *config, struct err *err);

/* Refuses a path that no jail may see.  A folder that is missing only turns its set off. */
int config_check_packages_host(const struct config *config, struct err *err);

/* For a check of the settings: adds a fault for each folder that is missing.  -1: it added some. */
int config_check_package_folders(const struct config *config, struct setting_faults *faults);
