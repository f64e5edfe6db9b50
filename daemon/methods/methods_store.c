/* Methods that need the store: a thread reads it, and the loop answers. */
#include <stdlib.h>

#include "daemon/loop/thread_work.h"
#include "daemon/methods/methods.h"
#include "daemon/record/audit.h"
#include "daemon/record/page_check.h"
#include "daemon/record/readers.h"
#include "daemon/services.h"
#include "store/answers.h"

#define METHOD_FINISH(id, name, who, params, result, start, read, finish) [METHOD_##id] = finish,

static void (*const finishes[METHOD_COUNT])(
	struct call *call, struct value *found) = { METHODS(METHOD_FINISH) };

/* A ceiling of what is read, beside the message: streams, files and calls of one run, or a page. */
#define READ_BYTES_MAX ((size_t)192 << 20)

/* A call, while a thread reads the store for it. */
struct asking {
	struct call *call;
	struct readers *readers;
	struct store_question question;
	struct store_answer answer;
	struct err err;
};

/* On a thread. */
static void asking_read(void *context)
{
	struct asking *asking = context;
	struct store *store = readers_take(asking->readers, &asking->err);

	if (!store)
		return;
	(void)store_answer(
		store, &asking->question, &asking->call->arena, &asking->answer, &asking->err);
	readers_give(asking->readers, store);
}

struct value *store_unreadable(struct arena *arena, const struct err *err)
{
	struct value *map = value_map(arena);

	value_map_put(arena, map, "unreadable", value_text(arena, err->text));
	return map;
}

static void asking_finish(struct asking *asking)
{
	struct call *call = asking->call;
	struct value *found = asking->answer.value;

	if (asking->err.code == ERR_CORRUPT)
		page_check_note_damage(call->services->page_check, &asking->err);
	if (!found && call->store_is_optional)
		found = store_unreadable(&call->arena, &asking->err);
	if (asking->answer.run_id[0])
		cut_printf(call->run_id, sizeof(call->run_id), "%s", asking->answer.run_id);

	if (!found)
		call_error(call, asking->answer.code, "%s", asking->err.text);
	else if (finishes[call->method->id])
		finishes[call->method->id](call, found);
	else
		call_result(call, found);
}

static void on_read(void *context)
{
	struct asking *asking = context;
	struct call *call = asking->call;

	if (call->services->state->closing) /* other parts, and its connection, are closed */
		call_error(call, RPC_CODE_DRAINING, "the daemon is closing");
	else
		asking_finish(asking);
	free(asking);
}

void method_from_store(struct call *call)
{
	struct services *services = call->services;
	struct asking *asking = calloc(1, sizeof(*asking));

	if (!asking) {
		call_error(call, RPC_CODE_INTERNAL, "no memory to read the store");
		return;
	}
	asking->call = call;
	call->arena.ceiling += READ_BYTES_MAX;
	asking->readers = services->readers;
	asking->answer.code = RPC_CODE_INTERNAL;
	asking->question = (struct store_question){ .method = call->method->id,
		.params = call->params,
		.all_callers = call->right == RIGHT_YES,
		.uid = call->caller.uid,
		.run_id = call->run_id[0] ? call->run_id : NULL,
		.trust = audit_trust,
		.trust_owner = services->audit };
	if (thread_work_start(
		    services->thread_work, call->caller.uid, asking_read, on_read, asking) < 0) {
		free(asking);
		call_error(call, RPC_CODE_INTERNAL, "no thread to read the store");
	}
}
