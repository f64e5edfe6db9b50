/*
 * Holding a value against a compiled schema: schema_check.c for what a keyword says of a value alone,
 * schema_apply.c for schemas within schemas.
 */
#pragma once

#include "proto/schema/schema_rule.h"

/* Which items or keys of one value some rule has looked at; for unevaluatedItems and -Properties. */
struct schema_seen {
	uint64_t *bits;
	size_t count;
};

/* The resources that the check has come through, the innermost first; for $dynamicRef. */
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
	bool quiet;               /* only whether something is wrong is of interest */
	bool broken;              /* quiet: something is */
	struct schema_seen *seen; /* of the value that is looked at; NULL: nobody asks */
	const struct schema_scope *scope;
};

void schema_fail(struct schema_checker *checker);

/* Notes what is wrong: `rule` in the schema, `at` in the value. */
void schema_complain(struct schema_checker *checker, const struct place *rule,
	const struct place *at, const char *reason, const char *format, ...)
	__attribute__((format(printf, 5, 6)));

/* Takes work from the budget; false when it is spent, which is an error, or there is no need. */
bool schema_spend(struct schema_checker *checker, const struct schema_rule *rule,
	const struct place *at, uint64_t cost);

/* Whether looking further would tell nothing new. */
static inline bool schema_has_enough(const struct schema_checker *checker)
{
	return checker->stopped || (checker->quiet && checker->broken);
}

/* Is the pattern in the text?  Complains, and says yes, when that takes too much work. */
bool schema_matches(struct schema_checker *checker, const struct schema_rule *rule,
	const struct pattern *pattern, const char *text, size_t len, const struct place *at);

/* Complains about each of these names that a map does not have as a key. */
void schema_require(struct schema_checker *checker, const struct schema_rule *rule,
	const struct value *names, const struct value *value, const struct place *at);

/* Holds a value against a whole schema. */
void schema_check_node(struct schema_checker *checker, const struct schema *schema,
	const struct value *value, const struct place *at);
