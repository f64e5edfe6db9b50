/* Acts of administrators, for the files of this folder that have more to write with one. */
#pragma once

#include <stdint.h>

#include "proto/base/err.h"

/* The last word on each user who was shut out or let in: a table `last` for a question. */
#define LAST_ACTS                                                                    \
	"WITH last AS (SELECT max(act) AS act, method, params ->> '$.uid' AS uid, "  \
	"params ->> '$.reason' AS reason FROM acts WHERE method IN ('admin.block', " \
	"'admin.unblock') AND json_valid(params) GROUP BY params ->> '$.uid') "

/* What an act `a` said came of it, under a key. */
#define ACT_SAID(key) "CASE WHEN json_valid(a.result) THEN a.result ->> '$." key "' END"

struct store;
struct store_act;

/* Writes the row alone: chain_add() is the caller's, when all that belongs to the act is there. */
int act_insert(
	struct store *store, const struct store_act *act, int64_t *ret_number, struct err *err);
