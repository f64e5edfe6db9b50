#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/runs/execution_parts.h"
#include "daemon/runs/opened_files.h"
#include "proto/base/clock.h"
#include "proto/json.h"

/* What a report about an exception may cost to read. */
static const struct json_bounds ERROR_BOUNDS = { SLOTMSG_REPORT_MAX, 8, 1024 };

/* ---- what its pipes bring ------------------------------------------------------------------- */

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
		/* The done word may have come first: the cap was passed all the same. */
		execution->finishing = false;
		execution_kill(execution, is_stderr ? KILLED_STDERR : KILLED_STDOUT);
		execution->facts.kill_us = clock_us() - began_us;
	}
	if (execution->on_output && capture->head_len > before)
		execution->on_output(execution, is_stderr ? "stderr" : "stdout", before,
			capture->head + before, (size_t)(capture->head_len - before));
	return state;
}

/* What is in the pipes now, and no more: who writes on is dead or about to be. */
static void drain(struct execution *execution)
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

void execution_on_output(struct execution *execution, bool is_stderr)
{
	struct capture *capture = is_stderr ? &execution->errout : &execution->out;
	struct watch **pipe;

	if (execution->over || read_stream(execution, is_stderr) != CAPTURE_ENDED)
		return;
	pipe = is_stderr ? &execution->worker->errout : &execution->worker->out;
	if (!capture->ended) {
		/* Past its cap: it stays open, or the program would see it break before the kill. */
		watch_want(*pipe, 0);
		return;
	}
	watch_close(*pipe);
	*pipe = NULL;
}

/* ---- what is said at its job socket --------------------------------------------------------- */

static void take_error(struct execution *execution, const struct job_head *head, const char *body)
{
	struct facts *facts = &execution->facts;
	struct value *error = NULL;
	struct err err = ERR_INIT;

	/*
	 * The first report is the harness's; a later one could only be the program's own.  One that
	 * cannot be read counts too: reading takes of the request's memory.
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
 * When the program began.  The word may be read after the end was known, or be forged later still;
 * the beginning was not later than the end, and times taken from both are never below nothing.
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
	drain(execution);
	if (execution->finishing)
		return; /* the cap was passed with the last bytes: the kill is under way */
	execution->finishing = true;
	if (execution->facts.done_code != 0 || execution->spec->artifact_glob_count ||
		execution->files_fd || worker_has_news(execution->worker) ||
		!knobs_hold(&execution->worker->knobs, KNOB_CPU_USAGE)) {
		execution_kill(execution, KILLED_NOT); /* its death brings the rest of the facts */
		return;
	}
	/* Whoever said so may run on: it is killed now, and nobody waits for its death. */
	worker_done(execution->worker, execution->run_id);
	execution_conclude(execution);
}

/*
 * The worker waits to be ended.  A program can say this too, and ends itself; where no rules were
 * sent it means nothing.
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
	execution_kill(execution, KILLED_NOT);
}

void execution_on_job_message(
	struct execution *execution, const struct job_head *head, const char *body)
{
	struct facts *facts = &execution->facts;

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
		execution_kill(execution, KILLED_NOT);
		return;
	default:
		return; /* noise from inside changes nothing */
	}
}

void execution_on_job_broken(struct execution *execution)
{
	/* Its process has ended, or it closed our socket: the slot or a limit will say which. */
	(void)execution;
}

/* ---- what its slot says ---------------------------------------------------------------------- */

/* What came before there was a job, the harness brought about and nobody's program. */
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
 * A harness that has said its last word waits to be killed.  Who ends in another way has not said it
 * for the harness: what the kernel tells counts.
 */
static bool died_as_it_said(const struct facts *facts)
{
	return facts_died_by(facts, SIGKILL) ||
	       (WIFEXITED(facts->wait_status) &&
		       WEXITSTATUS(facts->wait_status) == facts->done_code);
}

void execution_on_worker_ended(struct execution *execution, const struct slotmsg *msg)
{
	struct facts *facts = &execution->facts;

	if (execution->over)
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
		return; /* the done word was still in the socket */
	if (facts->done && !died_as_it_said(facts))
		facts->done = false;
	if (!execution->ended_us)
		execution->ended_us = clock_us();
	facts->gone_us = facts->killed ? clock_us() - execution->ended_us : 0;
	execution->finishing = true;
	worker_kill(execution->worker); /* whatever it left behind goes with it */
	drain(execution);
	execution_after_death(execution);
}

void execution_on_worker_gone(struct execution *execution, const char *why)
{
	if (execution->over)
		return;
	drain(execution);
	knobs_count(&execution->worker->knobs, &execution->facts.after);
	execution->facts.memory_peak =
		knobs_memory_peak(&execution->worker->knobs, &execution->facts.before);
	execution->facts.worker_lost = true;
	execution->facts.failure =
		execution->facts.failure
			? execution->facts.failure
			: arena_printf(execution->arena, "The worker was lost: %s", why);
	execution->worker = NULL;
	execution_conclude(execution);
}

void execution_on_collected(struct execution *execution)
{
	gathering_collected(&execution->gathering);
}
