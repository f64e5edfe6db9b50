#include "daemon/runs/execution.h"

#include <assert.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/runs/channels.h"
#include "daemon/runs/job_body.h"
#include "daemon/runs/opened_files.h"
#include "daemon/runs/shell_display.h"
#include "proto/base/clock.h"
#include "proto/base/fdio.h"
#include "proto/base/log.h"
#include "proto/base/utf8.h"
#include "proto/job/job_display.h"
#include "proto/json.h"

#define KILL_AGAIN_MS    25    /* after a kill, before killing by other means */
#define LOOK_MS          100   /* between two looks for the end */
#define SILENT_MS        300   /* wait for the slot's message about dead processes */
#define DYING_MS         1000  /* for processes that are killed but still exist */
#define DEADLINE_MS      3000  /* for the slot to set limits, or without any sign of the end */
#define DEATH_MOST_MS    60000 /* with such signs */
#define COLLECT_MS       5000  /* for a collector that sends nothing; then its files are missing */
#define CALLS_PAST_LIMIT 64    /* calls that are answered after the limit `calls` */
#define CALL_SLACK_BYTES 4096  /* of a call beside its arguments; longer ones end its socket */
#define ITEM_ARENA_BYTES ((size_t)32 << 20) /* for the values of one item that a shell displays */
#define ITEM_HEAD_BYTES  256                /* of an item, beside its content */
#define FAILURE_BYTES    200 /* of what a worker says of a job that it cannot begin */
#define CPU_LOOK_MS      5   /* shortest time between two looks at the cpu clock */

/* Bounds on a report about an exception that the daemon parses. */
static const struct json_bounds ERROR_BOUNDS = { SLOTMSG_REPORT_MAX, 8, 1024 };

static void end_execution(void *owner);
static void drain_pipes(struct execution *execution);

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

/*
 * How the program ended is known by then.  So a late collector costs files, and a session, and never
 * that.  The worker is killed with it.
 */
static bool lacks_only_files(const struct execution *execution)
{
	const struct facts *facts = &execution->facts;

	return artifacts_are_coming(&execution->artifacts) && (facts->ended || facts->done);
}

static void give_up_waiting(struct execution *execution)
{
	if (lacks_only_files(execution)) {
		log_event(LOG_LEVEL_WARNING, "artifacts.not_collected",
			LOG_STR("why", "the collector did not answer in time"));
		execution->worker->doubted = true;
		artifacts_give_up(&execution->artifacts);
		end_execution(execution);
	} else {
		on_deadline(execution);
	}
}

static void on_end_look(void *owner)
{
	struct execution *execution = owner;
	const int64_t silent_ms = lacks_only_files(execution) ? COLLECT_MS : DEADLINE_MS;
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
	if (now_us - execution->moved_us >= silent_ms * 1000 ||
		now_us - execution->looked_us >= (int64_t)DEATH_MOST_MS * 1000)
		give_up_waiting(execution);
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

/* Kept states of a session were spared by the first kill, which was by the cgroup already. */
static void kill_harder(struct worker *worker)
{
	if (worker->kept)
		worker_kill_run(worker);
	else
		worker_kill_harder(worker);
}

static void on_still_alive(void *owner)
{
	struct execution *execution = owner;

	if (execution->worker)
		kill_harder(execution->worker);
	look_for_end(execution);
}

static void kill_jail(struct execution *execution, enum kill_reason why)
{
	if (!execution->worker || execution->over)
		return;
	if (execution->facts.killed == KILLED_NOT && !execution->finishing)
		execution->facts.killed = why;
	worker_kill_run(execution->worker);
	if (!execution->finishing)
		execution->ended_us = clock_us();
	execution->finishing = true;
	if (!execution->deadline)
		execution->deadline =
			timer_new(execution->loop, KILL_AGAIN_MS, 0, on_still_alive, execution);
	if (!execution->deadline)
		kill_harder(execution->worker); /* no memory to wait: at once */
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

static void close_channels(struct execution *execution)
{
	channels_close(execution->channels);
	execution->channels = NULL;
	if (execution->queue_fd)
		close(execution->queue_fd);
	execution->queue_fd = 0;
}

static void end_execution(void *owner)
{
	struct execution *execution = owner;
	struct facts *facts = &execution->facts;

	if (execution->over)
		return;
	execution->over = true;
	stop_clocks(execution);
	close_channels(execution);
	artifacts_close(&execution->artifacts);
	if (!execution->ended_us)
		execution->ended_us = clock_us();
	facts->stdout_total = execution->out.total;
	facts->stderr_total = execution->errout.total;
	facts->display_total = execution->display.total;
	if (execution->worker) {
		knobs_count(&execution->worker->knobs, &facts->after);
		facts->memory_peak = knobs_memory_peak(&execution->worker->knobs, &facts->before);
		look_above(execution);
	}
	execution->on_end(execution);
}

/*
 * Ends the execution with an error of our own.  The facts say which.  A session can go back to a kept
 * state only when its worker is dead and the slot has said so, which this waits for.
 */
static void fail_execution(struct execution *execution, const char *why)
{
	const struct worker *worker = execution->worker;

	execution->facts.failed = true;
	execution->facts.failure = arena_strdup(execution->arena, why);
	execution->facts.worker_lost = worker == NULL;
	if (execution->next_cell && worker && !worker->ended && !execution->finishing)
		kill_jail(execution, KILLED_NOT);
	else
		end_execution(execution);
}

/* ---- artifacts ------------------------------------------------------------------------------ */

static void after_death(struct execution *execution)
{
	struct err err = ERR_INIT;

	stop_clocks(execution);
	if (execution->facts.killed == KILLED_CLOSING || execution->facts.failed ||
		!execution->spec->artifact_glob_count) {
		end_execution(execution);
		return;
	}
	look_for_end(execution);
	if (execution->over)
		return;
	execution->artifacts.on_end = end_execution;
	execution->artifacts.owner = execution;
	execution->artifacts.stands = execution->worker->kept > 0; /* nothing else may be killed */
	if (artifacts_collect(&execution->artifacts, execution->worker, execution->spec, &err) <
		0) {
		log_event(LOG_LEVEL_WARNING, "artifacts.not_collected", LOG_STR("why", err.text));
		end_execution(execution);
	}
}

/* ---- the end of a cell ---------------------------------------------------------------------- */

/* Everything is known, and the worker may be kept. */
static void cell_is_over(void *owner)
{
	struct execution *execution = owner;

	execution->stands = true;
	end_execution(execution);
}

static void collect_standing(struct execution *execution)
{
	struct err err = ERR_INIT;

	if (!execution->spec->artifact_glob_count) {
		cell_is_over(execution);
		return;
	}
	look_for_end(execution);
	if (execution->over)
		return;
	execution->artifacts.on_end = cell_is_over;
	execution->artifacts.owner = execution;
	execution->artifacts.stands = true;
	if (artifacts_collect(&execution->artifacts, execution->worker, execution->spec, &err) <
		0) {
		log_event(LOG_LEVEL_WARNING, "artifacts.not_collected", LOG_STR("why", err.text));
		cell_is_over(execution);
	}
}

/* A process in the middle of a long system call takes a while until it stands still. */
static void look_whether_it_stands(void *owner)
{
	struct execution *execution = owner;
	int64_t waited_us = clock_us() - execution->ended_us;

	if (!execution->worker || execution->over)
		return;
	stop_clocks(execution);
	if (worker_stands(execution->worker)) {
		drain_pipes(execution); /* the next cell may write to the same ones */
		if (execution->facts.killed == KILLED_NOT)
			collect_standing(execution);
		return;
	}
	if (waited_us < (int64_t)DEADLINE_MS * 1000)
		execution->deadline =
			timer_new(execution->loop, 1, 0, look_whether_it_stands, execution);
	if (!execution->deadline)
		kill_jail(execution, KILLED_NOT);
}

static void end_cell(struct execution *execution)
{
	stop_clocks(execution);
	if (worker_end_cell(execution->worker, execution->session_limits) < 0) {
		kill_jail(execution, KILLED_NOT);
		return;
	}
	execution->deadline = timer_new(execution->loop, DEADLINE_MS, 0, on_deadline, execution);
	if (!execution->deadline)
		kill_jail(execution, KILLED_NOT);
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
	kill_jail(execution, execution->waits ? KILLED_CALLS : KILLED_WALL);
}

/* So many whole milliseconds are left of a limit; at least one, so that the loop polls before. */
static uint64_t left_ms(uint64_t limit_ms, int64_t used_us)
{
	int64_t left_us = (int64_t)limit_ms * 1000 - used_us;

	return left_us > 1000 ? (uint64_t)(left_us + 999) / 1000 : 1;
}

void execution_wait(struct execution *execution, bool waits)
{
	const struct job_limits *limits = &execution->spec->limits;
	int64_t now_us = clock_us();

	if (execution->waits == waits || execution->over || execution->finishing ||
		!execution->wall)
		return;
	*(execution->waits ? &execution->calls_used_us : &execution->wall_used_us) +=
		now_us - execution->clock_from_us;
	execution->clock_from_us = now_us;
	execution->waits = waits;
	execution->wall_is_up = false;
	timer_set(execution->wall, waits ? left_ms(limits->calls_ms, execution->calls_used_us)
					 : left_ms(limits->wall_ms, execution->wall_used_us));
}

int64_t execution_waited_us(const struct execution *execution)
{
	int64_t until_us = execution->ended_us ? execution->ended_us : clock_us();

	return execution->calls_used_us + (execution->waits && until_us > execution->clock_from_us
							  ? until_us - execution->clock_from_us
							  : 0);
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
	execution->clock_from_us = clock_us();
	if (!knobs_hold(&execution->worker->knobs, KNOB_CPU_USAGE) ||
		(!execution->on_call &&
			limits->cpu_ms * 100 >= limits->wall_ms * most_percent(execution)))
		return 0;
	execution->cpu = timer_new(execution->loop, limits->cpu_ms * 100 / most_percent(execution),
		0, on_cpu, execution);
	return execution->cpu ? 0 : -1;
}

/* ---- beginning ------------------------------------------------------------------------------ */

/* What is sent to a worker. */
struct job {
	char *body; /* malloc */
	size_t len;
	int fds[WORKER_JOB_FDS_MAX];
	unsigned fd_count;
};

static void on_display(void *owner, int events);

/* Makes the pipe that the program displays into.  A worker without stdin as a descriptor sends words. */
static const char *open_display(struct execution *execution, struct job *job)
{
	int ends[2];

	if (!execution->spec->display || execution->stdin_inline || execution->by_channels)
		return NULL;
	if (pipe2(ends, O_CLOEXEC) < 0)
		return "The daemon cannot make a pipe for what the program displays.";
	if (fd_set_nonblocking(ends[0], true, NULL) < 0) {
		close_fds(ends, 2);
		return "The daemon cannot make a pipe for what the program displays.";
	}
	job->fds[job->fd_count++] = ends[1];
	execution->display_pipe =
		watch_new(execution->loop, ends[0], UV_READABLE, on_display, execution);
	return execution->display_pipe ? NULL : "There is no memory to watch a pipe.";
}

static bool needs_channels(const struct execution *execution)
{
	return execution->by_channels && (execution->on_call || execution->spec->display);
}

/*
 * The socket with the channels of a cell.  The job socket of a session is where its shell waits for
 * the next cell, and must not be shared with other processes.
 */
static const char *open_queue(struct execution *execution, struct job *job)
{
	int ends[2];

	if (!needs_channels(execution) || !execution->session_limits)
		return NULL;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return "The daemon cannot make a socket for the calls of a cell.";
	if (fd_set_nonblocking(ends[0], true, NULL) < 0) {
		close_fds(ends, 2);
		return "The daemon cannot make a socket for the calls of a cell.";
	}
	job->fds[job->fd_count++] = ends[1];
	execution->queue_fd = ends[0];
	return NULL;
}

static const char *make_fds(struct execution *execution, struct job *job)
{
	const struct job_spec *spec = execution->spec;
	struct err err = ERR_INIT;
	const char *why;

	if (spec->has_input && !execution->stdin_inline) {
		job->fds[0] = job_stdin_file(spec, &err);
		if (job->fds[0] < 0)
			return arena_strdup(execution->arena, err.text);
		job->fd_count = 1;
	}
	why = open_display(execution, job);
	return why ? why : open_queue(execution, job);
}

static void job_drop(struct job *job)
{
	close_fds(job->fds, job->fd_count);
	free(job->body);
}

static int choose_turn(struct execution *execution)
{
	uint32_t number;

	if (!execution->session_limits)
		return 0;
	if (getrandom(&number, sizeof(number), 0) != sizeof(number))
		return -1;
	execution->turn = 1 + number % JOB_TURN_MAX;
	return 0;
}

/* NULL, or why there is no job to send. */
static const char *make_job(struct execution *execution, struct job *ret_job)
{
	const struct job_spec *spec = execution->spec;
	const bool is_settled = choose_turn(execution) == 0;
	const struct job_extras extras = {
		.rules = execution->rules,
		.tools = job_tools_text(execution->arena, spec),
		.stdin_inline = execution->stdin_inline,
		.gate = execution->gated,
		.packages = execution->packages,
		.package_count = execution->package_count,
		.cell = execution->cell,
		.turn = execution->turn,
		.next_cell = execution->next_cell,
		.reserved_counts = !knobs_hold(&execution->worker->knobs, KNOB_MEMORY_MAX),
	};
	struct job job = { .fd_count = 0 };
	const char *why;

	if (!is_settled)
		return "The kernel gives the daemon no random numbers.";
	if (spec->tool_count && !extras.tools.data)
		return "There is no memory to describe the tools of a run.";
	job.body = job_body_write(spec, extras, &job.len);
	if (!job.body)
		return "The job is too large for a worker.";
	why = make_fds(execution, &job);
	if (why)
		job_drop(&job);
	else
		*ret_job = job;
	return why;
}

static const char *const NO_CLOCK = "There is no memory for the clock of a run.";
static const char *const NO_WORKER = "The worker died before it got the job.";

static void send_job(struct execution *execution)
{
	int (*send)(struct worker * worker, char *body, size_t len, const int *fds,
		unsigned fd_count) = execution->next_cell ? worker_send_cell : worker_send_job;
	struct job job;
	const char *why;

	execution->held = execution->on_hold;
	if (execution->held)
		return;
	why = make_job(execution, &job);
	if (why) {
		fail_execution(execution, why);
		return;
	}
	if (start_clocks(execution) < 0) {
		job_drop(&job);
		fail_execution(execution, NO_CLOCK);
		return;
	}
	execution->sent_us = clock_us();
	execution->worker->displays =
		execution->spec->display && execution->stdin_inline && !execution->by_channels;
	if (send(execution->worker, job.body, job.len, job.fds, job.fd_count) < 0) {
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

/* The network comes last before the job: the worker is ready for it and for nobody else. */
static void open_network(struct execution *execution)
{
	int sent = -1;

	if (!execution->network_trouble)
		sent = worker_open_network(
			execution->worker, execution->network_fds[0], execution->network_fds[1]);
	if (execution->network_trouble || sent < 0) {
		fail_execution(execution, execution->network_trouble
						  ? execution->network_trouble
						  : "The slot of the worker does not answer.");
		return;
	}
	close_fds(execution->network_fds, 2);
	if (execution->deadline)
		return;
	execution->deadline = timer_new(execution->loop, DEADLINE_MS, 0, on_deadline, execution);
	if (!execution->deadline)
		fail_execution(execution, "There is no memory to wait for the slot of the worker.");
}

static void on_networked(void *owner, const struct slotmsg *msg)
{
	struct execution *execution = owner;

	if (execution->networked || execution->sent || execution->finishing || execution->over)
		return;
	execution->networked = true;
	timer_close(execution->deadline);
	execution->deadline = NULL;
	if (msg->status)
		fail_execution(execution,
			arena_printf(execution->arena,
				"The network of the worker could not be opened: %s", msg->text));
	else
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
	else if (execution->has_network && !execution->networked)
		open_network(execution);
	else
		send_job(execution);
}

/* ---- output from its pipes ------------------------------------------------------------------ */

/* A capture has passed its cap. */
static void kill_for_output(struct execution *execution, enum kill_reason why, int64_t began_us)
{
	if (execution->facts.killed != KILLED_NOT)
		return;
	/* JOB_DONE may have set this; the kill is for the limit all the same. */
	execution->finishing = false;
	kill_jail(execution, why);
	execution->facts.kill_us = clock_us() - began_us;
}

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
	if (state == CAPTURE_PASSED)
		kill_for_output(execution, is_stderr ? KILLED_STDERR : KILLED_STDOUT, began_us);
	if (execution->on_output && capture->head_len > before)
		execution->on_output(execution, is_stderr ? "stderr" : "stdout", before,
			capture->head + before, (size_t)(capture->head_len - before));
	return state;
}

static void report_display(struct execution *execution, size_t before)
{
	if (execution->on_display && execution->display.head_len > before)
		execution->on_display(execution);
}

/* Items are whole or lost, so at a limit only the front is of use. */
static enum capture_state read_display(struct execution *execution)
{
	struct capture *capture = &execution->display;
	size_t before = capture->head_len;
	int64_t began_us = clock_us();
	enum capture_state state;

	if (!execution->display_pipe || capture->ended || (capture->passed && !capture->truncate))
		return CAPTURE_ENDED;
	state = capture_read(capture, watch_fd(execution->display_pipe));
	if (state == CAPTURE_PASSED)
		kill_for_output(execution, KILLED_DISPLAY, began_us);
	report_display(execution, before);
	return state;
}

static void close_display(struct execution *execution)
{
	watch_close(execution->display_pipe);
	execution->display_pipe = NULL;
}

static void on_display(void *owner, int events)
{
	struct execution *execution = owner;

	(void)events;
	if (execution->over) {
		watch_want(execution->display_pipe, 0);
		return;
	}
	if (read_display(execution) != CAPTURE_ENDED)
		return;
	if (execution->display.ended)
		close_display(execution);
	else
		watch_want(execution->display_pipe, 0); /* as in on_worker_output() */
}

static bool can_display(const struct execution *execution)
{
	const struct capture *capture = &execution->display;

	return execution->spec->display && !execution->facts.done && !execution->over &&
	       (!capture->passed || capture->truncate);
}

static void put_display(struct execution *execution, const char *bytes, size_t len)
{
	struct capture *capture = &execution->display;
	size_t before = capture->head_len;
	int64_t began_us = clock_us();

	if (capture_put(capture, bytes, len) == CAPTURE_PASSED)
		kill_for_output(execution, KILLED_DISPLAY, began_us);
	report_display(execution, before);
}

/* The same bytes from a worker that has no pipe for them. */
static void take_display(struct execution *execution, const struct job_head *head, const char *body)
{
	if (can_display(execution) && !execution->display_pipe && !execution->by_channels)
		put_display(execution, body, head->len);
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
		more = read_display(execution) == CAPTURE_MORE || more;
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

/* Of a cell, a word without its number comes from the program, or from an earlier cell. */
static void take_done(struct execution *execution, int code)
{
	if (execution->facts.done || execution->finishing)
		return;
	if (execution->session_limits && JOB_TURN_OF(code) != execution->turn)
		return;
	execution->facts.done = true;
	execution->facts.done_code = code & 0xff;
	execution->ended_us = clock_us();
	drain_pipes(execution);
	if (execution->finishing)
		return; /* the last bytes passed the cap: the kill is under way */
	execution->finishing = true;
	if (execution->session_limits) {
		end_cell(execution);
		return;
	}
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

/* Before the program has begun, and where no tools are offered, a call means nothing. */
static void take_call(void *owner, uint64_t channel, int32_t number, const char *body, size_t len)
{
	struct execution *execution = owner;
	const struct execution_call call = { channel, number, body, len };
	const struct facts *facts = &execution->facts;

	if (execution->on_call && facts->began && !facts->done && !execution->finishing &&
		!execution->over)
		execution->on_call(execution, &call);
}

static void answer_shell(
	struct execution *execution, uint64_t channel, const char *code, const char *why)
{
	const struct execution_call call = { .channel = channel };
	struct bytes text = { "", 0 };
	struct arena arena;
	struct value *error;

	arena_init(&arena, ITEM_ARENA_BYTES);
	error = value_map(&arena);
	value_map_put(&arena, error, "code", value_text(&arena, code));
	value_map_put(&arena, error, "message", value_text(&arena, why));
	if (error && !arena.failed)
		(void)json_write_text(
			&arena, error, JSON_WRITE_COMPACT, SLOTMSG_REPORT_MAX, &text, NULL);
	execution_answer(execution, &call, JOB_RAISE, text.data, text.len);
	arena_done(&arena);
}

/* A process of a shell displays something, and waits to hear whether that was an item. */
static void show_item(void *owner, uint64_t channel, const char *body, size_t len)
{
	struct execution *execution = owner;
	const struct execution_call call = { .channel = channel };
	const char *why;
	struct arena arena;
	struct buf item;

	if (!can_display(execution) || execution->finishing) {
		answer_shell(execution, channel, "gone", "nobody looks at what is displayed");
		return;
	}
	arena_init(&arena, ITEM_ARENA_BYTES);
	buf_init(&item, 3 * len + ITEM_HEAD_BYTES); /* "1e1," becomes 9 bytes */
	why = shell_display_write(&arena, body, len, &item);
	if (why) {
		answer_shell(execution, channel, "bad_item", why);
	} else {
		put_display(execution, item.bytes, item.len);
		execution_answer(execution, &call, JOB_RETURN, "", 0);
	}
	buf_done(&item);
	arena_done(&arena);
}

/* So many bytes are room for each item that its limit allows, and for one that passes it. */
static struct channels_bounds bounds_of(const struct execution *execution)
{
	const struct job_limits *limits = &execution->spec->limits;
	struct channels_bounds bounds = { .at_once = (unsigned)limits->calls_at_once };

	if (execution->on_call) {
		bounds.call_bytes = limits->call_bytes + CALL_SLACK_BYTES;
		bounds.in_all += (unsigned)limits->calls + CALLS_PAST_LIMIT;
	}
	if (execution->spec->display) {
		bounds.display_bytes = limits->display_bytes + ITEM_HEAD_BYTES;
		bounds.in_all += JOB_DISPLAY_ITEMS_MAX + CALLS_PAST_LIMIT;
	}
	return bounds;
}

static void open_channels(struct execution *execution)
{
	const struct channels_events events = { take_call, show_item, execution };
	const struct channels_bounds bounds = bounds_of(execution);

	if (!needs_channels(execution) || execution->channels || !execution->worker->job ||
		(execution->session_limits && !execution->queue_fd))
		return;
	execution->channels = channels_start(execution->loop,
		execution->queue_fd ? execution->queue_fd : watch_fd(execution->worker->job),
		&events, &bounds);
}

void execution_answer(struct execution *execution, const struct execution_call *call,
	enum job_kind kind, const char *body, size_t len)
{
	if (!execution->worker || execution->over || execution->finishing)
		return;
	if (!call->channel)
		worker_send(execution->worker, kind, call->number, body, len);
	else if (execution->channels && execution->worker->job)
		channels_answer(execution->channels, call->channel, kind, call->number, body, len);
}

static const char *failure_of(
	struct execution *execution, const struct job_head *head, const char *body)
{
	size_t len = utf8_whole_prefix(body, head->len < FAILURE_BYTES ? head->len : FAILURE_BYTES);

	if (execution->next_cell)
		return "The session's process did not begin the cell: an earlier cell has changed it.";
	if (!utf8_is_valid(body, len))
		return "The jail could not begin the program, and does not say why.";
	return arena_printf(
		execution->arena, "The jail could not begin the program: %.*s", (int)len, body);
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
		open_channels(execution);
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
	case JOB_CALL:
		take_call(execution, 0, head->exit_code, body, head->len);
		return;
	case JOB_DISPLAY:
		take_display(execution, head, body);
		return;
	case JOB_FAILED:
		if (facts->began || facts->failed)
			return;
		facts->failed = true;
		facts->failure = failure_of(execution, head, body);
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
	worker_kill_run(execution->worker); /* kills everything that the program left behind */
	drain_pipes(execution);
	if (artifacts_are_coming(&execution->artifacts))
		execution->artifacts.on_end = end_execution; /* those of a cell that stood still */
	else
		after_death(execution);
}

/* The slot has counted for this cell what it reports of a worker's end. */
static void on_cell_ended(void *owner, const struct slotmsg *msg)
{
	struct execution *execution = owner;
	struct facts *facts = &execution->facts;

	if (execution->over || !facts->done || msg->status)
		return; /* of a dead worker, the slot reports the end */
	facts->has_disk = true;
	facts->disk_bytes = msg->disk_bytes;
	facts->inodes = msg->inodes;
	facts->disk_full = msg->flags & SLOTMSG_FLAG_DISK_FULL;
	facts->inodes_full = msg->flags & SLOTMSG_FLAG_INODES_FULL;
	take_refused(execution, msg);
	drain_pipes(execution);
	if (facts->killed != KILLED_NOT)
		return; /* the last bytes passed the cap */
	look_whether_it_stands(execution);
}

static void on_worker_gone(void *owner, const char *why)
{
	struct execution *execution = owner;

	execution->spoilt = execution->spoilt || execution->gated;
	if (execution->over || execution->gated) {
		execution->worker = NULL; /* the next upkeep frees it */
		return;
	}
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

static void on_drained(void *owner)
{
	struct execution *execution = owner;

	if (execution->on_room && !execution->over)
		execution->on_room(execution);
}

static void on_collected(void *owner, const struct slotmsg *msg)
{
	struct execution *execution = owner;

	artifacts_collected(&execution->artifacts, msg->status);
}

static const struct worker_events worker_events = {
	.adjusted = on_adjusted,
	.networked = on_networked,
	.job_message = on_job_message,
	.drained = on_drained,
	.output = on_worker_output,
	.ended = on_worker_ended,
	.collected = on_collected,
	.cell_ended = on_cell_ended,
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

static void expect_calls(const struct execution *execution, struct worker *worker)
{
	const struct job_limits *limits = &execution->spec->limits;

	if (execution->on_call)
		worker_expect_calls(worker, (unsigned)limits->calls + CALLS_PAST_LIMIT,
			limits->call_bytes + CALL_SLACK_BYTES);
}

static bool take_worker(struct execution *execution, struct worker *worker)
{
	const struct job_limits *limits = &execution->spec->limits;
	bool truncate = execution->spec->on_output_limit == ON_OUTPUT_TRUNCATE;

	execution->worker = worker;
	execution->next_cell = worker->state == WORKER_KEPT;
	execution->facts.is_later = execution->next_cell;
	execution->facts.disk_was_full = execution->disk_was_full;
	execution->facts.before = worker->before;
	execution->facts.has_memory_cgroup = knobs_hold(&worker->knobs, KNOB_MEMORY_EVENTS);
	execution->facts.has_pids_cgroup = knobs_hold(&worker->knobs, KNOB_PIDS_EVENTS);
	capture_init(&execution->out, limits->stdout_bytes, truncate);
	capture_init(&execution->errout, limits->stderr_bytes, truncate);
	capture_init(&execution->display, limits->display_bytes, truncate);
	execution->display.front_only = true;
	worker_take(worker, &worker_events, execution);
	worker->same_pipes = execution->stdin_inline;
	expect_calls(execution, worker);
	return worker_limit(worker, limits) == 0;
}

void execution_start(struct execution *execution, struct worker *worker)
{
	const struct job_limits *limits = &execution->spec->limits;

	execution->started_us = clock_us();
	if (!take_worker(execution, worker)) {
		fail_execution(execution, "The cgroup of the worker rejects its limits.");
		return;
	}
	if (!note_files(execution) && !needs_adjusting(worker, limits) && !execution->modules) {
		if (execution->has_network)
			open_network(execution);
		else
			send_job(execution);
		return;
	}
	execution->deadline = timer_new(execution->loop, DEADLINE_MS, 0, on_deadline, execution);
	if (!execution->deadline) {
		fail_execution(execution, "There is no memory to wait for the slot of the worker.");
		return;
	}
	if (worker_adjust(worker, limits, execution->modules,
		    execution->files_fd > 0 ? execution->files_fd : -1) < 0)
		fail_execution(execution, "The slot of the worker does not answer.");
}

bool execution_is_as_made(const struct worker *worker, const struct job_spec *spec)
{
	return spec->trace != TRACE_FILES && !needs_adjusting(worker, &spec->limits);
}

void execution_start_gated(struct execution *execution, struct worker *worker)
{
	struct job job;

	execution->gated = true;
	if (!take_worker(execution, worker) || make_job(execution, &job) ||
		worker_send_job(worker, job.body, job.len, job.fds, job.fd_count) < 0)
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
	if (execution->session_limits && execution->facts.done)
		return; /* the cell has ended, and its session goes on */
	kill_jail(execution, why);
}

void execution_release(struct execution *execution)
{
	if (execution->worker)
		worker_release(execution->worker);
	execution->worker = NULL;
	close_display(execution);
}

void execution_done(struct execution *execution)
{
	execution_release(execution);
	stop_clocks(execution);
	close_channels(execution);
	if (execution->has_network)
		close_fds(execution->network_fds, 2);
	artifacts_done(&execution->artifacts);
	capture_done(&execution->out);
	capture_done(&execution->errout);
	capture_done(&execution->display);
	arena_done(&execution->display_arena);
	if (execution->files_fd)
		close(execution->files_fd);
	execution->files_fd = 0;
}
