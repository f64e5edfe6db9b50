/*
 * One run, as typed structs: the request (job_spec) and the result (job_result).  Functions here
 * convert both to and from values, whose shapes are those of docs/PROTOCOL.md.
 *
 * A job_spec is complete: every field has been checked and every limit has a number.  Both structs
 * live in the request's arena and point into it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/err.h"
#include "proto/value.h"

struct schema;
struct job_network;

#define RUN_ID_LEN        26 /* a ULID */
#define JOB_TOOL_NAME_MAX 64
#define HASH_TEXT_LEN     71 /* "sha256:" and 64 hex digits */

/* All limits.  X(name on the wire, meaning) */
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
	X(display_bytes, "all that it displays, as it is sent")          \
	X(artifact_bytes, "all artifacts together")                      \
	X(artifact_count, "how many artifacts come back")                \
	X(open_files, "descriptors that one process may have open")      \
	X(calls, "calls of tools in all")                                \
	X(calls_at_once, "calls of tools that its client has at a time") \
	X(call_bytes, "arguments of one call, and its result")           \
	X(call_ms, "one call of a tool, in milliseconds")                \
	X(calls_ms, "time in which a call waits, in milliseconds")

#define JOB_LIMIT_COUNT_ONE(name, meaning) +1
enum {
	JOB_LIMIT_COUNT = 0 JOB_LIMITS(JOB_LIMIT_COUNT_ONE)
};
#undef JOB_LIMIT_COUNT_ONE

/* Each by its name, or all of them in a loop: each[i] is the one called job_limit_names[i]. */
struct job_limits {
	union {
		struct {
#define JOB_LIMIT_FIELD(name, meaning) uint64_t name;
			JOB_LIMITS(JOB_LIMIT_FIELD)
#undef JOB_LIMIT_FIELD
		};
		uint64_t each[JOB_LIMIT_COUNT];
	};
};

extern const char *const job_limit_names[JOB_LIMIT_COUNT];

/* Makes the limits consistent: reduces file_bytes to disk_bytes. */
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
	TRACE_FILES, /* the steps, and the files that the program opens */
	TRACE_OFF
};
/* How a program finds the tools that its client offers. */
enum job_tools_as {
	TOOLS_AS_MODULE,
	TOOLS_AS_FUNCTIONS, /* also as functions of the program */
	TOOLS_AS_ASYNC,     /* also as functions of the program that are awaited */
};
enum job_cache {
	CACHE_OFF,
	CACHE_USE,    /* use a cached result if there is one; else run, and cache the result */
	CACHE_REFRESH /* always run, and replace the cached result */
};

/* A function of the client that the program may call. */
struct job_tool {
	const char *name;
	const struct value *params; /* the map `properties` of its input schema, or NULL */
	const struct schema *input;
	const struct schema *output; /* NULL: any JSON */
	uint64_t timeout_ms;         /* 0: as the limit call_ms */
	uint64_t calls;              /* 0: as the limit calls */
	bool effects;                /* each call is durably recorded before the client sees it */
};

struct job_spec {
	const char *id; /* the request's `id`, which the caller chose, or NULL */
	/* the run id that the caller asks for, or NULL; not stored with the request */
	const char *run_id;
	uint64_t from;        /* the state of the session that it begins in; 0: where it stands */
	const char *session;  /* the session that it is a cell of, or NULL */
	const char *language; /* as the caller sent it; the pool checks that the runtime exists */
	struct bytes code;
	const char *entrypoint;
	struct bytes *args;
	size_t arg_count;
	struct bytes input; /* for stdin: the bytes of `stdin`, or `input` as JSON text */
	bool has_input;
	struct job_input_file *files;
	size_t file_count;
	struct job_pair *env;
	size_t env_count;
	struct job_limits limits;
	const struct value *limits_asked; /* the limits in the request, or NULL */
	enum job_on_output_limit on_output_limit;
	const char **artifact_globs;
	size_t artifact_glob_count;
	const char **packages; /* names of package sets, in their order */
	size_t package_count;
	bool has_packages;  /* the request names them, or an empty list; else: the default ones */
	const char *policy; /* NULL: the default */
	enum job_output output;
	const struct value *schema;         /* NULL, or the JSON Schema for the output */
	const struct schema *output_schema; /* the same, compiled */
	const char *task;
	const char *agent;
	struct job_pair *labels;
	size_t label_count;
	const struct job_network *network; /* job_network.h; NULL: it has none */
	const struct value *network_asked; /* the same as it was asked for, or NULL */
	enum job_trace trace;
	enum job_cache cache;
	bool deterministic; /* random numbers, clock and hashes start the same in each run */
	const struct value *tools_asked; /* the list of tools in the request, or NULL */
	struct job_tool *tools;
	size_t tool_count;
	enum job_tools_as tools_as;
	bool atomic;  /* a cell that does not end well is undone */
	bool display; /* collect the value of the last expression and what it displays */
	bool stream;
	bool announce; /* send the run id as soon as it is known */
	bool detach;
	struct bytes *secrets; /* masked in all that is stored; never stored themselves */
	size_t secret_count;   /* number of secrets; in a stored copy, too */
	uint64_t masks;        /* in a copy for the store: how many places were masked */
	uint64_t
		masks_unseen; /* of these, in what an approver has to see: code, args, files, tools, hosts */
};

/* Why a request was refused: the key, a stable word, a sentence.  All texts are in the arena. */
struct job_refusal {
	const char *pointer; /* JSON Pointer, "" for the whole; a missing key: where it would be */
	/*
	 * missing, unknown_key, type, value, range, too_long, too_short, path, nul, duplicate,
	 * conflict, schema, work, blob
	 */
	const char *reason;
	const char *message; /* begins with the pointer, so that it can be shown alone */
};

/* The file name of a program whose request has no `entrypoint`. */
struct job_entrypoint {
	const char *language;
	const char *file;
};

/* A content that the client sent earlier with blob.put. */
struct job_blob {
	const char *sha256;
	struct bytes data;
};

/* Defaults and ceilings for limits, from the configuration. */
struct job_bounds {
	struct job_limits standard; /* for limits that the request does not have */
	struct job_limits most;     /* above these the request is refused with "range" */
	uint64_t code_bytes;        /* ceilings on the parts of a request */
	uint64_t input_bytes;
	uint64_t files_bytes;
	uint64_t schema_bytes;
	const struct job_entrypoint
		*entrypoints;         /* ends with a NULL language; before those of job_spec.c */
	const struct job_blob *blobs; /* blobs that files may refer to */
	size_t blob_count;
};

/*
 * Checks the params of `run` and `check` and fills *ret_spec.  Returns 0; 1 when the request is
 * refused (*ret_refusal has the reason); -1 without memory.  An unknown key is a reason to refuse.
 */
int job_spec_from_value(struct arena *arena, const struct value *params,
	const struct job_bounds *bounds, struct job_spec *ret_spec, struct job_refusal *ret_refusal,
	struct err *err);

/* All errors of a request that one reading can find. */
#define JOB_REFUSALS_MAX 64
struct job_refusals {
	struct job_refusal items[JOB_REFUSALS_MAX];
	size_t count;
	bool more; /* there were more than these */
};

/*
 * As job_spec_from_value(), but adds all errors to *refusals, for clients that want to fix all at
 * once.  It checks the content of a key only when the key has the right shape.  Returns 0, or -1
 * without memory.
 */
int job_spec_refusals(struct arena *arena, const struct value *params,
	const struct job_bounds *bounds, struct job_refusals *refusals, struct err *err);

/* Makes the params of `run` again, for the store.  They have the limits in force. */
struct value *job_spec_to_value(struct arena *arena, const struct job_spec *spec);

/*
 * code_hash covers the program's bytes.  input_hash covers a length-prefixed form of stdin, files,
 * args and env.
 */
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
	OUTCOME_BUSY, /* the queue is full, or no worker was free in time */
	OUTCOME_SANDBOX_ERROR,
	OUTCOME_LOST,
	/* by the contract: answered as bad_request, and recorded so that attempts are counted */
	OUTCOME_REFUSED,
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
const char *tools_as_word(enum job_tools_as as);

/* Whether the outcome follows from the program alone, not from a failure, the clock or a limit. */
bool outcome_is_fact(enum outcome outcome);

/* In ascending order of strictness: of two decisions the larger applies. */
enum policy_decision {
	POLICY_ALLOW,
	POLICY_OBSERVE,
	POLICY_ASK, /* a person must decide */
	POLICY_DENY
};
const char *policy_decision_word(enum policy_decision decision);

struct policy_finding {
	const char *rule; /* "python.import.denied" */
	const char *
		severity; /* "deny", "ask" or "observe": what this finding does under this policy */
	uint32_t line;    /* from 1 */
	uint32_t column;  /* from 1, in code points */
	const char *text; /* the text at that place, at most 120 bytes, valid UTF-8 */
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
	bool masked; /* in a copy for the store: `data` is masked, so the hash does not match it */
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
	int64_t t_us;      /* since the whole request had arrived */
	bool ok;
	const char *note; /* or NULL */
};

struct job_metrics {
	int64_t queue_us, policy_us, start_us, exec_us, collect_us, record_us, total_us;
	int64_t cpu_user_us, cpu_sys_us, memory_peak_bytes, disk_bytes;
	int64_t ctx_voluntary, ctx_forced;
	bool warm;
};

/*
 * A captured stream.  `tail` is set only when on_output_limit is "truncate" and the stream was
 * truncated.
 */
struct job_stream {
	struct bytes head;
	struct bytes tail;
	size_t before_tail; /* readable bytes before `tail` that are not part of it */
	uint64_t total;     /* bytes read from the program */
	bool truncated;
};

/* A system call that the jail refused to the program, and what the call was meant to do. */
struct job_refused {
	const char *call; /* "socket" */
	const char *kind; /* "AF_INET", or NULL */
	const char *wish; /* "open an internet socket" */
	uint32_t count;
	int64_t first_us; /* since the program started */
	bool ended;       /* the run was ended because of it */
};

struct job_result {
	/*
	 * The recorder may still read these for a begun row.  A result that is returned again has
	 * its own.
	 */
	char run_id[RUN_ID_LEN + 1];
	char code_hash[HASH_TEXT_LEN + 1];
	char input_hash[HASH_TEXT_LEN + 1];
	const char *replay_of; /* the run of which this is a replay, or NULL */
	enum outcome outcome;
	enum ran ran;
	const char *reason; /* one sentence */
	bool has_exit_code;
	int exit_code;
	int signal; /* 0: none */
	struct job_stream out;
	struct job_stream errout;
	const struct value *display;  /* list of what was displayed (job_display.h), or NULL */
	bool display_truncated;       /* something is missing at its end, because of a limit */
	bool display_broken;          /* ... because the program sent what cannot be read */
	const struct value *value;    /* parsed JSON output, or NULL */
	const struct value *error;    /* {type,message,line,column,frames,text} or NULL */
	const struct value *evidence; /* map or NULL */
	const struct job_refused *refused;
	size_t refused_count;
	uint32_t refused_others;         /* refused calls for which there was no row */
	const struct value *files;       /* the files that the program opened: map or NULL */
	const struct value *connections; /* of a run with a network: list or NULL */
	uint64_t connections_others;     /* connections for which there was no row */
	uint64_t connections_others_bytes;
	bool connections_lost;     /* the process that makes them ended before it told all */
	const struct value *calls; /* of tools: map; NULL: none were offered */
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
	const struct value *enforced_by; /* map: limit name -> word */
	const struct value *runtime;     /* {name, version, digest, packages} or NULL */
	const struct value *session;     /* of a cell: {id, cell, state, ...}; else NULL */
	/* the run whose cached result this is; "": not from the cache */
	char cached_from[RUN_ID_LEN + 1];
	const struct value
		*approval; /* {decision, by, act, ...} when the run needed a person's approval */
	struct job_step *steps;
	size_t step_count;
	/* number of this attempt since its task began or last was ok; 0: no task */
	uint64_t attempt;
	const struct value *budget; /* the remaining budget; NULL: no budget applies */
	uint64_t masks;             /* how many places were masked in the stored record */
};

/*
 * Whether the request's `id` is used up: the program ran, or may have run, or has a syntax error.
 * After any other result the client may send the same request again, and the daemon runs it.
 */
bool job_result_is_spent(const struct job_result *result);

/* Makes the result map of docs/PROTOCOL.md.  NULL when the arena is full. */
struct value *job_result_to_value(struct arena *arena, const struct job_result *result);

/*
 * Reads a result from that map or from a record of the store.  It reads the fields about the
 * program, not the id, hashes, metrics and steps.  The result points into `map`.  Returns 0, or -1:
 * no memory, or not a result.
 */
int job_result_from_value(struct arena *arena, const struct value *map,
	struct job_result *ret_result, struct err *err);

/* Make parts of that map, for the store and other answers. */
struct value *job_limits_to_value(struct arena *arena, const struct job_limits *limits);
struct value *policy_verdict_to_value(struct arena *arena, const struct policy_verdict *verdict);

/* Reads a verdict from its value form. */
int policy_verdict_from_value(struct arena *arena, const struct value *value,
	struct policy_verdict *ret_verdict, struct err *err);
