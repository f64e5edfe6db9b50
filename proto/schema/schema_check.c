/*
 * Checks a value against a compiled schema: the errors, the keywords that concern only the value
 * itself, the walk, and the keywords with inner schemas.
 */
#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/buf.h"
#include "proto/base/nearest.h"
#include "proto/base/utf8.h"
#include "proto/json.h"
#include "proto/number.h"
#include "proto/schema/schema_rule.h"

/* A message quotes a value of the schema when its JSON is at most this long. */
#define SAID_MAX 400

/* Reading a text costs one step for this many bytes. */
#define BYTES_PER_STEP 64
/* Comparing a key with this many others costs one step. */
#define KEYS_PER_STEP  8
/* Making, adding and freeing this many words of struct schema_seen costs one step. */
#define WORDS_PER_STEP 8
/* Comparing two words for a hint costs one step for this many pairs of letters. */
#define PAIRS_PER_STEP 8
/* Writing a real in decimals costs so many steps. */
#define STEPS_OF_REAL  50
#define STEPS_OF_TINY  1000

/*
 * The items or keys of one value that some rule has evaluated; for unevaluatedItems and
 * unevaluatedProperties.
 */
struct schema_seen {
	uint64_t *bits;
	size_t count;
};

/* The resources that the check has entered, the innermost first; for $dynamicRef. */
struct schema_scope {
	const struct schema_resource *resource;
	const struct schema_scope *outer;
};

struct schema_checker {
	struct arena *arena;
	struct schema_report *report;
	uint64_t work;
	size_t depth;
	bool stopped;             /* enough errors, no work left, or no memory */
	bool failed;              /* no memory */
	bool quiet;               /* only find out whether there is an error */
	bool broken;              /* there is an error; for quiet checks */
	struct schema_seen *seen; /* of the current value; NULL: not needed */
	const struct schema_scope *scope;
};

/* ---- errors ------------------------------------------------------------------------------- */

static void schema_fail(struct schema_checker *checker)
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

/* Adds an error: `rule` is the place in the schema, `at` the place in the value. */
__attribute__((format(printf, 5, 6))) static void schema_complain(struct schema_checker *checker,
	const struct place *rule, const struct place *at, const char *reason, const char *format,
	...)
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

/* Whether more checking cannot change the result. */
static bool schema_has_enough(const struct schema_checker *checker)
{
	return checker->stopped || (checker->quiet && checker->broken);
}

/*
 * Subtracts work from the budget.  Returns false when the check has its result, or when the budget
 * is used up, which adds an error.
 */
static bool schema_spend_at(struct schema_checker *checker, const struct place *rule,
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
	schema_complain(checker, rule, at, "work", "checking this takes too much work");
	checker->report->more = true;
	checker->stopped = true;
	return false;
}

static bool schema_spend(struct schema_checker *checker, const struct schema_rule *rule,
	const struct place *at, uint64_t cost)
{
	return schema_spend_at(checker, &rule->place, at, cost);
}

/* Returns a value of the schema as JSON, for a message. */
static const char *said(struct schema_checker *checker, const struct value *value)
{
	struct bytes text;

	if (checker->quiet)
		return "";
	if (json_write_text(checker->arena, value, JSON_WRITE_COMPACT, SAID_MAX, &text, NULL) < 0)
		return "what the schema says";
	return text.data;
}

/* Leaves the word out when there is not enough work: a hint is no result. */
static void offer_hint(struct schema_checker *checker, struct nearest *nearest, const char *word)
{
	uint64_t cost = 1 + nearest_cost(nearest, word) / PAIRS_PER_STEP;

	if (checker->quiet || cost > checker->work)
		return;
	checker->work -= cost;
	nearest_offer(nearest, word);
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
	checker->broken = true;
	if (checker->quiet)
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
	struct nearest nearest = NEAREST_OF(NULL);

	if (!schema_spend(checker, rule, at, rule->weight))
		return;
	for (size_t i = 0; i < rule->text->list.count; i++) {
		if (value_equal(rule->text->list.items[i], value))
			return;
	}
	nearest.word = checker->quiet ? NULL : value_as_text(value);
	for (size_t i = 0; nearest.word && i < rule->text->list.count; i++) {
		const char *word = value_as_text(rule->text->list.items[i]);

		if (word)
			offer_hint(checker, &nearest, word);
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

void schema_check_range(struct schema_checker *checker, const struct schema_rule *rule,
	const struct value *value, const struct place *at)
{
	static const char *const words[] = { "at least", "at most", "above", "below" };
	const enum schema_bound bound = rule->keyword->bound;
	const int order = number_compare(value, rule->text);
	const bool good[] = { order >= 0, order <= 0, order > 0, order < 0 };

	if (!good[bound])
		schema_complain(checker, &rule->place, at, "range", "must be %s %s", words[bound],
			said(checker, rule->text));
}

/* A real becomes a decimal by trying its digits, which takes long for the smallest ones. */
static uint64_t cost_of_decimal(const struct value *number)
{
	if (number->type != VALUE_REAL)
		return 1;
	return fabs(number->real) < DBL_MIN ? STEPS_OF_TINY : STEPS_OF_REAL;
}

void schema_check_multiple_of(struct schema_checker *checker, const struct schema_rule *rule,
	const struct value *value, const struct place *at)
{
	if (schema_spend(checker, rule, at, cost_of_decimal(value) + cost_of_decimal(rule->text)) &&
		!number_is_multiple(value, rule->text))
		schema_complain(checker, &rule->place, at, "range", "must be a multiple of %s",
			said(checker, rule->text));
}

/* ---- texts -------------------------------------------------------------------------------- */

/* The characters, bytes, items or keys of a value, and what they are called. */
static uint64_t size_of(const struct value *value, const char **ret_units)
{
	if (value->type == VALUE_TEXT || value->type == VALUE_BYTES) {
		const bool is_text = value->type == VALUE_TEXT;

		*ret_units = is_text ? "characters" : "bytes";
		return is_text ? utf8_count(value->text.bytes, value->text.len) : value->text.len;
	}
	*ret_units = value->type == VALUE_LIST ? "items" : "keys";
	return value->type == VALUE_LIST ? value->list.count : value->map.count;
}

void schema_check_size(struct schema_checker *checker, const struct schema_rule *rule,
	const struct value *value, const struct place *at)
{
	const bool is_least = rule->keyword->bound == SCHEMA_AT_LEAST;
	const bool is_text = (rule->keyword->applies & SCHEMA_STRING) != 0;
	const char *units = NULL;
	uint64_t size;

	if (is_text && !schema_spend(checker, rule, at, value->text.len / BYTES_PER_STEP))
		return;
	size = size_of(value, &units);
	if (is_least ? size < rule->count : size > rule->count)
		schema_complain(checker, &rule->place, at, is_least ? "too_short" : "too_long",
			"must have at %s %llu %s", is_least ? "least" : "most",
			(unsigned long long)rule->count, units);
}

/*
 * Returns whether the text matches the pattern.  When that takes too much work, or there is no memory,
 * notes that and returns true.
 */
static bool schema_matches(struct schema_checker *checker, const struct schema_rule *rule,
	const struct pattern *pattern, const char *text, size_t len, const struct place *at)
{
	enum pattern_answer answer = pattern_search(pattern, text, len, &checker->work);

	if (answer == PATTERN_NO_MEMORY)
		checker->failed = checker->stopped = true;
	else if (answer == PATTERN_GAVE_UP)
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

/* The cost of comparing a key with some others: most differ in their length or their first bytes. */
static uint64_t cost_of_key(size_t len, size_t others)
{
	return 1 + (1 + len / BYTES_PER_STEP) * others / KEYS_PER_STEP;
}

/* False without work, too. */
static bool schema_has_key(struct schema_checker *checker, const struct schema_rule *rule,
	const struct value *value, const char *key, size_t len, const struct place *at)
{
	return schema_spend(checker, rule, at, cost_of_key(len, value->map.count)) &&
	       value_get_len(value, key, len);
}

/* Adds an error for each of these names that is not a key of the map. */
static void schema_require(struct schema_checker *checker, const struct schema_rule *rule,
	const struct value *names, const struct value *value, const struct place *at)
{
	for (size_t i = 0; i < names->list.count; i++) {
		const struct value *name = names->list.items[i];
		struct place place = place_key(at, name->text.bytes, name->text.len);
		bool found =
			schema_has_key(checker, rule, value, name->text.bytes, name->text.len, at);

		if (schema_has_enough(checker))
			return;
		if (!found)
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
	for (size_t i = 0; i < rule->map.count && !schema_has_enough(checker); i++) {
		const struct schema_member *member = &rule->map.members[i];

		if (schema_has_key(checker, rule, value, member->key, member->key_len, at))
			schema_require(checker, rule, member->names, value, at);
	}
}

/* ---- evaluated items and keys ---------------------------------------------------------------- */

static size_t parts_of(const struct value *value)
{
	if (value_is(value, VALUE_LIST))
		return value->list.count;
	return value_is(value, VALUE_MAP) ? value->map.count : 0;
}

static size_t words_of(size_t count)
{
	return count / 64 + 1;
}

/* The bits stay NULL when there is no work left for them. */
static void seen_init(struct schema_checker *checker, struct schema_seen *seen,
	const struct schema *schema, const struct value *value, const struct place *at)
{
	seen->count = parts_of(value);
	if (!schema_spend_at(
		    checker, schema->place, at, 1 + words_of(seen->count) / WORDS_PER_STEP))
		return;
	seen->bits = calloc(words_of(seen->count), sizeof(*seen->bits));
	if (!seen->bits)
		schema_fail(checker);
}

static void seen_done(struct schema_seen *seen)
{
	free(seen->bits);
}

static void mark(const struct schema_checker *checker, size_t index)
{
	if (checker->seen && checker->seen->bits)
		checker->seen->bits[index / 64] |= UINT64_C(1) << index % 64;
}

static bool is_marked(const struct schema_seen *seen, size_t index)
{
	return seen->bits && seen->bits[index / 64] & UINT64_C(1) << index % 64;
}

/* Both must be of the same value. */
static void seen_add(struct schema_seen *to, const struct schema_seen *from)
{
	for (size_t i = 0; to && to->bits && from->bits && i < words_of(from->count); i++)
		to->bits[i] |= from->bits[i];
}

/* ---- the walk -------------------------------------------------------------------------------- */

static void check_rules(struct schema_checker *checker, const struct schema *schema,
	const struct value *value, const struct place *at)
{
	unsigned types = schema_types_of(value);

	if (schema->never)
		schema_complain(checker, schema->place, at, "value", "nothing is allowed here");
	for (size_t i = 0; i < schema->rule_count && !schema_has_enough(checker); i++) {
		const struct schema_rule *rule = &schema->rules[i];
		bool applies = rule->keyword->applies == SCHEMA_ANY ||
			       (rule->keyword->applies & types) != 0;

		if (applies && schema_spend(checker, rule, at, 1))
			rule->keyword->check(checker, rule, value, at);
	}
}

/*
 * Checks a schema that needs to know what its rules have evaluated.  Adds that to the outer set,
 * too.
 */
static void check_with_seen(struct schema_checker *checker, const struct schema *schema,
	const struct value *value, const struct place *at)
{
	struct schema_seen *outer = checker->seen;
	struct schema_seen seen = { NULL, 0 };

	seen_init(checker, &seen, schema, value, at);
	checker->seen = &seen;
	check_rules(checker, schema, value, at);
	checker->seen = outer;
	seen_add(outer, &seen);
	seen_done(&seen);
}

/* Stops schemas that refer to each other endlessly. */
static bool is_too_deep(
	struct schema_checker *checker, const struct schema *schema, const struct place *at)
{
	if (checker->depth < SCHEMA_CHECK_DEPTH_MAX || schema_has_enough(checker))
		return false;
	checker->quiet = false;
	checker->work = 0;
	schema_complain(checker, schema->place, at, "work",
		"this check leads through more than %d nested schemas", SCHEMA_CHECK_DEPTH_MAX);
	checker->report->more = true;
	checker->stopped = true;
	return true;
}

/* Recursion is bounded by SCHEMA_CHECK_DEPTH_MAX. */
static void check_node(struct schema_checker *checker, const struct schema *schema,
	const struct value *value, const struct place *at)
{
	const struct schema_scope *outer = checker->scope;
	struct schema_scope scope = { schema->resource, outer };

	if (is_too_deep(checker, schema, at) || !schema_spend_at(checker, schema->place, at, 1))
		return;
	if (!outer || outer->resource != schema->resource)
		checker->scope = &scope;
	checker->depth++;
	if (schema->unevaluated)
		check_with_seen(checker, schema, value, at);
	else
		check_rules(checker, schema, value, at);
	checker->depth--;
	checker->scope = outer;
}

/* Checks a part of a value.  Evaluated items of the part do not count for the value. */
static void check_part(struct schema_checker *checker, const struct schema *schema,
	const struct value *part, const struct place *at)
{
	struct schema_seen *seen = checker->seen;

	checker->seen = NULL;
	check_node(checker, schema, part, at);
	checker->seen = seen;
}

/* Whether a value satisfies a schema.  Adds no errors.  Evaluated items count only when it does. */
static bool holds(struct schema_checker *checker, const struct schema *schema,
	const struct value *value, const struct place *at)
{
	struct schema_seen *outer = checker->seen;
	struct schema_seen seen = { NULL, 0 };
	bool quiet = checker->quiet;
	bool broken = checker->broken;
	bool good;

	if (outer)
		seen_init(checker, &seen, schema, value, at);
	checker->seen = outer ? &seen : NULL;
	checker->quiet = true;
	checker->broken = false;
	check_node(checker, schema, value, at);
	good = !checker->broken && !checker->stopped;
	checker->quiet = quiet;
	checker->broken = broken || checker->stopped;
	checker->seen = outer;
	if (good)
		seen_add(outer, &seen);
	seen_done(&seen);
	return good;
}

/* As holds(), for a part of a value. */
static bool part_holds(struct schema_checker *checker, const struct schema *schema,
	const struct value *part, const struct place *at)
{
	struct schema_seen *seen = checker->seen;
	bool good;

	checker->seen = NULL;
	good = holds(checker, schema, part, at);
	checker->seen = seen;
	return good;
}

/* ---- lists ----------------------------------------------------------------------------------- */

static void check_item(struct schema_checker *checker, const struct schema *schema,
	const struct value *list, size_t index, const struct place *at)
{
	struct place place = place_item(at, index);

	check_part(checker, schema, list->list.items[index], &place);
	mark(checker, index);
}

void schema_check_prefix_items(struct schema_checker *checker, const struct schema_rule *rule,
	const struct value *value, const struct place *at)
{
	for (size_t i = 0;
		i < rule->list.count && i < value->list.count && !schema_has_enough(checker); i++)
		check_item(checker, rule->list.items[i], value, i, at);
}

void schema_check_items(struct schema_checker *checker, const struct schema_rule *rule,
	const struct value *value, const struct place *at)
{
	size_t first = rule->beside[0] ? rule->beside[0]->list.count : 0;

	for (size_t i = first; i < value->list.count && schema_spend(checker, rule, at, 1); i++)
		check_item(checker, rule->schema, value, i, at);
}

/* Up to 2019-09: one schema for all items, or a list with one for each of the first items. */
void schema_check_former_items(struct schema_checker *checker, const struct schema_rule *rule,
	const struct value *value, const struct place *at)
{
	if (value_is(rule->text, VALUE_LIST))
		schema_check_prefix_items(checker, rule, value, at);
	else
		schema_check_items(checker, rule, value, at);
}

/* Applies only after a list of schemas.  One schema for all items leaves no additional items. */
void schema_check_additional_items(struct schema_checker *checker, const struct schema_rule *rule,
	const struct value *value, const struct place *at)
{
	if (rule->beside[0] && value_is(rule->beside[0]->text, VALUE_LIST))
		schema_check_items(checker, rule, value, at);
}

void schema_check_contains(struct schema_checker *checker, const struct schema_rule *rule,
	const struct value *value, const struct place *at)
{
	/* Up to 2019-09, items that `contains` found still count as unevaluated. */
	const bool counts_as_seen = rule->keyword->drafts == SCHEMA_DRAFT_2020_12;
	uint64_t least = rule->beside[0] ? rule->beside[0]->count : 1;
	uint64_t most = rule->beside[1] ? rule->beside[1]->count : UINT64_MAX;
	uint64_t found = 0;

	for (size_t i = 0; i < value->list.count && schema_spend(checker, rule, at, 1); i++) {
		struct place place = place_item(at, i);

		if (!part_holds(checker, rule->schema, value->list.items[i], &place))
			continue;
		if (counts_as_seen)
			mark(checker, i);
		found++;
	}
	if (found < least)
		schema_complain(checker, &rule->place, at, "too_short",
			"must contain at least %llu items of this kind, not %llu",
			(unsigned long long)least, (unsigned long long)found);
	if (found > most)
		schema_complain(checker, &rule->place, at, "too_long",
			"must contain at most %llu items of this kind, not %llu",
			(unsigned long long)most, (unsigned long long)found);
}

void schema_check_unevaluated_items(struct schema_checker *checker, const struct schema_rule *rule,
	const struct value *value, const struct place *at)
{
	for (size_t i = 0; i < value->list.count && schema_spend(checker, rule, at, 1); i++)
		if (!is_marked(checker->seen, i))
			check_item(checker, rule->schema, value, i, at);
}

/* ---- maps ------------------------------------------------------------------------------------ */

static void check_entry(struct schema_checker *checker, const struct schema *schema,
	const struct value *map, size_t index, const struct place *at)
{
	const struct value_entry *entry = &map->map.entries[index];
	struct place place = place_key(at, entry->key, entry->key_len);

	check_part(checker, schema, entry->value, &place);
	mark(checker, index);
}

/* Finding the schema of a key costs more for a long one. */
static bool spend_entry(struct schema_checker *checker, const struct schema_rule *rule,
	const struct value *map, size_t index, const struct place *at)
{
	return schema_spend(
		checker, rule, at, 1 + map->map.entries[index].key_len / BYTES_PER_STEP);
}

void schema_check_properties(struct schema_checker *checker, const struct schema_rule *rule,
	const struct value *value, const struct place *at)
{
	for (size_t i = 0; i < value->map.count && spend_entry(checker, rule, value, i, at); i++) {
		const struct value_entry *entry = &value->map.entries[i];
		const struct schema *schema = schema_member_find(rule, entry->key, entry->key_len);

		if (schema)
			check_entry(checker, schema, value, i, at);
	}
}

static bool key_matches(struct schema_checker *checker, const struct schema_rule *rule,
	const struct schema_member *member, const struct value_entry *entry, const struct place *at)
{
	return schema_spend(checker, rule, at, 1) &&
	       schema_matches(checker, rule, member->pattern, entry->key, entry->key_len, at);
}

void schema_check_pattern_properties(struct schema_checker *checker, const struct schema_rule *rule,
	const struct value *value, const struct place *at)
{
	for (size_t i = 0; i < value->map.count && !schema_has_enough(checker); i++)
		for (size_t j = 0; j < rule->map.count && !schema_has_enough(checker); j++)
			if (key_matches(checker, rule, &rule->map.members[j],
				    &value->map.entries[i], at))
				check_entry(checker, rule->map.members[j].schema, value, i, at);
}

/* Lists the known keys for the message, so that the user sees a misspelling at once. */
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

static void complain_unknown(struct schema_checker *checker, const struct schema_rule *rule,
	const struct schema_rule *properties, const struct value_entry *entry,
	const struct place *at)
{
	struct place place = place_key(at, entry->key, entry->key_len);
	const char *known = checker->quiet ? "" : keys_said(checker, properties);
	struct nearest nearest = NEAREST_OF(entry->key);

	for (size_t i = 0; properties && i < properties->map.count && !checker->quiet; i++)
		offer_hint(checker, &nearest, properties->map.members[i].key);
	schema_complain(checker, &rule->place, &place, "unknown_key",
		nearest.best ? "this key is not known here%s Known are: %s"
			     : "this key is not known here%s; known are: %s",
		nearest_hint(&nearest), known ? known : "");
}

/* Whether `properties` or `patternProperties` of the same schema apply to this key. */
static bool is_named(struct schema_checker *checker, const struct schema_rule *rule,
	const struct value_entry *entry, const struct place *at)
{
	const struct schema_rule *patterns = rule->beside[1];

	if (schema_member_find(rule->beside[0], entry->key, entry->key_len))
		return true;
	for (size_t i = 0; patterns && i < patterns->map.count && !schema_has_enough(checker); i++)
		if (key_matches(checker, rule, &patterns->map.members[i], entry, at))
			return true;
	return false;
}

void schema_check_additional_properties(struct schema_checker *checker,
	const struct schema_rule *rule, const struct value *value, const struct place *at)
{
	for (size_t i = 0; i < value->map.count && spend_entry(checker, rule, value, i, at); i++) {
		const struct value_entry *entry = &value->map.entries[i];

		if (is_named(checker, rule, entry, at))
			continue;
		if (rule->schema->never)
			complain_unknown(checker, rule, rule->beside[0], entry, at);
		else
			check_entry(checker, rule->schema, value, i, at);
	}
}

void schema_check_unevaluated_properties(struct schema_checker *checker,
	const struct schema_rule *rule, const struct value *value, const struct place *at)
{
	for (size_t i = 0; i < value->map.count && schema_spend(checker, rule, at, 1); i++) {
		if (is_marked(checker->seen, i))
			continue;
		if (rule->schema->never)
			complain_unknown(checker, rule, NULL, &value->map.entries[i], at);
		else
			check_entry(checker, rule->schema, value, i, at);
	}
}

void schema_check_property_names(struct schema_checker *checker, const struct schema_rule *rule,
	const struct value *value, const struct place *at)
{
	for (size_t i = 0; i < value->map.count && spend_entry(checker, rule, value, i, at); i++) {
		const struct value_entry *entry = &value->map.entries[i];
		struct place place = place_key(at, entry->key, entry->key_len);
		const struct value name = { .type = VALUE_TEXT,
			.text = { .bytes = entry->key, .len = entry->key_len } };

		check_part(checker, rule->schema, &name, &place);
	}
}

void schema_check_dependent_schemas(struct schema_checker *checker, const struct schema_rule *rule,
	const struct value *value, const struct place *at)
{
	for (size_t i = 0; i < rule->map.count && !schema_has_enough(checker); i++) {
		const struct schema_member *member = &rule->map.members[i];

		if (schema_has_key(checker, rule, value, member->key, member->key_len, at))
			check_node(checker, member->schema, value, at);
	}
}

/* A key requires other keys, or a schema. */
void schema_check_dependencies(struct schema_checker *checker, const struct schema_rule *rule,
	const struct value *value, const struct place *at)
{
	for (size_t i = 0; i < rule->map.count && !schema_has_enough(checker); i++) {
		const struct schema_member *member = &rule->map.members[i];

		if (!schema_has_key(checker, rule, value, member->key, member->key_len, at))
			continue;
		if (member->names)
			schema_require(checker, rule, member->names, value, at);
		else
			check_node(checker, member->schema, value, at);
	}
}

/* ---- the same value again -------------------------------------------------------------------- */

void schema_check_ref(struct schema_checker *checker, const struct schema_rule *rule,
	const struct value *value, const struct place *at)
{
	check_node(checker, rule->schema, value, at);
}

static const struct schema *dynamic_in(const struct schema_resource *resource, const char *name)
{
	for (const struct schema_anchor *at = resource->anchors; at; at = at->next)
		if (at->dynamic && strcmp(at->name, name) == 0)
			return at->schema;
	return NULL;
}

/* Uses the outermost resource of the current scope that has a dynamic anchor of this name. */
void schema_check_dynamic_ref(struct schema_checker *checker, const struct schema_rule *rule,
	const struct value *value, const struct place *at)
{
	const struct schema *meant = rule->schema;

	for (const struct schema_scope *scope = checker->scope; scope && rule->anchor;
		scope = scope->outer) {
		const struct schema *found = NULL;

		if (!schema_spend(checker, rule, at,
			    cost_of_key(strlen(rule->anchor), scope->resource->anchor_count)))
			return;
		found = dynamic_in(scope->resource, rule->anchor);
		meant = found ? found : meant;
	}
	check_node(checker, meant, value, at);
}

void schema_check_all_of(struct schema_checker *checker, const struct schema_rule *rule,
	const struct value *value, const struct place *at)
{
	for (size_t i = 0; i < rule->list.count && !schema_has_enough(checker); i++)
		check_node(checker, rule->list.items[i], value, at);
}

/* Stops at the first match, unless the evaluated items are needed; then it must try all schemas. */
void schema_check_any_of(struct schema_checker *checker, const struct schema_rule *rule,
	const struct value *value, const struct place *at)
{
	size_t good = 0;

	for (size_t i = 0; i < rule->list.count && (!good || checker->seen) && !checker->stopped;
		i++)
		good += holds(checker, rule->list.items[i], value, at);
	if (!good)
		schema_complain(checker, &rule->place, at, "value",
			"must satisfy at least one of these %zu schemas", rule->list.count);
}

void schema_check_one_of(struct schema_checker *checker, const struct schema_rule *rule,
	const struct value *value, const struct place *at)
{
	size_t good[2] = { 0, 0 };
	size_t count = 0;

	for (size_t i = 0; i < rule->list.count && count < 2 && !checker->stopped; i++)
		if (holds(checker, rule->list.items[i], value, at))
			good[count++] = i;
	if (count == 0)
		schema_complain(checker, &rule->place, at, "value",
			"must satisfy one of these %zu schemas", rule->list.count);
	if (count > 1)
		schema_complain(checker, &rule->place, at, "value",
			"must satisfy only one of these schemas, not both %zu and %zu", good[0],
			good[1]);
}

void schema_check_not(struct schema_checker *checker, const struct schema_rule *rule,
	const struct value *value, const struct place *at)
{
	if (holds(checker, rule->schema, value, at))
		schema_complain(checker, &rule->place, at, "value", "must not satisfy this schema");
}

void schema_check_if(struct schema_checker *checker, const struct schema_rule *rule,
	const struct value *value, const struct place *at)
{
	bool good = holds(checker, rule->schema, value, at);
	const struct schema_rule *then = rule->beside[good ? 0 : 1];

	if (then)
		check_node(checker, then->schema, value, at);
}

/* For keywords that only affect other keywords of the same schema. */
void schema_check_nothing(struct schema_checker *checker, const struct schema_rule *rule,
	const struct value *value, const struct place *at)
{
	(void)checker;
	(void)rule;
	(void)value;
	(void)at;
}

/* ---- a whole check --------------------------------------------------------------------------- */

int schema_check_within(struct arena *arena, const struct schema *schema, const struct value *value,
	uint64_t *work, struct schema_report *ret_report, struct err *err)
{
	struct schema_report report = { NULL, 0, false };
	struct schema_checker checker = { .arena = arena, .report = &report, .work = *work };

	check_node(&checker, schema, value, NULL);
	*work = checker.work;
	if (checker.failed)
		return err_set(err, ERR_MEMORY, "no memory for checking a value");
	*ret_report = report;
	return 0;
}

int schema_check(struct arena *arena, const struct schema *schema, const struct value *value,
	struct schema_report *ret_report, struct err *err)
{
	uint64_t work = SCHEMA_WORK_MAX;

	return schema_check_within(arena, schema, value, &work, ret_report, err);
}
