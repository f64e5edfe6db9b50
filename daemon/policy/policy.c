#include "daemon/policy/policy.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/policy/rulebook.h"
#include "daemon/policy/verdict_cache.h"
#include "proto/base/cleanup.h"
#include "proto/base/container.h"

#define ROOM_IN_LINE 16 /* checks that wait: all are answered long before INSPECT_LINE_MS */

struct policies {
	struct rulebook *book;
	const struct policy *standard;
	struct verdict_cache *cache;
	struct inspector_link *link;
	unsigned holders;
	unsigned askers; /* of these, who may still ask */
	bool closed;     /* the last holder frees them */
};

/* A check in progress, in the arena of the question. */
struct check {
	struct inspect_question question;
	struct policies *policies;
	struct policy_question asked;
	policy_done *on_done;
	void *context;
};

/* ---- life ---------------------------------------------------------------------------------- */

void policies_stop(struct policies *policies)
{
	inspector_link_close(policies->link);
	policies->link = NULL;
}

void policies_close(struct policies *policies)
{
	if (!policies)
		return;
	policies_stop(policies);
	policies->closed = true;
	if (policies->holders)
		return;
	verdict_cache_free(policies->cache);
	rulebook_free(policies->book);
	free(policies);
}

AUTO_DEFINE(struct policies, policies_close);

void policies_hold(struct policies *policies)
{
	policies->holders++;
	policies->askers++;
}

void policies_asked_enough(struct policies *policies)
{
	assert(policies->askers);
	policies->askers--;
}

void policies_release(struct policies *policies, bool may_ask)
{
	assert(policies->holders);
	if (may_ask)
		policies_asked_enough(policies);
	policies->holders--;
	if (policies->closed && !policies->holders)
		policies_close(policies);
}

bool policies_may_be_asked(const struct policies *policies)
{
	return policies->askers > 0;
}

bool policies_are_held(const struct policies *policies)
{
	return policies->holders > 0;
}

/* The message to inspectors has the rules; the digests have them and the policies. */
static bool is_same_policy(const struct policy *one, const struct policy *other)
{
	return !strcmp(one->name, other->name) && !strcmp(one->digest, other->digest) &&
	       !strcmp(one->description, other->description) &&
	       !memcmp(&one->bounds.limits, &other->bounds.limits, sizeof(one->bounds.limits)) &&
	       !memcmp(&one->bounds.most, &other->bounds.most, sizeof(one->bounds.most));
}

static bool is_same_rule(const struct rule *one, const struct rule *other)
{
	return !strcmp(one->id, other->id) && !strcmp(one->message, other->message) &&
	       !strcmp(one->hint ? one->hint : "", other->hint ? other->hint : "");
}

bool policies_are_same(const struct policies *one, const struct policies *other)
{
	const struct rulebook *book = one->book;
	const struct rulebook *books = other->book;

	if (book->policy_count != books->policy_count || book->rule_count != books->rule_count ||
		book->message.len != books->message.len ||
		memcmp(book->message.bytes, books->message.bytes, book->message.len) != 0)
		return false;
	for (uint32_t i = 0; i < book->policy_count; i++)
		if (!is_same_policy(&book->policies[i], &books->policies[i]))
			return false;
	for (uint32_t i = 0; i < book->rule_count; i++)
		if (!is_same_rule(&book->rules[i], &books->rules[i]))
			return false;
	return true;
}

struct policies *policies_load(const char *folder, const char *standard, struct err *err)
{
	auto_of(policies_close) struct policies *policies = calloc(1, sizeof(*policies));
	const char *name = standard ? standard : POLICY_DEFAULT;

	if (!policies || !(policies->cache = verdict_cache_new())) {
		(void)err_set(err, ERR_MEMORY, "no memory for policies");
		return NULL;
	}
	policies->book = rulebook_load(folder, err);
	if (!policies->book)
		return NULL;
	if (!policies_set_standard(policies, name)) {
		(void)err_set(err, ERR_INVALID, "there is no policy \"%s\"", name);
		return NULL;
	}
	return take_ptr(policies);
}

bool policies_set_standard(struct policies *policies, const char *name)
{
	const struct policy *policy = rulebook_find(policies->book, name);

	if (policy)
		policies->standard = policy;
	return policy != NULL;
}

const struct rulebook *policies_book(const struct policies *policies)
{
	return policies->book;
}

int policies_start(struct policies *policies, uv_loop_t *loop,
	const struct inspector_events *events, struct err *err)
{
	assert(!policies->link);
	policies->link = inspector_link_new(
		loop, &policies->book->message, policies->book->rule_count, events, err);
	return policies->link ? 0 : -1;
}

int policies_add_inspector(struct policies *policies, int fd, uint32_t child, struct err *err)
{
	return inspector_link_add(policies->link, fd, child, err);
}

void policies_retire_after(struct policies *policies, uint32_t busy_ms)
{
	inspector_link_retire_after(policies->link, busy_ms);
}

void policies_patience(struct policies *policies, const struct inspector_patience *patience)
{
	inspector_link_patience(policies->link, patience);
}

bool policies_ready(const struct policies *policies)
{
	return policies->link && inspector_link_counts(policies->link).ready > 0;
}

bool policies_have_room(const struct policies *policies)
{
	return policies->link && inspector_link_counts(policies->link).waiting < ROOM_IN_LINE;
}

bool policies_read_all(const struct policies *policies)
{
	return policies->link && inspector_link_counts(policies->link).waiting == 0;
}

bool policies_were_ready(const struct policies *policies)
{
	return policies->link && inspector_link_counts(policies->link).greeted > 0;
}

const struct policy *policies_find(const struct policies *policies, const char *name)
{
	return name ? rulebook_find(policies->book, name) : policies->standard;
}

const char *policy_name(const struct policy *policy)
{
	return policy->name;
}

const char *policy_digest(const struct policy *policy)
{
	return policy->digest;
}

static enum policy_decision decision_of(enum policy_mode mode)
{
	static const enum policy_decision decisions[MODE_COUNT] = {
		[MODE_DENY] = POLICY_DENY,
		[MODE_ASK] = POLICY_ASK,
		[MODE_OBSERVE] = POLICY_OBSERVE,
		[MODE_OFF] = POLICY_ALLOW,
	};

	return decisions[mode];
}

enum policy_decision policy_strictest(const struct policy *policy)
{
	return decision_of(policy->strictest);
}

/* ---- verdicts ------------------------------------------------------------------------------ */

static struct policy_verdict blank_verdict(const struct policy *policy)
{
	return (struct policy_verdict){
		.decision = POLICY_ALLOW,
		.name = policy->name,
		.digest = policy->digest,
	};
}

/*
 * A verdict with one finding that has no place in the program.  It denies, unless the finding only
 * observes.
 */
static void fill_plain(const struct policy_question *question, const struct policy_finding *finding,
	struct policy_verdict *verdict)
{
	*verdict = blank_verdict(question->policy);
	verdict->decision = strcmp(finding->severity, "observe") ? POLICY_DENY : POLICY_OBSERVE;
	verdict->findings = arena_new(question->arena, struct policy_finding);
	if (!verdict->findings)
		return; /* the decision holds without it */
	verdict->findings[0] = *finding;
	verdict->finding_count = 1;
}

static const struct policy_finding unchecked[] = {
	[INSPECT_END_LATE] = { "policy.late", "deny", 1, 1, "", POLICY_LATE_MESSAGE,
		"make the program shorter or simpler" },
	[INSPECT_END_LOST] = { "policy.unreadable", "deny", 1, 1, "",
		"two inspectors failed while they checked the program",
		"make the program shorter or simpler" },
	[INSPECT_END_ABSENT] = { "policy.absent", "deny", 1, 1, "",
		"no inspector was ready to check the program", "try again later" },
};

static const struct policy_finding no_language = { "policy.language_denied_policy", "deny", 1, 1,
	"", "the policy does not allow this language", "use a language that the policy allows" };

static const struct policy_finding no_execution = { "policy.language_denied_execution", "deny", 1,
	1, "", "the policy lets programs in this language be checked, but not run",
	"use a language that the policy executes" };

static const struct policy_finding wrong_entry = { "policy.entry", "deny", 1, 1, "",
	"the policy does not let a program run under this file name",
	"set entrypoint to one of the entries that cectl policy show lists" };

static const struct policy_finding too_long = { "policy.length", "deny", 1, 1, "",
	"the program is longer than the policy allows", "make the program shorter" };

static const struct policy_finding not_read = { "policy.unread", "observe", 1, 1, "",
	"no inspector reads this language: the program was not checked", NULL };

static const struct policy_finding more_to_find = { "policy.cut", "observe", 1, 1, "",
	"the program has more findings than are listed here", NULL };

static void be_as_strict(struct policy_verdict *verdict, enum policy_decision decision)
{
	if (decision > verdict->decision)
		verdict->decision = decision;
}

/* Adds one finding of the inspector, as the policy judges it; false when memory ran out. */
static bool add_finding(const struct check *check, const struct inspect_finding *found,
	struct policy_verdict *verdict)
{
	const struct policy *policy = check->asked.policy;
	struct rule_words words = rulebook_words(
		check->policies->book, policy, check->question.language, found->rule);
	struct policy_finding *finding = &verdict->findings[verdict->finding_count];

	if (words.mode == MODE_OFF)
		return true;
	*finding = (struct policy_finding){
		.rule = words.id,
		.severity = policy_mode_word(words.mode),
		.line = found->line,
		.column = found->column,
		.text = arena_copy(check->asked.arena, found->text, found->text_len),
		.message = words.message,
		.hint = words.hint,
	};
	if (!finding->text)
		return false;
	verdict->finding_count++;
	be_as_strict(verdict, decision_of(words.mode));
	return true;
}

/* Findings that were left out count as the heaviest of them, but not stricter than the policy. */
static void add_cut(const struct check *check, uint32_t weight, struct policy_verdict *verdict)
{
	static const enum policy_mode modes[WEIGHT_COUNT] = {
		[WEIGHT_OFF] = MODE_OBSERVE,
		[WEIGHT_QUIET] = MODE_OBSERVE,
		[WEIGHT_OBSERVE] = MODE_OBSERVE,
		[WEIGHT_ASK] = MODE_ASK,
		[WEIGHT_DENY] = MODE_DENY,
	};
	struct policy_finding *finding = &verdict->findings[verdict->finding_count++];
	enum policy_mode strictest = check->asked.policy->strictest;
	enum policy_mode mode = modes[weight] > strictest ? modes[weight] : strictest;

	*finding = more_to_find;
	if (mode < MODE_OBSERVE)
		finding->severity = policy_mode_word(mode);
	be_as_strict(verdict, decision_of(mode));
}

static bool fill_verdict(const struct check *check, const struct inspect_findings *found,
	struct policy_verdict *verdict)
{
	*verdict = blank_verdict(check->asked.policy);
	verdict->findings =
		arena_array(check->asked.arena, struct policy_finding, (size_t)found->count + 1);
	if (!verdict->findings)
		return false;
	for (uint32_t i = 0; i < found->count; i++)
		if (!add_finding(check, &found->findings[i], verdict))
			return false;
	if (found->cut)
		add_cut(check, found->cut, verdict);
	return true;
}

/*
 * A late check may have hit its CPU time, which depends on the host: such a verdict is not cached.
 */
static bool is_fact(const struct inspect_findings *found)
{
	for (uint32_t i = 0; i < found->count; i++)
		if (found->findings[i].rule == INSPECT_LATE)
			return false;
	return true;
}

/* ---- asking -------------------------------------------------------------------------------- */

static struct verdict_cache_key key_of(const struct policy_question *question, int language)
{
	struct verdict_cache_key key = { question->policy->index, (uint32_t)language, "" };

	memcpy(key.code_hash, question->code_hash, strnlen(question->code_hash, HASH_TEXT_LEN));
	return key;
}

static bool executes(const struct policy_question *question)
{
	return question->only_checks || rulebook_executes(question->policy, question->language);
}

enum policy_decision policy_of_network(const struct policy *policy)
{
	unsigned network = policy->bounds.network;

	return network ? (enum policy_decision)(network - 1) : POLICY_ALLOW;
}

static const char *pattern_of(const struct policy_words *list, const char *name)
{
	for (size_t i = 0; i < list->count; i++)
		if (policy_pattern_fits(list->words[i], name))
			return list->words[i];
	return NULL;
}

struct policy_tool policy_of_tool(const struct policy *policy, const char *name)
{
	const struct policy_tools *tools = &policy->bounds.tools;
	const struct {
		const struct policy_words *list;
		enum policy_decision decision;
		const char *word;
	} lists[] = { { &tools->deny, POLICY_DENY, "deny" }, { &tools->ask, POLICY_ASK, "ask" },
		{ &tools->allow, POLICY_ALLOW, "allow" } };

	for (size_t i = 0; i < COUNT_OF(lists); i++) {
		const char *pattern = pattern_of(lists[i].list, name);

		if (pattern)
			return (struct policy_tool){ lists[i].decision, lists[i].word, pattern };
	}
	if (tools->allow.words)
		return (struct policy_tool){ POLICY_DENY, "allow", NULL };
	return (struct policy_tool){ POLICY_ALLOW, NULL, NULL };
}

bool policy_executes(
	const struct policy *policy, const char *language, struct policy_finding *ret_finding)
{
	*ret_finding = no_execution;
	return rulebook_executes(policy, language);
}

/* Checks everything but the text: whether the policy denies the program.  False: it does not. */
static bool denies_form(const struct policy_question *question, struct policy_verdict *verdict)
{
	struct policy_finding finding;

	if (question->entry && question->policy->bounds.entries.words &&
		!policy_words_have(&question->policy->bounds.entries, question->entry)) {
		finding = wrong_entry;
		finding.text = question->entry;
	} else if (question->code.len > question->policy->bounds.code_bytes) {
		finding = too_long;
		finding.text = arena_printf(question->arena, "%zu of at most %llu bytes",
			question->code.len,
			(unsigned long long)question->policy->bounds.code_bytes);
		finding.text = finding.text ? finding.text : "";
	} else {
		return false;
	}
	fill_plain(question, &finding, verdict);
	return true;
}

bool policy_lookup(struct policies *policies, const struct policy_question *question,
	struct policy_verdict *ret_verdict)
{
	int language = rulebook_language(policies->book, question->language);
	struct verdict_cache_key key;

	if (language < 0 || !question->policy->languages[language]) {
		bool lets =
			language < 0 && rulebook_lets_unread(question->policy, question->language);

		if (!lets || executes(question)) {
			fill_plain(question, lets ? &not_read : &no_language, ret_verdict);
			return true;
		}
	}
	if (!executes(question)) {
		fill_plain(question, &no_execution, ret_verdict);
		return true;
	}
	if (denies_form(question, ret_verdict))
		return true;
	if (!question->policy->has_rules[language]) {
		*ret_verdict = blank_verdict(question->policy);
		return true;
	}
	if (!question->code_hash)
		return false;
	key = key_of(question, language);
	return verdict_cache_get(policies->cache, &key, question->arena, ret_verdict);
}

static void on_answer(struct inspect_question *question, enum inspect_end end,
	const struct inspect_findings *findings)
{
	struct check *check = container_of(question, struct check, question);
	const struct policy_question *asked = &check->asked;
	struct policy_verdict verdict;
	struct verdict_cache_key key;

	if (end == INSPECT_END_BUSY) {
		check->on_done(check->context, NULL);
		return;
	}
	if (end != INSPECT_END_FOUND) {
		fill_plain(asked, &unchecked[end], &verdict);
	} else if (!fill_verdict(check, findings, &verdict)) {
		fill_plain(asked, &unchecked[INSPECT_END_LATE], &verdict);
	} else if (asked->code_hash && is_fact(findings)) {
		key = key_of(asked, (int)question->language);
		verdict_cache_put(check->policies->cache, &key, &verdict);
	}
	check->on_done(check->context, &verdict);
}

int policy_check(struct policies *policies, const struct policy_question *question,
	policy_done *on_done, void *context, struct err *err)
{
	int language = rulebook_language(policies->book, question->language);
	struct check *check = arena_new(question->arena, struct check);

	assert(language >= 0 && policies->link);
	if (!check)
		return err_set(err, ERR_MEMORY, "no memory for the check");
	*check = (struct check){
		.question = {
			.policy = question->policy->index,
			.language = (uint32_t)language,
			.code = question->code,
			.arena = question->arena,
			.uid = question->uid,
			.on_answer = on_answer,
		},
		.policies = policies,
		.asked = *question,
		.on_done = on_done,
		.context = context,
	};
	list_init(&check->question.link);
	return inspector_link_ask(policies->link, &check->question, err);
}

static bool is_of(struct inspect_question *question, const void *context)
{
	return container_of(question, struct check, question)->context == context;
}

bool policy_withdraw(struct policies *policies, const void *context)
{
	return policies->link && inspector_link_withdraw(policies->link, is_of, context);
}

/* ---- while it runs --------------------------------------------------------------------------- */

struct bytes policy_run_rules(
	const struct policies *policies, const struct policy *policy, const char *language)
{
	int index = rulebook_language(policies->book, language);

	return index < 0 ? (struct bytes){ "", 0 } : policy->run_rules[index];
}

bool policy_run_finding(const struct policies *policies, const struct policy *policy,
	const char *language, const char *rule, struct policy_finding *ret_finding)
{
	int index = rulebook_language(policies->book, language);
	struct rule_words words;

	if (index < 0 || !rulebook_words_of(policies->book, policy, (uint32_t)index, rule, &words))
		return false;
	ret_finding->rule = words.id;
	ret_finding->severity = policy_mode_word(words.mode);
	ret_finding->message = words.message;
	ret_finding->hint = words.hint;
	return true;
}

/* ---- telling ------------------------------------------------------------------------------- */

struct value *policies_describe(const struct policies *policies, struct arena *arena)
{
	return rulebook_describe(policies->book, policies->standard, arena);
}

struct value *policies_show(
	const struct policies *policies, const struct policy *policy, struct arena *arena)
{
	return rulebook_show(policies->book, policy, policy == policies->standard, arena);
}

const char *policies_limits(const struct policies *policies, uint32_t index,
	struct job_limits *ret_limits, struct job_limits *ret_most)
{
	const struct policy *policy;

	if (index >= policies->book->policy_count)
		return NULL;
	policy = &policies->book->policies[index];
	*ret_limits = policy->bounds.limits;
	*ret_most = policy->bounds.most;
	return policy->name;
}

struct value *policies_status(const struct policies *policies, struct arena *arena)
{
	struct inspector_counts counts = { 0 };
	struct verdict_cache_counts kept = verdict_cache_counts(policies->cache);
	struct value *map = value_map(arena);

	if (policies->link)
		counts = inspector_link_counts(policies->link);
	(void)value_map_put(arena, map, "alive", value_uint(arena, counts.alive));
	(void)value_map_put(arena, map, "ready", value_uint(arena, counts.ready));
	(void)value_map_put(arena, map, "waiting", value_uint(arena, counts.waiting));
	(void)value_map_put(arena, map, "answered", value_uint(arena, counts.answered));
	(void)value_map_put(arena, map, "late", value_uint(arena, counts.late));
	(void)value_map_put(arena, map, "lost", value_uint(arena, counts.lost));
	(void)value_map_put(arena, map, "remembered", value_uint(arena, kept.kept));
	(void)value_map_put(arena, map, "hits", value_uint(arena, kept.hits));
	(void)value_map_put(arena, map, "misses", value_uint(arena, kept.misses));
	return map;
}
