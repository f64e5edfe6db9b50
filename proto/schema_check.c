#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "proto/base/buf.h"
#include "proto/base/utf8.h"
#include "proto/json.h"
#include "proto/number.h"
#include "proto/schema_rule.h"

/* A value of the schema's own is repeated in a message when its JSON is at most this long. */
#define SAID_MAX 160

/* Text that is looked through costs one step for these many bytes. */
#define BYTES_PER_STEP 64

struct schema_checker {
	struct arena *arena;
	struct schema_report *report;
	uint64_t work;
	bool stopped; /* enough errors, no work left, or no memory */
	bool failed;  /* no memory */
};

/* ---- complaints --------------------------------------------------------------------------- */

static void fail(struct schema_checker *checker)
{
	checker->failed = true;
	checker->stopped = true;
}

/* The next free row, or NULL when there is none. */
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
		fail(checker);
		return NULL;
	}
	return &report->errors[report->count];
}

static void __attribute__((format(printf, 5, 6)))
complain(struct schema_checker *checker, const struct place *rule, const struct place *at,
	const char *reason, const char *format, ...)
{
	struct schema_error *error = next_error(checker);
	char message[512];
	va_list args;

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
		fail(checker);
	else
		checker->report->count++;
}

/* Takes work from the budget; false when it is spent, which is an error of its own. */
static bool spend(struct schema_checker *checker, const struct schema_rule *rule,
	const struct place *at, uint64_t cost)
{
	if (checker->stopped)
		return false;
	if (cost <= checker->work) {
		checker->work -= cost;
		return true;
	}
	checker->work = 0;
	complain(checker, &rule->place, at, "work", "checking this takes too much work");
	checker->report->more = true;
	checker->stopped = true;
	return false;
}

/* A value of the schema as JSON, for a message. */
static const char *said(struct schema_checker *checker, const struct value *value)
{
	struct bytes text;

	if (json_write_text(checker->arena, value, JSON_WRITE_COMPACT, SAID_MAX, &text, NULL) < 0)
		return "what the schema says";
	return text.data;
}

/* ---- any value ---------------------------------------------------------------------------- */

/* "string or null" */
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
	complain(checker, &rule->place, at, "type", "must be %s, not %s",
		types_said(rule->types, wanted, sizeof(wanted)),
		types_said(types, found, sizeof(found)));
}

void schema_check_enum(struct schema_checker *checker, const struct schema_rule *rule,
	const struct value *value, const struct place *at)
{
	if (!spend(checker, rule, at, rule->weight))
		return;
	for (size_t i = 0; i < rule->text->list.count; i++) {
		if (value_equal(rule->text->list.items[i], value))
			return;
	}
	complain(
		checker, &rule->place, at, "value", "must be one of %s", said(checker, rule->text));
}

void schema_check_const(struct schema_checker *checker, const struct schema_rule *rule,
	const struct value *value, const struct place *at)
{
	if (spend(checker, rule, at, rule->weight) && !value_equal(rule->text, value))
		complain(checker, &rule->place, at, "value", "must be %s",
			said(checker, rule->text));
}

/* ---- numbers ------------------------------------------------------------------------------ */

static void check_range(struct schema_checker *checker, const struct schema_rule *rule, bool good,
	const struct place *at, const char *words)
{
	if (!good)
		complain(checker, &rule->place, at, "range", "must be %s %s", words,
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
	if (!spend(checker, rule, at, value->text.len / BYTES_PER_STEP))
		return;
	if (length_of(value) < rule->count)
		complain(checker, &rule->place, at, "too_short", "must have at least %llu %s",
			(unsigned long long)rule->count, units_of(value));
}

void schema_check_max_length(struct schema_checker *checker, const struct schema_rule *rule,
	const struct value *value, const struct place *at)
{
	if (!spend(checker, rule, at, value->text.len / BYTES_PER_STEP))
		return;
	if (length_of(value) > rule->count)
		complain(checker, &rule->place, at, "too_long", "must have at most %llu %s",
			(unsigned long long)rule->count, units_of(value));
}

void schema_check_pattern(struct schema_checker *checker, const struct schema_rule *rule,
	const struct value *value, const struct place *at)
{
	switch (pattern_search(rule->pattern, value->text.bytes, value->text.len, &checker->work)) {
	case PATTERN_YES:
		return;
	case PATTERN_NO:
		complain(checker, &rule->place, at, "value", "must match the pattern %s",
			said(checker, rule->text));
		return;
	case PATTERN_GAVE_UP:
		(void)spend(checker, rule, at, UINT64_MAX);
		return;
	}
}

/* ---- lists and maps ----------------------------------------------------------------------- */

static void check_node(struct schema_checker *checker, const struct schema *schema,
	const struct value *value, const struct place *at);

static void check_least(struct schema_checker *checker, const struct schema_rule *rule,
	size_t count, const struct place *at, const char *what)
{
	if (count < rule->count)
		complain(checker, &rule->place, at, "too_short", "must have at least %llu %s",
			(unsigned long long)rule->count, what);
}

static void check_most(struct schema_checker *checker, const struct schema_rule *rule, size_t count,
	const struct place *at, const char *what)
{
	if (count > rule->count)
		complain(checker, &rule->place, at, "too_long", "must have at most %llu %s",
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
		(void)spend(checker, rule, at, UINT64_MAX);
	if (found <= 0)
		return;
	place = place_item(at, second);
	complain(checker, &rule->place, &place, "duplicate", "is the same as item %zu", first);
}

void schema_check_prefix_items(struct schema_checker *checker, const struct schema_rule *rule,
	const struct value *value, const struct place *at)
{
	for (size_t i = 0; i < rule->list.count && i < value->list.count; i++) {
		struct place place = place_item(at, i);

		check_node(checker, rule->list.items[i], value->list.items[i], &place);
	}
}

void schema_check_items(struct schema_checker *checker, const struct schema_rule *rule,
	const struct value *value, const struct place *at)
{
	size_t first = rule->beside ? rule->beside->list.count : 0;

	for (size_t i = first; i < value->list.count && !checker->stopped; i++) {
		struct place place = place_item(at, i);

		check_node(checker, rule->schema, value->list.items[i], &place);
	}
}

void schema_check_required(struct schema_checker *checker, const struct schema_rule *rule,
	const struct value *value, const struct place *at)
{
	for (size_t i = 0; i < rule->text->list.count; i++) {
		const struct value *name = rule->text->list.items[i];
		struct place place = place_key(at, name->text.bytes, name->text.len);

		if (!spend(checker, rule, at, 1 + value->map.count / 8))
			return;
		if (!value_get_len(value, name->text.bytes, name->text.len))
			complain(checker, &rule->place, &place, "missing", "this key is required");
	}
}

void schema_check_properties(struct schema_checker *checker, const struct schema_rule *rule,
	const struct value *value, const struct place *at)
{
	for (size_t i = 0; i < value->map.count && !checker->stopped; i++) {
		const struct value_entry *entry = &value->map.entries[i];
		const struct schema *schema = schema_member_find(rule, entry->key, entry->key_len);
		struct place place = place_key(at, entry->key, entry->key_len);

		if (schema && spend(checker, rule, at, 1))
			check_node(checker, schema, entry->value, &place);
	}
}

/* The keys that would have been known, so that a misspelling is seen at once. */
static const char *keys_said(struct schema_checker *checker, const struct schema_rule *properties)
{
	char text[400];
	size_t len = 0;

	if (!properties || properties->map.count == 0)
		return "none";
	text[0] = '\0';
	for (size_t i = 0; i < properties->map.count && len < sizeof(text) - 8; i++) {
		const struct schema_member *member = &properties->map.members[i];

		cut_printf(text + len, sizeof(text) - len, "%s%s", len ? ", " : "", member->key);
		len = strlen(text);
	}
	return arena_strdup(checker->arena, text);
}

static void complain_unknown(
	struct schema_checker *checker, const struct schema_rule *rule, const struct place *at)
{
	const char *known = keys_said(checker, rule->beside);

	complain(checker, &rule->place, at, "unknown_key",
		"this key is not known here; known are: %s", known ? known : "");
}

void schema_check_additional_properties(struct schema_checker *checker,
	const struct schema_rule *rule, const struct value *value, const struct place *at)
{
	for (size_t i = 0; i < value->map.count && spend(checker, rule, at, 1); i++) {
		const struct value_entry *entry = &value->map.entries[i];
		struct place place = place_key(at, entry->key, entry->key_len);

		if (schema_member_find(rule->beside, entry->key, entry->key_len))
			continue;
		if (rule->schema->never)
			complain_unknown(checker, rule, &place);
		else
			check_node(checker, rule->schema, entry->value, &place);
	}
}

/* ---- the walk ----------------------------------------------------------------------------- */

/* Recursion is bounded by the depth of the schema. */
static void check_node(struct schema_checker *checker, const struct schema *schema,
	const struct value *value, const struct place *at)
{
	unsigned types = schema_types_of(value);

	if (schema->never)
		complain(checker, schema->place, at, "value", "nothing is allowed here");
	for (size_t i = 0; i < schema->rule_count && !checker->stopped; i++) {
		const struct schema_rule *rule = &schema->rules[i];
		bool applies = rule->keyword->applies == SCHEMA_ANY ||
			       (rule->keyword->applies & types) != 0;

		if (applies && spend(checker, rule, at, 1))
			rule->keyword->check(checker, rule, value, at);
	}
}

/* NOLINTNEXTLINE(readability-function-size): what there is to say about a check */
int schema_check_within(struct arena *arena, const struct schema *schema, const struct value *value,
	uint64_t work, struct schema_report *ret_report, bool *ret_spent, struct err *err)
{
	struct schema_report report = { NULL, 0, false };
	struct schema_checker checker = { .arena = arena, .report = &report, .work = work };

	check_node(&checker, schema, value, NULL);
	if (checker.failed)
		return err_set(err, ERR_MEMORY, "no memory for checking a value");
	*ret_report = report;
	*ret_spent = checker.work == 0;
	return 0;
}

int schema_check(struct arena *arena, const struct schema *schema, const struct value *value,
	struct schema_report *ret_report, struct err *err)
{
	bool spent = false;

	return schema_check_within(arena, schema, value, SCHEMA_WORK_MAX, ret_report, &spent, err);
}
