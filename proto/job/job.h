/*
 * One run, as typed structs: what was asked (job_spec), what came of it (job_result), and the
 * value forms of both, which are the wire shapes of docs/PROTOCOL.md.
 *
 * A job_spec is complete and bounded: every field has been checked and every limit has a number.
 * Both structs live in the request's arena and point into it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/err.h"
#include "proto/value.h"

struct schema;

#define RUN_ID_LEN    26 /* a ULID */
#define HASH_TEXT_LEN 71 /* "sha256:" and 64 hex digits */

/* Every limit once: name on the wire, and what it means.  X(name, meaning) */
#define JOB_LIMITS(X)                                                    \
	X(wall_ms, "longest time from start to end, in milliseconds")    \
	X(cpu_ms, "cpu time of all its processes, in milliseconds")      \
	X(cpu_percent, "processors it may use at a time, 100 is one")    \
	X(memory_bytes, "memory of all its processes and files")         \
	X(disk_bytes, "what it may write below /work and /tmp together") \
	X(file_bytes, "the largest file; never more than the disk")      \
	X(inodes, "how many files and folders it may make")              \
	X(pids, "processes and threads alive together")                  \
	X(stdout_bytes, "how much of stdout is kept")                    \
	X(stderr_bytes, "how much of stderr is kept")                    \
	X(artifact_bytes, "all artifacts together")                      \
	X(artifact_count, "how many artifacts come back")                \
	X(open_files, "descriptors that one process may have open")

struct job_limits {
#define JOB_LIMIT_FIELD(name, meaning) uint64_t name;
	JOB_LIMITS(JOB_LIMIT_FIELD)
#undef JOB_LIMIT_FIELD
};

/* Makes them agree: no file can be larger than the disk. */
void job_limits_settle(struct job_limits *limits);

struct job_input_file {
	const char *path; /* relative, clean: no empty, "." or ".." parts */
	struct bytes data;
	uint32_t mode;
};

struct job_pair {
	const char *key;
	struct bytes value;
};

enum job_on_output_limit {
	ON_OUTPUT_KILL,
	ON_OUTPUT_TRUNCATE
};
enum job_output {
	OUTPUT_TEXT,
	OUTPUT_JSON
};
enum job_trace {
	TRACE_STEPS,
	TRACE_FILES, /* the steps, and which files it opens */
	TRACE_OFF
};
enum job_cache {
	CACHE_OFF,
	CACHE_USE,    /* a result that is known will do; else it runs, and its result is known */
	CACHE_REFRESH /* it runs in any case, and its result takes the place of what was known */
};

struct job_spec {
	const char *id;     /* the caller's name for it, or NULL */
	const char *run_id; /* that the caller wants it to have, or NULL; not part of the record */
	const char *language; /* as asked; the pool knows which runtimes exist */
	struct bytes code;
	const char *entrypoint;
	struct bytes *args;
	size_t arg_count;
	struct bytes input; /* for stdin: `stdin` as given, or `input` written as JSON */
	bool has_input;
	struct job_input_file *files;
	size_t file_count;
	struct job_pair *env;
	size_t env_count;
	struct job_limits limits;
	const struct value *limits_asked; /* those that were named, or NULL */
	enum job_on_output_limit on_output_limit;
	const char **artifact_globs;
	size_t artifact_glob_count;
	const char *policy; /* NULL: the default */
	enum job_output output;
	const struct value *schema;         /* NULL, or the JSON Schema for the output */
	const struct schema *output_schema; /* the same, compiled */
	const char *task;
	const char *agent;
	struct job_pair *labels;
	size_t label_count;
	enum job_trace trace;
	enum job_cache cache;
	bool deterministic; /* chance, clock and hashes begin the same in each run */
	bool stream;
	bool announce; /* say which run it is as soon as that is known */
	bool detach;
	struct bytes *secrets; /* to be masked in whatever is stored; never stored themselves */
	size_t secret_count;   /* of one that is stored as well */
	uint64_t masks;        /* in a copy that is to be stored: how many there are in it */
};

/* Why a request was refused: the key, a stable word, a sentence.  All in the arena. */
struct job_refusal {
	const char *pointer; /* JSON Pointer, "" for the whole; a missing key: where it would be */
	/* missing, unknown_key, type, value, range, too_long, too_short, path, nul, duplicate, conflict, schema, work */
	const char *reason;
	const char *message; /* begins with the pointer, so that it can stand alone */
};

/* What a program is called that has no name. */
struct job_entrypoint {
	const char *language;
	const char *file;
};

/* A content that was sent ahead. */
struct job_blob {
	const char *sha256;
	struct bytes data;
};

/* Defaults and ceilings for limits, from the configuration. */
struct job_bounds {
	struct job_limits standard; /* when the caller names none */
	struct job_limits most;     /* past it the request is refused with "range" */
	uint64_t code_bytes;        /* ceilings on the parts of a request */
	uint64_t input_bytes;
	uint64_t files_bytes;
	uint64_t schema_bytes;
	const struct job_entrypoint
		*entrypoints;         /* NULL behind the last; before those of job_spec.c */
	const struct job_blob *blobs; /* that files may name */
	size_t blob_count;
};

/*
 * Checks the params of `run` and `check` and fills *ret_spec.  Returns 0; 1 when the request is
 * refused (*ret_refusal says why); -1 on failure (memory).  Unknown keys are refused by name.
 */
int job_spec_from_value(struct arena *arena, const struct value *params,
	const struct job_bounds *bounds, struct job_spec *ret_spec, struct job_refusal *ret_refusal,
	struct err *err);

/* Everything that is wrong with a request, as far as it can be told at once. */
#define JOB_REFUSALS_MAX 64
struct job_refusals {
	struct job_refusal items[JOB_REFUSALS_MAX];
	size_t count;
	bool more; /* than these */
};

/*
 * As job_spec_from_value(), for who wants to mend all of it: what else is wrong is added to
 * *refusals.  What a key says is looked at when it has the right shape.  0, or -1 (memory).
 */
int job_spec_refusals(struct arena *arena, const struct value *params,
	const struct job_bounds *bounds, struct job_refusals *refusals, struct err *err);

/* The keys of `run` once more, for storing: everything that was asked, with the limits in force. */
struct value *job_spec_to_value(struct arena *arena, const struct job_spec *spec);

/* code_hash: over the program's bytes.  input_hash: over a length-prefixed form of stdin, files, args, env. */
void job_code_hash(const struct job_spec *spec, char ret_text[HASH_TEXT_LEN + 1]);
void job_input_hash(const struct job_spec *spec, char ret_text[HASH_TEXT_LEN + 1]);

/* ---- outcomes ---------------------------------------------------------------------------- */

enum outcome {
	OUTCOME_NONE = 0,
	OUTCOME_OK,
	OUTCOME_EXIT,
	OUTCOME_EXCEPTION,
	OUTCOME_SYNTAX_ERROR,
	OUTCOME_SIGNAL,
	OUTCOME_WALL_LIMIT,
	OUTCOME_CPU_LIMIT,
	OUTCOME_MEMORY_LIMIT,
	OUTCOME_DISK_LIMIT,
	OUTCOME_OUTPUT_LIMIT,
	OUTCOME_PIDS_LIMIT,
	OUTCOME_SYSCALL_DENIED,
	OUTCOME_OUTPUT_INVALID,
	OUTCOME_POLICY_DENIED,
	OUTCOME_APPROVAL_DENIED,
	OUTCOME_APPROVAL_EXPIRED,
	OUTCOME_BUDGET_EXCEEDED,
	OUTCOME_CANCELED,
	OUTCOME_BUSY, /* no room in the queue, or no worker in time */
	OUTCOME_SANDBOX_ERROR,
	OUTCOME_LOST,
	OUTCOME_REFUSED, /* contract: answered as bad_request, recorded so that attempts can be counted */
	OUTCOME_COUNT,
};

enum ran {
	RAN_NO,
	RAN_YES,
	RAN_UNKNOWN
};

const char *outcome_word(enum outcome outcome);
enum outcome outcome_from_word(const char *word); /* OUTCOME_NONE when unknown */
const char *ran_word(enum ran ran);

/* Whether it says something about the program alone: nobody's trouble, no clock, no limit. */
bool outcome_is_fact(enum outcome outcome);

/* From mild to strict: of two the larger counts. */
enum policy_decision {
	POLICY_ALLOW,
	POLICY_OBSERVE,
	POLICY_ASK, /* a person is to say */
	POLICY_DENY
};
const char *policy_decision_word(enum policy_decision decision);

struct policy_finding {
	const char *rule; /* "python.import.denied" */
	const char *
		severity; /* "deny", "ask" or "observe": what this finding does under this policy */
	uint32_t line;    /* from 1 */
	uint32_t column;  /* from 1, in code points */
	const char *text; /* what stands there, at most 120 bytes, valid UTF-8 */
	const char *message;
	const char *hint; /* or NULL */
};

struct policy_verdict {
	enum policy_decision decision;
	const char *name;   /* of the policy */
	const char *digest; /* "sha256:…" of the policy and its rules */
	struct policy_finding *findings;
	size_t finding_count;
};

struct job_artifact {
	const char *path;
	struct bytes data;
	uint32_t mode;
	char sha256[HASH_TEXT_LEN + 1];
	bool masked; /* in a copy that is to be stored: the hash is not that of `data` */
};

struct job_skipped {
	const char *path;
	const char *reason;
};

struct job_output_error {
	const char *pointer;
	const char *schema_pointer;
	const char *message;
};

struct job_step {
	const char *step;  /* "read", "policy.verdict", "worker.taken", "limit.output" … */
	const char *phase; /* contract policy cache queue execute output record */
	int64_t t_us;      /* since the request was whole */
	bool ok;
	const char *note; /* or NULL */
};

struct job_metrics {
	int64_t queue_us, policy_us, start_us, exec_us, collect_us, record_us, total_us;
	int64_t cpu_user_us, cpu_sys_us, memory_peak_bytes, disk_bytes;
	int64_t ctx_voluntary, ctx_forced;
	bool warm;
};

/* A captured stream.  `tail` is filled only when it was truncated with on_output_limit "truncate". */
struct job_stream {
	struct bytes head;
	struct bytes tail;
	size_t before_tail; /* bytes in front of the tail that are there, and not part of it */
	uint64_t total;     /* bytes read from the program */
	bool truncated;
};

/* A system call that it was refused and that tells what it wanted. */
struct job_refused {
	const char *call; /* "socket" */
	const char *kind; /* "AF_INET", or NULL */
	const char *wish; /* "open an internet socket" */
	uint32_t count;
	int64_t first_us; /* since the program began */
	bool ended;       /* the run was ended for it */
};

struct job_result {
	/* A begun record that is on its way reads these; what is told again has them of its own. */
	char run_id[RUN_ID_LEN + 1];
	char code_hash[HASH_TEXT_LEN + 1];
	char input_hash[HASH_TEXT_LEN + 1];
	const char *replay_of; /* the run that it repeats, or NULL */
	enum outcome outcome;
	enum ran ran;
	const char *reason; /* one sentence */
	bool has_exit_code;
	int exit_code;
	int signal; /* 0: none */
	struct job_stream out;
	struct job_stream errout;
	const struct value *value;    /* parsed JSON output, or NULL */
	const struct value *error;    /* {type,message,line,column,frames,text} or NULL */
	const struct value *evidence; /* map or NULL */
	const struct job_refused *refused;
	size_t refused_count;
	uint32_t refused_others;   /* calls of kinds that found no room */
	const struct value *files; /* what it opened: map or NULL */
	struct job_output_error *output_errors;
	size_t output_error_count;
	bool has_verdict;
	struct policy_verdict verdict;
	struct job_artifact *artifacts;
	size_t artifact_count;
	struct job_skipped *skipped;
	size_t skipped_count;
	struct job_metrics metrics;
	struct job_limits limits;
	const struct value *enforced_by;  /* map: limit name -> word */
	const struct value *runtime;      /* {name, version, digest} or NULL */
	char cached_from[RUN_ID_LEN + 1]; /* the run that this is the result of; "": its own */
	const struct value
		*approval; /* {decision, by, act, ...} of one that a person was asked about */
	struct job_step *steps;
	size_t step_count;
	uint64_t attempt;           /* of its task, since that began or was ok; 0: it has none */
	const struct value *budget; /* what is left, or NULL: nothing is bounded */
	uint64_t masks;             /* secrets that were masked in what is stored */
};

/*
 * Whether the `id` that it was asked under is used up: some of it ran, or may have, or the language
 * refuses it.  After anything else the same request may be sent again and is then done.
 */
bool job_result_is_spent(const struct job_result *result);

/* The result map of docs/PROTOCOL.md.  NULL when the arena is full. */
struct value *job_result_to_value(struct arena *arena, const struct job_result *result);

/*
 * Back from that map, or from a record of the store, as far as it tells of the program: not its id,
 * hashes, metrics and steps.  Keeps `map`.  0, or -1: no memory, or it is no result.
 */
int job_result_from_value(struct arena *arena, const struct value *map,
	struct job_result *ret_result, struct err *err);

/* Parts of it, in the same form, for the store and other answers. */
struct value *job_limits_to_value(struct arena *arena, const struct job_limits *limits);
struct value *policy_verdict_to_value(struct arena *arena, const struct policy_verdict *verdict);

/* A verdict again from that form. */
int policy_verdict_from_value(struct arena *arena, const struct value *value,
	struct policy_verdict *ret_verdict, struct err *err);
