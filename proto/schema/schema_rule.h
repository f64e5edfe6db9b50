/*
 * The internal structs of a compiled schema, for the files that compile a schema and for
 * schema_check.c, which checks values.  A keyword is one row of the table in schema_compiler.c,
 * with a function that compiles it and a function that checks it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/pointer.h"
#include "proto/schema/pattern.h"
#include "proto/schema/schema.h"
#include "proto/value.h"

struct schema_compiler;
struct schema_checker;
struct schema_rule;

/* The types of JSON, and those of ced.  An integer is a number, too. */
enum schema_type {
	SCHEMA_NULL = 1U << 0,
	SCHEMA_BOOLEAN = 1U << 1,
	SCHEMA_INTEGER = 1U << 2,
	SCHEMA_NUMBER = 1U << 3,
	SCHEMA_STRING = 1U << 4,
	SCHEMA_ARRAY = 1U << 5,
	SCHEMA_OBJECT = 1U << 6,
	SCHEMA_BYTES = 1U << 7, /* SCHEMA_WIRE only */
	/* an integer that is not a real such as 3.0; "integer" in SCHEMA_WIRE */
	SCHEMA_WHOLE = 1U << 8,
	SCHEMA_ANY = 0x1ffU,
};

struct schema_type_word {
	const char *word;
	unsigned type;
};

extern const struct schema_type_word schema_type_words[]; /* ends with a row without a word */

enum schema_draft_bit {
	SCHEMA_DRAFT_7 = 1U << 0,
	SCHEMA_DRAFT_2019_09 = 1U << 1,
	SCHEMA_DRAFT_2020_12 = 1U << 2,
};

/*
 * The vocabularies whose keywords check something.  Annotations belong to core, because they have
 * no effect.
 */
enum schema_room {
	SCHEMA_IN_CORE = 1U << 0,
	SCHEMA_IN_APPLICATOR = 1U << 1,
	SCHEMA_IN_UNEVALUATED = 1U << 2,
	SCHEMA_IN_VALIDATION = 1U << 3,
	SCHEMA_IN_ALL = 0xfU,
};

/* The draft of a document: see schema_draft.c. */
struct schema_draft {
	const char *name; /* "2020-12" */
	unsigned bit;     /* a schema_draft_bit */
	unsigned rooms;   /* a set of schema_room: the vocabularies in force */
};

/* How the value of a keyword bounds a number or a size. */
enum schema_bound {
	SCHEMA_AT_LEAST,
	SCHEMA_AT_MOST,
	SCHEMA_ABOVE,
	SCHEMA_BELOW,
};

#define SCHEMA_BESIDE_MAX 2

struct schema_keyword {
	const char *name;
	unsigned drafts;  /* a set of schema_draft_bit */
	unsigned room;    /* a schema_room */
	unsigned applies; /* types of values that it checks */
	int (*compile)(struct schema_compiler *compiler, struct schema_rule *rule);
	void (*check)(struct schema_checker *checker, const struct schema_rule *rule,
		const struct value *value, const struct place *at); /* NULL: an annotation */
	/* other keywords of the same schema that it needs, or NULL */
	const char *beside[SCHEMA_BESIDE_MAX];
	enum schema_bound bound; /* of a range or a size */
};

struct schema_member {
	const char *key;
	size_t key_len;
	const struct pattern *pattern; /* of patternProperties: the keys to which it applies */
	const struct schema *schema;
	const struct value *names; /* of dependentRequired, and of a list in dependencies */
};

/* One keyword of one schema. */
struct schema_rule {
	const struct schema_keyword *keyword;
	const struct value *text; /* the value of the keyword in the schema */
	struct place place;
	const struct schema_rule *beside[SCHEMA_BESIDE_MAX];
	union {
		unsigned types;
		uint64_t count;
		uint64_t weight; /* the cost of a comparison with `text` */
		bool on;
		const struct pattern *pattern;
		struct {
			const struct schema *schema;
			/* $dynamicRef: resolves to the outermost anchor of this name */
			const char *anchor;
		};
		struct {
			const struct schema **items;
			size_t count;
		} list;
		struct {
			struct schema_member *members; /* sorted by key */
			size_t count;
		} map;
	};
};

struct schema_anchor {
	const struct schema_anchor *next;
	const char *name;
	const struct schema *schema;
	bool dynamic;
};

/* A schema with a name of its own ($id), or the whole document. */
struct schema_resource {
	struct schema_resource *next;
	const char *uri; /* "" for a document without $id */
	const struct value *text;
	const struct place *place;
	const struct schema_draft *draft;
	const struct schema_anchor *anchors;
	size_t anchor_count;
};

/* A schema: `never`, or the values that satisfy all its rules. */
struct schema {
	const struct place *place;
	const struct schema_resource *resource;
	bool never;
	bool unevaluated; /* needs to know what its other rules have evaluated */
	struct schema_rule *rules;
	size_t rule_count;
};

/* Returns the set of types of a value; 0 for a value that JSON does not have, such as NaN. */
unsigned schema_types_of(const struct value *value);

/* Returns the cost of comparing a value. */
uint64_t schema_weight(const struct value *value);

/* Returns the schema of a key, or NULL. */
const struct schema *schema_member_find(
	const struct schema_rule *properties, const char *key, size_t key_len);

/*
 * Finds two equal items of a list.  Returns 1 with their indexes, or 0 when there are none.
 * Returns -1 when *work is too small or there is no memory.
 */
int schema_find_twins(
	const struct value *list, uint64_t *work, size_t *ret_first, size_t *ret_second);

/* The check functions of the table in schema_compiler.c.  Each adds its errors to the checker. */
/* clang-format off */
#define SCHEMA_CHECKS(X) \
	X(type) X(enum) X(const) X(range) X(multiple_of) X(size) X(pattern) \
	X(unique_items) X(prefix_items) X(items) X(contains) \
	X(former_items) X(additional_items) X(dependencies) \
	X(required) X(dependent_required) X(property_names) \
	X(properties) X(pattern_properties) X(additional_properties) \
	X(ref) X(dynamic_ref) X(all_of) X(any_of) X(one_of) X(not) X(if) X(dependent_schemas) \
	X(unevaluated_items) X(unevaluated_properties) X(nothing)
/* clang-format on */

#define SCHEMA_CHECK_PROTOTYPE(name)                                                             \
	void schema_check_##name(struct schema_checker *checker, const struct schema_rule *rule, \
		const struct value *value, const struct place *at);
SCHEMA_CHECKS(SCHEMA_CHECK_PROTOTYPE)
#undef SCHEMA_CHECK_PROTOTYPE
