/* The supported drafts of JSON Schema.  Finds the draft of a document. */

#include <string.h>

#include "proto/base/container.h"
#include "proto/schema/schema_compiler.h"

#define URI_2020_12 "https://json-schema.org/draft/2020-12/schema"
#define URI_2019_09 "https://json-schema.org/draft/2019-09/schema"
#define URI_7       "http://json-schema.org/draft-07/schema"

static const struct {
	const char *uri; /* the value of $schema, with or without an empty fragment */
	struct schema_draft draft;
} drafts[] = {
	{ URI_2020_12, /* first: the default */
		{ "2020-12", SCHEMA_DRAFT_2020_12, SCHEMA_IN_ALL } },
	{ URI_2019_09, { "2019-09", SCHEMA_DRAFT_2019_09, SCHEMA_IN_ALL } },
	{ URI_7, { "draft 7", SCHEMA_DRAFT_7, SCHEMA_IN_ALL } },
};

/* The vocabularies that a meta-schema may name in its $vocabulary. */
static const struct {
	unsigned draft;
	const char *uri;
	unsigned rooms;
} vocabularies[] = {
#define V2020(name) SCHEMA_DRAFT_2020_12, "https://json-schema.org/draft/2020-12/vocab/" name
#define V2019(name) SCHEMA_DRAFT_2019_09, "https://json-schema.org/draft/2019-09/vocab/" name
	{ V2020("core"), SCHEMA_IN_CORE },
	{ V2020("applicator"), SCHEMA_IN_APPLICATOR },
	{ V2020("unevaluated"), SCHEMA_IN_UNEVALUATED },
	{ V2020("validation"), SCHEMA_IN_VALIDATION },
	{ V2020("meta-data"), 0 },
	{ V2020("format-annotation"), 0 },
	{ V2020("content"), 0 },
	{ V2019("core"), SCHEMA_IN_CORE },
	{ V2019("applicator"), SCHEMA_IN_APPLICATOR | SCHEMA_IN_UNEVALUATED },
	{ V2019("validation"), SCHEMA_IN_VALIDATION },
	{ V2019("meta-data"), 0 },
	{ V2019("content"), 0 },
};

static bool is_uri(const char *text, const char *uri)
{
	size_t len = strlen(uri);

	return text && strncmp(text, uri, len) == 0 && (!text[len] || strcmp(text + len, "#") == 0);
}

static const struct schema_draft *draft_called(const char *uri)
{
	for (size_t i = 0; i < COUNT_OF(drafts); i++)
		if (is_uri(uri, drafts[i].uri))
			return &drafts[i].draft;
	return NULL;
}

/* ---- a meta-schema that is part of the schema ----------------------------------------------- */

static const struct value *document_in(const struct value *documents, const char *uri)
{
	if (!value_is(documents, VALUE_MAP))
		return NULL;
	for (size_t i = 0; i < documents->map.count; i++) {
		const struct value *document = documents->map.entries[i].value;
		const char *id = value_as_text(value_get(document, "$id"));

		if (id && is_uri(uri, id))
			return document;
	}
	return NULL;
}

static const struct value *description_called(
	const struct schema_compiler *compiler, const char *uri)
{
	const struct value *found = document_in(value_get(compiler->root, "$defs"), uri);

	return found ? found : document_in(value_get(compiler->root, "definitions"), uri);
}

/* Adds the keywords of a vocabulary.  Returns false for an unknown vocabulary. */
static bool add_vocabulary(struct schema_draft *draft, const char *uri)
{
	for (size_t i = 0; i < COUNT_OF(vocabularies); i++) {
		if (vocabularies[i].draft == draft->bit && strcmp(vocabularies[i].uri, uri) == 0) {
			draft->rooms |= vocabularies[i].rooms;
			return true;
		}
	}
	return false;
}

/* Ignores an unknown vocabulary when its value in $vocabulary is false. */
static int take_vocabularies(struct schema_compiler *compiler, const struct value *wanted,
	const struct place *place, struct schema_draft *draft)
{
	draft->rooms = SCHEMA_IN_CORE;
	for (size_t i = 0; i < wanted->map.count; i++) {
		const struct value_entry *entry = &wanted->map.entries[i];

		if (!add_vocabulary(draft, entry->key) && value_as_bool(entry->value, true))
			return schema_wrong(compiler, place,
				"the metaschema requires an unknown vocabulary: %s", entry->key);
	}
	return 0;
}

static int take_description(struct schema_compiler *compiler, const struct value *description,
	const struct place *place, const struct schema_draft **ret_draft)
{
	const char *uri = value_as_text(value_get(description, "$schema"));
	const struct schema_draft *base = draft_called(uri);
	const struct value *wanted = value_get(description, "$vocabulary");
	struct schema_draft *draft;

	if (!base)
		return schema_wrong(compiler, place,
			"the metaschema that it names must have the $schema of 2020-12, 2019-09 or draft 7");
	*ret_draft = base;
	if (base->bit == SCHEMA_DRAFT_7 || !value_is(wanted, VALUE_MAP))
		return 0;
	draft = arena_new(compiler->arena, struct schema_draft);
	if (!draft)
		return -1;
	*draft = *base;
	*ret_draft = draft;
	return take_vocabularies(compiler, wanted, place, draft);
}

/* ---- $schema -------------------------------------------------------------------------------- */

int schema_find_draft(struct schema_compiler *compiler, const struct value *text,
	const struct place *place, const struct schema_draft **ret_draft)
{
	const struct value *said = value_get(text, "$schema");
	const char *uri = value_as_text(said);
	const struct value *description;
	struct place here = place_key(place, "$schema", strlen("$schema"));

	*ret_draft = compiler->resource ? compiler->resource->draft : &drafts[0].draft;
	if (!said)
		return 0;
	if (!uri)
		return schema_wrong(compiler, &here, "must be a text");
	*ret_draft = draft_called(uri);
	if (*ret_draft)
		return 0;
	description = description_called(compiler, uri);
	if (description)
		return take_description(compiler, description, &here, ret_draft);
	compiler->mistake->elsewhere = uri;
	return schema_wrong(compiler, &here,
		"must be " URI_2020_12 ", " URI_2019_09 ", " URI_7
		"# or the $id of a description under $defs, not %s",
		uri);
}

/*
 * Checks $schema inside a document.  schema_find_draft() has checked it at the start of a document.
 */
int schema_compile_dialect(struct schema_compiler *compiler, struct schema_rule *rule)
{
	const struct schema_resource *resource = compiler->resource;
	const char *uri = value_as_text(rule->text);
	const char *outer = value_as_text(value_get(resource->text, "$schema"));

	if (compiler->schema->place == resource->place)
		return 0;
	if (uri && (draft_called(uri) == resource->draft || (outer && strcmp(uri, outer) == 0)))
		return 0;
	return schema_wrong(compiler, &rule->place,
		"the surrounding schema uses another draft: give this schema its own $id");
}
