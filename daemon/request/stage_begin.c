/* BEGIN: records a run with an id before it begins, so that a crash cannot make it run twice. */
#include "daemon/request/pipeline.h"
#include "daemon/request/stages.h"
#include "daemon/services.h"
#include "proto/wire/rpc.h"

static enum stage cannot_begin(struct request *request, const char *why)
{
	request_fail(request, RPC_CODE_INTERNAL,
		"the daemon could not record the run, so nothing ran: %s", why);
	return request_not_run(request, OUTCOME_SANDBOX_ERROR, request->failure.message);
}

enum stage stage_begin(struct request *request)
{
	if (!request->claim.leads || request->known == KNOWN_BY_ID)
		return request_is_canceled(request) ? request_give_up(request) : STAGE_QUEUE;
	/* A detached run may be recorded already, or being recorded, without its action. */
	if (!request->begun.done || (!request->begun_pending && !request->begun.run.action))
		stage_record_begun(request, true);
	return STAGE_WAIT;
}

void stage_begin_recorded(struct request *request, const struct err *err)
{
	enum stage next;

	if (!request_waits_in(request, STAGE_BEGIN))
		return;
	if (request->services->state->closing) { /* nothing can be recorded any more */
		request_fail(request, RPC_CODE_DRAINING, "the daemon is closing");
		next = STAGE_REPLY;
	} else {
		next = err ? cannot_begin(request, err->text) : stage_begin(request);
	}
	if (next != STAGE_WAIT)
		request_enter(request, next);
}
