/*
 * The store: runs and acts, kept in SQLite.  Synchronous, without threads or a loop.
 *
 * The public headers of this folder are store.h, answers.h, maintenance.h and signer.h.  Its
 * subfolders are private:
 *
 *	base/         the open database, statements, blobs, digests of records
 *	write/        the writer: runs, acts, approvals, the index, the log
 *	read/         lists, records, search, statistics
 *	verify/       finds changes that the writer did not make
 *	maintenance/  retention, backup, checks of pages
 *
 * One `struct store` belongs to one thread.  The writer (the recorder) opens with STORE_WRITE and
 * locks the state folder, so that a second daemon on the same store is refused.  Readers open with
 * STORE_READ, each for one thread; the writer never blocks them.
 *
 * A run is written twice: by store_put_begun() while a worker starts it, or before if it has an id,
 * is detached or waits for approval; and by store_put_ended() with everything.  A run that was
 * refused or denied is written only by store_put_ended().  When the store is opened for writing, a
 * run that was begun and never ended becomes `lost`.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/cleanup.h"
#include "proto/base/err.h"
#include "proto/job/job.h"
#include "proto/value.h"
#include "store/signer.h"

struct store;

enum store_mode {
	STORE_READ,
	STORE_WRITE
};

/*
 * Opens `folder`/ced.db.  STORE_WRITE creates it and brings it to the newest schema.  NULL with
 * *err.
 */
struct store *store_open(const char *folder, enum store_mode mode, struct err *err);
/*
 * Opens a copy of a store for reading: `path` is the file, or a folder with ced.db and its log.
 * Writes nothing and makes no file beside it.  The copy is not trusted: its tables must be exactly
 * those of ced, and a question that takes too long fails.  ERR_BUSY when a daemon writes to it.
 */
struct store *store_open_copy(const char *path, struct err *err);
void store_close(struct store *store); /* accepts NULL */
AUTO_DEFINE(struct store, store_close);

/* Runs that store_open() recorded as lost. */
uint64_t store_lost_count(const struct store *store);

/*
 * The failure of the whole store that this error shows: "full", "read_only", "locked", "damaged",
 * "gone", "stalled" or "failed".  NULL when other calls may succeed, as after a bad argument or
 * without memory.
 */
const char *store_trouble(const struct err *err);

/*
 * Whether every other call would fail as well: no space, a lock, a file that may not be written.
 * Damage, and a failing disk, may affect one place in the file only.
 */
bool store_is_shut(const struct err *err);

/*
 * The state of the wall clock, as daemon/record/wallclock.h keeps it over restarts: the time it
 * showed, the latest moment that has certainly passed, how long the clock has not jumped, and how
 * far it was set ahead since it was last trusted.
 */
struct store_clock {
	int64_t wall_us; /* 0: unknown */
	int64_t surely_us, calm_us, ahead_us;
};

/* The content of the mark beside the store (store/write/progress_mark.h). */
struct store_mark {
	bool is_there;
	char words[320]; /* how the store differs from its mark, or "" */
	struct store_clock clock;
};

/*
 * Compares the store with its mark, which is written from the next commit on.  Keeps `signer`
 * until store_close().
 */
int store_mark_open(struct store *store, const struct signer *signer, struct store_mark *ret_found,
	struct err *err);
/* Sets the state of the clock for the next mark. */
void store_mark_clock(struct store *store, const struct store_clock *clock);
/* Writes the mark, outside a transaction.  -1 when the last write of it failed. */
int store_mark_now(struct store *store, struct err *err);

/*
 * Whether the open files still have the store's names: -1 if a commit would fail because they do
 * not.  Cheap; for moments in which nothing is committed.
 */
int store_check_files(struct store *store, struct err *err);

/*
 * Whether there is disk space for runs: -1 with ERR_FULL.  _regain() does the same after an
 * attempt to fill the reserve again.  _release_reserve() gives the reserve to a record that frees
 * space; false: it was used already.
 */
int store_check_space(struct store *store, struct err *err);
int store_regain_space(struct store *store, struct err *err);
bool store_release_reserve(struct store *store);

/*
 * The write-ahead log, when it is long because a process reads the database in an open
 * transaction.
 */
struct store_long_log {
	int64_t bytes;      /* 0: the log is short, or can be emptied */
	int64_t most_bytes; /* runs are refused from here on */
	char by[160];       /* "sqlite3 (process 4711)" */
	char command[512];  /* to end the reader; "": it ends by itself */
};

/* Limits the log; 0, as it is at first: no limit. */
void store_limit_log(struct store *store, int64_t most_bytes);

/*
 * Whether the log can be emptied, outside a transaction: -1 with ERR_BUSY when it is at its limit
 * and another program reads the database.  *ret_log is filled in from half of the limit on.
 */
int store_check_log(struct store *store, struct store_long_log *ret_log, struct err *err);

/* The time in the id of the newest run; 0: there is none. */
uint64_t store_newest_ms(const struct store *store);

/* ---- writing ----------------------------------------------------------------------------- */

/* Everything that is written of one run.  Strings are borrowed for the call. */
struct store_run {
	const char *run_id;
	const char *caller_id; /* the caller's `id`, or NULL */
	const char *method;    /* run, check */
	int64_t received_wall_us;
	int64_t ended_wall_us;
	uint32_t uid, gid;
	int32_t pid;
	const char *caller_exe;  /* of the process that connected; NULL: unknown */
	const char *caller_name; /* that the caller gave itself, or NULL */
	const char *language, *policy, *task, *agent, *entrypoint;
	const char *session; /* of a cell, or NULL */
	uint64_t cell;       /* its number there; 0: it has not begun */
	const char *policy_digest,
		*policy_decision; /* of its verdict, while it runs; NULL: there is none */
	const char *code_hash,
		*input_hash;         /* as text; NULL: computed from `spec`, which may be masked */
	const struct job_spec *spec; /* NULL: the contract refused the request */
	struct bytes refused_params; /* then the sent params, as JSON, cut at a limit; else empty */
	const struct job_result *result; /* NULL in store_put_begun() */
	bool is_begun; /* store_put_begun(): its row is written, and only `action` is added */
	const uint8_t *action;    /* digest of what caller_id stands for, or NULL */
	const uint8_t *cache_key; /* NULL: its result is not reused */
	uint64_t cache_entries;   /* the limit for results that may be reused */
	uint64_t stored_bytes;    /* that its budgets counted */
	bool is_uncounted; /* no budget counts it: a reused result, or a run that did not start */
	bool is_reported;  /* store_put_begun(): a client learns of it before it ends */
	bool was_parked;   /* store_put_ended(): it waited for approval */
	uint32_t calls;    /* store_put_ended(): calls of tools that must be recorded */
};

/* A call of a tool, when it is made, when it is over, or both at once. */
struct store_call {
	const char *run_id;
	uint32_t number; /* from 1 */
	bool is_new, is_over;
	const char *tool; /* this and the next four: when it is made */
	bool effects;
	int64_t began_wall_us;
	struct bytes args;   /* JSON, or what came instead */
	const char *rule;    /* of the policy; NULL: it does not say */
	const char *verdict; /* the rest: when it is over */
	const char *code;    /* of its error; NULL: it has a result */
	struct bytes result; /* JSON */
	int64_t took_us;
	const char *approval; /* JSON; NULL: nobody was asked */
};

/* An approval for later runs. */
struct store_grant {
	int64_t act; /* the act that gave it, which is its name; written by the store */
	uint32_t uid;
	const char *subject; /* digest of the approved content */
	const char *code_hash, *language, *policy;
	int64_t until_wall_us;
	int64_t uses; /* that are left; -1: no limit */
	uint32_t by;  /* read only */
};

/* A decision about a run that waits, or that a grant is revoked. */
struct store_decision {
	const char *run_id;
	const char *word;                /* approved, denied */
	const struct store_grant *grant; /* or NULL */
	int64_t revoked;                 /* a grant; then nothing else is set */
};

/* An act: what an administrator or an approver did. */
struct store_act {
	int64_t at_wall_us;
	uint32_t uid, gid;
	int32_t pid;
	const char *method;
	const char *params, *result; /* JSON */
	enum {
		STORE_LET_BE,
		STORE_SHUT_OUT, /* blocks `block_uid`, for `reason` (or NULL) */
		STORE_LET_IN,   /* unblocks `block_uid` */
	} block;
	uint32_t block_uid;
	const char *reason;
	const struct store_decision *decision; /* or NULL */
	int64_t *ret_number;                   /* or NULL: receives the number of the act */
};

/* A run that waits for approval. */
struct store_parking {
	int64_t since_wall_us, until_wall_us;
	const char *verdict; /* JSON */
};

enum store_durability {
	STORE_SOON, /* in the file when the call returns; on the disk with the next STORE_NOW */
	STORE_NOW,  /* on the disk when the call returns */
};

int store_begin(struct store *store, struct err *err);
int store_put_begun(struct store *store, const struct store_run *run, struct err *err);
int store_put_ended(struct store *store, const struct store_run *run, struct err *err);
int store_put_call(struct store *store, const struct store_call *call, struct err *err);
int store_put_act(struct store *store, const struct store_act *act, struct err *err);
/* Instead of store_put_begun(): the run waits for approval, also over a restart. */
int store_put_parked(struct store *store, const struct store_run *run,
	const struct store_parking *parking, struct err *err);
/* The run starts now.  Does nothing to a run that was not parked. */
int store_put_unparked(struct store *store, const char *run_id, struct err *err);
/* Counts one use of a grant. */
int store_put_use(struct store *store, int64_t grant, struct err *err);
/*
 * Removes the contents of these runs (code, inputs, streams, artifacts, excerpts) and records the
 * act.  The rows and the digests of the contents stay, so the chain verifies as before.  At most a
 * few hundred runs at a time, since other records wait.  *ret_bytes: the length of the contents.
 */
int store_prune(struct store *store, const struct store_act *act, const char *const *run_ids,
	size_t count, uint64_t *ret_bytes, struct err *err);
/*
 * Signs the chain with all links of this transaction.  When it is committed, the caller appends
 * the line (store/base/checkpoint.h) to the checkpoint file.
 */
#define STORE_CHECKPOINT_MAX 384
struct store_checkpoint {
	const struct signer *signer;
	int64_t at_wall_us;
	bool is_new; /* filled in; false: nothing to sign since the last one, which is in `line` */
	int64_t links;
	char line[STORE_CHECKPOINT_MAX]; /* "": there is none */
};
int store_put_checkpoint(struct store *store, struct store_checkpoint *checkpoint, struct err *err);

/*
 * Ends the transaction.  On failure everything since store_begin() is rolled back and may be tried
 * again.  After a store_put_...() that failed, store_commit() fails too.
 */
int store_commit(struct store *store, enum store_durability durability, struct err *err);
void store_rollback(struct store *store);

/* Tries whether records can be written, with a write that changes nothing and a sync. */
int store_probe(struct store *store, struct err *err);

/*
 * For idle moments, outside a transaction: indexes runs and moves the write-ahead log into the
 * database, when that is worth it, a few milliseconds at a time.  1: there is more to do in the
 * next idle moment.
 */
int store_tidy(struct store *store, struct err *err);

/* Runs that could not be indexed completely because they cannot be read. */
struct store_damage {
	uint64_t runs; /* they are not found by words, or only by id and time */
	int64_t row;   /* of the last one in `runs` */
	struct err why;
};

/* Returns the damage that was noted since the last call; false: there is none. */
bool store_take_damage(struct store *store, struct store_damage *ret_damage);

/* ---- runs that need not be repeated ------------------------------------------------------- */

/* The request that a caller has sent under its own id. */
struct store_action {
	uint8_t content[32]; /* digest of the request ... */
	bool is_known;       /* ... if it is still known */
	char run_id[RUN_ID_LEN + 1];
	bool ended;
};

/* 0, or 1: this caller has executed nothing under that id. */
int store_find_action(struct store *store, uint32_t uid, const char *caller_id,
	struct store_action *ret_action, struct err *err);

/*
 * 0 with the run that executed the request of this caller's id, or else with the newest run that
 * has this id.  1: none.
 */
int store_find_named(struct store *store, uint32_t uid, const char *caller_id,
	char ret_run_id[RUN_ID_LEN + 1], struct err *err);

/* 0 when a run of any caller has the key of this id; 1: none. */
int store_find_place(struct store *store, const char *run_id, struct err *err);

/* 0 with the run whose result may be reused; 1: there is none since then. */
int store_find_cached(struct store *store, const uint8_t *cache_key, int64_t since_wall_us,
	char ret_run_id[RUN_ID_LEN + 1], struct err *err);

/* ---- reading: answers are the maps of docs/PROTOCOL.md, built in the arena ------------------ */

struct store_filter {
	bool all_callers; /* else only those of `uid` */
	uint32_t uid;
	int64_t since_wall_us,
		until_wall_us; /* 0: open; by the time in the run's id, in whole ms */
	const char *outcome, *language, *agent, *task, *policy, *code_hash, *label_key,
		*label_value; /* or NULL */
	const char *rule;     /* of a finding, or NULL */
	const char *session;  /* whose cells, or NULL */
	const char *text;     /* words of the program or of its output, or NULL */
	bool has_uid_filter;
	uint32_t uid_filter;
	const char *
		before_run_id; /* for pages: only runs older than this one; NULL: from the newest */
	uint32_t limit;        /* 1..1000 */
};

/*
 * -> {runs: [{run_id, received_us, uid, language, outcome, ok, reason, exec_us, total_us, ...}],
 * more: bool}
 */
int store_list(struct store *store, const struct store_filter *filter, struct arena *arena,
	struct value **ret_page, struct err *err);

/*
 * Finds the full id for a prefix, "last" or "last~N", among the runs that match `filter`.  0
 * found, 1 none, 2 several.
 */
int store_resolve(struct store *store, const struct store_filter *filter, const char *name,
	char ret_run_id[RUN_ID_LEN + 1], struct err *err);

/* The whole record, with up to `stream_bytes` of each stream and file.  1: there is no such run. */
int store_get(struct store *store, const char *run_id, uint64_t stream_bytes, struct arena *arena,
	struct value **ret_record, uint32_t *ret_uid, struct err *err);

/*
 * A page of "stdout", "stderr", "code", "artifact:PATH" ... -> {data, offset, total, eof}.  1:
 * there is none.
 */
int store_output(struct store *store, const char *run_id, const char *stream, uint64_t offset,
	uint64_t len, struct arena *arena, struct value **ret_page, struct err *err);

/*
 * -> {runs, by: [{key, runs, ok, exec_us: {p50,p90,p99}, total_us: {...}, ...}], ...}; `by` is
 * outcome, language, agent, task, policy, uid or phase.
 */
int store_stats(struct store *store, const struct store_filter *filter, const char *by,
	struct arena *arena, struct value **ret_stats, struct err *err);

/*
 * -> {acts: [{act, at_us, uid, gid, pid, method, params, result}], more}, newest first; `before`
 * 0: from the newest.
 */
int store_acts(struct store *store, int64_t before, uint32_t limit, struct arena *arena,
	struct value **ret_page, struct err *err);

/* Calls `visit` for each blocked user, until it returns other than 0 (no memory). */
int store_each_block(struct store *store,
	int (*visit)(void *context, uint32_t uid, const char *reason), void *context,
	struct err *err);

/* The resources that one run has used. */
struct store_spent {
	uint32_t uid;
	const char *agent, *task; /* or NULL */
	int64_t ended_wall_us;
	enum outcome outcome;
	int64_t cpu_us, wall_us, bytes;
};

/* Calls `visit` for the newest `most` runs since then, oldest first. */
int store_each_spent(struct store *store, int64_t since_wall_us, uint32_t most,
	int (*visit)(void *context, const struct store_spent *spent), void *context,
	struct err *err);

/* Calls `visit` for each reset of budgets since then; `params` lies in the arena. */
int store_each_reset(struct store *store, int64_t since_wall_us, struct arena *arena,
	int (*visit)(void *context, int64_t at_us, uint32_t uid, const struct value *params),
	void *context, struct err *err);

/* A run that was parked when the last writer ended.  Strings are valid during the visit. */
struct store_parked {
	const char *run_id;
	uint32_t uid, gid;
	int32_t pid;
	int64_t received_wall_us, since_wall_us, until_wall_us;
	const char *caller_id;
	const uint8_t *action; /* as in struct store_run */
	const char
		*decision; /* approved, denied; NULL: it waits.  The rest is about the decision: */
	int64_t act;
	uint32_t by;
	int64_t at_wall_us;
	const char *reason;
	bool is_changed; /* its row was changed after it was recorded, and may be false */
};

/* Both call `visit` until it returns other than 0 (no memory). */
int store_each_parked(struct store *store,
	int (*visit)(void *context, const struct store_parked *parked), void *context,
	struct err *err);
int store_each_grant(struct store *store,
	int (*visit)(void *context, const struct store_grant *grant), void *context,
	struct err *err);

struct store_approvals_filter {
	const char *run_id;  /* only this one; or NULL */
	const char *after;   /* for pages: only runs newer than this one; or NULL */
	uint32_t limit;      /* 1..100 */
	uint64_t part_bytes; /* of stdin and each file */
};

/*
 * -> {waiting: [as runs.get, with policy, since_us, until_us, changed?, ...], more, grants:
 * [...]}, oldest first.  A run that was changed in the store after it was recorded has `changed`
 * instead of `policy`.
 */
int store_approvals(struct store *store, const struct store_approvals_filter *filter,
	struct arena *arena, struct value **ret_page, struct err *err);

/* {runs, bytes, wal_bytes, schema, path} for admin.status. */
int store_status(
	struct store *store, struct arena *arena, struct value **ret_status, struct err *err);

/* ---- verification --------------------------------------------------------------------------- */

enum store_part {
	STORE_PART_CHAIN,       /* links and their records; numbered by link */
	STORE_PART_BLOBS,       /* contents and their digests; numbered by blob */
	STORE_PART_TABLES,      /* derived tables, and rows without a link; numbered by check */
	STORE_PART_CHECKPOINTS, /* in the store; numbered */
	STORE_PART_SECOND,      /* in the checkpoint file; numbered by byte */
	STORE_PART_COUNT,
};

/* The part named "chain" ...; STORE_PART_COUNT: there is none. */
enum store_part store_part_of(const char *word);

/* Trusted data from outside the store, to compare it with. */
struct store_trust {
	const uint8_t *public_key; /* that signs checkpoints; NULL: each may name its own */
	struct bytes second;       /* a piece of the checkpoint file ... */
	int64_t second_at;         /* which begins at this byte, with a line ... */
	int64_t second_of;         /* of a file of so many bytes; 0: it is the whole file */
	/* the last line that was appended to the file; "": unknown */
	char last_line[STORE_CHECKPOINT_MAX];
};

/* The items to verify: `count` items of a part, from the number `from` on. */
struct store_span {
	enum store_part part; /* STORE_PART_COUNT: all of all parts */
	int64_t from;         /* from 1 */
	int64_t count;
	const struct store_trust *trust; /* or NULL */
};

/*
 * Finds data that was changed, removed, added or moved since it was written.  The writer is not
 * blocked.
 * -> {part, from, next, of, checked, found, problems: [{what, message, link?, kind?, run_id?,
 * table?, row?}]}: `next` is where to continue, nil at the end; `of` is the highest number;
 * `found` counts all problems, of which the first 200 are listed.
 */
int store_verify(struct store *store, const struct store_span *span, struct arena *arena,
	struct value **ret_report, struct err *err);

/*
 * Whether the checkpoint file shows that the store is older, or another one: 1 with the reason in
 * *ret_words, 0, -1.  The valid line with the most links counts.
 */
int store_rolled_back(struct store *store, const struct store_trust *trust, char *ret_words,
	size_t size, struct err *err);

/* Whether the checkpoint file ends before the line that was appended to it last. */
bool store_second_lacks(const struct store_trust *trust, char *ret_words, size_t size);
