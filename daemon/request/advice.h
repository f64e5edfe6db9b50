/*
 * What the daemon knows and a program does not: which runtime has the module that its own lacks.
 */
#pragma once

#include "daemon/request/request.h"

/* When the outcome is decided.  Adds to the reason of a program that missed a module. */
void advice_give(struct request *request, const struct facts *facts);
