/*
 * A hostile daemon against the C client: any bytes, all at once and cut into pieces whose sizes the
 * first bytes give.  Both ways must hand over the same messages and end at the same place.  Readers
 * get each value, whole and cut short; JSON text gets whatever there is.
 */

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "clients/c/ced.h"
#include "proto/wire/wire.h"
#include "tests/fuzz/fuzz.h"

#define SIZES 8 /* bytes at the front that define how the rest is cut */

/* What came, as a number that depends on all of it. */
struct story {
	uint64_t sum;
	uint64_t count;
	bool ended;
};

static void note(struct story *story, const char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		story->sum = story->sum * 31 + (unsigned char)bytes[i];
	story->sum += len;
	story->count++;
}

/* Every reader must accept every value. */
static void read_value(struct ced_value value, unsigned depth)
{
	struct ced_value items = ced_items(value);
	struct ced_value item;
	char text[8];
	size_t len;
	size_t count = 0;

	(void)ced_int(value, 0);
	(void)ced_uint(value, 0);
	(void)ced_real(value, 0);
	(void)ced_bool(value, false);
	if (ced_text(value, &len))
		assert(len <= value.len);
	assert(strlen(ced_copy_text(value, text, sizeof(text))) < sizeof(text));
	(void)ced_get(value, "run_id");
	(void)ced_find(value, "/data/0/~1x");
	(void)ced_at(value, 1);
	while (depth > 0 && count < 64 && ced_next(&items, &item)) {
		assert(item.len > 0 && item.bytes >= value.bytes);
		assert(item.bytes + item.len <= value.bytes + value.len);
		read_value(item, depth - 1);
		count++;
	}
	assert(count == 64 || depth == 0 || count <= 2 * ced_count(value));
}

static int on_notice(void *context, const char *method, struct ced_value params)
{
	note(context, method, strlen(method));
	note(context, params.bytes, params.len);
	assert(ced_type(params) == CED_MAP);
	read_value(params, 3);
	return 0;
}

static int on_answer(void *context, uint32_t msgid, struct ced_value error, struct ced_value result)
{
	struct story *story = context;

	assert((error.len == 0) != (result.len == 0));
	story->sum += msgid;
	note(story, error.bytes ? error.bytes : "", error.len);
	note(story, result.bytes ? result.bytes : "", result.len);
	read_value(result, 3);
	return story->count % 5 == 0; /* a handler may stop; the rest comes in the next step */
}

static void feed(const uint8_t *sizes, const uint8_t *data, size_t len, struct story *story)
{
	const struct ced_handlers handlers = { story, on_notice, on_answer };
	struct ced_error error = { 0 };
	struct ced_client *client = ced_attach(-1, &error);
	size_t at = 0;

	assert(client);
	ced_handle(client, &handlers);
	for (size_t turn = 0; at < len && !story->ended; turn++) {
		size_t step = sizes ? 1 + (size_t)sizes[turn % SIZES] * sizes[turn % SIZES] : len;
		int status;

		if (step > len - at)
			step = len - at;
		status = ced_feed(client, data + at, step, &error);
		at += step;
		while (status >= 0 && (status = ced_step(client, 0, &error)) > 0)
			;
		story->ended = status < 0;
	}
	assert(!story->ended || error.failure == CED_BROKEN);
	assert(!story->ended ||
		ced_ask(client, "hello", (struct ced_value){ 0 }, NULL, &error) < 0);
	ced_close(client);
}

/* What the client makes of a JSON text is msgpack, or it is refused. */
static void read_json(const uint8_t *data, size_t len)
{
	struct ced_buffer buffer = { 0 };
	char *text = malloc(len + 1);

	assert(text);
	if (len > 0)
		memcpy(text, data, len);
	text[len] = '\0';
	if (ced_json(&buffer, text) == 0) {
		struct wire_scanner scanner;
		size_t whole = 0;

		wire_scanner_init(&scanner, SIZE_MAX / 2, WIRE_DEPTH_MAX);
		assert(wire_scan(&scanner, buffer.bytes, buffer.len, &whole, NULL) == 1);
		assert(whole == buffer.len);
		read_value(ced_buffer_value(&buffer), 3);
	} else {
		assert(buffer.failed && ced_buffer_value(&buffer).len == 0);
	}
	ced_buffer_done(&buffer);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct story whole = { 0 };
	struct story pieces = { 0 };
	char *cut;

	if (len < SIZES)
		return 0;
	feed(NULL, data + SIZES, len - SIZES, &whole);
	feed(data, data + SIZES, len - SIZES, &pieces);
	assert(whole.count == pieces.count && whole.sum == pieces.sum);
	assert(whole.ended == pieces.ended);
	/* A copy of its own, so that the sanitizer sees a read past its end. */
	cut = malloc(len - SIZES + 1);
	assert(cut);
	memcpy(cut, data + SIZES, len - SIZES);
	read_value((struct ced_value){ cut, len - SIZES }, 3);
	free(cut);
	read_json(data + SIZES, len - SIZES);
	return 0;
}
