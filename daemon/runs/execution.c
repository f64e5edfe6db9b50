#include "daemon/runs/execution.h"

#include <assert.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/runs/job_body.h"
#include "daemon/runs/opened_files.h"
#include "proto/base/clock.h"
#include "proto/base/fdio.h"
#include "proto/base/log.h"
#include "proto/json.h"

#define KILL_AGAIN_MS 25    /* after a kill, before killing by other means */
#define LOOK_MS       100   /* between two looks for the end */
#define SILENT_MS     300   /* wait for the slot's message about dead processes */
#define DYING_MS      1000  /* for processes that are killed but still exist */
#define DEADLINE_MS   3000  /* for the slot to set limits, or without any sign of the end */
#define DEATH_MOST_MS 60000 /* with such signs */
#define CPU_LOOK_MS   5     /* shortest time between two looks at the cpu clock */

/* Bounds on a report about an exception that the daemon parses. */
static const struct json_bounds ERROR_BOUNDS = { SLOTMSG_REPORT_MAX, 8, 1024 };

static void end_execution(void *owner);

/* ---- ending --------------------------------------------------------------------------------- */

static void stop_clocks(struct execution *execution)
{
	timer_close(execution->wall);
	timer_close(execution->cpu);
	timer_close(execution->deadline);
	execution->wall = NULL;
	execution->cpu = NULL;
	execution->deadline = NULL;
}

/* The slot has not set the limits, reported the death or sent the artifacts. */
static void on_deadline(void *owner)
{
	struct execution *execution = owner;

	timer_close(execution->deadline);
	execution->deadline = NULL;
	if (execution->worker)
		worker_lose(execution->worker, "its slot did not answer in time");
}

/*
 * After cgroup.kill nothing of the run can run any more, and the reason for the kill is known.  So
 * the daemon does not wait for a stopped slot, or for processes that the kernel takes long to
 * remove.
 */
static bool is_over_without_word(const struct execution *execution, int64_t waited_ms)
{
	struct worker *worker = execution->worker;

	if (execution->facts.killed == KILLED_NOT || execution->facts.ended ||
		!knobs_hold(&worker->knobs, KNOB_KILL))
		return false;
	return waited_ms >= DYING_MS || (waited_ms >= SILENT_MS && worker_is_deserted(worker));
}

/*
 * Whether the end makes progress.  Dying processes that still use cpu time, and a collector that
 * still sends, are slow and not lost.
 */
static bool goes_on(struct execution *execution)
{
	size_t gathered = execution->artifacts.bytes.len;
	bool grew = gathered > execution->gathered;

	execution->gathered = gathered;
	return worker_still_dies(execution->worker) || grew;
}

static void on_end_look(void *owner)
{
	struct execution *execution = owner;
	int64_t now_us = clock_us();

	if (!execution->worker)
		return;
	if (is_over_without_word(execution, (now_us - execution->looked_us) / 1000)) {
		execution->worker->doubted = true;
		end_execution(execution);
		return;
	}
	if (goes_on(execution))
		execution->moved_us = now_us;
	if (now_us - execution->moved_us >= (int64_t)DEADLINE_MS * 1000 ||
		now_us - execution->looked_us >= (int64_t)DEATH_MOST_MS * 1000)
		on_deadline(execution);
}

/* Starts to look for the end at an interval. */
static void look_for_end(struct execution *execution)
{
	execution->looked_us = execution->moved_us = clock_us();
	timer_close(execution->deadline);
	execution->deadline = timer_new(execution->loop, LOOK_MS, LOOK_MS, on_end_look, execution);
	if (!execution->deadline && execution->worker)
		worker_lose(execution->worker, "there is no memory to wait for its end");
}

static void on_still_alive(void *owner)
{
	struct execution *execution = owner;

	if (execution->worker)
		worker_kill_harder(execution->worker);
	look_for_end(execution);
}

static void kill_jail(struct execution *execution, enum kill_reason why)
{
	if (!execution->worker || execution->over)
		return;
	if (execution->facts.killed == KILLED_NOT && !execution->finishing)
		execution->facts.killed = why;
	worker_kill(execution->worker);
	if (!execution->finishing)
		execution->ended_us = clock_us();
	execution->finishing = true;
	if (!execution->deadline)
		execution->deadline =
			timer_new(execution->loop, KILL_AGAIN_MS, 0, on_still_alive, execution);
	if (!execution->deadline)
		worker_kill_harder(execution->worker); /* no memory to wait: at once */
}

/* Finds whose memory limit was reached when the kernel killed a process for memory. */
static void look_above(struct execution *execution)
{
	struct facts *facts = &execution->facts;
	struct worker *worker = execution->worker;
	const struct outer_cgroup *level;

	facts->short_above = knobs_short_above(&worker->knobs, &facts->before, &facts->after,
		execution->spec->limits.memory_bytes);
	if (!facts->short_above)
		return;
	level = execution->outer_cgroups
			? outer_cgroups_short(execution->outer_cgroups, &facts->short_bytes)
			: NULL;
	if (level)
		facts->short_where = arena_strdup(execution->arena, level->path);
}

static void end_execution(void *owner)
{
	struct execution *execution = owner;
	struct facts *facts = &execution->facts;

	if (execution->over)
		return;
	execution->over = true;
	stop_clocks(execution);
	artifacts_close(&execution->artifacts);
	if (!execution->ended_us)
		execution->ended_us = clock_us();
	facts->stdout_total = execution->out.total;
	facts->stderr_total = execution->errout.total;
	if (execution->worker) {
		knobs_count(&execution->worker->knobs, &facts->after);
		facts->memory_peak = knobs_memory_peak(&execution->worker->knobs, &facts->before);
		look_above(execution);
	}
	execution->on_end(execution);
}

/* Ends the execution with an error of our own.  The facts say which. */
static void fail_execution(struct execution *execution, const char *why)
{
	execution->facts.failed = true;
	execution->facts.failure = arena_strdup(execution->arena, why);
	execution->facts.worker_lost = execution->worker == NULL;
	end_execution(execution);
}

/* ---- artifacts ------------------------------------------------------------------------------ */

static void after_death(struct execution *execution)
{
	struct err err = ERR_INIT;

	stop_clocks(execution);
	if (execution->facts.killed == KILLED_CLOSING || !execution->spec->artifact_glob_count) {
		end_execution(execution);
		return;
	}
	look_for_end(execution);
	if (execution->over)
		return;
	execution->artifacts.on_end = end_execution;
	execution->artifacts.owner = execution;
	if (artifacts_collect(&execution->artifacts, execution->worker, execution->spec, &err) <
		0) {
		log_event(LOG_LEVEL_WARNING, "artifacts.not_collected", LOG_STR("why", err.text));
		end_execution(execution);
	}
}

/* ---- limits on time ------------------------------------------------------------------------- */

static void on_wall(void *owner)
{
	struct execution *execution = owner;

	/*
	 * If the loop is late, the message about the end may be unread in a socket.  The loop reads
	 * it within one more turn.
	 */
	if (!execution->wall_is_up) {
		execution->wall_is_up = true;
		timer_set(execution->wall, 1); /* with 0 libuv would call it before it polls */
		return;
	}
	kill_jail(execution, KILLED_WALL);
}

/*
 * The most cpu that it can use at a time.  on_cpu() uses this to look at its cpu time soon enough.
 */
static uint64_t most_percent(const struct execution *execution)
{
	if (knobs_hold(&execution->worker->knobs, KNOB_CPU_MAX))
		return execution->spec->limits.cpu_percent;
	return (uint64_t)get_nprocs() * 100;
}

static void on_cpu(void *owner)
{
	struct execution *execution = owner;
	const struct knob_counts *before = &execution->facts.before;
	uint64_t used_us = knobs_since(
		before->cpu_user_us + before->cpu_sys_us, knobs_cpu_us(&execution->worker->knobs));
	uint64_t limit_us = execution->spec->limits.cpu_ms * 1000;

	if (used_us >= limit_us)
		kill_jail(execution, KILLED_CPU);
	else
		timer_set(execution->cpu,
			(limit_us - used_us) / 10 / most_percent(execution) + CPU_LOOK_MS);
}

static int start_clocks(struct execution *execution)
{
	const struct job_limits *limits = &execution->spec->limits;

	execution->wall = timer_new(execution->loop, limits->wall_ms, 0, on_wall, execution);
	if (!execution->wall)
		return -1;
	if (!knobs_hold(&execution->worker->knobs, KNOB_CPU_USAGE) ||
		limits->cpu_ms * 100 >= limits->wall_ms * most_percent(execution))
		return 0;
	execution->cpu = timer_new(execution->loop, limits->cpu_ms * 100 / most_percent(execution),
		0, on_cpu, execution);
	return execution->cpu ? 0 : -1;
}

/* ---- beginning ------------------------------------------------------------------------------ */

/* NULL, or why there is no body of the job.  *ret_stdin: -1, or a descriptor that goes with it. */
static const char *make_body(
	const struct execution *execution, char **ret_body, size_t *ret_len, int *ret_stdin)
{
	const struct job_spec *spec = execution->spec;
	const struct job_extras extras = {
		.rules = execution->rules,
		.stdin_inline = execution->stdin_inline,
		.gate = execution->gated,
		.reserved_counts = !knobs_hold(&execution->worker->knobs, KNOB_MEMORY_MAX),
	};
	struct err err = ERR_INIT;

	*ret_stdin = -1;
	*ret_body = job_body_write(spec, extras, ret_len);
	if (!*ret_body)
		return "The job is too large for a worker.";
	if (!spec->has_input || execution->stdin_inline)
		return NULL;
	*ret_stdin = job_stdin_file(spec, &err);
	if (*ret_stdin >= 0)
		return NULL;
	free(*ret_body);
	return arena_strdup(execution->arena, err.text);
}

static const char *const NO_CLOCK = "There is no memory for the clock of a run.";
static const char *const NO_WORKER = "The worker died before it got the job.";

static void send_job(struct execution *execution)
{
	size_t len = 0;
	char *body;
	int stdin_fd;
	const char *why;

	execution->held = execution->on_hold;
	if (execution->held)
		return;
	why = make_body(execution, &body, &len, &stdin_fd);
	if (why) {
		fail_execution(execution, why);
		return;
	}
	if (start_clocks(execution) < 0) {
		free(body);
		close_fds(&stdin_fd, 1);
		fail_execution(execution, NO_CLOCK);
		return;
	}
	execution->sent_us = clock_us();
	if (worker_send_job(execution->worker, body, len, stdin_fd) < 0) {
		fail_execution(execution, NO_WORKER);
		return;
	}
	execution->sent = true;
	execution->facts.job_sent = true;
}

void execution_go(struct execution *execution, const char *trouble)
{
	execution->on_hold = false;
	if (execution->over || execution->finishing)
		return; /* it was cancelled in the meantime */
	if (trouble)
		fail_execution(execution, trouble);
	else if (execution->held)
		send_job(execution);
}

static void on_adjusted(void *owner, const struct slotmsg *msg)
{
	struct execution *execution = owner;

	/* A dying worker gets no job: the result would have to say that the program ran. */
	if (execution->sent || execution->finishing || execution->over)
		return;
	timer_close(execution->deadline);
	execution->deadline = NULL;
	if (msg->status)
		fail_execution(execution,
			arena_printf(execution->arena,
				"The limits of the worker could not be set: %s", msg->text));
	else
		send_job(execution);
}

/* ---- output from its pipes ------------------------------------------------------------------ */

static enum capture_state read_stream(struct execution *execution, bool is_stderr)
{
	struct capture *capture = is_stderr ? &execution->errout : &execution->out;
	struct watch *watch = is_stderr ? execution->worker->errout : execution->worker->out;
	uint64_t before = capture->head_len;
	enum capture_state state;
	int64_t began_us = clock_us();

	if (!watch || capture->ended || (capture->passed && !capture->truncate))
		return CAPTURE_ENDED;
	state = capture_read(capture, watch_fd(watch));
	if (state == CAPTURE_PASSED && execution->facts.killed == KILLED_NOT) {
		/* JOB_DONE may have set this; the kill is for the limit all the same. */
		execution->finishing = false;
		kill_jail(execution, is_stderr ? KILLED_STDERR : KILLED_STDOUT);
		execution->facts.kill_us = clock_us() - began_us;
	}
	if (execution->on_output && capture->head_len > before)
		execution->on_output(execution, is_stderr ? "stderr" : "stdout", before,
			capture->head + before, (size_t)(capture->head_len - before));
	return state;
}

/*
 * Reads the bytes that are in the pipes now and no more: a process that still writes is dead or
 * will be killed.
 */
static void drain_pipes(struct execution *execution)
{
	if (!execution->worker)
		return;
	for (int visits = 0; visits < 1024; visits++) {
		bool more = read_stream(execution, false) == CAPTURE_MORE;

		more = read_stream(execution, true) == CAPTURE_MORE || more;
		if (!more)
			return;
	}
}

static void on_worker_output(void *owner, bool is_stderr)
{
	struct execution *execution = owner;
	struct capture *capture = is_stderr ? &execution->errout : &execution->out;
	struct watch **pipe = is_stderr ? &execution->worker->errout : &execution->worker->out;

	/*
	 * Behind a gate this is a warning of the compiler, for instance, and read when the gate is
	 * open.  After the end it is the hang-up of a killed worker, which would be reported again
	 * and again until its run is recorded.
	 */
	if (execution->gated || execution->over) {
		execution->muted = execution->gated;
		watch_want(*pipe, 0);
		return;
	}
	if (read_stream(execution, is_stderr) != CAPTURE_ENDED)
		return;
	if (!capture->ended) {
		/*
		 * Past its cap the pipe stays open.  Otherwise the program would see it break
		 * before the kill.
		 */
		watch_want(*pipe, 0);
		return;
	}
	watch_close(*pipe);
	*pipe = NULL;
}

/* ---- messages from its job socket ----------------------------------------------------------- */

static void take_error(struct execution *execution, const struct job_head *head, const char *body)
{
	struct facts *facts = &execution->facts;
	struct value *error = NULL;
	struct err err = ERR_INIT;

	/*
	 * The harness sends the first report.  A later one could only come from the program.  An
	 * unreadable report counts as the first too, because parsing uses the request's memory.
	 */
	if (execution->reported || facts->done)
		return;
	execution->reported = true;
	if (json_parse(execution->arena, body, head->len, &ERROR_BOUNDS, &error, &err) < 0 ||
		!value_is(error, VALUE_MAP))
		return;
	facts->error = error;
	facts->error_is_syntax = value_as_bool(value_get(facts->error, "syntax"), false);
}

/*
 * Notes when the program began.  The message may be read after the end is known, or be forged even
 * later.  The beginning is never after the end, so that no duration is negative.
 */
static void note_begun(struct execution *execution)
{
	if (!execution->begun_us)
		execution->begun_us = execution->ended_us ? execution->ended_us : clock_us();
}

static void take_done(struct execution *execution, int code)
{
	if (execution->facts.done || execution->finishing)
		return;
	execution->facts.done = true;
	execution->facts.done_code = code & 0xff;
	execution->ended_us = clock_us();
	drain_pipes(execution);
	if (execution->finishing)
		return; /* the last bytes passed the cap: the kill is under way */
	execution->finishing = true;
	if (execution->facts.done_code != 0 || execution->spec->artifact_glob_count ||
		execution->files_fd || worker_has_news(execution->worker) ||
		!knobs_hold(&execution->worker->knobs, KNOB_CPU_USAGE)) {
		kill_jail(execution, KILLED_NOT); /* the rest of the facts comes with its death */
		return;
	}
	/*
	 * The process that sent this may run on.  The worker is killed now, without a wait for its
	 * death.
	 */
	worker_done(execution->worker, execution->run_id);
	end_execution(execution);
}

/*
 * A worker that sends this waits to be killed.  A program can send it too, and then only ends
 * itself.  Without rules the message means nothing.
 */
static void take_denied(struct execution *execution, const struct job_head *head, const char *body)
{
	struct facts *facts = &execution->facts;
	struct value *denied = NULL;
	struct err err = ERR_INIT;

	if (facts->was_denied || facts->done || !execution->rules.len)
		return;
	facts->was_denied = true;
	if (json_parse(execution->arena, body, head->len, &ERROR_BOUNDS, &denied, &err) == 0)
		facts->denied = denied;
	kill_jail(execution, KILLED_NOT);
}

static void on_job_message(void *owner, const struct job_head *head, const char *body)
{
	struct execution *execution = owner;
	struct facts *facts = &execution->facts;

	if (execution->gated)
		execution->spoilt = true;
	if (!execution->sent || execution->over)
		return;
	switch (head->kind) {
	case JOB_BEGUN:
		facts->began = true;
		note_begun(execution);
		return;
	case JOB_ERROR:
		take_error(execution, head, body);
		return;
	case JOB_DONE:
		take_done(execution, head->exit_code);
		return;
	case JOB_DENIED:
		take_denied(execution, head, body);
		return;
	case JOB_FAILED:
		if (facts->began || facts->failed)
			return;
		facts->failed = true;
		facts->failure =
			arena_printf(execution->arena, "The jail could not begin the program: %.*s",
				(int)(head->len < 200 ? head->len : 200), body);
		kill_jail(execution, KILLED_NOT);
		return;
	default:
		return; /* ignore other messages from inside */
	}
}

/* ---- messages from its slot ----------------------------------------------------------------- */

/* System calls that were refused before the job was sent came from the harness, not the program. */
static void take_refused(struct execution *execution, const struct slotmsg *msg)
{
	struct facts *facts = &execution->facts;
	struct slotmsg_refused *rows;

	if (!execution->sent || !msg->refused_count)
		return;
	rows = arena_alloc(execution->arena, msg->refused_count * sizeof(*rows));
	if (!rows)
		return;
	memcpy(rows, msg->refused, msg->refused_count * sizeof(*rows));
	facts->refused = rows;
	facts->refused_count = msg->refused_count;
	facts->refused_others = msg->refused_others;
}

static void take_files(struct execution *execution)
{
	if (!execution->sent || !execution->files_fd)
		return;
	execution->facts.files =
		opened_files_read(execution->arena, execution->files_fd, execution->spec);
	close(execution->files_fd);
	execution->files_fd = 0;
}

/*
 * After JOB_DONE a harness waits to be killed.  If the process ended in another way, the harness
 * did not send JOB_DONE, and the kernel's wait status counts instead.
 */
static bool died_as_it_said(const struct facts *facts)
{
	return facts_died_by(facts, SIGKILL) ||
	       (WIFEXITED(facts->wait_status) &&
		       WEXITSTATUS(facts->wait_status) == facts->done_code);
}

static void on_worker_ended(void *owner, const struct slotmsg *msg)
{
	struct execution *execution = owner;
	struct facts *facts = &execution->facts;

	if (execution->gated)
		execution->spoilt = true;
	if (execution->over || execution->gated)
		return;
	facts->ended = true;
	facts->wait_status = msg->status;
	facts->usage = msg->usage;
	facts->has_disk = true;
	facts->disk_bytes = msg->disk_bytes;
	facts->inodes = msg->inodes;
	facts->disk_full = msg->flags & SLOTMSG_FLAG_DISK_FULL;
	facts->inodes_full = msg->flags & SLOTMSG_FLAG_INODES_FULL;
	facts->cpu_spent = msg->flags & SLOTMSG_FLAG_CPU_LIMIT;
	take_refused(execution, msg);
	take_files(execution);
	worker_drain_job(execution->worker);
	if (execution->over)
		return; /* JOB_DONE was still in the socket */
	if (facts->done && !died_as_it_said(facts))
		facts->done = false;
	if (!execution->ended_us)
		execution->ended_us = clock_us();
	facts->gone_us = facts->killed ? clock_us() - execution->ended_us : 0;
	execution->finishing = true;
	worker_kill(execution->worker); /* kills everything that the program left behind */
	drain_pipes(execution);
	after_death(execution);
}

static void on_worker_gone(void *owner, const char *why)
{
	struct execution *execution = owner;

	if (execution->gated) {
		execution->spoilt = true;
		execution->worker = NULL;
	}
	if (execution->over || execution->gated)
		return;
	drain_pipes(execution);
	knobs_count(&execution->worker->knobs, &execution->facts.after);
	execution->facts.memory_peak =
		knobs_memory_peak(&execution->worker->knobs, &execution->facts.before);
	execution->facts.worker_lost = true;
	execution->facts.failure =
		execution->facts.failure
			? execution->facts.failure
			: arena_printf(execution->arena, "The worker was lost: %s", why);
	execution->worker = NULL;
	end_execution(execution);
}

static void on_collected(void *owner)
{
	struct execution *execution = owner;

	artifacts_collected(&execution->artifacts);
}

static const struct worker_events worker_events = {
	.adjusted = on_adjusted,
	.job_message = on_job_message,
	.output = on_worker_output,
	.ended = on_worker_ended,
	.collected = on_collected,
	.gone = on_worker_gone,
};

/* ---- start, cancel and release -------------------------------------------------------------- */

/* Whether the job needs a limit that only the slot can change. */
static bool needs_adjusting(const struct worker *worker, const struct job_limits *limits)
{
	const struct job_limits *made = &worker->made_with;
	bool rlimits = made->open_files != limits->open_files ||
		       made->file_bytes != limits->file_bytes ||
		       made->memory_bytes != limits->memory_bytes || /* the program can read it */
		       made->cpu_ms / 1000 != limits->cpu_ms / 1000; /* set in seconds */
	bool cpu = !knobs_hold(&worker->knobs, KNOB_CPU_USAGE) && made->cpu_ms != limits->cpu_ms;
	bool pids = !knobs_hold(&worker->knobs, KNOB_PIDS_MAX) && made->pids != limits->pids;

	return rlimits || cpu || pids || made->disk_bytes != limits->disk_bytes ||
	       made->inodes != limits->inodes;
}

/* Makes the file for opened files.  Without it the result says nothing about them. */
static bool note_files(struct execution *execution)
{
	struct err err = ERR_INIT;
	int fd;

	if (execution->spec->trace != TRACE_FILES)
		return false;
	fd = opened_files_make(execution->spec, &err);
	if (fd > 0)
		execution->files_fd = fd;
	else
		log_event(LOG_LEVEL_WARNING, "files.not_noted", LOG_STR("why", err.text));
	return fd > 0;
}

static bool take_worker(struct execution *execution, struct worker *worker)
{
	const struct job_limits *limits = &execution->spec->limits;
	bool truncate = execution->spec->on_output_limit == ON_OUTPUT_TRUNCATE;

	execution->worker = worker;
	execution->facts.before = worker->before;
	execution->facts.has_memory_cgroup = knobs_hold(&worker->knobs, KNOB_MEMORY_EVENTS);
	execution->facts.has_pids_cgroup = knobs_hold(&worker->knobs, KNOB_PIDS_EVENTS);
	capture_init(&execution->out, limits->stdout_bytes, truncate);
	capture_init(&execution->errout, limits->stderr_bytes, truncate);
	worker_take(worker, &worker_events, execution);
	return knobs_set(&worker->knobs, limits) == 0;
}

void execution_start(struct execution *execution, struct worker *worker)
{
	const struct job_limits *limits = &execution->spec->limits;

	execution->started_us = clock_us();
	if (!take_worker(execution, worker)) {
		fail_execution(execution, "The cgroup of the worker rejects its limits.");
		return;
	}
	if (!note_files(execution) && !needs_adjusting(worker, limits)) {
		send_job(execution);
		return;
	}
	execution->deadline = timer_new(execution->loop, DEADLINE_MS, 0, on_deadline, execution);
	if (!execution->deadline) {
		fail_execution(execution, "There is no memory to wait for the slot of the worker.");
		return;
	}
	if (worker_adjust(worker, limits, execution->files_fd > 0 ? execution->files_fd : -1) < 0)
		fail_execution(execution, "The slot of the worker does not answer.");
}

bool execution_is_as_made(const struct worker *worker, const struct job_spec *spec)
{
	return spec->trace != TRACE_FILES && !needs_adjusting(worker, &spec->limits);
}

void execution_start_gated(struct execution *execution, struct worker *worker)
{
	size_t len = 0;
	char *body;
	int stdin_fd;

	execution->gated = true;
	if (!take_worker(execution, worker) || make_body(execution, &body, &len, &stdin_fd) ||
		worker_send_job(worker, body, len, stdin_fd) < 0)
		execution->spoilt = true;
}

bool execution_can_open(const struct execution *execution)
{
	return execution->gated && !execution->spoilt && execution->worker->job;
}

void execution_open(struct execution *execution)
{
	struct worker *worker = execution->worker;

	assert(execution_can_open(execution));

	execution->gated = false;
	execution->started_us = execution->sent_us = clock_us();
	if (execution->muted) {
		watch_want(worker->out, UV_READABLE);
		watch_want(worker->errout, UV_READABLE);
	}
	if (start_clocks(execution) < 0) {
		fail_execution(execution, NO_CLOCK);
		return;
	}
	if (worker_send_go(worker) < 0) {
		fail_execution(execution, NO_WORKER);
		return;
	}
	execution->sent = true;
	execution->facts.job_sent = true;
}

void execution_cancel(struct execution *execution, enum kill_reason why)
{
	if (execution->over)
		return;
	if (execution->worker && execution->worker->ended)
		return; /* its artifacts are being collected: it is nearly over */
	kill_jail(execution, why);
}

void execution_release(struct execution *execution)
{
	if (execution->worker)
		worker_release(execution->worker);
	execution->worker = NULL;
}

void execution_done(struct execution *execution)
{
	execution_release(execution);
	stop_clocks(execution);
	artifacts_done(&execution->artifacts);
	capture_done(&execution->out);
	capture_done(&execution->errout);
	if (execution->files_fd)
		close(execution->files_fd);
	execution->files_fd = 0;
}
