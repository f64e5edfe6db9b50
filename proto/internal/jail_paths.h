/*
 * Paths of the host that a jail may see.  The spawner refuses all others, and `ced --check-config`
 * reports them before a daemon starts.
 */
#pragma once

#include "proto/base/err.h"

/* Refuses a path that is not plain and absolute, and one that no jail may see. */
int jail_path_check(const char *path, struct err *err);
