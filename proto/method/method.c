#include "proto/method/method.h"

#include <pthread.h>
#include <string.h>

#include "proto/base/container.h"
#include "proto/base/embedded.h"
#include "proto/json.h"
#include "proto/method/absent.h"

#define CONTRACTS_BYTES_MAX (4U << 20)

extern const struct embedded method_schemas[];

#define METHOD_ROW(id, name, who, params, result, start, read, finish) \
	{ METHOD_##id, name, METHOD_##who, params, result },

static const struct method methods[METHOD_COUNT] = { METHODS(METHOD_ROW) };

/* Written once, by setup(), and kept until the process ends. */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct {
	struct arena arena;
	const struct value *texts[METHOD_COUNT]; /* the contracts of the params, uncompiled */
	const struct schema *params[METHOD_COUNT];
	const struct schema *results[METHOD_COUNT];
	struct err err;
} contracts;

static const struct embedded *file_find(const char *name)
{
	const struct embedded *file = method_schemas;

	while (file->name && strcmp(file->name, name) != 0)
		file++;
	return file->name ? file : NULL;
}

static int compile_file(const char *name, const struct schema **ret_schema,
	const struct value **ret_text, struct err *err)
{
	const struct embedded *file = file_find(name);
	struct schema_mistake mistake = { .message = "" };
	struct value *text = NULL;
	int answer;

	if (!file)
		return err_set(err, ERR_MISSING, "there is no contract %s", name);
	if (json_parse(&contracts.arena, (const char *)file->bytes, file->len, NULL, &text, err) <
		0)
		return err_wrap(err, "contract %s", name);
	answer = schema_compile(&contracts.arena, text, SCHEMA_WIRE, ret_schema, &mistake, err);
	if (answer < 0)
		return err_wrap(err, "contract %s", name);
	if (answer)
		return err_set(err, ERR_INVALID, "contract %s%s: %s", name, mistake.pointer,
			mistake.message);
	*ret_text = text;
	return 0;
}

static void setup(void)
{
	const struct value *text;

	arena_init(&contracts.arena, CONTRACTS_BYTES_MAX);
	for (size_t i = 0; i < METHOD_COUNT; i++) {
		if (compile_file(methods[i].params_file, &contracts.params[i], &contracts.texts[i],
			    &contracts.err) < 0)
			return;
		if (methods[i].result_file &&
			compile_file(methods[i].result_file, &contracts.results[i], &text,
				&contracts.err) < 0)
			return;
	}
}

int method_setup(struct err *err)
{
	(void)pthread_once(&once, setup);
	if (contracts.err.code == ERR_NONE)
		return 0;
	if (err)
		*err = contracts.err;
	return -1;
}

const struct method *method_find(const char *name)
{
	for (size_t i = 0; i < COUNT_OF(methods); i++) {
		if (strcmp(methods[i].name, name) == 0)
			return &methods[i];
	}
	return NULL;
}

const struct method *method_of(enum method_id id)
{
	return &methods[id];
}

const char *method_contract_text(const char *name, size_t *ret_len)
{
	const struct embedded *file = file_find(name);

	if (file)
		*ret_len = file->len;
	return file ? (const char *)file->bytes : NULL;
}

const struct schema *method_params(enum method_id id)
{
	return method_setup(NULL) < 0 ? NULL : contracts.params[id];
}

const struct schema *method_result(enum method_id id)
{
	return method_setup(NULL) < 0 ? NULL : contracts.results[id];
}

enum right method_right(const struct method *method, unsigned roles)
{
	enum right most = RIGHT_NO;

	for (unsigned role = 0; role < ROLE_COUNT; role++) {
		enum right right = (enum right)((unsigned)method->who >> (2 * role) & 3U);

		if ((roles & ROLE_BIT(role)) && right > most)
			most = right;
	}
	return most;
}

int method_refuse(struct arena *arena, struct job_refusal *ret_refusal,
	const struct schema_error *why, struct err *err)
{
	struct job_refusal refusal = { why->pointer, why->reason, NULL };

	refusal.message = arena_printf(
		arena, "%s: %s", why->pointer[0] ? why->pointer : "the params", why->message);
	if (!refusal.message)
		return err_set(err, ERR_MEMORY, "no memory for a refusal");
	*ret_refusal = refusal;
	return 1;
}

const struct value *method_without_absent(
	struct arena *arena, enum method_id id, const struct value *params)
{
	if (method_setup(NULL) < 0)
		return params;
	return absent_left_out(arena, contracts.texts[id], params);
}

int method_report_params(struct arena *arena, enum method_id id, const struct value *params,
	struct schema_report *ret_report, struct err *err)
{
	if (method_setup(err) < 0)
		return -1;
	return schema_check(arena, contracts.params[id], params, ret_report, err);
}

int method_check_params(struct arena *arena, enum method_id id, const struct value *params,
	struct job_refusal *ret_refusal, struct err *err)
{
	struct schema_report report;

	if (method_report_params(arena, id, params, &report, err) < 0)
		return -1;
	if (report.count == 0)
		return 0;
	return method_refuse(arena, ret_refusal, &report.errors[0], err);
}
