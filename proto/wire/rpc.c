#include "proto/wire/rpc.h"

#include <string.h>

#include "proto/base/container.h"
#include "proto/wire/wire.h"
#include "proto/wire/wire_head.h"

static const struct value no_params = { .type = VALUE_MAP };

/* ---- reading ------------------------------------------------------------------------------ */

static int refuse(
	struct rpc_fault *ret_fault, struct err *err, const char *reason, const char *words)
{
	if (ret_fault)
		ret_fault->reason = reason;
	return err_set(err, ERR_INVALID, "%s", words);
}

static int read_msgid(const struct value *value, uint32_t *ret_msgid, struct rpc_fault *ret_fault,
	struct err *err)
{
	if (!value_is(value, VALUE_INT))
		return refuse(ret_fault, err, "type", "msgid is not an integer");
	if (value->integer < 0 || value->integer > UINT32_MAX)
		return refuse(ret_fault, err, "range", "msgid does not fit 32 bits");
	*ret_msgid = (uint32_t)value->integer;
	return 0;
}

static int read_method(const struct value *value, const char **ret_method,
	struct rpc_fault *ret_fault, struct err *err)
{
	if (!value_is(value, VALUE_TEXT))
		return refuse(ret_fault, err, "type", "method is not text");
	if (value->text.len > RPC_METHOD_LEN_MAX)
		return refuse(ret_fault, err, "too_long", "method is too long");
	if (!value_as_text(value))
		return refuse(ret_fault, err, "nul", "method has a NUL inside");
	*ret_method = value_as_text(value);
	return 0;
}

static int read_params(const struct value *value, const struct value **ret_params,
	struct rpc_fault *ret_fault, struct err *err)
{
	if (!value_is(value, VALUE_LIST) || value->list.count > 1)
		return refuse(ret_fault, err, "type", "params are not a list with one map");
	if (value->list.count == 0) {
		*ret_params = &no_params;
		return 0;
	}
	if (!value_is(value_at(value, 0), VALUE_MAP))
		return refuse(ret_fault, err, "type", "params are not a list with one map");
	*ret_params = value_at(value, 0);
	return 0;
}

static int read_request(const struct value *envelope, struct rpc_message *message,
	struct rpc_fault *ret_fault, struct err *err)
{
	if (read_msgid(value_at(envelope, 1), &message->msgid, ret_fault, err) < 0)
		return -1;
	if (ret_fault) {
		ret_fault->has_msgid = true;
		ret_fault->msgid = message->msgid;
	}
	if (read_method(value_at(envelope, 2), &message->method, ret_fault, err) < 0)
		return -1;
	return read_params(value_at(envelope, 3), &message->params, ret_fault, err);
}

static int read_response(const struct value *envelope, struct rpc_message *message,
	struct rpc_fault *ret_fault, struct err *err)
{
	const struct value *error = value_at(envelope, 2);

	if (read_msgid(value_at(envelope, 1), &message->msgid, ret_fault, err) < 0)
		return -1;
	message->error = value_is(error, VALUE_NIL) ? NULL : error;
	message->result = value_at(envelope, 3);
	return 0;
}

static int read_notification(const struct value *envelope, struct rpc_message *message,
	struct rpc_fault *ret_fault, struct err *err)
{
	if (read_method(value_at(envelope, 1), &message->method, ret_fault, err) < 0)
		return -1;
	return read_params(value_at(envelope, 2), &message->params, ret_fault, err);
}

/* One row per kind: the number of parts in its list, and the function that reads them. */
static const struct envelope_rule {
	size_t count;
	int (*read)(const struct value *envelope, struct rpc_message *message,
		struct rpc_fault *ret_fault, struct err *err);
} envelope_rules[] = {
	[RPC_REQUEST] = { 4, read_request },
	[RPC_RESPONSE] = { 4, read_response },
	[RPC_NOTIFICATION] = { 3, read_notification },
};

int rpc_read_value(const struct value *envelope, struct rpc_message *ret_message,
	struct rpc_fault *ret_fault, struct err *err)
{
	struct rpc_message message = { 0 };
	const struct envelope_rule *rule;
	int64_t kind = value_as_int(value_at(envelope, 0), -1);

	if (ret_fault)
		*ret_fault = (struct rpc_fault){ 0 };
	if (kind < 0 || (size_t)kind >= COUNT_OF(envelope_rules))
		return refuse(ret_fault, err, "type", "not a request, response or notification");

	rule = &envelope_rules[kind];
	message.kind = (enum rpc_kind)kind;
	if (rule->read(envelope, &message, ret_fault, err) < 0)
		return -1;
	if (envelope->list.count != rule->count)
		return refuse(ret_fault, err, "syntax", "the envelope has too many parts");
	*ret_message = message;
	return 0;
}

int rpc_read(struct arena *arena, char *bytes, size_t len, struct rpc_message *ret_message,
	struct rpc_fault *ret_fault, struct err *err)
{
	struct rpc_fault fault = { 0 };
	struct wire_fault wire_fault = { 0 };
	const struct value *envelope;

	/* Peek now: the decoder changes the bytes, so they cannot be read after a failure. */
	fault.has_msgid = rpc_peek_msgid(bytes, len, &fault.msgid);
	fault.is_notification = rpc_peek_notification(bytes, len);
	envelope = wire_decode_in_place(arena, bytes, len, &wire_fault, err);
	if (!envelope) {
		fault.reason = wire_fault.reason;
		*ret_fault = fault;
		return -1;
	}
	if (rpc_read_value(envelope, ret_message, ret_fault, err) == 0)
		return 0;
	ret_fault->is_notification = fault.is_notification;
	return -1;
}

/* Reads a small number from the front, in any width, and advances past it. */
static bool peek_number(const char **bytes, size_t *len, enum wire_form form, uint32_t *ret_number)
{
	struct wire_head head;

	if (!wire_head_read(*bytes, *len, &head) || head.number > UINT32_MAX)
		return false;
	if (head.form != form && !(form == WIRE_UINT && head.form == WIRE_INT))
		return false;
	*bytes += head.len;
	*len -= head.len;
	*ret_number = (uint32_t)head.number;
	return true;
}

bool rpc_peek_msgid(const char *bytes, size_t len, uint32_t *ret_msgid)
{
	uint32_t count;
	uint32_t kind;

	if (!peek_number(&bytes, &len, WIRE_LIST, &count) || count < 2)
		return false;
	if (!peek_number(&bytes, &len, WIRE_UINT, &kind) || kind != RPC_REQUEST)
		return false;
	return peek_number(&bytes, &len, WIRE_UINT, ret_msgid);
}

bool rpc_peek_notification(const char *bytes, size_t len)
{
	uint32_t count;
	uint32_t kind;

	return peek_number(&bytes, &len, WIRE_LIST, &count) && count == 3 &&
	       peek_number(&bytes, &len, WIRE_UINT, &kind) && kind == RPC_NOTIFICATION;
}

/* ---- errors ------------------------------------------------------------------------------- */

static const char *const code_words[] = {
#define RPC_CODE_WORD(name, word, meaning) word,
	RPC_CODES(RPC_CODE_WORD)
#undef RPC_CODE_WORD
};

const char *rpc_code_word(enum rpc_code code)
{
	return (unsigned)code < COUNT_OF(code_words) ? code_words[code]
						     : code_words[RPC_CODE_INTERNAL];
}

enum rpc_code rpc_code_from_word(const char *word)
{
	unsigned code = 0;

	while (code < RPC_CODE_COUNT && strcmp(code_words[code], word) != 0)
		code++;
	return (enum rpc_code)code;
}

struct rpc_error rpc_error_from_value(const struct value *error)
{
	const char *word = value_as_text(value_get(error, "code"));
	const char *message = value_as_text(value_get(error, "message"));
	const struct value *data = value_get(error, "data");
	enum rpc_code code = word ? rpc_code_from_word(word) : RPC_CODE_INTERNAL;

	return (struct rpc_error){
		.code = code == RPC_CODE_COUNT ? RPC_CODE_INTERNAL : code,
		.message = message ? message : "no message",
		.data = value_is(data, VALUE_MAP) ? data : NULL,
	};
}

/* ---- writing ------------------------------------------------------------------------------ */

/* Removes the appended part and reports that the buffer's ceiling was reached. */
static int take_back(struct buf *buf, size_t len_before, struct err *err)
{
	buf->len = len_before;
	return err_set(err, ERR_TOO_BIG, "message is larger than it may become");
}

static int put_value(struct buf *buf, size_t len_before, const struct value *value, struct err *err)
{
	if (wire_encode(buf, value, err) == 0)
		return 0;
	buf->len = len_before;
	return -1;
}

static const struct value *params_or_none(const struct value *params)
{
	return params ? params : &no_params;
}

int rpc_write_request(struct buf *buf, uint32_t msgid, const char *method,
	const struct value *params, struct err *err)
{
	size_t len_before = buf->len;

	if (wire_put_list(buf, 4) < 0 || wire_put_uint(buf, RPC_REQUEST) < 0 ||
		wire_put_uint(buf, msgid) < 0 || wire_put_text(buf, method) < 0 ||
		wire_put_list(buf, 1) < 0)
		return take_back(buf, len_before, err);
	return put_value(buf, len_before, params_or_none(params), err);
}

int rpc_write_result(struct buf *buf, uint32_t msgid, const struct value *result, struct err *err)
{
	size_t len_before = buf->len;

	if (wire_put_list(buf, 4) < 0 || wire_put_uint(buf, RPC_RESPONSE) < 0 ||
		wire_put_uint(buf, msgid) < 0 || wire_put_nil(buf) < 0)
		return take_back(buf, len_before, err);
	return put_value(buf, len_before, result, err);
}

static int put_error(struct buf *buf, const struct rpc_error *error)
{
	if (wire_put_map(buf, error->data ? 3 : 2) < 0)
		return -1;
	if (wire_put_text(buf, "code") < 0 || wire_put_text(buf, rpc_code_word(error->code)) < 0)
		return -1;
	if (wire_put_text(buf, "message") < 0 || wire_put_text(buf, error->message) < 0)
		return -1;
	return error->data ? wire_put_text(buf, "data") : 0;
}

int rpc_write_error(struct buf *buf, uint32_t msgid, const struct rpc_error *error, struct err *err)
{
	size_t len_before = buf->len;

	if (wire_put_list(buf, 4) < 0 || wire_put_uint(buf, RPC_RESPONSE) < 0 ||
		wire_put_uint(buf, msgid) < 0 || put_error(buf, error) < 0)
		return take_back(buf, len_before, err);
	if (error->data && put_value(buf, len_before, error->data, err) < 0)
		return -1;
	if (wire_put_nil(buf) < 0)
		return take_back(buf, len_before, err);
	return 0;
}

int rpc_write_notification(
	struct buf *buf, const char *method, const struct value *params, struct err *err)
{
	size_t len_before = buf->len;

	if (wire_put_list(buf, 3) < 0 || wire_put_uint(buf, RPC_NOTIFICATION) < 0 ||
		wire_put_text(buf, method) < 0 || wire_put_list(buf, 1) < 0)
		return take_back(buf, len_before, err);
	return put_value(buf, len_before, params_or_none(params), err);
}
