/*
 * Hints for programs that failed: names a package set or a runtime that has the module, or the data of
 * one, which they lack.
 */
#pragma once

#include "daemon/request/request.h"

/* Call it after the outcome is decided.  Extends the reason of a program that lacked a module. */
void module_hint_add(struct request *request, const struct facts *facts);
