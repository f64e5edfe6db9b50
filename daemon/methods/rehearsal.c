#include "daemon/methods/rehearsal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/policy/policy.h"
#include "daemon/services.h"
#include "daemon/workers/inspectors.h"
#include "daemon/workers/pool.h"
#include "daemon/workers/runtime.h"
#include "daemon/workers/spawner_link.h"
#include "proto/base/container.h"
#include "proto/base/fdio.h"
#include "proto/job/language.h"

#define FRESH_BUSY_MS 50000U /* below the inspector's limit on cpu time */

struct rehearsal {
	struct list link; /* in services->rehearsals */
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

static void answer(struct rehearsal *rehearsal)
{
	struct arena *arena = &rehearsal->call->arena;
	struct value *map = value_map(arena);

	if (rehearsal->complaint)
		value_map_put(arena, map, "complaint", value_text(arena, rehearsal->complaint));
	value_map_put(arena, map, "results", rehearsal->results);
	call_result(rehearsal->call, map);
	rehearsal->call = NULL;
}

static void kill_inspector(struct rehearsal *rehearsal)
{
	struct priv_msg msg = { .op = PRIV_KILL, .id = rehearsal->child };

	if (rehearsal->child)
		spawner_ask(rehearsal->services->spawner, &msg, NULL, 0, NULL, NULL);
	rehearsal->child = 0;
}

/*
 * Open questions lie in the call's memory, so the policies are closed first.  The spawner's answer
 * may still come and points to the rehearsal; on_inspector() frees it then.
 */
static void leave(struct rehearsal *rehearsal)
{
	rehearsal->ended = true;
	if (rehearsal->fresh)
		policies_close(rehearsal->policies);
	rehearsal->policies = NULL;
	answer(rehearsal);
	kill_inspector(rehearsal);
	timer_close(rehearsal->end);
	rehearsal->end = NULL;
	if (rehearsal->asked)
		return;
	list_remove(&rehearsal->link);
	free(rehearsal);
}

static void on_end(void *owner)
{
	leave(owner);
}

/* Ends from the loop: the caller may be a callback of the policies that are closed then. */
static void end(struct rehearsal *rehearsal)
{
	if (rehearsal->ended)
		return;
	rehearsal->ended = true;
	rehearsal->end = timer_new(rehearsal->services->loop, 0, 0, on_end, rehearsal);
}

static void complain(struct rehearsal *rehearsal, const char *why)
{
	if (rehearsal->ended || rehearsal->complaint)
		return;
	rehearsal->complaint = arena_copy(&rehearsal->call->arena, why, why ? strlen(why) : 0);
	end(rehearsal);
}

/* ---- one example after the other ----------------------------------------------------------- */

static void ask_on(struct rehearsal *rehearsal);

static void note(struct rehearsal *rehearsal, const struct policy_verdict *verdict)
{
	struct arena *arena = &rehearsal->call->arena;

	(void)value_list_add(arena, rehearsal->results, policy_verdict_to_value(arena, verdict));
	rehearsal->at++;
}

static void on_verdict(void *context, const struct policy_verdict *verdict)
{
	struct rehearsal *rehearsal = context;

	if (rehearsal->ended)
		return;
	if (!verdict) {
		complain(rehearsal, "too many programs wait to be checked");
		return;
	}
	note(rehearsal, verdict);
	ask_on(rehearsal);
}

/* The language as in a run: that of the runtime with this name, else the meaning of the alias. */
static const char *language_of(struct rehearsal *rehearsal, const struct value *example)
{
	const char *word = value_as_text(value_get(example, "language"));
	const struct runtime *runtime = word ? pool_find(rehearsal->services->pool, word) : NULL;
	const char *language = word ? language_of_alias(word) : NULL;

	if (runtime)
		return runtime_language(runtime);
	if (language)
		return language;
	return word ? word : ""; /* text with U+0000 inside reads as NULL */
}

/* Fills in the question about the current example; false: its policy does not exist. */
static bool put_question(struct rehearsal *rehearsal)
{
	const struct value *example = value_at(rehearsal->cases, rehearsal->at);
	const char *name = value_as_text(value_get(example, "policy"));
	const struct value *code = value_get(example, "code");

	rehearsal->question = (struct policy_question){
		.policy = name ? policies_find(rehearsal->policies, name) : NULL,
		.language = language_of(rehearsal, example),
		.code = { code->text.bytes, code->text.len },
		.arena = &rehearsal->call->arena,
		.only_checks = true,
	};
	if (rehearsal->question.policy)
		return true;
	complain(rehearsal, arena_printf(&rehearsal->call->arena, "there is no policy \"%s\"",
				    name ? name : ""));
	return false;
}

static void ask_on(struct rehearsal *rehearsal)
{
	struct policy_verdict verdict;
	struct err err = ERR_INIT;

	while (!rehearsal->ended && value_at(rehearsal->cases, rehearsal->at)) {
		if (rehearsal->services->state->closing || !put_question(rehearsal))
			break;
		if (policy_lookup(rehearsal->policies, &rehearsal->question, &verdict)) {
			note(rehearsal, &verdict);
			continue;
		}
		if (policy_check(rehearsal->policies, &rehearsal->question, on_verdict, rehearsal,
			    &err) == 0)
			return;
		complain(rehearsal, err.text);
	}
	end(rehearsal);
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
	struct rehearsal *rehearsal = context;
	struct err err = ERR_INIT;
	int sock = take_fd(&rehearsal->sock);

	close_fds(fds, fd_count);
	rehearsal->asked = false;
	rehearsal->child = msg->error ? 0 : msg->id;
	if (!rehearsal->policies) { /* the rehearsal has ended meanwhile */
		close(sock);
		kill_inspector(rehearsal);
		list_remove(&rehearsal->link);
		free(rehearsal);
	} else if (msg->error) {
		close(sock);
		complain(rehearsal, msg->text);
	} else if (policies_add_inspector(rehearsal->policies, sock, rehearsal->child, &err) < 0) {
		complain(rehearsal, err.text);
	} else {
		ask_on(rehearsal);
	}
}

static int start_fresh(struct rehearsal *rehearsal, struct err *err)
{
	struct services *services = rehearsal->services;
	const char *folder = services->config->policies[0] ? services->config->policies : NULL;
	const struct inspector_events events = { NULL, on_lost, rehearsal };
	struct priv_msg msg = { .op = PRIV_INSPECTOR };
	int ends[2];

	rehearsal->policies = policies_load(folder, services->config->policy, err);
	if (!rehearsal->policies ||
		policies_start(rehearsal->policies, services->loop, &events, err) < 0)
		return -1;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return err_sys(err, "socketpair");
	(void)fd_set_nonblocking(ends[0], true, err);
	policies_retire_after(rehearsal->policies, FRESH_BUSY_MS);
	rehearsal->sock = ends[0];
	rehearsal->asked = true;
	inspectors_ceilings(services->config, &msg);
	spawner_ask(services->spawner, &msg, &ends[1], 1, on_inspector, rehearsal);
	return 0;
}

/* ---- the beginning ------------------------------------------------------------------------- */

static bool has_fresh(const struct services *services)
{
	list_for_each(at, services->rehearsals) {
		if (container_of(at, struct rehearsal, link)->fresh)
			return true;
	}
	return false;
}

void rehearsal_start(struct call *call, bool fresh)
{
	struct services *services = call->services;
	struct rehearsal *rehearsal = NULL;
	struct err err = ERR_INIT;

	if (!services->state->closing && !(fresh && has_fresh(services)))
		rehearsal = calloc(1, sizeof(*rehearsal));
	if (!rehearsal) {
		call_error(call, RPC_CODE_BUSY, "other rules are being tried; come back");
		return;
	}
	*rehearsal = (struct rehearsal){ .services = services,
		.call = call,
		.policies = services->policies,
		.fresh = fresh,
		.sock = -1,
		.cases = value_get(call->params, "cases"),
		.results = value_list(&call->arena) };
	list_append(services->rehearsals, &rehearsal->link);
	if (!fresh)
		ask_on(rehearsal);
	else if (start_fresh(rehearsal, &err) < 0)
		complain(rehearsal, err.text);
}

void rehearsals_close(struct services *services)
{
	list_for_each(at, services->rehearsals) {
		struct rehearsal *rehearsal = container_of(at, struct rehearsal, link);

		if (rehearsal->call)
			leave(rehearsal);
	}
}
