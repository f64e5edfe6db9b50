/* blob.put and blob.get: a caller uploads contents for later runs, and reads contents back. */
#include <string.h>

#include "daemon/gate/blobs.h"
#include "daemon/loop/thread_work.h"
#include "daemon/methods/methods.h"
#include "daemon/services.h"
#include "proto/fill.h"
#include "proto/number.h"

#define PAGE_BYTES ((uint64_t)1 << 20)

/* A content whose digest a thread computes. */
struct putting {
	struct call *call;
	struct blob *blob; /* NULL: the data is in the message and has no digest yet */
	struct bytes data;
	bool taken;
	char sha256[DIGEST_TEXT_LEN + 1];
};

static uint64_t number_in(const struct call *call, const char *key, uint64_t otherwise)
{
	uint64_t number = otherwise;
	const struct value *value = value_get(call->params, key);

	if (value)
		(void)number_as_u64(value, &number);
	return number;
}

static void blob_answer(struct call *call, const char *sha256, size_t len, bool complete)
{
	struct fill fill = fill_start(&call->arena);

	fill_text(&fill, "sha256", sha256);
	fill_uint(&fill, "bytes", len);
	fill_bool(&fill, "complete", complete);
	call_result(call, fill_done(&fill));
}

static void blob_refuse(
	struct call *call, const char *pointer, const char *reason, const char *message)
{
	const struct job_refusal refusal = { pointer, reason, message ? message : pointer };

	call_refuse(call, &refusal);
}

static void no_room(struct call *call)
{
	call_error(call, RPC_CODE_BUSY,
		"this user's uploaded contents take too much memory: use them in a run, or wait");
}

/* ---- whole --------------------------------------------------------------------------------- */

static void take_digest(void *context)
{
	struct putting *putting = context;

	putting->taken = true;
	digest_text_of(putting->data.data, putting->data.len, putting->sha256);
}

/*
 * Stores a content that came in one piece.  An incomplete upload under the same digest is dropped,
 * because its parts have not been checked.
 */
static struct blob *shelve(struct putting *putting)
{
	struct call *call = putting->call;
	struct blobs *blobs = call->services->blobs;
	struct blob *blob = blobs_find(blobs, call->caller.uid, putting->sha256);

	if (blob && blob->settled)
		return blob;
	if (blob)
		blobs_drop(blob);
	blob = blobs_begin(blobs, call->caller.uid, putting->sha256, putting->data.len);
	if (!blob)
		return NULL;
	blobs_add(blob, putting->data.data, blob->total);
	(void)blobs_settle(blob, putting->sha256);
	return blob;
}

static void settle_whole(struct putting *putting)
{
	struct call *call = putting->call;
	const char *promised = value_as_text(value_get(call->params, "sha256"));

	if (promised && strcmp(promised, putting->sha256) != 0)
		blob_refuse(call, "/sha256", "value", "/sha256: the data has another digest");
	else if (!shelve(putting))
		no_room(call);
	else
		blob_answer(call, putting->sha256, putting->data.len, true);
}

static void settle_parts(struct putting *putting)
{
	struct call *call = putting->call;
	struct blob *blob = putting->blob;

	if (!blob->settled && !blobs_settle(blob, putting->sha256))
		blob_refuse(call, "/sha256", "value",
			"/sha256: the parts have another digest; the daemon has dropped them");
	else
		blob_answer(call, blob->sha256, blob->total, true);
	blob_unref(blob);
}

static void on_digest(void *context)
{
	struct putting *putting = context;

	if (!putting->taken || putting->call->services->state->closing) {
		blob_unref(putting->blob);
		call_error(putting->call, RPC_CODE_DRAINING, "the daemon is closing");
	} else if (putting->blob) {
		settle_parts(putting);
	} else {
		settle_whole(putting);
	}
}

/* `blob` NULL: `data` is in the call's message. */
static void start_digest(struct call *call, struct blob *blob, struct bytes data)
{
	struct putting *putting = arena_new(&call->arena, struct putting);

	if (putting) {
		putting->call = call;
		putting->blob = blob ? blob_ref(blob) : NULL;
		putting->data = data;
		if (thread_work_start(call->services->thread_work, call->caller.uid, take_digest,
			    on_digest, putting) == 0)
			return;
		blob_unref(putting->blob);
	}
	call_error(call, RPC_CODE_INTERNAL, "no thread or no memory to compute the digest");
}

/* ---- in parts ------------------------------------------------------------------------------ */

static void put_part(
	struct call *call, const char *sha256, struct bytes data, uint64_t offset, uint64_t total)
{
	struct blobs *blobs = call->services->blobs;
	struct blob *blob = blobs_find(blobs, call->caller.uid, sha256);

	if (blob && blob->settled) {
		blob_answer(call, sha256, blob->total, true);
		return;
	}
	if (!blob && offset == 0)
		blob = blobs_begin(blobs, call->caller.uid, sha256, (size_t)total);
	if (!blob && offset == 0) {
		no_room(call);
		return;
	}
	if (!blob || blob->len != offset || blob->total != total) {
		blob_refuse(call, "/offset", "range",
			arena_printf(&call->arena,
				"/offset: %llu of %llu bytes have arrived; continue there, or start again",
				(unsigned long long)(blob ? blob->len : 0),
				(unsigned long long)(blob ? blob->total : total)));
		return;
	}
	blobs_add(blob, data.data, data.len);
	if (blob->len < blob->total)
		blob_answer(call, sha256, blob->len, false);
	else
		start_digest(call, blob, (struct bytes){ blob->data, blob->total });
}

void method_blob_put(struct call *call)
{
	const struct value *data = value_get(call->params, "data");
	const char *sha256 = value_as_text(value_get(call->params, "sha256"));
	struct bytes bytes = { data->text.bytes, data->text.len };
	uint64_t offset = number_in(call, "offset", 0);
	uint64_t total = number_in(call, "total", offset + bytes.len);
	uint64_t most = call->services->config->files_bytes;

	if (total > most)
		blob_refuse(call, value_get(call->params, "total") ? "/total" : "/data", "too_long",
			arena_printf(&call->arena, "a content may have at most %llu bytes",
				(unsigned long long)most));
	else if (offset > total || bytes.len > total - offset)
		blob_refuse(call, "/data", "range", "/data: offset and data exceed the total");
	else if (offset == 0 && bytes.len == total)
		start_digest(call, NULL, bytes);
	else if (!sha256)
		blob_refuse(call, "/sha256", "missing",
			"/sha256: is missing; an upload in parts needs its digest");
	else
		put_part(call, sha256, bytes, offset, total);
}

/* ---- reading ------------------------------------------------------------------------------- */

void method_blob_get(struct call *call)
{
	const char *sha256 = value_as_text(value_get(call->params, "sha256"));
	struct blob *blob = blobs_find(call->services->blobs, call->caller.uid, sha256);
	uint64_t offset = number_in(call, "offset", 0);
	uint64_t most = number_in(call, "length", PAGE_BYTES);
	struct fill fill = fill_start(&call->arena);
	uint64_t left;

	if (!blob || !blob->settled) {
		call_error(
			call, RPC_CODE_NOT_FOUND, "there is no content %s, or no longer", sha256);
		return;
	}
	offset = offset < blob->total ? offset : blob->total;
	left = blob->total - offset;
	most = most < left ? most : left;
	fill_blob(&fill, "data", (struct bytes){ blob->data + offset, (size_t)most });
	fill_uint(&fill, "offset", offset);
	fill_uint(&fill, "total", blob->total);
	fill_bool(&fill, "eof", most == left);
	call_result(call, fill_done(&fill)); /* copies the bytes before the blob can be freed */
}
