#include "proto/schema.h"

#include <ctype.h>
#include <stdarg.h>
#include <string.h>
#include <strings.h>

#include "proto/base/container.h"
#include "proto/schema_compiler.h"

/* ---- what the compiling files share --------------------------------------------------------- */

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

/* ---- the keywords ------------------------------------------------------------------------- */

#define ROW(name, word, types, compile, ...)                                \
	{                                                                   \
		name, types, schema_compile_##compile, schema_check_##word, \
		{                                                           \
			__VA_ARGS__                                         \
		}                                                           \
	}
#define NOTE(name, compile)                              \
	{                                                \
		name, 0, schema_compile_##compile, NULL, \
		{                                        \
			NULL, NULL                       \
		}                                        \
	}
#define ANY     SCHEMA_ANY
#define NUMBER  SCHEMA_NUMBER
#define STRING  SCHEMA_STRING
#define ARRAY   SCHEMA_ARRAY
#define OBJECT  SCHEMA_OBJECT
#define LENGTHY (SCHEMA_STRING | SCHEMA_BYTES)

/*
 * Checked in this order: the first complaint is about the coarsest thing, and what asks for the rest
 * (unevaluated*) comes when the rest is known.
 */
static const struct schema_keyword keywords[] = {
	/* clang-format off */
	NOTE("$anchor",        anchor),
	NOTE("$dynamicAnchor", dynamic_anchor),
	ROW("type",                  type,                   ANY,     type,            NULL),
	ROW("enum",                  enum,                   ANY,     enum,            NULL),
	ROW("const",                 const,                  ANY,     const,           NULL),
	ROW("minimum",               minimum,                NUMBER,  number,          NULL),
	ROW("maximum",               maximum,                NUMBER,  number,          NULL),
	ROW("exclusiveMinimum",      exclusive_minimum,      NUMBER,  number,          NULL),
	ROW("exclusiveMaximum",      exclusive_maximum,      NUMBER,  number,          NULL),
	ROW("multipleOf",            multiple_of,            NUMBER,  step,            NULL),
	ROW("minLength",             min_length,             LENGTHY, count,           NULL),
	ROW("maxLength",             max_length,             LENGTHY, count,           NULL),
	ROW("pattern",               pattern,                STRING,  pattern,         NULL),
	ROW("minItems",              min_items,              ARRAY,   count,           NULL),
	ROW("maxItems",              max_items,              ARRAY,   count,           NULL),
	ROW("uniqueItems",           unique_items,           ARRAY,   switch,          NULL),
	ROW("prefixItems",           prefix_items,           ARRAY,   schemas,         NULL),
	ROW("items",                 items,                  ARRAY,   schema,          "prefixItems"),
	ROW("minContains",           nothing,                ARRAY,   count,           NULL),
	ROW("maxContains",           nothing,                ARRAY,   count,           NULL),
	ROW("contains",              contains,               ARRAY,   schema,          "minContains", "maxContains"),
	ROW("minProperties",         min_properties,         OBJECT,  count,           NULL),
	ROW("maxProperties",         max_properties,         OBJECT,  count,           NULL),
	ROW("additionalProperties",  additional_properties,  OBJECT,  schema,          "properties", "patternProperties"),
	ROW("required",              required,               OBJECT,  names,           NULL),
	ROW("dependentRequired",     dependent_required,     OBJECT,  dependent_names, NULL),
	ROW("propertyNames",         property_names,         OBJECT,  schema,          NULL),
	ROW("properties",            properties,             OBJECT,  members,         NULL),
	ROW("patternProperties",     pattern_properties,     OBJECT,  patterns,        NULL),
	ROW("$ref",                  ref,                    ANY,     reference,       NULL),
	ROW("$dynamicRef",           dynamic_ref,            ANY,     reference,       NULL),
	ROW("allOf",                 all_of,                 ANY,     schemas,         NULL),
	ROW("anyOf",                 any_of,                 ANY,     schemas,         NULL),
	ROW("oneOf",                 one_of,                 ANY,     schemas,         NULL),
	ROW("not",                   not,                    ANY,     schema,          NULL),
	ROW("then",                  nothing,                ANY,     schema,          NULL),
	ROW("else",                  nothing,                ANY,     schema,          NULL),
	ROW("if",                    if,                     ANY,     schema,          "then", "else"),
	ROW("dependentSchemas",      dependent_schemas,      OBJECT,  members,         NULL),
	ROW("unevaluatedItems",      unevaluated_items,      ARRAY,   unevaluated,     NULL),
	ROW("unevaluatedProperties", unevaluated_properties, OBJECT,  unevaluated,     NULL),
	ROW("$defs",                 nothing,                0,       members,         NULL),
	ROW("definitions",           nothing,                0,       members,         NULL), /* its old name */
	NOTE("$schema",          dialect),
	NOTE("$id",              text), /* see schema_enter_resource() */
	NOTE("$comment",         annotation),
	NOTE("$vocabulary",      annotation),
	NOTE("title",            annotation),
	NOTE("description",      annotation),
	NOTE("default",          annotation),
	NOTE("examples",         annotation),
	NOTE("deprecated",       annotation),
	NOTE("readOnly",         annotation),
	NOTE("writeOnly",        annotation),
	NOTE("format",           annotation),
	NOTE("contentEncoding",  annotation),
	NOTE("contentMediaType", annotation),
	NOTE("contentSchema",    annotation),
	/* clang-format on */
};

/* What earlier drafts said otherwise: passed over, it would be believed to hold. */
static const struct {
	const char *name, *instead;
} former[] = {
	{ "additionalItems", "items, beside prefixItems" },
	{ "dependencies", "dependentRequired and dependentSchemas" },
	{ "$recursiveRef", "$dynamicRef" },
	{ "$recursiveAnchor", "$dynamicAnchor" },
};

static bool is_key(const struct value_entry *entry, const char *name)
{
	return strlen(name) == entry->key_len && memcmp(name, entry->key, entry->key_len) == 0;
}

static const struct schema_keyword *keyword_find(const struct value_entry *entry)
{
	for (size_t i = 0; i < COUNT_OF(keywords); i++)
		if (is_key(entry, keywords[i].name))
			return &keywords[i];
	return NULL;
}

/* Is one of them the other with a letter too many? */
static bool is_one_more(const char *more, const char *less)
{
	while (*less && *more == *less) {
		more++;
		less++;
	}
	return *more && strcasecmp(more + 1, less) == 0;
}

/* One letter more, less, other, or two in each other's place; or other capitals. */
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

/* Long enough to be no name of somebody's own by chance. */
#define SLIP_LEN_MIN 5

/*
 * Words that the standard does not know say nothing, by the standard.  One that was meant to be one
 * that it knows would call bad output good, so those are told.
 */
static int refuse_strange(
	struct schema_compiler *compiler, const struct value_entry *entry, const struct place *here)
{
	if (compiler->dialect == SCHEMA_WIRE)
		return schema_wrong(compiler, here, "this keyword is not known");
	for (size_t i = 0; i < COUNT_OF(former); i++)
		if (is_key(entry, former[i].name))
			return schema_wrong(compiler, here,
				"of an earlier draft: in 2020-12 this is %s", former[i].instead);
	for (size_t i = 0; i < COUNT_OF(keywords); i++)
		if (entry->key_len >= SLIP_LEN_MIN && is_slip(entry->key, keywords[i].name))
			return schema_wrong(
				compiler, here, "no such keyword: is %s meant?", keywords[i].name);
	return 0;
}

static int look_for_strange(
	struct schema_compiler *compiler, const struct value *text, const struct place *place)
{
	for (size_t i = 0; i < text->map.count; i++) {
		const struct value_entry *entry = &text->map.entries[i];
		struct place here = place_key(place, entry->key, entry->key_len);
		int answer = keyword_find(entry) ? 0 : refuse_strange(compiler, entry, &here);

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
		schema->rule_count++; /* else the next rule takes its room */
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

static int compile_rules(
	struct schema_compiler *compiler, const struct value *text, struct schema *schema)
{
	int answer = look_for_strange(compiler, text, schema->place);

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

/* ---- the walk ----------------------------------------------------------------------------- */

/* Compiles what is in a schema, which is in the resource that it begins or that it stands in. */
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
		return schema_wrong(compiler, place, "more than %d schemas", SCHEMA_NODES_MAX);
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
		.arena = arena, .dialect = dialect, .mistake = &mistake
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
