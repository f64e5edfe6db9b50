#include "daemon/policy/rulebook_describe.h"

#include <string.h>

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

static struct value *describe(const struct rulebook *book, const struct policy *policy,
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
			arena, list, describe(book, policy, policy == standard, arena));
	}
	return list;
}

/* ---- all of one ---------------------------------------------------------------------------- */

static struct value *limits_of(const struct job_limits *limits, struct arena *arena)
{
	struct value *map = value_map(arena);

#define PUT(name, meaning)                      \
	if (limits->name != POLICY_LIMIT_UNSET) \
		(void)value_map_put(arena, map, #name, value_uint(arena, limits->name));
	JOB_LIMITS(PUT)
#undef PUT
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
	struct value *map = describe(book, policy, is_default, arena);

	(void)value_map_put(arena, map, "limits", limits_of(&policy->bounds.limits, arena));
	(void)value_map_put(arena, map, "most", limits_of(&policy->bounds.most, arena));
	(void)value_map_put(arena, map, "rules", rules_of(book, policy, arena));
	return map;
}
