#include "daemon/egress/hello.h"

#include <stdbool.h>
#include <string.h>

#define RECORD_HEAD      5
#define RECORD_HANDSHAKE 22
#define RECORD_MAX       16384
#define RECORD_CHANGE    20
#define RECORD_ALERT     21
#define ALERT_BYTES      7
#define ALERT_WARNING    1
#define ANSWER_BYTES     43 /* to the end of its random bytes */
#define HANDSHAKE_HELLO  1
#define HANDSHAKE_ANSWER 2
#define EXTENSION_NAME   0
#define EXTENSION_HIDDEN 0xfe0d /* Encrypted Client Hello */
#define NAME_TYPE_HOST   0

/* A part of the greeting that is still to be read. */
struct part {
	const uint8_t *at;
	size_t len;
};

/* Takes `len` bytes off the front. */
static bool take(struct part *part, size_t len, struct part *ret_taken)
{
	if (len > part->len)
		return false;
	*ret_taken = (struct part){ part->at, len };
	part->at += len;
	part->len -= len;
	return true;
}

static bool take_number(struct part *part, size_t bytes, size_t *ret_number)
{
	struct part taken;

	if (!take(part, bytes, &taken))
		return false;
	*ret_number = 0;
	for (size_t i = 0; i < bytes; i++)
		*ret_number = *ret_number << 8 | taken.at[i];
	return true;
}

/* A length of so many bytes, then as much. */
static bool take_counted(struct part *part, size_t bytes, struct part *ret_taken)
{
	size_t len;

	return take_number(part, bytes, &len) && take(part, len, ret_taken);
}

/* ---- the message in its records -------------------------------------------------------------- */

enum taken {
	TAKEN_WHOLE,
	TAKEN_PART, /* the rest has not come yet */
	TAKEN_WRONG,
};

/* Takes what there is of the next record. */
static enum taken take_record(struct part *records, struct part *ret_body)
{
	size_t type = 0;
	size_t version = 0;
	size_t len = 0;

	if (records->at[0] != RECORD_HANDSHAKE)
		return TAKEN_WRONG;
	if (records->len < RECORD_HEAD)
		return TAKEN_PART;
	(void)take_number(records, 1, &type);
	(void)take_number(records, 2, &version);
	(void)take_number(records, 2, &len);
	if (version >> 8 != 3 || len == 0 || len > RECORD_MAX)
		return TAKEN_WRONG;
	(void)take(records, len < records->len ? len : records->len, ret_body);
	return ret_body->len < len ? TAKEN_PART : TAKEN_WHOLE;
}

static size_t whole_len(const uint8_t *message)
{
	return 4 + ((size_t)message[1] << 16 | (size_t)message[2] << 8 | message[3]);
}

/* Whether the greeting is there. */
static bool is_whole(const uint8_t *message, size_t len)
{
	return len >= 4 && len >= whole_len(message);
}

/*
 * Joins the handshake bytes of the records.  The greeting may be cut into as many as the client
 * likes, but nothing follows it in its last one: that could be another greeting.
 */
static enum hello join_records(
	struct part records, uint8_t *ret_message, size_t *ret_len, struct part *ret_rest)
{
	enum taken taken = TAKEN_WHOLE;

	*ret_len = 0;
	while (taken == TAKEN_WHOLE && records.len > 0 && !is_whole(ret_message, *ret_len)) {
		struct part body = { NULL, 0 };

		taken = take_record(&records, &body);
		if (taken == TAKEN_WRONG || *ret_len + body.len > HELLO_MAX)
			return HELLO_NONE;
		if (body.len)
			memcpy(ret_message + *ret_len, body.at, body.len);
		*ret_len += body.len;
	}
	*ret_rest = records;
	if (is_whole(ret_message, *ret_len) &&
		(taken == TAKEN_PART || *ret_len > whole_len(ret_message)))
		return HELLO_NONE;
	return HELLO_MORE;
}

/* ---- the message ----------------------------------------------------------------------------- */

static char lower(uint8_t byte)
{
	return (char)(byte >= 'A' && byte <= 'Z' ? byte - 'A' + 'a' : byte);
}

/* One name and no more: of two, a server might take another than we. */
static bool take_only_name(struct part body, struct part *ret_name)
{
	struct part list;
	size_t type;

	if (!take_counted(&body, 2, &list) || body.len > 0)
		return false;
	return take_number(&list, 1, &type) && type == NAME_TYPE_HOST &&
	       take_counted(&list, 2, ret_name) && list.len == 0;
}

static enum hello read_name(struct part body, char ret_name[EGRESS_HOST_MAX])
{
	struct part name;

	if (!take_only_name(body, &name))
		return HELLO_NONE;
	if (name.len == 0 || name.len >= EGRESS_HOST_MAX)
		return HELLO_NONE;
	for (size_t i = 0; i < name.len; i++) {
		if (!egress_text_has(name.at[i]))
			return HELLO_NONE; /* no name, and nothing for the record */
		ret_name[i] = lower(name.at[i]);
	}
	ret_name[name.len] = '\0';
	return HELLO_NAMED;
}

static enum hello read_extensions(struct part list, char ret_name[EGRESS_HOST_MAX])
{
	enum hello found = HELLO_UNNAMED;
	bool hidden = false;

	while (list.len > 0) {
		size_t type;
		struct part body;

		if (!take_number(&list, 2, &type) || !take_counted(&list, 2, &body))
			return HELLO_NONE;
		hidden = hidden || type == EXTENSION_HIDDEN;
		if (type != EXTENSION_NAME)
			continue;
		if (found != HELLO_UNNAMED)
			return HELLO_NONE; /* twice */
		found = read_name(body, ret_name);
		if (found == HELLO_NONE)
			return HELLO_NONE;
	}
	return hidden ? HELLO_HIDDEN : found;
}

enum hello hello_read(
	const uint8_t *bytes, size_t len, char ret_name[EGRESS_HOST_MAX], size_t *ret_len)
{
	static uint8_t joined[HELLO_MAX];
	struct part message = { joined, 0 };
	struct part rest = { NULL, 0 };
	struct part body;
	struct part ignored;
	struct part extensions;
	size_t type;
	size_t number;

	ret_name[0] = '\0';
	if (join_records((struct part){ bytes, len }, joined, &message.len, &rest) == HELLO_NONE)
		return HELLO_NONE;
	if (message.len > 0 && joined[0] != HANDSHAKE_HELLO)
		return HELLO_NONE;
	if (message.len >= 4 && whole_len(joined) > HELLO_MAX)
		return HELLO_NONE;
	if (!take_number(&message, 1, &type) || !take_counted(&message, 3, &body))
		return len >= HELLO_MAX ? HELLO_NONE : HELLO_MORE;

	/* version, random; session, ciphers, compressions */
	if (!take_number(&body, 2, &number) || !take(&body, 32, &ignored) ||
		!take_counted(&body, 1, &ignored) || !take_counted(&body, 2, &ignored) ||
		!take_counted(&body, 1, &ignored))
		return HELLO_NONE;
	*ret_len = len - rest.len;
	if (body.len == 0)
		return HELLO_UNNAMED;
	if (!take_counted(&body, 2, &extensions) || body.len > 0)
		return HELLO_NONE;
	return read_extensions(extensions, ret_name);
}

/* ---- greetings that are asked for again ------------------------------------------------------- */

enum hello hello_read_again(
	const uint8_t *bytes, size_t len, char ret_name[EGRESS_HOST_MAX], size_t *ret_len)
{
	static const uint8_t change[] = { RECORD_CHANGE, 3, 3, 0, 1, 1 };
	const size_t skipped = len > 0 && bytes[0] == RECORD_CHANGE ? sizeof(change) : 0;
	enum hello found;

	if (memcmp(bytes, change, len < skipped ? len : skipped) != 0)
		return HELLO_NONE;
	if (len <= skipped)
		return HELLO_MORE;
	found = hello_read(bytes + skipped, len - skipped, ret_name, ret_len);
	*ret_len += skipped;
	return found;
}

enum hello_answer hello_answer_read(const uint8_t *bytes, size_t len)
{
	/* A ServerHello with these for its random bytes is a HelloRetryRequest (RFC 8446, 4.1.3). */
	static const uint8_t retry[32] = { 0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11, 0xbe,
		0x1d, 0x8c, 0x02, 0x1e, 0x65, 0xb8, 0x91, 0xc2, 0xa2, 0x11, 0x16, 0x7a, 0xbb, 0x8c,
		0x5e, 0x07, 0x9e, 0x09, 0xe2, 0xc8, 0xa8, 0x33, 0x9c };
	struct part rest = { bytes, len };
	struct part body = { NULL, 0 };
	size_t type = 0;
	size_t number = 0;
	size_t record_len = 0;

	/* A warning may come before the answer. */
	if (len > 0 && bytes[0] == RECORD_ALERT) {
		if (!take(&rest, ALERT_BYTES, &body))
			return HELLO_ANSWER_MORE;
		if (body.at[RECORD_HEAD] != ALERT_WARNING)
			return HELLO_ANSWER_LAST;
	}
	if (rest.len > 0 && rest.at[0] != RECORD_HANDSHAKE)
		return HELLO_ANSWER_LAST; /* a server that knows no TLS */
	if (rest.len < ANSWER_BYTES)
		return HELLO_ANSWER_MORE;
	(void)take(&rest, 3, &body);
	(void)take_number(&rest, 2, &record_len);
	(void)take_number(&rest, 1, &type);
	(void)take_number(&rest, 3, &number);
	(void)take(&rest, 2, &body);
	if (type != HANDSHAKE_ANSWER || record_len < ANSWER_BYTES - RECORD_HEAD)
		return HELLO_ANSWER_NONE;
	return memcmp(rest.at, retry, sizeof(retry)) == 0 ? HELLO_ANSWER_RETRY : HELLO_ANSWER_LAST;
}
