/* How many records hold each blob, counted anew and held against what stands in the store. */
#pragma once

#include "proto/base/err.h"

struct verify;

/* Only settled runs count; blobs are looked at some millions at a time. */
int refs_check(struct verify *verify, struct err *err);
