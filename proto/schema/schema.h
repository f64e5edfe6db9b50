/*
 * JSON Schema: compiles a schema once, then checks values against it.
 *
 * It supports all of drafts 2020-12, 2019-09 and 7.  `format` and content* are only annotations.
 * The $schema of a document names its draft; the default is 2020-12.
 *
 * References resolve inside the schema itself: by pointer, $anchor or $id.  A client puts other
 * documents under $defs, with their $id.  ced never fetches a document, and rejects a schema that
 * needs one.
 *
 * The drafts say to ignore unknown keywords.  But ced rejects keywords of other drafts, and
 * keywords that look like a misspelling of a known one.  If it ignored them, it could accept
 * invalid output.
 *
 * Numbers are compared exactly (see number.h).  1 equals 1.0, and true does not equal 1.  Lengths
 * are in code points.  A number that is not finite has no type.
 *
 * A compiled schema lives in its arena and points into the value from which it was compiled.  It
 * never changes, so threads may share it.
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
#define SCHEMA_PATTERN_BYTES_MAX (512U << 10) /* of all its compiled patterns together */
#define SCHEMA_WORK_MAX          4000000U     /* steps for checking one value */
#define SCHEMA_CHECK_DEPTH_MAX   512          /* of nested schemas during a check */
#define SCHEMA_ERRORS_MAX        64

struct schema;

enum schema_dialect {
	SCHEMA_JSON, /* standard JSON Schema */
	/* ced's own contracts: "bytes" is msgpack's bin, and a real is never an "integer" */
	SCHEMA_WIRE,
};

/* Where a schema is wrong. */
struct schema_mistake {
	const char *pointer; /* JSON Pointer into the schema */
	const char *message;
	const char *elsewhere; /* the name of a referenced document that is missing, or NULL */
};

/* Where a value breaks a schema. */
struct schema_error {
	const char
		*pointer; /* JSON Pointer to what is wrong, or to where the missing key would be */
	const char *schema_pointer; /* JSON Pointer to the keyword that the value breaks */
	const char *
		reason; /* missing type too_long too_short range unknown_key value duplicate work */
	const char *message; /* a sentence that does not contain the value */
};

struct schema_report {
	struct schema_error *errors;
	size_t count; /* 0: the value satisfies the schema */
	bool more;    /* there were more than SCHEMA_ERRORS_MAX */
};

/*
 * Compiles.  Returns 0; 1 when `text` is not a supported schema (*ret_mistake has the place); -1
 * without memory.
 */
int schema_compile(struct arena *arena, const struct value *text, enum schema_dialect dialect,
	const struct schema **ret_schema, struct schema_mistake *ret_mistake, struct err *err);

/*
 * Checks a value against a schema.  Returns 0 with the report, which is in the arena, or -1 without
 * memory.  A check that needs more than SCHEMA_WORK_MAX ends with an error "work".
 */
int schema_check(struct arena *arena, const struct schema *schema, const struct value *value,
	struct schema_report *ret_report, struct err *err);

/*
 * As schema_check(), and subtracts the cost from *work.  When *work is too small, the check ends
 * with an error "work" and *work is 0.
 */
int schema_check_within(struct arena *arena, const struct schema *schema, const struct value *value,
	uint64_t *work, struct schema_report *ret_report, struct err *err);
