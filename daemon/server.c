#include "daemon/server.h"

#include <string.h>

#include "daemon/host.h"
#include "daemon/methods/waits.h"
#include "proto/base/clock.h"
#include "proto/version.h"

#define REFUSALS_PER_MINUTE 30

/* ---- who is let in --------------------------------------------------------------------------- */

const char *server_admit(struct server *server, struct list *link, const struct caller *caller)
{
	bool is_admin = caller_is(caller, ROLE_ADMIN);
	const char *full = NULL;

	if (server->draining && server->closing)
		return "the daemon is closing";
	while (ceilings_are_full(&server->ceilings) &&
		!ceilings_has_all(&server->ceilings, caller->uid, is_admin) &&
		conn_close_idlest(server, caller->uid))
		;
	full = ceilings_enter(&server->ceilings, caller->uid, is_admin);
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

int server_rename(struct server *server, struct request *request, const char *run_id)
{
	char old[RUN_ID_LEN + 1];

	memcpy(old, request->result.run_id, sizeof(old));
	if (map_put(&server->runs, run_id, RUN_ID_LEN, request, NULL) < 0)
		return -1;
	(void)map_remove(&server->runs, old, RUN_ID_LEN);
	cut_printf(request->result.run_id, sizeof(request->result.run_id), "%s", run_id);
	waits_run_renamed(server, old, run_id);
	return 0;
}

static int match_place(void *context, const void *key, size_t key_len, void *value)
{
	const struct request *request = value;
	const char *run_id = context;

	(void)key;
	(void)key_len;
	return ulid_same_place(request->result.run_id, run_id) ||
	       (request->naming && ulid_same_place(request->spec.run_id, run_id));
}

bool server_has_place(const struct server *server, const char *run_id)
{
	return map_each(&server->runs, match_place, (void *)(uintptr_t)run_id) != 0;
}

/* The last one, while draining, ends the daemon. */
static void end_when_empty(struct server *server)
{
	if (server->draining && !server->runs.count && !server->closing && server->grace)
		timer_set(server->grace, 0); /* from the loop, not from under whoever is leaving */
}

void server_forget(struct server *server, struct request *request)
{
	(void)map_remove(&server->runs, request->result.run_id, RUN_ID_LEN);
	end_when_empty(server);
}

int64_t server_in_house(const struct server *server)
{
	return (int64_t)server->runs.count - server->approvals.count;
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
