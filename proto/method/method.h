/*
 * The methods that a client may call (method_table.h has a row for each), who may call them, and
 * the schemas of their params and results.  The schemas are the files in proto/method/schemas/,
 * embedded in the program.
 *
 * The process compiles the schemas once, in method_setup() or in the first check.  Afterwards
 * everything here is read-only and any thread may use it.
 */
#pragma once

#include "proto/base/arena.h"
#include "proto/base/err.h"
#include "proto/job/job.h"
#include "proto/method/method_table.h"
#include "proto/method/role.h"
#include "proto/schema/schema.h"
#include "proto/value.h"

#define METHOD_ID(id, name, who, params, result, start, read, finish) METHOD_##id,

enum method_id {
	METHODS(METHOD_ID) METHOD_COUNT
};

/* The rights of each role for a method, two bits for each role. */
#define METHOD_WHO(user, approver, admin)                                                \
	((RIGHT_##user) << (2 * ROLE_USER) | (RIGHT_##approver) << (2 * ROLE_APPROVER) | \
		(RIGHT_##admin) << (2 * ROLE_ADMIN))

enum method_who {
	METHOD_ALL = METHOD_WHO(YES, YES, YES),
	METHOD_USER = METHOD_WHO(YES, NO, YES),
	METHOD_OWNER_ADMIN = METHOD_WHO(OWN, NO, YES),
	METHOD_WATCHER = METHOD_WHO(OWN, OWN, YES),
	METHOD_APPROVER = METHOD_WHO(NO, YES, NO),
	METHOD_ADMIN = METHOD_WHO(NO, NO, YES),
};

struct method {
	enum method_id id;
	const char *name;
	enum method_who who;
	const char *params_file;
	const char *result_file; /* or NULL */
};

/*
 * Compiles the contracts.  The daemon calls it at its start, to find a mistake in a contract then.
 */
int method_setup(struct err *err);

/* Returns NULL when there is no such method. */
const struct method *method_find(const char *name);
const struct method *method_of(enum method_id id);

/* Returns the text of a contract's file, or NULL when there is no such file. */
const char *method_contract_text(const char *name, size_t *ret_len);

/* Returns the right that a caller with these roles has for the method. */
enum right method_right(const struct method *method, unsigned roles);

/*
 * Return the compiled contracts.  NULL for a result without a contract, and when method_setup()
 * failed.
 */
const struct schema *method_params(enum method_id id);
const struct schema *method_result(enum method_id id);

/*
 * Makes a refusal whose message begins with the place: "/limits/pids: must be ...".  Returns 1, or
 * -1.
 */
int method_refuse(struct arena *arena, struct job_refusal *ret_refusal,
	const struct schema_error *why, struct err *err);

/*
 * Returns the params without the optional keys that came as nil (absent.h).  Code that receives a
 * message from outside must call it before any other use of the params.  NULL: no memory.
 */
const struct value *method_without_absent(
	struct arena *arena, enum method_id id, const struct value *params);

/* Checks params against the contract and reports all errors.  Returns 0, or -1 on failure. */
int method_report_params(struct arena *arena, enum method_id id, const struct value *params,
	struct schema_report *ret_report, struct err *err);

/*
 * Checks params against the contract.  0: valid; 1: refused, *ret_refusal has the reason; -1:
 * failure.
 */
int method_check_params(struct arena *arena, enum method_id id, const struct value *params,
	struct job_refusal *ret_refusal, struct err *err);
