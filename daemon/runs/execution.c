#include "daemon/runs/execution.h"

#include <stdlib.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "daemon/runs/execution_parts.h"
#include "daemon/runs/job_body.h"
#include "daemon/runs/opened_files.h"
#include "proto/base/clock.h"
#include "proto/base/log.h"

#define DEFIANCE_MS   25    /* from a kill to one by other means */
#define LOOK_MS       100   /* between two looks whether it has come */
#define SILENT_MS     300   /* for the slot's word about processes that are gone */
#define DYING_MS      1000  /* for processes that are killed and not gone yet */
#define PATIENCE_MS   3000  /* without any sign of a death that is needed */
#define DEATH_MOST_MS 60000 /* with such signs */
#define CPU_LOOK_MS   5     /* shortest time between two looks at the cpu clock */

/* ---- ending --------------------------------------------------------------------------------- */

static void stop_clocks(struct execution *execution)
{
	timer_close(execution->wall);
	timer_close(execution->cpu);
	timer_close(execution->patience);
	execution->wall = NULL;
	execution->cpu = NULL;
	execution->patience = NULL;
}

static void on_patience(void *owner)
{
	struct execution *execution = owner;

	timer_close(execution->patience);
	execution->patience = NULL;
	if (execution->worker)
		worker_lose(execution->worker, "its death was not seen in time");
}

/*
 * With cgroup.kill written nothing of it can run any more, and why it was killed is known.  So nobody waits
 * for a slot that has stopped, or for processes that take long to be torn down.
 */
static bool is_over_without_word(const struct execution *execution, int64_t waited_ms)
{
	struct worker *worker = execution->worker;

	if (execution->facts.killed == KILLED_NOT || execution->facts.ended ||
		!knobs_hold(&worker->knobs, KNOB_KILL))
		return false;
	return waited_ms >= DYING_MS || (waited_ms >= SILENT_MS && worker_is_deserted(worker));
}

/* A death that still takes processor time, or a collector that still sends, is slow and not lost. */
static bool goes_on(struct execution *execution)
{
	size_t gathered = execution->gathering.bytes.len;
	bool grew = gathered > execution->gathered;

	execution->gathered = gathered;
	return worker_still_dies(execution->worker) || grew;
}

static void on_look(void *owner)
{
	struct execution *execution = owner;
	int64_t now_us = clock_us();

	if (!execution->worker)
		return;
	if (is_over_without_word(execution, (now_us - execution->looked_us) / 1000)) {
		execution->worker->doubted = true;
		execution_conclude(execution);
		return;
	}
	if (goes_on(execution))
		execution->moved_us = now_us;
	if (now_us - execution->moved_us >= (int64_t)PATIENCE_MS * 1000 ||
		now_us - execution->looked_us >= (int64_t)DEATH_MOST_MS * 1000)
		on_patience(execution);
}

/* From now on it is looked at whether its end comes. */
static void look_for_end(struct execution *execution)
{
	execution->looked_us = execution->moved_us = clock_us();
	timer_close(execution->patience);
	execution->patience = timer_new(execution->loop, LOOK_MS, LOOK_MS, on_look, execution);
}

static void on_defiance(void *owner)
{
	struct execution *execution = owner;

	if (execution->worker)
		worker_kill_harder(execution->worker);
	look_for_end(execution);
}

void execution_kill(struct execution *execution, enum limit_word why)
{
	if (!execution->worker || execution->over)
		return;
	if (execution->facts.killed == KILLED_NOT && !execution->finishing)
		execution->facts.killed = why;
	worker_kill(execution->worker);
	if (!execution->finishing)
		execution->ended_us = clock_us();
	execution->finishing = true;
	if (!execution->patience)
		execution->patience =
			timer_new(execution->loop, DEFIANCE_MS, 0, on_defiance, execution);
}

/* Whose memory was out, when something was killed for it. */
static void look_above(struct execution *execution)
{
	struct facts *facts = &execution->facts;
	struct worker *worker = execution->worker;
	const struct overhead_level *level;

	facts->short_above = knobs_short_above(&worker->knobs, &facts->before, &facts->after,
		execution->spec->limits.memory_bytes);
	if (!facts->short_above)
		return;
	level = execution->overhead ? overhead_short(execution->overhead, &facts->short_bytes)
				    : NULL;
	if (level)
		facts->short_where = arena_strdup(execution->arena, level->path);
}

void execution_conclude(struct execution *execution)
{
	struct facts *facts = &execution->facts;

	if (execution->over)
		return;
	execution->over = true;
	stop_clocks(execution);
	gathering_close(&execution->gathering);
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

/* Our own trouble: told in the facts, then as any other end. */
static void fail(struct execution *execution, const char *why)
{
	execution->facts.failed = true;
	execution->facts.failure = arena_strdup(execution->arena, why);
	execution->facts.worker_lost = execution->worker == NULL;
	execution_conclude(execution);
}

/* ---- artifacts ------------------------------------------------------------------------------ */

static void on_gathered(void *owner)
{
	execution_conclude(owner);
}

void execution_after_death(struct execution *execution)
{
	struct err err = ERR_INIT;

	stop_clocks(execution);
	if (execution->facts.killed == KILLED_CLOSING || !execution->spec->artifact_glob_count) {
		execution_conclude(execution);
		return;
	}
	look_for_end(execution);
	execution->gathering.on_end = on_gathered;
	execution->gathering.owner = execution;
	if (gathering_start(&execution->gathering, execution->worker, execution->spec, &err) < 0) {
		log_event(LOG_LEVEL_WARNING, "artifacts.not_collected", LOG_STR("why", err.text));
		execution_conclude(execution);
	}
}

/* ---- limits that the clock holds ------------------------------------------------------------ */

static void on_wall(void *owner)
{
	struct execution *execution = owner;

	execution_kill(execution, KILLED_WALL);
}

/* How much of the processors it can have at a time, so that a look at its clock comes in time. */
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
		execution_kill(execution, KILLED_CPU);
	else
		timer_set(execution->cpu,
			(limit_us - used_us) / 10 / most_percent(execution) + CPU_LOOK_MS);
}

static void start_clocks(struct execution *execution)
{
	const struct job_limits *limits = &execution->spec->limits;

	execution->wall = timer_new(execution->loop, limits->wall_ms, 0, on_wall, execution);
	if (knobs_hold(&execution->worker->knobs, KNOB_CPU_USAGE) &&
		limits->cpu_ms * 100 < limits->wall_ms * most_percent(execution))
		execution->cpu = timer_new(execution->loop,
			limits->cpu_ms * 100 / most_percent(execution), 0, on_cpu, execution);
}

/* ---- beginning ------------------------------------------------------------------------------ */

static void send_job(struct execution *execution)
{
	const struct job_spec *spec = execution->spec;
	struct job_extras extras = { execution->rules, execution->stdin_inline,
		!knobs_hold(&execution->worker->knobs, KNOB_MEMORY_MAX) };
	bool has_file = spec->has_input && !execution->stdin_inline;
	struct err err = ERR_INIT;
	size_t len = 0;
	char *body;
	int stdin_fd = -1;

	execution->held = execution->on_hold;
	if (execution->held)
		return;
	body = job_body_write(spec, extras, &len);
	if (body && has_file)
		stdin_fd = job_stdin_file(spec, &err);
	if (!body || (has_file && stdin_fd < 0)) {
		free(body);
		fail(execution, body ? err.text : "The job is too large to be sent to a worker.");
		return;
	}
	start_clocks(execution);
	execution->sent_us = clock_us();
	if (worker_send_job(execution->worker, body, len, stdin_fd) < 0) {
		fail(execution, "The worker died before it got the job.");
		return;
	}
	execution->sent = true;
	execution->facts.job_sent = true;
}

void execution_go(struct execution *execution, const char *trouble)
{
	execution->on_hold = false;
	if (execution->over || execution->finishing)
		return; /* it was cancelled meanwhile */
	if (trouble)
		fail(execution, trouble);
	else if (execution->held)
		send_job(execution);
}

void execution_on_adjusted(struct execution *execution, const struct slotmsg *msg)
{
	/* Whoever is being killed gets no job any more: what it ran would have to be told as run. */
	if (execution->sent || execution->finishing || execution->over)
		return;
	timer_close(execution->patience);
	execution->patience = NULL;
	if (msg->status)
		fail(execution,
			arena_printf(execution->arena,
				"The limits of the worker could not be set: %s", msg->text));
	else
		send_job(execution);
}

/* Is there anything that only the slot can change? */
static bool needs_adjusting(const struct worker *worker, const struct job_limits *limits)
{
	const struct job_limits *made = &worker->made_with;
	bool rlimits = made->open_files != limits->open_files ||
		       made->file_bytes != limits->file_bytes ||
		       (made->cpu_ms + 999) / 1000 != (limits->cpu_ms + 999) / 1000;
	bool cpu = !knobs_hold(&worker->knobs, KNOB_CPU_USAGE) && made->cpu_ms != limits->cpu_ms;
	bool memory = !knobs_hold(&worker->knobs, KNOB_MEMORY_MAX) &&
		      made->memory_bytes != limits->memory_bytes;
	bool pids = !knobs_hold(&worker->knobs, KNOB_PIDS_MAX) && made->pids != limits->pids;

	return rlimits || cpu || memory || pids || made->disk_bytes != limits->disk_bytes ||
	       made->inodes != limits->inodes;
}

/* Without a file to note them in the result says nothing of files. */
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

void execution_start(struct execution *execution, struct worker *worker)
{
	const struct job_limits *limits = &execution->spec->limits;
	bool truncate = execution->spec->on_output_limit == ON_OUTPUT_TRUNCATE;

	execution->started_us = clock_us();
	execution->worker = worker;
	execution->facts.before = worker->before;
	execution->facts.has_memory_cgroup = knobs_hold(&worker->knobs, KNOB_MEMORY_EVENTS);
	execution->facts.has_pids_cgroup = knobs_hold(&worker->knobs, KNOB_PIDS_EVENTS);
	capture_init(&execution->out, limits->stdout_bytes, truncate);
	capture_init(&execution->errout, limits->stderr_bytes, truncate);
	worker_take(worker, execution);
	if (knobs_set(&worker->knobs, limits) < 0) {
		fail(execution, "The cgroup of the worker refuses its limits.");
		return;
	}
	if (!note_files(execution) && !needs_adjusting(worker, limits)) {
		send_job(execution);
		return;
	}
	execution->patience = timer_new(execution->loop, PATIENCE_MS, 0, on_patience, execution);
	if (worker_adjust(worker, limits, execution->files_fd > 0 ? execution->files_fd : -1) < 0)
		fail(execution, "The slot of the worker does not listen.");
}

void execution_cancel(struct execution *execution, enum limit_word why)
{
	if (execution->over)
		return;
	if (execution->worker && execution->worker->ended)
		return; /* its artifacts are being gathered: it is nearly over */
	execution_kill(execution, why);
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
	gathering_done(&execution->gathering);
	capture_done(&execution->out);
	capture_done(&execution->errout);
	if (execution->files_fd)
		close(execution->files_fd);
	execution->files_fd = 0;
}
