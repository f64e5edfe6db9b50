/*
 * Named policies, and verdicts on the text of programs.
 *
 * Policies are JSON files and rules are tree-sitter queries (the folders policies/ and rules/, and
 * the operator's folder).  They are read once, before the daemon accepts clients.  A verdict comes
 * from an inspector process, or from the cache if the same program was checked under the same
 * policy.  A policy expresses intent; the jail is the boundary.
 *
 *	load -> start -> (add inspectors, check programs) ... -> stop -> close
 *
 * A program that could not be checked is denied.  These findings have no rule in a file:
 *
 *	policy.late        the check needs more work or memory than an inspector has
 *	policy.unreadable  two inspectors died or fell silent during the check
 *	policy.absent      there was no inspector
 *	policy.language_denied_policy     the policy does not allow the language
 *	policy.language_denied_execution  the policy allows checks of the language, but no runs
 *	policy.entry       the policy does not allow the name that the program runs as
 *	policy.length      the program is longer than the policy allows
 *	policy.unread      no inspector reads the language, and the policy lets it run (observed)
 *	policy.cut         there were more findings than are listed; decides as the strictest does
 *
 * The stage POLICY of a request adds two: policy.bytecode and policy.environment.
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
struct rulebook;

/*
 * Reads the shipped policies and, if `folder` is not NULL, the .json files in it, which replace
 * shipped ones of the same name.  `standard` names the policy of runs that name none; NULL means
 * POLICY_DEFAULT.
 */
struct policies *policies_load(const char *folder, const char *standard, struct err *err);

/* Changes the policy of runs that name none.  False: there is no policy of this name. */
bool policies_set_standard(struct policies *policies, const char *name);

const struct rulebook *policies_book(const struct policies *policies);

/* Starts the link to inspectors.  The owner adds them with policies_add_inspector(). */
int policies_start(struct policies *policies, uv_loop_t *loop,
	const struct inspector_events *events, struct err *err);

/* As inspector_link_add(). */
int policies_add_inspector(struct policies *policies, int fd, uint32_t child, struct err *err);

/* As inspector_link_retire_after(). */
void policies_retire_after(struct policies *policies, uint32_t busy_ms);

/* As inspector_link_patience(). */
void policies_patience(struct policies *policies, const struct inspector_patience *patience);

/* Whether an inspector is ready. */
bool policies_ready(const struct policies *policies);

/* Whether one ever was. */
bool policies_were_ready(const struct policies *policies);

/* Whether so few checks wait that some more will not have to wait long. */
bool policies_have_room(const struct policies *policies);

/* Whether no check waits: all that were asked for are being read. */
bool policies_read_all(const struct policies *policies);

/* Answers open checks with policy.absent, within this call.  No check may follow. */
void policies_stop(struct policies *policies);

/* Stops, and frees what verdicts point to, or lets the last holder do so.  Accepts NULL. */
void policies_close(struct policies *policies);

/*
 * Keeps the policies for one who has verdicts of them, and who may ask for more until
 * policies_asked_enough().  One who still may ask when it lets go says so.
 */
void policies_hold(struct policies *policies);
void policies_asked_enough(struct policies *policies);
void policies_release(struct policies *policies, bool may_ask);
bool policies_may_be_asked(const struct policies *policies);
bool policies_are_held(const struct policies *policies);

/* Whether all rules, policies and their texts are the same. */
bool policies_are_same(const struct policies *one, const struct policies *other);

/* Finds a policy; a NULL name means the default.  Returns NULL when there is none. */
const struct policy *policies_find(const struct policies *policies, const char *name);

const char *policy_name(const struct policy *policy);
const char *policy_digest(const struct policy *policy);

/* What it decides about a run that asks for a network, whose hosts the settings allow. */
enum policy_decision policy_of_network(const struct policy *policy);

/* What a policy decides about the calls of a tool, and by which item of which list of `tools`. */
struct policy_tool {
	enum policy_decision decision;
	const char *list;    /* "deny", "ask" or "allow"; NULL: the policy does not say */
	const char *pattern; /* NULL: it has a list `allow`, and no list fits the tool */
};

struct policy_tool policy_of_tool(const struct policy *policy, const char *name);

/* The decision of its strictest rule: POLICY_DENY, or milder. */
enum policy_decision policy_strictest(const struct policy *policy);

/*
 * Whether the policy lets programs of this language run, and not only be checked.  If not,
 * *ret_finding is the finding that the verdict over a run has.
 */
bool policy_executes(
	const struct policy *policy, const char *language, struct policy_finding *ret_finding);

/* The rules that a worker enforces on a program of this language; empty: none. */
struct bytes policy_run_rules(
	const struct policies *policies, const struct policy *policy, const char *language);

/*
 * Makes a finding of a rule that a worker reported: id, message and hint.  Returns false if the
 * worker was not given that rule.
 */
bool policy_run_finding(const struct policies *policies, const struct policy *policy,
	const char *language, const char *rule, struct policy_finding *ret_finding);

/* The caller keeps it, and what it points to, until the answer. */
struct policy_question {
	const struct policy *policy;
	const char *language;
	struct bytes code;
	const char *code_hash; /* as job_code_hash() writes it; NULL: not cached */
	struct arena *arena;   /* for the verdict */
	bool only_checks;      /* checked even if the policy would not run it */
	uint32_t uid;          /* of the caller; users take turns */
	const char *entry; /* the name that the program runs as; NULL: a file beside the program */
};

/*
 * True if there is a verdict at once: from the cache, or because the text does not matter (the
 * language, its name or its length decide, or there is no rule).
 */
bool policy_lookup(struct policies *policies, const struct policy_question *question,
	struct policy_verdict *ret_verdict);

typedef void policy_done(void *context, const struct policy_verdict *verdict);

/*
 * Asks an inspector.  Calls back once, later, from the loop.  Returns -1 and never calls back with
 * ERR_BUSY if too many questions wait, and with ERR_MEMORY.  `on_done` copies `verdict`; what that
 * points to lives in the question's arena or as long as the policies.  `verdict` is NULL if all
 * inspectors were busy for too long: nothing was decided.
 */
int policy_check(struct policies *policies, const struct policy_question *question,
	policy_done *on_done, void *context, struct err *err);

/*
 * Withdraws a question that no inspector has yet: returns true, and on_done is not called.  Returns
 * false if its answer is on the way, or if there is none with this context.
 */
bool policy_withdraw(struct policies *policies, const void *context);

/* The name and limits of the policy with this index; NULL after the last. */
const char *policies_limits(const struct policies *policies, uint32_t index,
	struct job_limits *ret_limits, struct job_limits *ret_most);

/*
 * [{name, description, languages, executes, unread, digest, default}] for `hello` and `cectl
 * policy list`.
 */
struct value *policies_describe(const struct policies *policies, struct arena *arena);

/*
 * Describes one policy: the keys above, and limits, most, and rules [{id, language, severity, at,
 * finds, words, number, beside, message, hint}].
 */
struct value *policies_show(
	const struct policies *policies, const struct policy *policy, struct arena *arena);

/* {alive, ready, waiting, answered, late, lost, remembered, hits, misses} for admin.status. */
struct value *policies_status(const struct policies *policies, struct arena *arena);
