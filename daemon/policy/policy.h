/*
 * What a program may do by its text: named policies, and verdicts on programs.
 *
 * Policies are data, rules are tree-sitter queries (the folders policies/ and rules/, and one of
 * the operator's with both); they are read once, before the first client is heard.  A verdict
 * comes from an inspector process, or from memory when the same program was checked under the
 * same policy.
 * Source policy says what is intended; the jail is what holds.
 *
 *	load -> start -> (add inspectors, check programs) ... -> stop -> close
 *
 * A program that could not be checked, whatever the reason, is denied:
 *
 *	policy.late        checking it takes more work than an inspector may do, or more room than it has
 *	policy.unreadable  two inspectors died over it, or did not answer
 *	policy.absent      there was no inspector
 *	policy.language_denied_policy     the policy does not allow the language
 *	policy.language_denied_execution  it allows it to be asked about, and not to run
 *	policy.unread      nobody can read the language, and the policy lets it run all the same (observed)
 *	policy.cut         there was more to find than is told (as the policy's strictest rule says)
 */
#pragma once

#include <stdbool.h>

#include <uv.h>

#include "daemon/policy/inspector_link.h"
#include "proto/base/arena.h"
#include "proto/base/err.h"
#include "proto/job/job.h"
#include "proto/value.h"

#define POLICY_DEFAULT "standard"

struct policies;
struct policy;

/*
 * Reads the shipped policies and, when `folder` is not NULL, the .json files in it, which take the
 * place of shipped ones of the same name.  `standard` names the policy of runs that name none;
 * NULL is POLICY_DEFAULT.
 */
struct policies *policies_load(const char *folder, const char *standard, struct err *err);

/* Begins to talk to inspectors, which the owner adds as he gets them. */
int policies_start(struct policies *policies, uv_loop_t *loop,
	const struct inspector_events *events, struct err *err);

/* As inspector_link_add(). */
int policies_add_inspector(struct policies *policies, int fd, uint32_t child, struct err *err);

/* As inspector_link_retire_after(). */
void policies_retire_after(struct policies *policies, uint32_t busy_ms);

/* As inspector_link_patience(). */
void policies_patience(struct policies *policies, const struct inspector_patience *patience);

/* Whether an inspector is ready to be asked. */
bool policies_ready(const struct policies *policies);

/* Whether one ever was. */
bool policies_were_ready(const struct policies *policies);

/* Open checks are answered with policy.absent, in this call; nothing more may be asked. */
void policies_stop(struct policies *policies);

/* Stops, and frees what verdicts point to.  Accepts NULL. */
void policies_close(struct policies *policies);

/* NULL name: the default.  NULL when there is no such policy. */
const struct policy *policies_find(const struct policies *policies, const char *name);

const char *policy_name(const struct policy *policy);
const char *policy_digest(const struct policy *policy);

/* What the strictest of its rules says of what it finds: POLICY_DENY, or milder. */
enum policy_decision policy_strictest(const struct policy *policy);

/*
 * Whether it executes programs of a language that it allows to be asked about; false: *ret_finding says
 * so, as the verdict over a run of one does.
 */
bool policy_executes(
	const struct policy *policy, const char *language, struct policy_finding *ret_finding);

/* What a worker holds a program of that language to while it runs; empty: nothing. */
struct bytes policy_run_rules(
	const struct policies *policies, const struct policy *policy, const char *language);

/*
 * What a worker has told of a rule, as a finding; its id, message and hint are filled in.  False: it
 * is none of those that it was told.
 */
bool policy_run_finding(const struct policies *policies, const struct policy *policy,
	const char *language, const char *rule, struct policy_finding *ret_finding);

/* Lives, with what it points to, until it is answered. */
struct policy_question {
	const struct policy *policy;
	const char *language;
	struct bytes code;
	const char *code_hash; /* as job_code_hash() writes it; NULL: nothing is remembered */
	struct arena *arena;   /* for the verdict */
	bool only_checks;      /* it is looked at also where the policy would not execute it */
	uint32_t uid;          /* who asks: users take turns */
	const char *entry; /* the name that the program runs as; NULL: it is a file beside one */
};

/* True when the verdict can be given at once: it is remembered, or nothing needs to be looked at. */
bool policy_lookup(struct policies *policies, const struct policy_question *question,
	struct policy_verdict *ret_verdict);

typedef void policy_done(void *context, const struct policy_verdict *verdict);

/*
 * Asks an inspector.  Always calls back later, from the loop, once.  -1, and no call, with
 * ERR_BUSY when too many wait, ERR_MEMORY.  `verdict` is the callee's to copy; what it points to
 * lives in the question's arena or as long as the policies.  It is NULL when all inspectors were busy
 * for so long that the question was given up: nothing was decided.
 */
int policy_check(struct policies *policies, const struct policy_question *question,
	policy_done *on_done, void *context, struct err *err);

/*
 * Takes a question back that no inspector has begun to answer: true, and there is no call.  False: its
 * answer is on the way, or there is none with this context.
 */
bool policy_withdraw(struct policies *policies, const void *context);

/* The name of the policy of that number, and the limits that it brings; NULL behind the last. */
const char *policies_limits(const struct policies *policies, uint32_t index,
	struct job_limits *ret_limits, struct job_limits *ret_most);

/* [{name, description, languages, executes, unread, digest, default}] for `hello` and `cectl policy list`. */
struct value *policies_describe(const struct policies *policies, struct arena *arena);

/*
 * All of one: as above, and limits, most, and rules [{id, language, severity, at, finds, words,
 * number, beside, message, hint}].
 */
struct value *policies_show(
	const struct policies *policies, const struct policy *policy, struct arena *arena);

/* {alive, ready, waiting, answered, late, lost, remembered, hits, misses} for admin.status. */
struct value *policies_status(const struct policies *policies, struct arena *arena);
