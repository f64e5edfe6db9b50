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

#define STREAM_BYTES_WAITED ((uint64_t)1 << 20)  /* of a stream that `wait` returns */
#define PART_BYTES_LISTED   ((uint64_t)64 << 10) /* of each input of a run that waits for approval */
#define APPROVALS_LIMIT     20
#define SOURCES_MOST        4 /* how many `cached_from` references are followed */

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
	filter.session = text_of(asking, "session");
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

/* ---- which run ---------------------------------------------------------------------------- */

/* The functions below return 0; 1 when the question is refused, with the reason in *err; or -1. */

static int find_by_caller_id(struct asking *asking, const char *id, struct err *err)
{
	int found = store_find_named(
		asking->store, asking->question->uid, id, asking->answer->run_id, err);

	if (found > 0)
		(void)err_set(err, ERR_MISSING, "this caller has no run with the id \"%s\"", id);
	return found;
}

/* Finds the run that the question names, among those that the caller may see. */
static int find_run(struct asking *asking, struct err *err)
{
	const struct store_filter filter = own_filter(asking->question);
	const char *name = asking->question->run_id;
	const char *id = text_of(asking, "id");
	int found;

	if (!name && id)
		return find_by_caller_id(asking, id, err);
	if (!name)
		name = text_of(asking, "run_id");
	if (!name)
		name = "";
	found = store_resolve(asking->store, &filter, name, asking->answer->run_id, err);
	if (found <= 0)
		return found;
	if (found == 1)
		(void)err_set(
			err, ERR_MISSING, "there is no run \"%s\", or not for this caller", name);
	else
		(void)err_set(err, ERR_MISSING, "\"%s\" matches several runs: write more of the id",
			name);
	return 1;
}

/* Reads a run's record, with its streams up to `stream_bytes` each. */
static int read_record(struct asking *asking, const char *run_id, uint64_t stream_bytes,
	struct value **ret_record, struct err *err)
{
	uint32_t uid = 0;
	int got = store_get(
		asking->store, run_id, stream_bytes, asking->arena, ret_record, &uid, err);

	if (got > 0)
		(void)err_set(err, ERR_MISSING, "there is no run %s", run_id);
	return got;
}

static int answer_record(struct asking *asking, uint64_t stream_bytes, struct err *err)
{
	int r = find_run(asking, err);

	if (r != 0)
		return r;
	return read_record(
		asking, asking->answer->run_id, stream_bytes, &asking->answer->value, err);
}

/* ---- the questions ------------------------------------------------------------------------ */

static int answer_list(struct asking *asking, struct err *err)
{
	const struct store_filter filter = filter_of(asking);

	return store_list(asking->store, &filter, asking->arena, &asking->answer->value, err);
}

static int answer_name(struct asking *asking, struct err *err)
{
	asking->answer->value = value_map(asking->arena);
	return find_run(asking, err);
}

static int answer_run(struct asking *asking, struct err *err)
{
	return answer_record(asking, STREAM_BYTES_WAITED, err);
}

static int answer_get(struct asking *asking, struct err *err)
{
	return answer_record(asking, STREAM_BYTES_SHOWN, err);
}

static const struct value *secrets_of(const struct value *record)
{
	return value_get(value_get(record, "request"), "secrets");
}

/*
 * A cached result has the masks of the run that produced it, whatever secrets its own caller named.
 * So the record gets the largest number of secrets of all runs it was taken from.
 */
static int count_secrets(struct asking *asking, struct value *record, struct err *err)
{
	const struct value *most = secrets_of(record);
	struct value *source = record;
	const char *from;

	for (unsigned i = 0;
		i < SOURCES_MOST && (from = value_as_text(value_get(source, "cached_from"))); i++) {
		source = NULL;
		if (read_record(asking, from, 0, &source, err) < 0)
			return -1;
		if (value_as_int(secrets_of(source), 0) > value_as_int(most, 0))
			most = secrets_of(source);
	}
	if (most)
		value_map_put(asking->arena, value_get(record, "request"), "secrets",
			value_int(asking->arena, value_as_int(most, 0)));
	return 0;
}

/* Reads whole streams, because the program is run again and its output compared. */
static int answer_replay(struct asking *asking, struct err *err)
{
	int r = answer_record(asking, UINT64_MAX, err);

	return r != 0 ? r : count_secrets(asking, asking->answer->value, err);
}

static int answer_output(struct asking *asking, struct err *err)
{
	const char *stream = text_of(asking, "stream");
	int r = find_run(asking, err);

	if (r != 0)
		return r;
	r = store_output(asking->store, asking->answer->run_id, stream ? stream : "stdout",
		(uint64_t)int_of(asking, "offset", 0),
		(uint64_t)int_of(asking, "length", PAGE_BYTES), asking->arena,
		&asking->answer->value, err);
	if (r > 0)
		(void)err_set(err, ERR_MISSING, "run %s has no stream %s", asking->answer->run_id,
			stream ? stream : "stdout");
	return r;
}

static int answer_stats(struct asking *asking, struct err *err)
{
	const struct store_filter filter = filter_of(asking);
	const char *by = text_of(asking, "by");

	return store_stats(asking->store, &filter, by ? by : "outcome", asking->arena,
		&asking->answer->value, err);
}

static int answer_approvals(struct asking *asking, struct err *err)
{
	struct store_approvals_filter filter = { .after = text_of(asking, "after"),
		.limit = (uint32_t)int_of(asking, "limit", APPROVALS_LIMIT),
		.part_bytes = PART_BYTES_LISTED };
	int r;

	if (text_of(asking, "run_id")) {
		r = find_run(asking, err);
		if (r != 0)
			return r;
		filter.run_id = asking->answer->run_id;
		filter.part_bytes = STREAM_BYTES_WAITED;
	}
	return store_approvals(asking->store, &filter, asking->arena, &asking->answer->value, err);
}

static int answer_status(struct asking *asking, struct err *err)
{
	return store_status(asking->store, asking->arena, &asking->answer->value, err);
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

/* The key and checkpoint file in the params replace those that the store's owner trusts. */
static void prefer_params(
	const struct asking *asking, struct store_trust *trust, uint8_t key[SIGN_PUBLIC_LEN])
{
	const struct value *second = value_get(asking->question->params, "second");
	const char *text = text_of(asking, "key");

	if (text && sign_key_from_text(text, key) == 0)
		trust->public_key = key;
	if (value_is(second, VALUE_TEXT)) {
		trust->second = (struct bytes){ second->text.bytes, second->text.len };
		trust->second_at = 0;
		trust->second_of = 0;
	}
}

static int answer_verify(struct asking *asking, struct err *err)
{
	const struct store_question *question = asking->question;
	auto_free char *second = NULL;
	uint8_t key[SIGN_PUBLIC_LEN];
	struct store_trust trust = { .public_key = NULL };
	const char *part = text_of(asking, "part");
	const struct store_span span = {
		.part = part ? store_part_of(part) : STORE_PART_COUNT,
		.from = int_of(asking, "from", 1),
		.count = int_of(asking, "count", VERIFY_COUNT),
		.trust = &trust,
	};

	/* Without `part`, compare the file's end: a store that was rolled back lacks it. */
	if (question->trust && question->trust(question->trust_owner, part ? span.from : 0, &second,
				       &trust, err) < 0)
		return -1;
	prefer_params(asking, &trust, key);
	return store_verify(asking->store, &span, asking->arena, &asking->answer->value, err);
}

/* ---- the columns of the table of methods --------------------------------------------------- */

struct reader {
	int (*answer)(struct asking *asking, struct err *err);
	bool is_offline;
};

#define OFFLINE(function) function, .is_offline = true
#define ONLINE(function)  function
#define READER(id, name, who, params, result, start, read, finish) \
	[METHOD_##id] = { .answer = read },

static const struct reader readers[METHOD_COUNT] = { METHODS(READER) };

bool store_answers_offline(enum method_id method)
{
	return readers[method].is_offline;
}

int store_answer(struct store *store, const struct store_question *question, struct arena *arena,
	struct store_answer *ret_answer, struct err *err)
{
	struct asking asking = { store, question, arena, ret_answer };
	int r;

	*ret_answer = (struct store_answer){ .code = RPC_CODE_INTERNAL };
	db_question(store);
	r = readers[question->method].answer(&asking, err);
	db_answered(store);
	if (r != 0)
		ret_answer->value = NULL;
	if (r > 0)
		ret_answer->code = RPC_CODE_NOT_FOUND;
	return r < 0 ? -1 : 0;
}
