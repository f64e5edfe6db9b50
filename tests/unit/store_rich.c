/* A store with rows in every table, and the means to tamper with it and to verify it. */
#include "tests/unit/store_rich.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proto/base/container.h"
#include "proto/base/fdio.h"
#include "proto/digest.h"
#include "store/base/db.h"
#include "tests/check.h"

char ids[RUNS][RUN_ID_LEN + 1];
uint8_t public_key[SIGN_PUBLIC_LEN];

/* ---- a store with something in every table ------------------------------------------------- */

/* Words that fill some pages of the word index. */
static struct bytes many_words(void)
{
	static char words[16384];
	size_t len = 0;

	for (unsigned i = 0; len + 16 < sizeof(words); i++)
		len += (size_t)snprintf(
			words + len, sizeof(words) - len, "w%x_%u ", i * 2654435761U, i);
	return (struct bytes){ words, len };
}

/* Three forms: text, bytes that would be a text, too, and JSON. */
static struct value *displayed(struct arena *arena)
{
	struct value *list = value_list(arena);
	struct value *item = value_map(arena);
	struct value *data = value_map(arena);
	struct value *json = value_list(arena);

	value_list_add(arena, json, value_int(arena, 1));
	value_map_put(arena, data, "text/plain", value_text(arena, "[1]"));
	value_map_put(arena, data, "image/png", value_bytes(arena, "png", 3));
	value_map_put(arena, data, "application/json", json);
	value_map_put(arena, item, "main", value_bool(arena, true));
	value_map_put(arena, item, "data", data);
	value_list_add(arena, list, item);
	return list;
}

static void dress(struct sample *sample, unsigned number)
{
	static char output[3000];
	static struct policy_finding finding = { "python.import.denied", "deny", 3, 1, "import x",
		"no", NULL };
	static struct job_artifact artifact = { "a.txt", { output, 900 }, 0644, "", false };
	static struct job_pair label = { "team", { "blue", 4 } };
	static uint8_t action[DIGEST_LEN] = { 1 };
	static uint8_t cache_key[DIGEST_LEN] = { 2 };
	static struct job_input_file file = { "in/data.csv", { "1,2\n", 4 }, 0600 };

	sample->call = (struct store_call){ .number = 1,
		.is_new = true,
		.is_over = true,
		.tool = "search",
		.effects = true,
		.began_wall_us = 1700000000000000,
		.args = { output, number % 2 ? 9 : 2000 },
		.verdict = "approved",
		.code = number % 2 ? "failed" : NULL,
		.result = { output, number % 2 ? 2000 : 9 },
		.took_us = 77 };
	if (number == 5)
		sample->spec.code = many_words();
	memset(output, 'a', sizeof(output));
	output[0] = (char)('a' + number);
	sample->spec.labels = &label;
	sample->spec.label_count = 1;
	sample->spec.files = &file;
	sample->spec.file_count = 1;
	sample->spec.input = (struct bytes){ "stdin", 5 };
	sample->spec.has_input = true;
	sample->spec.id = sample->run_id;
	sample->run.caller_id = sample->run_id;
	sample->run.action = action;
	sample->run.cache_key = cache_key;
	sample->run.cache_entries = 1000;
	cache_key[0] = (uint8_t)number;
	sample->run.agent = "tester";
	sample->run.task = "verify";
	sample->result.display = displayed(&sample->arena);
	sample->result.artifacts = &artifact;
	sample->result.artifact_count = 1;
	sample->result.out.head = (struct bytes){ output, number % 2 ? 20 : sizeof(output) };
	sample->result.out.tail = (struct bytes){ "tail", 4 };
	sample->result.errout.head = (struct bytes){ "oh", 2 };
	sample->result.errout.tail = (struct bytes){ "no", 2 };
	sample->result.verdict.findings = &finding;
	sample->result.verdict.finding_count = 1;
}

static int put_act(struct shop *shop, bool shut_out, uint32_t uid)
{
	char params[64];
	const struct store_act act = {
		.at_wall_us = 1700000000000000,
		.pid = 77,
		.method = shut_out ? "admin.block" : "admin.drain",
		.params = params,
		.result = "{}",
		.block = shut_out ? STORE_SHUT_OUT : STORE_LET_BE,
		.block_uid = uid,
		.reason = "why",
	};

	(void)snprintf(params, sizeof(params), "{\"uid\":%u,\"reason\":\"why\"}", uid);
	if (store_begin(shop->store, &shop->err) < 0 ||
		store_put_act(shop->store, &act, &shop->err) < 0)
		return -1;
	return store_commit(shop->store, STORE_NOW, &shop->err);
}

int prune(struct shop *shop, const char *run_id)
{
	const struct store_act act = { .method = "audit.gc", .params = "{}", .result = "{}" };
	uint64_t bytes = 0;

	if (store_begin(shop->store, &shop->err) < 0 ||
		store_prune(shop->store, &act, &run_id, 1, &bytes, &shop->err) < 0)
		return -1;
	return bytes > 100 ? store_commit(shop->store, STORE_NOW, &shop->err) : -1;
}

/* The returned line is what a second file would contain. */
int put_checkpoint(struct shop *shop, char ret_line[STORE_CHECKPOINT_MAX])
{
	bool is_new = false;
	auto_of(signer_close) struct signer *signer =
		signer_open(shop->folder, &is_new, &shop->err);
	struct store_checkpoint made = { .signer = signer, .at_wall_us = 1700000000000000 };

	if (!signer)
		return -1;
	memcpy(public_key, signer_public(signer), sizeof(public_key));
	if (store_begin(shop->store, &shop->err) < 0 ||
		store_put_checkpoint(shop->store, &made, &shop->err) < 0 || !made.is_new)
		return -1;
	memcpy(ret_line, made.line, sizeof(made.line));
	return store_commit(shop->store, STORE_NOW, &shop->err);
}

/* A run without an end; reopening the store makes it lost. */
static int leave_in_flight(struct shop *shop)
{
	struct store_run run;

	sample_next(&shop->sample);
	run = sample_begun(&shop->sample);
	run.is_reported = true;
	if (store_begin(shop->store, &shop->err) < 0 ||
		store_put_begun(shop->store, &run, &shop->err) < 0)
		return -1;
	return store_commit(shop->store, STORE_NOW, &shop->err);
}

int put_parked(struct shop *shop)
{
	const struct store_parking parking = {
		.since_wall_us = 1, .until_wall_us = 2, .verdict = "{\"decision\":\"ask\"}"
	};
	struct store_run run;

	sample_next(&shop->sample);
	run = sample_begun(&shop->sample);
	run.is_reported = true;
	if (store_begin(shop->store, &shop->err) < 0 ||
		store_put_parked(shop->store, &run, &parking, &shop->err) < 0)
		return -1;
	return store_commit(shop->store, STORE_NOW, &shop->err);
}

/* Approves the run that was parked last, and its program for five more runs. */
int approve(struct shop *shop)
{
	char result[256];
	const struct store_grant grant = { .uid = 1000,
		.subject = "sha256:ab",
		.code_hash = "sha256:cd",
		.language = "python",
		.policy = "review",
		.until_wall_us = INT64_C(4000000000000000),
		.uses = 5 };
	const struct store_decision decision = {
		.run_id = shop->sample.run_id, .word = "approved", .grant = &grant
	};
	const struct store_act act = { .at_wall_us = 1700000000000000,
		.method = "approvals.approve",
		.params = "{}",
		.result = result,
		.decision = &decision };

	(void)snprintf(result, sizeof(result),
		"{\"run_id\":\"%s\",\"decision\":\"approved\",\"uid\":1000,"
		"\"subject\":\"sha256:ab\",\"code_hash\":\"sha256:cd\",\"uses\":5,"
		"\"language\":\"python\",\"policy\":\"review\","
		"\"until_us\":4000000000000000}",
		shop->sample.run_id);
	if (store_begin(shop->store, &shop->err) < 0 ||
		store_put_act(shop->store, &act, &shop->err) < 0)
		return -1;
	return store_commit(shop->store, STORE_NOW, &shop->err);
}

/* Uses one of the five runs that approve() granted. */
static int use(struct shop *shop)
{
	int64_t grant = 0;

	if (db_number(shop->store, "SELECT max(act) FROM grants", 0, &grant, &shop->err) < 0 ||
		store_begin(shop->store, &shop->err) < 0 ||
		store_put_use(shop->store, grant, &shop->err) < 0)
		return -1;
	return store_commit(shop->store, STORE_NOW, &shop->err);
}

void fill(struct shop *shop)
{
	char line[STORE_CHECKPOINT_MAX];
	char lost[RUN_ID_LEN + 1];

	for (unsigned i = 0; i < RUNS; i++) {
		sample_next(&shop->sample);
		memcpy(ids[i], shop->sample.run_id, sizeof(ids[i]));
		dress(&shop->sample, i);
		CHECK_EQ_INT(sample_write(shop->store, &shop->sample, &shop->err), 0);
	}
	CHECK_EQ_INT(put_checkpoint(shop, line), 0);
	CHECK_EQ_INT(put_act(shop, true, 1001), 0);
	CHECK_EQ_INT(put_act(shop, false, 1002), 0);
	CHECK_EQ_INT(put_checkpoint(shop, line), 0);
	CHECK_EQ_INT(leave_in_flight(shop), 0);
	memcpy(lost, shop->sample.run_id, sizeof(lost));
	shop_reopen(shop);
	if (prune(shop, lost) < 0 || prune(shop, ids[3]) < 0)
		printf("# %s\n", shop->err.text);
	CHECK_STR(shop->err.text, "");
	CHECK_EQ_INT(put_parked(shop), 0); /* stays undecided */
	sample_next(&shop->sample);
	CHECK_EQ_INT(put_parked(shop), 0);
	CHECK_EQ_INT(approve(shop), 0);
	CHECK_EQ_INT(use(shop), 0);
	/* A run that stays pending: pruning has settled the others. */
	sample_next(&shop->sample);
	shop->sample.call.args.len = 1999; /* the only one that holds this content */
	CHECK_EQ_INT(sample_write(shop->store, &shop->sample, &shop->err), 0);
	CHECK_STR(shop->err.text, "");
}

/* ---- looking ------------------------------------------------------------------------------- */

struct store_trust trust = { .public_key = public_key };

/* The messages of the last verification, one after the other. */
char said[16384];

static void note(const struct value *problem)
{
	size_t len = strlen(said);

	(void)snprintf(said + len, sizeof(said) - len, "%s\n",
		value_as_text(value_get(problem, "message")));
}

int64_t verify_part(struct shop *shop, enum store_part part)
{
	struct store_span span = { part, 1, part == STORE_PART_SECOND ? 1 : 5, &trust };
	int64_t found = 0;

	while (span.from) {
		struct value *report = NULL;
		const struct value *problems;

		if (store_verify(shop->store, &span, &shop->arena, &report, &shop->err) < 0)
			return -1;
		problems = value_get(report, "problems");
		for (size_t i = 0; value_at(problems, i); i++)
			note(value_at(problems, i));
		found += value_as_int(value_get(report, "found"), -1);
		span.from = value_as_int(value_get(report, "next"), 0);
	}
	return found;
}

/* Returns the number of problems; -1 when the store cannot be read, which is a finding too. */
int64_t verify_all(struct shop *shop, bool aloud)
{
	int64_t found = 0;

	said[0] = '\0';
	for (unsigned part = 0; part < STORE_PART_COUNT; part++) {
		int64_t here = verify_part(shop, (enum store_part)part);

		if (here < 0)
			return -1;
		found += here;
	}
	arena_done(&shop->arena);
	arena_init(&shop->arena, (size_t)64 << 20);
	for (char *at = said; aloud && *at; at += strcspn(at, "\n") + 1)
		printf("# %.*s\n", (int)strcspn(at, "\n"), at);
	return found;
}

static void path_of(const struct shop *shop, char ret_path[128])
{
	(void)snprintf(ret_path, 128, "%s/ced.db", shop->folder);
}

/* Changes the file as someone with write access could. */
sqlite3 *break_in(const struct shop *shop)
{
	sqlite3 *db = NULL;
	char path[128];

	path_of(shop, path);
	(void)sqlite3_open(path, &db);
	return db;
}

int run_sql(sqlite3 *db, const char *sql)
{
	int r = sqlite3_exec(db, sql, NULL, NULL, NULL);

	if (r != SQLITE_OK)
		printf("# %s: %s\n", sql, sqlite3_errmsg(db));
	return r;
}

int64_t number_of(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *row = NULL;
	int64_t number = -1;

	if (sqlite3_prepare_v2(db, sql, -1, &row, NULL) == SQLITE_OK &&
		sqlite3_step(row) == SQLITE_ROW)
		number = sqlite3_column_int64(row, 0);
	(void)sqlite3_finalize(row);
	return number;
}

/* Closes the store and reads its file, so that it can be copied. */
void shut(struct shop *shop, struct bytes *ret_whole)
{
	char *bytes = NULL;
	size_t len = 0;
	char path[128];
	sqlite3 *db;

	store_close(shop->store);
	shop->store = NULL;
	db = break_in(shop);
	CHECK_EQ_INT(run_sql(db, "PRAGMA wal_checkpoint(TRUNCATE)"), SQLITE_OK);
	CHECK_EQ_INT(sqlite3_close(db), SQLITE_OK);
	path_of(shop, path);
	CHECK_EQ_INT(read_file(path, (size_t)64 << 20, &bytes, &len, &shop->err), 0);
	*ret_whole = (struct bytes){ bytes, len };
}

void put_back(const struct shop *shop, struct bytes whole)
{
	static const char *const endings[] = { "-wal", "-shm" };
	char path[128];
	char beside[160];
	int fd;

	path_of(shop, path);
	for (size_t i = 0; i < COUNT_OF(endings); i++) {
		(void)snprintf(beside, sizeof(beside), "%s%s", path, endings[i]);
		(void)unlink(beside);
	}
	fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	CHECK(fd >= 0 && write_all(fd, whole.data, whole.len, NULL) == 0);
	CHECK_EQ_INT(close(fd), 0);
}

/*
 * Applies the SQL to a copy and verifies the copy as a reader would.  Returns the number of
 * problems.
 */
int64_t found_after(struct shop *shop, struct bytes whole, const char *sql, bool aloud)
{
	int64_t found = -2;
	sqlite3 *db;
	int r;

	put_back(shop, whole);
	db = break_in(shop);
	r = run_sql(db, sql);
	(void)sqlite3_close(db);
	shop->store = r == SQLITE_OK ? store_open(shop->folder, STORE_READ, &shop->err) : NULL;
	if (shop->store)
		found = verify_all(shop, aloud);
	else if (r == SQLITE_OK)
		found = -1;
	store_close(shop->store);
	shop->store = NULL;
	return found;
}
