#include "daemon/request/run_calls.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/door/ceilings.h"
#include "daemon/door/conn.h"
#include "daemon/door/notification.h"
#include "daemon/loop/thread_work.h"
#include "daemon/policy/policy.h"
#include "daemon/record/recorder.h"
#include "daemon/request/call_approval.h"
#include "daemon/request/recorded_calls.h"
#include "daemon/request/request.h"
#include "daemon/request/stages.h"
#include "daemon/services.h"
#include "daemon/settings/config.h"
#include "proto/base/clock.h"
#include "proto/base/container.h"
#include "proto/base/log.h"
#include "proto/base/utf8.h"
#include "proto/fill.h"
#include "proto/job/call_room.h"
#include "proto/json.h"
#include "proto/schema/schema.h"

#define AT_ONCE     ((size_t)32 << 10)  /* bytes that are read here; more on a thread */
#define ARENA_BYTES ((size_t)128 << 20) /* of one call: its values take more than its bytes */
#define NODES_MAX   ((size_t)1 << 16)
/* Steps of schemas in one turn of the loop, for all calls: some milliseconds. */
#define CHECK_WORK  UINT64_C(20000)
#define NOTICE_MORE 8192
#define TEXT_MAX    1024                 /* of a message */
#define SPARE_BYTES ((uint64_t)64 << 10) /* for the notices that calls end */
#define CLIENT_GONE "the client that offered the tools does not read any more"
#define NO_ROOM     "the calls of this run hold more values and bytes than its record may"

enum call_state {
	CALL_READ,
	CALL_ASKED,
	CALL_WAITS,
	CALL_RECORDED,
	CALL_SENT,
	CALL_ANSWERED,
	CALL_OVER,
};

/* One row of the store, when a call is made or when it is over. */
struct call_row {
	struct recording recording;
	struct store_call call;
	bool pending;
};

struct run_call {
	struct list link;        /* in run_calls.all */
	struct list turn;        /* in run_calls.waiting */
	struct run_calls *calls; /* NULL: the request has ended; only rows are pending */
	struct arena arena;
	enum call_state state;
	uint32_t number;           /* as client and store know it */
	struct execution_call own; /* as the program does; without its body */
	uint64_t held;             /* bytes that are counted for its user */
	char *body;                /* name, NUL, arguments */
	size_t body_len;
	const char *name; /* NULL: none that could be one */
	const struct job_tool *tool;
	const char *rule; /* of the policy; NULL: it does not say */
	struct call_approval approval;
	const struct value *args;
	struct bytes kept_args; /* for the store */
	int64_t came_us, came_wall_us;
	struct timer *timer;
	bool active; /* counts for calls_at_once */
	bool is_new; /* the store has no row of it yet */
	/* its end: */
	const char *verdict; /* allowed, refused, denied */
	const char *code;    /* of its error; NULL: a result */
	const char *message;
	const char *fault; /* of a value that breaks its schema, without the place; or NULL */
	const struct value *data;
	const char *why;     /* for the client: it need not answer any more; or NULL */
	struct bytes answer; /* JSON, for the program */
	struct bytes kept_answer;
	uint64_t masks;
	uint64_t room; /* in the record, of what it keeps and run_calls.room does not count yet */
	struct call_answer reply;  /* of the client, while it is read */
	const char *reply_pointer; /* what was wrong with it; NULL: nothing */
	const struct value *row;   /* of the record that answers it; NULL: none does */
	bool is_long;              /* read on a thread */
	bool is_read;              /* private to the work on a thread */
	bool is_unchecked;         /* the turn has no work left for its schema */
	struct call_row made, over;
};

struct run_calls {
	struct request *request;
	struct list all;     /* calls that are not over, or with rows that are pending */
	struct list waiting; /* in the order of their arrival */
	uint32_t count;      /* of calls so far ... */
	uint32_t lost;       /* ... of which so many were not made, as they could not be recorded */
	uint32_t failed, denied, active, open;
	struct recorded_calls *recorded; /* they answer the calls; NULL: the client does */
	uint32_t repeated;               /* calls that they have answered */
	uint32_t asked;                  /* that wait for an approver */
	unsigned threads;                /* that work for a call */
	bool ended;
	uint64_t stored_bytes, masks;
	uint64_t room;     /* of what the record keeps: at most CALL_ROOM_MAX */
	uint32_t *by_tool; /* in the order of the spec; the last: unknown ones */
	bool dispatching;
	bool repeating; /* a thread looks in `recorded` */
};

/* ---- life ----------------------------------------------------------------------------------- */

struct run_calls *run_calls_new(struct request *request)
{
	struct run_calls *calls = calloc(1, sizeof(*calls));

	if (!calls)
		return NULL;
	calls->by_tool = calloc(request->spec.tool_count + 1, sizeof(*calls->by_tool));
	if (request->replayed && !request->asks_client)
		calls->recorded = recorded_calls_new(request->replayed);
	if (!calls->by_tool || (request->replayed && !request->asks_client && !calls->recorded)) {
		free(calls->by_tool);
		free(calls);
		return NULL;
	}
	calls->request = request;
	list_init(&calls->all);
	list_init(&calls->waiting);
	return calls;
}

static void call_let_go(struct run_call *call)
{
	const struct request *request = call->calls->request;

	ceilings_let_go(request->services->ceilings, request->caller.uid, call->held);
	call->held = 0;
}

/* Frees a call that nobody needs any more. */
static void call_settle(struct run_call *call)
{
	if (call->state != CALL_OVER || call->made.pending || call->over.pending)
		return;
	list_remove(&call->link);
	arena_done(&call->arena);
	free(call->body);
	free(call);
}

void run_calls_free(struct run_calls *calls)
{
	if (!calls)
		return;
	assert(!calls->threads && !calls->open);
	list_for_each(at, &calls->all) {
		struct run_call *call = container_of(at, struct run_call, link);

		list_remove(at); /* its rows are still to be written, and free it */
		call->calls = NULL;
	}
	recorded_calls_free(calls->recorded);
	free(calls->by_tool);
	free(calls);
}

/* ---- rows ----------------------------------------------------------------------------------- */

static void call_send(struct run_call *call);
static void call_wait_for_approver(struct run_call *call);
static void call_end(struct run_call *call);
static void calls_dispatch(struct run_calls *calls);

static uint64_t time_of(const struct run_call *call)
{
	uint64_t most = call->calls->request->spec.limits.call_ms;
	uint64_t own = call->tool->timeout_ms;

	return own && own < most ? own : most;
}

/* Of what is left of calls_ms: it leaves its client the time to answer, and takes half at least. */
static uint64_t time_to_decide(const struct run_call *call)
{
	const struct request *request = call->calls->request;
	const uint64_t waited_ms = (uint64_t)execution_waited_us(&request->execution) / 1000;
	const uint64_t most = request->spec.limits.calls_ms;
	const uint64_t left = most > waited_ms ? most - waited_ms : 0;
	const uint64_t answer = time_of(call);

	return left > 2 * answer ? left - answer : left / 2;
}

static void call_fail(struct run_call *call, const char *code, const char *message)
{
	call->code = code;
	call->message = message;
}

/* Whether the client expects to hear more of this call. */
static bool client_knows(const struct run_call *call)
{
	return call->state == CALL_SENT || call->approval.state >= CALL_ASK_WAITS;
}

/* The call has no row, so it is not made. */
static void call_lose(struct run_call *call)
{
	call->calls->lost++;
	call->why = client_knows(call) ? "failed" : NULL;
	call_fail(call, "failed", "the call could not be recorded, so it was not made");
	call->over.call.run_id = ""; /* there is no row to end */
	call_end(call);
}

/* Whether the call waits for its row, and for nothing else. */
static bool needs_row(const struct run_call *call)
{
	return call->state == CALL_RECORDED ||
	       (call->state == CALL_ASKED && call->approval.state == CALL_ASK_RECORDING);
}

static void on_made(struct recording *recording, const struct err *err)
{
	struct run_call *call = container_of(recording, struct run_call, made.recording);

	call->made.pending = false;
	if (err)
		log_event(LOG_LEVEL_ERROR, "call.not_recorded",
			LOG_STR("run", call->made.call.run_id), LOG_STR("why", err->text));
	if (!call->calls || !needs_row(call))
		call_settle(call);
	else if (err)
		call_lose(call);
	else if (call->state == CALL_ASKED)
		call_wait_for_approver(call);
	else
		call_send(call);
}

static void on_over(struct recording *recording, const struct err *err)
{
	struct run_call *call = container_of(recording, struct run_call, over.recording);

	call->over.pending = false;
	if (err)
		log_event(LOG_LEVEL_ERROR, "call.not_recorded",
			LOG_STR("run", call->over.call.run_id), LOG_STR("why", err->text));
	call_settle(call);
}

static void row_put(struct run_call *call, struct call_row *row, bool durable,
	void (*done)(struct recording *recording, const struct err *err))
{
	struct request *request = call->calls->request;

	row->call.run_id = arena_strdup(&call->arena, request->result.run_id);
	row->call.number = call->number;
	row->call.is_new = call->is_new;
	row->call.tool = call->name ? call->name : "";
	row->call.effects = call->tool && call->tool->effects;
	row->call.began_wall_us = call->came_wall_us;
	row->call.args = call->kept_args;
	row->call.rule = call->rule;
	if (!row->call.run_id)
		row->call.run_id = ""; /* its row is missing, which the end of the run reports */
	row->recording.kind = RECORDING_CALL;
	row->recording.durability = durable ? STORE_NOW : STORE_SOON;
	row->recording.call = &row->call;
	row->recording.done = done;
	row->pending = true;
	call->calls->stored_bytes += call->is_new ? call->kept_args.len : 0;
	call->is_new = false;
	recorder_put(request->services->recorder, &row->recording);
}

static void row_put_over(struct run_call *call)
{
	struct store_call *row = &call->over.call;

	row->is_over = true;
	row->verdict = call->verdict;
	row->code = call->code;
	row->result = call->kept_answer;
	row->took_us = clock_us() - call->came_us;
	row->approval = call_approval_json(&call->approval);
	call->calls->stored_bytes += call->kept_answer.len;
	row_put(call, &call->over, false, on_over);
}

/* ---- work on threads ------------------------------------------------------------------------ */

/* Whether `work` could be done here.  If not, the call is as it was before. */
static bool is_done_here(struct run_call *call, work_fn *work)
{
	const uint64_t masks = call->masks;
	const uint64_t room = call->room;

	call->is_long = call->is_unchecked = false;
	work(call);
	if (!call->is_unchecked)
		return true;
	call->is_read = false;
	call->masks = masks;
	call->room = room;
	call->code = call->message = call->fault = call->reply_pointer = NULL;
	call->data = NULL;
	call->answer = call->kept_answer = (struct bytes){ NULL, 0 };
	return false;
}

/*
 * Calls `work` here if it is short, else on a thread.  Then calls `done`, in the loop.  The request
 * stays as long as a thread works for one of its calls.
 */
static void call_work(struct run_call *call, size_t bytes, work_fn *work, work_fn *done)
{
	struct request *request = call->calls->request;
	struct services *services = request->services;

	call->is_read = false;
	call->is_long = !services->state->closing && (bytes > AT_ONCE || !is_done_here(call, work));
	services->state->examining++;
	call->calls->threads++;
	(void)request_patterns(request); /* held here, since threads do not count holders */
	if (call->is_long && thread_work_start(services->thread_work, request->caller.uid, work,
				     done, call) == 0)
		return;
	call->is_long = false;
	done(call);
}

/* Called first by each `done`.  `work` has not run yet if it was short, or if the daemon closes. */
static void call_work_done(struct run_call *call, work_fn *work)
{
	if (!call->is_read)
		work(call);
	call->calls->request->services->state->examining--;
	call->calls->threads--;
}

/* After a thread: the run may have ended meanwhile, and wait for this. */
static void calls_let_end(struct run_calls *calls)
{
	if (calls->ended && !calls->threads)
		stage_worker_ended(calls->request);
}

static struct redactor redactor_of(struct run_call *call)
{
	struct request *request = call->calls->request;
	struct redactor redactor;

	redactor_init(&redactor, request_patterns(request), request->masked.redactor.secrets,
		&call->arena);
	redactor_allow(&redactor, call->is_long ? REDACT_WORK_LONG : REDACT_WORK_SHORT);
	return redactor;
}

static const char withheld[] = "\"[withheld]\"";

/* The text for the store: as it is, or written again with secrets masked. */
static struct bytes masked_json(struct run_call *call, const struct value *value, struct bytes text)
{
	struct redactor redactor = redactor_of(call);
	const struct value *masked;

	if (call->calls->request->masked.withheld)
		return (struct bytes){ withheld, sizeof(withheld) - 1 };
	masked = redact_value(&redactor, value);
	call->masks += redactor.masks;
	if (masked != value && (!masked || json_write_text(&call->arena, masked, JSON_WRITE_BASE64,
						   SIZE_MAX / 2, &text, NULL) < 0))
		return (struct bytes){ withheld, sizeof(withheld) - 1 };
	call->room += call_room_of(text);
	return text;
}

/* The same of what is no JSON. */
static struct bytes masked_text(struct run_call *call, struct bytes text)
{
	struct redactor redactor = redactor_of(call);

	if (call->calls->request->masked.withheld)
		return (struct bytes){ NULL, 0 };
	(void)redact_bytes(&redactor, &text, 0);
	call->masks += redactor.masks;
	call->room += call_room_of(text);
	return text;
}

/* {code, message, data?} as JSON, for the program and for the store. */
static struct value *error_value(struct run_call *call)
{
	struct fill fill = fill_start(&call->arena);

	fill_text(&fill, "code", call->code);
	fill_text(&fill, "message", call->message ? call->message : "");
	fill_shared(&fill, "data", call->data);
	return fill_done(&fill);
}

/* Fails with ERR_INVALID if the record could not read the data again. */
static int put_error(struct run_call *call, struct err *err)
{
	static const char none[] = "{\"code\":\"failed\",\"message\":\"no memory\"}";
	const struct value *value = error_value(call);

	call->answer = (struct bytes){ none, sizeof(none) - 1 };
	call->kept_answer = call->answer;
	if (!value)
		return err_set(err, ERR_MEMORY, "no memory for an error");
	if (json_write_text(&call->arena, value, JSON_WRITE_BASE64 | JSON_WRITE_READABLE,
		    SIZE_MAX / 2, &call->answer, err) < 0)
		return -1;
	call->kept_answer = masked_json(call, value, call->answer);
	return 0;
}

static void write_error(struct run_call *call)
{
	(void)put_error(call, NULL);
}

/* ---- reading a call ------------------------------------------------------------------------- */

static const struct job_tool *tool_named(const struct job_spec *spec, const char *name)
{
	for (size_t i = 0; i < spec->tool_count; i++)
		if (strcmp(spec->tools[i].name, name) == 0)
			return &spec->tools[i];
	return NULL;
}

/* However many calls come in one turn, their checks take no longer than this together. */
static uint64_t *work_of_turn(const struct run_call *call)
{
	const struct services *services = call->calls->request->services;
	struct daemon_state *state = services->state;
	uint64_t now_ms = uv_now(services->loop);

	if (state->checks_turn_ms != now_ms) {
		state->checks_turn_ms = now_ms;
		state->checks_work = CHECK_WORK;
	}
	return &state->checks_work;
}

/* Whether the value breaks the schema: then the call fails with `code`, and *ret_pointer says where. */
static bool breaks_schema(struct run_call *call, const struct schema *schema,
	const struct value *value, const char *code, const char **ret_pointer)
{
	struct schema_report report = { NULL, 0, false };
	struct fill data = fill_start(&call->arena);
	struct err err = ERR_INIT;
	uint64_t most = SCHEMA_WORK_MAX;
	uint64_t *work = call->is_long ? &most : work_of_turn(call);

	if (!schema)
		return false;
	*ret_pointer = "";
	if (schema_check_within(&call->arena, schema, value, work, &report, &err) < 0) {
		call_fail(call, code, "no memory to compare it with its schema");
		return true;
	}
	call->is_unchecked = *work == 0;
	if (!report.count)
		return false;
	*ret_pointer = report.errors[0].pointer;
	fill_text(&data, "pointer", report.errors[0].pointer);
	fill_text(&data, "reason", report.errors[0].reason);
	call->data = fill_done(&data);
	call->fault = report.errors[0].message;
	call_fail(call, code,
		report.errors[0].pointer[0] ? arena_printf(&call->arena, "%s: %s",
						      report.errors[0].pointer, call->fault)
					    : call->fault);
	return true;
}

/* Only names of tools that are offered are known not to be secrets. */
static void mask_name(struct run_call *call)
{
	struct redactor redactor = redactor_of(call);

	(void)redact_text(&redactor, &call->name, 0);
	call->masks += redactor.masks;
	if (!call->name || call->calls->request->masked.withheld)
		call->name = "";
}

static void read_args(struct run_call *call, struct bytes text)
{
	const uint64_t most = call->calls->request->spec.limits.call_bytes;
	const struct json_bounds bounds = { most, CALL_DEPTH_MAX, NODES_MAX };
	const char *pointer = NULL;
	struct value *args = NULL;
	struct err err = ERR_INIT;

	if (text.len > most) {
		call_fail(call, "too_large",
			arena_printf(&call->arena, "the arguments have more than %llu bytes",
				(unsigned long long)most));
		return;
	}
	if (json_parse(&call->arena, text.data, text.len, &bounds, &args, &err) < 0) {
		call_fail(call, "bad_arguments", arena_strdup(&call->arena, err.text));
		call->kept_args = masked_text(call, text);
		return;
	}
	call->args = args;
	call->kept_args = masked_json(call, args, text);
	if (call->tool)
		(void)breaks_schema(call, call->tool->input, args, "bad_arguments", &pointer);
}

/* On a thread, or here: nothing but the call is changed. */
static void read_call(void *context)
{
	struct run_call *call = context;
	const struct job_spec *spec = &call->calls->request->spec;
	size_t name_len = strnlen(call->body, call->body_len);

	call->is_read = true;
	if (name_len < call->body_len && name_len <= JOB_TOOL_NAME_MAX &&
		utf8_is_valid(call->body, name_len)) {
		call->name = call->body;
		call->tool = tool_named(spec, call->name);
	}
	if (call->name)
		read_args(call,
			(struct bytes){ call->body + name_len + 1, call->body_len - name_len - 1 });
	if (call->name && !call->tool)
		mask_name(call);
	if (!call->tool)
		call_fail(call, "unknown_tool", "no tool of this name is offered");
	if (call->code)
		write_error(call);
}

/* Counts what a thread has read.  If the record has no room for it, it is left out and the call fails. */
static void call_take_room(struct run_call *call)
{
	struct run_calls *calls = call->calls;
	const uint64_t room = call->room;

	call->room = 0;
	if (room <= CALL_ROOM_MAX - calls->room) {
		calls->room += room;
		return;
	}
	if (call->state == CALL_READ)
		call->kept_args = (struct bytes){ NULL, 0 };
	else if (!call->row)
		call->reply_pointer = call->reply.error ? "/error" : "/result";
	call->data = NULL;
	call->fault = NULL;
	call_fail(call, "too_large", NO_ROOM);
	write_error(call);
}

/* ---- the end of a call ---------------------------------------------------------------------- */

static void tell_program(struct run_call *call)
{
	struct execution *execution = &call->calls->request->execution;

	if (call->calls->ended || !execution->worker)
		return;
	execution_answer(execution, &call->own, call->code ? JOB_RAISE : JOB_RETURN,
		call->answer.data, call->answer.len);
}

static void tell_client(struct run_call *call)
{
	const struct request *request = call->calls->request;
	struct buf message;

	if (!call->why || !request->conn)
		return;
	buf_init(&message, NOTICE_MORE);
	if (notification_write_call_over(
		    &message, request->result.run_id, call->number, call->why, NULL) == 0)
		conn_send_buf(request->conn, &message);
	buf_done(&message);
}

static void count_end(struct run_call *call)
{
	struct run_calls *calls = call->calls;

	calls->failed += call->code != NULL;
	calls->denied += strcmp(call->verdict, "denied") == 0;
	calls->repeated += call->row != NULL;
	calls->masks += call->masks;
	calls->active -= call->active;
	if (--calls->open == 0)
		execution_wait(&calls->request->execution, false);
}

/* Nobody is asked about the call any more. */
static void leave_asked(struct run_call *call)
{
	if (call->state != CALL_ASKED)
		return;
	call->calls->asked--;
	call_approval_leave(&call->approval);
}

/* The call has its answer, which goes to the program, and into the record. */
static void call_end(struct run_call *call)
{
	struct run_calls *calls = call->calls;

	assert(call->state != CALL_OVER);

	if (!call->verdict)
		call->verdict = call->state == CALL_ASKED ? "refused" : "allowed";
	leave_asked(call);
	call->state = CALL_OVER;
	timer_close(call->timer);
	call->timer = NULL;
	list_remove(&call->turn);
	if (call->code && !call->answer.data)
		write_error(call);
	tell_program(call);
	count_end(call);
	tell_client(call);
	call_let_go(call);
	if (!call->over.call.run_id)
		row_put_over(call);
	call_settle(call);
	calls_dispatch(calls);
}

static void call_refuse_it(struct run_call *call, const char *code, const char *message)
{
	call_fail(call, code, message);
	call->verdict = "refused";
	call_end(call);
}

/* ---- to the client -------------------------------------------------------------------------- */

static void on_call_late(void *owner)
{
	struct run_call *call = owner;

	call_fail(call, "timeout", "the client did not answer in time");
	call->why = "timeout";
	call_end(call);
}

/* A client that reads nothing would keep the notification, and lose its connection for it. */
static bool is_reachable(const struct run_call *call)
{
	const struct request *request = call->calls->request;

	return request->conn && !conn_is_closing(request->conn) &&
	       conn_unsent(request->conn) + call->body_len <
		       request->services->config->unsent_bytes / 2;
}

/*
 * Holds bytes for the caller if it has room for them and for the notices that may follow: a message
 * beyond its limit would close its connection.
 */
static bool hold_with_spare(const struct request *request, uint64_t bytes)
{
	struct ceilings *ceilings = request->services->ceilings;
	const uint32_t uid = request->caller.uid;

	if (!ceilings_hold(ceilings, uid, bytes + SPARE_BYTES))
		return false;
	ceilings_let_go(ceilings, uid, SPARE_BYTES);
	return true;
}

/* Whether the message fits into what its caller may hold; conn_send_buf() holds it then. */
static bool fits_caller(const struct request *request, const struct buf *message)
{
	if (!hold_with_spare(request, message->len))
		return false;
	ceilings_let_go(request->services->ceilings, request->caller.uid, message->len);
	return true;
}

/* Sends the message, or ends the call for which there is no room: then it returns false. */
static bool call_tell(struct run_call *call, struct buf *message, bool written)
{
	const struct request *request = call->calls->request;
	bool fits = written && fits_caller(request, message);

	if (fits)
		conn_send_buf(request->conn, message);
	else if (written)
		call_fail(call, "too_many", "there is no memory for more calls now");
	else
		call_fail(call, "failed", "the daemon has no memory for this call");
	buf_done(message);
	if (!fits)
		call_end(call);
	return fits;
}

static void call_send(struct run_call *call)
{
	const struct request *request = call->calls->request;
	const uint64_t most_ms = time_of(call);
	const struct call_notice notice = { .run_id = request->result.run_id,
		.call = call->number,
		.tool = call->name,
		.args = call->args,
		.deadline_us = clock_wall_us() + (int64_t)most_ms * 1000 };
	struct buf message;
	int written;

	if (!is_reachable(call)) {
		call_fail(call, "gone", CLIENT_GONE);
		call_end(call);
		return;
	}
	buf_init(&message, 2 * call->body_len + NOTICE_MORE);
	written = notification_write_call(&message, &notice, NULL);
	call->timer = timer_new(request->services->loop, most_ms, 0, on_call_late, call);
	call->state = CALL_SENT;
	(void)call_tell(call, &message, written == 0 && call->timer);
}

/*
 * The client hears that the call waits before any approver does.  Nobody is asked about a call that
 * the client would not get.
 */
static void call_wait_for_approver(struct run_call *call)
{
	const struct request *request = call->calls->request;
	const int64_t until_us = clock_wall_us() + (int64_t)time_to_decide(call) * 1000;
	const struct call_asked_notice notice = { .run_id = request->result.run_id,
		.call = call->number,
		.tool = call->name,
		.policy = policy_name(request->policy),
		.rule = call->rule,
		.until_us = until_us };
	struct buf message;
	int written;

	if (!is_reachable(call)) {
		call_refuse_it(call, "gone", CLIENT_GONE);
		return;
	}
	buf_init(&message, NOTICE_MORE);
	written = notification_write_call_asked(&message, &notice, NULL);
	if (call_tell(call, &message, written == 0))
		call_approval_wait(&call->approval, until_us);
}

/* ---- from the record of a run that is replayed ----------------------------------------------- */

/* Its arguments as they are stored, since those of the record are. */
static const struct value *args_as_stored(struct run_call *call)
{
	const struct json_bounds bounds = { call->kept_args.len, CALL_DEPTH_MAX, NODES_MAX };
	struct value *args = NULL;

	if (!call->masks && !call->calls->request->masked.withheld)
		return call->args;
	return json_parse(&call->arena, call->kept_args.data, call->kept_args.len, &bounds, &args,
		       NULL) < 0
		       ? call->args
		       : args;
}

/* The answer of the record, which passed its checks then. */
static void write_recorded(struct run_call *call)
{
	const uint64_t most = call->calls->request->spec.limits.call_bytes;
	const struct value *error = value_get(call->row, "error");
	const struct value *result = value_get(call->row, "result");

	call->is_read = true;
	if (error) {
		call->data = value_get(error, "data");
		const char *code = value_as_text(value_get(call->row, "code"));

		/* The call may outlive the record, until its row is written. */
		call_fail(call, code ? arena_strdup(&call->arena, code) : NULL,
			value_as_text(value_get(error, "message")));
		call->code = call->code ? call->code : "failed";
	} else if (!call->row || !result) {
		call->row = NULL;
		call_fail(call, "not_recorded",
			arena_printf(&call->arena,
				"the record that is replayed has no answer to this call of %s: it "
				"was not called with these arguments, or not so often",
				call->name));
	} else if (json_write_text(&call->arena, result, JSON_WRITE_COMPACT, most, &call->answer,
			   NULL) < 0) {
		call_fail(call, "too_large", "the recorded result is longer than call_bytes");
	} else {
		call->kept_answer = masked_json(call, result, call->answer);
	}
	call->verdict = call->row ? "recorded" : "refused";
	if (call->code)
		write_error(call);
}

static void answer_from_record(void *context)
{
	struct run_call *call = context;

	call->row = recorded_calls_take(call->calls->recorded, call->name, args_as_stored(call));
	write_recorded(call);
}

static void on_answered_from_record(void *context)
{
	struct run_call *call = context;
	struct run_calls *calls = call->calls;

	call_work_done(call, answer_from_record);
	call_take_room(call);
	calls->repeating = false;
	call_end(call);
	calls_let_end(calls);
}

/*
 * Its arguments may have to be compared with those of each recorded call, and only its text tells how
 * long the answer is: so both happen on a thread, always.  One call at a time, since each takes a row
 * away from the next.
 */
static void call_repeat(struct run_call *call)
{
	call->calls->repeating = true;
	call->state = CALL_ANSWERED;
	call_work(call, SIZE_MAX, answer_from_record, on_answered_from_record);
}

/* ---- its turn --------------------------------------------------------------------------------- */

/* The store gets its row first. */
static void call_start(struct run_call *call)
{
	bool durable = call->tool->effects;

	list_remove(&call->turn);
	call->calls->active++;
	call->active = true;
	if (call->calls->recorded) {
		call_repeat(call);
		return;
	}
	call->state = CALL_RECORDED;
	row_put(call, &call->made, durable, on_made);
	if (!durable)
		call_send(call);
}

/* Whether the program reads its answers; if not, it gets no more of them. */
static bool has_room(const struct run_calls *calls)
{
	const struct worker *worker = calls->request->execution.worker;

	return worker && worker_unsent(worker) <= calls->request->spec.limits.call_bytes;
}

static void calls_dispatch(struct run_calls *calls)
{
	const struct request *request = calls->request;
	struct list *first;

	if (calls->dispatching || calls->ended)
		return;
	calls->dispatching = true;
	while (request->known && calls->active < request->spec.limits.calls_at_once &&
		!calls->repeating && has_room(calls) && (first = list_first(&calls->waiting)))
		call_start(container_of(first, struct run_call, turn));
	calls->dispatching = false;
}

void run_calls_known(struct run_calls *calls)
{
	calls_dispatch(calls);
}

static void on_room(struct execution *execution)
{
	struct request *request = execution->owner;

	calls_dispatch(request->calls);
}

/* ---- its policy ------------------------------------------------------------------------------- */

static void call_deny(struct run_call *call, const char *message)
{
	call_fail(call, "denied", message ? message : "the call was denied");
	call->verdict = "denied";
	call_end(call);
}

static void call_admit(struct run_call *call)
{
	call->state = CALL_WAITS;
	list_append(&call->calls->waiting, &call->turn);
	calls_dispatch(call->calls);
}

/* What an approver has decided, or that none did in time. */
static void on_decided(struct call_approval *asked)
{
	struct run_call *call = container_of(asked, struct run_call, approval);
	const char *why = asked->reason ? asked->reason : "no reason was given";

	if (asked->decision == PARKING_APPROVED) {
		leave_asked(call);
		call_admit(call);
	} else if (asked->decision == PARKING_DENIED) {
		call->why = "denied";
		call_deny(call,
			arena_printf(&call->arena, "uid %u denied the call: %s", asked->by, why));
	} else {
		call->why = "timeout";
		call_refuse_it(call, "timeout", "no approver decided in time");
	}
}

static void call_ask(struct run_call *call)
{
	struct run_calls *calls = call->calls;

	if (calls->asked == CALLS_ASKED_MAX) {
		call_refuse_it(call, "too_many", "too many calls of the run wait for an approver");
		return;
	}
	calls->asked++;
	call->state = CALL_ASKED;
	call->approval.request = calls->request;
	call->approval.arena = &call->arena;
	call->approval.number = call->number;
	call->approval.tool = call->name;
	call->approval.rule = call->rule;
	call->approval.args = call->kept_args;
	call->approval.masks = call->masks + (call->kept_args.data == withheld);
	call->approval.effects = call->tool->effects;
	call->approval.decided = on_decided;
	call_approval_start(&call->approval);
	row_put(call, &call->made, true, on_made);
}

static void call_judge(struct run_call *call)
{
	const struct policy *policy = call->calls->request->policy;
	const struct policy_tool found = policy_of_tool(policy, call->name);

	call->rule = call_rule(&call->arena, &found);
	if (found.decision == POLICY_DENY)
		call_deny(call, arena_printf(&call->arena, "policy %s denies this tool (%s)",
					policy_name(policy), call->rule ? call->rule : "tools"));
	else if (found.decision == POLICY_ASK && !call->calls->recorded)
		call_ask(
			call); /* a recorded answer has no effect that a person could want to stop */
	else
		call_admit(call);
}

/* ---- from the program ----------------------------------------------------------------------- */

/* Counts the call for its tool.  False: the tool was called too often. */
static bool count_for_tool(struct run_call *call)
{
	const struct job_spec *spec = &call->calls->request->spec;
	size_t at = call->tool ? (size_t)(call->tool - spec->tools) : spec->tool_count;
	uint32_t count = ++call->calls->by_tool[at];

	return !call->tool || !call->tool->calls || count <= call->tool->calls;
}

static void on_call_read(void *context)
{
	struct run_call *call = context;
	struct run_calls *calls = call->calls;
	bool fits;

	call_work_done(call, read_call);
	call_take_room(call);
	fits = count_for_tool(call);
	if (calls->ended) {
		call->verdict = call->code ? "refused" : "allowed";
		if (!call->code)
			call_fail(call, "gone", "the run ended");
		call_end(call);
	} else if (call->code) {
		call_refuse_it(call, call->code, call->message);
	} else if (!fits) {
		call_refuse_it(call, "too_many", "this tool may not be called more often");
	} else {
		call_judge(call);
	}
	calls_let_end(calls);
}

/* A call that is not counted, since there is no room for it. */
static void refuse_at_once(
	struct execution *execution, const struct execution_call *own, const char *message)
{
	char text[256];

	cut_printf(text, sizeof(text), "{\"code\":\"too_many\",\"message\":\"%s\"}", message);
	execution_answer(execution, own, JOB_RAISE, text, strlen(text));
}

static struct run_call *call_new(struct run_calls *calls, const char *body, size_t len)
{
	struct request *request = calls->request;
	struct run_call *call;

	if (!hold_with_spare(request, len + sizeof(*call)))
		return NULL;
	call = calloc(1, sizeof(*call));
	if (call)
		call->body = malloc(len + 1);
	if (!call || !call->body) {
		free(call);
		ceilings_let_go(
			request->services->ceilings, request->caller.uid, len + sizeof(*call));
		return NULL;
	}
	memcpy(call->body, body, len);
	call->body[len] = '\0';
	call->body_len = len;
	call->held = len + sizeof(*call);
	call->calls = calls;
	call->came_us = clock_us();
	call->came_wall_us = clock_wall_us();
	call->is_new = true;
	list_init(&call->turn);
	arena_init(&call->arena, ARENA_BYTES);
	list_append(&calls->all, &call->link);
	return call;
}

static void on_call(struct execution *execution, const struct execution_call *own)
{
	struct request *request = execution->owner;
	struct run_calls *calls = request->calls;
	struct run_call *call;

	if (calls->count >= request->spec.limits.calls) {
		refuse_at_once(execution, own, "the run may make no more calls");
		return;
	}
	call = call_new(calls, own->body, own->len);
	if (!call) {
		refuse_at_once(execution, own, "there is no memory for more calls now");
		return;
	}
	call->number = ++calls->count;
	call->own = *own;
	call->own.body = NULL;
	if (calls->open++ == 0)
		execution_wait(execution, true);
	call_work(call, own->len, read_call, on_call_read);
}

void run_calls_prepare(struct execution *execution)
{
	execution->on_call = on_call;
	execution->on_room = on_room;
}

/* ---- the answer of the client --------------------------------------------------------------- */

/* Without its data, which the record cannot keep. */
static void fail_by_data(struct run_call *call, const char *code, const char *message)
{
	call->data = NULL;
	call->reply_pointer = "/error/data";
	call_fail(call, code, message);
	call->room = 0;
	write_error(call);
}

/* What a tool says.  A text of ours ends at U+0000, so that is written out as "\x00". */
static const char *text_of_failure(struct arena *arena, const struct value *message)
{
	static const char escape[] = "\\x00";
	const char *text = value_as_text(message);
	char *written;
	char *to;

	if (text || !value_is(message, VALUE_TEXT))
		return text;
	written = arena_calloc(arena, message->text.len + 1, sizeof(escape) - 1);
	to = written;
	for (size_t i = 0; written && i < message->text.len; i++)
		if (message->text.bytes[i])
			*to++ = message->text.bytes[i];
		else
			to = mempcpy(to, escape, sizeof(escape) - 1);
	return written;
}

static void read_failure(struct run_call *call, const struct value *error)
{
	const uint64_t most = call->calls->request->spec.limits.call_bytes;
	struct err err = ERR_INIT;

	call->data = value_get(error, "data");
	call_fail(call, "failed", text_of_failure(&call->arena, value_get(error, "message")));
	if (!call->message)
		call->message = "the tool failed";
	if (put_error(call, &err) < 0 && err.code == ERR_INVALID)
		fail_by_data(call, "bad_result",
			arena_printf(&call->arena, "the data of the error: %s", err.text));
	else if (call->answer.len > most + TEXT_MAX)
		fail_by_data(call, "too_large", "the data of the error are too large");
}

static void read_result(struct run_call *call, const struct value *result)
{
	const uint64_t most = call->calls->request->spec.limits.call_bytes;
	struct err err = ERR_INIT;
	const char *pointer = NULL;

	if (json_write_text(&call->arena, result, JSON_WRITE_READABLE, most, &call->answer, &err) <
		0) {
		call->reply_pointer = "/result";
		call->answer = (struct bytes){ NULL, 0 };
		if (err.code == ERR_TOO_BIG)
			call_fail(call, "too_large",
				arena_printf(&call->arena, "the result has more than %llu bytes",
					(unsigned long long)most));
		else
			call_fail(call, "bad_result", arena_strdup(&call->arena, err.text));
	} else if (breaks_schema(call, call->tool->output, result, "bad_result", &pointer)) {
		call->reply_pointer = arena_printf(&call->arena, "/result%s", pointer);
		call->answer = (struct bytes){ NULL, 0 };
	} else {
		call->kept_answer = masked_json(call, result, call->answer);
	}
	if (call->code)
		write_error(call);
}

static void read_answer(void *context)
{
	struct run_call *call = context;

	call->is_read = true;
	if (call->reply.error)
		read_failure(call, call->reply.error);
	else
		read_result(call, call->reply.result);
}

static void answer_client(const struct run_call *call)
{
	const struct job_refusal why = {
		.pointer = call->reply_pointer,
		.reason = call->code && strcmp(call->code, "too_large") == 0 ? "too_long" : "value",
		.message = call->fault ? call->fault : call->message,
	};

	call->reply.done(call->reply.owner, call->reply_pointer ? &why : NULL);
}

/* The program gets its answer first: it waits.  The call stays until its row is written. */
static void on_answer_read(void *context)
{
	struct run_call *call = context;
	struct run_calls *calls = call->calls;

	call_work_done(call, read_answer);
	call_take_room(call);
	call_end(call);
	answer_client(call);
	calls_let_end(calls);
}

static struct run_call *call_numbered(const struct run_calls *calls, int64_t number)
{
	list_for_each(at, &calls->all) {
		struct run_call *call = container_of(at, struct run_call, link);

		if (call->number == number && call->state != CALL_OVER)
			return call;
	}
	return NULL;
}

enum call_reply run_calls_reply(struct run_calls *calls, const struct call_answer *answer)
{
	struct run_call *call = call_numbered(calls, answer->number);

	if (!call && (answer->number < 1 || answer->number > calls->count))
		return CALL_REPLY_NO_CALL;
	if (!call || call->state > CALL_SENT)
		return CALL_REPLY_LATE;
	if (call->state < CALL_SENT)
		return CALL_REPLY_EARLY;
	call->state = CALL_ANSWERED;
	timer_close(call->timer);
	call->timer = NULL;
	call->reply = *answer;
	call_work(call, answer->bytes, read_answer, on_answer_read);
	return CALL_REPLY_TAKEN;
}

/* ---- the end of the run --------------------------------------------------------------------- */

static void end_open_call(struct run_call *call)
{
	bool is_canceled = request_is_canceled(call->calls->request);

	if (client_knows(call))
		call->why = is_canceled ? "canceled" : "ended";
	call_fail(call, "gone", "the run ended");
	call_end(call);
}

/* Whether a thread works for the call, or its row has to be written first. */
static bool is_in_work(const struct run_call *call)
{
	return call->state == CALL_READ || call->state == CALL_ANSWERED || call->state == CALL_OVER;
}

bool run_calls_end(struct run_calls *calls)
{
	calls->ended = true;
	list_for_each(at, &calls->all) {
		struct run_call *call = container_of(at, struct run_call, link);

		if (!is_in_work(call))
			end_open_call(call);
	}
	return !calls->threads;
}

bool run_calls_busy(const struct run_calls *calls)
{
	return calls->threads > 0;
}

/* ---- what is told about them ---------------------------------------------------------------- */

static struct value *counts_of(const struct run_calls *calls, struct arena *arena)
{
	const struct job_spec *spec = &calls->request->spec;
	struct value *map = value_map(arena);

	for (size_t i = 0; i < spec->tool_count; i++)
		if (calls->by_tool[i])
			value_map_put(arena, map, spec->tools[i].name,
				value_uint(arena, calls->by_tool[i]));
	return map;
}

static void add_steps(const struct run_calls *calls)
{
	struct request *request = calls->request;
	const struct job_spec *spec = &request->spec;

	for (size_t i = 0; i < spec->tool_count; i++)
		if (calls->by_tool[i])
			request_step(request, "call.made", "execute", true,
				arena_printf(&request->arena, "%s: %u", spec->tools[i].name,
					calls->by_tool[i]));
}

void run_calls_describe(struct run_calls *calls)
{
	struct request *request = calls->request;
	struct fill fill = fill_start(&request->arena);

	fill_uint(&fill, "count", calls->count);
	fill_uint(&fill, "failed", calls->failed);
	if (calls->denied)
		fill_uint(&fill, "denied", calls->denied);
	if (calls->recorded)
		fill_uint(&fill, "recorded", calls->repeated);
	fill_int(&fill, "waited_us", execution_waited_us(&request->execution));
	fill_value(&fill, "by_tool", counts_of(calls, &request->arena));
	request->result.calls = fill_done(&fill);
	add_steps(calls);
}

uint32_t run_calls_recorded(const struct run_calls *calls)
{
	return calls->count - calls->lost;
}

uint64_t run_calls_stored(const struct run_calls *calls)
{
	return calls->stored_bytes;
}

uint64_t run_calls_masks(const struct run_calls *calls)
{
	return calls->masks;
}
