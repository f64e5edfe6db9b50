/*
 * The encoder of wire.h, and the only file that uses msgpack-c.  The packer of msgpack-c chooses
 * the shortest form of every head.
 */

#include "proto/wire/wire.h"

#include <math.h>
#include <string.h>

#include <msgpack.h>

#include "proto/base/utf8.h"

static int on_packed(void *data, const char *bytes, size_t len)
{
	return buf_append(data, bytes, len);
}

static msgpack_packer packer_of(struct buf *buf)
{
	return (msgpack_packer){ .data = buf, .callback = on_packed };
}

static int no_room(struct err *err)
{
	return err_set(err, ERR_TOO_BIG, "message is larger than it may become");
}

static int put_blob(msgpack_packer *packer, const struct value *value, struct err *err)
{
	const char *bytes = value->text.bytes;
	size_t len = value->text.len;
	int packed;

	if (len > UINT32_MAX)
		return no_room(err);
	if (value->type == VALUE_TEXT)
		packed = msgpack_pack_str_with_body(packer, bytes, len);
	else
		packed = msgpack_pack_bin_with_body(packer, bytes, len);
	return packed < 0 ? no_room(err) : 0;
}

/*
 * Writes a float32 when that is exact.  Past FLT_MAX the conversion gives infinity, which differs
 * from the real and so becomes a double.
 */
static int put_real(msgpack_packer *packer, double real, struct err *err)
{
	float single = (float)real;
	int packed;

	if (!isfinite(real))
		return err_set(err, ERR_INVALID, "a number is infinite or not a number");
	if ((double)single == real)
		packed = msgpack_pack_float(packer, single);
	else
		packed = msgpack_pack_double(packer, real);
	return packed < 0 ? no_room(err) : 0;
}

static int put_scalar(msgpack_packer *packer, const struct value *value)
{
	if (value->type == VALUE_INT)
		return msgpack_pack_int64(packer, value->integer);
	if (value->type == VALUE_UINT)
		return msgpack_pack_uint64(packer, value->uinteger);
	if (value->type == VALUE_BOOL)
		return value->boolean ? msgpack_pack_true(packer) : msgpack_pack_false(packer);
	return msgpack_pack_nil(packer);
}

static int put_value(
	msgpack_packer *packer, const struct value *value, unsigned depth, struct err *err);

static int put_items(
	msgpack_packer *packer, const struct value *list, unsigned depth, struct err *err)
{
	if (list->list.count > UINT32_MAX || msgpack_pack_array(packer, list->list.count) < 0)
		return no_room(err);
	for (size_t i = 0; i < list->list.count; i++)
		if (put_value(packer, list->list.items[i], depth + 1, err) < 0)
			return -1;
	return 0;
}

static int put_entries(
	msgpack_packer *packer, const struct value *map, unsigned depth, struct err *err)
{
	if (map->map.count > UINT32_MAX || msgpack_pack_map(packer, map->map.count) < 0)
		return no_room(err);
	for (size_t i = 0; i < map->map.count; i++) {
		const struct value_entry *entry = &map->map.entries[i];

		if (entry->key_len > UINT32_MAX ||
			msgpack_pack_str_with_body(packer, entry->key, entry->key_len) < 0)
			return no_room(err);
		if (put_value(packer, entry->value, depth + 1, err) < 0)
			return -1;
	}
	return 0;
}

static int put_value(
	msgpack_packer *packer, const struct value *value, unsigned depth, struct err *err)
{
	switch (value->type) {
	case VALUE_TEXT:
	case VALUE_BYTES:
		return put_blob(packer, value, err);
	case VALUE_REAL:
		return put_real(packer, value->real, err);
	case VALUE_LIST:
	case VALUE_MAP:
		if (depth >= WIRE_DEPTH_MAX)
			return err_set(err, ERR_INVALID, "a value nests deeper than %d levels",
				WIRE_DEPTH_MAX);
		return value->type == VALUE_LIST ? put_items(packer, value, depth, err)
						 : put_entries(packer, value, depth, err);
	case VALUE_NIL:
	case VALUE_BOOL:
	case VALUE_INT:
	case VALUE_UINT:
		break;
	}
	return put_scalar(packer, value) < 0 ? no_room(err) : 0;
}

int wire_encode(struct buf *buf, const struct value *value, struct err *err)
{
	msgpack_packer packer = packer_of(buf);
	size_t len_before = buf->len;

	if (put_value(&packer, value, 0, err) < 0) {
		buf->len = len_before;
		return -1;
	}
	return 0;
}

int wire_put_list(struct buf *buf, size_t count)
{
	msgpack_packer packer = packer_of(buf);

	return msgpack_pack_array(&packer, count);
}

int wire_put_map(struct buf *buf, size_t count)
{
	msgpack_packer packer = packer_of(buf);

	return msgpack_pack_map(&packer, count);
}

int wire_put_uint(struct buf *buf, uint64_t number)
{
	msgpack_packer packer = packer_of(buf);

	return msgpack_pack_uint64(&packer, number);
}

int wire_put_nil(struct buf *buf)
{
	msgpack_packer packer = packer_of(buf);

	return msgpack_pack_nil(&packer);
}

int wire_put_text(struct buf *buf, const char *text)
{
	const struct value value = {
		.type = utf8_is_valid(text, strlen(text)) ? VALUE_TEXT : VALUE_BYTES,
		.text = { .bytes = text, .len = strlen(text) },
	};

	return wire_encode(buf, &value, NULL);
}
