/*
 * A client of ced in one header and one source file.  It needs libc and msgpack-c.
 *
 * There are two ways to use it, also on the same connection:
 *
 *   ced_run(), ced_call()  ask and wait for the answer.  What happens meanwhile goes to a watch.
 *   ced_ask(), ced_step()  never wait.  The owner polls ced_fd() for ced_events(), calls ced_step(),
 *                          and gets answers and notifications through its handlers.
 *
 * Threads: a client and all that belongs to it is used by one thread at a time.  Different clients
 * may be used by different threads.  There is no global state.  Nothing here prints or exits, and no
 * signal is raised or handled.
 *
 * Ownership: what a function gets is borrowed for the call, unless its comment says "keeps" (until a
 * named moment) or "gives" (it is yours; release it with the named function).  A `struct ced_value`
 * owns nothing.
 *
 * What comes from the daemon is checked before it is used: bytes that are no message of the protocol
 * end the connection with CED_BROKEN.
 *
 * Functions that can fail return 0, or -1 with *ret_error.  `ret_error` may be NULL.
 */
#ifndef CED_H
#define CED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- values -------------------------------------------------------------------------------- */

/*
 * One msgpack object, as its bytes: a param, a result, or a part of one.  `len` is 0 when there is
 * none.  It points into memory of somebody else: into an answer, or into the client for as long as a
 * handler runs.
 */
struct ced_value {
	const char *bytes;
	size_t len;
};

enum ced_type {
	CED_NONE, /* there is no object, or it is broken */
	CED_NIL,
	CED_BOOL,
	CED_INT, /* see ced_int() and ced_uint() */
	CED_REAL,
	CED_TEXT,
	CED_BYTES,
	CED_LIST,
	CED_MAP,
	CED_EXTENSION
};

/* The readers accept a value that is absent or of another type; each says what it returns then. */
enum ced_type ced_type(struct ced_value value);

/* The value of a key; absent when `map` is no map or lacks the key. */
struct ced_value ced_get(struct ced_value map, const char *key);

/* Follows a JSON Pointer: ced_find(result, "/session/state"), ced_find(result, "/artifacts/0"). */
struct ced_value ced_find(struct ced_value value, const char *pointer);

size_t ced_count(struct ced_value value); /* items of a list, entries of a map; else 0 */
struct ced_value ced_at(struct ced_value list, size_t index);

/*
 * All items of a list one after another, or all keys and values of a map in turns:
 *
 *	struct ced_value items = ced_items(list), item;
 *	while (ced_next(&items, &item)) ...
 */
struct ced_value ced_items(struct ced_value value);
bool ced_next(struct ced_value *items, struct ced_value *ret_item);

bool ced_bool(struct ced_value value, bool otherwise);
int64_t ced_int(struct ced_value value, int64_t otherwise);    /* an int that fits */
uint64_t ced_uint(struct ced_value value, uint64_t otherwise); /* an int that is not negative */
double ced_real(struct ced_value value, double otherwise);     /* also of an int */

/*
 * The bytes of a text or of bytes, without a NUL at their end.  NULL and 0 for another type.  stdout
 * and stderr are text if they are UTF-8, and bytes otherwise.
 */
const char *ced_text(struct ced_value value, size_t *ret_len);

/* Whether it is exactly this text. */
bool ced_is(struct ced_value value, const char *text);

/* Copies a text with a NUL at its end, as much as fits.  "" for another type.  Returns `ret_text`. */
const char *ced_copy_text(struct ced_value value, char *ret_text, size_t size);

/* ---- writing values ------------------------------------------------------------------------ */

/*
 * Bytes that grow.  Begin with `= { 0 }`; end with ced_buffer_done().  `failed` stays set when memory
 * ran out or a JSON text was wrong, so one check at the end is enough.
 *
 * ced_buffer_write() has the form that msgpack_packer_init() of msgpack-c wants.
 */
struct ced_buffer {
	char *bytes;
	size_t len, size;
	bool failed;
};

int ced_buffer_write(void *context, const char *bytes, size_t len);
void ced_buffer_done(struct ced_buffer *buffer); /* empties it; a second call is harmless */
struct ced_value ced_buffer_value(const struct ced_buffer *buffer);

/* Appends a JSON text as msgpack.  -1 when it is not JSON, nests too deep or finds no memory. */
int ced_json(struct ced_buffer *buffer, const char *text);

void ced_put_map(struct ced_buffer *buffer, size_t count); /* `count` keys and values must follow */
void ced_put_list(struct ced_buffer *buffer, size_t count);
void ced_put_text(struct ced_buffer *buffer, const char *text); /* NULL: nil */
void ced_put_bytes(struct ced_buffer *buffer, const void *bytes, size_t len);
void ced_put_int(struct ced_buffer *buffer, int64_t number);
void ced_put_bool(struct ced_buffer *buffer, bool is_true);
void ced_put_value(struct ced_buffer *buffer, struct ced_value value); /* nil when absent */

/* ---- what goes wrong ------------------------------------------------------------------------ */

enum ced_failure {
	CED_FINE,
	CED_REFUSED,    /* the daemon has answered with an error: `word` and the rest of it */
	CED_NO_DAEMON,  /* nobody listens on the socket */
	CED_NO_RIGHT,   /* this user may not use the socket */
	CED_TIMED_OUT,  /* the time that the caller gave is over */
	CED_LOST,       /* the connection has ended; only ced_close() is left */
	CED_BROKEN,     /* what came is no message of the protocol; only ced_close() is left */
	CED_STOPPED,    /* a function of the caller ended the call */
	CED_WRONG_CALL, /* params that cannot be sent, for instance wrong JSON */
	CED_NO_MEMORY,
	CED_SYSTEM /* a system call failed: `sys_errno` */
};

/*
 * Why something failed.  A program that failed is a result and no error.  The texts are cut where
 * they are longer.
 */
struct ced_error {
	enum ced_failure failure;
	int sys_errno;          /* or 0 */
	int64_t retry_after_ms; /* CED_REFUSED as "busy": when to come back; else 0 */
	char word[32];          /* CED_REFUSED: bad_request, busy, not_found, ... */
	char pointer[256];      /* the key that is wrong, or "" */
	char reason[32];        /* or "" */
	char run_id[32];        /* the record of a refused run, or "" */
	char message[512];      /* a sentence for people */
};

/* ---- the connection ------------------------------------------------------------------------- */

struct ced_client;

/*
 * What a client tells its owner.  A function that returns other than 0 ends this ced_step(); what has
 * come behind is passed on by the next one, before which no poll() speaks of it: see ced_pending().
 */
struct ced_handlers {
	void *context;
	/* A notification that no ced_call() or ced_run() takes.  `method` ends with a NUL. */
	int (*on_notice)(void *context, const char *method, struct ced_value params);
	/* The answer to a ced_ask().  Exactly one of `error` and `result` is there. */
	int (*on_answer)(
		void *context, uint32_t msgid, struct ced_value error, struct ced_value result);
};

/*
 * Where the daemon is: `asked`, CED_SOCKET, that of a private daemon of this user if it exists, or the
 * host's.  Returns -1 when the path has no room.
 */
int ced_socket_path(const char *asked, char *ret_path, size_t size);

/*
 * Connects.  `path` may be NULL, see ced_socket_path().  A daemon that does not accept the connection
 * within `timeout_ms` (0: as long as it takes) is CED_TIMED_OUT.  Gives; close it with ced_close().
 */
struct ced_client *ced_connect(const char *path, int64_t timeout_ms, struct ced_error *ret_error);

/*
 * A client over a connected stream socket, which it keeps until ced_close() and then closes.  With -1
 * there is no socket: the owner moves the bytes with ced_feed(), ced_unsent() and ced_sent().
 */
struct ced_client *ced_attach(int fd, struct ced_error *ret_error);

/* Accepts NULL.  The daemon cancels the runs of a client that has gone, apart from detached ones. */
void ced_close(struct ced_client *client);

/* Keeps what `handlers` points to until the next call or ced_close(). */
void ced_handle(struct ced_client *client, const struct ced_handlers *handlers);

/*
 * Sends a request, or keeps it until the daemon reads.  Absent `params` are an empty map.  Its answer
 * has *ret_msgid, which may be NULL.
 */
int ced_ask(struct ced_client *client, const char *method, struct ced_value params,
	uint32_t *ret_msgid, struct ced_error *ret_error);

/* Asks for the end of a request of this connection; the answer to that request says how it ended. */
int ced_cancel(struct ced_client *client, uint32_t msgid, struct ced_error *ret_error);

/*
 * Answers a `run.call`.  With `error_text` the call has failed, else `result` is its answer.  If the
 * daemon refuses that, the client answers again with an error that says why.
 */
int ced_answer_call(struct ced_client *client, struct ced_value call, struct ced_value result,
	const char *error_text, struct ced_error *ret_error);

int ced_fd(const struct ced_client *client);

/* Whether a whole message has been read and not been passed on: step before you poll. */
bool ced_pending(struct ced_client *client);

short ced_events(const struct ced_client *client); /* POLLIN, and POLLOUT when something waits */

/*
 * Sends and reads what is possible, and calls the handlers.  If nothing is, it waits `timeout_ms` for
 * it (0: not at all, -1: as long as it takes) or until a signal comes.  1: something happened; 0:
 * nothing did; -1: CED_LOST, CED_BROKEN, CED_NO_MEMORY or CED_SYSTEM.  A handler may call ced_ask(),
 * ced_cancel() and ced_answer_call(), and no function that steps, waits or closes.
 */
int ced_step(struct ced_client *client, int timeout_ms, struct ced_error *ret_error);

/* For an owner that moves the bytes itself: takes what has come, and calls the handlers. */
int ced_feed(struct ced_client *client, const void *bytes, size_t len, struct ced_error *ret_error);
const char *ced_unsent(const struct ced_client *client, size_t *ret_len);
void ced_sent(struct ced_client *client, size_t len);

/* ---- asking and waiting --------------------------------------------------------------------- */

/* An answer.  Begin with `= { 0 }`.  The values live until ced_answer_done(). */
struct ced_answer {
	struct ced_value result;
	struct ced_value error; /* CED_REFUSED: the whole error object */
	char *memory;
};

void ced_answer_done(struct ced_answer *answer); /* a second call is harmless */

/* What a caller wants to hear while it waits, and for how long.  All of it may be 0. */
struct ced_watch {
	void *context;
	/*
	 * A notification about this call: run.started, run.output, run.display, run.parked, run.call,
	 * run.call_asked, run.call_over.  Other than 0: the call is cancelled and ends with CED_STOPPED.
	 */
	int (*on_event)(void *context, const char *method, struct ced_value params);
	/* Before each wait, at least four times a second and after each signal.  As above. */
	int (*on_turn)(void *context);
	int64_t timeout_ms; /* 0: as long as it takes.  Later the call is cancelled: CED_TIMED_OUT */
	int64_t busy_ms;    /* for so long a request that is refused as busy is sent again */
};

/*
 * Calls a method and waits.  0: answer->result is there.  CED_REFUSED: answer->error is.  `watch` may
 * be NULL.  Answers to other requests and notifications about other runs go to the handlers.
 */
int ced_call(struct ced_client *client, const char *method, struct ced_value params,
	const struct ced_watch *watch, struct ced_answer *answer, struct ced_error *ret_error);

/* The same with params as a JSON text, or NULL: ced_call_json(c, "runs.list", "{\"limit\": 3}", ...) */
int ced_call_json(struct ced_client *client, const char *method, const char *params,
	const struct ced_watch *watch, struct ced_answer *answer, struct ced_error *ret_error);

/* ---- runs ----------------------------------------------------------------------------------- */

struct ced_pair {
	const char *name, *value;
};

struct ced_limit {
	const char *name; /* wall_ms, memory_bytes, ... */
	int64_t value;
};

struct ced_file {
	const char *path;
	const void *data;
	size_t len;
	const char *blob; /* instead of data: the hash that blob.put gave */
	unsigned mode;    /* 0: the default */
};

/*
 * A function that a program may call.  It packs its result into `result` (ced_json(), ced_put_...)
 * and returns 0; or it puts an error's text there, in UTF-8 and at most 8192 characters of it, with
 * ced_buffer_write() and returns other than 0.
 * It runs inside ced_run() and must not use the client.
 */
struct ced_tool {
	const char *name;
	const char *description;
	const char *params_json; /* JSON Schema of the arguments; NULL: any */
	const char *result_json; /* JSON Schema of the result; NULL: any */
	bool effects;            /* it changes something */
	void *context;
	int (*call)(void *context, struct ced_value args, struct ced_buffer *result);
};

/* One run, or one cell of a session.  What is 0 is left out. */
struct ced_job {
	const char *language; /* NULL: python, or that of the session */
	const char *code;
	size_t code_len; /* 0: up to the NUL */
	const char *const *args;
	size_t arg_count;
	const struct ced_pair *env;
	size_t env_count;
	const void *stdin_bytes;
	size_t stdin_len;
	const char *input_json; /* instead of stdin: one JSON document */
	const struct ced_file *files;
	size_t file_count;
	const struct ced_limit *limits;
	size_t limit_count;
	const char *schema_json; /* JSON Schema of the output */
	const char *policy;
	const char *session;
	const char *id; /* the daemon runs it at most once */
	const char *run_id;
	const char *agent;
	const char *task;
	const struct ced_tool *tools;
	size_t tool_count;
	bool stream;  /* output comes as events */
	bool display; /* values, figures and tables are collected */
	bool detach;  /* the answer is {run_id}; see ced_wait() */
	/*
	 * A map with other params of `run`.  A value that is no whole map is CED_WRONG_CALL; an absent one
	 * is left out, so look at `failed` of the buffer that it comes from.
	 */
	struct ced_value more;
};

/* The params of a job as msgpack, to be sent with ced_ask() as `run`. */
int ced_job_params(
	const struct ced_job *job, struct ced_buffer *ret_params, struct ced_error *ret_error);

/*
 * Runs a job and waits for its result, calling its tools meanwhile.  A program that failed is a
 * result: ced_bool(ced_get(answer->result, "ok"), false).
 */
int ced_run(struct ced_client *client, const struct ced_job *job, const struct ced_watch *watch,
	struct ced_answer *answer, struct ced_error *ret_error);

/* Waits for a run that was detached. */
int ced_wait(struct ced_client *client, const char *run_id, const struct ced_watch *watch,
	struct ced_answer *answer, struct ced_error *ret_error);

/* Cancels a run by its name. */
int ced_cancel_run(struct ced_client *client, const char *run_id, struct ced_error *ret_error);

#define CED_ID_SIZE   27 /* an id of a run or a session, with its NUL */
#define CED_HASH_SIZE 72 /* the hash of a content, with its NUL */

/* Opens a session.  `more_json` has other params of session.open, or is NULL. */
int ced_session_open(struct ced_client *client, const char *language, const char *more_json,
	char ret_session[CED_ID_SIZE], struct ced_error *ret_error);
int ced_session_close(struct ced_client *client, const char *session, struct ced_error *ret_error);

/* Sends a content ahead; its hash is then the `blob` of files. */
int ced_blob_put(struct ced_client *client, const void *data, size_t len,
	char ret_hash[CED_HASH_SIZE], struct ced_error *ret_error);

#ifdef __cplusplus
}
#endif

#endif
