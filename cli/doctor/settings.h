/*
 * The settings that doctor has to know: those in force as the daemon's own program reads them, or
 * its defaults where that program is not there.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "proto/base/err.h"

#define HOST_CONFIG           "/etc/ced/ced.conf"
#define SETTINGS_PATH_MAX     512
#define SETTINGS_RUNTIMES_MAX 16

struct settings_runtime {
	char name[32];
	char interpreter[SETTINGS_PATH_MAX];
};

#define SETTINGS_PACKAGES_MAX 16 /* that are checked; the daemon checks all */

struct settings_package {
	char name[32];
	char digest[80];
	char path[256];
};

struct settings {
	char libexec
		[SETTINGS_PATH_MAX];    /* where ced and its helpers should be; "" when not known */
	char config[SETTINGS_PATH_MAX]; /* the file that was read; "" for none */
	char state[SETTINGS_PATH_MAX];  /* the folder of the store */
	char checkpoint_file[SETTINGS_PATH_MAX]; /* "": in that folder */
	char trouble[ERR_TEXT_MAX]; /* why the file or the program could not be read, or "" */
	char required[256]; /* layers without which ced does not start, with spaces around */
	unsigned long workers_min;
	unsigned long workers_max;
	unsigned long workers_reserve;
	struct settings_runtime runtimes[SETTINGS_RUNTIMES_MAX];
	size_t runtime_count;
	struct settings_package packages[SETTINGS_PACKAGES_MAX];
	size_t package_count;
};

/* The defaults, python as the only runtime. */
void settings_init(struct settings *settings);

/* One line of `ced --in-force`: name, equals sign, value.  Other lines are ignored. */
void settings_take(struct settings *settings, const char *line);

/* Whether ced does not start without this layer: "memory", "landlock" ... */
bool settings_require(const struct settings *settings, const char *layer);

/*
 * Asks `ced --in-force` beside our own program, as the user that the daemon will be, with `config`
 * or, when that is NULL, with the host's file where there is one.  If it fails, `trouble` says why
 * and the defaults stay.
 */
void settings_read(struct settings *settings, const char *config);
