/* A user of this host, by name or by number, where a uid is wanted. */
#pragma once

#include <stdint.h>

#include "proto/base/err.h"

/* "1001" or "alice".  -1: there is no such user here; the message says so. */
int users_parse(const char *word, uint32_t *ret_uid, struct err *err);
