/*
 * The folders that a program sees in its jail.  The sandbox creates them; the daemon and cectl
 * mention them in messages.
 */
#pragma once

#include "proto/base/err.h"

#define JAIL_HARNESS_DIR "/ced"
#define JAIL_WORK_DIR    "/work"
#define JAIL_TMP_DIR     "/tmp"
#define JAIL_SETS_DIR    "/sets" /* package sets: /sets/NAME */

/*
 * Refuses a path of the host that is not plain and absolute, or that no jail may see.  The spawner
 * calls it for each bind, and `ced --check-config` beforehand.
 */
int jail_path_check(const char *path, struct err *err);
