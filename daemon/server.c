#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/door/listener.h"
#include "daemon/loop/service_manager.h"
#include "daemon/loop/trim.h"
#include "daemon/methods/methods.h"
#include "daemon/policy/allowances.h"
#include "daemon/policy/policy_names.h"
#include "daemon/record/permissions.h"
#include "daemon/record/readers.h"
#include "daemon/redact/pattern_book.h"
#include "daemon/request/pipeline.h"
#include "daemon/request/stages.h"
#include "daemon/server_parts.h"
#include "daemon/settings/config_check.h"
#include "daemon/settings/config_egress.h"
#include "daemon/settings/config_file.h"
#include "daemon/settings/config_packages.h"
#include "daemon/settings/config_runtimes.h"
#include "daemon/workers/egress_link.h"
#include "daemon/workers/inspectors.h"
#include "proto/base/clock.h"
#include "proto/base/container.h"
#include "proto/method/method.h"
#include "proto/version.h"

#define SWEEP_MS     60000
#define HEALTH_BYTES ((size_t)1 << 20) /* a ceiling for a status */
#define TRIM_MS      5000
#define GRACE_MS     10000 /* for runs in progress when the daemon is asked to stop */
#define CANCELED_MS  4000  /* for cancelled runs to end and be recorded */
#define EXAMINED_MS  20    /* between checks whether threads still work on requests */

/* ---- stopping -------------------------------------------------------------------------------- */

static void stop_care(struct server *server)
{
	wallclock_stop(&server->wallclock);
	alerts_stop(&server->alerts);
	page_check_stop(&server->page_check);
	backups_stop(&server->backups);
	gc_stop(&server->gc);
	store_thread_close(server->services.store_thread);
	backups_stop(&server->backups);
}

static void close_parts(struct server *server)
{
	if (server->state.closing)
		return;
	server->state.closing = true;
	host_stopping();
	timer_close(server->grace);
	canary_stop(&server->canary);
	timer_close(server->sweep);
	timer_close(server->health_look);
	timer_close(server->trim);
	for (unsigned i = 0; i < COUNT_OF(server->signals); i++)
		uv_close((uv_handle_t *)&server->signals[i], NULL);
	listener_close(server->services.listener);
	approvals_leave(&server->approvals);
	/* Cancels the remaining runs, records them and reports them to their clients. */
	(void)request_cancel_all(&server->runs, KILLED_CLOSING);
	reload_stop(&server->reload);
	inspectors_closing(server->services.inspectors);
	policies_stop(server->services.policies);
	policy_tests_close(&server->services);
	(void)sessions_end_all(&server->sessions, SESSION_DAEMON);
	pool_stop(&server->pool);
	canary_close(&server->canary);
	egress_link_close(server->services.egress);
	audit_close(&server->audit);
	recorder_close(server->services.recorder);
	server->services.recorder = NULL;
	stop_care(server);
	thread_work_stop(&server->thread_work); /* pending queries; work on requests has ended */
	list_for_each(at, &server->conns)
		conn_close_link(at);
	turns_close(&server->turns);
	spawner_link_close(server->services.spawner);
	inspectors_free(server->services.inspectors);
	egress_link_free(server->services.egress);
	pool_close(&server->pool);
	reload_close(&server->reload);
	policies_close(server->services.policies);
}

struct stages_left {
	char text[256];
	unsigned counts[STAGE_EXIT];
};

static int count_stage(void *context, struct request *request)
{
	struct stages_left *left = context;

	left->counts[request->stage]++;
	return 0;
}

/* Logs the stages of the remaining runs for later analysis: "policy 3, record 1". */
static void log_runs_left(struct server *server)
{
	struct stages_left left = { .text = "" };
	size_t len = 0;

	(void)registry_each(&server->runs, count_stage, &left);
	for (unsigned stage = 0; stage < STAGE_EXIT && len < sizeof(left.text); stage++) {
		if (!left.counts[stage])
			continue;
		cut_printf(left.text + len, sizeof(left.text) - len, "%s%s %u", len ? ", " : "",
			stage_word((enum stage)stage), left.counts[stage]);
		len = strlen(left.text);
	}
	log_event(LOG_LEVEL_ERROR, "stop.runs_left",
		LOG_INT("runs", (int64_t)registry_count(&server->runs)),
		LOG_STR("stages", left.text), LOG_INT("on_threads", server->state.examining));
}

static void on_grace(void *owner)
{
	struct server *server = owner;

	if (registry_count(&server->runs)) {
		(void)request_cancel_all(&server->runs, KILLED_CLOSING);
		if (registry_count(&server->runs)) {
			timer_set(server->grace, CANCELED_MS); /* cancelled runs are still ending */
			server->grace_rounds++;
			if (server->grace_rounds < 2)
				return;
			if (server->grace_rounds == 2)
				log_runs_left(server);
		}
	}
	if (server->state.examining) /* a thread still works on a request; its work is bounded */
		timer_set(server->grace, EXAMINED_MS);
	else
		close_parts(server);
}

/* While draining, ends the daemon when its last run has ended. */
static void end_when_empty(void *owner)
{
	struct server *server = owner;

	if (server->state.draining && !registry_count(&server->runs) && !server->state.closing &&
		server->grace)
		timer_set(
			server->grace, 0); /* the last run is now being freed: end from the loop */
}

void server_drain(struct server *server, const char *why)
{
	if (server->state.draining)
		return;
	log_event(LOG_LEVEL_NOTICE, "drain", LOG_STR("why", why),
		LOG_INT("runs", registry_count(&server->runs)));
	server->state.draining = true;
	listener_drain(server->services.listener);
	approvals_leave(&server->approvals);
	server->grace = timer_new(
		&server->loop, registry_count(&server->runs) ? GRACE_MS : 0, 0, on_grace, server);
	if (!server->grace)
		close_parts(server);
}

static void on_signal(uv_signal_t *handle, int number)
{
	struct server *server = handle->data;

	if (number == SIGHUP) {
		reload_start(&server->reload);
		return;
	}
	if (server->state.draining && server->grace)
		timer_set(server->grace, 0); /* the second signal ends the grace period */
	server_drain(server, strsignal(number));
}

/*
 * SIGTERM and SIGINT start draining; a second one ends the grace period.  SIGHUP reads the settings
 * again.
 */
static int watch_signals(struct server *server, struct err *err)
{
	static const int numbers[] = { SIGTERM, SIGINT, SIGHUP };

	for (unsigned i = 0; i < COUNT_OF(numbers); i++) {
		(void)uv_signal_init(&server->loop, &server->signals[i]);
		server->signals[i].data = server;
		if (uv_signal_start(&server->signals[i], on_signal, numbers[i]) < 0)
			return err_set(err, ERR_SYSTEM, "cannot watch for signals");
	}
	return 0;
}

/* ---- unexpected ends ------------------------------------------------------------------------- */

static void on_spawner_lost(void *context, const char *why)
{
	struct server *server = context;

	if (server->state.closing)
		return;
	/*
	 * Without the spawner no worker can be made, and none can be killed reliably.  The daemon
	 * exits, to be started again.
	 */
	log_event(LOG_LEVEL_ERROR, "spawner.lost", LOG_STR("why", why));
	server->exit_code = 1;
	server->state.draining = true;
	if (!server->grace)
		server->grace = timer_new(&server->loop, 0, 0, on_grace, server);
	else
		timer_set(server->grace, 0);
}

/*
 * Ends the daemon, since it cannot work: inspectors reject the rules, or no jail can be made.
 * Returns false when it is ending already.
 */
static bool on_cannot_start(void *owner, const char *why, const char *repair)
{
	struct server *server = owner;

	if (server->state.draining)
		return false;
	log_event(LOG_LEVEL_ERROR, "start.failed", LOG_STR("why", why), LOG_STR("repair", repair));
	server->exit_code = 1;
	server->state.draining = true;
	server->grace = timer_new(&server->loop, 0, 0, on_grace, server);
	if (!server->grace)
		close_parts(server);
	return true;
}

/*
 * No jail can be made.  Before the daemon was ready, the host is the cause: the daemon ends instead
 * of retrying forever, and the function returns true.  Later it returns false.
 */
static bool on_cannot_jail(void *owner, const char *why)
{
	struct server *server = owner;

	if (server->state.ready)
		return false;
	return on_cannot_start(server, why,
		"this host cannot make jails: cectl doctor finds the reason and says what to do");
}

/* ---- callbacks of the parts ----------------------------------------------------------------- */

static void on_child_exited(void *context, uint32_t child, int status)
{
	struct server *server = context;

	if (!pool_child_exited(&server->pool, child, status))
		inspectors_child_exited(server->services.inspectors, child, status);
}

/* Detaches the requests of the connection, and drops messages and calls that wait to answer it. */
static void on_conn_gone(struct services *services, struct conn *conn)
{
	struct list *link;

	while ((link = conn_disown(conn))) {
		struct request *request = container_of(link, struct request, link);

		request->conn = NULL;
		request_left(request);
	}
	backups_conn_gone(services->backups, conn);
	waits_conn_gone(services, conn);
	events_conn_gone(services->events, conn);
	sessions_conn_gone(services->sessions, conn);
}

void server_look_ready(void *owner)
{
	struct server *server = owner;

	if (server->state.ready || server->state.draining || !server->is_warm ||
		!policies_ready(server->services.policies))
		return;
	server->state.ready = true;
	host_ready();
	log_event(LOG_LEVEL_NOTICE, "ready", LOG_STR("version", CED_VERSION),
		LOG_INT("ms", clock_ms() - server->state.started_ms));
}

static void on_warm(void *context, struct runtime *runtime)
{
	struct server *server = context;

	server->is_warm = true;
	server_look_ready(server);
	stage_queue_serve(&server->services, runtime);
}

/* Drops expired blobs even when no client connects. */
static void on_sweep(void *owner)
{
	struct server *server = owner;

	blobs_expire(&server->blobs);
}

static void on_trim(void *owner)
{
	struct server *server = owner;

	if (trim_is_due(&server->ceilings.bytes_peak, server->ceilings.bytes))
		trim_start(&server->loop);
}

static void on_health_look(void *owner)
{
	struct server *server = owner;
	struct arena arena;

	if (!server->state.ready || server->state.draining)
		return; /* a start or a stop that takes long has messages of its own */
	arena_init(&arena, HEALTH_BYTES);
	(void)health_look(
		&server->health, status_describe(&server->services, NULL, &arena), &arena);
	arena_done(&arena);
}

/* ---- parts ----------------------------------------------------------------------------------- */

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

static void take_config(struct server *server)
{
	struct config *config = &server->config;

	server->bounds = (struct job_bounds){ .standard = config->limits,
		.most = config->most,
		.code_bytes = config->code_bytes,
		.input_bytes = config->input_bytes,
		.files_bytes = config->files_bytes,
		.schema_bytes = config->schema_bytes,
		.entrypoints = server->entrypoints };
	name_entrypoints(server);
}

static int ask_host(struct server *server, struct err *err)
{
	struct priv_msg hello = { .op = PRIV_HELLO };

	if (spawner_ask_now(server->services.spawner, &hello, err) < 0)
		return -1;
	server->host = hello.body.host;
	return 0;
}

static int seal_runtimes(struct server *server, struct err *err)
{
	struct priv_msg seal = { .op = PRIV_SEAL, .id = config_has_egress(&server->config) };

	return spawner_ask_now(server->services.spawner, &seal, err);
}

static int meet_spawner(
	struct server *server, const struct server_options *options, struct err *err)
{
	server->services.spawner = spawner_link_new(options->spawner_fd, err);
	if (!server->services.spawner || ask_host(server, err) < 0)
		return -1;
	if (layers_check(&server->config.layers, &server->host, err) < 0)
		return -1;
	if (pool_configure(&server->pool, &server->config, &server->host, server->services.spawner,
		    options->libexec, err) < 0)
		return -1;
	return seal_runtimes(server, err);
}

/* Starts the parts that use the store beside the recorder, and the clock for records. */
static int start_care(struct server *server, const struct store_clock *clock, uint64_t newest_ms,
	bool has_lost, struct err *err)
{
	server->services.store_thread =
		store_thread_start(&server->loop, server->config.state, err);
	if (!server->services.store_thread)
		return -1;
	page_check_start(&server->page_check, &server->loop, server->services.store_thread,
		server->config.check_ms);
	alerts_init(&server->alerts, &server->services);
	if (has_lost)
		alerts_check_lost(&server->alerts);
	backups_start(&server->backups, &server->loop, server->services.store_thread,
		&server->thread_work, server->config.state);
	gc_start(&server->gc, &(const struct gc_parts){ .loop = &server->loop,
				      .config = &server->config,
				      .recorder = server->services.recorder,
				      .thread = server->services.store_thread,
				      .clock = &server->wallclock,
				      .is_closing = &server->state.closing });
	wallclock_start(&server->wallclock, &server->loop, server->services.recorder, clock,
		newest_ms, &server->ids);
	return 0;
}

static int open_store(struct server *server, struct err *err)
{
	struct store *store = store_open(server->config.state, STORE_WRITE, err);
	struct store_clock clock = { 0 };
	uint64_t newest_ms;
	bool has_lost;

	if (!store)
		return -1;
	permissions_check(server->config.state);
	store_limit_log(store, (int64_t)server->config.log_bytes);
	newest_ms = store_newest_ms(store);
	has_lost = store_lost_count(store) > 0;
	if (has_lost)
		log_event(
			LOG_LEVEL_WARNING, "runs.lost", LOG_INT("count", store_lost_count(store)));
	if (admin_ops_init(&server->admin_ops, store, err) < 0 ||
		budgets_load(&server->services, store, err) < 0 ||
		approvals_load(&server->approvals, store, err) < 0 ||
		audit_open(&server->audit, &server->loop, &server->config, store, &clock, err) <
			0) {
		store_close(store);
		return -1;
	}
	server->services.recorder =
		recorder_start(&server->loop, store, (unsigned)server->config.commit_records, err);
	server->services.readers = readers_new(server->config.state, err);
	if (!server->services.recorder || !server->services.readers)
		return -1;
	if (audit_start(&server->audit, server->services.recorder, err) < 0)
		return -1;
	return start_care(server, &clock, newest_ms, has_lost, err);
}

static int open_store_or_advise(struct server *server, struct err *err)
{
	if (open_store(server, err) == 0)
		return 0;
	permissions_advise(server->config.state, err);
	return -1;
}

/* Loads the rules that the settings name: policies, patterns of secrets, limits of policies. */
static int load_rules(struct server *server, struct err *err)
{
	const struct config *config = &server->config;

	server->services.policies =
		policies_load(config->policies[0] ? config->policies : NULL, NULL, err);
	server->services.patterns =
		pattern_book_load(config->redactions[0] ? config->redactions : NULL, err);
	if (!server->services.policies || !server->services.patterns)
		return -1;
	return allowances_add_policies(&server->config, server->services.policies, err);
}

static struct inspectors *start_inspectors(struct server *server, struct err *err)
{
	const struct inspectors_parts parts = { &server->loop, &server->config,
		server->services.spawner, server->services.policies };
	const struct inspectors_events events = { server_look_ready, on_cannot_jail,
		on_cannot_start, server };

	return inspectors_start(&parts, &events, err);
}

static int start_parts(struct server *server, const struct server_options *options, struct err *err)
{
	const struct spawner_events events = { on_child_exited, on_spawner_lost, server };
	const struct config *config = &server->config;

	if (ceilings_init(&server->ceilings, config, err) < 0)
		return -1;
	blobs_init(&server->blobs, &server->ceilings, config->blob_bytes_per_uid, config->blob_s);
	queue_init(&server->queue, (unsigned)config->queue_max, (unsigned)config->queue_per_caller,
		(unsigned)config->running_per_caller);
	sessions_init(&server->sessions, &server->loop, config);
	server->sessions.on_end = session_record_end;
	server->sessions.on_spent = session_spent;
	server->sessions.context = &server->services;
	server->sessions.thread_work = &server->thread_work;
	reload_ready(&server->reload);
	if (meet_spawner(server, options, err) < 0 || method_setup(err) < 0)
		return -1;
	if (load_rules(server, err) < 0 ||
		policy_names_take(server->services.policies, &server->config, err) < 0 ||
		open_store_or_advise(server, err) < 0)
		return -1;
	if (spawner_link_start(server->services.spawner, &server->loop, &events, err) < 0 ||
		watch_signals(server, err) < 0)
		return -1;
	server->services.inspectors = start_inspectors(server, err);
	if (!server->services.inspectors ||
		egress_link_start(&server->loop, &server->config, server->services.spawner,
			&server->services.egress, err) < 0 ||
		pool_start(&server->pool, &server->loop, on_warm, server, err) < 0)
		return -1;
	server->services.listener = listener_start(&server->services, server->config.socket, err);
	if (!server->services.listener)
		return -1;
	server->sweep = timer_new(&server->loop, SWEEP_MS, SWEEP_MS, on_sweep, server);
	server->trim = timer_new(&server->loop, TRIM_MS, TRIM_MS, on_trim, server);
	server->health_look =
		timer_new(&server->loop, HEALTH_LOOK_MS, HEALTH_LOOK_MS, on_health_look, server);
	if (!host_watchdog_ms())
		return 0;
	return canary_start(&server->canary, &server->pool, host_watchdog_ms(), host_alive, err);
}

static void on_run_renamed(void *owner, const char *old_id, const char *run_id)
{
	struct server *server = owner;

	waits_run_renamed(&server->services, old_id, run_id);
}

static void on_run_ended(void *owner, const struct run_end *end)
{
	struct server *server = owner;

	waits_run_ended(&server->services, end);
}

/* Parts that are made later are NULL until then. */
static void wire_services(struct server *server)
{
	server->services = (struct services){
		.state = &server->state,
		.loop = &server->loop,
		.config = &server->config,
		.sources = &server->sources,
		.bounds = &server->bounds,
		.entrypoints = server->entrypoints,
		.host = &server->host,
		.pool = &server->pool,
		.canary = &server->canary,
		.page_check = &server->page_check,
		.backups = &server->backups,
		.gc = &server->gc,
		.audit = &server->audit,
		.wallclock = &server->wallclock,
		.ids = &server->ids,
		.runs = &server->runs,
		.claims = &server->claims,
		.queue = &server->queue,
		.sessions = &server->sessions,
		.approvals = &server->approvals,
		.budgets = &server->budgets,
		.blobs = &server->blobs,
		.admin_ops = &server->admin_ops,
		.reload = &server->reload,
		.alerts = &server->alerts,
		.events = &server->events,
		.metrics = &server->metrics,
		.health = &server->health,
		.thread_work = &server->thread_work,
		.turns = &server->turns,
		.ceilings = &server->ceilings,
		.conns = &server->conns,
		.conn_events = &server->conn_events,
		.waits = &server->waits,
		.asked_calls = &server->asked_calls,
		.policy_tests = &server->policy_tests,
	};
}

static void init_server(struct server *server)
{
	const struct registry_events events = { on_run_ended, on_run_renamed, end_when_empty,
		server };

	wire_services(server);
	list_init(&server->conns);
	list_init(&server->waits);
	list_init(&server->asked_calls);
	list_init(&server->policy_tests);
	registry_init(&server->runs, &events);
	claims_init(&server->claims);
	thread_work_init(&server->thread_work, &server->loop);
	server->conn_events = (struct conn_events){ methods_start, on_conn_gone };
	turns_init(&server->turns, &server->loop, conn_take_turn);
	events_init(&server->events, &server->loop);
	metrics_init(&server->metrics);
	health_init(&server->health);
	approvals_init(&server->approvals, &server->services);
	reload_init(&server->reload, &server->services, &server->config, &server->bounds);
	server->state.started_ms = clock_ms();
	server->state.started_wall_us = clock_wall_us();
}

/* What the settings name: policies and patterns. */
static int check_named(struct server *server, const char *path, struct err *err)
{
	const struct config *config = &server->config;

	if (load_rules(server, err) < 0)
		return err_wrap(err, "configuration %s", path);
	return policy_names_take(server->services.policies, config, err) < 0 ||
			       policy_names_check_alerts(server->services.policies, config, err) < 0
		       ? -1
		       : 0;
}

int server_check(const struct config_sources *sources, struct setting_faults *faults,
	const struct config **ret_config)
{
	static struct server server;
	struct err err = ERR_INIT;

	wire_services(&server);
	*ret_config = &server.config;
	if (config_read_all(&server.config, sources, faults) < 0)
		return -1;
	(void)config_check_host_all(&server.config, faults);
	(void)config_check_package_folders(&server.config, faults);
	if (faults->count)
		return -1;
	take_config(&server);
	if (check_named(&server, sources->path, &err) < 0)
		return setting_faults_add(faults, &err);
	return 0;
}

struct server *server_start(const struct server_options *options, struct err *err)
{
	struct server *server = calloc(1, sizeof(*server));

	if (!server || uv_loop_init(&server->loop) < 0) {
		free(server);
		(void)err_set(err, ERR_MEMORY, "no memory for the daemon");
		return NULL;
	}
	init_server(server);
	server->sources = options->sources;
	if (config_read(&server->config, &server->sources, err) < 0)
		return NULL;
	take_config(server);
	if (start_parts(server, options, err) < 0)
		return NULL; /* no run was started: the process ends, and the spawner cleans up */
	return server;
}

/* ---- afterwards ------------------------------------------------------------------------------ */

int server_run(struct server *server)
{
	int exit_code;

	(void)uv_run(&server->loop, UV_RUN_DEFAULT);
	readers_free(server->services.readers);
	queue_done(&server->queue);
	registry_done(&server->runs);
	claims_done(&server->claims);
	blobs_done(&server->blobs);
	ceilings_done(&server->ceilings);
	admin_ops_done(&server->admin_ops);
	alerts_done(&server->alerts);
	metrics_done(&server->metrics);
	budgets_done(&server->budgets);
	audit_done(&server->audit);
	pattern_book_release(server->services.patterns);
	approvals_done(&server->approvals);
	(void)uv_loop_close(&server->loop);
	exit_code = server->exit_code;
	free(server);
	return exit_code;
}
