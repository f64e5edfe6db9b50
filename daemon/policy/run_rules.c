#include "daemon/policy/run_rules.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/container.h"

#define RUN_RULES_BYTES_MAX ((size_t)256 << 10)

/* ---- where a rule holds --------------------------------------------------------------------- */

/*
 * The rules that a worker enforces: sandbox/runtimes/python/rules.c has the same rows.  Every other
 * rule holds over the text alone.
 */
static const struct {
	const char *id;
	const char *list;
	bool alone; /* so completely that the text need not be looked at for it */
} in_worker[] = {
	{ "python.import.dangerous", "python.imports.dangerous", true },
	{ "python.import.denied", "python.imports", true },
	{ "python.import.member", "python.members", false },
	{ "python.call.denied", "python.calls", true },
	{ "python.attribute.denied", "python.attributes", false },
	{ "python.name.denied", "python.names", true },
	{ "python.builtin.denied", "python.builtins.denied", false },
	{ "python.dunder.denied", "python.dunders", false },
};

/* Whether a worker can enforce the rule where the policy says `at`. */
static bool worker_enforces(const struct rule *rule, enum policy_at at)
{
	for (size_t i = 0; i < COUNT_OF(in_worker); i++)
		if (strcmp(rule->id, in_worker[i].id) == 0 && rule->list &&
			strcmp(rule->list, in_worker[i].list) == 0)
			return in_worker[i].alone || at != AT_RUN;
	return false;
}

static int compare_places(const void *left, const void *right)
{
	size_t a = strlen(((const struct policy_place *)left)->id);
	size_t b = strlen(((const struct policy_place *)right)->id);

	return (a > b) - (a < b);
}

/* Whether any rule, also one of those that need no file, has an id that the pattern fits. */
static bool fits_any(const struct rulebook *book, const char *pattern)
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

static int set_place(struct making *making, struct policy *policy, const struct policy_place *place)
{
	const struct rulebook *book = making->book;
	size_t enforced = 0;

	if (!fits_any(book, place->id))
		return err_set(making->err, ERR_INVALID, "at: there is no rule %s", place->id);
	for (size_t i = 0; i < book->rule_count; i++)
		if (worker_enforces(&book->rules[i], place->at) &&
			policy_pattern_fits(place->id, book->rules[i].id)) {
			policy->at[i] = place->at;
			enforced++;
		}
	if (place->at == AT_RUN && !enforced && !strchr(place->id, '*'))
		return err_set(making->err, ERR_INVALID,
			"at: %s cannot be enforced by workers alone", place->id);
	return 0;
}

static int set_places(struct making *making, struct policy *policy, struct policy_file *file,
	const struct policy *parent)
{
	struct rulebook *book = making->book;
	int result = 0;

	policy->at = arena_array(&book->arena, enum policy_at, book->rule_count);
	if (!policy->at)
		return err_set(making->err, ERR_MEMORY, "no memory for policies");
	for (size_t i = 0; i < book->rule_count; i++)
		policy->at[i] = worker_enforces(&book->rules[i], AT_BOTH) ? AT_BOTH : AT_TEXT;
	if (parent)
		memcpy(policy->at, parent->at, book->rule_count * sizeof(*policy->at));
	if (file->place_count > 0)
		qsort(file->places, file->place_count, sizeof(*file->places), compare_places);
	for (size_t i = 0; i < file->place_count && result == 0; i++)
		result = set_place(making, policy, &file->places[i]);
	return result;
}

/* ---- what a worker is told ---------------------------------------------------------------------- */

/* A word that would break the form stands for nothing that a program could write. */
static bool is_plain(const char *word)
{
	return !strpbrk(word, "\t\n");
}

static int add_rule(
	struct making *making, struct draft *draft, const struct rule *rule, struct buf *text)
{
	const struct known_list *list = rule->list ? draft_list(draft, rule->list) : NULL;
	const struct inspect_list *words = list ? &making->lists[list->index] : NULL;

	if (rule->list && !list)
		return err_set(making->err, ERR_INVALID, "rule %s needs the list %s", rule->id,
			rule->list);
	(void)buf_printf(text, "%s\t%s", rule->id, rule->list ? rule->list : "");
	for (uint32_t i = 0; words && i < words->count; i++)
		if (is_plain(words->words[i]))
			(void)buf_printf(text, "\t%s", words->words[i]);
	return buf_append_byte(text, '\n') < 0
		       ? err_set(making->err, ERR_TOO_BIG, "too much to tell a worker")
		       : 0;
}

/* Two rules of one name with one list are one. */
static bool is_told(const struct rulebook *book, const struct inspect_language *texts, uint32_t i)
{
	const struct rule *rule = &book->rules[i];

	for (uint32_t k = texts->rule_first; k < i; k++)
		if (!strcmp(book->rules[k].id, rule->id) &&
			!strcmp(book->rules[k].list ? book->rules[k].list : "",
				rule->list ? rule->list : ""))
			return true;
	return false;
}

static int write_language(struct making *making, struct policy *policy, struct draft *draft,
	const struct inspect_language *texts, struct buf *text)
{
	const struct rulebook *book = making->book;

	for (uint32_t i = texts->rule_first; i < texts->rule_first + texts->rule_count; i++)
		if (policy->modes[i] == MODE_DENY && policy->at[i] != AT_TEXT &&
			!is_told(book, texts, i) &&
			add_rule(making, draft, &book->rules[i], text) < 0)
			return -1;
	return 0;
}

static int keep(struct making *making, const struct buf *text, struct bytes *ret_bytes)
{
	const char *bytes =
		arena_copy(&making->book->arena, text->len ? text->bytes : "", text->len);

	if (!bytes)
		return err_set(making->err, ERR_MEMORY, "no memory for policies");
	*ret_bytes = (struct bytes){ bytes, text->len };
	return 0;
}

int run_rules_make(struct making *making, struct policy *policy, struct draft *draft,
	const struct policy *parent)
{
	struct rulebook *book = making->book;
	int result = set_places(making, policy, &draft->file, parent);

	policy->run_rules = arena_array(&book->arena, struct bytes, book->language_count);
	if (result == 0 && !policy->run_rules)
		return err_set(making->err, ERR_MEMORY, "no memory for policies");
	for (uint32_t i = 0; i < book->language_count && result == 0; i++) {
		struct buf text;

		buf_init(&text, RUN_RULES_BYTES_MAX);
		result = write_language(making, policy, draft, &book->languages[i].texts, &text);
		if (result == 0)
			result = keep(making, &text, &policy->run_rules[i]);
		buf_done(&text);
	}
	return result;
}
