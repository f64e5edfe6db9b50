#include "daemon/policy/run_rules.h"

#include <stdlib.h>
#include <string.h>

#define RUN_RULES_BYTES_MAX ((size_t)256 << 10)

/* ---- where -------------------------------------------------------------------------------------- */

static size_t count_of(const struct rulebook *book)
{
	return book->rule_count + (size_t)book->language_count * INSPECT_BUILTIN_COUNT;
}

/* Rules first, then what is looked at without a rule in a file. */
static const char *id_at(const struct rulebook *book, size_t index)
{
	size_t builtin = index - book->rule_count;

	if (index < book->rule_count)
		return book->rules[index].id;
	return book->languages[builtin / INSPECT_BUILTIN_COUNT]
		.builtin_ids[builtin % INSPECT_BUILTIN_COUNT];
}

/* What could not be read is denied wherever the rules hold. */
static bool is_late(const struct rulebook *book, size_t index)
{
	return index >= book->rule_count &&
	       (index - book->rule_count) % INSPECT_BUILTIN_COUNT == INSPECT_LATE;
}

static int compare_places(const void *left, const void *right)
{
	size_t a = strlen(((const struct policy_place *)left)->id);
	size_t b = strlen(((const struct policy_place *)right)->id);

	return (a > b) - (a < b);
}

static int set_places(struct making *making, struct policy *policy, struct policy_file *file,
	const struct policy *parent)
{
	struct rulebook *book = making->book;

	policy->at = arena_array(&book->arena, enum policy_at, count_of(book));
	if (!policy->at)
		return err_set(making->err, ERR_MEMORY, "no memory for policies");
	if (parent)
		memcpy(policy->at, parent->at, count_of(book) * sizeof(*policy->at));
	if (file->place_count > 0)
		qsort(file->places, file->place_count, sizeof(*file->places), compare_places);
	for (size_t i = 0; i < file->place_count; i++) {
		size_t fitting = 0;

		for (size_t rule = 0; rule < count_of(book); rule++)
			if (!is_late(book, rule) &&
				policy_pattern_fits(file->places[i].id, id_at(book, rule))) {
				policy->at[rule] = file->places[i].at;
				fitting++;
			}
		if (!fitting)
			return err_set(making->err, ERR_INVALID, "at: there is no rule %s",
				file->places[i].id);
	}
	return 0;
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
