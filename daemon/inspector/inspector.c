#include "daemon/inspector/inspector.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/inspector/bytes_check.h"
#include "daemon/inspector/imports.h"
#include "daemon/inspector/rule_match.h"
#include "daemon/inspector/scopes.h"
#include "proto/base/cleanup.h"

#define RULES_MEMORY_MAX  ((size_t)64 << 20)
/*
 * Matches that wait until all imports are known.  A program of the largest size can have this many.
 */
#define PENDING_MAX       (1U << 19)
#define SUBSTITUTIONS_MAX (INSPECT_CODE_MAX / 2)

struct language {
	struct syntax *syntax;
	struct span *patterns; /* by number of the pattern in SYNTAX_RULES */
};

struct inspector {
	struct arena arena;
	struct inspect_rules rules;
	struct language *languages;
	struct words *lists;
	struct findings findings;
	struct imports imports;
	struct scopes scopes;
	struct subject *pending;
	uint32_t pending_count;
	uint32_t pending_size;
	struct place *substitutions;
	uint32_t substitution_count;
	uint32_t substitution_size;
	uint32_t *counts; /* by the first rule of an id: how many places were found … */
	uint32_t *hits;   /* … and how many matched rules with a `number` */
	bool *waits;      /* by rule: it can be tried only when all imports are known */
	/* of the present check */
	const struct language *language;
	struct rule_context context;
	struct subject_words words;
	bool gave_up; /* no room: the answer would be incomplete */
};

/* ---- making one ---------------------------------------------------------------------------- */

/* The rules with the last start at or before `start`; several rules may share their patterns. */
static struct span span_at(
	const struct inspect_rules *rules, const struct inspect_language *language, uint32_t start)
{
	struct span span = { language->rule_first, 0 };

	for (uint32_t i = 0; i < language->rule_count; i++) {
		uint32_t rule = language->rule_first + i;

		if (rules->rules[rule].start > start)
			break;
		if (rules->rules[rule].start != rules->rules[span.first].start)
			span = (struct span){ rule, 0 };
		span.count++;
	}
	return span;
}

static int compile_language(struct inspector *inspector, uint32_t index, struct err *err)
{
	const struct inspect_language *source = &inspector->rules.languages[index];
	struct language *language = &inspector->languages[index];
	const char *const texts[] = { source->rules, source->scope };
	const size_t lens[] = { source->rules_len, source->scope_len };
	uint32_t count;

	language->syntax = syntax_new(source->name, texts, lens, err);
	if (!language->syntax)
		return err_wrap(err, INSPECT_RULES_FAULT "%s", source->name);
	count = syntax_pattern_count(language->syntax, SYNTAX_RULES);
	language->patterns = arena_array(&inspector->arena, struct span, count);
	if (!language->patterns)
		return err_set(err, ERR_MEMORY, "no memory for the rules of %s", source->name);
	for (uint32_t i = 0; i < count; i++)
		language->patterns[i] = span_at(&inspector->rules, source,
			syntax_pattern_start(language->syntax, SYNTAX_RULES, i));
	return 0;
}

static int compile(struct inspector *inspector, struct err *err)
{
	const struct inspect_rules *rules = &inspector->rules;

	inspector->languages =
		arena_array(&inspector->arena, struct language, rules->language_count);
	inspector->lists = arena_array(&inspector->arena, struct words, rules->list_count);
	inspector->counts = arena_array(&inspector->arena, uint32_t, rules->rule_count);
	inspector->hits = arena_array(&inspector->arena, uint32_t, rules->rule_count);
	inspector->waits = arena_array(&inspector->arena, bool, rules->rule_count);
	if (!inspector->languages || !inspector->lists || !inspector->counts || !inspector->hits ||
		!inspector->waits)
		return err_set(err, ERR_MEMORY, "no memory for the rules");
	for (uint32_t i = 0; i < rules->rule_count; i++)
		inspector->waits[i] = rule_needs_imports(rules->rules[i].subject);
	for (uint32_t i = 0; i < rules->list_count; i++)
		if (words_init(&inspector->lists[i], rules->lists[i].words, rules->lists[i].count) <
			0)
			return err_set(err, ERR_MEMORY, "no memory for the lists");
	for (uint32_t i = 0; i < rules->language_count; i++)
		if (compile_language(inspector, i, err) < 0)
			return -1;
	return 0;
}

void inspector_free(struct inspector *inspector)
{
	if (!inspector)
		return;
	for (uint32_t i = 0; inspector->languages && i < inspector->rules.language_count; i++)
		syntax_free(inspector->languages[i].syntax);
	for (uint32_t i = 0; inspector->lists && i < inspector->rules.list_count; i++)
		words_done(&inspector->lists[i]);
	free(inspector->pending);
	free(inspector->substitutions);
	findings_done(&inspector->findings);
	scopes_done(&inspector->scopes);
	imports_done(&inspector->imports);
	arena_done(&inspector->arena);
	free(inspector);
}

AUTO_DEFINE(struct inspector, inspector_free);

struct inspector *inspector_new(const char *body, size_t len, struct err *err)
{
	auto_of(inspector_free) struct inspector *inspector = calloc(1, sizeof(*inspector));

	if (!inspector) {
		(void)err_set(err, ERR_MEMORY, "no memory for an inspector");
		return NULL;
	}
	arena_init(&inspector->arena, RULES_MEMORY_MAX);
	imports_init(&inspector->imports);
	if (findings_init(&inspector->findings) < 0 || scopes_init(&inspector->scopes) < 0) {
		(void)err_set(err, ERR_MEMORY, "no memory for an inspector");
		return NULL;
	}
	if (inspect_rules_decode(&inspector->arena, body, len, &inspector->rules, err) < 0 ||
		compile(inspector, err) < 0)
		return NULL;
	return take_ptr(inspector);
}

/* ---- holding subjects against rules -------------------------------------------------------- */

/* How many findings a rule ignores.  The number of SUBJECT_OPAQUE is a length instead. */
static uint32_t free_places(const struct inspector *inspector, uint32_t rule)
{
	return inspector->rules.rules[rule].subject == SUBJECT_OPAQUE
		       ? 0
		       : inspector->context.settings[rule].number;
}

/* Counts a hit.  True while the rule ignores it; then no excuse is needed. */
static bool is_free(struct inspector *inspector, uint32_t rule)
{
	uint32_t free = free_places(inspector, rule);
	uint32_t *hits = &inspector->hits[inspector->rules.rules[rule].first];

	return free > 0 && ++*hits <= free;
}

static void add_finding(struct inspector *inspector, uint32_t rule, struct place at)
{
	uint32_t weight = inspector->context.settings[rule].weight;

	inspector->counts[inspector->rules.rules[rule].first]++;
	if (weight > WEIGHT_QUIET)
		findings_add(&inspector->findings, INSPECT_BUILTIN_COUNT + rule, weight, at.start,
			at.end);
}

/* Removes the findings of rules whose `beside` rule found nothing. */
static void drop_lonely(struct inspector *inspector)
{
	const struct inspect_rules *rules = &inspector->rules;

	for (uint32_t i = 0; i < rules->rule_count; i++)
		if (rules->rules[i].beside > 0 &&
			inspector->counts[rules->rules[i].beside - 1] == 0)
			findings_drop(&inspector->findings, INSPECT_BUILTIN_COUNT + i);
}

static uint32_t end_of_name(const struct inspector *inspector, struct place at)
{
	size_t len = name_span(inspector->context.code + at.start, at.end - at.start);

	return at.start + (uint32_t)len;
}

static bool is_blank(char byte)
{
	return byte == ' ' || byte == '\t';
}

/* Behind exactly one dot: `...name` is a spread and no attribute. */
static bool is_behind_dot(const char *code, const char *name)
{
	return name > code && name[-1] == '.' && (name - 1 == code || name[-2] != '.');
}

/*
 * Most suspicious names are next to a dot or in an import.  That is visible without the scope
 * queries.  The program ends with a NUL.
 */
static bool is_excused_at_sight(const struct inspector *inspector, const struct suspect *suspect)
{
	const char *before = inspector->context.code + suspect->name.start;
	const char *behind = inspector->context.code + suspect->name.end;

	while (before > inspector->context.code && is_blank(before[-1]))
		before--;
	while (is_blank(*behind))
		behind++;
	if ((suspect->unless & UNLESS_STORE) && imports_hold(&inspector->imports, suspect->name))
		return true;
	if ((suspect->unless & UNLESS_ATTRIBUTE) && is_behind_dot(inspector->context.code, before))
		return true;
	if ((suspect->unless & UNLESS_CALLED) && *behind == '(')
		return true;
	return (suspect->unless & UNLESS_PART) && *behind == '.';
}

/* Whether the first name of the finding may be excused, rather than all of it. */
static bool subject_is_name(uint32_t subject)
{
	return subject >= SUBJECT_WORD && subject <= SUBJECT_MODULE;
}

/* Adds a finding, or a suspect if something may still excuse it. */
static void report(struct inspector *inspector, uint32_t rule, const struct subject *subject)
{
	uint32_t unless = inspector->rules.rules[rule].unless;
	struct suspect suspect = { .rule = rule, .at = subject->at, .unless = unless };

	if (is_free(inspector, rule))
		return;
	if (unless == 0) {
		add_finding(inspector, rule, subject->at);
		return;
	}
	suspect.name = subject->names[0];
	if (subject_is_name(inspector->rules.rules[rule].subject))
		suspect.name.end = end_of_name(inspector, subject->names[0]);
	suspect.by_import = inspector->waits[rule];
	if (is_excused_at_sight(inspector, &suspect))
		return;
	if (!scopes_suspect(&inspector->scopes, &suspect))
		inspector->gave_up = true;
}

/*
 * Tries the rules of a subject that need all imports, or those that do not.  True: others remain.
 */
static bool try_rules(struct inspector *inspector, const struct subject *subject, bool with_imports)
{
	const uint32_t end = subject->rules.first + subject->rules.count;
	bool others = false;

	subject_words_reset(&inspector->words);
	for (uint32_t rule = subject->rules.first; rule < end; rule++) {
		struct subject found = *subject;

		if (inspector->context.settings[rule].weight == WEIGHT_OFF)
			continue;
		if (inspector->waits[rule] != with_imports)
			others = true;
		else if (rule_matches(&inspector->context, rule, &found, &inspector->words))
			report(inspector, rule, &found);
	}
	return others;
}

static void keep_for_later(struct inspector *inspector, const struct subject *subject)
{
	if (inspector->pending_count == inspector->pending_size) {
		uint32_t size = inspector->pending_size ? inspector->pending_size * 2 : 1024;
		struct subject *pending =
			size <= PENDING_MAX ? realloc(inspector->pending, size * sizeof(*pending))
					    : NULL;

		if (!pending) {
			inspector->gave_up = true;
			return;
		}
		inspector->pending = pending;
		inspector->pending_size = size;
	}
	inspector->pending[inspector->pending_count++] = *subject;
}

/* False if the match has no @name and only declares an import. */
static bool subject_of(const struct match *match, struct subject *subject)
{
	uint32_t names = 0;
	bool has_at = false;

	for (uint32_t i = 0; i < match->count; i++) {
		if (match->captures[i].what == CAPTURE_NAME && names < 2) {
			subject->names[names++] = match->captures[i].at;
		} else if (match->captures[i].what == CAPTURE_AT) {
			subject->at = match->captures[i].at;
			has_at = true;
		}
	}
	if (names > 0 && !has_at)
		subject->at = subject->names[0];
	return names > 0;
}

static void note_substitution(struct inspector *inspector, struct place at)
{
	if (inspector->substitution_count == inspector->substitution_size) {
		uint32_t size =
			inspector->substitution_size ? inspector->substitution_size * 2 : 1024;
		struct place *places = size <= SUBSTITUTIONS_MAX ? realloc(inspector->substitutions,
									   size * sizeof(*places))
								 : NULL;

		if (!places) {
			inspector->gave_up = true;
			return;
		}
		inspector->substitutions = places;
		inspector->substitution_size = size;
		inspector->context.substitutions = places;
	}
	inspector->substitutions[inspector->substitution_count++] = at;
}

static void note_substitutions(struct inspector *inspector, const struct match *match)
{
	for (uint32_t i = 0; i < match->count; i++) {
		if (match->captures[i].what == CAPTURE_SUBSTITUTION)
			note_substitution(inspector, match->captures[i].at);
	}
}

static void on_rule_match(void *context, const struct match *match)
{
	struct inspector *inspector = context;
	struct subject subject = { .rules = inspector->language->patterns[match->pattern] };

	imports_note(&inspector->imports, inspector->context.code, match);
	note_substitutions(inspector, match);
	if (subject_of(match, &subject) && try_rules(inspector, &subject, false))
		keep_for_later(inspector, &subject);
}

static void on_scope_match(void *context, const struct match *match)
{
	struct inspector *inspector = context;

	scopes_note(&inspector->scopes, match);
}

/* ---- one check ----------------------------------------------------------------------------- */

static int compare_starts(const void *left, const void *right)
{
	const struct place *a = left;
	const struct place *b = right;

	return (a->start > b->start) - (a->start < b->start);
}

/* Tries the matches that waited for the imports.  A name with many imports makes this expensive. */
static bool try_pending(struct inspector *inspector, struct effort *effort)
{
	if (inspector->substitution_count > 1)
		qsort(inspector->substitutions, inspector->substitution_count,
			sizeof(*inspector->substitutions), compare_starts);
	for (uint32_t i = 0; i < inspector->pending_count; i++) {
		(void)try_rules(inspector, &inspector->pending[i], true);
		if (effort->spent || (i % 64 == 0 && effort_is_spent(effort)))
			return false;
	}
	return true;
}

/* Runs the scope queries.  Suspects without an excuse become findings. */
static bool judge_suspects(struct inspector *inspector)
{
	struct scopes *scopes = &inspector->scopes;

	if (scopes->suspect_count == 0)
		return true;
	scopes_sort(scopes);
	if (!syntax_run(inspector->language->syntax, SYNTAX_SCOPE, on_scope_match, inspector))
		return false;
	scopes_judge(scopes, inspector->context.effort);
	if (effort_is_spent(inspector->context.effort))
		return false;
	for (uint32_t i = 0; i < scopes->suspect_count; i++)
		if (!scopes->suspects[i].excused)
			add_finding(inspector, scopes->suspects[i].rule, scopes->suspects[i].at);
	return true;
}

/* False if the effort was spent or memory ran out. */
static bool inspect_tree(
	struct inspector *inspector, const struct inspect_check *check, struct effort *effort)
{
	struct syntax *syntax = inspector->language->syntax;

	if (!syntax_parse(syntax, check->code, check->code_len, effort))
		return false;
	syntax_add_unreadable(syntax, &inspector->findings);
	if (!syntax_run(syntax, SYNTAX_RULES, on_rule_match, inspector))
		return false;
	if (!try_pending(inspector, effort))
		return false;
	if (!judge_suspects(inspector))
		return false;
	drop_lonely(inspector);
	/* A check that was given up anywhere is incomplete. */
	return !effort_is_spent(effort) && !inspector->gave_up && !inspector->imports.failed;
}

static void check_begin(
	struct inspector *inspector, const struct inspect_check *check, struct effort *effort)
{
	inspector->language = &inspector->languages[check->language];
	inspector->context = (struct rule_context){
		.rules = inspector->rules.rules,
		.settings = inspector->rules.policies[check->policy].settings,
		.lists = inspector->lists,
		.imports = &inspector->imports,
		.effort = effort,
		.substitutions = inspector->substitutions,
		.substitution_count = &inspector->substitution_count,
		.code = check->code,
	};
	inspector->pending_count = 0;
	inspector->substitution_count = 0;
	inspector->gave_up = false;
	memset(inspector->counts, 0, inspector->rules.rule_count * sizeof(*inspector->counts));
	memset(inspector->hits, 0, inspector->rules.rule_count * sizeof(*inspector->hits));
	findings_reset(&inspector->findings);
	imports_reset(&inspector->imports);
	scopes_reset(&inspector->scopes, check->code);
}

int inspector_check(struct inspector *inspector, const struct inspect_check *check,
	struct effort *effort, struct inspect_findings *ret_findings, struct err *err)
{
	if (check->policy >= inspector->rules.policy_count ||
		check->language >= inspector->rules.language_count)
		return err_set(err, ERR_PROTOCOL, "the check names what the rules do not have");
	check_begin(inspector, check, effort);
	if (bytes_check(check->code, check->code_len, &inspector->findings) &&
		!inspect_tree(inspector, check, effort))
		findings_add(&inspector->findings, INSPECT_LATE, WEIGHT_DENY, 0, 0);
	syntax_forget(inspector->language->syntax);
	*ret_findings = findings_report(&inspector->findings, check->code, check->code_len);
	return 0;
}
