#include "daemon/policy/rule_sources.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/buf.h"
#include "proto/base/cleanup.h"
#include "proto/base/container.h"
#include "proto/base/embedded.h"
#include "proto/base/fdio.h"

extern const struct embedded policy_rules[];

#define TEXT_MAX ((size_t)2 << 20) /* all files of one language */

/* ---- the heads of one text ------------------------------------------------------------------ */

#define MARK ";;;"

static const struct {
	const char *word;
	enum inspect_subject subject;
	bool has_list;
} subjects[] = {
	{ "any", SUBJECT_ANY, false },
	{ "word", SUBJECT_WORD, true },
	{ "dunder", SUBJECT_DUNDER, true },
	{ "path", SUBJECT_PATH, true },
	{ "use", SUBJECT_USE, true },
	{ "module", SUBJECT_MODULE, false },
	{ "template", SUBJECT_TEMPLATE, true },
	{ "text", SUBJECT_TEXT, true },
	{ "url", SUBJECT_URL, true },
	{ "opaque", SUBJECT_OPAQUE, false },
	{ "command", SUBJECT_COMMAND, true },
	{ "dynamic", SUBJECT_DYNAMIC, false },
	{ "delimiter", SUBJECT_DELIMITER, false },
	{ "backtick", SUBJECT_BACKTICK, false },
	{ "subscript", SUBJECT_SUBSCRIPT, false },
	{ "substitution", SUBJECT_SUBSTITUTION, false },
};

static const struct {
	const char *word;
	enum inspect_unless unless;
} excuses[] = {
	{ "attribute", UNLESS_ATTRIBUTE },
	{ "keyword", UNLESS_KEYWORD },
	{ "store", UNLESS_STORE },
	{ "part", UNLESS_PART },
	{ "bound", UNLESS_BOUND },
	{ "harmless", UNLESS_HARMLESS },
	{ "called", UNLESS_CALLED },
	{ "own", UNLESS_OWN },
};

struct line {
	const char *text;
	size_t len;
	size_t number;
};

struct reading {
	struct arena *arena;
	const char *text;
	size_t len;
	size_t at;
	size_t line;
	size_t block; /* where the current group of heads began */
	struct rules_file file;
	struct err *err;
};

static const char blanks[] = " \t\r";

static struct line next_line(struct reading *reading)
{
	const char *start = reading->text + reading->at;
	size_t left = reading->len - reading->at;
	const char *end = memchr(start, '\n', left);
	size_t len = end ? (size_t)(end - start) : left;

	reading->at += len + (end ? 1 : 0);
	return (struct line){ start, len, ++reading->line };
}

static bool is_head(const struct line *line)
{
	return line->len >= sizeof(MARK) - 1 && memcmp(line->text, MARK, sizeof(MARK) - 1) == 0;
}

static void trim(struct line *line)
{
	while (line->len > 0 && strchr(blanks, line->text[line->len - 1]))
		line->len--;
	while (line->len > 0 && strchr(blanks, line->text[0])) {
		line->text++;
		line->len--;
	}
}

/* Takes the first word off the line. */
static struct line take_word(struct line *line)
{
	struct line word = *line;

	for (word.len = 0; word.len < line->len && !strchr(blanks, word.text[word.len]);)
		word.len++;
	line->text += word.len;
	line->len -= word.len;
	trim(line);
	return word;
}

static bool is_word(const struct line *word, const char *text)
{
	return word->len == strlen(text) && memcmp(word->text, text, word->len) == 0;
}

static int complain(const struct reading *reading, const struct line *line, const char *what)
{
	return err_set(reading->err, ERR_INVALID, "line %zu: %s", line->number, what);
}

static const char *keep_line(struct reading *reading, const struct line *text)
{
	return arena_copy(reading->arena, text->text, text->len);
}

/* { a b c }: the rule's own words. */
static int read_words(struct reading *reading, struct rule *rule, struct line rest)
{
	const char **words = arena_array(reading->arena, const char *, rest.len);

	if (!words || rest.text[rest.len - 1] != '}')
		return complain(reading, &rest, "end the list of words with }");
	rest.text++;
	rest.len -= 2;
	trim(&rest);
	while (rest.len > 0) {
		struct line word = take_word(&rest);
		const char *text = keep_line(reading, &word);

		if (!text)
			return complain(reading, &rest, "no memory");
		words[rule->word_count++] = text;
	}
	rule->words = words;
	return 0;
}

/* finds SUBJECT [in LIST | not in LIST]; a LIST is a name or { words } */
static int read_finds(struct reading *reading, struct rule *rule, struct line rest)
{
	struct line whole = rest;
	struct line word = take_word(&rest);
	bool has_list = false;

	if (rule->finds)
		return complain(reading, &rest, "this rule has a line `finds` already");
	rule->finds = keep_line(reading, &whole);
	if (!rule->finds)
		return complain(reading, &rest, "no memory");
	rule->how.subject = SUBJECT_COUNT;
	for (size_t i = 0; i < COUNT_OF(subjects); i++) {
		if (is_word(&word, subjects[i].word)) {
			rule->how.subject = (uint32_t)subjects[i].subject;
			has_list = subjects[i].has_list;
		}
	}
	if (rule->how.subject == SUBJECT_COUNT)
		return complain(
			reading, &rest, "a rule cannot find this: see the top of rules/python.scm");
	if (!has_list)
		return rest.len == 0
			       ? 0
			       : complain(reading, &rest, "this kind of finding takes no list");
	word = take_word(&rest);
	rule->how.relation = RELATION_IN;
	if (is_word(&word, "not")) {
		rule->how.relation = RELATION_NOT_IN;
		word = take_word(&rest);
	}
	if (is_word(&word, "in") && rest.len > 2 && rest.text[0] == '{')
		return read_words(reading, rule, rest);
	if (!is_word(&word, "in") || rest.len == 0 || memchr(rest.text, ' ', rest.len))
		return complain(reading, &rest, "expected `in` or `not in` and the name of a list");
	rule->list = keep_line(reading, &rest);
	return rule->list ? 0 : complain(reading, &rest, "no memory");
}

static int read_unless(struct reading *reading, struct rule *rule, struct line rest)
{
	while (rest.len > 0) {
		struct line word = take_word(&rest);
		uint32_t known = 0;

		for (size_t i = 0; i < COUNT_OF(excuses); i++)
			if (is_word(&word, excuses[i].word))
				known = (uint32_t)excuses[i].unless;
		if (known == 0)
			return complain(reading, &word, "unless cannot be followed by this word");
		rule->how.unless |= known;
	}
	return 0;
}

static int read_one(struct reading *reading, struct line rest, const char **ret_text)
{
	struct line word = take_word(&rest);

	if (word.len == 0 || rest.len > 0)
		return complain(reading, &rest, "expected one name");
	*ret_text = keep_line(reading, &word);
	return *ret_text ? 0 : complain(reading, &rest, "no memory");
}

static int read_beside(struct reading *reading, struct rule *rule, struct line rest)
{
	return read_one(reading, rest, &rule->beside);
}

static int read_number(struct reading *reading, struct rule *rule, struct line rest)
{
	if (read_one(reading, rest, &rule->number) < 0)
		return -1;
	if (strspn(rule->number, "0123456789") < strlen(rule->number))
		return 0;
	rule->fixed = (uint32_t)strtoul(rule->number, NULL, 10);
	rule->number = NULL;
	return 0;
}

static int read_message(struct reading *reading, struct rule *rule, struct line rest)
{
	rule->message = keep_line(reading, &rest);
	return rule->message ? 0 : complain(reading, &rest, "no memory");
}

static int read_hint(struct reading *reading, struct rule *rule, struct line rest)
{
	rule->hint = keep_line(reading, &rest);
	return rule->hint ? 0 : complain(reading, &rest, "no memory");
}

static const struct {
	const char *word;
	int (*read)(struct reading *reading, struct rule *rule, struct line rest);
} keys[] = {
	{ "finds", read_finds },
	{ "unless", read_unless },
	{ "beside", read_beside },
	{ "number", read_number },
	{ "message", read_message },
	{ "hint", read_hint },
};

static struct rule *add_rule(struct reading *reading, const struct line *id)
{
	struct rule *rule = &reading->file.rules[reading->file.count];

	if (reading->file.count == INSPECT_RULE_COUNT_MAX) {
		(void)complain(reading, id, "too many rules");
		return NULL;
	}
	rule->id = keep_line(reading, id);
	if (!rule->id) {
		(void)complain(reading, id, "no memory");
		return NULL;
	}
	rule->how.subject = SUBJECT_COUNT;
	rule->how.start = (uint32_t)reading->block;
	reading->file.count++;
	return rule;
}

/* One line of a head: the id of a new rule, which has dots, or a key of the last one. */
static int read_head_line(struct reading *reading, struct line line, bool begins_block)
{
	struct rule *rule = NULL;
	struct line word;

	line.text += sizeof(MARK) - 1;
	line.len -= sizeof(MARK) - 1;
	trim(&line);
	word = take_word(&line);
	if (memchr(word.text, '.', word.len) && line.len == 0)
		return add_rule(reading, &word) ? 0 : -1;
	if (!begins_block && reading->file.count > 0)
		rule = &reading->file.rules[reading->file.count - 1];
	for (size_t i = 0; rule && i < COUNT_OF(keys); i++)
		if (is_word(&word, keys[i].word))
			return keys[i].read(reading, rule, line);
	return complain(reading, &word,
		"expected a rule's name, finds, unless, beside, number, message or hint");
}

static int check_rules(const struct reading *reading)
{
	for (size_t i = 0; i < reading->file.count; i++) {
		const struct rule *rule = &reading->file.rules[i];

		if (rule->how.subject == SUBJECT_COUNT || !rule->message)
			return err_set(reading->err, ERR_INVALID,
				"rule %s needs a line `finds` and a line `message`", rule->id);
		if (rule->how.subject == SUBJECT_OPAQUE && !rule->number && rule->fixed == 0)
			return err_set(reading->err, ERR_INVALID,
				"rule %s needs a line `number`: how many bytes make a text opaque",
				rule->id);
	}
	return 0;
}

int rules_file_parse(struct arena *arena, const char *text, size_t len, struct rules_file *ret_file,
	struct err *err)
{
	struct reading reading = { .arena = arena, .text = text, .len = len, .err = err };
	bool in_head = false;

	if (len > RULES_FILE_MAX)
		return err_set(err, ERR_TOO_BIG, "more than %zu bytes of rules", RULES_FILE_MAX);
	reading.file.rules = arena_array(arena, struct rule, INSPECT_RULE_COUNT_MAX + 1);
	if (!reading.file.rules)
		return err_set(err, ERR_MEMORY, "no memory for rules");
	while (reading.at < len) {
		size_t start = reading.at;
		struct line line = next_line(&reading);
		bool is_blank = line.len == 0;

		if (!is_head(&line)) {
			in_head = in_head && is_blank;
			continue;
		}
		if (!in_head)
			reading.block = start;
		if (read_head_line(&reading, line, !in_head) < 0)
			return -1;
		in_head = true;
	}
	if (check_rules(&reading) < 0)
		return -1;
	*ret_file = reading.file;
	return 0;
}

/* ---- one file ------------------------------------------------------------------------------ */

struct loading {
	struct arena *arena;
	const char *folder;
	struct dirent **entries;
	int entry_count;
	struct rule_source *text; /* the one in progress */
	struct buf rules;
	struct err *err;
};

static int no_memory(struct err *err)
{
	return err_set(err, ERR_MEMORY, "no memory for rules");
}

/* Adds the heads of one file, with positions in the whole text. */
static int add_heads(struct loading *loading, const struct rules_file *file, size_t start)
{
	struct rule_source *text = loading->text;
	size_t count = text->head_count + file->count;
	struct rule *heads = arena_array(loading->arena, struct rule, count + 1);

	if (!heads)
		return no_memory(loading->err);
	if (text->head_count > 0)
		memcpy(heads, text->heads, text->head_count * sizeof(*heads));
	for (size_t i = 0; i < file->count; i++) {
		heads[text->head_count + i] = file->rules[i];
		heads[text->head_count + i].how.start += (uint32_t)start;
	}
	text->heads = heads;
	text->head_count = count;
	return 0;
}

static int add_file(struct loading *loading, const char *name, const char *bytes, size_t len)
{
	const char *line = arena_printf(loading->arena, "\n;@ %s\n", name);
	struct rules_file file = { .count = 0 };
	size_t start;

	if (!line)
		return no_memory(loading->err);
	if (rules_file_parse(loading->arena, bytes, len, &file, loading->err) < 0)
		return err_wrap(loading->err, "%s", name);
	if (buf_append(&loading->rules, line, strlen(line)) < 0)
		return no_memory(loading->err);
	start = loading->rules.len;
	if (buf_append(&loading->rules, bytes, len) < 0)
		return err_set(loading->err, ERR_TOO_BIG, "more than %zu bytes of rules", TEXT_MAX);
	return add_heads(loading, &file, start);
}

/* ---- an operator's files -------------------------------------------------------------------- */

static const char *ending_of(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot ? dot : "";
}

static int is_rules_file(const struct dirent *entry)
{
	return entry->d_name[0] != '.' && strcmp(ending_of(entry->d_name), ".scm") == 0;
}

/* "python.house.scm" has rules for python. */
static bool is_for(const char *name, const char *language)
{
	size_t len = strlen(language);

	return strncmp(name, language, len) == 0 && name[len] == '.';
}

static int add_from(struct loading *loading, const char *name)
{
	const char *path = arena_printf(loading->arena, "%s/%s", loading->folder, name);
	auto_free char *bytes = NULL;
	size_t len = 0;

	if (!path)
		return no_memory(loading->err);
	if (read_file(path, RULES_FILE_MAX, &bytes, &len, loading->err) < 0)
		return err_wrap(loading->err, "rules");
	return add_file(loading, name, bytes, len);
}

static int add_operators(struct loading *loading)
{
	for (int i = 0; i < loading->entry_count; i++) {
		const char *name = loading->entries[i]->d_name;

		if (is_for(name, loading->text->language) && add_from(loading, name) < 0)
			return -1;
	}
	return 0;
}

static int check_names(const struct loading *loading, const struct rule_source *texts, size_t count)
{
	for (int i = 0; i < loading->entry_count; i++) {
		const char *name = loading->entries[i]->d_name;
		bool known = false;

		for (size_t l = 0; l < count; l++)
			known = known || is_for(name, texts[l].language);
		if (!known)
			return err_set(loading->err, ERR_INVALID,
				"%s: a file of rules is called LANGUAGE.NAME.scm, and has a "
				"language that there are rules for",
				name);
	}
	return 0;
}

/* ---- one language --------------------------------------------------------------------------- */

static const struct embedded *find_shipped(const char *name)
{
	const struct embedded *row = policy_rules;

	while (row->name && strcmp(row->name, name) != 0)
		row++;
	return row->name ? row : NULL;
}

/* "python.scm" has the rules for python; NULL for any other file. */
static const char *language_of(struct arena *arena, const struct embedded *row)
{
	const char *dot = strchr(row->name, '.');

	if (!dot || strcmp(dot, ".scm") != 0)
		return NULL;
	return arena_copy(arena, row->name, (size_t)(dot - row->name));
}

static int make_text(struct loading *loading, const struct embedded *row, const char *language)
{
	const char *scope_name = arena_printf(loading->arena, "%s.scope.scm", language);
	const struct embedded *scope = scope_name ? find_shipped(scope_name) : NULL;
	struct rule_source *text = loading->text;

	if (!scope)
		return err_set(loading->err, ERR_INVALID, "%s has rules, but no %s.scope.scm",
			language, language);
	text->language = language;
	text->scope = (const char *)scope->bytes;
	text->scope_len = scope->len;
	loading->rules.len = 0;
	if (add_file(loading, row->name, (const char *)row->bytes, row->len) < 0 ||
		add_operators(loading) < 0)
		return -1;
	text->rules = arena_copy(loading->arena, loading->rules.bytes, loading->rules.len);
	text->rules_len = loading->rules.len;
	return text->rules ? 0 : no_memory(loading->err);
}

static int make_texts(struct loading *loading, struct rule_source *texts, size_t *ret_count)
{
	size_t count = 0;

	for (const struct embedded *row = policy_rules; row->name; row++) {
		const char *language = language_of(loading->arena, row);

		if (!language)
			continue;
		if (count == INSPECT_LANGUAGES_MAX)
			return err_set(loading->err, ERR_TOO_BIG, "too many languages");
		loading->text = &texts[count++];
		if (make_text(loading, row, language) < 0)
			return -1;
	}
	*ret_count = count;
	return check_names(loading, texts, count);
}

int rule_sources_load(struct arena *arena, const char *folder, struct rule_source **ret_texts,
	size_t *ret_count, struct err *err)
{
	struct loading loading = { .arena = arena, .folder = folder, .err = err };
	struct rule_source *texts = arena_array(arena, struct rule_source, INSPECT_LANGUAGES_MAX);
	int r;

	if (!texts)
		return no_memory(err);
	if (folder)
		loading.entry_count = scandir(folder, &loading.entries, is_rules_file, alphasort);
	if (loading.entry_count < 0)
		return err_sys(err, "rules in %s", folder);
	buf_init(&loading.rules, TEXT_MAX);
	r = loading.entry_count > (int)RULE_FILES_MAX
		    ? err_set(err, ERR_TOO_BIG, "more than %u files of rules", RULE_FILES_MAX)
		    : make_texts(&loading, texts, ret_count);
	buf_done(&loading.rules);
	for (int i = 0; i < loading.entry_count; i++)
		free(loading.entries[i]);
	free(loading.entries);
	if (r == 0)
		*ret_texts = texts;
	return r;
}
