#include "store/base/chain_columns.h"

#include <string.h>

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
	{ "parked",     10, CHAIN_PARKED,     true,  "key",        "key" },
	{ NULL, 0, CHAIN_NOTHING, false, NULL, NULL },
};

#define SUBJECT(column)      { TABLE, column, 0, COLUMN_SUBJECT, true, NULL }
#define EARLY(tag, column)   { TABLE, column, tag, COLUMN_PLAIN, true, NULL }
#define LATE(tag, column)    { TABLE, column, tag, COLUMN_PLAIN, false, NULL }
#define GIVEN(tag, column)   { TABLE, column, tag, COLUMN_CONTENT, true, NULL }
#define MADE(tag, column)    { TABLE, column, tag, COLUMN_CONTENT, false, NULL }
#define LOOSE(column, why)   { TABLE, column, 0, COLUMN_LOOSE, false, why }
#define DERIVED(column, why) { TABLE, column, 0, COLUMN_DERIVED, false, why }

const struct chain_column chain_columns[] = {
#define TABLE "runs"
	SUBJECT("key"),
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
#undef TABLE
#define TABLE "records"
	SUBJECT("key"),
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
	SUBJECT("key"),
	EARLY(1, "number"),
	EARLY(2, "path"),
	EARLY(3, "mode"),
	GIVEN(4, "data"),
#undef TABLE
#define TABLE "artifacts"
	SUBJECT("key"),
	LATE(1, "number"),
	LATE(2, "path"),
	LATE(3, "mode"),
	LATE(4, "mime"),
	LATE(5, "bytes"),
	LATE(6, "sha256"),
	MADE(7, "data"),
#undef TABLE
#define TABLE "findings"
	SUBJECT("key"),
	LATE(1, "number"),
	LATE(2, "rule"),
	LATE(3, "severity"),
	LATE(4, "line"),
	LATE(5, "column"),
	MADE(6, "text"),
	MADE(7, "message"),
#undef TABLE
#define TABLE "labels"
	SUBJECT("key"),
	EARLY(1, "name"),
	EARLY(2, "value"),
#undef TABLE
#define TABLE "acts"
	SUBJECT("act"),
	LATE(1, "at_us"),
	LATE(2, "uid"),
	LATE(3, "gid"),
	LATE(4, "pid"),
	LATE(5, "method"),
	LATE(6, "params"),
	LATE(7, "result"),
#undef TABLE
#define TABLE "pruned"
	SUBJECT("act"),
	LATE(1, "key"),
	DERIVED("digests", "each is part of the canonical form of the run, in its content's place"),
#undef TABLE
#define TABLE "checkpoints"
	SUBJECT("checkpoint"),
	LATE(1, "at_us"),
	LATE(2, "links"),
	LATE(3, "head"),
	LATE(4, "public_key"),
	LATE(5, "signature"),
#undef TABLE

#define TABLE "blobs"
	DERIVED("blob",   "a name; what it names goes into the form of each record that has it"),
	DERIVED("sha256", "goes into the form of each record that has the blob"),
	DERIVED("bytes",  "goes into the form of each record that has the blob"),
	DERIVED("refs",   "counted from the records"),
#undef TABLE
#define TABLE "blob_data"
	DERIVED("blob",  "a name, see blobs"),
	DERIVED("codec", "how the bytes are kept; they are held against blobs.sha256"),
	DERIVED("data",  "held against blobs.sha256"),
#undef TABLE
#define TABLE "pending"
	DERIVED("key", "which runs have not settled; an ended run is in it or has its facets"),
#undef TABLE
#define TABLE "facets"
	DERIVED("facet", "copied from the run when it settles"),
	DERIVED("value", "copied from the run when it settles"),
	DERIVED("key",   "copied from the run when it settles"),
#undef TABLE
#define TABLE "blocks"
	DERIVED("uid",    "what is in force of the acts"),
	DERIVED("act",    "what is in force of the acts"),
	DERIVED("reason", "what is in force of the acts"),
#undef TABLE
#define TABLE "parked"
	SUBJECT("key"),
	LATE(1, "since_us"),
	LATE(2, "until_us"),
	LATE(3, "verdict"),
	DERIVED("decision", "what is in force of the acts"),
	DERIVED("act",      "what is in force of the acts"),
#undef TABLE
#define TABLE "grants"
	DERIVED("act",       "what is in force of the acts"),
	DERIVED("uid",       "what is in force of the acts"),
	DERIVED("subject",   "what is in force of the acts"),
	DERIVED("code_hash", "what is in force of the acts"),
	DERIVED("language",  "what is in force of the acts"),
	DERIVED("policy",    "what is in force of the acts"),
	DERIVED("until_us",  "what is in force of the acts"),
	DERIVED("uses",      "what the act gave, less a mark in the chain for each use"),
#undef TABLE
#define TABLE "texts"
	DERIVED("text",   "a name; which runs have it stands in run_texts"),
	DERIVED("digest", "of contents that runs hold"),
#undef TABLE
#define TABLE "mentions"
	DERIVED("text", "the same as run_texts, found by text"),
	DERIVED("key",  "the same as run_texts, found by text"),
#undef TABLE
#define TABLE "run_texts"
	DERIVED("key",    "which texts a run holds; digests of its contents"),
	DERIVED("code",   "which texts a run holds; digests of its contents"),
	DERIVED("stdout", "which texts a run holds; digests of its contents"),
	DERIVED("stderr", "which texts a run holds; digests of its contents"),
#undef TABLE
#define TABLE "words"
	LOOSE("*", "an index without texts, which SQLite lets nobody change; its tables are these:"),
#undef TABLE
#define TABLE "words_config"
	DERIVED("*", "has one row, always the same"),
#undef TABLE
#define TABLE "words_data"
	LOOSE("*", "the words are compared, not the bytes they stand in; see docs/THREATS.md"),
#undef TABLE
#define TABLE "words_idx"
	LOOSE("*", "where a search begins to look; see docs/THREATS.md"),
#undef TABLE
#define TABLE "actions"
	DERIVED("uid",       "copied from the run"),
	DERIVED("caller_id", "copied from the run"),
	DERIVED("content",   "copied from the run, unless the run is older than schema 9"),
	DERIVED("key",       "names the run"),
#undef TABLE
#define TABLE "cached"
	DERIVED("cache_key", "copied from the run"),
	DERIVED("key",     "names the run"),
	DERIVED("at_us",   "copied from the run"),
#undef TABLE
#define TABLE "chain"
	DERIVED("link",    "the chain itself: each head is over the row and the head before"),
	DERIVED("kind",    "see link"),
	DERIVED("subject", "see link"),
	DERIVED("digest",  "see link"),
	DERIVED("head",    "see link"),
#undef TABLE
	{ NULL, NULL, 0, COLUMN_DERIVED, false, NULL },
};
/* clang-format on */

const struct chain_column *chain_column_find(const char *table, const char *column)
{
	for (const struct chain_column *row = chain_columns; row->table; row++) {
		if (strcmp(row->table, table) != 0)
			continue;
		if (strcmp(row->column, column) == 0 || strcmp(row->column, "*") == 0)
			return row;
	}
	return NULL;
}
