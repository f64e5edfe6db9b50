/* WORKER: runs the job in a jail that was ready before, and collects the facts about its end. */
#include "daemon/door/conn.h"
#include "daemon/door/notification.h"
#include "daemon/request/approvals.h"
#include "daemon/request/cell.h"
#include "daemon/request/module_hint.h"
#include "daemon/request/networking.h"
#include "daemon/request/pipeline.h"
#include "daemon/request/request_packages.h"
#include "daemon/request/run_calls.h"
#include "daemon/request/run_display.h"
#include "daemon/request/run_events.h"
#include "daemon/request/stages.h"
#include "daemon/request/worker_finding.h"
#include "daemon/runs/job_body.h"
#include "daemon/runs/outcome.h"
#include "daemon/runs/refused.h"
#include "daemon/services.h"
#include "daemon/settings/complaint.h"
#include "daemon/workers/pool.h"
#include "daemon/workers/runtime.h"
#include "daemon/workers/worker.h"
#include "proto/base/clock.h"
#include "proto/base/container.h"
#include "proto/jail_dirs.h"
#include "proto/wire/rpc.h"

static void fill_times(struct request *request, const struct execution *execution)
{
	struct job_metrics *metrics = &request->result.metrics;
	int64_t begun_us = execution->begun_us ? execution->begun_us : execution->sent_us;
	int64_t now_us = clock_us();

	if (!execution->sent_us)
		return;
	metrics->start_us = begun_us - execution->started_us;
	metrics->exec_us = execution->ended_us - begun_us;
	metrics->collect_us = now_us - execution->ended_us;
}

/* The program as its interpreter names it: a cell is a file of /work that does not exist. */
static struct job_spec named_as_printed(struct request *request)
{
	struct job_spec spec = request->spec;
	char name[JOB_CELL_NAME_MAX];
	const char *path = NULL;

	if (request->cell) {
		job_name_cell(&spec, request->cell, name);
		path = arena_printf(&request->arena, JAIL_WORK_DIR "/%s", name);
	}
	spec.entrypoint = path ? path : spec.entrypoint;
	return spec;
}

/* Without an error from a harness, looks for one in what the interpreter wrote to stderr. */
static void find_printed_error(struct request *request, struct execution *execution)
{
	const struct job_spec spec = named_as_printed(request);
	const char *forms[CONFIG_FORMS_MAX + 1];
	const char *head;
	const char *tail;
	size_t head_len = 0;
	size_t tail_len = 0;

	if (!runtime_forms(request->runtime, forms) || execution->facts.error)
		return;
	execution->facts.speechless = true;
	capture_kept(&execution->errout, &head, &head_len, &tail, &tail_len);
	execution->facts.error = complaint_find(&request->arena, forms, &spec,
		tail_len ? tail : head, tail_len ? tail_len : head_len);
}

static void add_refused_calls(struct request *request, const struct execution *execution)
{
	struct job_result *result = &request->result;
	int64_t begun_us = execution->begun_us ? execution->begun_us : execution->sent_us;

	refused_tell(&request->arena, &execution->facts, begun_us, execution->ended_us, result);
	for (size_t i = 0; i < result->refused_count; i++)
		request_step_at(request, begun_us + result->refused[i].first_us,
			&(struct job_step){ "call.refused", "execute", 0, false,
				refused_note(&request->arena, &result->refused[i]) });
}

static void add_opened_files(struct request *request, const struct execution *execution)
{
	const struct value *opened = value_get(execution->facts.files, "opened");

	if (request->spec.trace != TRACE_FILES || !execution->sent)
		return;
	request->result.files = execution->facts.files;
	request_step(request, "files.opened", "execute", execution->facts.files != NULL,
		execution->facts.files
			? arena_printf(&request->arena, "%zu files", opened->list.count)
			: "the host cannot watch them");
}

/* All connections of the run are told. */
static void go_on(struct request *request)
{
	request->awaits_network = false;
	request_enter(request, STAGE_OUTPUT);
}

/* What is left when no thread works for its calls any more.  May call back stage_worker_ended(). */
static void on_execution_end(struct execution *execution)
{
	struct request *request = execution->owner;

	if (!request->calls || run_calls_end(request->calls))
		stage_worker_ended(request);
}

void stage_worker_ended(struct request *request)
{
	struct execution *execution = &request->execution;

	fill_times(request, execution);
	find_printed_error(request, execution);
	outcome_decide(&request->arena, &request->spec.limits, &execution->facts, &request->result);
	if (request->session)
		cell_over(request);
	worker_finding_add(request, &execution->facts);
	module_hint_add(request, &execution->facts);
	add_opened_files(request, execution);
	add_refused_calls(request, execution);
	if (request->calls)
		run_calls_describe(request->calls);
	request_step(request, "worker.ended", "execute", request->result.outcome == OUTCOME_OK,
		outcome_word(request->result.outcome));
	request->awaits_network = networking_end(request, go_on);
	/*
	 * If the end comes while stage_worker() still sends the job, it returns the next stage
	 * itself.
	 */
	if (!request->walking && !request->awaits_network)
		request_enter(request, STAGE_OUTPUT);
}

/* Sends output of the program, or keeps it until the store durably knows the run. */
static void on_program_output(struct execution *execution, const char *stream, uint64_t offset,
	const char *bytes, size_t len)
{
	struct request *request = execution->owner;
	struct buf message;
	struct err err = ERR_INIT;

	if (!request->conn)
		return;
	buf_init(&message, len + 4096);
	if (notification_write_output(request->known ? &message : &request->early_output,
		    request->result.run_id, stream, offset, (struct bytes){ bytes, len },
		    &err) == 0 &&
		request->known)
		conn_send_buf(request->conn, &message);
	buf_done(&message);
}

static void describe_call_enforcers(struct arena *arena, struct value *map)
{
	static const char *const names[] = { "calls", "calls_at_once", "call_bytes" };
	static const char *const times[] = { "call_ms", "calls_ms" };

	for (size_t i = 0; i < COUNT_OF(names); i++)
		value_map_put(arena, map, names[i], value_text(arena, "count"));
	for (size_t i = 0; i < COUNT_OF(times); i++)
		value_map_put(arena, map, times[i], value_text(arena, "clock"));
}

static void on_program_display(struct execution *execution)
{
	run_display_look(execution->owner);
}

static struct value *describe_enforcers(struct request *request)
{
	struct arena *arena = &request->arena;
	const struct knobs *knobs = &request->execution.worker->knobs;
	const struct priv_host *host = &request->services->pool->host;
	static const char *const words[] = { "rlimit", "cgroup1", "cgroup2" };
	struct value *map = value_map(arena);
	bool memory = knobs_hold(knobs, KNOB_MEMORY_MAX);
	bool pids = knobs_hold(knobs, KNOB_PIDS_MAX);
	bool cpu_time = knobs_hold(knobs, KNOB_CPU_USAGE);
	bool cpu = knobs_hold(knobs, KNOB_CPU_MAX);
	/* on cgroup v1 a separate controller counts CPU time */
	uint32_t cpu_kind = host->cpu ? host->cpu : PRIV_CGROUP_V1;

	value_map_put(arena, map, "wall_ms", value_text(arena, "clock"));
	value_map_put(arena, map, "cpu_ms", value_text(arena, words[cpu_time ? cpu_kind : 0]));
	value_map_put(arena, map, "cpu_percent", value_text(arena, cpu ? words[cpu_kind] : "none"));
	value_map_put(
		arena, map, "memory_bytes", value_text(arena, words[memory ? host->memory : 0]));
	value_map_put(arena, map, "disk_bytes", value_text(arena, "tmpfs"));
	value_map_put(arena, map, "file_bytes", value_text(arena, "rlimit"));
	value_map_put(arena, map, "inodes", value_text(arena, "tmpfs"));
	value_map_put(arena, map, "pids", value_text(arena, words[pids ? host->pids : 0]));
	value_map_put(arena, map, "stdout_bytes", value_text(arena, "pipe"));
	value_map_put(arena, map, "stderr_bytes", value_text(arena, "pipe"));
	value_map_put(arena, map, "display_bytes", value_text(arena, "pipe"));
	value_map_put(arena, map, "artifact_bytes", value_text(arena, "pipe"));
	value_map_put(arena, map, "artifact_count", value_text(arena, "pipe"));
	value_map_put(arena, map, "open_files", value_text(arena, "rlimit"));
	describe_call_enforcers(arena, map);
	return map;
}

void stage_worker_prepare(struct request *request)
{
	struct execution *execution = &request->execution;

	execution->loop = request->services->loop;
	execution->spec = &request->spec;
	execution->outer_cgroups = &request->services->pool->outer_cgroups;
	execution->run_id = request->result.run_id;
	execution->stdin_inline = runtime_reads_stdin_inline(request->runtime);
	if (runtime_holds_rules(request->runtime))
		execution->rules = policy_run_rules(
			request->policies, request->policy, runtime_language(request->runtime));
	execution->arena = &request->arena;
	execution->owner = request;
	execution->on_end = on_execution_end;
	execution->on_output = request->spec.stream ? on_program_output : NULL;
	execution->on_display = request->spec.stream ? on_program_display : NULL;
	execution->on_hold = request->parking != NULL;
	execution->by_channels = request->runtime->config->kind == KIND_COMMAND;
	if (request->packages.count)
		request_packages_give(request);
	if (request->calls)
		run_calls_prepare(execution);
	networking_begin(request);
}

enum stage stage_worker(struct request *request)
{
	struct execution *execution = &request->execution;
	struct worker *worker = execution->worker;

	request->result.enforced_by = describe_enforcers(request);
	if (execution->gated) {
		execution_open(execution);
	} else {
		stage_worker_prepare(request);
		if (request->session)
			cell_begin(request);
		execution_start(execution, worker);
	}
	if (request->parking)
		approval_start(request); /* the run waits for this, with its worker */
	else if (!request->begun.done)   /* a detached run is recorded already */
		stage_record_begun(
			request, request->spec.stream || request->calls || run_is_watched(request));
	event_run_started(request);
	if (!execution->over || request->awaits_network ||
		(request->calls && run_calls_busy(request->calls)))
		return STAGE_WAIT;
	return STAGE_OUTPUT;
}

void stage_worker_cancel(struct request *request)
{
	if (request->execution.started_us && !request->execution.over)
		execution_cancel(&request->execution, request->canceled);
}

void stage_worker_leave(struct request *request)
{
	execution_done(&request->execution);
	networking_leave(request);
	buf_done(&request->early_output);
}
