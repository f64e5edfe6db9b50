#include "daemon/policy/rulebook.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/policy/policy_compile.h"
#include "daemon/policy/rule_sources.h"
#include "proto/base/cleanup.h"
#include "proto/base/container.h"

#define BOOK_MEMORY_MAX ((size_t)64 << 20)

/*
 * Findings that have no rule in a file.  An id that begins with a dot follows the language's name.
 */
static const struct {
	const char *id;
	const char *message;
	const char *hint;
} builtins[INSPECT_BUILTIN_COUNT] = {
	[INSPECT_BYTES_SIZE] = { ".bytes.size", "the program is longer than 1 MiB",
		"pass data on stdin or as files, not inside the program" },
	[INSPECT_BYTES_UTF8] = { ".bytes.utf8", "the program is not valid UTF-8 here",
		"send the program as UTF-8" },
	[INSPECT_BYTES_NUL] = { ".bytes.nul", "the program holds a NUL byte",
		"write \\0 in a string instead" },
	[INSPECT_BYTES_CR] = { ".bytes.cr",
		"a carriage return without a newline ends a line for the interpreter only",
		"end lines with a newline" },
	[INSPECT_BYTES_FORM_FEED] = { ".bytes.form_feed",
		"a form feed among the blanks of a line hides how deep it is indented",
		"indent with spaces only" },
	[INSPECT_BYTES_COOKIE] = { ".bytes.cookie",
		"the program declares an encoding other than UTF-8",
		"leave the declaration out and send the program as UTF-8" },
	[INSPECT_BYTES_DEPTH] = { ".bytes.depth", "more than 200 brackets are open",
		"build deep structures step by step, or pass them as data" },
	[INSPECT_BYTES_BIDI] = { ".bytes.bidi",
		"a control character changes the order in which the text is displayed",
		"write it as an escape in a string" },
	[INSPECT_SYNTAX_UNREADABLE] = { ".syntax.unreadable",
		"the program cannot be read from here on", "check the syntax at this place" },
	[INSPECT_LATE] = { "policy.late", POLICY_LATE_MESSAGE,
		"make the program shorter or simpler" },
};

static int name_builtins(struct rulebook *book, struct book_language *language, struct err *err)
{
	for (size_t i = 0; i < INSPECT_BUILTIN_COUNT; i++) {
		language->builtin_ids[i] = builtins[i].id;
		if (builtins[i].id[0] == '.')
			language->builtin_ids[i] =
				arena_printf(&book->arena, "%s%s", language->name, builtins[i].id);
		if (!language->builtin_ids[i])
			return err_set(err, ERR_MEMORY, "no memory for rules");
	}
	return 0;
}

static int add_language(struct rulebook *book, const struct rule_source *text, struct err *err)
{
	struct book_language *language = &book->languages[book->language_count];

	if (text->head_count > INSPECT_RULE_COUNT_MAX - book->rule_count)
		return err_set(err, ERR_TOO_BIG, "too many rules");
	language->name = text->language;
	language->texts = (struct inspect_language){
		.name = text->language,
		.rules = text->rules,
		.rules_len = text->rules_len,
		.scope = text->scope,
		.scope_len = text->scope_len,
		.rule_first = book->rule_count,
		.rule_count = (uint32_t)text->head_count,
	};
	memcpy(book->rules + book->rule_count, text->heads,
		text->head_count * sizeof(*text->heads));
	book->rule_count += (uint32_t)text->head_count;
	book->language_count++;
	return name_builtins(book, language, err);
}

/* The first rule of that name among those of a language; rule_count when there is none. */
static uint32_t find_rule(
	const struct rulebook *book, const struct inspect_language *texts, const char *id)
{
	for (uint32_t i = texts->rule_first; i < texts->rule_first + texts->rule_count; i++)
		if (strcmp(book->rules[i].id, id) == 0)
			return i;
	return book->rule_count;
}

static int settle_rules(
	struct rulebook *book, const struct inspect_language *texts, struct err *err)
{
	for (uint32_t i = texts->rule_first; i < texts->rule_first + texts->rule_count; i++) {
		struct rule *rule = &book->rules[i];
		uint32_t beside = rule->beside ? find_rule(book, texts, rule->beside) : 0;

		if (rule->beside && beside == book->rule_count)
			return err_set(err, ERR_INVALID,
				"rule %s is beside %s, but there is no such rule", rule->id,
				rule->beside);
		rule->how.first = find_rule(book, texts, rule->id);
		rule->how.beside = rule->beside ? beside + 1 : 0;
	}
	return 0;
}

static int add_languages(struct rulebook *book, const char *folder, struct err *err)
{
	struct rule_source *texts;
	size_t count;

	book->languages = arena_array(&book->arena, struct book_language, INSPECT_LANGUAGES_MAX);
	book->rules = arena_array(&book->arena, struct rule, INSPECT_RULE_COUNT_MAX);
	if (!book->languages || !book->rules)
		return err_set(err, ERR_MEMORY, "no memory for rules");
	if (rule_sources_load(&book->arena, folder, &texts, &count, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++)
		if (add_language(book, &texts[i], err) < 0 ||
			settle_rules(book, &book->languages[i].texts, err) < 0)
			return -1;
	return 0;
}

void rulebook_free(struct rulebook *book)
{
	if (!book)
		return;
	buf_done(&book->message);
	arena_done(&book->arena);
	free(book);
}

AUTO_DEFINE(struct rulebook, rulebook_free);

struct rulebook *rulebook_load(const char *folder, struct err *err)
{
	auto_of(rulebook_free) struct rulebook *book = calloc(1, sizeof(*book));

	if (!book) {
		(void)err_set(err, ERR_MEMORY, "no memory for policies");
		return NULL;
	}
	arena_init(&book->arena, BOOK_MEMORY_MAX);
	buf_init(&book->message, INSPECT_RULES_MAX);
	if (add_languages(book, folder, err) < 0 || policies_compile(book, folder, err) < 0)
		return NULL;
	return take_ptr(book);
}

const struct policy *rulebook_find(const struct rulebook *book, const char *name)
{
	for (uint32_t i = 0; i < book->policy_count; i++)
		if (strcmp(book->policies[i].name, name) == 0)
			return &book->policies[i];
	return NULL;
}

int rulebook_language(const struct rulebook *book, const char *name)
{
	for (uint32_t i = 0; i < book->language_count; i++)
		if (strcmp(book->languages[i].name, name) == 0)
			return (int)i;
	return -1;
}

bool rulebook_executes(const struct policy *policy, const char *language)
{
	return !policy->bounds.executes.words ||
	       policy_words_have(&policy->bounds.executes, language);
}

bool rulebook_lets_unread(const struct policy *policy, const char *language)
{
	return policy_words_have(&policy->bounds.unread, language);
}

bool policy_reads(const struct policy *policy, uint32_t rule)
{
	return policy->modes[rule] != MODE_OFF && policy->at[rule] != AT_RUN;
}

bool rulebook_words_of(const struct rulebook *book, const struct policy *policy, uint32_t language,
	const char *id, struct rule_words *ret_words)
{
	const struct inspect_language *texts = &book->languages[language].texts;

	for (uint32_t i = texts->rule_first; i < texts->rule_first + texts->rule_count; i++) {
		const struct rule *rule = &book->rules[i];

		if (policy->modes[i] != MODE_DENY || strcmp(rule->id, id) != 0)
			continue;
		*ret_words = (struct rule_words){ rule->id, rule->message, rule->hint, MODE_DENY };
		return true;
	}
	return false;
}

struct rule_words rulebook_words(
	const struct rulebook *book, const struct policy *policy, uint32_t language, uint32_t rule)
{
	const struct book_language *words = &book->languages[language];
	const struct rule *from_file;

	if (rule < INSPECT_BUILTIN_COUNT)
		return (struct rule_words){ words->builtin_ids[rule], builtins[rule].message,
			builtins[rule].hint,
			policy->builtins[language * INSPECT_BUILTIN_COUNT + rule] };
	from_file = &book->rules[rule - INSPECT_BUILTIN_COUNT];
	return (struct rule_words){ from_file->id, from_file->message, from_file->hint,
		policy->modes[rule - INSPECT_BUILTIN_COUNT] };
}

bool rulebook_has_rule(const struct rulebook *book, const char *pattern)
{
	for (size_t i = 0; i < book->rule_count; i++)
		if (policy_pattern_fits(pattern, book->rules[i].id))
			return true;
	for (uint32_t i = 0; i < book->language_count; i++)
		for (size_t k = 0; k < INSPECT_BUILTIN_COUNT; k++)
			if (policy_pattern_fits(pattern, book->languages[i].builtin_ids[k]))
				return true;
	return false;
}

/* ---- in replies ----------------------------------------------------------------------------- */

static struct value *words_of(const char *const *words, size_t count, struct arena *arena)
{
	struct value *list = value_list(arena);

	for (size_t i = 0; i < count; i++)
		(void)value_list_add(arena, list, value_text(arena, words[i]));
	return list;
}

static struct value *languages_of(
	const struct rulebook *book, const struct policy *policy, struct arena *arena)
{
	struct value *list = value_list(arena);

	for (uint32_t i = 0; i < book->language_count; i++)
		if (policy->languages[i])
			(void)value_list_add(
				arena, list, value_text(arena, book->languages[i].name));
	return list;
}

/* The languages that may be checked and may also run. */
static struct value *executes_of(
	const struct rulebook *book, const struct policy *policy, struct arena *arena)
{
	struct value *list = value_list(arena);

	for (uint32_t i = 0; i < book->language_count; i++)
		if (policy->languages[i] && rulebook_executes(policy, book->languages[i].name))
			(void)value_list_add(
				arena, list, value_text(arena, book->languages[i].name));
	for (size_t i = 0; i < policy->bounds.unread.count; i++)
		if (rulebook_executes(policy, policy->bounds.unread.words[i]))
			(void)value_list_add(
				arena, list, value_text(arena, policy->bounds.unread.words[i]));
	return list;
}

static struct value *describe_policy(const struct rulebook *book, const struct policy *policy,
	bool is_default, struct arena *arena)
{
	struct value *map = value_map(arena);

	(void)value_map_put(arena, map, "name", value_text(arena, policy->name));
	(void)value_map_put(arena, map, "description", value_text(arena, policy->description));
	(void)value_map_put(arena, map, "languages", languages_of(book, policy, arena));
	(void)value_map_put(arena, map, "executes", executes_of(book, policy, arena));
	(void)value_map_put(arena, map, "unread",
		words_of(policy->bounds.unread.words, policy->bounds.unread.count, arena));
	if (policy->bounds.entries.words)
		(void)value_map_put(arena, map, "entries",
			words_of(
				policy->bounds.entries.words, policy->bounds.entries.count, arena));
	if (policy->bounds.code_bytes != POLICY_LIMIT_UNSET)
		(void)value_map_put(
			arena, map, "code_bytes", value_uint(arena, policy->bounds.code_bytes));
	(void)value_map_put(arena, map, "digest", value_text(arena, policy->digest));
	(void)value_map_put(arena, map, "default", value_bool(arena, is_default));
	return map;
}

struct value *rulebook_describe(
	const struct rulebook *book, const struct policy *standard, struct arena *arena)
{
	struct value *list = value_list(arena);

	for (uint32_t i = 0; i < book->policy_count; i++) {
		const struct policy *policy = &book->policies[i];

		(void)value_list_add(
			arena, list, describe_policy(book, policy, policy == standard, arena));
	}
	return list;
}

/* ---- all of one ---------------------------------------------------------------------------- */

static struct value *limits_of(const struct job_limits *limits, struct arena *arena)
{
	struct value *map = value_map(arena);

	for (size_t i = 0; i < JOB_LIMIT_COUNT; i++)
		if (limits->each[i] != POLICY_LIMIT_UNSET)
			(void)value_map_put(
				arena, map, job_limit_names[i], value_uint(arena, limits->each[i]));
	return map;
}

/* Only the lists that the policy has. */
static struct value *tools_of(const struct policy_tools *tools, struct arena *arena)
{
	const struct {
		const char *word;
		const struct policy_words *list;
	} lists[] = { { "deny", &tools->deny }, { "ask", &tools->ask },
		{ "allow", &tools->allow } };
	struct value *map = value_map(arena);

	for (size_t i = 0; i < COUNT_OF(lists); i++)
		if (lists[i].list->words)
			(void)value_map_put(arena, map, lists[i].word,
				words_of(lists[i].list->words, lists[i].list->count, arena));
	return map;
}

static struct value *begin_rule(const struct rulebook *book, uint32_t language,
	const struct rule_words *words, struct arena *arena)
{
	struct value *map = value_map(arena);

	(void)value_map_put(arena, map, "id", value_text(arena, words->id));
	(void)value_map_put(
		arena, map, "language", value_text(arena, book->languages[language].name));
	(void)value_map_put(
		arena, map, "severity", value_text(arena, policy_mode_word(words->mode)));
	(void)value_map_put(arena, map, "message", value_text(arena, words->message));
	if (words->hint)
		(void)value_map_put(arena, map, "hint", value_text(arena, words->hint));
	return map;
}

static struct value *show_builtin(const struct rulebook *book, const struct policy *policy,
	uint32_t language, uint32_t builtin, struct arena *arena)
{
	const struct rule_words words = rulebook_words(book, policy, language, builtin);

	return begin_rule(book, language, &words, arena);
}

static struct value *show_rule(const struct rulebook *book, const struct policy *policy,
	uint32_t language, uint32_t index, struct arena *arena)
{
	const struct rule *rule = &book->rules[index];
	const struct rule_words words = { rule->id, rule->message, rule->hint,
		policy->modes[index] };
	const struct inspect_setting *setting = &policy->settings[index];
	const struct inspect_list *list = &book->lists[setting->list];
	struct value *map = begin_rule(book, language, &words, arena);

	(void)value_map_put(arena, map, "at", value_text(arena, policy_at_word(policy->at[index])));
	(void)value_map_put(arena, map, "finds", value_text(arena, rule->finds));
	if (setting->weight != WEIGHT_OFF && inspect_subject_has_list(rule->how.subject))
		(void)value_map_put(arena, map, "words", words_of(list->words, list->count, arena));
	if (rule->number || rule->fixed)
		(void)value_map_put(arena, map, "number", value_uint(arena, setting->number));
	if (rule->beside)
		(void)value_map_put(arena, map, "beside", value_text(arena, rule->beside));
	return map;
}

static struct value *rules_of(
	const struct rulebook *book, const struct policy *policy, struct arena *arena)
{
	struct value *list = value_list(arena);

	for (uint32_t l = 0; l < book->language_count; l++) {
		const struct inspect_language *texts = &book->languages[l].texts;

		if (!policy->languages[l])
			continue;
		for (uint32_t i = 0; i < INSPECT_LATE; i++)
			(void)value_list_add(arena, list, show_builtin(book, policy, l, i, arena));
		for (uint32_t i = 0; i < texts->rule_count; i++)
			(void)value_list_add(arena, list,
				show_rule(book, policy, l, texts->rule_first + i, arena));
	}
	return list;
}

struct value *rulebook_show(const struct rulebook *book, const struct policy *policy,
	bool is_default, struct arena *arena)
{
	struct value *map = describe_policy(book, policy, is_default, arena);

	(void)value_map_put(arena, map, "limits", limits_of(&policy->bounds.limits, arena));
	(void)value_map_put(arena, map, "most", limits_of(&policy->bounds.most, arena));
	(void)value_map_put(arena, map, "tools", tools_of(&policy->bounds.tools, arena));
	(void)value_map_put(arena, map, "rules", rules_of(book, policy, arena));
	return map;
}
