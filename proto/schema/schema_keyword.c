/* Compiles the value of each keyword: see schema_compiler.h. */

#include <stdlib.h>
#include <string.h>

#include "proto/number.h"
#include "proto/schema/schema_compiler.h"

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

int schema_compile_annotation(struct schema_compiler *compiler, struct schema_rule *rule)
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

int schema_compile_type(struct schema_compiler *compiler, struct schema_rule *rule)
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

int schema_compile_enum(struct schema_compiler *compiler, struct schema_rule *rule)
{
	if (!value_is(rule->text, VALUE_LIST))
		return schema_wrong(compiler, &rule->place, "must be a list of values");
	rule->weight = schema_weight(rule->text);
	return 0;
}

int schema_compile_const(struct schema_compiler *compiler, struct schema_rule *rule)
{
	(void)compiler;
	rule->weight = schema_weight(rule->text);
	return 0;
}

int schema_compile_number(struct schema_compiler *compiler, struct schema_rule *rule)
{
	if (!number_is(rule->text))
		return schema_wrong(compiler, &rule->place, "must be a number");
	return 0;
}

int schema_compile_step(struct schema_compiler *compiler, struct schema_rule *rule)
{
	const struct value zero = { .type = VALUE_INT };

	if (!number_is(rule->text) || number_compare(rule->text, &zero) <= 0)
		return schema_wrong(compiler, &rule->place, "must be a number above 0");
	return 0;
}

int schema_compile_count(struct schema_compiler *compiler, struct schema_rule *rule)
{
	if (number_as_u64(rule->text, &rule->count) < 0)
		return schema_wrong(compiler, &rule->place, "must be a whole number, 0 or above");
	return 0;
}

int schema_compile_switch(struct schema_compiler *compiler, struct schema_rule *rule)
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
		return schema_wrong(compiler, place, "more than %d patterns", SCHEMA_PATTERNS_MAX);
	if (pattern_compile(compiler->arena, text, len, ret_pattern, &err) < 0) {
		if (err.code == ERR_MEMORY)
			return -1;
		return schema_wrong(compiler, place, "is no regular expression: %s", err.text);
	}
	compiler->pattern_bytes += pattern_size(*ret_pattern);
	if (compiler->pattern_bytes > SCHEMA_PATTERN_BYTES_MAX)
		return schema_wrong(compiler, place, "the patterns are too large together");
	return 0;
}

int schema_compile_pattern(struct schema_compiler *compiler, struct schema_rule *rule)
{
	if (!value_is(rule->text, VALUE_TEXT))
		return schema_wrong(compiler, &rule->place, "must be a regular expression");
	return compile_expression(compiler, rule->text->text.bytes, rule->text->text.len,
		&rule->place, &rule->pattern);
}

int schema_compile_schema(struct schema_compiler *compiler, struct schema_rule *rule)
{
	return schema_compile_node(compiler, rule->text, &rule->place, &rule->schema);
}

int schema_compile_schemas(struct schema_compiler *compiler, struct schema_rule *rule)
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
int schema_compile_former_items(struct schema_compiler *compiler, struct schema_rule *rule)
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

int schema_compile_members(struct schema_compiler *compiler, struct schema_rule *rule)
{
	return compile_map(compiler, rule, "schemas", compile_property);
}

int schema_compile_patterns(struct schema_compiler *compiler, struct schema_rule *rule)
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

int schema_compile_names(struct schema_compiler *compiler, struct schema_rule *rule)
{
	return must_be_names(compiler, rule->text, &rule->place);
}

static int compile_dependent(struct schema_compiler *compiler, const struct value_entry *entry,
	const struct place *place, struct schema_member *member)
{
	member->names = entry->value;
	return must_be_names(compiler, entry->value, place);
}

int schema_compile_dependent_names(struct schema_compiler *compiler, struct schema_rule *rule)
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

int schema_compile_dependencies(struct schema_compiler *compiler, struct schema_rule *rule)
{
	return compile_map(compiler, rule, "schemas and lists of names", compile_dependency);
}

int schema_compile_text(struct schema_compiler *compiler, struct schema_rule *rule)
{
	if (!value_is(rule->text, VALUE_TEXT))
		return schema_wrong(compiler, &rule->place, "must be a text");
	return 0;
}

int schema_compile_unevaluated(struct schema_compiler *compiler, struct schema_rule *rule)
{
	compiler->schema->unevaluated = true;
	return schema_compile_schema(compiler, rule);
}
