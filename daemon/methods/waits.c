#include "daemon/methods/waits.h"

#include <string.h>

#include "daemon/services.h"
#include "proto/base/container.h"
#include "proto/base/list.h"

/* Moves the calls that wait for this run into *ret_calls. */
static void take_waiting(struct services *services, const char *run_id, struct list *ret_calls)
{
	list_init(ret_calls);
	list_for_each(at, services->waits) {
		struct call *call = container_of(at, struct call, link);

		if (strcmp(call->run_id, run_id) != 0)
			continue;
		list_remove(at);
		list_append(ret_calls, at);
	}
}

void waits_run_ended(struct services *services, const struct run_end *end)
{
	struct list calls;
	struct list *first;

	take_waiting(services, end->run_id, &calls);
	while ((first = list_first(&calls))) {
		struct call *call = container_of(first, struct call, link);

		list_remove(first);
		if (end->error)
			conn_send_error(call->conn, call->msgid, end->error);
		else
			conn_send_result(call->conn, call->msgid,
				call->caller.uid == end->uid ? end->result : end->kept);
		call_free(call);
	}
}

void waits_run_renamed(struct services *services, const char *old_id, const char *run_id)
{
	list_for_each(at, services->waits) {
		struct call *call = container_of(at, struct call, link);

		if (strcmp(call->run_id, old_id) == 0)
			cut_printf(call->run_id, sizeof(call->run_id), "%s", run_id);
	}
}

void waits_conn_gone(struct services *services, const struct conn *conn)
{
	list_for_each(at, services->waits) {
		struct call *call = container_of(at, struct call, link);

		if (call->conn == conn)
			call_free(call);
	}
}
