#include <stdio.h>
#include <string.h>

#include "proto/base/container.h"
#include "proto/fill.h"
#include "proto/json.h"
#include "tests/check.h"
#include "tests/fault.h"
#include "tests/unit/store_sample.h"

/* Reads the sample's record from the store. */
static struct value *got(struct shop *shop, uint64_t stream_bytes)
{
	struct value *record = NULL;
	uint32_t uid = 0;

	if (store_get(shop->store, shop->sample.run_id, stream_bytes, &shop->arena, &record, &uid,
		    &shop->err) != 0)
		return NULL;
	return uid == shop->sample.run.uid ? record : NULL;
}

static bool same(const struct value *found, const struct value *hoped)
{
	struct buf text;

	if (value_equal(found, hoped))
		return true;
	buf_init(&text, 1 << 20);
	if (found && json_write(&text, found, JSON_WRITE_BASE64, NULL) == 0)
		(void)printf("# found %.*s\n", (int)text.len, text.bytes);
	text.len = 0;
	if (hoped && json_write(&text, hoped, JSON_WRITE_BASE64, NULL) == 0)
		(void)printf("# hoped %.*s\n", (int)text.len, text.bytes);
	buf_done(&text);
	return false;
}

/* Every key of the result's wire form is in the record, with an equal value. */
static void check_result(struct shop *shop)
{
	struct value *record = got(shop, UINT64_MAX);
	struct value *result = job_result_to_value(&shop->arena, &shop->sample.result);

	CHECK(record);
	CHECK(result);
	for (size_t i = 0; i < result->map.count; i++) {
		const struct value_entry *entry = &result->map.entries[i];

		if (!same(value_get(record, entry->key), entry->value))
			check_failed(__FILE__, __LINE__, entry->key);
	}
}

/* So is every key of the request. */
static void check_request(struct shop *shop)
{
	struct value *record = got(shop, UINT64_MAX);
	struct value *request = job_spec_to_value(&shop->arena, &shop->sample.spec);

	CHECK(record);
	CHECK(request);
	for (size_t i = 0; i < request->map.count; i++) {
		const struct value_entry *entry = &request->map.entries[i];
		struct value *found = value_get(value_get(record, "request"), entry->key);

		if (strcmp(entry->key, "files") != 0 && !same(found, entry->value))
			check_failed(__FILE__, __LINE__, entry->key);
	}
}

static struct bytes words(const char *text)
{
	return (struct bytes){ text, strlen(text) };
}

static struct bytes many(struct shop *shop, size_t len, unsigned kind)
{
	char *bytes = arena_alloc(&shop->arena, len);
	unsigned noise = 12345;

	for (size_t i = 0; bytes && i < len; i++) {
		noise = noise * 1103515245 + 12345;
		bytes[i] = (char)(kind ? noise >> 16 : 'a' + i % 7);
	}
	return (struct bytes){ bytes, bytes ? len : 0 };
}

TEST(a_small_run_comes_back_as_it_was)
{
	auto_shop struct shop shop;

	shop_init(&shop);
	CHECK(shop.store);
	CHECK_EQ_INT(sample_write(shop.store, &shop.sample, &shop.err), 0);
	check_result(&shop);
	check_request(&shop);
}

TEST(a_record_says_who_asked_and_when)
{
	auto_shop struct shop shop;
	struct value *record;

	shop_init(&shop);
	CHECK(shop.store);
	shop.sample.run.caller_id = "my-42";
	CHECK_EQ_INT(sample_write(shop.store, &shop.sample, &shop.err), 0);
	record = got(&shop, 0);
	CHECK(record);
	CHECK_EQ_INT(value_as_int(value_get(value_get(record, "caller"), "uid"), 0), 1000);
	CHECK_EQ_INT(value_as_int(value_get(value_get(record, "caller"), "gid"), 0), 100);
	CHECK_EQ_INT(value_as_int(value_get(value_get(record, "caller"), "pid"), 0), 4242);
	CHECK_EQ_INT(value_as_int(value_get(record, "received_us"), 0),
		shop.sample.run.received_wall_us);
	CHECK_EQ_INT(value_as_int(value_get(record, "ended_us"), 0), shop.sample.run.ended_wall_us);
	CHECK_STR(value_as_text(value_get(record, "state")), "ended");
	CHECK_STR(value_as_text(value_get(record, "method")), "run");
	CHECK_STR(value_as_text(value_get(value_get(record, "request"), "id")), "my-42");
}

TEST(a_run_that_is_under_way_has_a_request_and_no_outcome)
{
	auto_shop struct shop shop;
	struct store_run begun;
	struct value *record;

	shop_init(&shop);
	CHECK(shop.store);
	begun = sample_begun(&shop.sample);
	CHECK_EQ_INT(store_begin(shop.store, &shop.err), 0);
	CHECK_EQ_INT(store_put_begun(shop.store, &begun, &shop.err), 0);
	CHECK_EQ_INT(store_commit(shop.store, STORE_NOW, &shop.err), 0);
	check_request(&shop);
	record = got(&shop, 0);
	CHECK(record);
	CHECK_STR(value_as_text(value_get(record, "state")), "running");
	CHECK(value_is(value_get(record, "outcome"), VALUE_NIL));
	CHECK(!value_get(record, "stdout"));
}

TEST(a_run_that_never_began_is_written_whole_at_its_end)
{
	auto_shop struct shop shop;
	struct store_run ended;

	shop_init(&shop);
	CHECK(shop.store);
	shop.sample.result.outcome = OUTCOME_POLICY_DENIED;
	shop.sample.result.ran = RAN_NO;
	ended = sample_ended(&shop.sample);
	CHECK_EQ_INT(store_begin(shop.store, &shop.err), 0);
	CHECK_EQ_INT(store_put_ended(shop.store, &ended, &shop.err), 0);
	CHECK_EQ_INT(store_commit(shop.store, STORE_NOW, &shop.err), 0);
	check_result(&shop);
	check_request(&shop);
}

TEST(a_refused_request_keeps_what_was_sent)
{
	auto_shop struct shop shop;
	struct store_run ended;
	struct value *record;

	shop_init(&shop);
	CHECK(shop.store);
	shop.sample.result = (struct job_result){ .outcome = OUTCOME_REFUSED,
		.reason = "limits.wall_sm is not a key" };
	ended = sample_ended(&shop.sample);
	ended.spec = NULL;
	ended.language = NULL;
	ended.policy = NULL;
	ended.entrypoint = NULL;
	ended.refused_params = words("{\"limits\":{\"wall_sm\":5}}");
	CHECK_EQ_INT(store_begin(shop.store, &shop.err), 0);
	CHECK_EQ_INT(store_put_ended(shop.store, &ended, &shop.err), 0);
	CHECK_EQ_INT(store_commit(shop.store, STORE_NOW, &shop.err), 0);
	record = got(&shop, 0);
	CHECK(record);
	CHECK_STR(value_as_text(value_get(record, "outcome")), "refused");
	record = value_get(value_get(record, "refused_params"), "limits");
	CHECK_EQ_INT(value_as_int(value_get(record, "wall_sm"), 0), 5);
}

TEST(refused_params_that_were_cut_come_back_as_text)
{
	auto_shop struct shop shop;
	struct store_run ended;
	struct value *record;

	shop_init(&shop);
	CHECK(shop.store);
	ended = sample_ended(&shop.sample);
	ended.spec = NULL;
	ended.refused_params = words("{\"code\":\"pri");
	CHECK_EQ_INT(store_begin(shop.store, &shop.err), 0);
	CHECK_EQ_INT(store_put_ended(shop.store, &ended, &shop.err), 0);
	CHECK_EQ_INT(store_commit(shop.store, STORE_NOW, &shop.err), 0);
	record = got(&shop, 0);
	CHECK(record);
	CHECK(value_equal(
		value_get(record, "refused_params"), value_text(&shop.arena, "{\"code\":\"pri")));
}

/* A request with every key. */
static void fill_spec(struct shop *shop)
{
	static struct bytes args[3];
	static struct job_pair env[2];
	static struct job_pair labels[2];
	static const char *globs[] = { "*.csv", "out/**" };
	static struct job_input_file files[2];
	struct job_spec *spec = &shop->sample.spec;
	struct fill schema = fill_start(&shop->arena);

	fill_text(&schema, "type", "object");
	args[0] = words("--fast");
	args[1] = (struct bytes){ "\xff\x00\x80", 3 };
	args[2] = words("");
	env[0] = (struct job_pair){ "LANG", words("de_DE.UTF-8") };
	env[1] = (struct job_pair){ "RAW", { "\xfe\xff", 2 } };
	labels[0] = (struct job_pair){ "team", words("m\xc3\xbcnchen") };
	labels[1] = (struct job_pair){ "build", words("77") };
	files[0] = (struct job_input_file){ "in/data.csv", many(shop, 100000, 0), 0644 };
	files[1] = (struct job_input_file){ "empty", words(""), 0755 };
	*spec = (struct job_spec){ .id = "act-7",
		.language = "python",
		.code = many(shop, 5000, 0),
		.entrypoint = "tool.py",
		.args = args,
		.arg_count = 3,
		.input = many(shop, 70000, 1),
		.has_input = true,
		.files = files,
		.file_count = 2,
		.env = env,
		.env_count = 2,
		.limits = spec->limits,
		.on_output_limit = ON_OUTPUT_TRUNCATE,
		.artifact_globs = globs,
		.artifact_glob_count = 2,
		.policy = "strict",
		.output = OUTPUT_JSON,
		.schema = fill_done(&schema),
		.task = "task-1",
		.agent = "agent-9",
		.labels = labels,
		.label_count = 2,
		.trace = TRACE_OFF,
		.stream = true,
		.detach = true };
	shop->sample.run.caller_id = "act-7";
	shop->sample.run.policy = "strict";
	shop->sample.run.entrypoint = "tool.py";
	shop->sample.run.task = "task-1";
	shop->sample.run.agent = "agent-9";
	job_code_hash(spec, shop->sample.result.code_hash);
	job_input_hash(spec, shop->sample.result.input_hash);
}

TEST(every_field_of_a_request_comes_back)
{
	auto_shop struct shop shop;
	struct value *files;

	shop_init(&shop);
	CHECK(shop.store);
	fill_spec(&shop);
	CHECK_EQ_INT(sample_write(shop.store, &shop.sample, &shop.err), 0);
	check_request(&shop);
	files = value_get(value_get(got(&shop, UINT64_MAX), "request"), "files");
	CHECK_EQ_INT(files ? files->list.count : 0, 2);
	CHECK_STR(value_as_text(value_get(value_at(files, 0), "path")), "in/data.csv");
	CHECK_EQ_INT(value_as_int(value_get(value_at(files, 0), "mode"), 0), 0644);
	CHECK_EQ_INT(value_get(value_at(files, 0), "data")->text.len, 100000);
	CHECK_EQ_INT(value_as_int(value_get(value_at(files, 1), "bytes"), -1), 0);
}

/* A result with every key. */
static void fill_result_fully(struct shop *shop)
{
	static struct policy_finding findings[] = {
		{ "python.import.denied", "deny", 3, 1, "import socket", "not under this policy",
			NULL },
		{ "python.name.observed", "observe", 9, 5, "eval", "seen", "use json.loads" },
	};
	static struct job_artifact artifacts[3];
	static struct job_skipped skipped[] = { { "core", "too_large" }, { "a\xff", "symlink" } };
	static struct job_output_error errors[] = { { "/a", "/properties/a", "must be a number" } };
	struct job_result *result = &shop->sample.result;
	struct fill map = fill_start(&shop->arena);

	fill_text(&map, "type", "ZeroDivisionError");
	fill_int(&map, "line", 12);
	artifacts[0] =
		(struct job_artifact){ "report.csv", many(shop, 300000, 0), 0644, "", false };
	artifacts[1] = (struct job_artifact){ "noise.bin", many(shop, 90000, 1), 0600, "", false };
	artifacts[2] = (struct job_artifact){ "empty.txt", words(""), 0644, "", false };
	for (size_t i = 0; i < COUNT_OF(artifacts); i++) {
		struct job_spec spec = { .code = artifacts[i].data };

		job_code_hash(&spec, artifacts[i].sha256);
	}
	result->outcome = OUTCOME_OUTPUT_INVALID;
	result->reason = "line\n\"quoted\" and \xe2\x82\xac";
	result->exit_code = 3;
	result->signal = 9;
	result->out =
		(struct job_stream){ many(shop, 50000, 0), many(shop, 40000, 0), 0, 1 << 30, true };
	result->errout = (struct job_stream){ many(shop, 3000, 1), { NULL, 0 }, 0, 3000, false };
	result->value = fill_done(&map);
	result->error = fill_done(&map);
	result->evidence = fill_done(&map);
	result->output_errors = errors;
	result->output_error_count = 1;
	result->verdict.decision = POLICY_OBSERVE;
	result->verdict.findings = findings;
	result->verdict.finding_count = 2;
	result->artifacts = artifacts;
	result->artifact_count = 3;
	result->skipped = skipped;
	result->skipped_count = 2;
	result->metrics =
		(struct job_metrics){ 1, 2, 3, 4, 5, -1, 7, 8, 9, 1LL << 40, 12, 13, 14, false };
	result->limits.wall_ms = 77;
}

TEST(every_field_of_a_result_comes_back)
{
	auto_shop struct shop shop;

	shop_init(&shop);
	CHECK(shop.store);
	fill_result_fully(&shop);
	CHECK_EQ_INT(sample_write(shop.store, &shop.sample, &shop.err), 0);
	check_result(&shop);
}

TEST(ending_a_run_twice_leaves_the_second_ending)
{
	auto_shop struct shop shop;

	shop_init(&shop);
	CHECK(shop.store);
	CHECK_EQ_INT(sample_write(shop.store, &shop.sample, &shop.err), 0);
	fill_result_fully(&shop);
	for (int i = 0; i < 2; i++) {
		struct store_run ended = sample_ended(&shop.sample);

		CHECK_EQ_INT(store_begin(shop.store, &shop.err), 0);
		CHECK_EQ_INT(store_put_ended(shop.store, &ended, &shop.err), 0);
		CHECK_EQ_INT(store_commit(shop.store, STORE_NOW, &shop.err), 0);
	}
	check_result(&shop);
}

TEST(outcomes_of_every_kind_come_back)
{
	auto_shop struct shop shop;

	shop_init(&shop);
	CHECK(shop.store);
	for (unsigned outcome = OUTCOME_OK; outcome < OUTCOME_COUNT; outcome++) {
		sample_next(&shop.sample);
		shop.sample.result.outcome = (enum outcome)outcome;
		CHECK_EQ_INT(sample_write(shop.store, &shop.sample, &shop.err), 0);
		check_result(&shop);
		CHECK(check_ok());
	}
}

/* The sample's one call, stored with these arguments, in a record as an export has it. */
static struct value *call_with(struct shop *shop, struct bytes args)
{
	sample_next(&shop->sample);
	shop->sample.call = (struct store_call){ .number = 1,
		.is_new = true,
		.is_over = true,
		.tool = "search",
		.args = args,
		.verdict = "allowed",
		.result = { "7", 1 } };
	if (sample_write(shop->store, &shop->sample, &shop->err) < 0)
		return NULL;
	return value_at(value_get(got(shop, UINT64_MAX), "tool_calls"), 0);
}

#define MANY 2400001

/* As older daemons stored them: deeper than an export can be, and too many for a reader's memory. */
TEST(calls_that_are_too_deep_or_too_many_do_not_hide_their_record)
{
	auto_shop struct shop shop;
	char deep[120];
	char *text;
	struct value *call;

	shop_init(&shop);
	memset(deep, '[', 60);
	memset(deep + 60, ']', 60);
	call = call_with(&shop, (struct bytes){ deep, 120 });
	CHECK(value_is(value_get(call, "args"), VALUE_TEXT));
	CHECK_EQ_INT(value_get(call, "args")->text.len, 120);
	call = call_with(&shop, (struct bytes){ deep + 4, 112 });
	CHECK(value_is(value_get(call, "args"), VALUE_LIST));

	text = arena_alloc(&shop.arena, MANY);
	CHECK(text);
	for (size_t i = 0; i < MANY; i++)
		text[i] = i % 2 ? '0' : ',';
	text[0] = '[';
	text[MANY - 1] = ']';
	call = call_with(&shop, (struct bytes){ text, MANY });
	CHECK(!value_get(call, "args") && value_as_bool(value_get(call, "truncated"), false));
	CHECK(!value_get(call, "result"));
}

TEST(streams_are_cut_to_what_was_asked_for_but_not_inside_a_character)
{
	auto_shop struct shop shop;
	struct value *record;

	shop_init(&shop);
	CHECK(shop.store);
	shop.sample.result.out.head = words("a\xe2\x82\xac\xe2\x82\xac");
	CHECK_EQ_INT(sample_write(shop.store, &shop.sample, &shop.err), 0);
	record = got(&shop, 5);
	CHECK(record);
	CHECK(value_equal(value_get(record, "stdout"), value_text(&shop.arena, "a\xe2\x82\xac")));
	CHECK(value_equal(value_get(got(&shop, 7), "stdout"),
		value_text(&shop.arena, "a\xe2\x82\xac\xe2\x82\xac")));
}

/* Reads a stream page by page and compares it with the bytes written. */
static void check_pages(struct shop *shop, const char *stream, struct bytes hoped, uint64_t step)
{
	struct value *page = NULL;
	uint64_t offset = 0;
	bool eof = false;

	while (!eof) {
		struct value *data;

		CHECK_EQ_INT(store_output(shop->store, shop->sample.run_id, stream, offset, step,
				     &shop->arena, &page, &shop->err),
			0);
		data = value_get(page, "data");
		eof = value_as_bool(value_get(page, "eof"), false);
		CHECK(data && offset + data->text.len <= hoped.len);
		CHECK(memcmp(data->text.bytes, hoped.data + offset, data->text.len) == 0);
		CHECK(eof || data->text.len > 0);
		CHECK_EQ_INT(value_as_int(value_get(page, "total"), -1), hoped.len);
		offset += data->text.len;
	}
	CHECK_EQ_INT(offset, hoped.len);
}

TEST(streams_files_and_code_are_read_in_pages)
{
	auto_shop struct shop shop;

	shop_init(&shop);
	CHECK(shop.store);
	fill_spec(&shop);
	fill_result_fully(&shop);
	CHECK_EQ_INT(sample_write(shop.store, &shop.sample, &shop.err), 0);
	check_pages(&shop, "stdout", shop.sample.result.out.head, 7777);
	check_pages(&shop, "stdout_tail", shop.sample.result.out.tail, 40000);
	check_pages(&shop, "stderr", shop.sample.result.errout.head, 100);
	check_pages(&shop, "code", shop.sample.spec.code, 4999);
	check_pages(&shop, "stdin", shop.sample.spec.input, 65536);
	check_pages(&shop, "artifact:report.csv", shop.sample.result.artifacts[0].data, 65536);
	check_pages(&shop, "artifact:empty.txt", words(""), 10);
	check_pages(&shop, "file:in/data.csv", shop.sample.spec.files[0].data, 65536);
}

TEST(a_page_smaller_than_a_character_still_moves_on)
{
	auto_shop struct shop shop;

	shop_init(&shop);
	CHECK(shop.store);
	shop.sample.result.out.head = words("\xe2\x82\xac\xf0\x9f\x98\x80z");
	CHECK_EQ_INT(sample_write(shop.store, &shop.sample, &shop.err), 0);
	for (uint64_t step = 1; step < 9; step++)
		check_pages(&shop, "stdout", shop.sample.result.out.head, step);
}

TEST(pages_of_what_is_not_there_are_none)
{
	auto_shop struct shop shop;
	struct value *page = NULL;

	shop_init(&shop);
	CHECK(shop.store);
	CHECK_EQ_INT(sample_write(shop.store, &shop.sample, &shop.err), 0);
	CHECK_EQ_INT(store_output(shop.store, shop.sample.run_id, "artifact:x", 0, 10, &shop.arena,
			     &page, &shop.err),
		1);
	CHECK_EQ_INT(store_output(shop.store, shop.sample.run_id, "stdfoo", 0, 10, &shop.arena,
			     &page, &shop.err),
		1);
	CHECK_EQ_INT(store_output(shop.store, "01ARZ3NDEKTSV4RRFFQ69G5FAV", "stdout", 0, 10,
			     &shop.arena, &page, &shop.err),
		1);
	CHECK_EQ_INT(store_output(shop.store, shop.sample.run_id, "stdout", 1 << 20, 10,
			     &shop.arena, &page, &shop.err),
		0);
	CHECK(value_as_bool(value_get(page, "eof"), false));
}

TEST(an_unknown_run_is_none_whatever_its_name)
{
	auto_shop struct shop shop;
	static const char *const ids[] = { "01ARZ3NDEKTSV4RRFFQ69G5FAV", "", "x", "' OR 1=1 --",
		"81ARZ3NDEKTSV4RRFFQ69G5FAV", "01arz3ndektsv4rrffq69g5fav" };
	struct value *record = NULL;
	uint32_t uid = 0;

	shop_init(&shop);
	CHECK(shop.store);
	for (size_t i = 0; i < COUNT_OF(ids); i++)
		CHECK_EQ_INT(
			store_get(shop.store, ids[i], 0, &shop.arena, &record, &uid, &shop.err), 1);
}

TEST(an_answer_that_does_not_fit_its_arena_is_a_failure)
{
	auto_shop struct shop shop;
	struct arena small;
	struct value *record = NULL;
	uint32_t uid = 0;
	unsigned failures = 0;

	shop_init(&shop);
	CHECK(shop.store);
	fill_spec(&shop);
	fill_result_fully(&shop);
	CHECK_EQ_INT(sample_write(shop.store, &shop.sample, &shop.err), 0);
	for (size_t size = 0; size < 2 << 20; size += 20011) {
		int r;

		arena_init(&small, size);
		r = store_get(shop.store, shop.sample.run_id, UINT64_MAX, &small, &record, &uid,
			&shop.err);
		arena_done(&small);
		CHECK(r == 0 || (r == -1 && shop.err.code == ERR_MEMORY));
		failures += r < 0;
	}
	CHECK(failures > 1);
	check_result(&shop);
}

TEST(a_record_without_memory_is_refused_and_the_next_one_is_whole)
{
	auto_shop struct shop shop;
	unsigned failures = 0;

	shop_init(&shop);
	CHECK(shop.store);
	fill_spec(&shop);
	fill_result_fully(&shop);
	FAULT_LOOP(FAULT_ALLOC) {
		int r;

		sample_next(&shop.sample);
		r = sample_write(shop.store, &shop.sample, &shop.err);
		CHECK(r == 0 || (fault_hit() && shop.err.code == ERR_MEMORY));
		failures += r < 0;
	}
	CHECK(failures > 5);
	check_result(&shop);
	check_request(&shop);
}

TEST(a_store_that_cannot_be_opened_for_want_of_memory_can_be_opened_later)
{
	auto_shop struct shop shop;

	shop_init(&shop);
	CHECK(shop.store);
	CHECK_EQ_INT(sample_write(shop.store, &shop.sample, &shop.err), 0);
	FAULT_LOOP(FAULT_ALLOC) {
		shop_reopen(&shop);
		CHECK(shop.store || fault_hit());
	}
	CHECK(shop.store);
	check_result(&shop);
}
