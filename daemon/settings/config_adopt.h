/*
 * Compares the settings in force with settings that were read again, and takes what needs no
 * restart.
 */
#pragma once

#include "daemon/settings/config.h"

#define CONFIG_CHANGES_MAX 128 /* that are listed; more are taken all the same */

struct config_change {
	char key[CONFIG_KEY_MAX];    /* a setting, or a section with its name: "alert.denials" */
	char from[CONFIG_SHOWN_MAX]; /* "" for a section */
	char to[CONFIG_SHOWN_MAX];
	bool waits; /* for a restart: the old value stays in force */
};

struct config_changes {
	struct config_change items[CONFIG_CHANGES_MAX];
	unsigned count;
	unsigned left_out;
};

/*
 * Copies what may change into `now`, and lists all differences.  `fresh` is used up.  `sealed`: no
 * run can have a network before a restart, since the daemon started without one.
 */
void config_adopt(
	struct config *now, struct config *fresh, bool sealed, struct config_changes *ret_changes);
