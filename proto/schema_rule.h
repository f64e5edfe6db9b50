/*
 * The inside of a compiled schema, for schema.c, which makes it, and schema_check.c, which holds
 * values against it.  A keyword is one row in the table in schema.c: how it is compiled and how
 * it is checked; a new keyword is a new row and its two functions.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/pattern.h"
#include "proto/pointer.h"
#include "proto/schema.h"
#include "proto/value.h"

struct schema_compiler;
struct schema_checker;
struct schema_rule;

/* The types of JSON, and ours; an integer is a number too. */
enum schema_type {
	SCHEMA_NULL = 1U << 0,
	SCHEMA_BOOLEAN = 1U << 1,
	SCHEMA_INTEGER = 1U << 2,
	SCHEMA_NUMBER = 1U << 3,
	SCHEMA_STRING = 1U << 4,
	SCHEMA_ARRAY = 1U << 5,
	SCHEMA_OBJECT = 1U << 6,
	SCHEMA_BYTES = 1U << 7, /* SCHEMA_WIRE only */
	SCHEMA_WHOLE = 1U << 8, /* an integer that is written as one; "integer" in SCHEMA_WIRE */
	SCHEMA_ANY = 0x1ffU,
};

struct schema_type_word {
	const char *word;
	unsigned type;
};

extern const struct schema_type_word schema_type_words[]; /* ends with a row without a word */

struct schema_keyword {
	const char *name;
	unsigned applies; /* to values of these types */
	int (*compile)(struct schema_compiler *compiler, struct schema_rule *rule);
	void (*check)(struct schema_checker *checker, const struct schema_rule *rule,
		const struct value *value, const struct place *at); /* NULL: an annotation */
	const char *beside; /* the neighbour that says what this one leaves alone, or NULL */
};

struct schema_member {
	const char *key;
	size_t key_len;
	const struct schema *schema;
};

/* One keyword of one schema. */
struct schema_rule {
	const struct schema_keyword *keyword;
	const struct value *text; /* what the schema says behind the keyword */
	struct place place;
	const struct schema_rule *beside;
	union {
		unsigned types;
		uint64_t count;
		uint64_t weight; /* what comparing with `text` costs */
		bool on;
		const struct pattern *pattern;
		const struct schema *schema;
		struct {
			const struct schema **items;
			size_t count;
		} list;
		struct {
			struct schema_member *members; /* in order of their keys */
			size_t count;
		} map;
	};
};

/* A schema: `never`, or all of its rules. */
struct schema {
	const struct place *place;
	bool never;
	struct schema_rule *rules;
	size_t rule_count;
};

/* The types a value is of; 0 for what is no JSON at all, such as NaN. */
unsigned schema_types_of(const struct value *value);

/* How much there is to compare in a value. */
uint64_t schema_weight(const struct value *value);

/* The schema of a key, or NULL. */
const struct schema *schema_member_find(
	const struct schema_rule *properties, const char *key, size_t key_len);

/*
 * Finds two equal items of a list.  1 with their indexes, 0 when there are none, -1 when *work was
 * spent before that was clear (or there was no memory).
 */
int schema_find_twins(
	const struct value *list, uint64_t *work, size_t *ret_first, size_t *ret_second);

/* The checks of the table in schema.c; each complains to the checker or keeps silent. */
/* clang-format off */
#define SCHEMA_CHECKS(X) \
	X(type) X(enum) X(const) \
	X(minimum) X(maximum) X(exclusive_minimum) X(exclusive_maximum) X(multiple_of) \
	X(min_length) X(max_length) X(pattern) \
	X(min_items) X(max_items) X(unique_items) X(prefix_items) X(items) \
	X(min_properties) X(max_properties) X(required) X(properties) X(additional_properties)
/* clang-format on */

#define SCHEMA_CHECK_PROTOTYPE(name)                                                             \
	void schema_check_##name(struct schema_checker *checker, const struct schema_rule *rule, \
		const struct value *value, const struct place *at);
SCHEMA_CHECKS(SCHEMA_CHECK_PROTOTYPE)
#undef SCHEMA_CHECK_PROTOTYPE
