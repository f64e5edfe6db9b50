/*
 * The memory of the house: what ran, kept in SQLite.  Synchronous, no threads, no loop.
 *
 * One `struct store` belongs to one thread.  The writer (the recorder) opens with STORE_WRITE and
 * holds the lock of the state folder, so a second daemon on the same store is refused; readers
 * open as many as they like with STORE_READ, each for one thread, and are never blocked by the
 * writer.
 *
 * A run is written twice: store_put_begun() when a worker is about to start it, and
 * store_put_ended() with everything.  A run that never got so far (refused, denied) is written
 * only once, by store_put_ended().  What was begun and never ended when the store is opened for
 * writing becomes `lost`.
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

/* Opens or creates `folder`/ced.db, brings it to the newest schema, checks it.  NULL with *err. */
struct store *store_open(const char *folder, enum store_mode mode, struct err *err);
/*
 * Opens a copy of a store for reading: `path` is the file, or a folder with ced.db and its log in it.
 * Writes to nothing and makes no file beside it.  Nothing in it is believed: its tables must be ours to the
 * letter, and a question that takes too long fails.  ERR_BUSY when a daemon writes to it just now.
 */
struct store *store_open_copy(const char *path, struct err *err);
void store_close(struct store *store); /* accepts NULL */
AUTO_DEFINE(struct store, store_close);

/* Runs that were in flight when the last writer died, turned into `lost` by store_open(). */
uint64_t store_lost_count(const struct store *store);

/*
 * What ails the store as a whole when a call failed so: "full", "read_only", "locked", "damaged",
 * "gone", "stalled", "failed".  NULL when the call was at fault, or memory was short, and others may go well.
 */
const char *store_trouble(const struct err *err);

/*
 * Whether any other call would fail so as well: no room, a lock, a file that may not be written.  Damage,
 * and a disk that fails, may be about one place in it.
 */
bool store_is_shut(const struct err *err);

/*
 * What the wall clock was worth when it was last written down: what it showed, the latest moment that
 * had surely come, for how long it had not jumped, and how far it was set ahead since it was believed
 * last.  daemon/record/wallclock.h goes on from there.
 */
struct store_clock {
	int64_t wall_us; /* 0: nothing is known */
	int64_t surely_us, calm_us, ahead_us;
};

/* What the mark beside the store (store/mark.h) said when the store was opened. */
struct store_mark {
	bool is_there;
	char words[320]; /* why the store is not what it was by then, or "" */
	struct store_clock clock;
};

/*
 * Holds the store against its mark, and from the next commit on keeps the mark.  `signer` is kept until
 * store_close().
 */
int store_mark_open(struct store *store, const struct signer *signer, struct store_mark *ret_found,
	struct err *err);
/* What the mark says of the clock from the next time on. */
void store_mark_clock(struct store *store, const struct store_clock *clock);
/* Writes it outside a transaction; or says why it could not be written the last time. */
int store_mark_now(struct store *store, struct err *err);

/*
 * Whether the files that are open are still those that have the store's names: -1, where a commit would
 * fail for that.  Cheap; for moments in which nothing is committed.
 */
int store_look(struct store *store, struct err *err);

/*
 * Whether there is room for runs: -1 with ERR_FULL.  The same, when it was full: what can be had back is
 * taken first.  And gives up what is kept for what makes room (store/room.h), for one more try; false:
 * that was used already.
 */
int store_room(struct store *store, struct err *err);
int store_room_regain(struct store *store, struct err *err);
bool store_room_release(struct store *store);

/* A log that is long because somebody reads from it (store/held.h). */
struct store_held {
	int64_t bytes;      /* of the log; 0: nobody keeps it from being emptied, or it is short */
	int64_t most_bytes; /* from here on runs are refused */
	char by[160];       /* "sqlite3 (process 4711)" */
	char command[512];  /* what to type against it; "": it ends by itself */
};

/* The ceiling of the log; 0, as it is at first: none. */
void store_limit_log(struct store *store, int64_t most_bytes);

/*
 * Whether the log can be emptied, outside a transaction: -1 with ERR_BUSY when it is at its ceiling and another
 * program holds it.  From half of the ceiling on *ret_held tells.
 */
int store_log(struct store *store, struct store_held *ret_held, struct err *err);

/* The time in the id of the newest run; 0: there is none. */
uint64_t store_newest_ms(const struct store *store);

/* ---- writing ----------------------------------------------------------------------------- */

/* Everything about one run that the columns want; strings are borrowed for the call. */
struct store_run {
	const char *run_id;
	const char *caller_id; /* the caller's `id`, or NULL */
	const char *method;    /* run, check */
	int64_t received_wall_us;
	int64_t ended_wall_us;
	uint32_t uid, gid;
	int32_t pid;
	const char *caller_exe;  /* of the process that connected; NULL: the kernel does not tell */
	const char *caller_name; /* what it calls itself, or NULL */
	const char *language, *policy, *task, *agent, *entrypoint;
	const char *policy_digest,
		*policy_decision; /* of its verdict, while it runs; NULL: there is none */
	const char *code_hash,
		*input_hash;         /* as text; NULL: those of `spec`, which may have masks */
	const struct job_spec *spec; /* NULL when the contract refused it */
	struct bytes
		refused_params; /* then: what was sent, as JSON, cut to a ceiling; else empty */
	const struct job_result *result; /* NULL in store_put_begun() */
	bool is_begun; /* store_put_begun(): its row is there, and only `action` is to be added */
	const uint8_t *action;    /* digest of what caller_id stands for; NULL: for nothing */
	const uint8_t *cache_key; /* NULL: its result is not to be told again */
	uint64_t cache_entries;   /* so many results are kept for that */
	uint64_t stored_bytes;    /* that its budgets counted; 0: it spent nothing */
	bool is_uncounted;        /* no budget knows of it: it was told again, or ended before */
	bool is_told;             /* begun: somebody hears of it before it ends */
	bool was_parked;          /* in store_put_ended(): it waits no more */
};

/* A word that holds for runs to come. */
struct store_grant {
	int64_t act; /* by which, and its name; written by the store */
	uint32_t uid;
	const char *subject; /* digest of what was judged */
	const char *code_hash, *language, *policy;
	int64_t until_wall_us;
	int64_t uses; /* that are left; -1: as many as wanted */
	uint32_t by;  /* read only */
};

/* What a person said about a run that waits, or that a grant holds no more. */
struct store_decision {
	const char *run_id;
	const char *word;                /* approved, denied */
	const struct store_grant *grant; /* or NULL */
	int64_t revoked;                 /* a grant; then nothing else */
};

/* What an administrator or an approver did. */
struct store_act {
	int64_t at_wall_us;
	uint32_t uid, gid;
	int32_t pid;
	const char *method;
	const char *params, *result; /* JSON */
	enum {
		STORE_LET_BE,
		STORE_SHUT_OUT, /* `block_uid` from now on, for `reason` (or NULL) */
		STORE_LET_IN,   /* again */
	} block;
	uint32_t block_uid;
	const char *reason;
	const struct store_decision *decision; /* or NULL */
	int64_t *ret_number;                   /* or NULL: which act it became */
};

/* A run that waits for a person's word. */
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
int store_put_act(struct store *store, const struct store_act *act, struct err *err);
/* Instead of begun: nothing of it is lost when the writer ends, it waits on. */
int store_put_parked(struct store *store, const struct store_run *run,
	const struct store_parking *parking, struct err *err);
/* From here on it is an ordinary run that has begun.  One that was not parked stays what it is. */
int store_put_unparked(struct store *store, const char *run_id, struct err *err);
/* One use less of a grant. */
int store_put_use(struct store *store, int64_t grant, struct err *err);
/*
 * Takes the contents of these runs away (code, inputs, streams, artifacts, excerpts) and records the
 * act.  What the runs were stays, and so do the digests of the contents: the chain verifies as before.
 * A few hundred runs at a time: others wait meanwhile.  *ret_bytes: what the contents were long.
 */
int store_prune(struct store *store, const struct store_act *act, const char *const *run_ids,
	size_t count, uint64_t *ret_bytes, struct err *err);
/*
 * Signs the chain as it stands, in this transaction; the line (store/checkpoint.h) is for the second
 * file once that is committed.
 */
#define STORE_CHECKPOINT_MAX 384
struct store_checkpoint {
	const struct signer *signer;
	int64_t at_wall_us;
	bool is_new; /* filled in: false when nothing has come since the last one, which is told then */
	int64_t links;
	char line[STORE_CHECKPOINT_MAX]; /* "": there is none */
};
int store_put_checkpoint(struct store *store, struct store_checkpoint *checkpoint, struct err *err);

/*
 * Ends the transaction.  On failure everything since store_begin() is gone and may be tried again.
 * After a put that failed only store_rollback() is left; store_commit() then fails too.
 */
int store_commit(struct store *store, enum store_durability durability, struct err *err);
void store_rollback(struct store *store);

/* Whether records can be written, tried with one that changes nothing: 0, with it on the disk; -1. */
int store_probe(struct store *store, struct err *err);

/*
 * Call when idle, outside a transaction: moves the write-ahead log into the database and brings
 * what lists need up to date, when that is worth it; a few milliseconds at a time.  Returns 0, 1
 * when there is more to do in the next idle moment, -1.
 */
int store_tidy(struct store *store, struct err *err);

/* What could not be read when runs were to settle: the last of them since it was asked last. */
struct store_damage {
	uint64_t
		runs; /* so many: they are not found by words, or by nothing but their id and time */
	int64_t row;  /* of the last one in `runs` */
	struct err why;
};

/* Whether there was anything. */
bool store_take_damage(struct store *store, struct store_damage *ret_damage);

/* ---- what need not run again -------------------------------------------------------------- */

/* What a caller's own name for an action stands for. */
struct store_action {
	uint8_t content[32]; /* digest of what was asked ... */
	bool is_known;       /* ... unless nothing says any more what that was */
	char run_id[RUN_ID_LEN + 1];
	bool ended;
};

/* 0, or 1: this caller has done nothing under that name. */
int store_find_action(struct store *store, uint32_t uid, const char *caller_id,
	struct store_action *ret_action, struct err *err);

/*
 * 0 with the run that this caller's own name stands for: the one that did it, or, when nothing was
 * done under it, the newest that was asked for.  1: none.
 */
int store_find_named(struct store *store, uint32_t uid, const char *caller_id,
	char ret_run_id[RUN_ID_LEN + 1], struct err *err);

/* 0 when some run, of whomever, has the place of this id in the order of runs; 1: none. */
int store_find_place(struct store *store, const char *run_id, struct err *err);

/* 0 with the run whose result it is, or 1: none, or only an older one. */
int store_find_cached(struct store *store, const uint8_t *cache_key, int64_t since_wall_us,
	char ret_run_id[RUN_ID_LEN + 1], struct err *err);

/* ---- reading: answers are the maps of docs/PROTOCOL.md, built in the arena ------------------ */

struct store_filter {
	bool all_callers; /* else only `uid` */
	uint32_t uid;
	int64_t since_wall_us,
		until_wall_us; /* 0: open; by the time in the run's id, in whole ms */
	const char *outcome, *language, *agent, *task, *policy, *code_hash, *label_key,
		*label_value; /* or NULL */
	const char *rule;     /* of a finding, or NULL */
	const char *text;     /* words of the program or of what it wrote (search.h), or NULL */
	bool has_uid_filter;
	uint32_t uid_filter;
	const char
		*before_run_id; /* keyset: only runs older than this one; NULL: from the newest */
	uint32_t limit;         /* 1..1000 */
};

/* -> {runs: [{run_id, received_us, uid, language, outcome, ok, reason, exec_us, total_us, ...}], more: bool} */
int store_list(struct store *store, const struct store_filter *filter, struct arena *arena,
	struct value **ret_page, struct err *err);

/*
 * Finds the full id for a prefix, "last" or "last~N", among the runs that `filter` lets through.  0 found,
 * 1 none, 2 several.
 */
int store_resolve(struct store *store, const struct store_filter *filter, const char *name,
	char ret_run_id[RUN_ID_LEN + 1], struct err *err);

/* The whole record with code, inputs, streams (up to `stream_bytes` each), artifacts, findings, trace. 0, or 1: no such run. */
int store_get(struct store *store, const char *run_id, uint64_t stream_bytes, struct arena *arena,
	struct value **ret_record, uint32_t *ret_uid, struct err *err);

/* A page of a stored stream ("stdout", "stderr", "code", or "artifact:PATH") -> {data, offset, total, eof}.  1: none. */
int store_output(struct store *store, const char *run_id, const char *stream, uint64_t offset,
	uint64_t len, struct arena *arena, struct value **ret_page, struct err *err);

/* -> {runs, by: [{key, runs, ok, exec_us: {p50,p90,p99}, total_us: {...}, ...}], ...}; `by` is outcome, language, agent or phase. */
int store_stats(struct store *store, const struct store_filter *filter, const char *by,
	struct arena *arena, struct value **ret_stats, struct err *err);

/* -> {acts: [{act, at_us, uid, gid, pid, method, params, result}], more}, the newest first; `before` 0: all. */
int store_acts(struct store *store, int64_t before, uint32_t limit, struct arena *arena,
	struct value **ret_page, struct err *err);

/* Calls `visit` for everybody who is shut out, until it answers other than 0 (no memory). */
int store_each_block(struct store *store,
	int (*visit)(void *context, uint32_t uid, const char *reason), void *context,
	struct err *err);

/* What one run has cost. */
struct store_spent {
	uint32_t uid;
	const char *agent, *task; /* or NULL */
	int64_t ended_wall_us;
	enum outcome outcome;
	int64_t cpu_us, wall_us, bytes;
};

/* Calls `visit` for runs that came since then, in their order; the newest `most` of them. */
int store_each_spent(struct store *store, int64_t since_wall_us, uint32_t most,
	int (*visit)(void *context, const struct store_spent *spent), void *context,
	struct err *err);

/* And for what administrators have reset since then; `params` lives in the arena. */
int store_each_reset(struct store *store, int64_t since_wall_us, struct arena *arena,
	int (*visit)(void *context, int64_t at_us, uint32_t uid, const struct value *params),
	void *context, struct err *err);

/* One that was parked when the writer ended; strings live for the visit. */
struct store_parked {
	const char *run_id;
	uint32_t uid, gid;
	int32_t pid;
	int64_t received_wall_us, since_wall_us, until_wall_us;
	const char *caller_id;
	const uint8_t *action; /* as in struct store_run */
	const char *decision;  /* approved, denied; NULL: it waits.  The rest is about that: */
	int64_t act;
	uint32_t by;
	int64_t at_wall_us;
	const char *reason;
	bool is_changed; /* its row is not the one that was recorded: what it says may be false */
};

/* Each calls `visit` for every one, until it answers other than 0 (no memory). */
int store_each_parked(struct store *store,
	int (*visit)(void *context, const struct store_parked *parked), void *context,
	struct err *err);
int store_each_grant(struct store *store,
	int (*visit)(void *context, const struct store_grant *grant), void *context,
	struct err *err);

struct store_approvals_filter {
	const char *run_id;  /* only this one; or NULL */
	const char *after;   /* keyset: only runs newer than this one; or NULL */
	uint32_t limit;      /* 1..100 */
	uint64_t part_bytes; /* of stdin and each file */
};

/*
 * -> {waiting: [what runs.get has, policy, since_us, until_us, changed?, ...], more, grants: [...]}, the
 * oldest first.  One that was changed in the store after it was recorded says so, and no policy.
 */
int store_approvals(struct store *store, const struct store_approvals_filter *filter,
	struct arena *arena, struct value **ret_page, struct err *err);

/* {runs, bytes, wal_bytes, schema, path} for admin.status. */
int store_status(
	struct store *store, struct arena *arena, struct value **ret_status, struct err *err);

/* ---- has anybody touched it? --------------------------------------------------------------- */

enum store_part {
	STORE_PART_CHAIN,       /* the links and the records they are about; numbered by link */
	STORE_PART_BLOBS,       /* contents against their digests; numbered by blob */
	STORE_PART_TABLES,      /* what no link is about, and what is derived; numbered by check */
	STORE_PART_CHECKPOINTS, /* those in the store; numbered */
	STORE_PART_SECOND,      /* those in the second file; numbered by byte */
	STORE_PART_COUNT,
};

/* "chain" ...; STORE_PART_COUNT when the word is none. */
const char *store_part_word(enum store_part part);
enum store_part store_part_of(const char *word);

/* What comes from elsewhere and the store is held against. */
struct store_trust {
	const uint8_t *public_key; /* that checkpoints are signed with; NULL: whatever they name */
	struct bytes second;       /* of the second file ... */
	int64_t second_at;         /* from this byte on, where a line begins ... */
	int64_t second_of;         /* of so many; 0: it is all there */
	char told[STORE_CHECKPOINT_MAX]; /* the last line that was appended to it; "": not known */
};

/* The part of the store to look at: what is numbered `from` or higher, at most `count` of it. */
struct store_span {
	enum store_part part; /* STORE_PART_COUNT: all parts, whole */
	int64_t from;         /* from 1 */
	int64_t count;
	const struct store_trust *trust; /* or NULL */
};

/*
 * Looks for what was changed, taken out, put in or moved since it was written, without stopping the
 * writer.  -> {part, from, next, of, checked, found, problems: [{what, message, link?, kind?, run_id?, table?, row?}]}:
 * `next` is where to go on, nil at the end; `of` is the highest number; `found` counts all problems, of
 * which so many are listed as fit.
 */
int store_verify(struct store *store, const struct store_span *span, struct arena *arena,
	struct value **ret_report, struct err *err);

/*
 * Whether the store is older or another than the second file says: 1 with the words, 0, -1.  Of the
 * lines that hold, the one that reaches furthest counts.
 */
int store_rolled_back(struct store *store, const struct store_trust *trust, char *ret_words,
	size_t size, struct err *err);

/* Whether the second file ends before the line that was appended to it last. */
bool store_second_lacks(const struct store_trust *trust, char *ret_words, size_t size);
