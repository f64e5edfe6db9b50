/* Where our helpers are: bin/cectl and libexec/ced lie in one folder, installed and built. */
#pragma once

#include <stddef.h>

#include "proto/base/err.h"

#define LIBEXEC_PATH_MAX 512

/* Our own path and the folder libexec/ced beside it; fails when there is none. */
int libexec_find(char ret_own[LIBEXEC_PATH_MAX], char *ret_folder, size_t size, struct err *err);
