#include "daemon/request/masking.h"

#include "daemon/loop/thread_work.h"
#include "daemon/redact/encodings.h"
#include "daemon/redact/masked_record.h"
#include "daemon/request/pipeline.h"
#include "daemon/request/request.h"
#include "daemon/services.h"

#define BYTES_AT_ONCE ((size_t)64 << 10) /* about 0.1 ms */
/* searching for one byte of a secret costs as much as reading this many bytes */
#define SECRET_COST   64

/* ---- here or on a thread -------------------------------------------------------------------- */

static void mask_within(struct request *request, uint64_t work)
{
	redactor_allow(&request->masked.redactor, work);
	request->masked.mask(request);
}

/* Runs on a thread, which owns the request meanwhile; the loop only reads its stage. */
static void mask_there(void *context)
{
	struct request *request = context;

	mask_within(request, REDACT_WORK_LONG);
	request->masked.done = true;
}

static void on_masked(void *context)
{
	struct request *request = context;

	request->services->state->examining--;
	if (!request->masked.done) /* the work was dropped because the daemon closes */
		mask_there(request);
	request_enter(request, request->masked.then(request));
}

static enum stage mask_and_go_on(struct request *request, size_t bytes)
{
	struct services *services = request->services;

	request->masked.done = false;
	if (bytes <= BYTES_AT_ONCE) {
		mask_within(request, REDACT_WORK_SHORT);
		if (!request->masked.redactor.spent)
			return request->masked.then(request);
	}
	if (!services->state->closing &&
		thread_work_start(services->thread_work, request->caller.uid, mask_there, on_masked,
			request) == 0) {
		services->state->examining++;
		return STAGE_WAIT;
	}
	mask_within(request, REDACT_WORK_LONG);
	return request->masked.then(request);
}

/* ---- masking -------------------------------------------------------------------------------- */

static void redactor_prepare(struct request *request)
{
	if (!request->masked.redactor.book)
		redactor_init(&request->masked.redactor, request_patterns(request), NULL,
			&request->arena);
}

/* Without memory for the encodings of the secrets, nothing of the request may be recorded. */
static void withhold_request(struct request *request)
{
	static const char why[] = "[withheld: no memory to look for secrets in it]";
	struct job_spec *withheld = &request->masked.spec;

	*withheld = (struct job_spec){ .language = request->spec.language,
		.code = { why, sizeof(why) - 1 },
		.entrypoint = "main",
		.limits = request->spec.limits,
		.secret_count = request->spec.secret_count,
		.masks = 1,
		.masks_unseen = 1 };
	request->masked.withheld = true;
}

static void mask_request(struct request *request)
{
	struct redactor *redactor = &request->masked.redactor;
	const struct job_spec *spec = &request->spec;

	redactor->masks = 0;
	if (spec->secret_count && !redactor->secrets)
		redactor->secrets =
			encodings_of(&request->arena, spec->secrets, spec->secret_count);
	if (spec->secret_count && !redactor->secrets)
		withhold_request(request);
	else
		mask_spec(redactor, spec, &request->masked.spec);
}

static void mask_record(struct request *request)
{
	struct redactor *redactor = &request->masked.redactor;
	uint64_t params;

	redactor->masks = 0;
	if (!request_is_read(request))
		request->masked.params = mask_refused_params(redactor, request->params);
	params = redactor->masks;
	mask_result(redactor, &request->result, &request->masked.result);
	request->masked.result.masks +=
		request_is_read(request) ? request->masked.spec.masks : params;
	if (request->masked.withheld)
		mask_everything(&request->masked.result);
}

static size_t cost_of_forms(const struct job_spec *spec)
{
	size_t bytes = 0;

	for (size_t i = 0; i < spec->secret_count; i++)
		bytes += spec->secrets[i].len;
	return bytes * SECRET_COST;
}

enum stage masking_of_spec(struct request *request, enum stage (*then)(struct request *request))
{
	const struct job_spec *spec = &request->spec;

	redactor_prepare(request);
	request->masked.mask = mask_request;
	request->masked.then = then;
	return mask_and_go_on(request, masked_spec_cost(spec) + cost_of_forms(spec));
}

enum stage masking_of_record(struct request *request, enum stage (*then)(struct request *request))
{
	size_t bytes = masked_result_cost(&request->result);

	redactor_prepare(request);
	request->masked.mask = mask_record;
	request->masked.then = then;
	return mask_and_go_on(
		request, request_is_read(request) ? bytes : bytes + request->held_bytes);
}
