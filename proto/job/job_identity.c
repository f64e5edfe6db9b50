#include "proto/job/job_identity.h"

#include <string.h>

#include "proto/base/container.h"
#include "proto/number.h"

/*
 * Prefixes of the hashed bytes, so that the two kinds and later forms never have the same hash by
 * accident.
 */
#define ACTION_FORM "ced action 1\n"
#define RESULT_FORM "ced result 1\n"

/* ---- pieces ------------------------------------------------------------------------------- */

/* A missing text and an empty one give different digests. */
static void add_text(struct digest *digest, const char *text)
{
	digest_add_u64(digest, text != NULL);
	if (text)
		digest_add_sized(digest, text, strlen(text));
}

static void add_pairs(struct digest *digest, const struct job_pair *pairs, size_t count)
{
	digest_add_u64(digest, count);
	for (size_t i = 0; i < count; i++) {
		digest_add_sized(digest, pairs[i].key, strlen(pairs[i].key));
		digest_add_sized(digest, pairs[i].value.data, pairs[i].value.len);
	}
}

/* Adds a value with all its items, and maps in their order of arrival. */
/* NOLINTNEXTLINE(misc-no-recursion): no deeper than a message may nest */
static void add_value(struct digest *digest, const struct value *value)
{
	digest_add_u64(digest, value ? (uint64_t)value->type + 1 : 0);
	if (!value)
		return;
	switch (value->type) {
	case VALUE_NIL:
		break;
	case VALUE_BOOL:
		digest_add_u64(digest, value->boolean);
		break;
	case VALUE_INT:
	case VALUE_UINT:
		digest_add_u64(digest, value->uinteger);
		break;
	case VALUE_REAL:
		digest_add_sized(digest, &value->real, sizeof(value->real));
		break;
	case VALUE_TEXT:
	case VALUE_BYTES:
		digest_add_sized(digest, value->text.bytes, value->text.len);
		break;
	case VALUE_LIST:
		digest_add_u64(digest, value->list.count);
		for (size_t i = 0; i < value->list.count; i++)
			add_value(digest, value->list.items[i]);
		break;
	case VALUE_MAP:
		digest_add_u64(digest, value->map.count);
		for (size_t i = 0; i < value->map.count; i++) {
			digest_add_sized(
				digest, value->map.entries[i].key, value->map.entries[i].key_len);
			add_value(digest, value->map.entries[i].value);
		}
		break;
	}
}

/* ---- keys of `run` ------------------------------------------------------------------------ */

#define ADDS(field, add)                                                            \
	static void add_##field(struct digest *digest, const struct job_spec *spec) \
	{                                                                           \
		add(digest, spec->field);                                           \
	}
/* clang-format off */
ADDS(language, add_text)
ADDS(entrypoint, add_text)
ADDS(policy, add_text)
ADDS(session, add_text)
ADDS(from, digest_add_u64)
ADDS(atomic, digest_add_u64)
ADDS(task, add_text)
ADDS(agent, add_text)
ADDS(schema, add_value)
ADDS(tools_asked, add_value)
ADDS(tools_as, digest_add_u64)
ADDS(on_output_limit, digest_add_u64)
ADDS(output, digest_add_u64)
ADDS(trace, digest_add_u64)
ADDS(deterministic, digest_add_u64)
ADDS(display, digest_add_u64)
/* clang-format on */
#undef ADDS

/* A run without a network keeps the digest that it had before there were networks. */
static void add_network_asked(struct digest *digest, const struct job_spec *spec)
{
	if (spec->network_asked)
		add_value(digest, spec->network_asked);
}

/*
 * Adds the limits as the caller sent them, so that a repeat stays a repeat when the host's defaults
 * change.
 */
static void add_limits_asked(struct digest *digest, const struct job_spec *spec)
{
	for (size_t i = 0; i < JOB_LIMIT_COUNT; i++)
		add_value(digest, value_get(spec->limits_asked, job_limit_names[i]));
}

static void add_limits_in_force(struct digest *digest, const struct job_spec *spec)
{
	for (size_t i = 0; i < JOB_LIMIT_COUNT; i++)
		digest_add_u64(digest, spec->limits.each[i]);
}

static void add_artifacts(struct digest *digest, const struct job_spec *spec)
{
	digest_add_u64(digest, spec->artifact_glob_count);
	for (size_t i = 0; i < spec->artifact_glob_count; i++)
		add_text(digest, spec->artifact_globs[i]);
}

static void add_labels(struct digest *digest, const struct job_spec *spec)
{
	add_pairs(digest, spec->labels, spec->label_count);
}

/* job_circumstances has the digests of the sets that are used. */
static void add_packages(struct digest *digest, const struct job_spec *spec)
{
	digest_add_u64(digest, spec->has_packages);
	digest_add_u64(digest, spec->package_count);
	for (size_t i = 0; i < spec->package_count; i++)
		add_text(digest, spec->packages[i]);
}

#define BOTH (JOB_SAME_ACTION | JOB_SAME_RESULT)

/* clang-format off */
static const struct row {
	const char *key; /* of run.json; may have several rows */
	unsigned counts; /* a set of job_sameness; 0: none, for the reason in the comment */
	/* NULL: part of code_hash or input_hash */
	void (*add)(struct digest *digest, const struct job_spec *spec);
} rows[] = {
	{ "language",        BOTH,            add_language },
	{ "code",            BOTH,            NULL }, /* code_hash */
	{ "entrypoint",      BOTH,            add_entrypoint },
	{ "args",            BOTH,            NULL }, /* input_hash, as the next four */
	{ "stdin",           BOTH,            NULL },
	{ "input",           BOTH,            NULL },
	{ "files",           BOTH,            NULL },
	{ "env",             BOTH,            NULL },
	{ "limits",          JOB_SAME_ACTION, add_limits_asked },
	{ "limits",          JOB_SAME_RESULT, add_limits_in_force },
	{ "on_output_limit", BOTH,            add_on_output_limit },
	{ "artifacts",       BOTH,            add_artifacts },
	{ "policy",          JOB_SAME_ACTION, add_policy }, /* job_circumstances has its digest */
	{ "packages",        BOTH,            add_packages },
	{ "network",         BOTH,            add_network_asked },
	/* a cached result is checked against the new request's own contract */
	{ "output",          JOB_SAME_ACTION, add_output },
	{ "schema",          JOB_SAME_ACTION, add_schema },
	{ "from",            JOB_SAME_ACTION, add_from },
	{ "atomic",          JOB_SAME_ACTION, add_atomic },
	{ "session",         JOB_SAME_ACTION, add_session }, /* a cell's result is not cached */
	{ "task",            JOB_SAME_ACTION, add_task },
	{ "agent",           JOB_SAME_ACTION, add_agent },
	{ "labels",          JOB_SAME_ACTION, add_labels },
	/* the trace is part of the result */
	{ "trace",           JOB_SAME_RESULT, add_trace },
	{ "deterministic",   BOTH,            add_deterministic },
	/* a run with tools is not cached */
	{ "tools",           JOB_SAME_ACTION, add_tools_asked },
	{ "tools_as",        JOB_SAME_ACTION, add_tools_as },
	/* the last expression is compiled in another way, and the display is part of the result */
	{ "display",         BOTH,            add_display },
	/* is the key under which the action is found */
	{ "id",              0,               NULL },
	{ "run_id",          0,               NULL },     /* names the run */
	{ "cache",           0,               NULL },     /* how the answer is obtained */
	{ "stream",          0,               NULL },     /* how the answer is sent */
	{ "announce",        0,               NULL },
	{ "detach",          0,               NULL },
	{ "secrets",         0,               NULL },     /* how the run is stored */
};
/* clang-format on */

int job_identity_of(const char *key)
{
	int counts = -1;

	for (size_t i = 0; i < COUNT_OF(rows); i++)
		if (strcmp(rows[i].key, key) == 0)
			counts = (counts < 0 ? 0 : counts) | (int)rows[i].counts;
	return counts;
}

static void add_all(struct digest *digest, const char *form, const struct job_spec *spec,
	const struct job_hashes *hashes, unsigned counts)
{
	digest_add(digest, form, strlen(form));
	add_text(digest, hashes->code);
	add_text(digest, hashes->input);
	for (size_t i = 0; i < COUNT_OF(rows); i++)
		if ((rows[i].counts & counts) && rows[i].add)
			rows[i].add(digest, spec);
}

void job_action_digest(const struct job_spec *spec, const struct job_hashes *hashes,
	uint8_t ret_digest[DIGEST_LEN])
{
	struct digest digest;

	digest_start(&digest);
	add_all(&digest, ACTION_FORM, spec, hashes, JOB_SAME_ACTION);
	digest_end(&digest, ret_digest);
}

void job_cache_key(const struct job_spec *spec, const struct job_hashes *hashes,
	const struct job_circumstances *circumstances, uint8_t ret_key[DIGEST_LEN])
{
	struct digest digest;

	digest_start(&digest);
	add_all(&digest, RESULT_FORM, spec, hashes, JOB_SAME_RESULT);
	digest_add_u64(&digest, circumstances->uid);
	add_text(&digest, circumstances->runtime_digest);
	add_text(&digest, circumstances->policy_digest);
	add_value(&digest, circumstances->packages);
	digest_end(&digest, ret_key);
}
