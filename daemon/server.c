#include "daemon/server.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/door/conn.h"
#include "daemon/door/listener.h"
#include "daemon/host.h"
#include "daemon/methods/methods_budgets.h"
#include "daemon/methods/rehearsal.h"
#include "daemon/pipeline.h"
#include "daemon/record/readers.h"
#include "daemon/record/redaction.h"
#include "daemon/redact/pattern_book.h"
#include "daemon/settings/allowances.h"
#include "daemon/stages.h"
#include "daemon/workers/inspectors.h"
#include "proto/base/clock.h"
#include "proto/base/container.h"
#include "proto/method.h"
#include "proto/version.h"

#define SWEEP_MS            60000
#define GRACE_MS            10000 /* for what runs when the daemon is told to stop */
#define CANCELED_MS         4000  /* for what was cancelled then to end and be recorded */
#define EXAMINED_MS         20    /* to look again whether threads are done with outputs */
#define REFUSALS_PER_MINUTE 30

/* ---- who is let in --------------------------------------------------------------------------- */

const char *server_admit(struct server *server, struct list *link, const struct caller *caller)
{
	const char *full = NULL;

	if (server->draining && server->closing)
		return "the daemon is closing";
	full = ceilings_enter(&server->ceilings, caller->uid, caller_is(caller, ROLE_ADMIN));
	if (!full)
		list_append(&server->conns, link);
	return full;
}

void server_conn_gone(struct server *server, struct list *link, uint32_t uid)
{
	if (list_is_empty(link))
		return; /* it was never let in */
	list_remove(link);
	ceilings_leave(&server->ceilings, uid);
}

void server_log_refusal(struct server *server, uint32_t uid, const char *why)
{
	const struct log_field fields[] = { LOG_INT("uid", uid), LOG_STR("why", why) };

	log_limited(&server->refusals, REFUSALS_PER_MINUTE, LOG_LEVEL_NOTICE, "conn.refused",
		fields, 2);
}

/* ---- runs in the house ---------------------------------------------------------------------- */

int server_remember(struct server *server, struct request *request)
{
	return map_put(&server->runs, request->result.run_id, RUN_ID_LEN, request, NULL);
}

static void end_when_empty(struct server *server);

void server_forget(struct server *server, struct request *request)
{
	(void)map_remove(&server->runs, request->result.run_id, RUN_ID_LEN);
	end_when_empty(server);
}

int64_t server_in_house(const struct server *server)
{
	return (int64_t)server->runs.count - server->approvals.count;
}

struct value *server_describe_host(const struct server *server, struct arena *arena)
{
	static const char *const words[] = { "rlimit", "cgroup1", "cgroup2" };
	const struct priv_host *host = &server->host;
	struct value *map = value_map(arena);

	value_map_put(arena, map, "memory", value_text(arena, words[host->memory % 3]));
	value_map_put(arena, map, "pids", value_text(arena, words[host->pids % 3]));
	value_map_put(arena, map, "cpu", value_text(arena, words[host->cpu % 3]));
	value_map_put(arena, map, "landlock_abi",
		value_int(arena, host->landlock_abi > 0 ? host->landlock_abi : 0));
	value_map_put(
		arena, map, "why_not", value_text(arena, host->why_not[0] ? host->why_not : NULL));
	value_map_put(arena, map, "missing", layers_missing(host, arena));
	return map;
}

/* ---- stopping ------------------------------------------------------------------------------- */

struct run_name {
	char id[RUN_ID_LEN];
};

static int collect_run(void *context, const void *key, size_t key_len, void *value)
{
	struct run_name **at = context;

	(void)value;
	memcpy((*at)++->id, key, key_len);
	return 0;
}

/* Cancelling changes the map, and takes others along: names are gathered first. */
int64_t server_cancel_all(struct server *server, enum limit_word why)
{
	size_t count = server->runs.count;
	struct run_name *all = calloc(count + 1, sizeof(*all));
	struct run_name *at = all;

	if (!all)
		return -1;
	(void)map_each(&server->runs, collect_run, &at);
	for (size_t i = 0; i < count; i++) {
		struct request *request = map_get(&server->runs, all[i].id, RUN_ID_LEN);

		if (request)
			request_cancel(request, why);
	}
	free(all);
	return (int64_t)count;
}

static void stop_care(struct server *server)
{
	wallclock_stop(&server->wallclock);
	alerts_stop(&server->alerts);
	checkup_stop(&server->checkup);
	backups_stop(&server->backups);
	gc_stop(&server->gc);
	caretaker_close(server->caretaker);
	backups_stop(&server->backups);
}

static void close_parts(struct server *server)
{
	if (server->closing)
		return;
	server->closing = true;
	host_stopping();
	timer_close(server->grace);
	timer_close(server->watchdog);
	timer_close(server->sweep);
	for (unsigned i = 0; i < COUNT_OF(server->signals); i++)
		uv_close((uv_handle_t *)&server->signals[i], NULL);
	listener_close(server->listener);
	approvals_leave(&server->approvals);
	/* Whatever is still in the house ends here, is recorded, and is told to whoever listens. */
	(void)server_cancel_all(server, KILLED_CLOSING);
	inspectors_closing(server->inspectors);
	policies_stop(server->policies);
	rehearsals_close(server);
	pool_stop(&server->pool);
	audit_close(&server->audit);
	recorder_close(server->recorder);
	server->recorder = NULL;
	stop_care(server);
	errands_stop(&server->errands); /* questions; outputs were waited for */
	list_for_each(at, &server->conns)
		conn_close_link(at);
	turns_close(&server->turns);
	spawner_link_close(server->spawner);
	inspectors_free(server->inspectors);
	pool_close(&server->pool);
	policies_close(server->policies);
}

static void end_when_empty(struct server *server)
{
	if (server->draining && !server->runs.count && !server->closing && server->grace)
		timer_set(server->grace, 0); /* from the loop, not from under whoever is leaving */
}

static void on_grace(void *owner)
{
	struct server *server = owner;

	if (server->runs.count) {
		(void)server_cancel_all(server, KILLED_CLOSING);
		if (server->runs.count) {
			timer_set(server->grace, CANCELED_MS); /* their ends are on the way */
			server->grace_rounds++;
			if (server->grace_rounds < 2)
				return;
			if (server->grace_rounds == 2)
				log_event(LOG_LEVEL_ERROR, "stop.runs_left",
					LOG_INT("runs", server->runs.count));
		}
	}
	if (server->examining) /* a thread has it: what it costs is bounded */
		timer_set(server->grace, EXAMINED_MS);
	else
		close_parts(server);
}

void server_drain(struct server *server, const char *why)
{
	if (server->draining)
		return;
	log_event(LOG_LEVEL_NOTICE, "drain", LOG_STR("why", why),
		LOG_INT("runs", server->runs.count));
	server->draining = true;
	approvals_leave(&server->approvals);
	server->grace =
		timer_new(&server->loop, server->runs.count ? GRACE_MS : 0, 0, on_grace, server);
	if (!server->grace)
		close_parts(server);
}

static void on_signal(uv_signal_t *handle, int number)
{
	struct server *server = handle->data;

	if (server->draining && server->grace)
		timer_set(server->grace, 0); /* told twice: now */
	server_drain(server, strsignal(number));
}

/* ---- what the parts tell -------------------------------------------------------------------- */

static void on_child_exited(void *context, uint32_t child, int status)
{
	struct server *server = context;

	if (!pool_child_exited(&server->pool, child, status))
		inspectors_child_exited(server->inspectors, child, status);
}

static void on_spawner_lost(void *context, const char *why)
{
	struct server *server = context;

	if (server->closing)
		return;
	/* Without it no worker can be made and none can be trusted to die: leave, and be started anew. */
	log_event(LOG_LEVEL_ERROR, "spawner.lost", LOG_STR("why", why));
	server->exit_code = 1;
	server->draining = true;
	if (!server->grace)
		server->grace = timer_new(&server->loop, 0, 0, on_grace, server);
	else
		timer_set(server->grace, 0);
}

bool server_cannot_jail(struct server *server, const char *why)
{
	if (server->told_ready)
		return false;
	return server_cannot_start(server, why,
		"no jail can be made here: cectl doctor tries why, and says what to do");
}

bool server_cannot_start(struct server *server, const char *why, const char *repair)
{
	if (server->draining)
		return false;
	log_event(LOG_LEVEL_ERROR, "start.failed", LOG_STR("why", why), LOG_STR("repair", repair));
	server->exit_code = 1;
	server->draining = true;
	server->grace = timer_new(&server->loop, 0, 0, on_grace, server);
	if (!server->grace)
		close_parts(server);
	return true;
}

void server_look_ready(struct server *server)
{
	if (server->told_ready || server->draining || !server->is_warm ||
		!policies_ready(server->policies))
		return;
	server->told_ready = true;
	host_ready();
	log_event(LOG_LEVEL_NOTICE, "ready", LOG_STR("version", CED_VERSION),
		LOG_INT("ms", clock_ms() - server->started_ms));
}

static void on_warm(void *context, struct runtime *runtime)
{
	struct server *server = context;

	server->is_warm = true;
	server_look_ready(server);
	stage_queue_serve(server, runtime);
}

/* What nobody uses any more goes also when nobody comes. */
static void on_sweep(void *owner)
{
	struct server *server = owner;

	blobs_expire(&server->blobs);
}

static void on_watchdog(void *owner)
{
	(void)owner;
	host_alive();
}

/* ---- starting ------------------------------------------------------------------------------- */

static void name_entrypoints(struct server *server)
{
	const struct config *config = &server->config;
	struct job_entrypoint *at = server->entrypoints;

	for (unsigned i = 0; i < config->runtime_count; i++)
		if (config->runtimes[i].file[0])
			*at++ = (struct job_entrypoint){ config->runtimes[i].name,
				config->runtimes[i].file };
	*at = (struct job_entrypoint){ 0 };
}

static int load_config(struct server *server, const struct server_options *options, struct err *err)
{
	struct config *config = &server->config;

	config_init(config);
	if (options->shipped)
		config_add_shipped(config);
	if (options->config_path && config_load(config, options->config_path, err) < 0)
		return -1;
	if (options->socket_path)
		cut_printf(config->socket, sizeof(config->socket), "%s", options->socket_path);
	if (options->state_path)
		cut_printf(config->state, sizeof(config->state), "%s", options->state_path);
	if (config_finish(config, err) < 0)
		return -1;
	server->bounds = (struct job_bounds){ .standard = config->limits,
		.most = config->most,
		.code_bytes = config->code_bytes,
		.input_bytes = config->input_bytes,
		.files_bytes = config->files_bytes,
		.schema_bytes = config->schema_bytes,
		.entrypoints = server->entrypoints };
	name_entrypoints(server);
	return 0;
}

static int meet_spawner(
	struct server *server, const struct server_options *options, struct err *err)
{
	struct priv_msg hello = { .op = PRIV_HELLO };
	struct priv_msg seal = { .op = PRIV_SEAL };

	server->spawner = spawner_link_new(options->spawner_fd, err);
	if (!server->spawner || spawner_ask_now(server->spawner, &hello, err) < 0)
		return -1;
	server->host = hello.body.host;
	if (layers_check(&server->config.layers, &server->host, err) < 0)
		return -1;
	if (pool_configure(&server->pool, &server->config, &server->host, server->spawner,
		    options->libexec, err) < 0)
		return -1;
	return spawner_ask_now(server->spawner, &seal, err);
}

/* Numbers for a policy that nobody has would be a mistake that nobody sees. */
static int check_allowances(struct server *server, struct err *err)
{
	const struct config *config = &server->config;

	for (unsigned i = 0; i < config->allowance_count; i++)
		if (config->allowances[i].whom == FOR_POLICY &&
			!policies_find(server->policies, config->allowances[i].name))
			return err_set(err, ERR_INVALID, "for_policy %s: there is no such policy",
				config->allowances[i].name);
	return allowances_add_policies(&server->config, server->policies, err);
}

/* What works on the store beside the recorder, and the clock that its records go by. */
static int start_care(struct server *server, uint64_t newest_ms, bool has_lost, struct err *err)
{
	server->caretaker = caretaker_start(&server->loop, server->config.state, err);
	if (!server->caretaker)
		return -1;
	checkup_start(&server->checkup, &server->loop, server->caretaker, server->config.check_ms);
	alerts_init(&server->alerts, server);
	if (has_lost)
		alerts_tell_lost(&server->alerts);
	backups_start(&server->backups, server);
	gc_start(&server->gc, server);
	wallclock_start(&server->wallclock, &server->loop, newest_ms, &server->ids);
	return 0;
}

static int open_store(struct server *server, struct err *err)
{
	struct store *store = store_open(server->config.state, STORE_WRITE, err);
	uint64_t newest_ms;
	bool has_lost;

	if (!store)
		return -1;
	newest_ms = store_newest_ms(store);
	has_lost = store_lost_count(store) > 0;
	if (has_lost)
		log_event(
			LOG_LEVEL_WARNING, "runs.lost", LOG_INT("count", store_lost_count(store)));
	if (levers_init(&server->levers, store, err) < 0 || budgets_load(server, store, err) < 0 ||
		approvals_load(&server->approvals, store, err) < 0 ||
		audit_open(&server->audit, server, store, err) < 0) {
		store_close(store);
		return -1;
	}
	server->recorder =
		recorder_start(&server->loop, store, (unsigned)server->config.commit_records, err);
	server->readers = readers_new(server->config.state, err);
	if (!server->recorder || !server->readers)
		return -1;
	if (audit_start(&server->audit, err) < 0)
		return -1;
	return start_care(server, newest_ms, has_lost, err);
}

static int watch_signals(struct server *server, struct err *err)
{
	static const int numbers[] = { SIGTERM, SIGINT };

	for (unsigned i = 0; i < COUNT_OF(numbers); i++) {
		(void)uv_signal_init(&server->loop, &server->signals[i]);
		server->signals[i].data = server;
		if (uv_signal_start(&server->signals[i], on_signal, numbers[i]) < 0)
			return err_set(err, ERR_SYSTEM, "cannot watch for signals");
	}
	return 0;
}

static int start_parts(struct server *server, const struct server_options *options, struct err *err)
{
	const char *folder = server->config.policies[0] ? server->config.policies : NULL;
	const struct spawner_events events = { on_child_exited, on_spawner_lost, server };
	const struct config *config = &server->config;

	if (ceilings_init(&server->ceilings, config, err) < 0)
		return -1;
	blobs_init(&server->blobs, &server->ceilings, config->blob_bytes_per_uid, config->blob_s);
	queue_init(&server->queue, (unsigned)config->queue_max, (unsigned)config->queue_per_caller,
		(unsigned)config->running_per_caller);
	if (meet_spawner(server, options, err) < 0 || method_setup(err) < 0)
		return -1;
	server->policies = policies_load(folder, server->config.policy, err);
	if (!server->policies || redaction_load(server, err) < 0 ||
		check_allowances(server, err) < 0 || open_store(server, err) < 0)
		return -1;
	if (spawner_link_start(server->spawner, &server->loop, &events, err) < 0 ||
		watch_signals(server, err) < 0)
		return -1;
	server->inspectors = inspectors_start(server, err);
	if (!server->inspectors ||
		pool_start(&server->pool, &server->loop, on_warm, server, err) < 0)
		return -1;
	server->listener = listener_start(server, server->config.socket, err);
	if (!server->listener)
		return -1;
	server->sweep = timer_new(&server->loop, SWEEP_MS, SWEEP_MS, on_sweep, server);
	if (host_watchdog_ms())
		server->watchdog = timer_new(
			&server->loop, host_watchdog_ms(), host_watchdog_ms(), on_watchdog, server);
	return 0;
}

static void init(struct server *server)
{
	list_init(&server->conns);
	list_init(&server->waits);
	list_init(&server->rehearsals);
	map_init(&server->runs);
	claims_init(&server->claims);
	errands_init(&server->errands, &server->loop);
	turns_init(&server->turns, &server->loop, conn_take_turn);
	events_init(&server->events, &server->loop);
	approvals_init(&server->approvals, server);
	server->started_ms = clock_ms();
	server->started_wall_us = clock_wall_us();
}

struct server *server_start(const struct server_options *options, struct err *err)
{
	struct server *server = calloc(1, sizeof(*server));

	if (!server || uv_loop_init(&server->loop) < 0) {
		free(server);
		(void)err_set(err, ERR_MEMORY, "no memory for the daemon");
		return NULL;
	}
	init(server);
	if (load_config(server, options, err) < 0 || start_parts(server, options, err) < 0)
		return NULL; /* nothing has run: the process ends and the spawner clears up */
	return server;
}

int server_run(struct server *server)
{
	int exit_code;

	(void)uv_run(&server->loop, UV_RUN_DEFAULT);
	readers_free(server->readers);
	queue_done(&server->queue);
	map_done(&server->runs);
	claims_done(&server->claims);
	blobs_done(&server->blobs);
	ceilings_done(&server->ceilings);
	levers_done(&server->levers);
	alerts_done(&server->alerts);
	budgets_done(&server->budgets);
	audit_done(&server->audit);
	pattern_book_free(server->patterns);
	approvals_done(&server->approvals);
	(void)uv_loop_close(&server->loop);
	exit_code = server->exit_code;
	free(server);
	return exit_code;
}
