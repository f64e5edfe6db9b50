#include "proto/json.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include <jansson.h>

#include "proto/base/container.h"

/* "18446744073709551615": the longest integer that fits. */
#define UINT64_DIGITS 20

/*
 * Messages for jansson's errors.  jansson's own messages may repeat the text, so they are not used.
 * The first row is for all errors without a row.
 */
static const struct {
	enum json_error_code code;
	const char *message;
} mistakes[] = {
	{ json_error_invalid_syntax, "this is not JSON" },
	{ json_error_invalid_utf8, "this is not valid UTF-8" },
	{ json_error_premature_end_of_input, "the document ends too early" },
	{ json_error_end_of_input_expected, "something follows the document" },
	{ json_error_null_byte_in_key, "a key holds U+0000" },
	{ json_error_duplicate_key, "this key is there twice" },
	{ json_error_numeric_overflow, "this number is too large" },
	{ json_error_stack_overflow, "the document is nested too deeply" },
};

/*
 * The scan before jansson parses.  It counts what the document will cost, and finds integers
 * between 2^63 and 2^64, which jansson cannot represent.  In a copy of the text it replaces each of
 * them by a real of the same length.  read_number() restores the integer, which it finds by its
 * position among all numbers of the document.
 */
struct scan {
	const char *text;
	size_t len;
	size_t at;
	size_t depth;
	size_t nodes;
	size_t numbers; /* seen so far */
	struct json_bounds bounds;
	char *patched; /* malloc; NULL while the text needs no change */
	struct covered *covered;
	size_t covered_count;
	size_t covered_size;
};

struct covered {
	size_t number; /* which number of the document, from 0 */
	uint64_t integer;
};

/* The conversion of jansson's tree to values, in the order of the text. */
struct reading {
	struct arena *arena;
	const struct scan *scan;
	size_t numbers;
	size_t covered;
};

static void scan_done(struct scan *scan)
{
	free(scan->patched);
	free(scan->covered);
}

/* Line and column of a byte, for a message. */
static int mistake_at(const struct scan *scan, size_t at, enum err_code code, const char *message,
	struct err *err)
{
	size_t line = 1, column = 1;

	for (size_t i = 0; i < at; i++) {
		if (scan->text[i] == '\n') {
			line++;
			column = 1;
		} else if (((unsigned char)scan->text[i] & 0xc0U) != 0x80) {
			column++;
		}
	}
	return err_set(err, code, "line %zu, column %zu: %s", line, column, message);
}

/* Moves from the opening quote to the byte after the closing one. */
static void scan_string(struct scan *scan)
{
	for (scan->at++; scan->at < scan->len && scan->text[scan->at] != '"'; scan->at++) {
		if (scan->text[scan->at] == '\\')
			scan->at++;
	}
	scan->at++;
}

static int cover(struct scan *scan, size_t start, size_t len, uint64_t integer)
{
	if (!scan->patched) {
		scan->patched = malloc(scan->len);
		if (!scan->patched)
			return -1;
		memcpy(scan->patched, scan->text, scan->len);
	}
	if (scan->covered_count == scan->covered_size) {
		size_t size = scan->covered_size ? scan->covered_size * 2 : 16;
		struct covered *more = realloc(scan->covered, size * sizeof(*more));

		if (!more)
			return -1;
		scan->covered = more;
		scan->covered_size = size;
	}
	memset(scan->patched + start, '0', len);
	scan->patched[start + 1] = '.';
	scan->covered[scan->covered_count++] = (struct covered){ scan->numbers, integer };
	return 0;
}

/* Reads `len` digits.  Returns false when the number does not fit 64 bits. */
static bool read_digits(const char *digits, size_t len, uint64_t *ret_integer)
{
	uint64_t integer = 0;

	for (size_t i = 0; i < len; i++) {
		if (__builtin_mul_overflow(integer, 10U, &integer) ||
			__builtin_add_overflow(integer, (uint64_t)(digits[i] - '0'), &integer))
			return false;
	}
	*ret_integer = integer;
	return true;
}

static int scan_integer(struct scan *scan, size_t start, size_t len, struct err *err)
{
	bool negative = scan->text[start] == '-';
	const char *digits = scan->text + start + negative;
	uint64_t integer;

	/* jansson rejects leading zeros. */
	if (len - negative < UINT64_DIGITS - 1 || *digits == '0')
		return 0;
	if (!read_digits(digits, len - negative, &integer) ||
		(negative && integer > (uint64_t)INT64_MAX + 1))
		return mistake_at(scan, start, ERR_INVALID,
			"this integer does not fit 64 bits; write it as a string", err);
	if (!negative && integer > INT64_MAX && cover(scan, start, len, integer) < 0)
		return err_set(err, ERR_MEMORY, "no memory for JSON");
	return 0;
}

static int mistake_of_bound(
	const struct scan *scan, const char *what, size_t bound, const char *unit, struct err *err)
{
	char message[80];

	cut_printf(message, sizeof(message), "%s more than %zu %s", what, bound, unit);
	return mistake_at(scan, scan->at, ERR_TOO_BIG, message, err);
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Moves from '-' or a digit to the byte after the integer or real. */
static int scan_number(struct scan *scan, struct err *err)
{
	size_t start = scan->at;
	size_t end = start + 1;

	while (end < scan->len && is_digit(scan->text[end]))
		end++;
	scan->at = end;
	if (end == scan->len || !strchr(".eE", scan->text[end]) || !scan->text[end]) {
		if (scan_integer(scan, start, end - start, err) < 0)
			return -1;
	} else {
		while (scan->at < scan->len && strchr("+-.eE0123456789", scan->text[scan->at]) &&
			scan->text[scan->at])
			scan->at++;
	}
	scan->numbers++;
	return 0;
}

static int scan_open(struct scan *scan, struct err *err)
{
	if (++scan->depth > scan->bounds.depth)
		return mistake_of_bound(scan, "this is nested", scan->bounds.depth, "deep", err);
	scan->nodes++;
	scan->at++;
	return 0;
}

static int scan_one(struct scan *scan, struct err *err)
{
	char c = scan->text[scan->at];

	if (c == '"') {
		scan_string(scan);
		return 0;
	}
	if (c == '[' || c == '{')
		return scan_open(scan, err);
	if (c == '-' || is_digit(c))
		return scan_number(scan, err);
	if (c == 'N' || c == 'I')
		return mistake_at(scan, scan->at, ERR_INVALID,
			"JSON has no NaN and no Infinity; write null or a string", err);
	if (c == ',' || c == ':')
		scan->nodes++;
	if ((c == ']' || c == '}') && scan->depth)
		scan->depth--;
	scan->at++;
	return 0;
}

static int scan_text(struct scan *scan, struct err *err)
{
	if (scan->len > scan->bounds.bytes)
		return err_set(err, ERR_TOO_BIG, "more than %zu bytes of JSON", scan->bounds.bytes);
	while (scan->at < scan->len) {
		if (scan_one(scan, err) < 0)
			return -1;
		if (scan->nodes > scan->bounds.nodes)
			return mistake_of_bound(scan, "the document has", scan->bounds.nodes,
				"values and keys together", err);
	}
	return 0;
}

static int jansson_mistake(const json_error_t *mistake, struct err *err)
{
	enum json_error_code code = json_error_code(mistake);
	const char *message = mistakes[0].message;

	if (code == json_error_out_of_memory)
		return err_set(err, ERR_MEMORY, "no memory for JSON");
	for (size_t i = 0; i < COUNT_OF(mistakes); i++) {
		if (mistakes[i].code == code)
			message = mistakes[i].message;
	}
	return err_set(err, ERR_INVALID, "line %d, column %d: %s", mistake->line, mistake->column,
		message);
}

/*
 * Seeds jansson's hash tables.  Otherwise jansson would read a seed from a file, which a jailed
 * daemon cannot open.
 */
static void seed_once(void)
{
	size_t seed = 0;

	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) == (ssize_t)sizeof(seed) && seed)
		json_object_seed(seed);
}

static struct value *read_node(struct reading *reading, const json_t *json);

static struct value *read_list(struct reading *reading, const json_t *json)
{
	struct value *list = value_list(reading->arena);

	for (size_t i = 0; list && i < json_array_size(json); i++) {
		if (value_list_add(
			    reading->arena, list, read_node(reading, json_array_get(json, i))) < 0)
			return NULL;
	}
	return list;
}

static struct value *read_map(struct reading *reading, json_t *json)
{
	struct value *map = value_map(reading->arena);

	for (void *at = json_object_iter(json); map && at; at = json_object_iter_next(json, at)) {
		if (value_map_put_len(reading->arena, map, json_object_iter_key(at),
			    json_object_iter_key_len(at),
			    read_node(reading, json_object_iter_value(at))) < 0)
			return NULL;
	}
	return map;
}

static struct value *read_number(struct reading *reading, const json_t *json)
{
	const struct scan *scan = reading->scan;
	size_t number = reading->numbers++;

	if (reading->covered < scan->covered_count &&
		scan->covered[reading->covered].number == number)
		return value_uint(reading->arena, scan->covered[reading->covered++].integer);
	if (json_is_real(json))
		return value_real(reading->arena, json_real_value(json));
	return value_int(reading->arena, json_integer_value(json));
}

/* Recursion is bounded by JSON_DEPTH_MAX. */
static struct value *read_node(struct reading *reading, const json_t *json)
{
	switch (json_typeof(json)) {
	case JSON_OBJECT:
		return read_map(
			reading, (json_t *)(uintptr_t)json); /* jansson's iterators are not const */
	case JSON_ARRAY:
		return read_list(reading, json);
	case JSON_STRING:
		return value_text_len(
			reading->arena, json_string_value(json), json_string_length(json));
	case JSON_INTEGER:
	case JSON_REAL:
		return read_number(reading, json);
	case JSON_TRUE:
	case JSON_FALSE:
		return value_bool(reading->arena, json_is_true(json));
	case JSON_NULL:
		break;
	}
	return value_nil(reading->arena);
}

static void json_decref_of(json_t **json)
{
	json_decref(*json);
}

static int read_document(
	struct arena *arena, const struct scan *scan, struct value **ret_value, struct err *err)
{
	__attribute__((cleanup(json_decref_of))) json_t *json = NULL;
	struct reading reading = { .arena = arena, .scan = scan };
	struct value *value;
	json_error_t mistake;

	seed_once();
	json = json_loadb(scan->patched ? scan->patched : scan->text, scan->len,
		JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_ALLOW_NUL, &mistake);
	if (!json)
		return jansson_mistake(&mistake, err);

	value = read_node(&reading, json);
	if (!value)
		return err_set(err, ERR_MEMORY, "no memory for JSON");
	assert(reading.covered == scan->covered_count);
	*ret_value = value;
	return 0;
}

int json_parse(struct arena *arena, const char *text, size_t len, const struct json_bounds *bounds,
	struct value **ret_value, struct err *err)
{
	__attribute__((cleanup(scan_done))) struct scan scan = { .text = text, .len = len };

	scan.bounds = bounds ? *bounds : JSON_BOUNDS;
	assert(scan.bounds.depth <= JSON_DEPTH_MAX);
	if (scan_text(&scan, err) < 0)
		return -1;
	return read_document(arena, &scan, ret_value, err);
}
