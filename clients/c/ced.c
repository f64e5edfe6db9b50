#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1 /* SOCK_CLOEXEC, uselocale() */
#endif

#include "ced.h"

#include <errno.h>
#include <locale.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <msgpack/pack.h>

#define HOST_SOCKET "/run/ced/ced.sock"
#define MESSAGE_MAX ((size_t)512 << 20) /* what the daemon may send in one message */
#define UNSENT_MAX  ((size_t)512 << 20)
#define ROOM_BYTES  ((size_t)64 << 10) /* read at once */
#define KEPT_BYTES  ((size_t)1 << 20)  /* a larger buffer is freed when it is empty */
#define METHOD_MAX  64
#define TURN_MS     250
#define JSON_DEPTH  64
#define NUMBER_MAX  64              /* characters of a number in JSON */
#define TIME_MAX_MS (INT64_MAX / 4) /* sums of times stay in their type */
#define WHY_MAX     8192            /* characters of a tool's error that the daemon takes */

enum {
	KIND_REQUEST = 0,
	KIND_RESPONSE = 1,
	KIND_NOTIFICATION = 2,
};

/* A call that waits for its answer. */
struct call {
	const struct ced_watch *watch; /* never NULL */
	const struct ced_job *job;     /* or NULL */
	struct ced_answer *answer;
	uint32_t msgid;
	char run_id[CED_ID_SIZE]; /* as soon as the daemon has said it */
	bool answered;
	bool stopped;
	bool no_memory;
};

/* An answer to a call that the daemon has neither taken nor refused yet. */
struct reply {
	struct reply *next;
	uint32_t msgid;
	int64_t call;
	char run_id[CED_ID_SIZE];
};

struct ced_client {
	int fd; /* -1: the owner moves the bytes */
	uint32_t next_id;
	struct ced_handlers handlers;
	struct call *call;      /* or NULL */
	struct ced_error ended; /* why nothing more can come */

	struct ced_buffer in;
	size_t at;        /* where the message that comes begins */
	size_t scanned;   /* where its next head begins; may be past what has come */
	uint64_t missing; /* objects of it that are still expected */

	struct ced_buffer out;
	size_t sent; /* so much of `out` is gone */

	struct reply *replies; /* to calls of tools, that the daemon has not answered yet */
};

/* ---- failures ------------------------------------------------------------------------------- */

static int fail(struct ced_error *ret_error, enum ced_failure failure, int sys_errno,
	const char *format, ...) __attribute__((format(printf, 4, 5)));

static void describe(struct ced_error *error, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));

static void describe(struct ced_error *error, const char *format, va_list args)
{
	/* clang-tidy 14 does not see the va_start() of the caller. */
	(void)vsnprintf( // NOLINT(clang-analyzer-valist.Uninitialized)
		error->message, sizeof(error->message), format, args);
}

static int fail(struct ced_error *ret_error, enum ced_failure failure, int sys_errno,
	const char *format, ...)
{
	va_list args;

	if (!ret_error)
		return -1;
	memset(ret_error, 0, sizeof(*ret_error));
	ret_error->failure = failure;
	ret_error->sys_errno = sys_errno;
	va_start(args, format);
	describe(ret_error, format, args);
	va_end(args);
	return -1;
}

static int fail_no_memory(struct ced_error *ret_error)
{
	return fail(ret_error, CED_NO_MEMORY, ENOMEM, "no memory");
}

/* What the daemon answered instead of a result. */
static int fail_refused(struct ced_error *ret_error, struct ced_value error)
{
	struct ced_value data = ced_get(error, "data");

	(void)fail(ret_error, CED_REFUSED, 0, "%s", "");
	if (!ret_error)
		return -1;
	(void)ced_copy_text(ced_get(error, "code"), ret_error->word, sizeof(ret_error->word));
	(void)ced_copy_text(
		ced_get(error, "message"), ret_error->message, sizeof(ret_error->message));
	(void)ced_copy_text(
		ced_get(data, "pointer"), ret_error->pointer, sizeof(ret_error->pointer));
	(void)ced_copy_text(ced_get(data, "reason"), ret_error->reason, sizeof(ret_error->reason));
	(void)ced_copy_text(ced_get(data, "run_id"), ret_error->run_id, sizeof(ret_error->run_id));
	if (strcmp(ret_error->word, "busy") == 0)
		ret_error->retry_after_ms = ced_int(ced_get(data, "retry_after_ms"), 0);
	return -1;
}

/* ---- heads of msgpack objects --------------------------------------------------------------- */

/* The front of an object: everything but its text, bytes or items. */
struct head {
	enum ced_type type;
	size_t len;
	uint64_t body;     /* bytes that follow */
	uint64_t children; /* objects that follow */
	uint64_t number;   /* bits of an int or a real; 1 for true */
	bool is_negative;
};

/* How an object with the lead byte 0xc0 + its place looks. */
struct form {
	enum ced_type type;
	unsigned char bytes; /* of the number behind the lead byte */
	unsigned char more;  /* of the body, beyond what that number counts */
};

/* clang-format off */
static const struct form FORMS[32] = {
	{ CED_NIL, 0, 0 },       { CED_NONE, 0, 0 },      { CED_BOOL, 0, 0 },      { CED_BOOL, 0, 0 },
	{ CED_BYTES, 1, 0 },     { CED_BYTES, 2, 0 },     { CED_BYTES, 4, 0 },
	{ CED_EXTENSION, 1, 1 }, { CED_EXTENSION, 2, 1 }, { CED_EXTENSION, 4, 1 },
	{ CED_REAL, 4, 0 },      { CED_REAL, 8, 0 },
	{ CED_INT, 1, 0 },       { CED_INT, 2, 0 },       { CED_INT, 4, 0 },       { CED_INT, 8, 0 },
	{ CED_INT, 1, 0 },       { CED_INT, 2, 0 },       { CED_INT, 4, 0 },       { CED_INT, 8, 0 },
	{ CED_EXTENSION, 0, 2 }, { CED_EXTENSION, 0, 3 }, { CED_EXTENSION, 0, 5 },
	{ CED_EXTENSION, 0, 9 }, { CED_EXTENSION, 0, 17 },
	{ CED_TEXT, 1, 0 },      { CED_TEXT, 2, 0 },      { CED_TEXT, 4, 0 },
	{ CED_LIST, 2, 0 },      { CED_LIST, 4, 0 },      { CED_MAP, 2, 0 },       { CED_MAP, 4, 0 },
};
/* clang-format on */

#define LEAD_TRUE       0xc3
#define LEAD_FIRST_LONG 0xc0
#define LEAD_LAST_LONG  0xdf
#define LEAD_SIGNED     0xd0 /* the ints from here on have a sign */

/* What follows the head, by its number. */
static void head_count(struct head *head, uint64_t count)
{
	head->body =
		head->type == CED_TEXT || head->type == CED_BYTES || head->type == CED_EXTENSION
			? count
			: 0;
	head->children = head->type == CED_MAP ? count * 2 : head->type == CED_LIST ? count : 0;
}

static void head_short(unsigned char lead, struct head *ret_head)
{
	ret_head->len = 1;
	if (lead < 0x80 || lead >= 0xe0) {
		ret_head->type = CED_INT;
		ret_head->is_negative = lead >= 0xe0;
		ret_head->number = (uint64_t)(int64_t)(int8_t)lead;
	} else {
		ret_head->type = lead < 0x90 ? CED_MAP : lead < 0xa0 ? CED_LIST : CED_TEXT;
		head_count(ret_head, lead & (lead < 0xa0 ? 0x0fU : 0x1fU));
	}
}

/* 1: read; 0: some of its bytes are missing; -1: no object begins so. */
static int head_read(const char *bytes, size_t len, struct head *ret_head)
{
	const unsigned char *at = (const unsigned char *)bytes;
	const struct form *form;
	uint64_t number = 0;
	uint64_t sign;

	memset(ret_head, 0, sizeof(*ret_head));
	if (len == 0)
		return 0;
	if (at[0] < LEAD_FIRST_LONG || at[0] > LEAD_LAST_LONG) {
		head_short(at[0], ret_head);
		return 1;
	}
	form = &FORMS[at[0] - LEAD_FIRST_LONG];
	if (form->type == CED_NONE)
		return -1;
	if (len < 1U + form->bytes)
		return 0;
	for (size_t i = 1; i <= form->bytes; i++)
		number = number << 8 | at[i];
	ret_head->type = form->type;
	ret_head->len = 1U + form->bytes;
	sign = form->bytes ? (uint64_t)1 << (8 * form->bytes - 1) : 0;
	ret_head->is_negative = form->type == CED_INT && at[0] >= LEAD_SIGNED && (number & sign);
	head_count(ret_head, number + form->more);
	ret_head->number = ret_head->is_negative ? (number ^ sign) - sign : number;
	if (form->type == CED_BOOL)
		ret_head->number = at[0] == LEAD_TRUE;
	return 1;
}

/* Where the object that begins at `at` ends; NULL when it is not whole. */
static const char *skip(const char *at, const char *end)
{
	uint64_t missing = 1;
	struct head head;

	while (missing > 0) {
		if (head_read(at, (size_t)(end - at), &head) <= 0)
			return NULL;
		at += head.len;
		if (head.body > (uint64_t)(end - at) || head.children > (uint64_t)(end - at))
			return NULL;
		at += head.body;
		missing = missing - 1 + head.children;
	}
	return at;
}

/* ---- reading values ------------------------------------------------------------------------- */

static const struct ced_value ABSENT = { NULL, 0 };

/* The head of a value of this type whose body is there. */
static bool head_of(struct ced_value value, enum ced_type type, struct head *ret_head)
{
	return value.len > 0 && head_read(value.bytes, value.len, ret_head) > 0 &&
	       ret_head->type == type && ret_head->body <= value.len - ret_head->len;
}

enum ced_type ced_type(struct ced_value value)
{
	struct head head;

	return value.len > 0 && head_read(value.bytes, value.len, &head) > 0 ? head.type : CED_NONE;
}

/* The object that begins at *at, and moves *at behind it; absent when it is not whole. */
static struct ced_value take_object(const char **at, const char *end)
{
	const char *begin = *at;
	const char *behind = begin ? skip(begin, end) : NULL;

	*at = behind;
	return behind ? (struct ced_value){ begin, (size_t)(behind - begin) } : ABSENT;
}

struct ced_value ced_get(struct ced_value map, const char *key)
{
	const char *end = map.bytes ? map.bytes + map.len : NULL;
	struct ced_value name, value;
	const char *at;
	struct head head;

	if (!head_of(map, CED_MAP, &head))
		return ABSENT;
	at = map.bytes + head.len;
	for (uint64_t i = 0; i < head.children / 2 && at; i++) {
		name = take_object(&at, end);
		value = take_object(&at, end);
		if (ced_is(name, key))
			return value;
	}
	return ABSENT;
}

size_t ced_count(struct ced_value value)
{
	struct head head;

	if (head_of(value, CED_LIST, &head) && head.children <= value.len)
		return (size_t)head.children;
	if (head_of(value, CED_MAP, &head) && head.children <= value.len)
		return (size_t)(head.children / 2);
	return 0;
}

struct ced_value ced_items(struct ced_value value)
{
	const char *end;
	struct head head;

	if (!head_of(value, CED_LIST, &head) && !head_of(value, CED_MAP, &head))
		return ABSENT;
	end = skip(value.bytes, value.bytes + value.len);
	if (!end)
		return ABSENT;
	return (struct ced_value){ value.bytes + head.len, (size_t)(end - value.bytes) - head.len };
}

bool ced_next(struct ced_value *items, struct ced_value *ret_item)
{
	const char *at = items->bytes;
	const char *end = at ? at + items->len : NULL;

	*ret_item = items->len > 0 ? take_object(&at, end) : ABSENT;
	if (ret_item->len == 0)
		return false;
	items->bytes = at;
	items->len = (size_t)(end - at);
	return true;
}

struct ced_value ced_at(struct ced_value list, size_t index)
{
	struct ced_value item = ABSENT;
	struct ced_value items = ced_items(list);

	if (ced_type(list) != CED_LIST || index >= ced_count(list))
		return ABSENT;
	for (size_t i = 0; i <= index; i++) {
		if (!ced_next(&items, &item))
			return ABSENT;
	}
	return item;
}

/* One step of a pointer, with ~0 and ~1 read.  -1: it has no room. */
static int read_step(const char *step, size_t len, char *ret_key, size_t size)
{
	size_t used = 0;

	for (size_t i = 0; i < len; i++) {
		if (used + 1 >= size)
			return -1;
		ret_key[used] = step[i];
		if (step[i] == '~' && i + 1 < len) {
			i++;
			ret_key[used] = step[i] == '1' ? '/' : '~';
		}
		used++;
	}
	ret_key[used] = '\0';
	return 0;
}

struct ced_value ced_find(struct ced_value value, const char *pointer)
{
	char key[256];
	char *end;

	while (*pointer == '/' && value.len > 0) {
		size_t len = strcspn(++pointer, "/");

		if (read_step(pointer, len, key, sizeof(key)) < 0)
			return ABSENT;
		if (ced_type(value) == CED_LIST) {
			unsigned long index = strtoul(key, &end, 10);

			if (key[0] < '0' || key[0] > '9' || *end)
				return ABSENT;
			value = ced_at(value, index);
		} else {
			value = ced_get(value, key);
		}
		pointer += len;
	}
	return *pointer ? ABSENT : value;
}

bool ced_bool(struct ced_value value, bool otherwise)
{
	struct head head;

	return head_of(value, CED_BOOL, &head) ? head.number != 0 : otherwise;
}

int64_t ced_int(struct ced_value value, int64_t otherwise)
{
	struct head head;

	if (!head_of(value, CED_INT, &head) || (!head.is_negative && head.number > INT64_MAX))
		return otherwise;
	return (int64_t)head.number;
}

uint64_t ced_uint(struct ced_value value, uint64_t otherwise)
{
	struct head head;

	return head_of(value, CED_INT, &head) && !head.is_negative ? head.number : otherwise;
}

double ced_real(struct ced_value value, double otherwise)
{
	struct head head;
	double wide;
	float narrow;
	uint32_t bits;

	if (head_of(value, CED_INT, &head))
		return head.is_negative ? (double)(int64_t)head.number : (double)head.number;
	if (!head_of(value, CED_REAL, &head))
		return otherwise;
	memcpy(&wide, &head.number, sizeof(wide));
	if (head.len > sizeof(bits) + 1)
		return wide;
	bits = (uint32_t)head.number;
	memcpy(&narrow, &bits, sizeof(narrow));
	return (double)narrow;
}

const char *ced_text(struct ced_value value, size_t *ret_len)
{
	struct head head;

	*ret_len = 0;
	if (!head_of(value, CED_TEXT, &head) && !head_of(value, CED_BYTES, &head))
		return NULL;
	*ret_len = (size_t)head.body;
	return value.bytes + head.len;
}

bool ced_is(struct ced_value value, const char *text)
{
	struct head head;

	return head_of(value, CED_TEXT, &head) && head.body == strlen(text) &&
	       memcmp(value.bytes + head.len, text, (size_t)head.body) == 0;
}

const char *ced_copy_text(struct ced_value value, char *ret_text, size_t size)
{
	size_t len;
	const char *text = ced_text(value, &len);

	if (size == 0)
		return ret_text;
	if (len >= size) {
		len = size - 1;
		while (len > 0 && ((unsigned char)text[len] & 0xc0) == 0x80)
			len--; /* no half of a character */
	}
	if (text)
		memcpy(ret_text, text, len);
	ret_text[len] = '\0';
	return ret_text;
}

/* ---- buffers -------------------------------------------------------------------------------- */

/* Makes room for `more` bytes behind what is there. */
static int buffer_reserve(struct ced_buffer *buffer, size_t more)
{
	size_t size = buffer->size ? buffer->size : 256;
	char *bytes;

	if (more <= buffer->size - buffer->len)
		return 0;
	while (size - buffer->len < more) {
		if (size > SIZE_MAX / 4)
			return -1;
		size *= 2;
	}
	bytes = realloc(buffer->bytes, size);
	if (!bytes)
		return -1;
	buffer->bytes = bytes;
	buffer->size = size;
	return 0;
}

int ced_buffer_write(void *context, const char *bytes, size_t len)
{
	struct ced_buffer *buffer = context;

	if (buffer->failed || buffer_reserve(buffer, len) < 0) {
		buffer->failed = true;
		return -1;
	}
	if (len > 0)
		memcpy(buffer->bytes + buffer->len, bytes, len);
	buffer->len += len;
	return 0;
}

void ced_buffer_done(struct ced_buffer *buffer)
{
	free(buffer->bytes);
	memset(buffer, 0, sizeof(*buffer));
}

struct ced_value ced_buffer_value(const struct ced_buffer *buffer)
{
	return buffer->failed ? ABSENT : (struct ced_value){ buffer->bytes, buffer->len };
}

/* Drops `len` bytes at the front. */
static void buffer_drop(struct ced_buffer *buffer, size_t len)
{
	buffer->len -= len;
	if (buffer->len > 0)
		memmove(buffer->bytes, buffer->bytes + len, buffer->len);
	else if (buffer->size > KEPT_BYTES)
		ced_buffer_done(buffer);
}

static msgpack_packer packer_for(struct ced_buffer *buffer)
{
	msgpack_packer packer;

	msgpack_packer_init(&packer, buffer, ced_buffer_write);
	return packer;
}

void ced_put_map(struct ced_buffer *buffer, size_t count)
{
	msgpack_packer packer = packer_for(buffer);

	(void)msgpack_pack_map(&packer, count);
}

void ced_put_list(struct ced_buffer *buffer, size_t count)
{
	msgpack_packer packer = packer_for(buffer);

	(void)msgpack_pack_array(&packer, count);
}

static void put_text_len(struct ced_buffer *buffer, const char *text, size_t len)
{
	msgpack_packer packer = packer_for(buffer);

	if (len > UINT32_MAX)
		buffer->failed = true;
	(void)msgpack_pack_str_with_body(&packer, text, len);
}

static void put_nil(struct ced_buffer *buffer)
{
	msgpack_packer packer = packer_for(buffer);

	(void)msgpack_pack_nil(&packer);
}

void ced_put_text(struct ced_buffer *buffer, const char *text)
{
	if (text)
		put_text_len(buffer, text, strlen(text));
	else
		put_nil(buffer);
}

void ced_put_bytes(struct ced_buffer *buffer, const void *bytes, size_t len)
{
	msgpack_packer packer = packer_for(buffer);

	if (len > UINT32_MAX)
		buffer->failed = true;
	(void)msgpack_pack_bin_with_body(&packer, bytes, len);
}

void ced_put_int(struct ced_buffer *buffer, int64_t number)
{
	msgpack_packer packer = packer_for(buffer);

	(void)msgpack_pack_int64(&packer, number);
}

static void put_uint(struct ced_buffer *buffer, uint64_t number)
{
	msgpack_packer packer = packer_for(buffer);

	(void)msgpack_pack_uint64(&packer, number);
}

static void put_real(struct ced_buffer *buffer, double number)
{
	msgpack_packer packer = packer_for(buffer);

	(void)msgpack_pack_double(&packer, number);
}

void ced_put_bool(struct ced_buffer *buffer, bool is_true)
{
	msgpack_packer packer = packer_for(buffer);

	(void)(is_true ? msgpack_pack_true(&packer) : msgpack_pack_false(&packer));
}

void ced_put_value(struct ced_buffer *buffer, struct ced_value value)
{
	if (value.len > 0)
		(void)ced_buffer_write(buffer, value.bytes, value.len);
	else
		put_nil(buffer);
}

/* ---- JSON ----------------------------------------------------------------------------------- */

struct json {
	const char *at;
	struct ced_buffer *buffer;
	locale_t numbers; /* "C": a number has a point, whatever the user's language */
};

static int json_value(struct json *json, unsigned depth);

static void json_blank(struct json *json)
{
	json->at += strspn(json->at, " \t\r\n");
}

/* Whether this is next; passes it then. */
static bool json_has(struct json *json, const char *word)
{
	size_t len = strlen(word);

	if (strncmp(json->at, word, len) != 0)
		return false;
	json->at += len;
	return true;
}

/* The four digits of \u; -1 when there are none. */
static int32_t json_unit(struct json *json)
{
	int32_t unit = 0;

	for (int i = 0; i < 4; i++) {
		static const char digits[] = "0123456789abcdef";
		char c = json->at[i];
		const char *digit = c ? strchr(digits, c >= 'A' && c <= 'F' ? c + 32 : c) : NULL;

		if (!digit)
			return -1;
		unit = unit * 16 + (int32_t)(digit - digits);
	}
	json->at += 4;
	return unit;
}

static void put_utf8(struct ced_buffer *text, uint32_t code)
{
	char bytes[4];
	size_t len = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
	static const unsigned char leads[] = { 0, 0, 0xc0, 0xe0, 0xf0 };

	for (size_t i = len; i-- > 1; code >>= 6)
		bytes[i] = (char)(0x80 | (code & 0x3f));
	bytes[0] = (char)(leads[len] | code);
	(void)ced_buffer_write(text, bytes, len);
}

/* \uD83D\uDE00 is one character; half of such a pair is none. */
static int json_escaped_unit(struct json *json, struct ced_buffer *text)
{
	int32_t high = json_unit(json);
	int32_t low;

	if (high < 0 || (high >= 0xdc00 && high <= 0xdfff))
		return -1;
	if (high < 0xd800 || high > 0xdbff) {
		put_utf8(text, (uint32_t)high);
		return 0;
	}
	if (!json_has(json, "\\u"))
		return -1;
	low = json_unit(json);
	if (low < 0xdc00 || low > 0xdfff)
		return -1;
	put_utf8(text, 0x10000 + (((uint32_t)high - 0xd800) << 10) + ((uint32_t)low - 0xdc00));
	return 0;
}

static int json_escape(struct json *json, struct ced_buffer *text)
{
	static const char names[] = "\"\\/bfnrt";
	static const char meant[] = "\"\\/\b\f\n\r\t";
	char c = *++json->at;
	const char *found = c ? strchr(names, c) : NULL;

	if (c)
		json->at++;
	if (c == 'u')
		return json_escaped_unit(json, text);
	return found ? ced_buffer_write(text, &meant[found - names], 1) : -1;
}

/* A text, without its first quote mark. */
static int json_text(struct json *json)
{
	struct ced_buffer text = { 0 };
	int status = 0;

	while (status == 0 && *json->at != '"') {
		size_t len = 0;

		while ((unsigned char)json->at[len] >= 0x20 && json->at[len] != '"' &&
			json->at[len] != '\\')
			len++;
		if (len == 0 && *json->at != '\\')
			status = -1; /* the end, or a control character */
		else if (len == 0)
			status = json_escape(json, &text);
		else
			status = ced_buffer_write(&text, json->at, len);
		json->at += len;
	}
	if (status == 0 && !text.failed) {
		json->at++;
		put_text_len(json->buffer, text.bytes ? text.bytes : "", text.len);
	} else {
		status = -1;
	}
	ced_buffer_done(&text);
	return status;
}

/* The digits at `at`. */
static size_t digits(const char *at)
{
	return strspn(at, "0123456789");
}

/* How long the number at `at` is, and whether it has a fraction or an exponent; 0: it is none. */
static size_t number_len(const char *at, bool *ret_is_real)
{
	size_t len = at[0] == '-';
	size_t whole = digits(at + len);

	*ret_is_real = false;
	if (whole == 0 || (at[len] == '0' && whole > 1))
		return 0;
	len += whole;
	if (at[len] == '.') {
		size_t fraction = digits(at + len + 1);

		*ret_is_real = true;
		if (fraction == 0)
			return 0;
		len += 1 + fraction;
	}
	if (at[len] == 'e' || at[len] == 'E') {
		size_t sign = at[len + 1] == '-' || at[len + 1] == '+';
		size_t exponent = digits(at + len + 1 + sign);

		*ret_is_real = true;
		if (exponent == 0)
			return 0;
		len += 1 + sign + exponent;
	}
	return len;
}

static int json_real(struct json *json, const char *number)
{
	locale_t before = uselocale(json->numbers);
	double real = strtod(number, NULL);

	(void)uselocale(before);
	if (real > 1.7976931348623157e308 || real < -1.7976931348623157e308)
		return -1;
	put_real(json->buffer, real);
	return 0;
}

static int json_number(struct json *json)
{
	char number[NUMBER_MAX];
	bool is_real;
	bool fits = false;
	size_t len = number_len(json->at, &is_real);

	if (len == 0 || len >= sizeof(number))
		return -1;
	memcpy(number, json->at, len);
	number[len] = '\0';
	json->at += len;
	errno = 0;
	if (!is_real && number[0] == '-') {
		long long negative = strtoll(number, NULL, 10);

		fits = errno == 0;
		if (fits)
			ced_put_int(json->buffer, negative);
	} else if (!is_real) {
		unsigned long long positive = strtoull(number, NULL, 10);

		fits = errno == 0;
		if (fits)
			put_uint(json->buffer, positive);
	}
	return fits ? 0 : json_real(json, number);
}

/* A place for the count of a list or map, which is known at its end. */
static size_t put_open(struct ced_buffer *buffer, unsigned char lead)
{
	const char head[5] = { (char)lead, 0, 0, 0, 0 };

	(void)ced_buffer_write(buffer, head, sizeof(head));
	return buffer->len;
}

static void put_count(struct ced_buffer *buffer, size_t behind_head, uint32_t count)
{
	if (buffer->failed)
		return;
	for (size_t i = 1; i <= 4; i++, count >>= 8)
		buffer->bytes[behind_head - i] = (char)(count & 0xff);
}

/* A list or map, without its first bracket. */
static int json_items(struct json *json, bool is_map, unsigned depth)
{
	const char *close = is_map ? "}" : "]";
	size_t place = put_open(json->buffer, is_map ? 0xdf : 0xdd);
	uint32_t count = 0;

	json_blank(json);
	if (json_has(json, close))
		return 0;
	do {
		json_blank(json);
		if (is_map && (!json_has(json, "\"") || json_text(json) < 0))
			return -1;
		json_blank(json);
		if (is_map && !json_has(json, ":"))
			return -1;
		if (json_value(json, depth) < 0)
			return -1;
		count++;
		json_blank(json);
	} while (json_has(json, ","));
	put_count(json->buffer, place, count);
	return json_has(json, close) ? 0 : -1;
}

static int json_value(struct json *json, unsigned depth)
{
	if (depth == 0)
		return -1;
	json_blank(json);
	if (json_has(json, "{"))
		return json_items(json, true, depth - 1);
	if (json_has(json, "["))
		return json_items(json, false, depth - 1);
	if (json_has(json, "\""))
		return json_text(json);
	if (json_has(json, "true"))
		ced_put_bool(json->buffer, true);
	else if (json_has(json, "false"))
		ced_put_bool(json->buffer, false);
	else if (json_has(json, "null"))
		put_nil(json->buffer);
	else
		return json_number(json);
	return 0;
}

int ced_json(struct ced_buffer *buffer, const char *text)
{
	struct json json = { text, buffer, newlocale(LC_NUMERIC_MASK, "C", (locale_t)0) };
	bool is_whole;

	if (!json.numbers) {
		buffer->failed = true;
		return -1;
	}
	is_whole = json_value(&json, JSON_DEPTH) == 0;
	json_blank(&json);
	freelocale(json.numbers);
	if (!is_whole || *json.at)
		buffer->failed = true;
	return buffer->failed ? -1 : 0;
}

/* ---- connecting ----------------------------------------------------------------------------- */

int ced_socket_path(const char *asked, char *ret_path, size_t size)
{
	const char *given = asked ? asked : getenv("CED_SOCKET");
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	int len;

	if (asked || (given && given[0])) {
		len = snprintf(ret_path, size, "%s", given);
		return len >= 0 && (size_t)len < size ? 0 : -1;
	}
	if (runtime && runtime[0])
		len = snprintf(ret_path, size, "%s/ced/ced.sock", runtime);
	else
		len = snprintf(ret_path, size, "/run/user/%u/ced/ced.sock", (unsigned)geteuid());
	if (len < 0 || (size_t)len >= size || access(ret_path, F_OK) != 0)
		len = snprintf(ret_path, size, "%s", HOST_SOCKET);
	return len >= 0 && (size_t)len < size ? 0 : -1;
}

/* How long connect() may block; 0: as long as it takes. */
static int set_send_timeout(int fd, int64_t ms)
{
	struct timeval timeout;

	timeout.tv_sec = (time_t)(ms / 1000);
	timeout.tv_usec = (suseconds_t)(ms % 1000 * 1000);
	return setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
}

static int fail_to_connect(struct ced_error *ret_error, const char *path, int64_t timeout_ms)
{
	int why = errno;

	if (why == EACCES || why == EPERM)
		return fail(ret_error, CED_NO_RIGHT, why,
			"you may not use the daemon's socket %s: its owner or group must let you "
			"(for the host's service: adduser YOU ced)",
			path);
	if (why == EAGAIN)
		return fail(ret_error, CED_TIMED_OUT, why,
			"the daemon at %s does not accept the connection within %g s: "
			"it hangs or is stopped",
			path, (double)timeout_ms / 1000);
	if (why == EINTR)
		return fail(ret_error, CED_SYSTEM, why,
			"a signal came while the daemon at %s was connected to", path);
	return fail(
		ret_error, CED_NO_DAEMON, why, "no daemon answers at %s: %s", path, strerror(why));
}

static int connect_to(const char *path, int64_t timeout_ms, struct ced_error *ret_error)
{
	struct sockaddr_un address;
	size_t len = strlen(path);
	int fd;

	memset(&address, 0, sizeof(address));
	address.sun_family = AF_UNIX;
	if (len == 0 || len >= sizeof(address.sun_path))
		return fail(ret_error, CED_WRONG_CALL, ENAMETOOLONG,
			len ? "the socket path is too long: %s" : "the socket path is empty%s",
			path);
	memcpy(address.sun_path, path, len);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || set_send_timeout(fd, timeout_ms) < 0)
		(void)fail(
			ret_error, CED_SYSTEM, errno, "cannot make a socket: %s", strerror(errno));
	else if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
		(void)fail_to_connect(ret_error, path, timeout_ms);
	else
		return fd;
	if (fd >= 0)
		(void)close(fd);
	return -1;
}

struct ced_client *ced_connect(const char *path, int64_t timeout_ms, struct ced_error *ret_error)
{
	char place[sizeof(((struct sockaddr_un *)0)->sun_path)];
	struct ced_client *client;
	int fd;

	if (!path && ced_socket_path(NULL, place, sizeof(place)) < 0) {
		(void)fail(ret_error, CED_WRONG_CALL, ENAMETOOLONG, "the socket path is too long");
		return NULL;
	}
	fd = connect_to(path ? path : place, timeout_ms, ret_error);
	if (fd < 0)
		return NULL;
	client = ced_attach(fd, ret_error);
	if (!client)
		(void)close(fd);
	return client;
}

struct ced_client *ced_attach(int fd, struct ced_error *ret_error)
{
	struct ced_client *client = calloc(1, sizeof(*client));

	if (!client) {
		(void)fail_no_memory(ret_error);
		return NULL;
	}
	client->fd = fd;
	client->missing = 1;
	return client;
}

static void forget_replies(struct ced_client *client)
{
	struct reply *next;

	for (struct reply *reply = client->replies; reply; reply = next) {
		next = reply->next;
		free(reply);
	}
	client->replies = NULL;
}

void ced_close(struct ced_client *client)
{
	if (!client)
		return;
	if (client->fd >= 0)
		(void)close(client->fd);
	ced_buffer_done(&client->in);
	ced_buffer_done(&client->out);
	forget_replies(client);
	free(client);
}

void ced_handle(struct ced_client *client, const struct ced_handlers *handlers)
{
	client->handlers = *handlers;
}

int ced_fd(const struct ced_client *client)
{
	return client->fd;
}

short ced_events(const struct ced_client *client)
{
	return client->out.len > client->sent ? POLLIN | POLLOUT : POLLIN;
}

const char *ced_unsent(const struct ced_client *client, size_t *ret_len)
{
	*ret_len = client->out.len - client->sent;
	return client->out.bytes ? client->out.bytes + client->sent : "";
}

void ced_sent(struct ced_client *client, size_t len)
{
	client->sent += len;
	if (client->sent < client->out.len)
		return;
	buffer_drop(&client->out, client->out.len);
	client->sent = 0;
}

/* ---- asking --------------------------------------------------------------------------------- */

int ced_ask(struct ced_client *client, const char *method, struct ced_value params,
	uint32_t *ret_msgid, struct ced_error *ret_error)
{
	struct ced_buffer *out = &client->out;
	size_t before;

	if (client->ended.failure != CED_FINE) {
		if (ret_error)
			*ret_error = client->ended;
		return -1;
	}
	/* What is gone makes room once it is the larger part, so each byte moves at most once. */
	if (client->sent > out->len / 2) {
		buffer_drop(out, client->sent);
		client->sent = 0;
	}
	if (params.len > UNSENT_MAX || out->len > UNSENT_MAX - params.len)
		return fail(ret_error, CED_WRONG_CALL, 0, "the request is too large");
	before = out->len;
	ced_put_list(out, 4);
	ced_put_int(out, KIND_REQUEST);
	ced_put_int(out, client->next_id);
	ced_put_text(out, method);
	ced_put_list(out, params.len > 0);
	if (params.len > 0)
		ced_put_value(out, params);
	if (out->failed) {
		out->len = before;
		out->failed = false;
		return fail_no_memory(ret_error);
	}
	if (ret_msgid)
		*ret_msgid = client->next_id;
	client->next_id++;
	return 0;
}

/* Asks with a buffer of params, and ends the buffer. */
static int ask_with(struct ced_client *client, const char *method, struct ced_buffer *params,
	struct ced_error *ret_error)
{
	int status = params->failed
			     ? fail_no_memory(ret_error)
			     : ced_ask(client, method, ced_buffer_value(params), NULL, ret_error);

	ced_buffer_done(params);
	return status;
}

int ced_cancel(struct ced_client *client, uint32_t msgid, struct ced_error *ret_error)
{
	struct ced_buffer params = { 0 };

	ced_put_map(&params, 1);
	ced_put_text(&params, "msgid");
	ced_put_int(&params, msgid);
	return ask_with(client, "cancel", &params, ret_error);
}

/* ---- answers to calls of tools -------------------------------------------------------------- */

/* Characters in UTF-8 by their first byte: how many bytes, and what the second may be. */
static const struct {
	unsigned char first, last, len, low, high;
} LEADS[] = {
	{ 0x00, 0x7f, 1, 0, 0 },
	{ 0xc2, 0xdf, 2, 0x80, 0xbf },
	{ 0xe0, 0xe0, 3, 0xa0, 0xbf },
	{ 0xe1, 0xec, 3, 0x80, 0xbf },
	{ 0xed, 0xed, 3, 0x80, 0x9f },
	{ 0xee, 0xef, 3, 0x80, 0xbf },
	{ 0xf0, 0xf0, 4, 0x90, 0xbf },
	{ 0xf1, 0xf3, 4, 0x80, 0xbf },
	{ 0xf4, 0xf4, 4, 0x80, 0x8f },
};

/* Whether the bytes behind a first byte belong to it.  The text ends with a NUL. */
static bool goes_on(const unsigned char *text, size_t row)
{
	if (LEADS[row].len > 1 && (text[1] < LEADS[row].low || text[1] > LEADS[row].high))
		return false;
	for (size_t i = 2; i < LEADS[row].len; i++)
		if ((text[i] & 0xc0U) != 0x80)
			return false;
	return true;
}

/* How many bytes the character at `text` has; 0: it is none in UTF-8. */
static size_t character_len(const unsigned char *text)
{
	for (size_t row = 0; row < sizeof(LEADS) / sizeof(*LEADS); row++)
		if (text[0] >= LEADS[row].first && text[0] <= LEADS[row].last)
			return goes_on(text, row) ? LEADS[row].len : 0;
	return 0;
}

/* The daemon takes a text of some length in UTF-8; what is none becomes "?". */
static void mend_why(char *text)
{
	size_t at = 0;

	for (int count = 0; text[at] && count < WHY_MAX; count++) {
		size_t len = character_len((const unsigned char *)text + at);

		if (!len)
			text[at] = '?';
		at += len ? len : 1;
	}
	text[at] = '\0';
}

static int send_reply(struct ced_client *client, const struct reply *reply, struct ced_value result,
	const char *error_text, struct ced_error *ret_error)
{
	struct ced_buffer params = { 0 };

	ced_put_map(&params, 3);
	ced_put_text(&params, "run_id");
	ced_put_text(&params, reply->run_id);
	ced_put_text(&params, "call");
	ced_put_int(&params, reply->call);
	ced_put_text(&params, error_text ? "error" : "result");
	if (error_text) {
		ced_put_map(&params, 1);
		ced_put_text(&params, "message");
		ced_put_text(&params, error_text);
	} else {
		ced_put_value(&params, result);
	}
	return ask_with(client, "call.reply", &params, ret_error);
}

int ced_answer_call(struct ced_client *client, struct ced_value call, struct ced_value result,
	const char *error_text, struct ced_error *ret_error)
{
	struct reply *reply = calloc(1, sizeof(*reply));

	if (!reply)
		return fail_no_memory(ret_error);
	reply->msgid = client->next_id;
	reply->call = ced_int(ced_get(call, "call"), 0);
	(void)ced_copy_text(ced_get(call, "run_id"), reply->run_id, sizeof(reply->run_id));
	if (send_reply(client, reply, result, error_text, ret_error) < 0) {
		free(reply);
		return -1;
	}
	reply->next = client->replies;
	client->replies = reply;
	return 0;
}

/* What is refused is answered again, so that the program hears why and does not wait. */
static void end_reply(struct ced_client *client, uint32_t msgid, struct ced_value error)
{
	struct reply **place = &client->replies;
	struct reply *reply;
	char message[512];
	char why[600];

	while (*place && (*place)->msgid != msgid)
		place = &(*place)->next;
	reply = *place;
	if (!reply)
		return;
	*place = reply->next;
	if (error.len > 0) {
		(void)ced_copy_text(ced_get(error, "message"), message, sizeof(message));
		(void)snprintf(why, sizeof(why), "the tool's answer cannot be sent: %s", message);
		mend_why(why);
		(void)send_reply(client, reply, ABSENT, why, NULL);
	}
	free(reply);
}

/* ---- what comes ----------------------------------------------------------------------------- */

/* Nothing more can come.  Returns -1. */
static int end_with(struct ced_client *client, struct ced_error *ret_error)
{
	if (ret_error)
		*ret_error = client->ended;
	return -1;
}

static int end_broken(struct ced_client *client, const char *why)
{
	return fail(&client->ended, CED_BROKEN, 0, "the daemon sent no message of the protocol: %s",
		why);
}

/* 1: a whole message is there; 0: not yet; -1: what comes is no message. */
static int scan(struct ced_client *client)
{
	const struct ced_buffer *in = &client->in;
	struct head head;
	int status;

	while (client->missing > 0) {
		if (client->scanned >= in->len)
			return 0;
		status = head_read(in->bytes + client->scanned, in->len - client->scanned, &head);
		if (status < 0)
			return end_broken(client, "not msgpack");
		if (status == 0)
			return 0;
		if (head.body > MESSAGE_MAX || head.children > MESSAGE_MAX ||
			client->missing + head.children > MESSAGE_MAX ||
			client->scanned - client->at + head.len + head.body > MESSAGE_MAX)
			return end_broken(client, "it is too large");
		client->scanned += head.len + (size_t)head.body;
		client->missing = client->missing - 1 + head.children;
	}
	return client->scanned <= in->len;
}

/* The answer stays after the message is gone, so it is copied. */
static void take_answer(struct call *call, struct ced_value error, struct ced_value result)
{
	struct ced_value *place = error.len > 0 ? &call->answer->error : &call->answer->result;
	struct ced_value from = error.len > 0 ? error : result;
	char *copy = from.len > 0 ? malloc(from.len) : NULL;

	ced_answer_done(call->answer);
	call->answered = true;
	call->no_memory = !copy;
	if (!copy)
		return;
	memcpy(copy, from.bytes, from.len);
	call->answer->memory = copy;
	*place = (struct ced_value){ copy, from.len };
}

static int pass_answer(
	struct ced_client *client, uint32_t msgid, struct ced_value error, struct ced_value result)
{
	const struct ced_handlers *handlers = &client->handlers;

	if (ced_type(error) == CED_NIL)
		error = ABSENT;
	else
		result = ABSENT;
	end_reply(client, msgid, error);
	if (client->call && client->call->msgid == msgid && !client->call->answered) {
		take_answer(client->call, error, result);
		return 1;
	}
	return handlers->on_answer ? handlers->on_answer(handlers->context, msgid, error, result)
				   : 0;
}

static const struct ced_tool *find_tool(const struct ced_job *job, struct ced_value name)
{
	for (size_t i = 0; job && i < job->tool_count; i++) {
		if (ced_is(name, job->tools[i].name))
			return &job->tools[i];
	}
	return NULL;
}

/* One msgpack object and nothing else. */
static bool is_object(const struct ced_buffer *buffer)
{
	return buffer->len > 0 &&
	       skip(buffer->bytes, buffer->bytes + buffer->len) == buffer->bytes + buffer->len;
}

/* Calls the function that a program wants. */
static void call_tool(struct ced_client *client, const struct call *call, struct ced_value params)
{
	const struct ced_tool *tool = find_tool(call->job, ced_get(params, "tool"));
	struct ced_buffer result = { 0 };
	struct ced_error unsent = { 0 };
	const char *why = "there is no such tool here";
	int status = -1;

	if (tool) {
		status = tool->call(tool->context, ced_get(params, "args"), &result);
		if (status != 0)
			(void)ced_buffer_write(&result, "", 1);
		why = "the tool gave no result that is msgpack";
		if (status == 0 && !is_object(&result))
			status = -1;
		else if (status != 0 && !result.failed)
			why = result.bytes;
		if (why == result.bytes)
			mend_why(result.bytes);
	}
	if (status == 0 && !result.failed)
		status = ced_answer_call(client, params, ced_buffer_value(&result), NULL, &unsent);
	else
		status = ced_answer_call(client, params, ABSENT, why, &unsent);
	if (status != 0)
		(void)ced_answer_call(client, params, ABSENT, unsent.message, NULL);
	ced_buffer_done(&result);
}

/* Whether a notification is about the run of the call that waits. */
static bool is_about(struct call *call, const char *method, struct ced_value params)
{
	if (!call)
		return false;
	if (strcmp(method, "run.started") == 0 &&
		ced_uint(ced_get(params, "msgid"), UINT64_MAX) == call->msgid)
		(void)ced_copy_text(ced_get(params, "run_id"), call->run_id, sizeof(call->run_id));
	return call->run_id[0] && strncmp(method, "run.", 4) == 0 &&
	       ced_is(ced_get(params, "run_id"), call->run_id);
}

static int pass_notice(struct ced_client *client, const char *method, struct ced_value params)
{
	const struct ced_handlers *handlers = &client->handlers;
	struct call *call = client->call;

	if (!is_about(call, method, params))
		return handlers->on_notice ? handlers->on_notice(handlers->context, method, params)
					   : 0;
	if (call->watch->on_event &&
		call->watch->on_event(call->watch->context, method, params) != 0)
		call->stopped = true;
	if (!call->stopped && strcmp(method, "run.call") == 0 && call->job)
		call_tool(client, call, params);
	return call->stopped;
}

/* [1, msgid, error, result]; `at` is behind the kind. */
static int read_response(struct ced_client *client, const char *at, const char *end)
{
	uint64_t msgid = ced_uint(take_object(&at, end), UINT64_MAX);
	struct ced_value error = take_object(&at, end);
	struct ced_value result = take_object(&at, end);

	if (msgid > UINT32_MAX || !result.len)
		return end_broken(client, "a response without its parts");
	return pass_answer(client, (uint32_t)msgid, error, result) ? 1 : 0;
}

/* [2, method, [params]]; `at` is behind the kind. */
static int read_notification(struct ced_client *client, const char *at, const char *end)
{
	static const char nothing[] = { (char)0x80 };
	struct ced_value name = take_object(&at, end);
	struct ced_value list = take_object(&at, end);
	struct ced_value params = { nothing, sizeof(nothing) };
	char method[METHOD_MAX + 1];
	size_t len;
	const char *text = ced_text(name, &len);

	if (!text || len > METHOD_MAX || memchr(text, 0, len) || ced_type(list) != CED_LIST ||
		ced_count(list) > 1)
		return end_broken(client, "a notification without its parts");
	if (ced_count(list) == 1)
		params = ced_at(list, 0);
	if (ced_type(params) != CED_MAP)
		return end_broken(client, "the params of a notification are no map");
	(void)ced_copy_text(name, method, sizeof(method));
	return pass_notice(client, method, params) ? 1 : 0;
}

/* Passes on one message.  0, 1 when a handler wants to stop, or -1. */
static int pass_message(struct ced_client *client)
{
	struct ced_value message = { client->in.bytes + client->at, client->scanned - client->at };
	const char *end = message.bytes + message.len;
	size_t count = ced_type(message) == CED_LIST ? ced_count(message) : 0;
	struct ced_value first = ced_at(message, 0);
	uint64_t kind = ced_uint(first, UINT64_MAX);

	if (count == 4 && kind == KIND_RESPONSE)
		return read_response(client, first.bytes + first.len, end);
	if (count == 3 && kind == KIND_NOTIFICATION)
		return read_notification(client, first.bytes + first.len, end);
	return end_broken(client, "neither response nor notification");
}

/* Passes on what is whole.  1: something was; 0: nothing; -1: what came is no message. */
static int pass_messages(struct ced_client *client)
{
	int passed = 0;
	int status;

	while ((status = scan(client)) > 0) {
		status = pass_message(client);
		client->at = client->scanned;
		client->missing = 1;
		passed = 1;
		if (client->at == client->in.len) {
			buffer_drop(&client->in, client->in.len);
			client->at = 0;
			client->scanned = 0;
		}
		if (status != 0)
			break;
	}
	return status < 0 ? -1 : passed;
}

bool ced_pending(struct ced_client *client)
{
	return client->ended.failure == CED_FINE && scan(client) > 0;
}

/* Room for the next bytes.  What was passed on makes place once it is the larger part. */
static int make_room(struct ced_client *client, size_t len)
{
	if (client->at > client->in.len / 2) {
		buffer_drop(&client->in, client->at);
		client->scanned -= client->at;
		client->at = 0;
	}
	return buffer_reserve(&client->in, len);
}

int ced_feed(struct ced_client *client, const void *bytes, size_t len, struct ced_error *ret_error)
{
	if (client->ended.failure != CED_FINE)
		return end_with(client, ret_error);
	if (make_room(client, len) < 0)
		return fail_no_memory(ret_error);
	(void)ced_buffer_write(&client->in, bytes, len);
	return pass_messages(client) < 0 ? end_with(client, ret_error) : 0;
}

/*
 * A daemon that refuses a message closes the connection behind its answer.  So a failure to send is
 * no end: what can still be read says why.
 */
static void send_some(struct ced_client *client)
{
	size_t len;
	const char *bytes = ced_unsent(client, &len);
	ssize_t sent = send(client->fd, bytes, len, MSG_DONTWAIT | MSG_NOSIGNAL);

	if (sent >= 0)
		ced_sent(client, (size_t)sent);
	else if (errno == EPIPE || errno == ECONNRESET)
		ced_sent(client, len);
	else if (errno != EAGAIN && errno != EINTR)
		(void)fail(&client->ended, CED_LOST, errno, "nothing can be sent to the daemon: %s",
			strerror(errno));
}

/* 1: something came; 0: nothing now; -1: the connection is over. */
static int read_some(struct ced_client *client)
{
	ssize_t got;

	if (make_room(client, ROOM_BYTES) < 0)
		return fail_no_memory(&client->ended);
	got = recv(client->fd, client->in.bytes + client->in.len, client->in.size - client->in.len,
		MSG_DONTWAIT);
	if (got < 0 && (errno == EINTR || errno == EAGAIN))
		return 0;
	if (got < 0)
		return fail(&client->ended, CED_LOST, errno,
			"the connection to the daemon broke: %s", strerror(errno));
	if (got == 0)
		return fail(&client->ended, CED_LOST, 0, "the daemon closed the connection");
	client->in.len += (size_t)got;
	return 1;
}

/* What poll() has found possible. */
static int move_bytes(struct ced_client *client, short events, struct ced_error *ret_error)
{
	int status = 0;

	if ((events & POLLOUT) && client->out.len > client->sent)
		send_some(client);
	if (events & (POLLIN | POLLHUP | POLLERR | POLLNVAL))
		status = read_some(client);
	if (status > 0)
		status = pass_messages(client);
	return status < 0 ? end_with(client, ret_error) : 1;
}

int ced_step(struct ced_client *client, int timeout_ms, struct ced_error *ret_error)
{
	struct pollfd poll_fd;
	int status;

	if (client->ended.failure != CED_FINE)
		return end_with(client, ret_error);
	status = pass_messages(client);
	if (status != 0)
		return status > 0 ? 1 : end_with(client, ret_error);
	if (client->fd < 0)
		return 0;
	if (client->out.len > client->sent)
		send_some(client);
	poll_fd.fd = client->fd;
	poll_fd.events = ced_events(client);
	poll_fd.revents = 0;
	status = poll(&poll_fd, 1, timeout_ms);
	if (status < 0 && errno != EINTR)
		return fail(ret_error, CED_SYSTEM, errno, "cannot wait for the daemon: %s",
			strerror(errno));
	return status > 0 ? move_bytes(client, poll_fd.revents, ret_error) : 0;
}

/* ---- asking and waiting --------------------------------------------------------------------- */

void ced_answer_done(struct ced_answer *answer)
{
	free(answer->memory);
	memset(answer, 0, sizeof(*answer));
}

static int64_t now_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* How long the next wait may be, of at most a turn; 0 at the end of the time. */
static int turn_ms(int64_t until_ms)
{
	int64_t left = until_ms ? until_ms - now_ms() : TURN_MS;

	return left <= 0 ? 0 : left < TURN_MS ? (int)left : TURN_MS;
}

/* Gives the call up: the daemon is asked to end it, and its answer goes to the handlers. */
static int give_up(struct ced_client *client, struct ced_error *ret_error, enum ced_failure failure,
	const char *why)
{
	uint32_t msgid = client->call->msgid;

	client->call = NULL;
	(void)ced_cancel(client, msgid, NULL);
	if (client->fd >= 0 && client->ended.failure == CED_FINE)
		send_some(client); /* a step may stop at what has come already */
	return fail(ret_error, failure, 0, "%s", why);
}

/*
 * Steps until the call is answered, or, without a call on its way, until `until_ms` (0: never).  0
 * when it is; -1 with *ret_error.
 */
static int await(
	struct ced_client *client, struct call *call, int64_t until_ms, struct ced_error *ret_error)
{
	while (!call->answered) {
		int wait_ms = turn_ms(until_ms);

		if (call->watch->on_turn && call->watch->on_turn(call->watch->context) != 0)
			call->stopped = true;
		if (call->stopped)
			return give_up(client, ret_error, CED_STOPPED, "the caller ended the call");
		if (wait_ms == 0)
			return give_up(client, ret_error, CED_TIMED_OUT,
				"the daemon did not answer in time");
		if (ced_step(client, wait_ms, ret_error) < 0)
			return -1;
	}
	return call->no_memory ? fail_no_memory(ret_error) : 0;
}

/* A request that was refused as busy waits before it is sent again. */
static int pause_for(
	struct ced_client *client, struct call *call, int64_t until_ms, struct ced_error *ret_error)
{
	int wait_ms;

	while ((wait_ms = turn_ms(until_ms)) > 0) {
		if (call->watch->on_turn && call->watch->on_turn(call->watch->context) != 0)
			return fail(ret_error, CED_STOPPED, 0, "the caller ended the call");
		if (ced_step(client, wait_ms, ret_error) < 0)
			return -1;
	}
	return 0;
}

/* Sends it once and waits for its answer. */
static int ask_once(struct ced_client *client, const char *method, struct ced_value params,
	struct call *call, int64_t until_ms, struct ced_error *ret_error)
{
	int status;

	ced_answer_done(call->answer);
	call->answered = false;
	call->run_id[0] = '\0';
	if (ced_ask(client, method, params, &call->msgid, ret_error) < 0)
		return -1;
	client->call = call;
	status = await(client, call, until_ms, ret_error);
	client->call = NULL;
	if (status == 0 && call->answer->error.len > 0)
		return fail_refused(ret_error, call->answer->error);
	return status;
}

static int64_t at_most(int64_t ms)
{
	return ms < TIME_MAX_MS ? ms : TIME_MAX_MS;
}

static int converse(struct ced_client *client, const char *method, struct ced_value params,
	struct call *call, struct ced_error *ret_error)
{
	int64_t began_ms = now_ms();
	int64_t busy_until_ms = began_ms + at_most(call->watch->busy_ms);
	int64_t until_ms =
		call->watch->timeout_ms > 0 ? began_ms + at_most(call->watch->timeout_ms) : 0;
	struct ced_error error;

	for (;;) {
		int64_t again_ms;

		memset(&error, 0, sizeof(error));
		if (ask_once(client, method, params, call, until_ms, &error) == 0)
			return 0;
		again_ms = now_ms() + at_most(error.retry_after_ms);
		if (error.failure != CED_REFUSED || error.retry_after_ms <= 0 ||
			again_ms > busy_until_ms || (until_ms && again_ms > until_ms) ||
			pause_for(client, call, again_ms, &error) < 0)
			break;
	}
	if (ret_error)
		*ret_error = error;
	return -1;
}

static const struct ced_watch NO_WATCH = { 0 };

int ced_call(struct ced_client *client, const char *method, struct ced_value params,
	const struct ced_watch *watch, struct ced_answer *answer, struct ced_error *ret_error)
{
	struct call call = { 0 };

	call.watch = watch ? watch : &NO_WATCH;
	call.answer = answer;
	return converse(client, method, params, &call, ret_error);
}

/* Calls with a buffer of params, and ends the buffer. */
static int call_with(struct ced_client *client, const char *method, struct ced_buffer *params,
	const struct ced_watch *watch, struct ced_answer *answer, struct ced_error *ret_error)
{
	int status = params->failed ? fail_no_memory(ret_error)
				    : ced_call(client, method, ced_buffer_value(params), watch,
					      answer, ret_error);

	ced_buffer_done(params);
	return status;
}

int ced_call_json(struct ced_client *client, const char *method, const char *params,
	const struct ced_watch *watch, struct ced_answer *answer, struct ced_error *ret_error)
{
	struct ced_buffer buffer = { 0 };

	if (params && ced_json(&buffer, params) < 0) {
		ced_buffer_done(&buffer);
		return fail(ret_error, CED_WRONG_CALL, 0,
			"the params of %s are no JSON, or there is no memory", method);
	}
	return call_with(client, method, &buffer, watch, answer, ret_error);
}

/* ---- runs ----------------------------------------------------------------------------------- */

/* The params of a job as they are written: how many there are is known at the end. */
struct params {
	struct ced_buffer *buffer;
	uint32_t count;
	const char *wrong; /* the first that is no JSON */
};

static void param(struct params *params, const char *key)
{
	ced_put_text(params->buffer, key);
	params->count++;
}

static void param_text(struct params *params, const char *key, const char *text)
{
	if (!text)
		return;
	param(params, key);
	ced_put_text(params->buffer, text);
}

static void param_true(struct params *params, const char *key, bool is_true)
{
	if (!is_true)
		return;
	param(params, key);
	ced_put_bool(params->buffer, true);
}

static void param_json(struct params *params, const char *key, const char *text)
{
	if (!text)
		return;
	param(params, key);
	if (ced_json(params->buffer, text) < 0 && !params->wrong)
		params->wrong = key;
}

static void param_lists(struct params *params, const struct ced_job *job)
{
	struct ced_buffer *buffer = params->buffer;

	if (job->arg_count > 0) {
		param(params, "args");
		ced_put_list(buffer, job->arg_count);
	}
	for (size_t i = 0; i < job->arg_count; i++)
		ced_put_text(buffer, job->args[i]);
	if (job->env_count > 0) {
		param(params, "env");
		ced_put_map(buffer, job->env_count);
	}
	for (size_t i = 0; i < job->env_count; i++) {
		ced_put_text(buffer, job->env[i].name);
		ced_put_text(buffer, job->env[i].value);
	}
	if (job->limit_count > 0) {
		param(params, "limits");
		ced_put_map(buffer, job->limit_count);
	}
	for (size_t i = 0; i < job->limit_count; i++) {
		ced_put_text(buffer, job->limits[i].name);
		ced_put_int(buffer, job->limits[i].value);
	}
}

static void param_files(struct params *params, const struct ced_job *job)
{
	struct ced_buffer *buffer = params->buffer;

	if (job->file_count > 0) {
		param(params, "files");
		ced_put_list(buffer, job->file_count);
	}
	for (size_t i = 0; i < job->file_count; i++) {
		const struct ced_file *file = &job->files[i];

		ced_put_map(buffer, file->mode ? 3 : 2);
		ced_put_text(buffer, "path");
		ced_put_text(buffer, file->path);
		ced_put_text(buffer, file->blob ? "blob" : "data");
		if (file->blob)
			ced_put_text(buffer, file->blob);
		else
			ced_put_bytes(buffer, file->data ? file->data : "", file->len);
		if (file->mode) {
			ced_put_text(buffer, "mode");
			ced_put_int(buffer, file->mode);
		}
	}
}

static void param_tool(struct params *params, const struct ced_tool *tool)
{
	struct params entry = { params->buffer, 0, NULL };
	size_t place = put_open(params->buffer, 0xdf);

	param_text(&entry, "name", tool->name);
	param_text(&entry, "description", tool->description);
	param_json(&entry, "input_schema", tool->params_json ? tool->params_json : "true");
	param_json(&entry, "output_schema", tool->result_json);
	param_true(&entry, "effects", tool->effects);
	put_count(params->buffer, place, entry.count);
	if (!params->wrong)
		params->wrong = entry.wrong;
}

static void param_tools(struct params *params, const struct ced_job *job)
{
	if (job->tool_count == 0)
		return;
	param(params, "tools");
	ced_put_list(params->buffer, job->tool_count);
	for (size_t i = 0; i < job->tool_count; i++)
		param_tool(params, &job->tools[i]);
}

/* The entries of a map that is whole, without its head. */
static void param_more(struct params *params, struct ced_value more)
{
	struct head head;

	if (more.len == 0)
		return;
	if (!head_of(more, CED_MAP, &head) ||
		skip(more.bytes, more.bytes + more.len) != more.bytes + more.len) {
		params->wrong = "more";
		return;
	}
	(void)ced_buffer_write(params->buffer, more.bytes + head.len, more.len - head.len);
	params->count += (uint32_t)(head.children / 2);
}

static void param_texts(struct params *params, const struct ced_job *job)
{
	const char *language = job->language ? job->language : job->session ? NULL : "python";

	param_text(params, "language", language);
	if (job->code) {
		param(params, "code");
		put_text_len(params->buffer, job->code,
			job->code_len ? job->code_len : strlen(job->code));
	}
	if (job->stdin_bytes) {
		param(params, "stdin");
		ced_put_bytes(params->buffer, job->stdin_bytes, job->stdin_len);
	}
	param_text(params, "policy", job->policy);
	param_text(params, "session", job->session);
	param_text(params, "id", job->id);
	param_text(params, "run_id", job->run_id);
	param_text(params, "agent", job->agent);
	param_text(params, "task", job->task);
}

/* `announces`: the daemon is to say which run this becomes. */
static int job_params(const struct ced_job *job, bool announces, struct ced_buffer *buffer,
	struct ced_error *ret_error)
{
	struct params params = { buffer, 0, NULL };
	size_t place = put_open(buffer, 0xdf);

	param_texts(&params, job);
	param_lists(&params, job);
	param_files(&params, job);
	param_json(&params, "input", job->input_json);
	param_json(&params, "schema", job->schema_json);
	param_tools(&params, job);
	param_true(&params, "stream", job->stream);
	param_true(&params, "display", job->display);
	param_true(&params, "detach", job->detach);
	param_true(&params, "announce", announces);
	param_more(&params, job->more);
	put_count(buffer, place, params.count);
	if (params.wrong)
		return fail(ret_error, CED_WRONG_CALL, 0, "%s is no JSON, or there is no memory",
			params.wrong);
	return buffer->failed ? fail_no_memory(ret_error) : 0;
}

int ced_job_params(
	const struct ced_job *job, struct ced_buffer *ret_params, struct ced_error *ret_error)
{
	return job_params(job, job->stream || job->tool_count > 0, ret_params, ret_error);
}

int ced_run(struct ced_client *client, const struct ced_job *job, const struct ced_watch *watch,
	struct ced_answer *answer, struct ced_error *ret_error)
{
	bool hears = (watch && watch->on_event) || job->tool_count > 0;
	struct ced_buffer params = { 0 };
	struct call call = { 0 };
	int status;

	call.watch = watch ? watch : &NO_WATCH;
	call.job = job;
	call.answer = answer;
	status = job_params(job, hears, &params, ret_error);
	if (status == 0)
		status = converse(client, "run", ced_buffer_value(&params), &call, ret_error);
	ced_buffer_done(&params);
	return status;
}

/* {key: text} */
static struct ced_buffer one_text(const char *key, const char *text)
{
	struct ced_buffer params = { 0 };

	ced_put_map(&params, 1);
	ced_put_text(&params, key);
	ced_put_text(&params, text);
	return params;
}

int ced_wait(struct ced_client *client, const char *run_id, const struct ced_watch *watch,
	struct ced_answer *answer, struct ced_error *ret_error)
{
	struct ced_buffer params = one_text("run_id", run_id);

	return call_with(client, "wait", &params, watch, answer, ret_error);
}

/* A text of an answer, and where it goes. */
struct wanted {
	const char *key;
	char *text;
	size_t size;
};

/* Calls and keeps one text of the answer; NULL: none. */
static int call_for_text(struct ced_client *client, const char *method, struct ced_buffer *params,
	const struct wanted *wanted, struct ced_error *ret_error)
{
	struct ced_answer answer = { ABSENT, ABSENT, NULL };
	int status = call_with(client, method, params, NULL, &answer, ret_error);

	if (status == 0 && wanted)
		(void)ced_copy_text(
			ced_get(answer.result, wanted->key), wanted->text, wanted->size);
	ced_answer_done(&answer);
	return status;
}

int ced_cancel_run(struct ced_client *client, const char *run_id, struct ced_error *ret_error)
{
	struct ced_buffer params = one_text("run_id", run_id);

	return call_for_text(client, "cancel", &params, NULL, ret_error);
}

int ced_session_open(struct ced_client *client, const char *language, const char *more_json,
	char ret_session[CED_ID_SIZE], struct ced_error *ret_error)
{
	struct ced_buffer more = { 0 };
	struct ced_buffer buffer = { 0 };
	struct params params = { &buffer, 0, NULL };
	size_t place = put_open(&buffer, 0xdf);

	if (more_json && ced_json(&more, more_json) < 0) {
		ced_buffer_done(&more);
		ced_buffer_done(&buffer);
		return fail(ret_error, CED_WRONG_CALL, 0,
			"the params of session.open are no JSON, or there is no memory");
	}
	param_text(&params, "language", language ? language : "python");
	param_more(&params, ced_buffer_value(&more));
	put_count(&buffer, place, params.count);
	ced_buffer_done(&more);
	return call_for_text(client, "session.open", &buffer,
		&(const struct wanted){ "session", ret_session, CED_ID_SIZE }, ret_error);
}

int ced_session_close(struct ced_client *client, const char *session, struct ced_error *ret_error)
{
	struct ced_buffer params = one_text("session", session);

	return call_for_text(client, "session.close", &params, NULL, ret_error);
}

int ced_blob_put(struct ced_client *client, const void *data, size_t len,
	char ret_hash[CED_HASH_SIZE], struct ced_error *ret_error)
{
	struct ced_buffer params = { 0 };

	ced_put_map(&params, 1);
	ced_put_text(&params, "data");
	ced_put_bytes(&params, data, len);
	return call_for_text(client, "blob.put", &params,
		&(const struct wanted){ "sha256", ret_hash, CED_HASH_SIZE }, ret_error);
}
