/* Writes a run: store_put_begun() and store_put_ended(). */
#include <assert.h>
#include <string.h>

#include "proto/base/container.h"
#include "proto/digest.h"
#include "store/base/content.h"
#include "store/base/record.h"
#include "store/base/stmt.h"
#include "store/write/approval_write.h"
#include "store/write/chain_write.h"
#include "store/write/reuse_write.h"
#include "store/write/writer.h"

#define KEY_TRIES 16 /* as many as STMT_KEY_FIND looks at */

/* ---- begun -------------------------------------------------------------------------------- */

static int insert_run(
	struct store *store, int64_t key, const struct store_run *run, struct err *err)
{
	struct binding binding = bind_start(store, STMT_RUN_INSERT, err);
	char code_hash[HASH_TEXT_LEN + 1] = "";
	char input_hash[HASH_TEXT_LEN + 1] = "";

	if (run->spec && !run->code_hash)
		job_code_hash(run->spec, code_hash);
	if (run->spec && !run->input_hash)
		job_input_hash(run->spec, input_hash);
	bind_int(&binding, key);
	bind_text(&binding, run->run_id);
	bind_text(&binding, run->caller_id);
	bind_text(&binding, run->method ? run->method : "run");
	bind_int(&binding, run->uid);
	bind_int(&binding, run->gid);
	bind_int(&binding, run->pid);
	bind_text(&binding, run->agent);
	bind_text(&binding, run->task);
	bind_text(&binding, run->language);
	bind_text(&binding, run->policy);
	bind_text(&binding, run->entrypoint);
	bind_int(&binding, run->received_wall_us);
	bind_hash(&binding, run->code_hash ? run->code_hash : code_hash);
	bind_hash(&binding, run->input_hash ? run->input_hash : input_hash);
	bind_text(&binding, run->caller_exe);
	bind_text(&binding, run->caller_name);
	bind_digest(&binding, run->action);
	return bind_run(&binding, err);
}

static int insert_record(
	struct store *store, int64_t key, const struct store_run *run, struct err *err)
{
	struct binding binding = bind_start(store, STMT_RECORD_INSERT, err);
	const struct job_spec *spec = run->spec;
	struct bytes request = { NULL, 0 };
	struct bytes setting = { NULL, 0 };
	struct bytes nothing = { NULL, 0 };

	if (spec && run_json_request(&store->writer->json, spec, &request, err) < 0)
		return -1;
	bind_int(&binding, key);
	if (content_bind(store, &binding, request, CONTENT_OWN_MAX, NULL, err) < 0)
		return -1;
	if (content_bind(store, &binding, run->refused_params, CONTENT_OWN_MAX, NULL, err) < 0)
		return -1;
	if (content_bind(store, &binding, spec ? spec->code : nothing, CONTENT_INLINE_MAX, NULL,
		    err) < 0)
		return -1;
	if (content_bind(store, &binding, spec && spec->has_input ? spec->input : nothing,
		    CONTENT_INLINE_MAX, NULL, err) < 0)
		return -1;
	if (run_json_begun(&store->writer->json, run, &setting, err) < 0 ||
		content_bind(store, &binding, setting, CONTENT_OWN_MAX, NULL, err) < 0)
		return -1;
	return bind_run(&binding, err);
}

static int insert_inputs(
	struct store *store, int64_t key, const struct job_spec *spec, struct err *err)
{
	for (size_t i = 0; i < spec->file_count; i++) {
		const struct job_input_file *file = &spec->files[i];
		struct binding binding = bind_start(store, STMT_INPUT_INSERT, err);

		bind_int(&binding, key);
		bind_int(&binding, (int64_t)i);
		bind_words(&binding, file->path, strlen(file->path));
		bind_int(&binding, file->mode);
		if (content_bind(store, &binding, file->data, CONTENT_INLINE_MAX, NULL, err) < 0 ||
			bind_run(&binding, err) < 0)
			return -1;
	}
	return 0;
}

static int insert_labels(
	struct store *store, int64_t key, const struct job_spec *spec, struct err *err)
{
	for (size_t i = 0; i < spec->label_count; i++) {
		const struct job_pair *label = &spec->labels[i];
		struct binding binding = bind_start(store, STMT_LABEL_INSERT, err);

		bind_text(&binding, label->key);
		bind_words(&binding, label->value.data, label->value.len);
		bind_int(&binding, key);
		if (bind_run(&binding, err) < 0)
			return -1;
	}
	return 0;
}

/* Inserts the run at the first free key from *key on, since two ids can have the same key. */
static int insert_run_at_free_key(
	struct store *store, int64_t *key, const struct store_run *run, struct err *err)
{
	struct err why = ERR_INIT;
	int64_t there = 0;

	for (int i = 0; i < KEY_TRIES; i++) {
		if (insert_run(store, *key + i, run, &why) == 0) {
			*key += i;
			return 0;
		}
		if (why.code != ERR_EXISTS)
			break;
		if (i == 0 && record_find(store, run->run_id, &there, err) == 0)
			return err_set(
				err, ERR_EXISTS, "the store: run %s is already there", run->run_id);
	}
	if (err)
		*err = why;
	return -1;
}

/* Everything that is known before the program starts.  *key: where it should be, then where it is. */
static int put_start(
	struct store *store, int64_t *key, const struct store_run *run, struct err *err)
{
	if (insert_run_at_free_key(store, key, run, err) < 0 ||
		insert_record(store, *key, run, err) < 0)
		return -1;
	if (run->spec && (insert_inputs(store, *key, run->spec, err) < 0 ||
				 insert_labels(store, *key, run->spec, err) < 0))
		return -1;
	return stmt_run_for(store, STMT_PENDING_INSERT, *key, err);
}

/* ---- ended -------------------------------------------------------------------------------- */

static void bind_metrics(struct binding *binding, const struct job_metrics *metrics)
{
#define BIND_METRIC(name) bind_int(binding, metrics->name);
	RECORD_METRICS(BIND_METRIC)
#undef BIND_METRIC
	bind_int(binding, metrics->warm);
}

/* 0, or 1 when the run does not stand at this key. */
static int update_run(
	struct store *store, int64_t key, const struct store_run *run, struct err *err)
{
	const struct job_result *result = run->result;
	struct binding binding = bind_start(store, STMT_RUN_END, err);

	bind_int(&binding, key);
	bind_int(&binding, run->ended_wall_us);
	bind_text(&binding, run->policy);
	bind_text(&binding, outcome_word(result->outcome));
	bind_text(&binding, ran_word(result->ran));
	bind_text(&binding, result->reason);
	bind_hash(&binding, result->code_hash);
	bind_hash(&binding, result->input_hash);
	bind_int(&binding, (int64_t)result->out.total);
	bind_int(&binding, (int64_t)result->errout.total);
	bind_metrics(&binding, &result->metrics);
	bind_text(&binding, result->cached_from[0] ? result->cached_from : NULL);
	bind_text(&binding, run->run_id);
	bind_int(&binding, run->is_uncounted ? RECORD_UNCOUNTED : (int64_t)run->stored_bytes);
	bind_digest(&binding, reuse_action(run));
	bind_digest(&binding, reuse_cache_key(run));
	if (bind_run(&binding, err) < 0)
		return -1;
	return sqlite3_changes(store->db) ? 0 : 1;
}

/* An empty stream is stored as NULL. */
static struct bytes or_null(struct bytes bytes)
{
	return bytes.len ? bytes : (struct bytes){ NULL, 0 };
}

static int update_record(struct store *store, int64_t key, const struct job_result *result,
	const struct run_columns *columns, struct err *err)
{
	const struct {
		struct bytes bytes;
		size_t inline_max;
	} contents[] = {
		{ columns->setting, CONTENT_INLINE_MAX },
		{ or_null(result->out.head), CONTENT_INLINE_MAX },
		{ or_null(result->out.tail), CONTENT_INLINE_MAX },
		{ or_null(result->errout.head), CONTENT_INLINE_MAX },
		{ or_null(result->errout.tail), CONTENT_INLINE_MAX },
		{ columns->trace, RECORD_TRACE_INLINE_MAX },
		{ columns->more, CONTENT_OWN_MAX },
	};
	struct binding binding = bind_start(store, STMT_RECORD_END, err);

	bind_int(&binding, key);
	for (size_t i = 0; i < COUNT_OF(contents); i++) {
		if (content_bind(store, &binding, contents[i].bytes, contents[i].inline_max, NULL,
			    err) < 0)
			return -1;
	}
	return bind_run(&binding, err);
}

static int insert_findings(
	struct store *store, int64_t key, const struct policy_verdict *verdict, struct err *err)
{
	for (size_t i = 0; i < verdict->finding_count; i++) {
		const struct policy_finding *finding = &verdict->findings[i];
		struct binding binding = bind_start(store, STMT_FINDING_INSERT, err);

		bind_int(&binding, key);
		bind_int(&binding, (int64_t)i);
		bind_text(&binding, finding->rule);
		bind_text(&binding, finding->severity);
		bind_int(&binding, finding->line);
		bind_int(&binding, finding->column);
		bind_text(&binding, finding->text);
		bind_text(&binding, finding->message);
		if (bind_run(&binding, err) < 0)
			return -1;
	}
	return 0;
}

static int insert_artifact(struct store *store, int64_t key, const struct job_result *result,
	size_t number, const char *mime, struct err *err)
{
	const struct job_artifact *artifact = &result->artifacts[number];
	struct binding binding = bind_start(store, STMT_ARTIFACT_INSERT, err);
	uint8_t digest[DIGEST_LEN];
	bool known = digest_from_text(artifact->sha256, digest) == 0;

	if (!known)
		digest_of(artifact->data.data, artifact->data.len, digest);
	bind_int(&binding, key);
	bind_int(&binding, (int64_t)number);
	bind_words(&binding, artifact->path, strlen(artifact->path));
	bind_int(&binding, artifact->mode);
	bind_text(&binding, mime);
	bind_int(&binding, (int64_t)artifact->data.len);
	bind_blob(&binding, digest, sizeof(digest));
	if (content_bind(store, &binding,
		    (struct bytes){
			    artifact->data.data ? artifact->data.data : "", artifact->data.len },
		    CONTENT_INLINE_MAX, artifact->masked ? NULL : digest, err) < 0)
		return -1;
	return bind_run(&binding, err);
}

static int insert_artifacts(struct store *store, int64_t key, const struct job_result *result,
	const struct run_columns *columns, struct err *err)
{
	const struct value *list = value_get(columns->whole, "artifacts");

	for (size_t i = 0; i < result->artifact_count; i++) {
		const char *mime = value_as_text(value_get(value_at(list, i), "mime"));

		if (insert_artifact(store, key, result, i, mime, err) < 0)
			return -1;
	}
	return 0;
}

/* Writes the row that lists read, wherever the run is.  A run that was never begun is inserted. */
static int put_row(struct store *store, int64_t *key, const struct store_run *run, struct err *err)
{
	int r = update_run(store, *key, run, err);

	if (r <= 0)
		return r;
	r = record_find(store, run->run_id, key, err);
	if (r < 0 || (r > 0 && put_start(store, key, run, err) < 0))
		return -1;
	return update_run(store, *key, run, err) < 0 ? -1 : 0;
}

static int put_end(struct store *store, int64_t key, const struct store_run *run, struct err *err)
{
	const struct job_result *result = run->result;
	struct run_columns columns = { NULL, { NULL, 0 }, { NULL, 0 }, { NULL, 0 } };

	if (run_json_result(&store->writer->json, result,
		    run->spec ? run->spec->limits_asked : NULL, &columns, err) < 0)
		return -1;
	if (update_record(store, key, result, &columns, err) < 0)
		return -1;
	if (result->has_verdict && insert_findings(store, key, &result->verdict, err) < 0)
		return -1;
	return insert_artifacts(store, key, result, &columns, err);
}

static int put_begun(struct store *store, int64_t key, const struct store_run *run, struct err *err)
{
	if (run->is_begun ? record_find(store, run->run_id, &key, err) != 0
			  : put_start(store, &key, run, err) < 0)
		return -1;
	if (reuse_begun(store, key, run, err) < 0)
		return -1;
	return run->is_told ? chain_add(store, CHAIN_RUN_BEGUN, key, err) : 0;
}

static int put_ended(struct store *store, int64_t key, const struct store_run *run, struct err *err)
{
	if (put_row(store, &key, run, err) < 0 || put_end(store, key, run, err) < 0 ||
		reuse_ended(store, key, run, err) < 0 || chain_add(store, CHAIN_RUN, key, err) < 0)
		return -1;
	if (run->was_parked && parked_forget(store, key, err) < 0)
		return -1;
	store->writer->ended++;
	return 0;
}

static int put_run(struct store *store, const struct store_run *run,
	int (*write)(struct store *, int64_t, const struct store_run *, struct err *),
	struct err *err)
{
	struct writer *writer = store->writer;
	int64_t key = db_key_of(run->run_id);
	int r = -1;

	assert(writer->in_transaction);

	if (writer->failed)
		return err_set(err, ERR_INVALID, "the store: a record of this batch failed");
	if (key < 0)
		(void)err_set(err, ERR_INVALID, "the store: a run's id is not a ULID");
	else
		r = write(store, key, run, err);
	run_json_clear(&writer->json);
	if (r < 0)
		return writer_failed(store);
	cut_printf(writer->last_run, sizeof(writer->last_run), "%s", run->run_id);
	return 0;
}

int store_put_begun(struct store *store, const struct store_run *run, struct err *err)
{
	return put_run(store, run, put_begun, err);
}

int store_put_ended(struct store *store, const struct store_run *run, struct err *err)
{
	assert(run->result);

	return put_run(store, run, put_ended, err);
}
