#include "proto/schema.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/container.h"
#include "proto/number.h"
#include "proto/schema_rule.h"

#define DIALECT_2020_12 "https://json-schema.org/draft/2020-12/schema"

/*
 * Functions that compile return 0; 1 when the schema is wrong, with the mistake noted; -1 without
 * memory.
 */
struct schema_compiler {
	struct arena *arena;
	enum schema_dialect dialect;
	size_t nodes;
	size_t depth;
	size_t patterns;
	size_t pattern_bytes;
	struct schema_mistake *mistake;
};

static int compile_node(struct schema_compiler *compiler, const struct value *text,
	const struct place *place, const struct schema **ret_schema);

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

static int __attribute__((format(printf, 3, 4)))
wrong(struct schema_compiler *compiler, const struct place *place, const char *format, ...)
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

/* ---- what stands behind a keyword --------------------------------------------------------- */

static int compile_annotation(struct schema_compiler *compiler, struct schema_rule *rule)
{
	(void)compiler;
	(void)rule;
	return 0;
}

/* Other drafts give the same words other meanings. */
static int compile_dialect(struct schema_compiler *compiler, struct schema_rule *rule)
{
	const char *name = value_as_text(rule->text);
	size_t len = strlen(DIALECT_2020_12);

	if (name && strncmp(name, DIALECT_2020_12, len) == 0 &&
		(!name[len] || strcmp(name + len, "#") == 0))
		return 0;
	return wrong(compiler, &rule->place, "only %s is understood", DIALECT_2020_12);
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

static int compile_type(struct schema_compiler *compiler, struct schema_rule *rule)
{
	const struct value *text = rule->text;
	bool is_list = value_is(text, VALUE_LIST) && text->list.count > 0;

	for (size_t i = 0; i < (is_list ? text->list.count : 1); i++) {
		unsigned type = type_of_word(compiler, is_list ? text->list.items[i] : text);

		if (!type)
			return wrong(
				compiler, &rule->place, "must be the name of a type, or several");
		rule->types |= type;
	}
	return 0;
}

static int compile_enum(struct schema_compiler *compiler, struct schema_rule *rule)
{
	if (!value_is(rule->text, VALUE_LIST))
		return wrong(compiler, &rule->place, "must be a list of values");
	rule->weight = schema_weight(rule->text);
	return 0;
}

static int compile_const(struct schema_compiler *compiler, struct schema_rule *rule)
{
	(void)compiler;
	rule->weight = schema_weight(rule->text);
	return 0;
}

static int compile_number(struct schema_compiler *compiler, struct schema_rule *rule)
{
	if (!number_is(rule->text))
		return wrong(compiler, &rule->place, "must be a number");
	return 0;
}

static int compile_step(struct schema_compiler *compiler, struct schema_rule *rule)
{
	const struct value zero = { .type = VALUE_INT };

	if (!number_is(rule->text) || number_compare(rule->text, &zero) <= 0)
		return wrong(compiler, &rule->place, "must be a number above 0");
	return 0;
}

static int compile_count(struct schema_compiler *compiler, struct schema_rule *rule)
{
	if (number_as_u64(rule->text, &rule->count) < 0)
		return wrong(compiler, &rule->place, "must be a whole number, 0 or above");
	return 0;
}

static int compile_switch(struct schema_compiler *compiler, struct schema_rule *rule)
{
	if (!value_is(rule->text, VALUE_BOOL))
		return wrong(compiler, &rule->place, "must be true or false");
	rule->on = rule->text->boolean;
	return 0;
}

static int compile_pattern(struct schema_compiler *compiler, struct schema_rule *rule)
{
	struct err err = ERR_INIT;

	if (!value_is(rule->text, VALUE_TEXT))
		return wrong(compiler, &rule->place, "must be a regular expression");
	if (++compiler->patterns > SCHEMA_PATTERNS_MAX)
		return wrong(compiler, &rule->place, "more than %d patterns", SCHEMA_PATTERNS_MAX);
	if (pattern_compile(compiler->arena, rule->text->text.bytes, rule->text->text.len,
		    &rule->pattern, &err) < 0) {
		if (err.code == ERR_MEMORY)
			return -1;
		return wrong(compiler, &rule->place, "is no regular expression: %s", err.text);
	}
	compiler->pattern_bytes += pattern_size(rule->pattern);
	if (compiler->pattern_bytes > SCHEMA_PATTERN_BYTES_MAX)
		return wrong(compiler, &rule->place, "the patterns are too large together");
	return 0;
}

static int compile_schema(struct schema_compiler *compiler, struct schema_rule *rule)
{
	return compile_node(compiler, rule->text, &rule->place, &rule->schema);
}

/* A place that outlives the compiling: messages are made from it much later. */
static const struct place *kept_place(struct schema_compiler *compiler, struct place place)
{
	struct place *kept = arena_new(compiler->arena, struct place);

	if (kept)
		*kept = place;
	return kept;
}

static int compile_schemas(struct schema_compiler *compiler, struct schema_rule *rule)
{
	const struct value *text = rule->text;

	if (!value_is(text, VALUE_LIST) || text->list.count == 0)
		return wrong(compiler, &rule->place, "must be a list of schemas");
	rule->list.count = text->list.count;
	rule->list.items = arena_array(compiler->arena, const struct schema *, text->list.count);
	if (!rule->list.items)
		return -1;
	for (size_t i = 0; i < text->list.count; i++) {
		const struct place *place = kept_place(compiler, place_item(&rule->place, i));
		int answer = place ? compile_node(compiler, text->list.items[i], place,
					     &rule->list.items[i])
				   : -1;

		if (answer)
			return answer;
	}
	return 0;
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
	const struct schema_member wanted = { key, key_len, NULL };
	const struct schema_member *found;

	if (!properties || !properties->map.count)
		return NULL;
	found = bsearch(&wanted, properties->map.members, properties->map.count, sizeof(wanted),
		compare_members);
	return found ? found->schema : NULL;
}

static int compile_member(struct schema_compiler *compiler, const struct schema_rule *rule,
	const struct value_entry *entry, struct schema_member *member)
{
	const struct place *place =
		kept_place(compiler, place_key(&rule->place, entry->key, entry->key_len));

	if (!place)
		return -1;
	member->key = entry->key;
	member->key_len = entry->key_len;
	return compile_node(compiler, entry->value, place, &member->schema);
}

static int compile_members(struct schema_compiler *compiler, struct schema_rule *rule)
{
	const struct value *text = rule->text;

	if (!value_is(text, VALUE_MAP))
		return wrong(compiler, &rule->place, "must be an object of schemas");
	rule->map.count = text->map.count;
	rule->map.members = arena_array(compiler->arena, struct schema_member, text->map.count);
	if (!rule->map.members)
		return -1;
	for (size_t i = 0; i < text->map.count; i++) {
		int answer = compile_member(
			compiler, rule, &text->map.entries[i], &rule->map.members[i]);

		if (answer)
			return answer;
	}
	qsort(rule->map.members, rule->map.count, sizeof(rule->map.members[0]), compare_members);
	return 0;
}

static int compile_names(struct schema_compiler *compiler, struct schema_rule *rule)
{
	const struct value *text = rule->text;

	if (!value_is(text, VALUE_LIST))
		return wrong(compiler, &rule->place, "must be a list of names");
	for (size_t i = 0; i < text->list.count; i++) {
		if (!value_is(text->list.items[i], VALUE_TEXT))
			return wrong(compiler, &rule->place, "must be a list of names");
	}
	return 0;
}

/* ---- the keywords ------------------------------------------------------------------------- */

#define ROW(name, word, types, compile, beside)                   \
	{                                                         \
		name, types, compile, schema_check_##word, beside \
	}
#define NOTE(name, compile)                  \
	{                                    \
		name, 0, compile, NULL, NULL \
	}
#define LENGTHY (SCHEMA_STRING | SCHEMA_BYTES)

/* Checked in this order, so the first complaint is about the coarsest thing. */
static const struct schema_keyword keywords[] = {
	/* clang-format off */
	ROW("type",                 type,                  SCHEMA_ANY,    compile_type,    NULL),
	ROW("enum",                 enum,                  SCHEMA_ANY,    compile_enum,    NULL),
	ROW("const",                const,                 SCHEMA_ANY,    compile_const,   NULL),
	ROW("minimum",              minimum,               SCHEMA_NUMBER, compile_number,  NULL),
	ROW("maximum",              maximum,               SCHEMA_NUMBER, compile_number,  NULL),
	ROW("exclusiveMinimum",     exclusive_minimum,     SCHEMA_NUMBER, compile_number,  NULL),
	ROW("exclusiveMaximum",     exclusive_maximum,     SCHEMA_NUMBER, compile_number,  NULL),
	ROW("multipleOf",           multiple_of,           SCHEMA_NUMBER, compile_step,    NULL),
	ROW("minLength",            min_length,            LENGTHY,       compile_count,   NULL),
	ROW("maxLength",            max_length,            LENGTHY,       compile_count,   NULL),
	ROW("pattern",              pattern,               SCHEMA_STRING, compile_pattern, NULL),
	ROW("minItems",             min_items,             SCHEMA_ARRAY,  compile_count,   NULL),
	ROW("maxItems",             max_items,             SCHEMA_ARRAY,  compile_count,   NULL),
	ROW("uniqueItems",          unique_items,          SCHEMA_ARRAY,  compile_switch,  NULL),
	ROW("prefixItems",          prefix_items,          SCHEMA_ARRAY,  compile_schemas, NULL),
	ROW("items",                items,                 SCHEMA_ARRAY,  compile_schema,  "prefixItems"),
	ROW("minProperties",        min_properties,        SCHEMA_OBJECT, compile_count,   NULL),
	ROW("maxProperties",        max_properties,        SCHEMA_OBJECT, compile_count,   NULL),
	ROW("additionalProperties", additional_properties, SCHEMA_OBJECT, compile_schema,  "properties"),
	ROW("required",             required,              SCHEMA_OBJECT, compile_names,   NULL),
	ROW("properties",           properties,            SCHEMA_OBJECT, compile_members, NULL),
	NOTE("$schema",     compile_dialect),
	NOTE("$id",         compile_annotation),
	NOTE("$comment",    compile_annotation),
	NOTE("title",       compile_annotation),
	NOTE("description", compile_annotation),
	NOTE("default",     compile_annotation),
	NOTE("examples",    compile_annotation),
	NOTE("deprecated",  compile_annotation),
	NOTE("readOnly",    compile_annotation),
	NOTE("writeOnly",   compile_annotation),
	/* clang-format on */
};

static const struct schema_keyword *keyword_find(const struct value_entry *entry)
{
	for (size_t i = 0; i < COUNT_OF(keywords); i++) {
		if (strlen(keywords[i].name) == entry->key_len &&
			memcmp(keywords[i].name, entry->key, entry->key_len) == 0)
			return &keywords[i];
	}
	return NULL;
}

static int refuse_unknown(
	struct schema_compiler *compiler, const struct value *text, const struct place *place)
{
	for (size_t i = 0; i < text->map.count; i++) {
		const struct value_entry *entry = &text->map.entries[i];
		struct place here = place_key(place, entry->key, entry->key_len);

		if (!keyword_find(entry))
			return wrong(compiler, &here, "this keyword is not supported");
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
		schema->rule_count++; /* else the next rule takes its room */
	return answer;
}

static void link_neighbours(struct schema *schema)
{
	for (size_t i = 0; i < schema->rule_count; i++) {
		struct schema_rule *rule = &schema->rules[i];

		for (size_t j = 0; rule->keyword->beside && j < schema->rule_count; j++) {
			if (strcmp(schema->rules[j].keyword->name, rule->keyword->beside) == 0)
				rule->beside = &schema->rules[j];
		}
	}
}

static int compile_rules(
	struct schema_compiler *compiler, const struct value *text, struct schema *schema)
{
	int answer = refuse_unknown(compiler, text, schema->place);

	if (answer)
		return answer;
	schema->rules = arena_array(compiler->arena, struct schema_rule, text->map.count + 1);
	if (!schema->rules)
		return -1;
	for (size_t i = 0; i < COUNT_OF(keywords); i++) {
		const struct value *behind = value_get(text, keywords[i].name);

		answer = behind ? compile_rule(compiler, behind, &keywords[i], schema) : 0;
		if (answer)
			return answer;
	}
	link_neighbours(schema);
	return 0;
}

/* Recursion is bounded by SCHEMA_DEPTH_MAX. */
static int compile_node(struct schema_compiler *compiler, const struct value *text,
	const struct place *place, const struct schema **ret_schema)
{
	struct schema *schema;
	int answer = 0;

	if (++compiler->nodes > SCHEMA_NODES_MAX)
		return wrong(compiler, place, "more than %d schemas", SCHEMA_NODES_MAX);
	if (compiler->depth == SCHEMA_DEPTH_MAX)
		return wrong(compiler, place, "nested deeper than %d", SCHEMA_DEPTH_MAX);
	if (!value_is(text, VALUE_BOOL) && !value_is(text, VALUE_MAP))
		return wrong(compiler, place, "a schema is an object, true or false");
	schema = arena_new(compiler->arena, struct schema);
	if (!schema)
		return -1;

	schema->place = place;
	schema->never = value_is(text, VALUE_BOOL) && !text->boolean;
	compiler->depth++;
	if (value_is(text, VALUE_MAP))
		answer = compile_rules(compiler, text, schema);
	compiler->depth--;
	if (!answer)
		*ret_schema = schema;
	return answer;
}

int schema_compile(struct arena *arena, const struct value *text, enum schema_dialect dialect,
	const struct schema **ret_schema, struct schema_mistake *ret_mistake, struct err *err)
{
	struct schema_mistake mistake = { NULL, NULL };
	struct schema_compiler compiler = {
		.arena = arena, .dialect = dialect, .mistake = &mistake
	};
	int answer = compile_node(&compiler, text, NULL, ret_schema);

	if (answer < 0)
		return err_set(err, ERR_MEMORY, "no memory for a schema");
	if (answer)
		*ret_mistake = mistake;
	return answer;
}
