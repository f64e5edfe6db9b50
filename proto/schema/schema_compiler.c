/* Compiles the text of a schema: the value of each keyword, the table of keywords, the walk. */
#include "proto/schema/schema_compiler.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "proto/base/container.h"
#include "proto/number.h"

int schema_wrong(
	struct schema_compiler *compiler, const struct place *place, const char *format, ...)
{
	char message[256];
	va_list args;

	va_start(args, format);
	cut_vprintf(message, sizeof(message), format, args);
	va_end(args);
	compiler->mistake->message = arena_strdup(compiler->arena, message);
	compiler->mistake->pointer = place_text(compiler->arena, place);
	return compiler->mistake->message && compiler->mistake->pointer ? 1 : -1;
}

const struct place *schema_kept_place(struct schema_compiler *compiler, struct place place)
{
	struct place *kept = arena_new(compiler->arena, struct place);

	if (kept)
		*kept = place;
	return kept;
}

const struct schema_type_word schema_type_words[] = {
	{ "null", SCHEMA_NULL },
	{ "boolean", SCHEMA_BOOLEAN },
	{ "integer", SCHEMA_INTEGER },
	{ "number", SCHEMA_NUMBER },
	{ "string", SCHEMA_STRING },
	{ "array", SCHEMA_ARRAY },
	{ "object", SCHEMA_OBJECT },
	{ "bytes", SCHEMA_BYTES },
	{ NULL, 0 },
};

/* ---- values of keywords ------------------------------------------------------------------- */

static int schema_compile_annotation(struct schema_compiler *compiler, struct schema_rule *rule)
{
	(void)compiler;
	(void)rule;
	return 0;
}

static unsigned type_of_word(const struct schema_compiler *compiler, const struct value *word)
{
	const char *text = value_as_text(word);

	for (const struct schema_type_word *row = schema_type_words; text && row->word; row++) {
		if (row->type == SCHEMA_BYTES && compiler->dialect != SCHEMA_WIRE)
			continue;
		if (strcmp(row->word, text) != 0)
			continue;
		if (row->type == SCHEMA_INTEGER && compiler->dialect == SCHEMA_WIRE)
			return SCHEMA_WHOLE;
		return row->type;
	}
	return 0;
}

static int schema_compile_type(struct schema_compiler *compiler, struct schema_rule *rule)
{
	const struct value *text = rule->text;
	bool is_list = value_is(text, VALUE_LIST) && text->list.count > 0;

	for (size_t i = 0; i < (is_list ? text->list.count : 1); i++) {
		unsigned type = type_of_word(compiler, is_list ? text->list.items[i] : text);

		if (!type)
			return schema_wrong(
				compiler, &rule->place, "must be the name of a type, or several");
		rule->types |= type;
	}
	return 0;
}

static int schema_compile_enum(struct schema_compiler *compiler, struct schema_rule *rule)
{
	if (!value_is(rule->text, VALUE_LIST))
		return schema_wrong(compiler, &rule->place, "must be a list of values");
	rule->weight = schema_weight(rule->text);
	return 0;
}

static int schema_compile_const(struct schema_compiler *compiler, struct schema_rule *rule)
{
	(void)compiler;
	rule->weight = schema_weight(rule->text);
	return 0;
}

static int schema_compile_number(struct schema_compiler *compiler, struct schema_rule *rule)
{
	if (!number_is(rule->text))
		return schema_wrong(compiler, &rule->place, "must be a number");
	return 0;
}

static int schema_compile_step(struct schema_compiler *compiler, struct schema_rule *rule)
{
	const struct value zero = { .type = VALUE_INT };

	if (!number_is(rule->text) || number_compare(rule->text, &zero) <= 0)
		return schema_wrong(compiler, &rule->place, "must be a number above 0");
	return 0;
}

static int schema_compile_count(struct schema_compiler *compiler, struct schema_rule *rule)
{
	if (number_as_u64(rule->text, &rule->count) < 0)
		return schema_wrong(compiler, &rule->place, "must be a whole number, 0 or above");
	return 0;
}

static int schema_compile_switch(struct schema_compiler *compiler, struct schema_rule *rule)
{
	if (!value_is(rule->text, VALUE_BOOL))
		return schema_wrong(compiler, &rule->place, "must be true or false");
	rule->on = rule->text->boolean;
	return 0;
}

static int compile_expression(struct schema_compiler *compiler, const char *text, size_t len,
	const struct place *place, const struct pattern **ret_pattern)
{
	struct err err = ERR_INIT;

	if (++compiler->patterns > SCHEMA_PATTERNS_MAX)
		return schema_wrong(compiler, place, "the schema has more than %d patterns",
			SCHEMA_PATTERNS_MAX);
	if (pattern_compile(compiler->arena, text, len, ret_pattern, &err) < 0) {
		if (err.code == ERR_MEMORY)
			return -1;
		return schema_wrong(compiler, place, "is not a regular expression: %s", err.text);
	}
	compiler->pattern_bytes += pattern_size(*ret_pattern);
	if (compiler->pattern_bytes > SCHEMA_PATTERN_BYTES_MAX)
		return schema_wrong(compiler, place, "the patterns are too large together");
	return 0;
}

static int schema_compile_pattern(struct schema_compiler *compiler, struct schema_rule *rule)
{
	if (!value_is(rule->text, VALUE_TEXT))
		return schema_wrong(compiler, &rule->place, "must be a regular expression");
	return compile_expression(compiler, rule->text->text.bytes, rule->text->text.len,
		&rule->place, &rule->pattern);
}

static int schema_compile_schema(struct schema_compiler *compiler, struct schema_rule *rule)
{
	return schema_compile_node(compiler, rule->text, &rule->place, &rule->schema);
}

static int schema_compile_schemas(struct schema_compiler *compiler, struct schema_rule *rule)
{
	const struct value *text = rule->text;

	if (!value_is(text, VALUE_LIST) || text->list.count == 0)
		return schema_wrong(compiler, &rule->place, "must be a list of schemas");
	rule->list.count = text->list.count;
	rule->list.items = arena_array(compiler->arena, const struct schema *, text->list.count);
	if (!rule->list.items)
		return -1;
	for (size_t i = 0; i < text->list.count; i++) {
		const struct place *place =
			schema_kept_place(compiler, place_item(&rule->place, i));
		int answer = place ? schema_compile_node(compiler, text->list.items[i], place,
					     &rule->list.items[i])
				   : -1;

		if (answer)
			return answer;
	}
	return 0;
}

/* Takes one schema for all items, or a list with one for each item. */
static int schema_compile_former_items(struct schema_compiler *compiler, struct schema_rule *rule)
{
	if (value_is(rule->text, VALUE_LIST))
		return schema_compile_schemas(compiler, rule);
	return schema_compile_schema(compiler, rule);
}

static int compare_keys(const char *a, size_t a_len, const char *b, size_t b_len)
{
	int order = memcmp(a, b, a_len < b_len ? a_len : b_len);

	if (order)
		return order;
	return (a_len > b_len) - (a_len < b_len);
}

static int compare_members(const void *left, const void *right)
{
	const struct schema_member *a = left, *b = right;

	return compare_keys(a->key, a->key_len, b->key, b->key_len);
}

const struct schema *schema_member_find(
	const struct schema_rule *properties, const char *key, size_t key_len)
{
	const struct schema_member wanted = { .key = key, .key_len = key_len };
	const struct schema_member *found;

	if (!properties || !properties->map.count)
		return NULL;
	found = bsearch(&wanted, properties->map.members, properties->map.count, sizeof(wanted),
		compare_members);
	return found ? found->schema : NULL;
}

typedef int compile_member(struct schema_compiler *compiler, const struct value_entry *entry,
	const struct place *place, struct schema_member *member);

static int compile_map(struct schema_compiler *compiler, struct schema_rule *rule, const char *what,
	compile_member *compile)
{
	const struct value *text = rule->text;

	if (!value_is(text, VALUE_MAP))
		return schema_wrong(compiler, &rule->place, "must be an object of %s", what);
	rule->map.count = text->map.count;
	rule->map.members = arena_array(compiler->arena, struct schema_member, text->map.count);
	if (!rule->map.members)
		return -1;
	for (size_t i = 0; i < text->map.count; i++) {
		const struct value_entry *entry = &text->map.entries[i];
		const struct place *place = schema_kept_place(
			compiler, place_key(&rule->place, entry->key, entry->key_len));
		struct schema_member *member = &rule->map.members[i];
		int answer;

		*member = (struct schema_member){ .key = entry->key, .key_len = entry->key_len };
		answer = place ? compile(compiler, entry, place, member) : -1;
		if (answer)
			return answer;
	}
	qsort(rule->map.members, rule->map.count, sizeof(rule->map.members[0]), compare_members);
	return 0;
}

static int compile_property(struct schema_compiler *compiler, const struct value_entry *entry,
	const struct place *place, struct schema_member *member)
{
	return schema_compile_node(compiler, entry->value, place, &member->schema);
}

static int compile_pattern_property(struct schema_compiler *compiler,
	const struct value_entry *entry, const struct place *place, struct schema_member *member)
{
	int answer =
		compile_expression(compiler, entry->key, entry->key_len, place, &member->pattern);

	return answer ? answer : compile_property(compiler, entry, place, member);
}

static int schema_compile_members(struct schema_compiler *compiler, struct schema_rule *rule)
{
	return compile_map(compiler, rule, "schemas", compile_property);
}

static int schema_compile_patterns(struct schema_compiler *compiler, struct schema_rule *rule)
{
	return compile_map(compiler, rule, "schemas", compile_pattern_property);
}

static int must_be_names(
	struct schema_compiler *compiler, const struct value *text, const struct place *place)
{
	bool good = value_is(text, VALUE_LIST);

	for (size_t i = 0; good && i < text->list.count; i++)
		good = value_is(text->list.items[i], VALUE_TEXT);
	return good ? 0 : schema_wrong(compiler, place, "must be a list of names");
}

static int schema_compile_names(struct schema_compiler *compiler, struct schema_rule *rule)
{
	return must_be_names(compiler, rule->text, &rule->place);
}

static int compile_dependent(struct schema_compiler *compiler, const struct value_entry *entry,
	const struct place *place, struct schema_member *member)
{
	member->names = entry->value;
	return must_be_names(compiler, entry->value, place);
}

static int schema_compile_dependent_names(
	struct schema_compiler *compiler, struct schema_rule *rule)
{
	return compile_map(compiler, rule, "lists of names", compile_dependent);
}

static int compile_dependency(struct schema_compiler *compiler, const struct value_entry *entry,
	const struct place *place, struct schema_member *member)
{
	if (value_is(entry->value, VALUE_LIST))
		return compile_dependent(compiler, entry, place, member);
	return compile_property(compiler, entry, place, member);
}

static int schema_compile_dependencies(struct schema_compiler *compiler, struct schema_rule *rule)
{
	return compile_map(compiler, rule, "schemas and lists of names", compile_dependency);
}

static int schema_compile_text(struct schema_compiler *compiler, struct schema_rule *rule)
{
	if (!value_is(rule->text, VALUE_TEXT))
		return schema_wrong(compiler, &rule->place, "must be a text");
	return 0;
}

static int schema_compile_unevaluated(struct schema_compiler *compiler, struct schema_rule *rule)
{
	compiler->schema->unevaluated = true;
	return schema_compile_schema(compiler, rule);
}

/* ---- the keywords ------------------------------------------------------------------------- */

/* clang-format off */
#define WITH(name, drafts, room, applies, compile, check, ...) \
	{ name, drafts, SCHEMA_IN_##room, applies, schema_compile_##compile, check, __VA_ARGS__ }
#define ROW(drafts, room, name, word, types, compile, ...) \
	WITH(name, drafts, room, types, compile, schema_check_##word, .beside = { __VA_ARGS__ })
#define BOUND(name, word, types, compile, bounds) \
	WITH(name, ALL, VALIDATION, types, compile, schema_check_##word, .bound = SCHEMA_##bounds)
#define NOTE(drafts, name, compile) WITH(name, drafts, CORE, 0, compile, NULL, .beside = { NULL })
/* clang-format on */
#define ANY     SCHEMA_ANY
#define NUMBER  SCHEMA_NUMBER
#define STRING  SCHEMA_STRING
#define ARRAY   SCHEMA_ARRAY
#define OBJECT  SCHEMA_OBJECT
#define LENGTHY (SCHEMA_STRING | SCHEMA_BYTES)

#define D7         SCHEMA_DRAFT_7
#define D2019      SCHEMA_DRAFT_2019_09
#define D2020      SCHEMA_DRAFT_2020_12
#define SINCE_2019 (D2019 | D2020)
#define UNTIL_2019 (D7 | D2019)
#define ALL        (D7 | D2019 | D2020)

/*
 * The drafts and the vocabulary of each keyword.  Rules are checked in this order, so that the
 * first error is the most basic one.  unevaluated* come last, because they need the results of the
 * others.
 */
static const struct schema_keyword keywords[] = {
	/* clang-format off */
	NOTE(ALL,        "$schema",          dialect), /* first: its error explains most */
	NOTE(SINCE_2019, "$anchor",          anchor),
	NOTE(D2020,      "$dynamicAnchor",   dynamic_anchor),
	NOTE(D2019,      "$recursiveAnchor", recursive_anchor),
	ROW(ALL,        VALIDATION,  "type",                  type,                   ANY,     type,                NULL),
	ROW(ALL,        VALIDATION,  "enum",                  enum,                   ANY,     enum,                NULL),
	ROW(ALL,        VALIDATION,  "const",                 const,                  ANY,     const,               NULL),
	BOUND("minimum",           range, NUMBER, number, AT_LEAST),
	BOUND("maximum",           range, NUMBER, number, AT_MOST),
	BOUND("exclusiveMinimum",  range, NUMBER, number, ABOVE),
	BOUND("exclusiveMaximum",  range, NUMBER, number, BELOW),
	ROW(ALL,        VALIDATION,  "multipleOf",            multiple_of,            NUMBER,  step,                NULL),
	BOUND("minLength",         size, LENGTHY, count, AT_LEAST),
	BOUND("maxLength",         size, LENGTHY, count, AT_MOST),
	ROW(ALL,        VALIDATION,  "pattern",               pattern,                STRING,  pattern,             NULL),
	BOUND("minItems",          size, ARRAY, count, AT_LEAST),
	BOUND("maxItems",          size, ARRAY, count, AT_MOST),
	ROW(ALL,        VALIDATION,  "uniqueItems",           unique_items,           ARRAY,   switch,              NULL),
	ROW(D2020,      APPLICATOR,  "prefixItems",           prefix_items,           ARRAY,   schemas,             NULL),
	ROW(D2020,      APPLICATOR,  "items",                 items,                  ARRAY,   schema,              "prefixItems"),
	ROW(UNTIL_2019, APPLICATOR,  "items",                 former_items,           ARRAY,   former_items,        NULL),
	ROW(UNTIL_2019, APPLICATOR,  "additionalItems",       additional_items,       ARRAY,   schema,              "items"),
	ROW(SINCE_2019, VALIDATION,  "minContains",           nothing,                ARRAY,   count,               NULL),
	ROW(SINCE_2019, VALIDATION,  "maxContains",           nothing,                ARRAY,   count,               NULL),
	ROW(D2020,      APPLICATOR,  "contains",              contains,               ARRAY,   schema,              "minContains", "maxContains"),
	ROW(UNTIL_2019, APPLICATOR,  "contains",              contains,               ARRAY,   schema,              "minContains", "maxContains"),
	BOUND("minProperties",     size, OBJECT, count, AT_LEAST),
	BOUND("maxProperties",     size, OBJECT, count, AT_MOST),
	ROW(ALL,        APPLICATOR,  "additionalProperties",  additional_properties,  OBJECT,  schema,              "properties", "patternProperties"),
	ROW(ALL,        VALIDATION,  "required",              required,               OBJECT,  names,               NULL),
	ROW(SINCE_2019, VALIDATION,  "dependentRequired",     dependent_required,     OBJECT,  dependent_names,     NULL),
	ROW(ALL,        APPLICATOR,  "propertyNames",         property_names,         OBJECT,  schema,              NULL),
	ROW(ALL,        APPLICATOR,  "properties",            properties,             OBJECT,  members,             NULL),
	ROW(ALL,        APPLICATOR,  "patternProperties",     pattern_properties,     OBJECT,  patterns,            NULL),
	ROW(ALL,        CORE,        "$ref",                  ref,                    ANY,     reference,           NULL),
	ROW(D2020,      CORE,        "$dynamicRef",           dynamic_ref,            ANY,     reference,           NULL),
	ROW(D2019,      CORE,        "$recursiveRef",         dynamic_ref,            ANY,     recursive_reference, NULL),
	ROW(ALL,        APPLICATOR,  "allOf",                 all_of,                 ANY,     schemas,             NULL),
	ROW(ALL,        APPLICATOR,  "anyOf",                 any_of,                 ANY,     schemas,             NULL),
	ROW(ALL,        APPLICATOR,  "oneOf",                 one_of,                 ANY,     schemas,             NULL),
	ROW(ALL,        APPLICATOR,  "not",                   not,                    ANY,     schema,              NULL),
	ROW(ALL,        APPLICATOR,  "then",                  nothing,                ANY,     schema,              NULL),
	ROW(ALL,        APPLICATOR,  "else",                  nothing,                ANY,     schema,              NULL),
	ROW(ALL,        APPLICATOR,  "if",                    if,                     ANY,     schema,              "then", "else"),
	ROW(SINCE_2019, APPLICATOR,  "dependentSchemas",      dependent_schemas,      OBJECT,  members,             NULL),
	ROW(D7,         APPLICATOR,  "dependencies",          dependencies,           OBJECT,  dependencies,        NULL),
	ROW(SINCE_2019, UNEVALUATED, "unevaluatedItems",      unevaluated_items,      ARRAY,   unevaluated,         NULL),
	ROW(SINCE_2019, UNEVALUATED, "unevaluatedProperties", unevaluated_properties, OBJECT,  unevaluated,         NULL),
	ROW(ALL,        CORE,        "$defs",                 nothing,                0,       members,             NULL),
	ROW(ALL,        CORE,        "definitions",           nothing,                0,       members,             NULL), /* its old name */
	NOTE(SINCE_2019, "$id",              text), /* see schema_enter_resource() */
	NOTE(D7,         "$id",              identifier),
	NOTE(ALL,        "$comment",         annotation),
	NOTE(ALL,        "$vocabulary",      annotation),
	NOTE(ALL,        "title",            annotation),
	NOTE(ALL,        "description",      annotation),
	NOTE(ALL,        "default",          annotation),
	NOTE(ALL,        "examples",         annotation),
	NOTE(ALL,        "deprecated",       annotation),
	NOTE(ALL,        "readOnly",         annotation),
	NOTE(ALL,        "writeOnly",        annotation),
	NOTE(ALL,        "format",           annotation),
	NOTE(ALL,        "contentEncoding",  annotation),
	NOTE(ALL,        "contentMediaType", annotation),
	NOTE(ALL,        "contentSchema",    annotation),
	/* clang-format on */
};

/*
 * The names that keywords of other drafts have in a draft.  If they were ignored, the author would
 * believe that they apply.
 */
static const struct {
	unsigned drafts;
	const char *name, *instead;
} translations[] = {
	{ D2020, "additionalItems", "items, beside prefixItems" },
	{ D2020, "$recursiveRef", "$dynamicRef" },
	{ D2020, "$recursiveAnchor", "$dynamicAnchor" },
	{ SINCE_2019, "dependencies", "dependentRequired and dependentSchemas" },
	{ UNTIL_2019, "prefixItems", "items, with a list" },
	{ D2019, "$dynamicRef", "$recursiveRef" },
	{ D2019, "$dynamicAnchor", "$recursiveAnchor" },
	{ D7, "dependentRequired", "dependencies" },
	{ D7, "dependentSchemas", "dependencies" },
	{ D7, "$anchor", "$id, with a # before the name" },
};

static bool is_key(const struct value_entry *entry, const char *name)
{
	return strlen(name) == entry->key_len && memcmp(name, entry->key, entry->key_len) == 0;
}

/* Returns the row of a keyword in one of these drafts, or NULL. */
static const struct schema_keyword *keyword_find(const struct value_entry *entry, unsigned drafts)
{
	for (size_t i = 0; i < COUNT_OF(keywords); i++)
		if ((keywords[i].drafts & drafts) && is_key(entry, keywords[i].name))
			return &keywords[i];
	return NULL;
}

/* Whether `more` is `less` with one more letter. */
static bool is_one_more(const char *more, const char *less)
{
	while (*less && *more == *less) {
		more++;
		less++;
	}
	return *more && strcasecmp(more + 1, less) == 0;
}

/*
 * Whether `typed` is probably a misspelling: one letter more, less or different, two letters
 * swapped, or other capitals.
 */
static bool is_slip(const char *typed, const char *meant)
{
	if (strcasecmp(typed, meant) == 0 || is_one_more(typed, meant) || is_one_more(meant, typed))
		return true;
	while (*meant && *typed == *meant) {
		typed++;
		meant++;
	}
	if (!*typed || !*meant)
		return false;
	if (strcmp(typed + 1, meant + 1) == 0)
		return true;
	return typed[1] && meant[1] && typed[0] == meant[1] && typed[1] == meant[0] &&
	       strcmp(typed + 2, meant + 2) == 0;
}

/* Shorter keywords may be a user's own names that are only similar by chance. */
#define SLIP_LEN_MIN 5

static int refuse_other_draft(struct schema_compiler *compiler, const struct value_entry *entry,
	const struct place *here, const struct schema_draft *draft)
{
	for (size_t i = 0; i < COUNT_OF(translations); i++)
		if ((translations[i].drafts & draft->bit) && is_key(entry, translations[i].name))
			return schema_wrong(compiler, here,
				"keyword of another draft: in %s it is %s", draft->name,
				translations[i].instead);
	return schema_wrong(
		compiler, here, "keyword of another draft: %s does not have it", draft->name);
}

/*
 * Handles an unknown keyword.  The standard ignores unknown keywords.  But if a known keyword is
 * misspelled, ignoring it would accept invalid output, so this reports a mistake.
 */
static int refuse_strange(
	struct schema_compiler *compiler, const struct value_entry *entry, const struct place *here)
{
	const struct schema_draft *draft = compiler->resource->draft;

	if (compiler->dialect == SCHEMA_WIRE)
		return schema_wrong(compiler, here, "this keyword is not known");
	if (keyword_find(entry, ALL))
		return refuse_other_draft(compiler, entry, here, draft);
	for (size_t i = 0; i < COUNT_OF(keywords); i++)
		if ((keywords[i].drafts & draft->bit) && entry->key_len >= SLIP_LEN_MIN &&
			is_slip(entry->key, keywords[i].name))
			return schema_wrong(compiler, here, "unknown keyword; did you mean %s?",
				keywords[i].name);
	return 0;
}

static int look_for_strange(
	struct schema_compiler *compiler, const struct value *text, const struct place *place)
{
	for (size_t i = 0; i < text->map.count; i++) {
		const struct value_entry *entry = &text->map.entries[i];
		struct place here = place_key(place, entry->key, entry->key_len);
		int answer = keyword_find(entry, compiler->resource->draft->bit)
				     ? 0
				     : refuse_strange(compiler, entry, &here);

		if (answer)
			return answer;
	}
	return 0;
}

static int compile_rule(struct schema_compiler *compiler, const struct value *text,
	const struct schema_keyword *keyword, struct schema *schema)
{
	struct schema_rule *rule = &schema->rules[schema->rule_count];
	int answer;

	*rule = (struct schema_rule){ .keyword = keyword, .text = text };
	rule->place = place_key(schema->place, keyword->name, strlen(keyword->name));
	answer = keyword->compile(compiler, rule);
	if (keyword->check)
		schema->rule_count++; /* else the next rule takes its place */
	return answer;
}

static const struct schema_rule *rule_called(const struct schema *schema, const char *name)
{
	for (size_t i = 0; name && i < schema->rule_count; i++)
		if (strcmp(schema->rules[i].keyword->name, name) == 0)
			return &schema->rules[i];
	return NULL;
}

static void link_neighbours(struct schema *schema)
{
	for (size_t i = 0; i < schema->rule_count; i++)
		for (size_t j = 0; j < SCHEMA_BESIDE_MAX; j++)
			schema->rules[i].beside[j] =
				rule_called(schema, schema->rules[i].keyword->beside[j]);
}

/*
 * Up to draft 7, $ref disables the keywords beside it, except those to which references can lead.
 */
static bool is_silenced(const struct schema_keyword *keyword)
{
	return strcmp(keyword->name, "$ref") != 0 && (keyword->applies || !keyword->check);
}

static bool is_in_force(
	const struct schema_draft *draft, const struct schema_keyword *keyword, bool only_ref)
{
	return (keyword->drafts & draft->bit) && (keyword->room & draft->rooms) &&
	       !(only_ref && is_silenced(keyword));
}

static int compile_rules(
	struct schema_compiler *compiler, const struct value *text, struct schema *schema)
{
	const struct schema_draft *draft = compiler->resource->draft;
	bool only_ref = draft->bit == SCHEMA_DRAFT_7 && value_get(text, "$ref");
	int answer = only_ref ? 0 : look_for_strange(compiler, text, schema->place);

	if (answer)
		return answer;
	schema->rules = arena_array(compiler->arena, struct schema_rule, text->map.count + 1);
	if (!schema->rules)
		return -1;
	for (size_t i = 0; i < COUNT_OF(keywords); i++) {
		const struct value *behind = is_in_force(draft, &keywords[i], only_ref)
						     ? value_get(text, keywords[i].name)
						     : NULL;

		answer = behind ? compile_rule(compiler, behind, &keywords[i], schema) : 0;
		if (answer)
			return answer;
	}
	link_neighbours(schema);
	return 0;
}

/* ---- the walk ----------------------------------------------------------------------------- */

/* Compiles the content of a schema, inside the resource that it begins or that contains it. */
static int compile_inside(
	struct schema_compiler *compiler, const struct value *text, struct schema *schema)
{
	struct schema_resource *resource = compiler->resource;
	struct schema *outer = compiler->schema;
	int answer = schema_enter_resource(compiler, text, schema->place);

	schema->resource = compiler->resource;
	compiler->schema = schema;
	compiler->depth++;
	if (!answer && value_is(text, VALUE_MAP))
		answer = compile_rules(compiler, text, schema);
	compiler->depth--;
	compiler->schema = outer;
	compiler->resource = resource;
	return answer;
}

/* Recursion is bounded by SCHEMA_DEPTH_MAX. */
int schema_compile_node(struct schema_compiler *compiler, const struct value *text,
	const struct place *place, const struct schema **ret_schema)
{
	struct schema *schema = map_get(&compiler->made, &text, sizeof(text));

	*ret_schema = schema;
	if (schema)
		return 0;
	if (++compiler->nodes > SCHEMA_NODES_MAX)
		return schema_wrong(compiler, place, "the schema has more than %d inner schemas",
			SCHEMA_NODES_MAX);
	if (compiler->depth == SCHEMA_DEPTH_MAX)
		return schema_wrong(compiler, place, "nested deeper than %d", SCHEMA_DEPTH_MAX);
	if (!value_is(text, VALUE_BOOL) && !value_is(text, VALUE_MAP))
		return schema_wrong(compiler, place, "a schema is an object, true or false");
	schema = arena_new(compiler->arena, struct schema);
	if (!schema || map_put(&compiler->made, &text, sizeof(text), schema, NULL) < 0)
		return -1;

	schema->place = place;
	schema->never = value_is(text, VALUE_BOOL) && !text->boolean;
	*ret_schema = schema;
	return compile_inside(compiler, text, schema);
}

int schema_compile(struct arena *arena, const struct value *text, enum schema_dialect dialect,
	const struct schema **ret_schema, struct schema_mistake *ret_mistake, struct err *err)
{
	struct schema_mistake mistake = { .message = NULL };
	struct schema_compiler compiler = {
		.arena = arena, .dialect = dialect, .mistake = &mistake, .root = text
	};
	int answer;

	map_init(&compiler.made);
	answer = schema_compile_node(&compiler, text, NULL, ret_schema);
	if (!answer)
		answer = schema_follow_references(&compiler);
	map_done(&compiler.made);
	if (answer < 0)
		return err_set(err, ERR_MEMORY, "no memory for a schema");
	if (answer)
		*ret_mistake = mistake;
	return answer;
}
