#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/door/listener.h"
#include "daemon/loop/service_manager.h"
#include "daemon/methods/methods.h"
#include "daemon/record/readers.h"
#include "daemon/redact/pattern_book.h"
#include "daemon/request/pipeline.h"
#include "daemon/server_parts.h"
#include "daemon/workers/inspectors.h"
#include "proto/base/container.h"

#define GRACE_MS    10000 /* for runs in progress when the daemon is asked to stop */
#define CANCELED_MS 4000  /* for cancelled runs to end and be recorded */
#define EXAMINED_MS 20    /* between checks whether threads still work on requests */

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
	timer_close(server->watchdog);
	timer_close(server->sweep);
	timer_close(server->trim);
	for (unsigned i = 0; i < COUNT_OF(server->signals); i++)
		uv_close((uv_handle_t *)&server->signals[i], NULL);
	listener_close(server->services.listener);
	approvals_leave(&server->approvals);
	/* Cancels the remaining runs, records them and reports them to their clients. */
	(void)request_cancel_all(&server->runs, KILLED_CLOSING);
	inspectors_closing(server->services.inspectors);
	policies_stop(server->services.policies);
	policy_tests_close(&server->services);
	pool_stop(&server->pool);
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
	pool_close(&server->pool);
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

void server_end_when_empty(struct server *server)
{
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
	approvals_leave(&server->approvals);
	server->grace = timer_new(
		&server->loop, registry_count(&server->runs) ? GRACE_MS : 0, 0, on_grace, server);
	if (!server->grace)
		close_parts(server);
}

static void on_signal(uv_signal_t *handle, int number)
{
	struct server *server = handle->data;

	if (server->state.draining && server->grace)
		timer_set(server->grace, 0); /* the second signal ends the daemon at once */
	server_drain(server, strsignal(number));
}

int server_watch_signals(struct server *server, struct err *err)
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

/* ---- unexpected ends ------------------------------------------------------------------------- */

void server_on_spawner_lost(void *context, const char *why)
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

bool server_cannot_jail(struct server *server, const char *why)
{
	if (server->state.ready)
		return false;
	return server_cannot_start(server, why,
		"this host cannot make jails: cectl doctor finds the reason and says what to do");
}

bool server_cannot_start(struct server *server, const char *why, const char *repair)
{
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
	budgets_done(&server->budgets);
	audit_done(&server->audit);
	pattern_book_free(server->services.patterns);
	approvals_done(&server->approvals);
	(void)uv_loop_close(&server->loop);
	exit_code = server->exit_code;
	free(server);
	return exit_code;
}
