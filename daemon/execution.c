#include "daemon/execution.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>

#include "daemon/opened_files.h"
#include "proto/base/cleanup.h"
#include "proto/base/clock.h"
#include "proto/base/fdio.h"
#include "proto/base/log.h"
#include "proto/json.h"

#define DEFIANCE_MS        25                /* from a kill to one by other means */
#define PATIENCE_MS        3000              /* from there to the news of the death */
#define CPU_LOOK_MS        5                 /* shortest time between two looks at the cpu clock */
#define ARTIFACT_HEADS_MAX ((size_t)4 << 20) /* names and heads beside the bytes themselves */

/* What a report about an exception may cost to read. */
static const struct json_bounds ERROR_BOUNDS = { LEASE_REPORT_MAX, 8, 1024 };

static void conclude(struct execution *execution);
static void after_death(struct execution *execution);

/* ---- the job on its way in ------------------------------------------------------------------ */

static void append_sized(struct buf *body, const char *bytes, size_t len)
{
	uint32_t size = (uint32_t)len;

	(void)buf_append(body, &size, sizeof(size));
	(void)buf_append(body, bytes, len);
}

static void append_files(struct buf *body, const struct job_spec *spec)
{
	for (size_t i = 0; i < spec->file_count; i++) {
		const struct job_input_file *file = &spec->files[i];
		struct job_file head = { .path_len = (uint32_t)strlen(file->path),
			.mode = file->mode,
			.data_len = file->data.len };

		(void)buf_append(body, &head, sizeof(head));
		(void)buf_append(body, file->path, head.path_len);
		(void)buf_append(body, file->data.data, file->data.len);
	}
}

static size_t body_size(const struct job_spec *spec, struct bytes rules, bool stdin_inline)
{
	size_t size = sizeof(struct job_head) + sizeof(struct job_body) + spec->code.len +
		      strlen(spec->entrypoint) + rules.len;

	for (size_t i = 0; i < spec->arg_count; i++)
		size += sizeof(uint32_t) + spec->args[i].len;
	for (size_t i = 0; i < spec->env_count; i++)
		size += sizeof(uint32_t) + strlen(spec->env[i].key) + 1 + spec->env[i].value.len;
	for (size_t i = 0; i < spec->file_count; i++)
		size += sizeof(struct job_file) + strlen(spec->files[i].path) +
			spec->files[i].data.len;
	if (stdin_inline)
		size += sizeof(uint64_t) + spec->input.len;
	return size;
}

static uint32_t flags_of(const struct job_spec *spec)
{
	uint64_t processors = (spec->limits.cpu_percent + 99) / 100;
	uint32_t flags = spec->deterministic ? JOB_FLAG_DETERMINISTIC : 0;

	return processors > 1 ? flags | JOB_PROCESSORS(processors < 255 ? processors : 255) : flags;
}

/* Gives head and body in one piece, or NULL. */
static char *write_job(
	const struct job_spec *spec, struct bytes rules, bool stdin_inline, size_t *ret_len)
{
	uint64_t stdin_len = spec->input.len;
	struct job_head head = { .magic = LEASE_MAGIC, .kind = JOB_START };
	struct job_body parts = { .code_len = (uint32_t)spec->code.len,
		.entrypoint_len = (uint32_t)strlen(spec->entrypoint),
		.arg_count = (uint32_t)spec->arg_count,
		.env_count = (uint32_t)spec->env_count,
		.file_count = (uint32_t)spec->file_count,
		.has_stdin = !spec->has_input ? JOB_STDIN_NONE
			     : stdin_inline   ? JOB_STDIN_INLINE
					      : JOB_STDIN_FD,
		.flags = flags_of(spec),
		.rules_len = (uint32_t)rules.len };
	size_t size = body_size(spec, rules, stdin_inline && spec->has_input);
	struct buf body;

	if (size > LEASE_BODY_MAX)
		return NULL;
	buf_init(&body, size);
	if (buf_reserve(&body, size) < 0)
		return NULL;
	/* Room for everything is there; the appends below cannot fail. */
	head.len = (uint32_t)(size - sizeof(head));
	(void)buf_append(&body, &head, sizeof(head));
	(void)buf_append(&body, &parts, sizeof(parts));
	(void)buf_append(&body, spec->code.data, spec->code.len);
	(void)buf_append(&body, spec->entrypoint, parts.entrypoint_len);
	(void)buf_append(&body, rules.data, rules.len);
	for (size_t i = 0; i < spec->arg_count; i++)
		append_sized(&body, spec->args[i].data, spec->args[i].len);
	for (size_t i = 0; i < spec->env_count; i++) {
		uint32_t len = (uint32_t)(strlen(spec->env[i].key) + 1 + spec->env[i].value.len);

		(void)buf_append(&body, &len, sizeof(len));
		(void)buf_printf(&body, "%s=", spec->env[i].key);
		(void)buf_append(&body, spec->env[i].value.data, spec->env[i].value.len);
	}
	append_files(&body, spec);
	if (stdin_inline && spec->has_input) {
		(void)buf_append(&body, &stdin_len, sizeof(stdin_len));
		(void)buf_append(&body, spec->input.data, spec->input.len);
	}
	return buf_take(&body, ret_len);
}

/* A sealed file with these bytes, at its start; what a shell's `< file` would give. */
static int file_of_bytes(const char *name, const char *bytes, size_t len, struct err *err)
{
	auto_fd int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0)
		return err_sys(err, "memfd_create");
	if (write_all(fd, bytes, len, err) < 0)
		return -1;
	if (lseek(fd, 0, SEEK_SET) < 0 ||
		fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) <
			0)
		return err_sys(err, "sealing %s", name);
	return take_fd(&fd);
}

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

static void on_defiance(void *owner)
{
	struct execution *execution = owner;

	timer_close(execution->patience);
	execution->patience = timer_new(execution->loop, PATIENCE_MS, 0, on_patience, execution);
	if (execution->worker)
		worker_kill_harder(execution->worker);
}

static void kill_now(struct execution *execution, enum limit_word why)
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

/* Our own trouble: told in the facts, then as any other end. */
static void fail(struct execution *execution, const char *why)
{
	execution->facts.failed = true;
	execution->facts.failure = arena_strdup(execution->arena, why);
	execution->facts.worker_lost = execution->worker == NULL;
	conclude(execution);
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
	if (state == CAPTURE_PASSED && execution->facts.killed == KILLED_NOT) {
		/* The done word may have come first: the cap was passed all the same. */
		execution->finishing = false;
		kill_now(execution, is_stderr ? KILLED_STDERR : KILLED_STDOUT);
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

static void conclude(struct execution *execution)
{
	struct facts *facts = &execution->facts;

	if (execution->over)
		return;
	execution->over = true;
	stop_clocks(execution);
	watch_close(execution->artifacts);
	execution->artifacts = NULL;
	if (!execution->ended_us)
		execution->ended_us = clock_us();
	facts->stdout_total = execution->out.total;
	facts->stderr_total = execution->errout.total;
	if (execution->worker) {
		knobs_count(&execution->worker->knobs, &facts->after);
		facts->memory_peak = knobs_memory_peak(&execution->worker->knobs, &facts->before);
	} else {
		facts->after = facts->before;
	}
	execution->on_end(execution);
}

/* ---- artifacts ------------------------------------------------------------------------------ */

static void on_artifact_bytes(void *owner, int events)
{
	struct execution *execution = owner;
	struct buf *bytes = &execution->artifact_bytes;
	ssize_t got = 0;

	(void)events;
	if (buf_reserve(bytes, 65536) < 0) {
		log_event(LOG_LEVEL_WARNING, "artifacts.too_many_bytes");
	} else {
		got = read(watch_fd(execution->artifacts), bytes->bytes + bytes->len, 65536);
		if (got < 0 && (errno == EAGAIN || errno == EINTR))
			return;
	}
	if (got > 0) {
		bytes->len += (size_t)got;
		return;
	}
	watch_close(execution->artifacts);
	execution->artifacts = NULL;
	if (execution->collecting)
		return; /* the collector's end is still to be told */
	conclude(execution);
}

void execution_on_collected(struct execution *execution)
{
	if (!execution->collecting)
		return; /* nobody asked */
	execution->collecting = false;
	if (!execution->artifacts)
		conclude(execution);
}

static int globs_file(const struct job_spec *spec, struct err *err)
{
	struct buf text;
	int fd;

	buf_init(&text, (size_t)1 << 20);
	for (size_t i = 0; i < spec->artifact_glob_count; i++) {
		(void)buf_append_text(&text, spec->artifact_globs[i]);
		(void)buf_append_byte(&text, 0);
	}
	fd = file_of_bytes("globs", text.bytes ? text.bytes : "", text.len, err);
	buf_done(&text);
	return fd;
}

static int start_collecting(struct execution *execution, struct err *err)
{
	const struct job_limits *limits = &execution->spec->limits;
	auto_fd int globs = globs_file(execution->spec, err);
	auto_fd int write_end = -1;
	int ends[2];

	if (globs < 0)
		return -1;
	if (pipe2(ends, O_CLOEXEC) < 0)
		return err_sys(err, "a pipe for artifacts");
	write_end = ends[1];
	(void)fd_set_nonblocking(ends[0], true, err);
	buf_init(&execution->artifact_bytes, (size_t)limits->artifact_bytes + ARTIFACT_HEADS_MAX);
	execution->artifacts =
		watch_new(execution->loop, ends[0], UV_READABLE, on_artifact_bytes, execution);
	if (!execution->artifacts)
		return err_set(err, ERR_MEMORY, "no memory for artifacts");
	execution->collecting = true;
	return worker_collect(execution->worker, write_end, globs, limits->artifact_bytes,
		(uint32_t)limits->artifact_count);
}

/* Every process of the run is dead: nothing can change under the collector's hands. */
static void after_death(struct execution *execution)
{
	struct err err = ERR_INIT;

	stop_clocks(execution);
	if (execution->facts.killed == KILLED_CLOSING || !execution->spec->artifact_glob_count) {
		conclude(execution);
		return;
	}
	execution->patience = timer_new(execution->loop, PATIENCE_MS, 0, on_patience, execution);
	if (start_collecting(execution, &err) < 0) {
		log_event(LOG_LEVEL_WARNING, "artifacts.not_collected", LOG_STR("why", err.text));
		conclude(execution);
	}
}

/* ---- what the worker tells ------------------------------------------------------------------ */

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
	if (execution->facts.done_code == 0 && !execution->spec->artifact_glob_count &&
		!execution->files_fd && !worker_has_news(execution->worker))
		conclude(execution);
	else
		kill_now(execution, KILLED_NOT); /* its death brings the rest of the facts */
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
	kill_now(execution, KILLED_NOT);
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
		kill_now(execution, KILLED_NOT);
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

/* What came before there was a job, the harness brought about and nobody's program. */
static void take_refused(struct execution *execution, const struct lease_msg *msg)
{
	struct facts *facts = &execution->facts;
	struct lease_refused *rows;

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

void execution_on_worker_ended(struct execution *execution, const struct lease_msg *msg)
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
	facts->disk_full = msg->flags & LEASE_FLAG_DISK_FULL;
	facts->inodes_full = msg->flags & LEASE_FLAG_INODES_FULL;
	facts->cpu_spent = msg->flags & LEASE_FLAG_CPU_LIMIT;
	take_refused(execution, msg);
	take_files(execution);
	worker_drain_job(execution->worker);
	if (execution->over)
		return; /* the done word was still in the socket */
	if (!execution->ended_us)
		execution->ended_us = clock_us();
	facts->gone_us = facts->killed ? clock_us() - execution->ended_us : 0;
	execution->finishing = true;
	worker_kill(execution->worker); /* whatever it left behind goes with it */
	drain(execution);
	after_death(execution);
}

void execution_on_worker_gone(struct execution *execution, const char *why)
{
	if (execution->over)
		return;
	drain(execution);
	execution->facts.after = execution->facts.before;
	execution->facts.worker_lost = true;
	execution->facts.failure =
		execution->facts.failure
			? execution->facts.failure
			: arena_printf(execution->arena, "The worker was lost: %s", why);
	execution->worker = NULL;
	conclude(execution);
}

/* ---- limits that the clock holds ------------------------------------------------------------ */

static void on_wall(void *owner)
{
	struct execution *execution = owner;

	kill_now(execution, KILLED_WALL);
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
		kill_now(execution, KILLED_CPU);
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
	struct err err = ERR_INIT;
	size_t len = 0;
	char *body;
	int stdin_fd = -1;

	execution->held = execution->on_hold;
	if (execution->held)
		return;
	body = write_job(spec, execution->rules, execution->stdin_inline, &len);
	if (body && spec->has_input && !execution->stdin_inline)
		stdin_fd = file_of_bytes("stdin", spec->input.data, spec->input.len, &err);
	if (!body || (spec->has_input && !execution->stdin_inline && stdin_fd < 0)) {
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

void execution_on_adjusted(struct execution *execution, const struct lease_msg *msg)
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
	kill_now(execution, why);
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
	watch_close(execution->artifacts);
	execution->artifacts = NULL;
	capture_done(&execution->out);
	capture_done(&execution->errout);
	buf_done(&execution->artifact_bytes);
	if (execution->files_fd)
		close(execution->files_fd);
	execution->files_fd = 0;
}
