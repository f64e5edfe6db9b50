/* Writes a run: store_put_begun() and store_put_ended(). */
#include <assert.h>
#include <string.h>

#include "proto/base/container.h"
#include "proto/digest.h"
#include "proto/job/job_display.h"
#include "store/base/content.h"
#include "store/base/record.h"
#include "store/base/stmt.h"
#include "store/write/act_write.h"
#include "store/write/call_write.h"
#include "store/write/chain_write.h"
#include "store/write/reuse_write.h"
#include "store/write/writer.h"

#define KEY_TRIES           16 /* as many as STMT_KEY_FIND looks at */
#define RECORD_CONTENTS_MAX 7  /* in one statement */

/* ---- begun -------------------------------------------------------------------------------- */

static int insert_run(
	struct store *store, int64_t key, const struct store_run *run, struct err *err)
{
	char code_hash[HASH_TEXT_LEN + 1] = "";
	char input_hash[HASH_TEXT_LEN + 1] = "";

	if (run->spec && !run->code_hash)
		job_code_hash(run->spec, code_hash);
	if (run->spec && !run->input_hash)
		job_input_hash(run->spec, input_hash);
	return stmt_run(store, STMT_RUN_INSERT,
		SQL_VALUES(sql_int(key), sql_text(run->run_id), sql_text(run->caller_id),
			sql_text(run->method ? run->method : "run"), sql_int(run->uid),
			sql_int(run->gid), sql_int(run->pid), sql_text(run->agent),
			sql_text(run->task), sql_text(run->language), sql_text(run->policy),
			sql_text(run->entrypoint), sql_int(run->received_wall_us),
			sql_hash(run->code_hash ? run->code_hash : code_hash),
			sql_hash(run->input_hash ? run->input_hash : input_hash),
			sql_text(run->caller_exe), sql_text(run->caller_name),
			sql_digest(run->action), sql_text(run->session)),
		err);
}

/* Contents of a run, for the columns of a statement whose first parameter is its key. */
struct content {
	struct bytes bytes;
	size_t inline_max;
};

static int put_contents(struct store *store, enum stmt_name name, int64_t key,
	const struct content *contents, size_t count, struct err *err)
{
	struct sql_value values[RECORD_CONTENTS_MAX + 2] = { sql_int(key) };

	assert(count <= RECORD_CONTENTS_MAX);
	for (size_t i = 0; i < count; i++)
		if (content_value(store, contents[i].bytes, contents[i].inline_max, NULL,
			    &values[i + 1], err) < 0)
			return -1;
	return stmt_run(store, name, values, err);
}

static int insert_record(
	struct store *store, int64_t key, const struct store_run *run, struct err *err)
{
	const struct job_spec *spec = run->spec;
	struct bytes request = { NULL, 0 };
	struct bytes setting = { NULL, 0 };
	struct bytes nothing = { NULL, 0 };

	if ((spec && run_json_request(&store->writer->json, spec, &request, err) < 0) ||
		run_json_begun(&store->writer->json, run, &setting, err) < 0)
		return -1;
	const struct content contents[] = {
		{ request, CONTENT_OWN_MAX },
		{ run->refused_params, CONTENT_OWN_MAX },
		{ spec ? spec->code : nothing, CONTENT_INLINE_MAX },
		{ spec && spec->has_input ? spec->input : nothing, CONTENT_INLINE_MAX },
		{ setting, CONTENT_OWN_MAX },
	};

	return put_contents(store, STMT_RECORD_INSERT, key, contents, COUNT_OF(contents), err);
}

static int insert_inputs(
	struct store *store, int64_t key, const struct job_spec *spec, struct err *err)
{
	for (size_t i = 0; i < spec->file_count; i++) {
		const struct job_input_file *file = &spec->files[i];
		struct sql_value data;

		if (content_value(store, file->data, CONTENT_INLINE_MAX, NULL, &data, err) < 0 ||
			stmt_run(store, STMT_INPUT_INSERT,
				SQL_VALUES(sql_int(key), sql_int((int64_t)i),
					sql_words(file->path, strlen(file->path)),
					sql_int(file->mode), data),
				err) < 0)
			return -1;
	}
	return 0;
}

static int insert_labels(
	struct store *store, int64_t key, const struct job_spec *spec, struct err *err)
{
	for (size_t i = 0; i < spec->label_count; i++) {
		const struct job_pair *label = &spec->labels[i];

		if (stmt_run(store, STMT_LABEL_INSERT,
			    SQL_VALUES(sql_text(label->key),
				    sql_words(label->value.data, label->value.len), sql_int(key)),
			    err) < 0)
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

/*
 * Everything that is known before the program starts.  *key: where it should be, then where it is.
 */
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

#define METRIC_VALUE(name) sql_int(metrics->name),

/* 0, or 1 when the run does not stand at this key. */
static int update_run(
	struct store *store, int64_t key, const struct store_run *run, struct err *err)
{
	const struct job_result *result = run->result;
	const struct job_metrics *metrics = &result->metrics;

	if (stmt_run(store, STMT_RUN_END,
		    SQL_VALUES(sql_int(key), sql_int(run->ended_wall_us), sql_text(run->policy),
			    sql_text(outcome_word(result->outcome)),
			    sql_text(ran_word(result->ran)), sql_text(result->reason),
			    sql_hash(result->code_hash), sql_hash(result->input_hash),
			    sql_int((int64_t)result->out.total),
			    sql_int((int64_t)result->errout.total),
			    RECORD_METRICS(METRIC_VALUE) sql_int(metrics->warm),
			    sql_text(result->cached_from[0] ? result->cached_from : NULL),
			    sql_text(run->run_id),
			    sql_int(run->is_uncounted ? RECORD_UNCOUNTED
						      : (int64_t)run->stored_bytes),
			    sql_digest(reuse_action(run)), sql_digest(reuse_cache_key(run)),
			    run->cell ? sql_int((int64_t)run->cell) : sql_text(NULL)),
		    err) < 0)
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
	const struct content contents[] = {
		{ columns->setting, CONTENT_INLINE_MAX },
		{ or_null(result->out.head), CONTENT_INLINE_MAX },
		{ or_null(result->out.tail), CONTENT_INLINE_MAX },
		{ or_null(result->errout.head), CONTENT_INLINE_MAX },
		{ or_null(result->errout.tail), CONTENT_INLINE_MAX },
		{ columns->trace, RECORD_TRACE_INLINE_MAX },
		{ columns->more, CONTENT_OWN_MAX },
	};

	return put_contents(store, STMT_RECORD_END, key, contents, COUNT_OF(contents), err);
}

static int insert_findings(
	struct store *store, int64_t key, const struct policy_verdict *verdict, struct err *err)
{
	for (size_t i = 0; i < verdict->finding_count; i++) {
		const struct policy_finding *finding = &verdict->findings[i];

		if (stmt_run(store, STMT_FINDING_INSERT,
			    SQL_VALUES(sql_int(key), sql_int((int64_t)i), sql_text(finding->rule),
				    sql_text(finding->severity), sql_int(finding->line),
				    sql_int(finding->column), sql_text(finding->text),
				    sql_text(finding->message)),
			    err) < 0)
			return -1;
	}
	return 0;
}

static int insert_artifact(struct store *store, int64_t key, const struct job_result *result,
	size_t number, const char *mime, struct err *err)
{
	const struct job_artifact *artifact = &result->artifacts[number];
	const struct bytes data = { artifact->data.data ? artifact->data.data : "",
		artifact->data.len };
	uint8_t digest[DIGEST_LEN];
	struct sql_value content;

	if (digest_from_text(artifact->sha256, digest) < 0)
		digest_of(data.data, data.len, digest);
	if (content_value(store, data, CONTENT_INLINE_MAX, artifact->masked ? NULL : digest,
		    &content, err) < 0)
		return -1;
	return stmt_run(store, STMT_ARTIFACT_INSERT,
		SQL_VALUES(sql_int(key), sql_int((int64_t)number),
			sql_words(artifact->path, strlen(artifact->path)), sql_int(artifact->mode),
			sql_text(mime), sql_int((int64_t)data.len), sql_digest(digest), content),
		err);
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

/* The form of a displayed content, and its bytes. */
static int display_content(struct store *store, const struct value_entry *entry,
	enum record_form *ret_form, struct bytes *ret_bytes, struct err *err)
{
	const struct value *content = entry->value;

	if (job_display_is_json(entry->key)) {
		*ret_form = RECORD_FORM_JSON;
		return run_json_value(&store->writer->json, content, ret_bytes, err);
	}
	*ret_form = value_is(content, VALUE_TEXT) ? RECORD_FORM_TEXT : RECORD_FORM_BYTES;
	*ret_bytes = (struct bytes){ content->text.bytes, content->text.len };
	return 0;
}

/* Where a row of `displays` belongs. */
struct display_row {
	int64_t key, number;
	int64_t item; /* from 1 */
	bool is_main;
};

static int insert_display(struct store *store, const struct display_row *row,
	const struct value_entry *entry, struct err *err)
{
	enum record_form form = RECORD_FORM_TEXT;
	struct bytes bytes = { NULL, 0 };
	struct sql_value content;

	if (display_content(store, entry, &form, &bytes, err) < 0 ||
		content_value(store, bytes, CONTENT_INLINE_MAX, NULL, &content, err) < 0)
		return -1;
	return stmt_run(store, STMT_DISPLAY_INSERT,
		SQL_VALUES(sql_int(row->key), sql_int(row->number), sql_int(row->item),
			sql_int(row->is_main), sql_words(entry->key, entry->key_len), sql_int(form),
			sql_int((int64_t)bytes.len), content),
		err);
}

static int insert_displays(
	struct store *store, int64_t key, const struct value *display, struct err *err)
{
	struct display_row row = { .key = key };

	for (size_t i = 0; value_at(display, i); i++) {
		const struct value *data = value_get(value_at(display, i), "data");

		row.item++;
		row.is_main = value_as_bool(value_get(value_at(display, i), "main"), false);
		for (size_t k = 0; value_is(data, VALUE_MAP) && k < data->map.count; k++) {
			if (insert_display(store, &row, &data->map.entries[k], err) < 0)
				return -1;
			row.number++;
		}
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
	if (insert_displays(store, key, result->display, err) < 0)
		return -1;
	return insert_artifacts(store, key, result, &columns, err);
}

static int put_begun(struct store *store, int64_t key, const struct store_run *run, struct err *err)
{
	int r = run->is_begun ? record_find(store, run->run_id, &key, err)
			      : put_start(store, &key, run, err);

	if (r > 0)
		return err_set(err, ERR_MISSING, "the store: run %s has no row", run->run_id);
	if (r < 0)
		return -1;
	if (reuse_begun(store, key, run, err) < 0)
		return -1;
	return run->is_reported ? chain_add(store, CHAIN_RUN_BEGUN, key, err) : 0;
}

static int put_ended(struct store *store, int64_t key, const struct store_run *run, struct err *err)
{
	if (put_row(store, &key, run, err) < 0 || put_end(store, key, run, err) < 0 ||
		calls_check(store, key, run->calls, err) < 0 ||
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
