/*
 * The params of a run, as JSON if they begin with `{`, otherwise as msgpack.  An accepted spec
 * must be accepted again from its own value, as the same program with the same inputs.
 */

#include <stdlib.h>
#include <string.h>

#include "proto/job/job.h"
#include "proto/json.h"
#include "proto/wire/wire.h"
#include "tests/fuzz/fuzz.h"
#include "tests/job_bounds.h"
#include "tests/wire_copy.h"

#define ARENA_BYTES (64U << 20)

static const struct job_bounds bounds = {
	BOUNDS_OF_LIMITS,
	.code_bytes = 1U << 16,
	.input_bytes = 1U << 16,
	.files_bytes = 1U << 16,
	.schema_bytes = 1U << 14,
};

static int read_params(struct arena *arena, const uint8_t *data, size_t len, struct value **params)
{
	struct err err = ERR_INIT;

	if (len && data[0] == '{')
		return json_parse(arena, (const char *)data, len, NULL, params, &err);
	*params = wire_decode_copy(arena, (const char *)data, len, NULL, &err);
	return *params ? 0 : -1;
}

static void check_again(struct arena *arena, const struct job_spec *spec)
{
	char before[HASH_TEXT_LEN + 1], after[HASH_TEXT_LEN + 1];
	struct job_refusal refusal = { NULL, NULL, NULL };
	const struct value *said = job_spec_to_value(arena, spec);
	struct err err = ERR_INIT;
	struct job_spec again;
	int answer;

	if (!said)
		return;
	answer = job_spec_from_value(arena, said, &bounds, &again, &refusal, &err);
	if (answer > 0)
		abort();
	if (answer < 0)
		return;
	job_input_hash(spec, before);
	job_input_hash(&again, after);
	if (strcmp(before, after) != 0)
		abort();
	job_code_hash(spec, before);
	job_code_hash(&again, after);
	if (strcmp(before, after) != 0)
		abort();
}

/* The function that collects all refusals must find some exactly when the first check refuses. */
static void check_all(struct arena *arena, const struct value *params, int answer)
{
	struct job_refusals all = { .count = 0 };
	struct err err = ERR_INIT;

	if (job_spec_refusals(arena, params, &bounds, &all, &err) == 0 && answer >= 0 &&
		(answer > 0) != (all.count > 0))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct job_refusal refusal = { NULL, NULL, NULL };
	struct err err = ERR_INIT;
	struct value *params = NULL;
	struct job_spec spec;
	struct arena arena;
	int answer = -1;

	arena_init(&arena, ARENA_BYTES);
	if (read_params(&arena, data, len, &params) == 0)
		answer = job_spec_from_value(&arena, params, &bounds, &spec, &refusal, &err);
	if (answer > 0 && (!refusal.pointer || !refusal.reason || !refusal.message))
		abort();
	if (params)
		check_all(&arena, params, answer);
	if (answer == 0)
		check_again(&arena, &spec);
	arena_done(&arena);
	return 0;
}
