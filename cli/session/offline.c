#include "cli/session/offline.h"

#include "proto/method/method.h"
#include "proto/wire/rpc.h"
#include "store/answers.h"
#include "store/maintenance.h"

#define STATUS_BYTES ((size_t)1 << 20)

static int answer_error(struct cli *cli, enum rpc_code code, const char *message,
	const struct value **ret_result, struct err *err)
{
	struct value *error = value_map(&cli->arena);

	if (value_map_put(
		    &cli->arena, error, "code", value_text(&cli->arena, rpc_code_word(code))) < 0 ||
		value_map_put(&cli->arena, error, "message", value_text(&cli->arena, message)) < 0)
		return err_set(err, ERR_MEMORY, "no memory for an answer");
	*ret_result = error;
	return 1;
}

/* The params as the daemon would look at them: 0, 1 with the error, -1. */
static int check_params(struct cli *cli, const struct method *method, const struct value *params,
	const struct value **ret_result, struct err *err)
{
	struct job_refusal refusal = { NULL, NULL, NULL };
	int refused = method_check_params(&cli->arena, method->id, params, &refusal, err);

	if (refused <= 0)
		return refused;
	return answer_error(cli, RPC_CODE_BAD_REQUEST, refusal.message, ret_result, err);
}

static int offline_ask(struct cli *cli, const struct store_question *question,
	const struct value **ret_result, struct err *err)
{
	struct store_answer answer = { NULL, RPC_CODE_INTERNAL };
	int r = store_answer(cli->copy, question, &cli->arena, &answer, err);

	if (r < 0)
		return -1;
	if (!answer.value)
		return answer_error(cli, answer.code, err->text, ret_result, err);
	*ret_result = answer.value;
	return 0;
}

int offline_call(struct cli *cli, const char *name, const struct value *params,
	const struct value **ret_result, struct err *err)
{
	const struct method *method = method_find(name);
	struct store_question question = { .params = params, .all_callers = true };
	int r;

	if (!method || !store_can_answer(method->id))
		return err_set(err, ERR_UNSUPPORTED,
			"%s needs a daemon: a copy of a store only answers about runs that were",
			cli->command->name);
	question.method = method->id;
	r = check_params(cli, method, params, ret_result, err);
	if (r != 0)
		return r;
	if (!cli->copy)
		cli->copy = store_open_copy(cli->store, err);
	return cli->copy ? offline_ask(cli, &question, ret_result, err) : -1;
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

void offline_close(struct cli *cli)
{
	store_close(cli->copy);
	cli->copy = NULL;
}
