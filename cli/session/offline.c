#include "cli/session/offline.h"

#include "proto/fill.h"
#include "proto/method/method.h"
#include "proto/wire/rpc.h"
#include "store/answers.h"
#include "store/maintenance.h"

#define STATUS_BYTES ((size_t)1 << 20)

static int answer_error(struct arena *arena, enum rpc_code code, const char *message,
	const struct value **ret_result, struct err *err)
{
	struct fill error = fill_start(arena);

	fill_text(&error, "code", rpc_code_word(code));
	fill_text(&error, "message", message);
	*ret_result = fill_done(&error);
	return *ret_result ? 1 : err_set(err, ERR_MEMORY, "no memory for an answer");
}

bool offline_can_answer(const char *name)
{
	const struct method *method = method_find(name);

	return method && store_answers_offline(method->id);
}

int offline_call(const char *path, struct store **copy, const struct client_question *question,
	struct arena *arena, const struct value **ret_result, struct err *err)
{
	const struct method *method = method_find(question->method);
	const struct store_question asked = {
		.method = method->id, .params = question->params, .all_callers = true
	};
	struct store_answer answer = { .value = NULL };
	struct job_refusal refusal = { NULL, NULL, NULL };
	int refused = method_check_params(arena, method->id, question->params, &refusal, err);

	if (refused < 0)
		return -1;
	if (refused)
		return answer_error(arena, RPC_CODE_BAD_REQUEST, refusal.message, ret_result, err);
	if (!*copy)
		*copy = store_open_copy(path, err);
	if (!*copy || store_answer(*copy, &asked, arena, &answer, err) < 0)
		return -1;
	if (!answer.value)
		return answer_error(arena, answer.code, err->text, ret_result, err);
	*ret_result = answer.value;
	return 0;
}

static int count_runs(struct store *copy, int64_t *ret_runs, struct err *err)
{
	struct value *status = NULL;
	struct arena arena;
	int r;

	arena_init(&arena, STATUS_BYTES);
	r = store_status(copy, &arena, &status, err);
	if (r == 0)
		*ret_runs = value_as_int(value_get(status, "runs"), 0);
	arena_done(&arena);
	return r;
}

int offline_check(const char *path, int64_t *ret_runs, struct err *err)
{
	static const atomic_bool go_on;
	auto_of(store_close) struct store *copy = store_open_copy(path, err);
	struct store_findings findings;

	if (!copy || store_check(copy, &go_on, &findings, err) < 0)
		return -1;
	if (findings.damages)
		return err_set(err, ERR_CORRUPT, "%s is damaged: %s", path, findings.first);
	return count_runs(copy, ret_runs, err);
}

void offline_close(struct store *copy)
{
	store_close(copy);
}
