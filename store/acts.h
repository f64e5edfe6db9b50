/* Acts of administrators, for the files of this folder that have more to write with one. */
#pragma once

#include <stdint.h>

#include "proto/base/err.h"

struct store;
struct store_act;

/* Writes the row alone: chain_add() is the caller's, when all that belongs to the act is there. */
int act_insert(
	struct store *store, const struct store_act *act, int64_t *ret_number, struct err *err);
