#include "daemon/policy/rulebook.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/policy/book_making.h"
#include "proto/base/cleanup.h"
#include "proto/base/container.h"
#include "proto/base/embedded.h"

extern const struct embedded policy_rules[];

#define BOOK_MEMORY_MAX ((size_t)64 << 20)

/* What the inspector finds without a rule from a file; the id follows the language's name. */
static const struct {
	const char *id;
	const char *message;
	const char *hint;
} builtins[INSPECT_BUILTIN_COUNT] = {
	[INSPECT_BYTES_SIZE] = { ".bytes.size", "the program is longer than 256 KiB",
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
		"a control character turns the order in which people see the text",
		"write it as an escape in a string" },
	[INSPECT_SYNTAX_UNREADABLE] = { ".syntax.unreadable",
		"the program cannot be read from here on", "check the syntax at this place" },
	[INSPECT_LATE] = { "policy.late", "the program could not be checked in time",
		"make the program shorter or simpler" },
};

static const struct embedded *find_text(const char *name)
{
	const struct embedded *row = policy_rules;

	while (row->name && strcmp(row->name, name) != 0)
		row++;
	return row->name ? row : NULL;
}

/* "python.scm" is the rules of python; NULL for what is none. */
static const char *language_of(struct arena *arena, const struct embedded *row)
{
	const char *dot = strchr(row->name, '.');

	if (!dot || strcmp(dot, ".scm") != 0)
		return NULL;
	return arena_copy(arena, row->name, (size_t)(dot - row->name));
}

/* "python.scope.scm" goes with it. */
static const struct embedded *scope_of(struct arena *arena, const char *language)
{
	const char *name = arena_printf(arena, "%s.scope.scm", language);

	return name ? find_text(name) : NULL;
}

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

static int add_language(struct rulebook *book, const struct embedded *rules,
	const struct embedded *scope, struct err *err)
{
	struct book_language *language = &book->languages[book->language_count];
	struct rules_file file;

	if (rules_file_parse(&book->arena, (const char *)rules->bytes, rules->len, &file, err) < 0)
		return err_wrap(err, "%s", rules->name);
	if (file.count > INSPECT_RULE_COUNT_MAX - book->rule_count)
		return err_set(err, ERR_TOO_BIG, "too many rules");
	language->texts = (struct inspect_language){
		.name = language->name,
		.rules = (const char *)rules->bytes,
		.rules_len = rules->len,
		.scope = (const char *)scope->bytes,
		.scope_len = scope->len,
		.rule_first = book->rule_count,
		.rule_count = (uint32_t)file.count,
	};
	memcpy(book->rules + book->rule_count, file.rules, file.count * sizeof(*file.rules));
	book->rule_count += (uint32_t)file.count;
	book->language_count++;
	return name_builtins(book, language, err);
}

static int add_languages(struct rulebook *book, struct err *err)
{
	book->languages = arena_array(&book->arena, struct book_language, INSPECT_LANGUAGES_MAX);
	book->rules = arena_array(&book->arena, struct rule, INSPECT_RULE_COUNT_MAX);
	if (!book->languages || !book->rules)
		return err_set(err, ERR_MEMORY, "no memory for rules");
	for (const struct embedded *row = policy_rules; row->name; row++) {
		const char *name = language_of(&book->arena, row);
		const struct embedded *scope = name ? scope_of(&book->arena, name) : NULL;

		if (!name)
			continue;
		if (!scope || book->language_count == INSPECT_LANGUAGES_MAX)
			return err_set(err, ERR_INVALID, "the rules of %s are not whole", name);
		book->languages[book->language_count].name = name;
		if (add_language(book, row, scope, err) < 0)
			return -1;
	}
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
	if (add_languages(book, err) < 0 || book_add_policies(book, folder, err) < 0)
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

bool rulebook_lets_unread(const struct policy *policy, const char *language)
{
	for (size_t i = 0; i < policy->unread_count; i++)
		if (strcmp(policy->unread[i], language) == 0)
			return true;
	return false;
}

bool policy_reads(const struct policy *policy, uint32_t rule)
{
	return policy->modes[rule] != MODE_OFF && policy->at[rule] != AT_RUN;
}

enum policy_mode rulebook_builtin_mode(const struct rulebook *book, const struct policy *policy,
	uint32_t language, uint32_t builtin)
{
	uint32_t index = language * INSPECT_BUILTIN_COUNT + builtin;

	return policy->at[book->rule_count + index] == AT_RUN ? MODE_OFF : policy->builtins[index];
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
			builtins[rule].hint, rulebook_builtin_mode(book, policy, language, rule) };
	from_file = &book->rules[rule - INSPECT_BUILTIN_COUNT];
	return (struct rule_words){ from_file->id, from_file->message, from_file->hint,
		policy->modes[rule - INSPECT_BUILTIN_COUNT] };
}
