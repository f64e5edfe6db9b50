/*
 * Checks a value against a compiled schema.  schema_check.c has the keywords that concern only the
 * value itself.  schema_apply.c has the keywords with inner schemas.
 */
#pragma once

#include "proto/schema/schema_rule.h"

/*
 * The items or keys of one value that some rule has evaluated; for unevaluatedItems and
 * unevaluatedProperties.
 */
struct schema_seen {
	uint64_t *bits;
	size_t count;
};

/* The resources that the check has entered, the innermost first; for $dynamicRef. */
struct schema_scope {
	const struct schema_resource *resource;
	const struct schema_scope *outer;
};

struct schema_checker {
	struct arena *arena;
	struct schema_report *report;
	uint64_t work;
	size_t depth;
	bool stopped;             /* enough errors, no work left, or no memory */
	bool failed;              /* no memory */
	bool quiet;               /* only find out whether there is an error */
	bool broken;              /* there is an error; for quiet checks */
	struct schema_seen *seen; /* of the current value; NULL: not needed */
	const struct schema_scope *scope;
};

void schema_fail(struct schema_checker *checker);

/* Adds an error: `rule` is the place in the schema, `at` the place in the value. */
void schema_complain(struct schema_checker *checker, const struct place *rule,
	const struct place *at, const char *reason, const char *format, ...)
	__attribute__((format(printf, 5, 6)));

/*
 * Subtracts work from the budget.  Returns false when the check has its result, or when the budget
 * is used up, which adds an error.
 */
bool schema_spend(struct schema_checker *checker, const struct schema_rule *rule,
	const struct place *at, uint64_t cost);

/* Whether more checking cannot change the result. */
static inline bool schema_has_enough(const struct schema_checker *checker)
{
	return checker->stopped || (checker->quiet && checker->broken);
}

/*
 * Returns whether the text matches the pattern.  When that takes too much work, adds an error and
 * returns true.
 */
bool schema_matches(struct schema_checker *checker, const struct schema_rule *rule,
	const struct pattern *pattern, const char *text, size_t len, const struct place *at);

/* Adds an error for each of these names that is not a key of the map. */
void schema_require(struct schema_checker *checker, const struct schema_rule *rule,
	const struct value *names, const struct value *value, const struct place *at);

/* Checks a value against a whole schema. */
void schema_check_node(struct schema_checker *checker, const struct schema *schema,
	const struct value *value, const struct place *at);
