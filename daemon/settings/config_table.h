/*
 * One row for every number that can be set: name, default, lowest, highest, change, meaning.  The
 * struct, the parser, the messages, `ced --settings` and `cectl config explain` are made from these
 * rows.
 *
 * `change` says when a new value comes into force: at a RELOAD, or only at a RESTART.
 */
#pragma once

#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)

#define CONFIG_WORKERS_MOST 64 /* of a runtime */

/* clang-format off */
/*  X(name, default, lowest, highest, change, meaning) */
#define CONFIG_NUMBERS(X) \
	X(connections_max,        256,       1,    65536,      RELOAD,  "client connections open together") \
	X(connections_per_uid,    128,       1,    65536,      RELOAD,  "of these, how many one uid may hold; administrators are exempt") \
	X(requests_per_connection, 1024,     1,    65536,      RELOAD,  "requests in flight on one connection") \
	X(message_bytes,          16 * MIB,  4096, 256 * MIB,  RELOAD,  "largest message a client may send") \
	X(message_ms,             10000,     100,  600000,     RELOAD,  "longest time from the first byte of a message to its last") \
	X(unsent_bytes,           64 * MIB,  4096, GIB,        RELOAD,  "replies kept for a client that does not read them") \
	X(held_bytes,             GIB,       MIB,  1024 * GIB, RELOAD,  "memory for messages and replies of all clients together") \
	X(held_bytes_per_uid,     256 * MIB, MIB,  1024 * GIB, RELOAD,  "of this, how much one uid may use") \
	X(queue_max,              1024,      1,    100000,     RELOAD,  "runs waiting for a worker, of all callers") \
	X(queue_per_caller,       512,       1,    100000,     RELOAD,  "of these, how many one caller may have") \
	X(running_per_caller,     64,        1,    1024,       RELOAD,  "runs of one caller in progress together") \
	X(queue_ms,               30000,     10,   3600000,    RELOAD,  "longest wait for a worker") \
	X(workers_min,            0,         0,    64,         RESTART, "warm workers kept for each runtime; 0: twice the processors, up to 16") \
	X(workers_max,            0,         0,    64,         RESTART, "most workers for each runtime; 0: four times the processors, up to 64") \
	X(workers_reserve,        4,         0,    32,         RESTART, "more workers for each runtime, for callers with no run in progress; the last one is for administrators") \
	X(workers_per_caller,     0,         0,    64,         RESTART, "of workers_max, how many one caller gets while others are active; 0: a quarter") \
	X(zygote_runs,            20000,     1,    100000000,  RELOAD,  "a zygote is replaced after this many runs") \
	X(zygote_age_s,           3600,      1,    31536000,   RELOAD,  "a zygote is replaced when it is this old") \
	X(sessions_max,           0,         0,    1024,       RESTART, "sessions open together; each keeps a worker from its first cell on; 0: half of workers_max") \
	X(sessions_per_uid,       4,         0,    1024,       RELOAD,  "of these, how many one uid may have") \
	X(session_idle_ms,        1200000,   1000, 86400000,   RELOAD,  "a session ends after this time without a cell, unless it asks for another") \
	X(session_ms,             7200000,   1000, 604800000,  RELOAD,  "a session ends when it is this old, after a cell that runs then") \
	X(session_queue,          16,        0,    1024,       RELOAD,  "cells of one session that may wait for the one before") \
	X(inspectors,             2,         1,    16,         RESTART, "processes that read programs for the policy") \
	X(packages_check_ms,      86400000,  0,    2592000000, RESTART, "how often the digests of package sets are computed again; 0: only at the start") \
	X(code_bytes,             256 << 10, 1,    1 * MIB,    RESTART, "largest program") \
	X(input_bytes,            16 * MIB,  1,    256 * MIB,  RELOAD,  "largest stdin or input") \
	X(files_bytes,            16 * MIB,  1,    40 * MIB,   RELOAD,  "all input files together") \
	X(schema_bytes,           64 << 10,  1,    MIB,        RELOAD,  "largest output schema") \
	X(blob_bytes_per_uid,     64 * MIB,  0,    16 * GIB,   RELOAD,  "contents that one uid has sent ahead with blob.put") \
	X(blob_s,                 600,       1,    31536000,   RELOAD,  "seconds without use after which they are removed") \
	X(cache_s,                86400,     0,    31536000,   RELOAD,  "seconds for which a cached result may be reused; 0: never") \
	X(cache_entries,          10000,     0,    10000000,   RELOAD,  "how many of the newest results are cached") \
	X(commit_records,         256,       1,    4096,       RESTART, "most records in one commit; 1: each has its own, which is slower with many callers") \
	X(parked_max,             256,       1,    100000,     RELOAD,  "runs waiting for a person's approval, of all callers") \
	X(parked_per_caller,      64,        1,    100000,     RELOAD,  "of these, how many one caller may have") \
	X(approval_ms,            86400000,  1000, 2592000000, RELOAD,  "longest wait for approval; then the run expires") \
	X(grant_ms,               86400000,  1000, 31536000000, RELOAD,  "how long an approval of a program lasts by default") \
	X(log_bytes,              256 * MIB, 16 * MIB, 64 * GIB, RESTART, "runs are refused when another program keeps the store's log from shrinking and it is this long") \
	X(checkpoint_records,     1000,      1,    1000000000, RELOAD,  "a checkpoint of the record is signed after this many records") \
	X(checkpoint_ms,          300000,    1000, 86400000,   RELOAD,  "and after this time, if anything was recorded") \
	X(budget_window_ms,       3600000,   60000, 86400000,  RESTART, "how long spending counts against a budget") \
	X(circuit_ms,             600000,    1000, 86400000,   RELOAD,  "how long attempts are refused after too many failed") \
	X(wait_ms,                600000,    10,   86400000,   RELOAD,  "longest time that one call of wait may take") \
	X(keep_days,              0,         0,    36500,      RELOAD,  "days for which contents of runs are kept; 0: always") \
	X(keep_runs,              0,         0,    1000000000, RELOAD,  "how many of the newest runs keep their contents; 0: all") \
	X(keep_bytes,             0,         0,    1024 * GIB, RELOAD,  "size of the store above which contents of the oldest runs are deleted; 0: never") \
	X(keep_check_ms,          3600000,   1000, 86400000,   RELOAD,  "how often the daemon deletes contents that are due") \
	X(check_ms,               86400000,  0,    2592000000, RESTART, "how often all pages of the store are checked; 0: only at the start, if it is small")

/* X(name, default, most, lowest, highest, meaning): a run's limit, and the most it may request */
#define CONFIG_LIMITS(X) \
	X(wall_ms,        5000,      60000,     10,   3600000,    "time from start to end") \
	X(cpu_ms,         5000,      60000,     10,   3600000,    "cpu time of all its processes") \
	X(cpu_percent,    100,       400,       5,    25600,      "processors it may use at a time; 100 is one") \
	X(memory_bytes,   256 * MIB, GIB,       16 * MIB, 1024 * GIB, "memory of all its processes and files") \
	X(disk_bytes,     64 * MIB,  512 * MIB, 64 << 10, 64 * GIB, "what it may write below /work and /tmp") \
	X(file_bytes,     64 * GIB,  64 * GIB,  64 << 10, 64 * GIB, "the largest file; never more than the disk") \
	X(inodes,         4096,      65536,     16,   10000000,   "files and folders it may make") \
	X(pids,           64,        256,       1,    32768,      "processes and threads alive together") \
	X(stdout_bytes,   MIB,       16 * MIB,  0,    256 * MIB,  "how much of stdout is kept") \
	X(stderr_bytes,   256 << 10, 16 * MIB,  0,    256 * MIB,  "how much of stderr is kept") \
	X(display_bytes,  8 * MIB,   64 * MIB,  0,    64 * MIB,   "all that it displays, as it is sent") \
	X(artifact_bytes, 8 * MIB,   64 * MIB,  0,    256 * MIB,  "all artifacts together") \
	X(artifact_count, 16,        256,       0,    4096,       "how many artifacts come back") \
	X(open_files,     256,       1024,      16,   65536,      "descriptors of one process") \
	X(calls,          64,        4096,      0,    4096,       "calls of tools in all") \
	X(calls_at_once,  8,         32,        1,    32,         "calls of tools that the client has at a time") \
	X(call_bytes,     256 << 10, 4 * MIB,   1024, 4 * MIB,    "arguments of one call, and its result") \
	X(call_ms,        30000,     600000,    10,   3600000,    "one call of a tool") \
	X(calls_ms,       60000,     1800000,   10,   3600000,    "time in which a call waits, instead of wall_ms")

/* X(name, default, most, highest, meaning): what a run may use of the network, if it has one */
#define CONFIG_EGRESS(X) \
	X(connections,    256,       4096,      1000000,    "connections of one run") \
	X(at_once,        16,        64,        1024,       "of these, how many at a time") \
	X(up_bytes,       MIB,       GIB,       1024 * GIB, "bytes that one run sends") \
	X(down_bytes,     64 * MIB,  4 * GIB,   1024 * GIB, "bytes that one run receives")

/*
 * X(name, of a uid, of an agent, of a task, highest, meaning): bounds on spending; 0: no bound.
 * The rows are in the order of enum budget_measure.
 */
#define CONFIG_BUDGETS(X) \
	X(running,         0, 0, 0, 100000,     "runs in progress together, waiting ones included") \
	X(runs_per_minute, 0, 0, 0, 1000000,    "runs that begin within a minute") \
	X(cpu_ms,          0, 0, 0, 31536000000, "cpu time within budget_window_ms") \
	X(wall_ms,         0, 0, 0, 31536000000, "time that workers are held within budget_window_ms") \
	X(stored_bytes,    0, 0, 0, 1024 * GIB, "bytes stored within budget_window_ms") \
	X(failures,        0, 0, 3, 1000,       "attempts in a row that fail; then attempts are refused for circuit_ms")

/*  X(name, default, the only possible words (NULL: any), change, meaning) */
#define CONFIG_TEXTS(X) \
	X(socket,       "/run/ced/ced.sock", NULL,           RESTART, "where clients connect") \
	X(state,        "/var/lib/ced",      NULL,           RESTART, "folder of the store") \
	X(policies,     "",                  NULL,           RELOAD,  "folder with more policies; empty: only the shipped ones") \
	X(redactions,   "",                  NULL,           RELOAD,  "file with more patterns of secrets that are masked in the record; empty: the shipped ones") \
	X(policy,       "standard",          NULL,           RELOAD,  "policy of a run that names none") \
	X(socket_mode,  "0660",              NULL,           RESTART, "who may connect: the socket file's permission bits") \
	X(checkpoint_file, "",               NULL,           RESTART, "second file that checkpoints are appended to; empty: checkpoints.log in the state folder") \
	X(audit_key,    "",                  NULL,           RESTART, "file with the key that signs checkpoints; empty: audit.key in the state folder, made at the first start") \
	X(rollback,     "alarm",             rollback_words, RESTART, "alarm: start with a store that was rolled back, and report it; refuse: do not start") \
	X(journal_runs, "none",              journal_words,  RELOAD,  "which runs the daemon also writes into the journal when they end: none, failed, all") \
	X(cgroups,      "required",          cgroups_words,  RESTART, "required: do not start without cgroups; auto: use what the host has, and say so in every result")
/* clang-format on */
