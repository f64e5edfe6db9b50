/*
 * What PCRE2 knows and ECMAScript does not: a pattern of a schema may not use it.  Some of it reads
 * otherwise in other validators, and some takes work that pattern.c cannot count, as \X does.
 */
#pragma once

#include <stddef.h>

#include "proto/base/err.h"

/*
 * Fails with ERR_INVALID for an escape, a group or a quantifier that ECMAScript does not have.
 * Other mistakes are left for PCRE2 to find.
 */
int ecmascript_check(const char *text, size_t len, struct err *err);
