/*
 * Compiles the text of a schema.  schema_compiler.c walks the text and compiles the keywords.
 * schema_draft.c has the drafts.  schema_refs.c has the names and resolves references.
 *
 * Functions that compile return 0; 1 when the schema is invalid, and note the mistake; -1 without
 * memory.
 */
#pragma once

#include "proto/base/map.h"
#include "proto/schema/schema_rule.h"

/* A reference, which is resolved after all else is compiled. */
struct schema_reference {
	struct schema_reference *next;
	struct schema_rule *rule;
	const struct schema_resource *resource; /* that contains the reference */
};

struct schema_compiler {
	struct arena *arena;
	enum schema_dialect dialect;
	const struct value *root; /* the whole text */
	size_t nodes;
	size_t depth;
	size_t patterns;
	size_t pattern_bytes;
	size_t names;
	size_t reference_count;
	struct schema_mistake *mistake;
	struct map made; /* the compiled schema of each text, by the text's address */
	struct schema_resource *resources;
	struct schema_resource *resource; /* that is being compiled */
	struct schema *schema;            /* whose rules are being compiled */
	struct schema_reference *references;
};

/* Notes a mistake.  Returns 1, or -1 without memory. */
int schema_wrong(struct schema_compiler *compiler, const struct place *place, const char *format,
	...) __attribute__((format(printf, 3, 4)));

/* Compiles a text, or returns its schema when it was compiled before. */
int schema_compile_node(struct schema_compiler *compiler, const struct value *text,
	const struct place *place, const struct schema **ret_schema);

/* Copies a place into the arena, because later messages use it.  NULL: no memory. */
const struct place *schema_kept_place(struct schema_compiler *compiler, struct place place);

/* Begins the resource that a schema's $id names, if it has one, or that of the whole document. */
int schema_enter_resource(
	struct schema_compiler *compiler, const struct value *text, const struct place *place);

/*
 * Finds the draft that a document's $schema names.  That is a known draft, or the draft of a
 * meta-schema under $defs, without the vocabularies that the meta-schema omits.  Without $schema it
 * is the draft of the surrounding document.
 */
int schema_find_draft(struct schema_compiler *compiler, const struct value *text,
	const struct place *place, const struct schema_draft **ret_draft);

/* Resolves all noted references, and the references in the schemas to which they lead. */
int schema_follow_references(struct schema_compiler *compiler);

/* Keywords that schema_draft.c and schema_refs.c compile. */
/* clang-format off */
#define SCHEMA_COMPILES(X)                                                     \
	X(dialect) X(identifier) X(recursive_anchor) X(recursive_reference) \
	X(anchor) X(dynamic_anchor) X(reference)
/* clang-format on */

#define SCHEMA_COMPILE_PROTOTYPE(name) \
	int schema_compile_##name(struct schema_compiler *compiler, struct schema_rule *rule);
SCHEMA_COMPILES(SCHEMA_COMPILE_PROTOTYPE)
#undef SCHEMA_COMPILE_PROTOTYPE
