#include "store/base/chain_columns.h"

/* clang-format off */

/* A record is made of its rows in these tables, in this order. */
const struct chain_table chain_tables[] = {
	/* name, number, kind of record, is its root, key column, order */
	{ "runs",        1, CHAIN_RUN,        true,  "key",        "key" },
	{ "records",     2, CHAIN_RUN,        false, "key",        "key" },
	{ "inputs",      3, CHAIN_RUN,        false, "key",        "number" },
	{ "artifacts",   4, CHAIN_RUN,        false, "key",        "number" },
	{ "findings",    5, CHAIN_RUN,        false, "key",        "number" },
	{ "labels",      6, CHAIN_RUN,        false, "key",        "name, value" },
	{ "acts",        7, CHAIN_ACT,        true,  "act",        "act" },
	{ "pruned",      8, CHAIN_ACT,        false, "act",        "key" },
	{ "checkpoints", 9, CHAIN_CHECKPOINT, true,  "checkpoint", "checkpoint" },
	{ "run_calls",  11, CHAIN_RUN,        false, "key",        "number" },
	{ "parked",     10, CHAIN_PARKED,     true,  "key",        "key" },
	{ "displays",   12, CHAIN_RUN,        false, "key",        "number" },
	{ NULL, 0, CHAIN_NOTHING, false, NULL, NULL },
};

#define EARLY(tag, column)   { TABLE, column, tag, COLUMN_PLAIN, true }
#define LATE(tag, column)    { TABLE, column, tag, COLUMN_PLAIN, false }
#define GIVEN(tag, column)   { TABLE, column, tag, COLUMN_CONTENT, true }
#define MADE(tag, column)    { TABLE, column, tag, COLUMN_CONTENT, false }

const struct chain_column chain_columns[] = {
#define TABLE "runs"
	EARLY(1, "run_id"),
	EARLY(2, "caller_id"),
	EARLY(3, "method"),
	EARLY(4, "uid"),
	EARLY(5, "gid"),
	EARLY(6, "pid"),
	EARLY(7, "agent"),
	EARLY(8, "task"),
	EARLY(9, "language"),
	LATE(10, "policy"),
	EARLY(11, "entrypoint"),
	EARLY(12, "received_us"),
	LATE(13, "ended_us"),
	LATE(14, "outcome"),
	LATE(15, "ran"),
	LATE(16, "reason"),
	LATE(17, "code_hash"),
	LATE(18, "input_hash"),
	LATE(19, "stdout_bytes"),
	LATE(20, "stderr_bytes"),
	LATE(21, "queue_us"),
	LATE(22, "policy_us"),
	LATE(23, "start_us"),
	LATE(24, "exec_us"),
	LATE(25, "collect_us"),
	LATE(26, "total_us"),
	LATE(27, "cpu_user_us"),
	LATE(28, "cpu_sys_us"),
	LATE(29, "memory_peak_bytes"),
	LATE(30, "disk_bytes"),
	LATE(31, "ctx_voluntary"),
	LATE(32, "ctx_forced"),
	LATE(33, "warm"),
	LATE(34, "cached_from"),
	EARLY(35, "caller_exe"),
	EARLY(36, "caller_name"),
	LATE(37, "stored_bytes"),
	LATE(38, "action"),
	LATE(39, "cache_key"),
	EARLY(40, "session"),
	LATE(41, "cell"),
#undef TABLE
#define TABLE "records"
	GIVEN(1, "request"),
	GIVEN(2, "refused"),
	GIVEN(3, "code"),
	GIVEN(4, "stdin"),
	MADE(5, "setting"),
	MADE(6, "stdout"),
	MADE(7, "stdout_tail"),
	MADE(8, "stderr"),
	MADE(9, "stderr_tail"),
	MADE(10, "trace"),
	MADE(11, "more"),
#undef TABLE
#define TABLE "inputs"
	EARLY(1, "number"),
	EARLY(2, "path"),
	EARLY(3, "mode"),
	GIVEN(4, "data"),
#undef TABLE
#define TABLE "artifacts"
	LATE(1, "number"),
	LATE(2, "path"),
	LATE(3, "mode"),
	LATE(4, "mime"),
	LATE(5, "bytes"),
	LATE(6, "sha256"),
	MADE(7, "data"),
#undef TABLE
#define TABLE "findings"
	LATE(1, "number"),
	LATE(2, "rule"),
	LATE(3, "severity"),
	LATE(4, "line"),
	LATE(5, "column"),
	MADE(6, "text"),
	MADE(7, "message"),
#undef TABLE
#define TABLE "run_calls"
	LATE(1, "number"),
	LATE(2, "tool"),
	LATE(3, "effects"),
	LATE(4, "began_us"),
	MADE(5, "args"),
	LATE(6, "verdict"),
	LATE(7, "code"),
	MADE(8, "result"),
	LATE(9, "took_us"),
	LATE(10, "rule"),
	LATE(11, "approval"),
#undef TABLE
#define TABLE "labels"
	EARLY(1, "name"),
	EARLY(2, "value"),
#undef TABLE
#define TABLE "acts"
	LATE(1, "at_us"),
	LATE(2, "uid"),
	LATE(3, "gid"),
	LATE(4, "pid"),
	LATE(5, "method"),
	LATE(6, "params"),
	LATE(7, "result"),
#undef TABLE
#define TABLE "pruned"
	LATE(1, "key"),
#undef TABLE
#define TABLE "checkpoints"
	LATE(1, "at_us"),
	LATE(2, "links"),
	LATE(3, "head"),
	LATE(4, "public_key"),
	LATE(5, "signature"),
#undef TABLE

#define TABLE "parked"
	LATE(1, "since_us"),
	LATE(2, "until_us"),
	LATE(3, "verdict"),
#undef TABLE
#define TABLE "displays"
	LATE(1, "number"),
	LATE(2, "item"),
	LATE(3, "main"),
	LATE(4, "type"),
	LATE(5, "form"),
	LATE(6, "bytes"),
	MADE(7, "data"),
#undef TABLE
	{ NULL, NULL, 0, COLUMN_PLAIN, false },
};
/* clang-format on */
