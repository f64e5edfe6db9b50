#include "daemon/request/pipeline.h"

#include <assert.h>

#include "daemon/request/stages.h"
#include "proto/base/clock.h"

#define DOOR(stage) (1U << (unsigned)STAGE_##stage)

/* clang-format off */
static const struct {
	const char *name;
	enum stage (*run)(struct request *request);
	unsigned doors;
} stages[] = {
	[STAGE_CONTRACT] = { "contract", stage_contract, DOOR(REPEAT) | DOOR(RECORD) | DOOR(REPLY) },
	[STAGE_REPEAT]   = { "repeat",   stage_repeat,   DOOR(BUDGET) | DOOR(RECORD) },
	[STAGE_BUDGET]   = { "budget",   stage_budget,   DOOR(POLICY) | DOOR(RECORD) },
	[STAGE_POLICY]   = { "policy",   stage_policy,   DOOR(APPROVAL) | DOOR(CACHE) | DOOR(RECORD) | DOOR(REPLY) },
	[STAGE_APPROVAL] = { "approval", stage_approval, DOOR(CONTRACT) | DOOR(CACHE) | DOOR(RECORD) | DOOR(EXIT) },
	[STAGE_CACHE]    = { "cache",    stage_cache,    DOOR(MARK)   | DOOR(OUTPUT) | DOOR(RECORD) },
	[STAGE_MARK]     = { "mark",     stage_mark,     DOOR(QUEUE)  | DOOR(RECORD) | DOOR(REPLY) },
	[STAGE_QUEUE]    = { "queue",    stage_queue,    DOOR(WORKER) | DOOR(RECORD) },
	[STAGE_WORKER]   = { "worker",   stage_worker,   DOOR(OUTPUT) | DOOR(RECORD) },
	[STAGE_OUTPUT]   = { "output",   stage_output,   DOOR(RECORD) },
	[STAGE_RECORD]   = { "record",   stage_record,   DOOR(REPLY) | DOOR(EXIT) },
	[STAGE_REPLY]    = { "reply",    stage_reply,    DOOR(EXIT) },
	[STAGE_EXIT]     = { "exit",     0,              0 },
};
/* clang-format on */

const char *stage_word(enum stage stage)
{
	return stages[stage].name;
}

void request_enter(struct request *request, enum stage next)
{
	assert(!request->walking);
	request->walking = true;
	while (next != STAGE_WAIT) {
		assert(next == STAGE_CONTRACT ||
			(stages[request->stage].doors & (1U << (unsigned)next)));
		request->stage = next;
		if (next == STAGE_EXIT) {
			request_free(request);
			return;
		}
		request->entered_us = clock_us();
		next = stages[next].run(request);
	}
	request->walking = false;
}
