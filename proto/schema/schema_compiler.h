/*
 * Making a schema of its text: schema.c walks, schema_keyword.c understands what stands behind each
 * keyword, schema_draft.c knows the drafts, schema_refs.c finds what others refer to.
 *
 * Functions that compile return 0; 1 when the schema is wrong, with the mistake noted; -1 without
 * memory.
 */
#pragma once

#include "proto/base/map.h"
#include "proto/schema/schema_rule.h"

/* A reference is followed when everything that it could mean is known. */
struct schema_reference {
	struct schema_reference *next;
	struct schema_rule *rule;
	const struct schema_resource *resource; /* in which it stands */
};

struct schema_compiler {
	struct arena *arena;
	enum schema_dialect dialect;
	const struct value *root; /* the whole that is compiled */
	size_t nodes;
	size_t depth;
	size_t patterns;
	size_t pattern_bytes;
	size_t names;
	size_t reference_count;
	struct schema_mistake *mistake;
	struct map made; /* the schema of each text that was compiled, by the text's address */
	struct schema_resource *resources;
	struct schema_resource *resource; /* in which the compiler is */
	struct schema *schema;            /* whose rules are compiled */
	struct schema_reference *references;
};

/* Keeps and notes a mistake.  Returns 1, or -1 without memory. */
int schema_wrong(struct schema_compiler *compiler, const struct place *place, const char *format,
	...) __attribute__((format(printf, 3, 4)));

/* The schema of a text, made once. */
int schema_compile_node(struct schema_compiler *compiler, const struct value *text,
	const struct place *place, const struct schema **ret_schema);

/* A place that outlives the compiling: messages are made from it much later.  NULL: no memory. */
const struct place *schema_kept_place(struct schema_compiler *compiler, struct place place);

/* Begins the resource that a schema's $id names, if it has one, or the whole. */
int schema_enter_resource(
	struct schema_compiler *compiler, const struct value *text, const struct place *place);

/*
 * The draft that a document's $schema names: one of ours, or that of a description of a draft that is
 * sent along, less the vocabularies that it leaves out.  Without $schema, that of what it stands in.
 */
int schema_find_draft(struct schema_compiler *compiler, const struct value *text,
	const struct place *place, const struct schema_draft **ret_draft);

/* Follows all references that were noted, and those of what they lead to. */
int schema_follow_references(struct schema_compiler *compiler);

/* What stands behind a keyword. */
/* clang-format off */
#define SCHEMA_COMPILES(X) \
	X(annotation) X(dialect) X(type) X(enum) X(const) X(number) X(step) X(count) X(switch) X(pattern) \
	X(schema) X(schemas) X(members) X(patterns) X(names) X(dependent_names) X(text) \
	X(former_items) X(dependencies) X(identifier) X(recursive_anchor) X(recursive_reference) \
	X(anchor) X(dynamic_anchor) X(reference) X(unevaluated)
/* clang-format on */

#define SCHEMA_COMPILE_PROTOTYPE(name) \
	int schema_compile_##name(struct schema_compiler *compiler, struct schema_rule *rule);
SCHEMA_COMPILES(SCHEMA_COMPILE_PROTOTYPE)
#undef SCHEMA_COMPILE_PROTOTYPE
