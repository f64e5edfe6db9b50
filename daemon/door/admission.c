#include "daemon/door/admission.h"

#include "daemon/door/caller.h"
#include "daemon/door/ceilings.h"
#include "daemon/door/conn.h"
#include "daemon/services.h"
#include "proto/base/list.h"
#include "proto/base/log.h"

#define REFUSALS_PER_MINUTE 30

const char *admission_enter(
	struct services *services, struct list *link, const struct caller *caller)
{
	bool is_admin = caller_is(caller, ROLE_ADMIN);
	const char *full = NULL;

	if (services->state->closing)
		return "the daemon is closing";
	while (ceilings_are_full(services->ceilings) &&
		!ceilings_has_all(services->ceilings, caller->uid, is_admin) &&
		conn_close_idlest(services, caller->uid))
		;
	full = ceilings_enter(services->ceilings, caller->uid, is_admin);
	if (!full)
		list_append(services->conns, link);
	return full;
}

void admission_leave(struct services *services, struct list *link, uint32_t uid)
{
	if (list_is_empty(link))
		return;
	list_remove(link);
	ceilings_leave(services->ceilings, uid);
}

void admission_log_refusal(struct services *services, uint32_t uid, const char *why)
{
	const struct log_field fields[] = { LOG_INT("uid", uid), LOG_STR("why", why) };

	log_limited(&services->state->refusals, REFUSALS_PER_MINUTE, LOG_LEVEL_NOTICE,
		"conn.refused", fields, 2);
}
