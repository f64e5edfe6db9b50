/*
 * JSON Schema: compiled once, then held against values.
 *
 * All of drafts 2020-12, 2019-09 and 7, with `format` and content* as notes.  A document's $schema
 * says its draft; without one it is 2020-12.  References lead to what stands in the schema itself, by
 * pointer, $anchor or $id; other documents are sent along under $defs with their $id.  Nothing is ever
 * fetched, and a schema that asks for more is refused.  Keywords that the draft does not know say
 * nothing, as it wants; those that look like a slip for one that it knows, and those of other drafts,
 * are refused by name: to pass them over would be to call bad output good.
 *
 * Numbers are compared exactly (see number.h), 1 equals 1.0, true does not equal 1, lengths are
 * in code points, and a number that is not finite is of no type.
 *
 * A compiled schema lives in the arena it was compiled into, keeps the value it was compiled from,
 * and is never changed: threads may share it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "proto/base/arena.h"
#include "proto/base/err.h"
#include "proto/value.h"

#define SCHEMA_NODES_MAX         4096 /* schemas within one schema */
#define SCHEMA_DEPTH_MAX         32   /* of schemas within schemas */
#define SCHEMA_PATTERNS_MAX      256
#define SCHEMA_NAMES_MAX         128 /* $id and anchors */
#define SCHEMA_REFERENCES_MAX    1024
#define SCHEMA_URI_LEN_MAX       1024
#define SCHEMA_PATTERN_BYTES_MAX (512U << 10) /* what its compiled patterns may take together */
#define SCHEMA_WORK_MAX          4000000U     /* steps that checking one value may take */
#define SCHEMA_CHECK_DEPTH_MAX   512          /* of schemas that wait for each other in a check */
#define SCHEMA_ERRORS_MAX        64

struct schema;

enum schema_dialect {
	SCHEMA_JSON, /* what the world writes */
	SCHEMA_WIRE, /* our own contracts: "bytes" is msgpack's bin, and a real is no "integer" */
};

/* Where a schema is wrong. */
struct schema_mistake {
	const char *pointer; /* JSON Pointer into the schema */
	const char *message;
	const char *elsewhere; /* NULL, or what the document is called that it asks for and lacks */
};

/* Where a value breaks a schema. */
struct schema_error {
	const char
		*pointer; /* JSON Pointer to what is wrong, or to where the missing key would be */
	const char *schema_pointer; /* to the keyword that says so */
	const char *
		reason; /* missing, type, too_long, too_short, range, unknown_key, value, duplicate, work */
	const char *message; /* a sentence about it, without the value itself */
};

struct schema_report {
	struct schema_error *errors;
	size_t count; /* 0: the value satisfies the schema */
	bool more;    /* there were more than SCHEMA_ERRORS_MAX */
};

/*
 * Compiles.  Returns 0; 1 when `text` is not a schema that we understand (*ret_mistake says
 * where); -1 on failure (memory).
 */
int schema_compile(struct arena *arena, const struct value *text, enum schema_dialect dialect,
	const struct schema **ret_schema, struct schema_mistake *ret_mistake, struct err *err);

/*
 * Holds a value against a schema.  Returns 0 with the report, all of it in the arena, or -1
 * (memory).  A check that would take more than SCHEMA_WORK_MAX ends with an error "work".
 */
int schema_check(struct arena *arena, const struct schema *schema, const struct value *value,
	struct schema_report *ret_report, struct err *err);

/* The same with another bound than SCHEMA_WORK_MAX; *ret_spent when it was too low. */
int schema_check_within(struct arena *arena, const struct schema *schema, const struct value *value,
	uint64_t work, struct schema_report *ret_report, bool *ret_spent, struct err *err);
