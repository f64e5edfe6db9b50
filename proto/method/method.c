#include "proto/method/method.h"

#include <pthread.h>
#include <string.h>

#include "proto/base/container.h"
#include "proto/base/embedded.h"
#include "proto/json.h"
#include "proto/method/absent.h"

#define CONTRACTS_BYTES_MAX (4U << 20)

extern const struct embedded method_schemas[];

/* clang-format off */
static const struct method methods[METHOD_COUNT] = {
	{ METHOD_HELLO,          "hello",          METHOD_ALL,         "hello.json",       NULL },
	{ METHOD_RUN,            "run",            METHOD_USER,        "run.json",         "result.json" },
	{ METHOD_CHECK,          "check",          METHOD_USER,        "run.json",         NULL },
	{ METHOD_WAIT,           "wait",           METHOD_OWNER_ADMIN, "wait.json",        "result.json" },
	{ METHOD_CANCEL,         "cancel",         METHOD_OWNER_ADMIN, "cancel.json",      NULL },
	{ METHOD_RUNTIMES,       "runtimes",       METHOD_ALL,         "none.json",        NULL },
	{ METHOD_BLOB_PUT,       "blob.put",       METHOD_USER,        "blob.put.json",    NULL },
	{ METHOD_BLOB_GET,       "blob.get",       METHOD_USER,        "blob.get.json",    NULL },
	{ METHOD_RUNS_LIST,      "runs.list",      METHOD_OWNER_ADMIN, "runs.list.json",   NULL },
	{ METHOD_RUNS_GET,       "runs.get",       METHOD_OWNER_ADMIN, "run_id.json",      NULL },
	{ METHOD_RUNS_OUTPUT,    "runs.output",    METHOD_OWNER_ADMIN, "runs.output.json", NULL },
	{ METHOD_RUNS_REPLAY,    "runs.replay",    METHOD_OWNER_ADMIN, "runs.replay.json", NULL },
	{ METHOD_STATS,          "stats",          METHOD_OWNER_ADMIN, "stats.json",       NULL },
	{ METHOD_EVENTS_SUBSCRIBE, "events.subscribe", METHOD_WATCHER, "events.subscribe.json", NULL },
	{ METHOD_POLICIES_LIST,  "policies.list",  METHOD_ALL,         "none.json",        NULL },
	{ METHOD_POLICIES_SHOW,  "policies.show",  METHOD_ALL,         "policies.show.json", NULL },
	{ METHOD_POLICIES_TEST,  "policies.test",  METHOD_OWNER_ADMIN, "policies.test.json", NULL },
	{ METHOD_APPROVALS_LIST, "approvals.list",     METHOD_APPROVER, "approvals.list.json", NULL },
	{ METHOD_APPROVALS_APPROVE, "approvals.approve", METHOD_APPROVER, "approvals.approve.json", NULL },
	{ METHOD_APPROVALS_DENY, "approvals.deny",     METHOD_APPROVER, "approvals.deny.json", NULL },
	{ METHOD_APPROVALS_REVOKE, "approvals.revoke", METHOD_APPROVER, "approvals.revoke.json", NULL },
	{ METHOD_ADMIN_STATUS,   "admin.status",   METHOD_ADMIN,       "none.json",        NULL },
	{ METHOD_ADMIN_ACTS,     "admin.acts",     METHOD_ADMIN,       "acts.json",        NULL },
	{ METHOD_ADMIN_DRAIN,    "admin.drain",    METHOD_ADMIN,       "lever.json",       NULL },
	{ METHOD_ADMIN_RESUME,   "admin.resume",   METHOD_ADMIN,       "lever.json",       NULL },
	{ METHOD_ADMIN_KILL_ALL, "admin.kill_all", METHOD_ADMIN,       "lever.json",       NULL },
	{ METHOD_ADMIN_BLOCK,    "admin.block",    METHOD_ADMIN,       "block.json",       NULL },
	{ METHOD_ADMIN_UNBLOCK,  "admin.unblock",  METHOD_ADMIN,       "block.json",       NULL },
	{ METHOD_ADMIN_GC,       "admin.gc",       METHOD_ADMIN,       "admin.gc.json",    NULL },
	{ METHOD_ADMIN_RESET_BUDGET, "admin.reset_budget", METHOD_ADMIN, "reset_budget.json", NULL },
	{ METHOD_BUDGETS_LIST,   "budgets.list",   METHOD_OWNER_ADMIN, "budgets.json",     NULL },
	{ METHOD_AUDIT_BACKUP,   "audit.backup",   METHOD_ADMIN,       "audit.backup.json", NULL },
	{ METHOD_AUDIT_EXPORT,   "audit.export",   METHOD_ADMIN,       "audit.export.json", NULL },
	{ METHOD_AUDIT_VERIFY,   "audit.verify",   METHOD_ADMIN,       "audit.verify.json", NULL },
	{ METHOD_AUDIT_CHECKPOINT, "audit.checkpoint", METHOD_ADMIN,   "none.json",        NULL },
	{ METHOD_AUDIT_KEY,      "audit.key",      METHOD_ADMIN,       "none.json",        NULL },
};
/* clang-format on */

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
