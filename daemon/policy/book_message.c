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

static int set_rules(struct making *making, uint32_t index, struct inspect_setting *settings)
{
	const struct rulebook *book = making->book;
	const struct policy *policy = &book->policies[index];

	for (uint32_t i = 0; i < book->rule_count; i++) {
		const struct rule *rule = &book->rules[i];
		const struct known_list *list = NULL;

		if (!policy_reads(policy, i))
			continue;
		settings[i].on = 1;
		if (!rule->list)
			continue;
		list = draft_list(&making->drafts[index], rule->list);
		if (!list)
			return err_set(making->err, ERR_INVALID,
				"policy %s: rule %s needs the list %s", policy->name, rule->id,
				rule->list);
		settings[i].list = list->index;
	}
	return 0;
}

static void digest_settings(struct making *making, const struct inspect_setting *settings,
	const struct policy *policy, struct digest *digest)
{
	const struct rulebook *book = making->book;

	for (uint32_t i = 0; i < book->rule_count; i++) {
		const struct inspect_list *list = &making->lists[settings[i].list];

		digest_add_u64(digest, (uint64_t)policy->modes[i]);
		for (uint32_t w = 0; settings[i].on && book->rules[i].list && w < list->count; w++)
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
	digest_settings(making, settings, policy, &digest);
	digest_end_text(&digest, policy->digest);
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
		.list_count = making->list_count,
		.policies = arena_array(arena, struct inspect_policy, book->policy_count),
		.policy_count = book->policy_count,
	};

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
		if (!settings)
			return err_set(making->err, ERR_MEMORY, "no memory for policies");
		if (set_rules(making, i, settings) < 0)
			return -1;
		digest_policy(making, i, settings);
	}
	return inspect_rules_encode(&message, &book->message, making->err);
}
