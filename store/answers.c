#include "store/answers.h"

#include <string.h>

#include "store/base/db.h"
#include "store/maintenance.h"

#define STREAM_BYTES_SHOWN \
	((int64_t)64 << 10) /* of each stream in runs.get; runs.output has the rest */
#define PAGE_BYTES   ((int64_t)1 << 20)
#define LIST_LIMIT   50
#define EXPORT_LIMIT 200
#define EXPORT_BYTES ((uint64_t)4 << 20) /* of a page, unless one record alone is longer */
#define VERIFY_COUNT 20000               /* of one part, in one answer */

/* A question that is being answered. */
struct asking {
	struct store *store;
	const struct store_question *question;
	struct arena *arena;
	struct store_answer *answer;
};

/* A text that is not a C string matches nothing. */
static const char *text_of(const struct asking *asking, const char *key)
{
	const struct value *value = value_get(asking->question->params, key);
	const char *text = value_as_text(value);

	return value_is(value, VALUE_NIL) || !value ? NULL : text ? text : "";
}

static int64_t int_of(const struct asking *asking, const char *key, int64_t otherwise)
{
	return value_as_int(value_get(asking->question->params, key), otherwise);
}

static struct store_filter own_filter(const struct store_question *question)
{
	return (struct store_filter){ .all_callers = question->all_callers, .uid = question->uid };
}

static struct store_filter filter_of(const struct asking *asking)
{
	const struct value *label = value_get(asking->question->params, "label");
	const struct value *uid = value_get(asking->question->params, "uid");
	struct store_filter filter = own_filter(asking->question);

	filter.since_wall_us = int_of(asking, "since", 0);
	filter.until_wall_us = int_of(asking, "until", 0);
	filter.outcome = text_of(asking, "outcome");
	filter.language = text_of(asking, "language");
	filter.agent = text_of(asking, "agent");
	filter.task = text_of(asking, "task");
	filter.policy = text_of(asking, "policy");
	filter.rule = text_of(asking, "rule");
	filter.text = text_of(asking, "text");
	filter.code_hash = text_of(asking, "code_hash");
	if (value_is(label, VALUE_MAP) && label->map.count == 1) {
		const char *value = value_as_text(label->map.entries[0].value);

		filter.label_key = label->map.entries[0].key;
		filter.label_value = value ? value : "";
	}
	filter.has_uid_filter = uid != NULL;
	filter.uid_filter = (uint32_t)value_as_int(uid, 0);
	filter.before_run_id = text_of(asking, "before");
	filter.limit = (uint32_t)int_of(asking, "limit", LIST_LIMIT);
	return filter;
}

__attribute__((format(printf, 3, 4))) static int refuse(
	struct store_answer *answer, struct err *err, const char *format, ...)
{
	char words[ERR_TEXT_MAX];
	va_list args;

	va_start(args, format);
	cut_vprintf(words, sizeof(words), format, args);
	va_end(args);
	answer->value = NULL;
	answer->code = RPC_CODE_NOT_FOUND;
	(void)err_set(err, ERR_MISSING, "%s", words);
	return 1;
}

/* 0, 1: refused, -1. */
static int find_run(struct store *store, const struct store_question *question, const char *name,
	char ret_run_id[RUN_ID_LEN + 1], struct store_answer *answer, struct err *err)
{
	const struct store_filter filter = own_filter(question);
	int found = store_resolve(store, &filter, name, ret_run_id, err);

	if (found <= 0)
		return found;
	if (found == 1)
		return refuse(answer, err, "there is no run \"%s\", or not for this caller", name);
	return refuse(answer, err, "\"%s\" could be several runs: write more of the id", name);
}

static int find_named(struct asking *asking, char ret_run_id[RUN_ID_LEN + 1], struct err *err)
{
	const char *name = text_of(asking, "run_id");

	return find_run(
		asking->store, asking->question, name ? name : "", ret_run_id, asking->answer, err);
}

int store_answer_name(struct store *store, const struct store_question *question, const char *name,
	char ret_run_id[RUN_ID_LEN + 1], struct store_answer *ret_answer, struct err *err)
{
	int r;

	db_question(store);
	r = find_run(store, question, name, ret_run_id, ret_answer, err);
	db_answered(store);
	return r < 0 ? -1 : 0;
}

int store_answer_caller_id(struct store *store, const struct store_question *question,
	char ret_run_id[RUN_ID_LEN + 1], struct store_answer *ret_answer, struct err *err)
{
	const char *id = value_as_text(value_get(question->params, "id"));
	int found;

	db_question(store);
	found = store_find_named(store, question->uid, id ? id : "", ret_run_id, err);
	db_answered(store);
	if (found > 0)
		(void)refuse(
			ret_answer, err, "this caller has no run with the id \"%s\"", id ? id : "");
	return found < 0 ? -1 : 0;
}

int store_answer_record(struct store *store, const char *run_id, uint64_t stream_bytes,
	struct arena *arena, struct store_answer *ret_answer, struct err *err)
{
	uint32_t uid = 0;
	int got = store_get(store, run_id, stream_bytes, arena, &ret_answer->value, &uid, err);

	if (got > 0)
		(void)refuse(ret_answer, err, "there is no run %s", run_id);
	return got < 0 ? -1 : 0;
}

/* ---- the questions ------------------------------------------------------------------------ */

static int answer_list(struct asking *asking, struct err *err)
{
	const struct store_filter filter = filter_of(asking);

	return store_list(asking->store, &filter, asking->arena, &asking->answer->value, err);
}

static int answer_get(struct asking *asking, struct err *err)
{
	char run_id[RUN_ID_LEN + 1];
	int r = find_named(asking, run_id, err);

	if (r != 0)
		return r < 0 ? -1 : 0;
	return store_answer_record(
		asking->store, run_id, STREAM_BYTES_SHOWN, asking->arena, asking->answer, err);
}

static int answer_output(struct asking *asking, struct err *err)
{
	const char *stream = text_of(asking, "stream");
	char run_id[RUN_ID_LEN + 1];
	int r = find_named(asking, run_id, err);

	if (r != 0)
		return r < 0 ? -1 : 0;
	r = store_output(asking->store, run_id, stream ? stream : "stdout",
		(uint64_t)int_of(asking, "offset", 0),
		(uint64_t)int_of(asking, "length", PAGE_BYTES), asking->arena,
		&asking->answer->value, err);
	if (r > 0)
		(void)refuse(asking->answer, err, "run %s has no such stream", run_id);
	return r < 0 ? -1 : 0;
}

static int answer_stats(struct asking *asking, struct err *err)
{
	const struct store_filter filter = filter_of(asking);
	const char *by = text_of(asking, "by");

	return store_stats(asking->store, &filter, by ? by : "outcome", asking->arena,
		&asking->answer->value, err);
}

static int answer_acts(struct asking *asking, struct err *err)
{
	return store_acts(asking->store, int_of(asking, "before", 0),
		(uint32_t)int_of(asking, "limit", LIST_LIMIT), asking->arena,
		&asking->answer->value, err);
}

static int answer_export(struct asking *asking, struct err *err)
{
	const struct value *params = asking->question->params;
	const struct store_export what = {
		.since_wall_us = int_of(asking, "since", 0),
		.until_wall_us = int_of(asking, "until", 0),
		.after_run_id = text_of(asking, "after"),
		.limit = (uint32_t)int_of(asking, "limit", EXPORT_LIMIT),
		.page_bytes = EXPORT_BYTES,
		.stream_bytes = (uint64_t)int_of(asking, "stream_bytes", STREAM_BYTES_SHOWN),
		.without_contents = !value_as_bool(value_get(params, "contents"), true),
		.counts = value_as_bool(value_get(params, "count"), false),
	};

	return store_export(asking->store, &what, asking->arena, &asking->answer->value, err);
}

/* The key and checkpoint file in the params replace those of the question. */
static struct store_trust trust_of(const struct asking *asking, uint8_t key[SIGN_PUBLIC_LEN])
{
	const struct store_trust *known = asking->question->trust;
	struct store_trust trust = { .public_key = NULL };
	const struct value *second = value_get(asking->question->params, "second");
	const char *text = text_of(asking, "key");

	if (known)
		trust = *known;
	if (text && sign_key_from_text(text, key) == 0)
		trust.public_key = key;
	if (value_is(second, VALUE_TEXT)) {
		trust.second = (struct bytes){ second->text.bytes, second->text.len };
		trust.second_at = 0;
		trust.second_of = 0;
	}
	return trust;
}

static int answer_verify(struct asking *asking, struct err *err)
{
	uint8_t key[SIGN_PUBLIC_LEN];
	const struct store_trust trust = trust_of(asking, key);
	const char *part = text_of(asking, "part");
	const struct store_span span = {
		.part = part ? store_part_of(part) : STORE_PART_COUNT,
		.from = int_of(asking, "from", 1),
		.count = int_of(asking, "count", VERIFY_COUNT),
		.trust = &trust,
	};

	return store_verify(asking->store, &span, asking->arena, &asking->answer->value, err);
}

static int (*const answers[METHOD_COUNT])(struct asking *asking, struct err *err) = {
	[METHOD_RUNS_LIST] = answer_list,
	[METHOD_RUNS_GET] = answer_get,
	[METHOD_RUNS_OUTPUT] = answer_output,
	[METHOD_STATS] = answer_stats,
	[METHOD_ADMIN_ACTS] = answer_acts,
	[METHOD_AUDIT_EXPORT] = answer_export,
	[METHOD_AUDIT_VERIFY] = answer_verify,
};

bool store_can_answer(enum method_id method)
{
	return answers[method] != NULL;
}

int store_answer(struct store *store, const struct store_question *question, struct arena *arena,
	struct store_answer *ret_answer, struct err *err)
{
	struct asking asking = { store, question, arena, ret_answer };
	int r;

	*ret_answer = (struct store_answer){ NULL, RPC_CODE_INTERNAL };
	db_question(store);
	r = answers[question->method](&asking, err);
	db_answered(store);
	return r;
}
