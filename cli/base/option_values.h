/*
 * What the words of options mean in a request: numbers, moments, users.  Each function is an
 * option_value: NULL with *err when the word means nothing.
 */
#pragma once

#include "cli/base/options.h"

option_value option_count;    /* "20" */
option_value option_positive; /* the same, and at least 1 */
option_value option_ms;       /* "30s" */
option_value option_size;     /* "10G"; a number without a unit is refused */
option_value option_moment;   /* "1h", "yesterday": microseconds since 1970 */
option_value option_age;      /* the same: seconds from then to now */
option_value option_user;     /* a name or a uid */
option_value option_language; /* as language_check() */
option_value option_secret;   /* what this variable of our environment holds */
option_value option_hash;     /* with or without "sha256:" in front */
option_value option_label;    /* "NAME=VALUE": {NAME: VALUE} */
