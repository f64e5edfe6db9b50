#include "daemon/policy/policy_compile.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/cleanup.h"
#include "proto/base/container.h"
#include "proto/base/embedded.h"
#include "proto/base/fdio.h"
#include "proto/digest.h"
#include "proto/job/language.h"

extern const struct embedded policy_files[];

#define FILES_MAX           INSPECT_POLICIES_MAX
#define EXTENDS_MAX         8 /* how long a chain of `extends` may be */
#define RUN_RULES_BYTES_MAX ((size_t)256 << 10)

/* A list of one policy and its number in the message. */
struct known_list {
	const char *name;
	uint32_t index;
};

/* A policy while it is being made. */
struct draft {
	const char *path; /* of its file in the folder; NULL: it is shipped */
	struct policy_file file;
	bool done;
	struct known_list lists[POLICY_FILE_LISTS];
	size_t list_count;
	struct policy_number numbers[POLICY_NUMBERS_MAX];
	size_t number_count;
};

struct making {
	struct rulebook *book;
	struct draft *drafts; /* one for each of book->policies */
	struct inspect_list lists[INSPECT_LISTS_MAX];
	uint32_t list_count;
	uint32_t *own_lists; /* by rule: the list of its own words */
	struct err *err;
};

/* ---- the RULES message, and the digests of policies ------------------------------------------ */

static struct known_list *draft_list(struct draft *draft, const char *name)
{
	for (size_t i = 0; i < draft->list_count; i++)
		if (strcmp(draft->lists[i].name, name) == 0)
			return &draft->lists[i];
	return NULL;
}

static const struct policy_number *draft_number(const struct draft *draft, const char *name)
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

/* A rule that lists its own words gets one list for all policies. */
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

/* A rule that is off is still matched if an active rule names it with `beside`. */
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

static void digest_words(struct digest *digest, const struct policy_words *list)
{
	for (size_t i = 0; list->words && i < list->count; i++)
		digest_add_sized(digest, list->words[i], strlen(list->words[i]));
}

/* A policy that says nothing about tools keeps the digest that it has without them. */
static void digest_tools(struct digest *digest, const struct policy_tools *tools)
{
	const struct policy_words *lists[] = { &tools->deny, &tools->ask, &tools->allow };

	for (uint64_t i = 0; i < COUNT_OF(lists); i++) {
		if (!lists[i]->words)
			continue;
		digest_add_u64(digest, i + 1);
		digest_add_u64(digest, lists[i]->count);
		digest_words(digest, lists[i]);
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
	digest_words(&digest, &policy->bounds.unread);
	digest_add_u64(&digest, policy->bounds.executes.words != NULL);
	digest_words(&digest, &policy->bounds.executes);
	if (policy->bounds.network)
		digest_add_u64(&digest, policy->bounds.network);
	digest_tools(&digest, &policy->bounds.tools);
	digest_settings(making, settings, policy, &digest);
	digest_end_text(&digest, policy->digest);
}

/* Copies the lists into the book's arena, where their words are already. */
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

static int write_message(struct making *making)
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

static int set_place(
	struct making *making, struct policy *policy, const struct policy_choice *place)
{
	const struct rulebook *book = making->book;
	enum policy_at at = (enum policy_at)place->value;
	size_t enforced = 0;

	if (!rulebook_has_rule(book, place->id))
		return err_set(making->err, ERR_INVALID, "at: there is no rule %s", place->id);
	for (size_t i = 0; i < book->rule_count; i++)
		if (worker_enforces(&book->rules[i], at) &&
			policy_pattern_fits(place->id, book->rules[i].id)) {
			policy->at[i] = at;
			enforced++;
		}
	if (at == AT_RUN && !enforced && !strchr(place->id, '*'))
		return err_set(making->err, ERR_INVALID,
			"at: %s cannot be enforced by workers alone", place->id);
	return 0;
}

static int set_places(struct making *making, struct policy *policy,
	const struct policy_choices *places, const struct policy *parent)
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
	for (size_t i = 0; i < places->count && result == 0; i++)
		result = set_place(making, policy, &places->rows[i]);
	return result;
}

/* ---- what a worker gets -------------------------------------------------------------------- */

/* A word with a separator cannot occur in a program, so it is left out. */
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
		       ? err_set(making->err, ERR_TOO_BIG,
				 "the rules for workers are longer than 256 KiB")
		       : 0;
}

/* Whether an earlier rule with the same id and list has been written. */
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

static int keep_run_rules(struct making *making, const struct buf *text, struct bytes *ret_bytes)
{
	const char *bytes =
		arena_copy(&making->book->arena, text->len ? text->bytes : "", text->len);

	if (!bytes)
		return err_set(making->err, ERR_MEMORY, "no memory for policies");
	*ret_bytes = (struct bytes){ bytes, text->len };
	return 0;
}

static int make_run_rules(struct making *making, struct policy *policy, struct draft *draft,
	const struct policy *parent)
{
	struct rulebook *book = making->book;
	int result = set_places(making, policy, &draft->file.places, parent);

	policy->run_rules = arena_array(&book->arena, struct bytes, book->language_count);
	if (result == 0 && !policy->run_rules)
		return err_set(making->err, ERR_MEMORY, "no memory for policies");
	for (uint32_t i = 0; i < book->language_count && result == 0; i++) {
		struct buf text;

		buf_init(&text, RUN_RULES_BYTES_MAX);
		result = write_language(making, policy, draft, &book->languages[i].texts, &text);
		if (result == 0)
			result = keep_run_rules(making, &text, &policy->run_rules[i]);
		buf_done(&text);
	}
	return result;
}

/* ---- reading files ------------------------------------------------------------------------- */

static bool has_name(const struct policy_file *file, const char *name)
{
	return file->name && strcmp(file->name, name) == 0;
}

/*
 * Adds a policy file.  A file of the folder replaces the shipped policy of that name; `path` is
 * NULL for a shipped one.  Two files of the folder with one name are an error.
 */
static int add_file(
	struct making *making, const char *where, const char *path, const char *text, size_t len)
{
	struct rulebook *book = making->book;
	struct policy_file file;
	uint32_t i = 0;

	if (policy_file_parse(&book->arena, text, len, &file, making->err) < 0)
		return err_wrap(making->err, "policy %s", where);
	while (i < book->policy_count && !has_name(&making->drafts[i].file, file.name))
		i++;
	if (i == FILES_MAX)
		return err_set(making->err, ERR_TOO_BIG, "more than %u policies", FILES_MAX);
	if (i == book->policy_count)
		book->policy_count++;
	if (making->drafts[i].path)
		return err_set(making->err, ERR_INVALID,
			"policy %s: two files define it, %s and %s: rename one, or remove it",
			file.name, making->drafts[i].path, where);
	making->drafts[i].path = path;
	making->drafts[i].file = file;
	return 0;
}

static int add_shipped(struct making *making)
{
	for (const struct embedded *row = policy_files; row->name; row++)
		if (add_file(making, row->name, NULL, (const char *)row->bytes, row->len) < 0)
			return -1;
	return 0;
}

static int add_from(struct making *making, const char *path)
{
	auto_free char *text = NULL;
	size_t len = 0;

	if (read_file(path, POLICY_FILE_MAX, &text, &len, making->err) < 0)
		return err_wrap(making->err, "policy");
	return add_file(making, path, path, text, len);
}

static int is_policy_file(const struct dirent *entry)
{
	const char *dot = strrchr(entry->d_name, '.');

	return entry->d_name[0] != '.' && dot && strcmp(dot, ".json") == 0;
}

/*
 * Adds the files in the order of their names, so that indexes and digests do not depend on the
 * disk.
 */
static int add_folder(struct making *making, const char *folder)
{
	struct dirent **entries = NULL;
	int count = scandir(folder, &entries, is_policy_file, alphasort);
	int r = 0;

	if (count < 0)
		return err_sys(making->err, "policies in %s", folder);
	for (int i = 0; i < count; i++) {
		const char *path =
			arena_printf(&making->book->arena, "%s/%s", folder, entries[i]->d_name);

		if (r == 0)
			r = path ? add_from(making, path)
				 : err_set(making->err, ERR_MEMORY, "no memory for policies");
		free(entries[i]);
	}
	free(entries);
	return r;
}

/* ---- modes --------------------------------------------------------------------------------- */

/* Sets the mode of each rule that the pattern fits, and returns how many there are. */
static size_t apply_pattern(
	const struct rulebook *book, struct policy *policy, const struct policy_choice *pattern)
{
	enum policy_mode mode = (enum policy_mode)pattern->value;
	size_t count = 0;

	for (uint32_t i = 0; i < book->rule_count; i++) {
		if (policy_pattern_fits(pattern->id, book->rules[i].id)) {
			policy->modes[i] = mode;
			count++;
		}
	}
	for (uint32_t i = 0; i < book->language_count * INSPECT_BUILTIN_COUNT; i++) {
		uint32_t builtin = i % INSPECT_BUILTIN_COUNT;
		const char *id = book->languages[i / INSPECT_BUILTIN_COUNT].builtin_ids[builtin];

		/* Every policy denies a program whose check was given up. */
		if (builtin != INSPECT_LATE && policy_pattern_fits(pattern->id, id)) {
			policy->builtins[i] = mode;
			count++;
		}
	}
	return count;
}

static void note_mode(struct policy *policy, enum policy_mode mode)
{
	if (mode < policy->strictest)
		policy->strictest = mode;
}

static int set_modes(struct making *making, struct policy *policy, const struct draft *draft,
	const struct policy *parent)
{
	const struct rulebook *book = making->book;
	uint32_t builtins = book->language_count * INSPECT_BUILTIN_COUNT;

	if (parent) {
		memcpy(policy->modes, parent->modes, book->rule_count * sizeof(*policy->modes));
		memcpy(policy->builtins, parent->builtins, builtins * sizeof(*policy->builtins));
	}
	for (size_t i = 0; i < draft->file.modes.count; i++)
		if (apply_pattern(book, policy, &draft->file.modes.rows[i]) == 0)
			return err_set(making->err, ERR_INVALID, "there is no rule %s",
				draft->file.modes.rows[i].id);
	policy->strictest = MODE_OFF;
	for (uint32_t i = 0; i < book->rule_count; i++)
		note_mode(policy, policy->modes[i]);
	for (uint32_t i = 0; i < builtins; i++)
		if (i % INSPECT_BUILTIN_COUNT != INSPECT_LATE)
			note_mode(policy, policy->builtins[i]);
	return 0;
}

/* ---- languages and lists ------------------------------------------------------------------- */

/* "js" means "javascript", as in a request, unless the book or the policy has a language "js". */
static const char *language_meant(
	const struct rulebook *book, const struct policy *policy, const char *word)
{
	const char *language = language_of_alias(word);

	if (!language || rulebook_language(book, word) >= 0 ||
		rulebook_language(book, language) < 0 || rulebook_lets_unread(policy, word))
		return word;
	return language;
}

static int set_languages(struct making *making, struct policy *policy, const struct draft *draft,
	const struct policy *parent)
{
	const struct rulebook *book = making->book;
	const struct policy_words *languages = &draft->file.languages;

	if (!languages->words && parent)
		memcpy(policy->languages, parent->languages,
			book->language_count * sizeof(*policy->languages));
	for (size_t i = 0; languages->words && i < languages->count; i++) {
		int language =
			rulebook_language(book, language_meant(book, policy, languages->words[i]));

		if (language < 0)
			return err_set(making->err, ERR_INVALID,
				"languages: there are no rules for %s",
				draft->file.languages.words[i]);
		policy->languages[language] = true;
	}
	return 0;
}

static uint64_t own_or(uint64_t own, uint64_t inherited)
{
	return own == POLICY_LIMIT_UNSET ? inherited : own;
}

static void inherit_limits(struct job_limits *limits, const struct job_limits *parent)
{
#define INHERIT(name, meaning) limits->name = own_or(limits->name, parent->name);
	JOB_LIMITS(INHERIT)
#undef INHERIT
}

static void inherit_words(struct policy_words *words, const struct policy_words *parent)
{
	if (!words->words)
		*words = *parent;
}

/* A language that has rules is not allowed in `unread`, but in `languages`. */
static int set_bounds(struct making *making, struct policy *policy, const struct draft *draft,
	const struct policy *parent)
{
	struct policy_bounds *bounds = &policy->bounds;

	*bounds = draft->file.bounds;
	if (parent)
		inherit_words(&bounds->unread, &parent->bounds.unread);
	for (size_t i = 0; i < bounds->unread.count; i++)
		if (rulebook_language(making->book, bounds->unread.words[i]) >= 0)
			return err_set(making->err, ERR_INVALID,
				"unread: %s has rules: put it into languages",
				bounds->unread.words[i]);
	for (size_t i = 0; i < bounds->executes.count; i++)
		bounds->executes.words[i] =
			language_meant(making->book, policy, bounds->executes.words[i]);
	if (!parent)
		return 0;
	inherit_words(&bounds->executes, &parent->bounds.executes);
	inherit_words(&bounds->entries, &parent->bounds.entries);
	bounds->code_bytes = own_or(bounds->code_bytes, parent->bounds.code_bytes);
	inherit_limits(&bounds->limits, &parent->bounds.limits);
	inherit_limits(&bounds->most, &parent->bounds.most);
	if (!bounds->network)
		bounds->network = parent->bounds.network;
	inherit_words(&bounds->tools.deny, &parent->bounds.tools.deny);
	inherit_words(&bounds->tools.ask, &parent->bounds.tools.ask);
	inherit_words(&bounds->tools.allow, &parent->bounds.tools.allow);
	return 0;
}

/* Sets the list of that name to `first` and `second`. */
static int set_list(struct making *making, struct draft *draft, const char *name,
	struct inspect_list first, const struct policy_words *second)
{
	struct known_list *known = draft_list(draft, name);
	struct inspect_list *list = &making->lists[making->list_count];
	size_t count = first.count + second->count;

	if (!known && draft->list_count < POLICY_FILE_LISTS)
		known = &draft->lists[draft->list_count++];
	if (!known || making->list_count == INSPECT_LISTS_MAX || count > INSPECT_WORDS_MAX)
		return err_set(making->err, ERR_TOO_BIG, "too many lists");
	list->words = arena_array(&making->book->arena, const char *, count);
	if (!list->words)
		return err_set(making->err, ERR_MEMORY, "no memory for lists");
	if (first.count > 0)
		memcpy(list->words, first.words, first.count * sizeof(*list->words));
	if (second->count > 0)
		memcpy(list->words + first.count, second->words,
			second->count * sizeof(*list->words));
	list->count = (uint32_t)count;
	*known = (struct known_list){ name, making->list_count++ };
	return 0;
}

static int set_lists(struct making *making, struct draft *draft, const struct draft *parent)
{
	const struct policy_file *file = &draft->file;

	if (parent) {
		memcpy(draft->lists, parent->lists, sizeof(draft->lists));
		draft->list_count = parent->list_count;
	}
	for (size_t i = 0; i < file->lists.count; i++) {
		struct inspect_list none = { 0 };

		if (set_list(making, draft, file->lists.lists[i].name, none,
			    &file->lists.lists[i]) < 0)
			return -1;
	}
	for (size_t i = 0; i < file->added.count; i++) {
		const struct known_list *known = draft_list(draft, file->added.lists[i].name);

		if (!known)
			return err_set(making->err, ERR_INVALID, "lists_add: there is no list %s",
				file->added.lists[i].name);
		if (set_list(making, draft, known->name, making->lists[known->index],
			    &file->added.lists[i]) < 0)
			return -1;
	}
	return 0;
}

static int set_number(
	struct making *making, struct draft *draft, const struct policy_number *number)
{
	for (size_t i = 0; i < draft->number_count; i++)
		if (strcmp(draft->numbers[i].name, number->name) == 0) {
			draft->numbers[i].value = number->value;
			return 0;
		}
	if (draft->number_count == POLICY_NUMBERS_MAX)
		return err_set(making->err, ERR_TOO_BIG, "too many numbers");
	draft->numbers[draft->number_count++] = *number;
	return 0;
}

/* Rejects a number that no rule uses, since its name is probably misspelt. */
static int check_number(struct making *making, const char *name)
{
	const struct rulebook *book = making->book;

	for (uint32_t i = 0; i < book->rule_count; i++)
		if (book->rules[i].number && !strcmp(book->rules[i].number, name))
			return 0;
	return err_set(making->err, ERR_INVALID, "numbers: no rule has a number called %s", name);
}

static int set_numbers(struct making *making, struct draft *draft, const struct draft *parent)
{
	if (parent) {
		memcpy(draft->numbers, parent->numbers, sizeof(draft->numbers));
		draft->number_count = parent->number_count;
	}
	for (size_t i = 0; i < draft->file.number_count; i++)
		if (check_number(making, draft->file.numbers[i].name) < 0 ||
			set_number(making, draft, &draft->file.numbers[i]) < 0)
			return -1;
	return 0;
}

/* ---- one policy ---------------------------------------------------------------------------- */

static int make_room(struct making *making, struct policy *policy)
{
	struct rulebook *book = making->book;
	size_t builtins = (size_t)book->language_count * INSPECT_BUILTIN_COUNT;

	policy->languages = arena_array(&book->arena, bool, book->language_count);
	policy->has_rules = arena_array(&book->arena, bool, book->language_count);
	policy->modes = arena_array(&book->arena, enum policy_mode, book->rule_count);
	policy->builtins = arena_array(&book->arena, enum policy_mode, builtins);
	if (!policy->languages || !policy->has_rules || !policy->modes || !policy->builtins)
		return err_set(making->err, ERR_MEMORY, "no memory for policies");
	return 0;
}

static void note_rules(const struct rulebook *book, struct policy *policy)
{
	for (uint32_t l = 0; l < book->language_count; l++) {
		const struct inspect_language *texts = &book->languages[l].texts;
		bool *has_rules = &policy->has_rules[l];

		for (uint32_t i = 0; i < texts->rule_count; i++)
			*has_rules = *has_rules || policy_reads(policy, texts->rule_first + i);
		for (uint32_t i = 0; i < INSPECT_LATE; i++)
			*has_rules = *has_rules ||
				     policy->builtins[l * INSPECT_BUILTIN_COUNT + i] != MODE_OFF;
	}
}

static int make_policy(struct making *making, uint32_t index, int depth);

/* Makes the policy that a draft extends first.  NULL in *ret_parent when it extends none. */
static int make_parent(struct making *making, const struct draft *draft, int depth,
	const struct policy **ret_parent)
{
	const struct rulebook *book = making->book;

	*ret_parent = NULL;
	if (!draft->file.extends)
		return 0;
	for (uint32_t i = 0; i < book->policy_count; i++) {
		if (!has_name(&making->drafts[i].file, draft->file.extends))
			continue;
		*ret_parent = &book->policies[i];
		return make_policy(making, i, depth + 1);
	}
	return err_set(
		making->err, ERR_INVALID, "there is no policy %s to extend", draft->file.extends);
}

static int fill_policy(struct making *making, uint32_t index, int depth)
{
	struct policy *policy = &making->book->policies[index];
	struct draft *draft = &making->drafts[index];
	const struct policy *parent;

	if (depth > EXTENDS_MAX)
		return err_set(making->err, ERR_INVALID,
			"`extends` of policy %s forms a cycle, or a chain of more than 8 policies: give it a name of its own",
			draft->file.name);
	policy->name = draft->file.name;
	policy->description = draft->file.description;
	policy->index = index;
	if (make_room(making, policy) < 0 || make_parent(making, draft, depth, &parent) < 0)
		return -1;
	if (set_modes(making, policy, draft, parent) < 0 ||
		set_bounds(making, policy, draft, parent) < 0 ||
		set_languages(making, policy, draft, parent) < 0)
		return -1;
	if (set_numbers(making, draft, parent ? &making->drafts[parent->index] : NULL) < 0)
		return -1;
	if (set_lists(making, draft, parent ? &making->drafts[parent->index] : NULL) < 0 ||
		make_run_rules(making, policy, draft, parent) < 0)
		return -1;
	note_rules(making->book, policy);
	return 0;
}

static int make_policy(struct making *making, uint32_t index, int depth)
{
	if (making->drafts[index].done)
		return 0;
	if (fill_policy(making, index, depth) < 0)
		return -1;
	making->drafts[index].done = true;
	return 0;
}

static int make_all(struct making *making, const char *folder)
{
	struct rulebook *book = making->book;

	if (add_shipped(making) < 0 || (folder && add_folder(making, folder) < 0))
		return -1;
	for (uint32_t i = 0; i < book->policy_count; i++)
		if (make_policy(making, i, 0) < 0)
			return err_wrap(making->err, "policy %s", making->drafts[i].file.name);
	return write_message(making);
}

int policies_compile(struct rulebook *book, const char *folder, struct err *err)
{
	auto_free struct making *making = calloc(1, sizeof(*making));
	auto_free struct draft *drafts = calloc(FILES_MAX, sizeof(*drafts));

	book->policies = arena_array(&book->arena, struct policy, FILES_MAX);
	if (!making || !drafts || !book->policies)
		return err_set(err, ERR_MEMORY, "no memory for policies");
	making->book = book;
	making->drafts = drafts;
	making->err = err;
	return make_all(making, folder);
}
