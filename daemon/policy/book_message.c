/* The RULES message, and the digests of the policies in it. */
#include <string.h>

#include "daemon/policy/book_making.h"
#include "proto/digest.h"

struct known_list *draft_list(struct draft *draft, const char *name)
{
	for (size_t i = 0; i < draft->list_count; i++)
		if (strcmp(draft->lists[i].name, name) == 0)
			return &draft->lists[i];
	return NULL;
}

const struct policy_number *draft_number(const struct draft *draft, const char *name)
{
	for (size_t i = 0; i < draft->number_count; i++)
		if (strcmp(draft->numbers[i].name, name) == 0)
			return &draft->numbers[i];
	return NULL;
}

static const enum inspect_weight weights[MODE_COUNT] = {
	[MODE_DENY] = WEIGHT_DENY,
	[MODE_ASK] = WEIGHT_ASK,
	[MODE_OBSERVE] = WEIGHT_OBSERVE,
	[MODE_OFF] = WEIGHT_OFF,
};

/* Lists of the words that stand in rules themselves: one each, for all policies. */
static int add_own_lists(struct making *making)
{
	const struct rulebook *book = making->book;

	making->own_lists = arena_array(&making->book->arena, uint32_t, book->rule_count + 1);
	if (!making->own_lists)
		return err_set(making->err, ERR_MEMORY, "no memory for lists");
	for (uint32_t i = 0; i < book->rule_count; i++) {
		const struct rule *rule = &book->rules[i];

		if (!rule->words)
			continue;
		if (making->list_count == INSPECT_LISTS_MAX)
			return err_set(making->err, ERR_TOO_BIG, "too many lists");
		making->lists[making->list_count] =
			(struct inspect_list){ rule->words, (uint32_t)rule->word_count };
		making->own_lists[i] = making->list_count++;
	}
	return 0;
}

static int set_list_of(
	struct making *making, uint32_t index, uint32_t number, struct inspect_setting *setting)
{
	const struct rule *rule = &making->book->rules[number];
	const struct known_list *list = NULL;

	setting->list = making->own_lists[number];
	if (!rule->list)
		return 0;
	list = draft_list(&making->drafts[index], rule->list);
	if (!list)
		return err_set(making->err, ERR_INVALID, "policy %s: rule %s needs the list %s",
			making->book->policies[index].name, rule->id, rule->list);
	setting->list = list->index;
	return 0;
}

static int set_number_of(
	struct making *making, uint32_t index, uint32_t number, struct inspect_setting *setting)
{
	const struct rule *rule = &making->book->rules[number];
	const struct policy_number *named;

	setting->number = rule->fixed;
	if (!rule->number)
		return 0;
	named = draft_number(&making->drafts[index], rule->number);
	if (!named)
		return err_set(making->err, ERR_INVALID, "policy %s: rule %s needs the number %s",
			making->book->policies[index].name, rule->id, rule->number);
	setting->number = named->value;
	return 0;
}

/* Rules that are off are looked for all the same when one that is on stands beside them. */
static void wake(const struct rulebook *book, struct inspect_setting *settings)
{
	for (uint32_t i = 0; i < book->rule_count; i++) {
		uint32_t beside = book->rules[i].how.beside;

		if (settings[i].weight <= WEIGHT_QUIET || beside == 0)
			continue;
		for (uint32_t j = beside - 1; j < book->rule_count; j++)
			if (book->rules[j].how.first == beside - 1 &&
				settings[j].weight == WEIGHT_OFF)
				settings[j].weight = WEIGHT_QUIET;
	}
}

static int set_rules(struct making *making, uint32_t index, struct inspect_setting *settings)
{
	const struct rulebook *book = making->book;
	const struct policy *policy = &book->policies[index];

	for (uint32_t i = 0; i < book->rule_count; i++)
		settings[i].weight =
			policy_reads(policy, i) ? weights[policy->modes[i]] : WEIGHT_OFF;
	wake(book, settings);
	for (uint32_t i = 0; i < book->rule_count; i++)
		if (settings[i].weight != WEIGHT_OFF &&
			(set_list_of(making, index, i, &settings[i]) < 0 ||
				set_number_of(making, index, i, &settings[i]) < 0))
			return -1;
	return 0;
}

static void digest_settings(struct making *making, const struct inspect_setting *settings,
	const struct policy *policy, struct digest *digest)
{
	const struct rulebook *book = making->book;

	for (uint32_t i = 0; i < book->rule_count; i++) {
		const struct inspect_list *list = &making->lists[settings[i].list];

		digest_add_u64(digest, (uint64_t)policy->modes[i]);
		digest_add_u64(digest, settings[i].number);
		for (uint32_t w = 0; settings[i].weight && book->rules[i].list && w < list->count;
			w++)
			digest_add_sized(digest, list->words[w], strlen(list->words[w]));
	}
	for (uint32_t i = 0; i < book->language_count * INSPECT_BUILTIN_COUNT; i++)
		digest_add_u64(digest, (uint64_t)policy->builtins[i]);
	for (uint32_t i = 0; i < book->language_count; i++) {
		digest_add_sized(digest, policy->run_rules[i].data, policy->run_rules[i].len);
		digest_add_u64(digest, policy->has_rules[i]);
	}
}

static void digest_policy(
	struct making *making, uint32_t index, const struct inspect_setting *settings)
{
	struct rulebook *book = making->book;
	struct policy *policy = &book->policies[index];
	struct digest digest;

	digest_start(&digest);
	digest_add_sized(&digest, policy->name, strlen(policy->name));
	for (uint32_t i = 0; i < book->language_count; i++) {
		const struct inspect_language *texts = &book->languages[i].texts;

		digest_add_sized(&digest, texts->name, strlen(texts->name));
		digest_add_sized(&digest, texts->rules, texts->rules_len);
		digest_add_sized(&digest, texts->scope, texts->scope_len);
		digest_add_u64(&digest, policy->languages[i]);
	}
	for (size_t i = 0; i < policy->unread_count; i++)
		digest_add_sized(&digest, policy->unread[i], strlen(policy->unread[i]));
	digest_add_u64(&digest, policy->executes != NULL);
	for (size_t i = 0; policy->executes && i < policy->execute_count; i++)
		digest_add_sized(&digest, policy->executes[i], strlen(policy->executes[i]));
	digest_settings(making, settings, policy, &digest);
	digest_end_text(&digest, policy->digest);
}

/* The lists themselves go with the making; their words are the book's already. */
static int keep_lists(struct making *making)
{
	struct inspect_list *lists =
		arena_array(&making->book->arena, struct inspect_list, making->list_count + 1);

	if (!lists)
		return err_set(making->err, ERR_MEMORY, "no memory for lists");
	memcpy(lists, making->lists, making->list_count * sizeof(*lists));
	making->book->lists = lists;
	return 0;
}

int book_write_message(struct making *making)
{
	struct rulebook *book = making->book;
	struct arena *arena = &book->arena;
	struct inspect_rules message = {
		.languages = arena_array(arena, struct inspect_language, book->language_count),
		.language_count = book->language_count,
		.rules = arena_array(arena, struct inspect_rule, book->rule_count),
		.rule_count = book->rule_count,
		.lists = making->lists,
		.policies = arena_array(arena, struct inspect_policy, book->policy_count),
		.policy_count = book->policy_count,
	};

	if (add_own_lists(making) < 0)
		return -1;
	message.list_count = making->list_count;
	if (!message.languages || !message.rules || !message.policies)
		return err_set(making->err, ERR_MEMORY, "no memory for policies");
	for (uint32_t i = 0; i < book->language_count; i++)
		message.languages[i] = book->languages[i].texts;
	for (uint32_t i = 0; i < book->rule_count; i++)
		message.rules[i] = book->rules[i].how;
	for (uint32_t i = 0; i < book->policy_count; i++) {
		struct inspect_setting *settings =
			arena_array(arena, struct inspect_setting, book->rule_count);

		message.policies[i].settings = settings;
		book->policies[i].settings = settings;
		if (!settings)
			return err_set(making->err, ERR_MEMORY, "no memory for policies");
		if (set_rules(making, i, settings) < 0)
			return -1;
		digest_policy(making, i, settings);
	}
	if (keep_lists(making) < 0)
		return -1;
	return inspect_rules_encode(&message, &book->message, making->err);
}
