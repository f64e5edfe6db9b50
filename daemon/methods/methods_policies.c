/*
 * policies.list, policies.show and policies.test.
 *
 * policies.test checks examples against policies, one after the other, and runs none of them.  It
 * uses the policies in force.  With `fresh` it reads the operator's folder again, and the policies
 * in it get an inspector of their own until the test ends.
 *
 *	start -> (fresh: read the folder, get an inspector) -> ask, ask, ... -> answer the call
 *
 * If the rules have an error, the answer has a `complaint` with file and line.  Only one test with
 * fresh rules runs at a time; a second one is answered `busy`.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/methods/methods.h"
#include "daemon/policy/policy.h"
#include "daemon/services.h"
#include "daemon/workers/inspectors.h"
#include "daemon/workers/pool.h"
#include "daemon/workers/runtime.h"
#include "daemon/workers/spawner_link.h"
#include "proto/base/container.h"
#include "proto/base/fdio.h"
#include "proto/base/nearest.h"
#include "proto/job/language.h"

#define FRESH_BUSY_MS 50000U /* below the inspector's limit on cpu time */

/* ---- policies.list, policies.show ---------------------------------------------------------- */

void method_policies_list(struct call *call)
{
	struct value *map = value_map(&call->arena);

	value_map_put(&call->arena, map, "policies",
		policies_describe(call->services->policies, &call->arena));
	call_result(call, map);
}

void method_policies_show(struct call *call)
{
	const char *name = value_as_text(value_get(call->params, "name"));
	const struct policy *policy = policies_find(call->services->policies, name);
	struct nearest nearest = NEAREST_OF(name);
	const struct value *all;

	if (policy) {
		call_result(call, policies_show(call->services->policies, policy, &call->arena));
		return;
	}
	all = policies_describe(call->services->policies, &call->arena);
	for (size_t i = 0; value_at(all, i); i++)
		nearest_offer(&nearest, value_as_text(value_get(value_at(all, i), "name")));
	call_error(call, RPC_CODE_NOT_FOUND, "there is no policy \"%s\"%s", name,
		nearest_hint(&nearest));
}

/* ---- policies.test -------------------------------------------------------------------------- */

struct policy_test {
	struct list link; /* in services->policy_tests */
	struct services *services;
	struct call *call;
	struct policies *policies; /* those in force; with `fresh` our own, which we close */
	bool fresh;
	bool asked; /* the spawner, for an inspector */
	bool ended;
	int sock; /* our end, until the spawner has answered */
	uint32_t child;
	const char *complaint;
	const struct value *cases;
	size_t at;
	struct value *results;
	struct policy_question question;
	struct timer *end;
};

/* ---- the end -------------------------------------------------------------------------------- */

static void test_answer(struct policy_test *test)
{
	struct arena *arena = &test->call->arena;
	struct value *map = value_map(arena);

	if (test->complaint)
		value_map_put(arena, map, "complaint", value_text(arena, test->complaint));
	value_map_put(arena, map, "results", test->results);
	call_result(test->call, map);
	test->call = NULL;
}

static void kill_inspector(struct policy_test *test)
{
	struct priv_msg msg = { .op = PRIV_KILL, .id = test->child };

	if (test->child)
		spawner_ask(test->services->spawner, &msg, NULL, 0, NULL, NULL);
	test->child = 0;
}

/*
 * Open questions lie in the call's memory, so the policies are closed first.  The spawner's answer
 * may still come and points to the test; on_inspector() frees it then.
 */
static void test_close(struct policy_test *test)
{
	test->ended = true;
	if (test->fresh)
		policies_close(test->policies);
	else
		policies_release(test->policies, true);
	test->policies = NULL;
	test_answer(test);
	kill_inspector(test);
	timer_close(test->end);
	test->end = NULL;
	if (test->asked)
		return;
	list_remove(&test->link);
	free(test);
}

static void on_end(void *owner)
{
	test_close(owner);
}

/* Ends from the loop: the caller may be a callback of the policies that are closed then. */
static void test_end(struct policy_test *test)
{
	if (test->ended)
		return;
	test->ended = true;
	test->end = timer_new(test->services->loop, 0, 0, on_end, test);
}

static void complain(struct policy_test *test, const char *why)
{
	if (test->ended || test->complaint)
		return;
	test->complaint = arena_copy(&test->call->arena, why, why ? strlen(why) : 0);
	test_end(test);
}

/* ---- one example after the other ----------------------------------------------------------- */

static void ask_on(struct policy_test *test);

static void test_note(struct policy_test *test, const struct policy_verdict *verdict)
{
	struct arena *arena = &test->call->arena;

	(void)value_list_add(arena, test->results, policy_verdict_to_value(arena, verdict));
	test->at++;
}

static void on_verdict(void *context, const struct policy_verdict *verdict)
{
	struct policy_test *test = context;

	if (test->ended)
		return;
	if (!verdict) {
		complain(test, "too many programs wait to be checked");
		return;
	}
	test_note(test, verdict);
	ask_on(test);
}

/* The language as in a run: that of the runtime with this name, else the meaning of the alias. */
static const char *language_of(struct policy_test *test, const struct value *example)
{
	const char *word = value_as_text(value_get(example, "language"));
	const struct runtime *runtime = word ? pool_find(test->services->pool, word) : NULL;
	const char *language = word ? language_of_alias(word) : NULL;

	if (runtime)
		return runtime_language(runtime);
	if (language)
		return language;
	return word ? word : ""; /* text with U+0000 inside reads as NULL */
}

/* Fills in the question about the current example; false: its policy does not exist. */
static bool put_question(struct policy_test *test)
{
	const struct value *example = value_at(test->cases, test->at);
	const char *name = value_as_text(value_get(example, "policy"));
	const struct value *code = value_get(example, "code");

	test->question = (struct policy_question){
		.policy = name ? policies_find(test->policies, name) : NULL,
		.language = language_of(test, example),
		.code = { code->text.bytes, code->text.len },
		.arena = &test->call->arena,
		.only_checks = true,
	};
	if (test->question.policy)
		return true;
	complain(test,
		arena_printf(&test->call->arena, "there is no policy \"%s\"", name ? name : ""));
	return false;
}

static void ask_on(struct policy_test *test)
{
	struct policy_verdict verdict;
	struct err err = ERR_INIT;

	while (!test->ended && value_at(test->cases, test->at)) {
		if (test->services->state->closing || !put_question(test))
			break;
		if (policy_lookup(test->policies, &test->question, &verdict)) {
			test_note(test, &verdict);
			continue;
		}
		if (policy_check(test->policies, &test->question, on_verdict, test, &err) == 0)
			return;
		complain(test, err.text);
	}
	test_end(test);
}

/* ---- fresh rules --------------------------------------------------------------------------- */

static void on_lost(void *context, uint32_t child, const char *why, bool retired)
{
	(void)child;
	(void)retired;
	complain(context, why);
}

static void on_inspector(void *context, const struct priv_msg *msg, int *fds, unsigned fd_count)
{
	struct policy_test *test = context;
	struct err err = ERR_INIT;
	int sock = take_fd(&test->sock);

	close_fds(fds, fd_count);
	test->asked = false;
	test->child = msg->error ? 0 : msg->id;
	if (!test->policies) { /* the test has ended meanwhile */
		close(sock);
		kill_inspector(test);
		list_remove(&test->link);
		free(test);
	} else if (msg->error) {
		close(sock);
		complain(test, msg->text);
	} else if (policies_add_inspector(test->policies, sock, test->child, &err) < 0) {
		complain(test, err.text);
	} else {
		ask_on(test);
	}
}

static int start_fresh(struct policy_test *test, struct err *err)
{
	struct services *services = test->services;
	const char *folder = services->config->policies[0] ? services->config->policies : NULL;
	const struct inspector_events events = { NULL, on_lost, test };
	struct priv_msg msg = { .op = PRIV_INSPECTOR };
	int ends[2];

	test->policies = policies_load(folder, services->config->policy, err);
	if (!test->policies || policies_start(test->policies, services->loop, &events, err) < 0)
		return -1;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return err_sys(err, "socketpair");
	(void)fd_set_nonblocking(ends[0], true, err);
	policies_retire_after(test->policies, FRESH_BUSY_MS);
	test->sock = ends[0];
	test->asked = true;
	inspectors_ceilings(services->config, &msg);
	spawner_ask(services->spawner, &msg, &ends[1], 1, on_inspector, test);
	return 0;
}

/* ---- the beginning ------------------------------------------------------------------------- */

static bool has_fresh(const struct services *services)
{
	list_for_each(at, services->policy_tests) {
		if (container_of(at, struct policy_test, link)->fresh)
			return true;
	}
	return false;
}

static void policy_test_start(struct call *call, bool fresh)
{
	struct services *services = call->services;
	struct policy_test *test = NULL;
	struct err err = ERR_INIT;

	if (!services->state->closing && !(fresh && has_fresh(services)))
		test = calloc(1, sizeof(*test));
	if (!test) {
		call_error(call, RPC_CODE_BUSY,
			"another test of rules is in progress: try again later");
		return;
	}
	*test = (struct policy_test){ .services = services,
		.call = call,
		.policies = services->policies,
		.fresh = fresh,
		.sock = -1,
		.cases = value_get(call->params, "cases"),
		.results = value_list(&call->arena) };
	list_append(services->policy_tests, &test->link);
	if (!fresh) {
		policies_hold(test->policies);
		ask_on(test);
		return;
	}
	if (start_fresh(test, &err) < 0)
		complain(test, err.text);
}

void method_policies_test(struct call *call)
{
	bool fresh = value_as_bool(value_get(call->params, "fresh"), false);

	if (fresh && call->right != RIGHT_YES)
		call_error(call, RPC_CODE_FORBIDDEN,
			"only administrators may test rules that are not in force");
	else
		policy_test_start(call, fresh);
}

void policy_tests_close(struct services *services)
{
	list_for_each(at, services->policy_tests) {
		struct policy_test *test = container_of(at, struct policy_test, link);

		if (test->call)
			test_close(test);
	}
}
