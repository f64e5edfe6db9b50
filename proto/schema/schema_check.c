#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "proto/base/buf.h"
#include "proto/base/nearest.h"
#include "proto/base/utf8.h"
#include "proto/json.h"
#include "proto/number.h"
#include "proto/schema/schema_checker.h"

/* A message quotes a value of the schema when its JSON is at most this long. */
#define SAID_MAX 400

/* Reading a text costs one step for this many bytes. */
#define BYTES_PER_STEP 64

/* ---- errors ------------------------------------------------------------------------------- */

void schema_fail(struct schema_checker *checker)
{
	checker->failed = true;
	checker->stopped = true;
}

/* Returns the next free row, or NULL when there is none. */
static struct schema_error *next_error(struct schema_checker *checker)
{
	struct schema_report *report = checker->report;

	if (checker->stopped)
		return NULL;
	if (report->count == SCHEMA_ERRORS_MAX) {
		report->more = true;
		checker->stopped = true;
		return NULL;
	}
	if (!report->errors)
		report->errors =
			arena_array(checker->arena, struct schema_error, SCHEMA_ERRORS_MAX);
	if (!report->errors) {
		schema_fail(checker);
		return NULL;
	}
	return &report->errors[report->count];
}

void schema_complain(struct schema_checker *checker, const struct place *rule,
	const struct place *at, const char *reason, const char *format, ...)
{
	struct schema_error *error;
	char message[512];
	va_list args;

	checker->broken = true;
	error = checker->quiet ? NULL : next_error(checker);
	if (!error)
		return;
	va_start(args, format);
	cut_vprintf(message, sizeof(message), format, args);
	va_end(args);
	error->reason = reason;
	error->message = arena_strdup(checker->arena, message);
	error->pointer = place_text(checker->arena, at);
	error->schema_pointer = place_text(checker->arena, rule);
	if (!error->message || !error->pointer || !error->schema_pointer)
		schema_fail(checker);
	else
		checker->report->count++;
}

bool schema_spend(struct schema_checker *checker, const struct schema_rule *rule,
	const struct place *at, uint64_t cost)
{
	if (schema_has_enough(checker))
		return false;
	if (cost <= checker->work) {
		checker->work -= cost;
		return true;
	}
	checker->work = 0;
	checker->quiet = false; /* report this error even from a quiet check */
	schema_complain(checker, &rule->place, at, "work", "checking this takes too much work");
	checker->report->more = true;
	checker->stopped = true;
	return false;
}

/* Returns a value of the schema as JSON, for a message. */
static const char *said(struct schema_checker *checker, const struct value *value)
{
	struct bytes text;

	if (json_write_text(checker->arena, value, JSON_WRITE_COMPACT, SAID_MAX, &text, NULL) < 0)
		return "what the schema says";
	return text.data;
}

/* ---- any value ---------------------------------------------------------------------------- */

/* Writes a list such as "string or null". */
static const char *types_said(unsigned types, char *text, size_t size)
{
	size_t len = 0;

	if (types & SCHEMA_WHOLE)
		types |= SCHEMA_INTEGER;
	text[0] = '\0';
	for (const struct schema_type_word *row = schema_type_words; row->word; row++) {
		if (!(types & row->type))
			continue;
		cut_printf(text + len, size - len, "%s%s", len ? " or " : "", row->word);
		len = strlen(text);
	}
	return len ? text : "not JSON";
}

void schema_check_type(struct schema_checker *checker, const struct schema_rule *rule,
	const struct value *value, const struct place *at)
{
	unsigned types = schema_types_of(value);
	char wanted[128], found[128];

	if (types & rule->types)
		return;
	if (types & SCHEMA_NUMBER)
		types = types & SCHEMA_WHOLE ? SCHEMA_INTEGER : SCHEMA_NUMBER;
	schema_complain(checker, &rule->place, at, "type", "must be %s, not %s",
		types_said(rule->types, wanted, sizeof(wanted)),
		types_said(types, found, sizeof(found)));
}

void schema_check_enum(struct schema_checker *checker, const struct schema_rule *rule,
	const struct value *value, const struct place *at)
{
	const char *text = value_as_text(value);
	struct nearest nearest = NEAREST_OF(text);

	if (!schema_spend(checker, rule, at, rule->weight))
		return;
	for (size_t i = 0; i < rule->text->list.count; i++) {
		if (value_equal(rule->text->list.items[i], value))
			return;
	}
	for (size_t i = 0; text && i < rule->text->list.count && !checker->quiet; i++) {
		const char *word = value_as_text(rule->text->list.items[i]);

		if (word)
			nearest_offer(&nearest, word);
	}
	schema_complain(checker, &rule->place, at, "value", "must be one of %s%s",
		said(checker, rule->text), nearest_hint(&nearest));
}

void schema_check_const(struct schema_checker *checker, const struct schema_rule *rule,
	const struct value *value, const struct place *at)
{
	if (schema_spend(checker, rule, at, rule->weight) && !value_equal(rule->text, value))
		schema_complain(checker, &rule->place, at, "value", "must be %s",
			said(checker, rule->text));
}

/* ---- numbers ------------------------------------------------------------------------------ */

static void check_range(struct schema_checker *checker, const struct schema_rule *rule, bool good,
	const struct place *at, const char *words)
{
	if (!good)
		schema_complain(checker, &rule->place, at, "range", "must be %s %s", words,
			said(checker, rule->text));
}

void schema_check_minimum(struct schema_checker *checker, const struct schema_rule *rule,
	const struct value *value, const struct place *at)
{
	check_range(checker, rule, number_compare(value, rule->text) >= 0, at, "at least");
}

void schema_check_maximum(struct schema_checker *checker, const struct schema_rule *rule,
	const struct value *value, const struct place *at)
{
	check_range(checker, rule, number_compare(value, rule->text) <= 0, at, "at most");
}

void schema_check_exclusive_minimum(struct schema_checker *checker, const struct schema_rule *rule,
	const struct value *value, const struct place *at)
{
	check_range(checker, rule, number_compare(value, rule->text) > 0, at, "above");
}

void schema_check_exclusive_maximum(struct schema_checker *checker, const struct schema_rule *rule,
	const struct value *value, const struct place *at)
{
	check_range(checker, rule, number_compare(value, rule->text) < 0, at, "below");
}

void schema_check_multiple_of(struct schema_checker *checker, const struct schema_rule *rule,
	const struct value *value, const struct place *at)
{
	check_range(checker, rule, number_is_multiple(value, rule->text), at, "a multiple of");
}

/* ---- texts -------------------------------------------------------------------------------- */

static uint64_t length_of(const struct value *value)
{
	if (value->type == VALUE_BYTES)
		return value->text.len;
	return utf8_count(value->text.bytes, value->text.len);
}

static const char *units_of(const struct value *value)
{
	return value->type == VALUE_BYTES ? "bytes" : "characters";
}

void schema_check_min_length(struct schema_checker *checker, const struct schema_rule *rule,
	const struct value *value, const struct place *at)
{
	if (!schema_spend(checker, rule, at, value->text.len / BYTES_PER_STEP))
		return;
	if (length_of(value) < rule->count)
		schema_complain(checker, &rule->place, at, "too_short",
			"must have at least %llu %s", (unsigned long long)rule->count,
			units_of(value));
}

void schema_check_max_length(struct schema_checker *checker, const struct schema_rule *rule,
	const struct value *value, const struct place *at)
{
	if (!schema_spend(checker, rule, at, value->text.len / BYTES_PER_STEP))
		return;
	if (length_of(value) > rule->count)
		schema_complain(checker, &rule->place, at, "too_long", "must have at most %llu %s",
			(unsigned long long)rule->count, units_of(value));
}

bool schema_matches(struct schema_checker *checker, const struct schema_rule *rule,
	const struct pattern *pattern, const char *text, size_t len, const struct place *at)
{
	enum pattern_answer answer = pattern_search(pattern, text, len, &checker->work);

	if (answer == PATTERN_GAVE_UP)
		(void)schema_spend(checker, rule, at, UINT64_MAX);
	return answer != PATTERN_NO;
}

void schema_check_pattern(struct schema_checker *checker, const struct schema_rule *rule,
	const struct value *value, const struct place *at)
{
	if (!schema_matches(checker, rule, rule->pattern, value->text.bytes, value->text.len, at))
		schema_complain(checker, &rule->place, at, "value", "must match the pattern %s",
			said(checker, rule->text));
}

/* ---- lists and maps ----------------------------------------------------------------------- */

static void check_least(struct schema_checker *checker, const struct schema_rule *rule,
	size_t count, const struct place *at, const char *what)
{
	if (count < rule->count)
		schema_complain(checker, &rule->place, at, "too_short",
			"must have at least %llu %s", (unsigned long long)rule->count, what);
}

static void check_most(struct schema_checker *checker, const struct schema_rule *rule, size_t count,
	const struct place *at, const char *what)
{
	if (count > rule->count)
		schema_complain(checker, &rule->place, at, "too_long", "must have at most %llu %s",
			(unsigned long long)rule->count, what);
}

void schema_check_min_items(struct schema_checker *checker, const struct schema_rule *rule,
	const struct value *value, const struct place *at)
{
	check_least(checker, rule, value->list.count, at, "items");
}

void schema_check_max_items(struct schema_checker *checker, const struct schema_rule *rule,
	const struct value *value, const struct place *at)
{
	check_most(checker, rule, value->list.count, at, "items");
}

void schema_check_min_properties(struct schema_checker *checker, const struct schema_rule *rule,
	const struct value *value, const struct place *at)
{
	check_least(checker, rule, value->map.count, at, "keys");
}

void schema_check_max_properties(struct schema_checker *checker, const struct schema_rule *rule,
	const struct value *value, const struct place *at)
{
	check_most(checker, rule, value->map.count, at, "keys");
}

void schema_check_unique_items(struct schema_checker *checker, const struct schema_rule *rule,
	const struct value *value, const struct place *at)
{
	size_t first = 0, second = 0;
	struct place place;
	int found;

	found = rule->on ? schema_find_twins(value, &checker->work, &first, &second) : 0;
	if (found < 0)
		(void)schema_spend(checker, rule, at, UINT64_MAX);
	if (found <= 0)
		return;
	place = place_item(at, second);
	schema_complain(
		checker, &rule->place, &place, "duplicate", "is the same as item %zu", first);
}

void schema_require(struct schema_checker *checker, const struct schema_rule *rule,
	const struct value *names, const struct value *value, const struct place *at)
{
	for (size_t i = 0; i < names->list.count; i++) {
		const struct value *name = names->list.items[i];
		struct place place = place_key(at, name->text.bytes, name->text.len);

		if (!schema_spend(checker, rule, at, 1 + value->map.count / 8))
			return;
		if (!value_get_len(value, name->text.bytes, name->text.len))
			schema_complain(
				checker, &rule->place, &place, "missing", "this key is required");
	}
}

void schema_check_required(struct schema_checker *checker, const struct schema_rule *rule,
	const struct value *value, const struct place *at)
{
	schema_require(checker, rule, rule->text, value, at);
}

void schema_check_dependent_required(struct schema_checker *checker, const struct schema_rule *rule,
	const struct value *value, const struct place *at)
{
	for (size_t i = 0; i < rule->map.count; i++) {
		const struct schema_member *member = &rule->map.members[i];

		if (!schema_spend(checker, rule, at, 1 + value->map.count / 8))
			return;
		if (value_get_len(value, member->key, member->key_len))
			schema_require(checker, rule, member->names, value, at);
	}
}
