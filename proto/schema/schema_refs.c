/*
 * The names of schemas and the references to them: $id, $anchor, $ref and their dynamic variants.
 */

#include <stdlib.h>
#include <string.h>

#include "proto/schema/schema_compiler.h"
#include "proto/schema/uri.h"

#define POINTER_DEPTH_MAX 64

/* ---- names ---------------------------------------------------------------------------------- */

static struct schema_resource *resource_called(
	const struct schema_compiler *compiler, const char *uri)
{
	for (struct schema_resource *at = compiler->resources; at; at = at->next)
		if (strcmp(at->uri, uri) == 0)
			return at;
	return NULL;
}

/* Limits the number and the length of names, because the search for a name is linear. */
static int count_name(struct schema_compiler *compiler, const char *name, const struct place *place)
{
	if (++compiler->names > SCHEMA_NAMES_MAX)
		return schema_wrong(
			compiler, place, "the schema has more than %d names", SCHEMA_NAMES_MAX);
	if (strlen(name) > SCHEMA_URI_LEN_MAX)
		return schema_wrong(
			compiler, place, "the name has more than %d bytes", SCHEMA_URI_LEN_MAX);
	return 0;
}

/*
 * Up to draft 7, $ref disables an $id beside it.  But a $schema beside it shows that this is a
 * document.
 */
static bool is_silenced(const struct value *text, const struct schema_draft *draft)
{
	return draft->bit == SCHEMA_DRAFT_7 && value_get(text, "$ref") &&
	       !value_get(text, "$schema");
}

/* Returns the $id of a schema: "" when it has none, NULL when it is not text. */
static const char *name_of(const struct value *text, const struct schema_draft *draft)
{
	const struct value *id = value_get(text, "$id");

	return id && !is_silenced(text, draft) ? value_as_text(id) : "";
}

static int add_resource(struct schema_compiler *compiler, const struct value *text,
	const struct place *place, const char *reference, const struct schema_draft *draft)
{
	struct schema_resource *resource = arena_new(compiler->arena, struct schema_resource);

	if (!resource)
		return -1;
	resource->uri = uri_resolve(
		compiler->arena, compiler->resource ? compiler->resource->uri : "", reference);
	if (!resource->uri)
		return -1;
	if (compiler->resource && resource_called(compiler, resource->uri))
		return schema_wrong(compiler, place, "$id: another schema has this name");
	resource->text = text;
	resource->place = place;
	resource->draft = draft;
	resource->next = compiler->resources;
	compiler->resources = resource;
	compiler->resource = resource;
	return 0;
}

int schema_enter_resource(
	struct schema_compiler *compiler, const struct value *text, const struct place *place)
{
	const struct schema_draft *draft = NULL;
	const char *reference;
	int answer;

	if (compiler->resource && !value_get(text, "$id"))
		return 0;
	answer = schema_find_draft(compiler, text, place, &draft);
	if (answer)
		return answer;
	reference = name_of(text, draft);
	if (!reference)
		return schema_wrong(compiler, place, "$id must be a text");
	if (draft->bit != SCHEMA_DRAFT_7 && strchr(reference, '#') && strchr(reference, '#')[1])
		return schema_wrong(compiler, place, "$id must not have a fragment: use $anchor");
	if (compiler->resource && draft->bit == SCHEMA_DRAFT_7 &&
		(!*reference || *reference == '#'))
		return 0; /* an anchor: see schema_compile_identifier() */
	answer = count_name(compiler, reference, place);
	return answer ? answer : add_resource(compiler, text, place, reference, draft);
}

static const struct schema_anchor *anchor_find(
	const struct schema_resource *resource, const char *name)
{
	for (const struct schema_anchor *at = resource->anchors; at; at = at->next)
		if (strcmp(at->name, name) == 0)
			return at;
	return NULL;
}

static int add_anchor(struct schema_compiler *compiler, const struct schema_rule *rule,
	const char *name, bool dynamic)
{
	struct schema_anchor *anchor;
	int answer;

	if (anchor_find(compiler->resource, name))
		return schema_wrong(
			compiler, &rule->place, "another part of the schema has this name");
	answer = count_name(compiler, name, &rule->place);
	if (answer)
		return answer;
	anchor = arena_new(compiler->arena, struct schema_anchor);
	if (!anchor)
		return -1;
	*anchor = (struct schema_anchor){ compiler->resource->anchors, name, compiler->schema,
		dynamic };
	compiler->resource->anchors = anchor;
	compiler->resource->anchor_count++;
	return 0;
}

static int compile_anchor(
	struct schema_compiler *compiler, const struct schema_rule *rule, bool dynamic)
{
	const char *name = value_as_text(rule->text);

	if (!name || !*name || strchr(name, '/') || strchr(name, '#'))
		return schema_wrong(compiler, &rule->place, "must be a name");
	return add_anchor(compiler, rule, name, dynamic);
}

int schema_compile_anchor(struct schema_compiler *compiler, struct schema_rule *rule)
{
	return compile_anchor(compiler, rule, false);
}

int schema_compile_dynamic_anchor(struct schema_compiler *compiler, struct schema_rule *rule)
{
	return compile_anchor(compiler, rule, true);
}

/*
 * Draft 7 has anchors after the '#' of $id.  Some generators put a pointer there, which is not a
 * name.
 */
int schema_compile_identifier(struct schema_compiler *compiler, struct schema_rule *rule)
{
	const char *text = value_as_text(rule->text);
	const char *name = text ? strchr(text, '#') : NULL;

	if (!text)
		return schema_wrong(compiler, &rule->place, "must be a text");
	if (!name || !name[1] || name[1] == '/')
		return 0;
	return add_anchor(compiler, rule, name + 1, false);
}

/* The anchor name for $recursiveAnchor, which has no name in 2019-09.  Other names have no '#'. */
#define RECURSIVE "#"

/* $recursiveAnchor has an effect only at the start of a document. */
int schema_compile_recursive_anchor(struct schema_compiler *compiler, struct schema_rule *rule)
{
	if (!value_is(rule->text, VALUE_BOOL))
		return schema_wrong(compiler, &rule->place, "must be true or false");
	if (!rule->text->boolean || compiler->schema->place != compiler->resource->place)
		return 0;
	return add_anchor(compiler, rule, RECURSIVE, true);
}

/* ---- references ----------------------------------------------------------------------------- */

/*
 * Notes a reference.  Its target may come later or be the current schema, so it is resolved after
 * all else is compiled.
 */
int schema_compile_reference(struct schema_compiler *compiler, struct schema_rule *rule)
{
	const char *text = value_as_text(rule->text);
	struct schema_reference *reference;

	if (!text || strlen(text) > SCHEMA_URI_LEN_MAX)
		return schema_wrong(compiler, &rule->place, "must be a reference of up to %d bytes",
			SCHEMA_URI_LEN_MAX);
	if (++compiler->reference_count > SCHEMA_REFERENCES_MAX)
		return schema_wrong(compiler, &rule->place,
			"the schema has more than %d references", SCHEMA_REFERENCES_MAX);
	reference = arena_new(compiler->arena, struct schema_reference);
	if (!reference)
		return -1;
	*reference = (struct schema_reference){ compiler->references, rule, compiler->resource };
	compiler->references = reference;
	return 0;
}

int schema_compile_recursive_reference(struct schema_compiler *compiler, struct schema_rule *rule)
{
	const char *text = value_as_text(rule->text);

	if (!text || strcmp(text, "#") != 0)
		return schema_wrong(compiler, &rule->place, "must be \"#\"");
	return schema_compile_reference(compiler, rule);
}

/* The current place of a JSON Pointer. */
struct walk {
	const struct value *text;
	const struct place *place;
	struct schema_resource *resource;
};

/* Decodes ~0 and ~1 of one part of a pointer, in place. */
static void unescape(char *part)
{
	char *out = part;

	for (const char *in = part; *in; in++) {
		bool escaped = *in == '~' && (in[1] == '0' || in[1] == '1');

		*out++ = (char)(!escaped ? *in : in[1] == '1' ? '/' : '~');
		in += escaped;
	}
	*out = '\0';
}

static const struct value *item_at(const struct value *list, const char *part, size_t *ret_index)
{
	char *end = NULL;

	*ret_index = strtoull(part, &end, 10);
	if (*part < '0' || *part > '9' || *end || (part[0] == '0' && part[1]))
		return NULL;
	return value_at(list, *ret_index);
}

/* Returns 0; 1 when there is no such part; -1 without memory. */
static int step(struct schema_compiler *compiler, struct walk *walk, char *part)
{
	const struct value *found;
	struct place place;
	size_t index = 0;

	unescape(part);
	if (value_is(walk->text, VALUE_LIST)) {
		found = item_at(walk->text, part, &index);
		place = place_item(walk->place, index);
	} else {
		found = value_get(walk->text, part);
		place = place_key(walk->place, part, strlen(part));
	}
	if (!found)
		return 1;
	walk->text = found;
	walk->place = schema_kept_place(compiler, place);
	for (struct schema_resource *at = compiler->resources; at; at = at->next)
		if (at->text == found)
			walk->resource = at;
	return walk->place ? 0 : -1;
}

static int walk_pointer(struct schema_compiler *compiler, struct walk *walk, const char *pointer)
{
	char *parts = arena_strdup(compiler->arena, pointer);
	size_t depth = 0;

	if (!parts)
		return -1;
	while (*parts == '/') {
		size_t len = strcspn(parts + 1, "/");
		char *part = arena_copy(compiler->arena, parts + 1, len);
		int answer = part ? step(compiler, walk, part) : -1;

		if (answer || ++depth > POINTER_DEPTH_MAX)
			return answer ? answer : 1;
		parts += 1 + len;
	}
	return 0;
}

static int nothing_there(struct schema_compiler *compiler, const struct schema_rule *rule)
{
	return schema_wrong(compiler, &rule->place, "the schema has nothing of this name");
}

static int follow_pointer(struct schema_compiler *compiler, struct schema_rule *rule,
	struct schema_resource *resource, const char *pointer)
{
	struct walk walk = { resource->text, resource->place, resource };
	int answer = walk_pointer(compiler, &walk, pointer);

	if (answer)
		return answer < 0 ? -1 : nothing_there(compiler, rule);
	compiler->resource = walk.resource;
	return schema_compile_node(compiler, walk.text, walk.place, &rule->schema);
}

static int follow_anchor(struct schema_compiler *compiler, struct schema_rule *rule,
	const struct schema_resource *resource, const char *name)
{
	const struct schema_anchor *anchor = anchor_find(resource, name);

	if (!anchor)
		return nothing_there(compiler, rule);
	rule->schema = anchor->schema;
	rule->anchor = anchor->dynamic ? anchor->name : NULL;
	return 0;
}

/*
 * Resolves $recursiveRef to its own document, or to the outermost document with a $recursiveAnchor.
 */
static int follow_recursive(struct schema_compiler *compiler, struct schema_rule *rule,
	struct schema_resource *resource)
{
	int answer = follow_pointer(compiler, rule, resource, "");

	if (!answer && anchor_find(resource, RECURSIVE))
		rule->anchor = RECURSIVE;
	return answer;
}

static int follow(struct schema_compiler *compiler, const struct schema_reference *reference)
{
	struct schema_rule *rule = reference->rule;
	const char *text = value_as_text(rule->text);
	const char *uri = uri_resolve(compiler->arena, reference->resource->uri, text);
	const char *fragment = uri_fragment(compiler->arena, text);
	struct schema_resource *resource;

	if (!uri || !fragment)
		return -1;
	resource = resource_called(compiler, uri);
	if (!resource) {
		compiler->mistake->elsewhere = uri;
		return schema_wrong(compiler, &rule->place,
			"%s is not in this schema, and nothing is fetched: put it under $defs with its $id",
			uri);
	}
	if (rule->keyword->compile == schema_compile_recursive_reference)
		return follow_recursive(compiler, rule, resource);
	if (*fragment && *fragment != '/')
		return follow_anchor(compiler, rule, resource, fragment);
	return follow_pointer(compiler, rule, resource, fragment);
}

int schema_follow_references(struct schema_compiler *compiler)
{
	while (compiler->references) {
		const struct schema_reference *reference = compiler->references;
		int answer;

		compiler->references = reference->next;
		answer = follow(compiler, reference);
		if (answer)
			return answer;
	}
	return 0;
}
