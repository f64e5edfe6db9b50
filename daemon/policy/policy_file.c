#include "daemon/policy/policy_file.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/container.h"
#include "proto/json.h"

#define WORD_LEN_MAX 128U

static const char *const mode_words[] = {
	[MODE_DENY] = "deny",
	[MODE_ASK] = "ask",
	[MODE_OBSERVE] = "observe",
	[MODE_OFF] = "off",
	NULL,
};

static const char *const at_words[] = {
	[AT_BOTH] = "both", [AT_TEXT] = "text", [AT_RUN] = "run", NULL
};

const char *policy_mode_word(enum policy_mode mode)
{
	return mode_words[mode];
}

const char *policy_at_word(enum policy_at at)
{
	return at_words[at];
}

bool policy_words_have(const struct policy_words *list, const char *word)
{
	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->words[i], word) == 0)
			return true;
	return false;
}

bool policy_pattern_fits(const char *pattern, const char *id)
{
	size_t len = strlen(pattern);

	if (len > 0 && pattern[len - 1] == '*')
		return strncmp(pattern, id, len - 1) == 0;
	return strcmp(pattern, id) == 0;
}

struct reading {
	struct arena *arena;
	struct err *err;
};

static int complain(const struct reading *reading, const char *key, const char *what)
{
	return err_set(reading->err, ERR_INVALID, "%s: %s", key, what);
}

/* Names appear in messages, in paths and on command lines. */
static bool is_name(const char *text)
{
	size_t len = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-_");

	return len > 0 && len <= POLICY_NAME_MAX && text[len] == '\0';
}

/* Each of these reads the value of a key into its field of struct policy_file. */
typedef int reader(
	struct reading *reading, const char *key, const struct value *value, void *field);

static int read_name(
	struct reading *reading, const char *key, const struct value *value, void *field)
{
	const char *text = value_as_text(value);

	if (!text || !is_name(text))
		return complain(reading, key, "write a name of small letters, digits, - and _");
	*(const char **)field = text;
	return 0;
}

static int read_text(
	struct reading *reading, const char *key, const struct value *value, void *field)
{
	const char **text = field;

	*text = value_as_text(value);
	return *text ? 0 : complain(reading, key, "write a text");
}

static int read_words(
	struct reading *reading, const char *key, const struct value *value, void *field)
{
	struct policy_words *list = field;

	if (!value_is(value, VALUE_LIST))
		return complain(reading, key, "write a list of words");
	list->count = 0;
	list->words = arena_array(reading->arena, const char *, value->list.count);
	if (!list->words)
		return complain(reading, key, "no memory");
	for (size_t i = 0; i < value->list.count; i++) {
		const char *word = value_as_text(value->list.items[i]);

		if (!word || word[0] == '\0' || strlen(word) > WORD_LEN_MAX)
			return complain(reading, key, "an item of the list is not a word");
		list->words[list->count++] = word;
	}
	return 0;
}

static int read_entries(
	struct reading *reading, const char *key, const struct value *value, void *field)
{
	const struct policy_words *entries = field;

	if (read_words(reading, key, value, field) < 0)
		return -1;
	for (size_t i = 0; i < entries->count; i++)
		if (strchr(entries->words[i], '/'))
			return complain(
				reading, key, "write file names without folders, such as main.py");
	return 0;
}

static int read_code_bytes(
	struct reading *reading, const char *key, const struct value *value, void *field)
{
	int64_t number = value_as_int(value, 0);

	if (number < 1)
		return complain(reading, key, "write a number of bytes, 1 or more");
	*(uint64_t *)field = (uint64_t)number;
	return 0;
}

/*
 * The functions and types among the builtins of Python 3.9 and later.  Exceptions, warnings and
 * constants are not listed: they are harmless and always allowed.
 */
static const char *const python_builtins[] = { "abs", "aiter", "all", "anext", "any", "ascii",
	"bin", "bool", "breakpoint", "bytearray", "bytes", "callable", "chr", "classmethod",
	"compile", "complex", "copyright", "credits", "delattr", "dict", "dir", "divmod",
	"enumerate", "eval", "exec", "exit", "filter", "float", "format", "frozenset", "getattr",
	"globals", "hasattr", "hash", "help", "hex", "id", "input", "int", "isinstance",
	"issubclass", "iter", "len", "license", "list", "locals", "map", "max", "memoryview", "min",
	"next", "object", "oct", "open", "ord", "pow", "print", "property", "quit", "range", "repr",
	"reversed", "round", "set", "setattr", "slice", "sorted", "staticmethod", "str", "sum",
	"super", "tuple", "type", "vars", "zip" };

/* Makes a list of the policy from all builtins that the file does not name. */
static int read_safe_builtins(
	struct reading *reading, const char *key, const struct value *value, void *field)
{
	const char *all[COUNT_OF(python_builtins)];
	const struct policy_words known = { NULL, all, COUNT_OF(all) };
	struct policy_words *denied = field;
	struct policy_words safe = { 0 };

	memcpy(all, python_builtins, sizeof(all));
	if (read_words(reading, key, value, &safe) < 0)
		return -1;
	for (size_t i = 0; i < safe.count; i++)
		if (!policy_words_have(&known, safe.words[i]))
			return err_set(reading->err, ERR_INVALID,
				"%s: %s is not a builtin of Python that can be denied", key,
				safe.words[i]);
	denied->words = arena_array(reading->arena, const char *, COUNT_OF(python_builtins));
	if (!denied->words)
		return complain(reading, key, "no memory");
	denied->name = "python.builtins.denied";
	denied->count = 0;
	for (size_t i = 0; i < COUNT_OF(python_builtins); i++)
		if (!policy_words_have(&safe, python_builtins[i]))
			denied->words[denied->count++] = python_builtins[i];
	return 0;
}

static int read_numbers(
	struct reading *reading, const char *key, const struct value *value, void *whole)
{
	struct policy_file *file = whole;

	if (!value_is(value, VALUE_MAP) || value->map.count > POLICY_NUMBERS_MAX)
		return complain(reading, key, "write a map of names to numbers");
	file->numbers = arena_array(reading->arena, struct policy_number, value->map.count);
	if (!file->numbers)
		return complain(reading, key, "no memory");
	for (size_t i = 0; i < value->map.count; i++) {
		const struct value_entry *entry = &value->map.entries[i];
		int64_t number = value_as_int(entry->value, -1);

		if (number < 0 || number > UINT32_MAX)
			return complain(reading, entry->key, "write a whole number, 0 or more");
		file->numbers[i] = (struct policy_number){ entry->key, (uint32_t)number };
	}
	file->number_count = value->map.count;
	return 0;
}

static uint64_t *limit_called(struct job_limits *limits, const char *name)
{
	for (size_t i = 0; i < JOB_LIMIT_COUNT; i++)
		if (strcmp(name, job_limit_names[i]) == 0)
			return &limits->each[i];
	return NULL;
}

static int read_limits(
	struct reading *reading, const char *key, const struct value *value, void *limits)
{
	if (!value_is(value, VALUE_MAP))
		return complain(reading, key, "write a map of limits to numbers");
	for (size_t i = 0; i < value->map.count; i++) {
		const struct value_entry *entry = &value->map.entries[i];
		uint64_t *limit = limit_called(limits, entry->key);
		int64_t number = value_as_int(entry->value, -1);

		if (!limit)
			return complain(reading, entry->key, "there is no such limit");
		if (number < 0)
			return complain(reading, entry->key, "write a whole number, 0 or more");
		*limit = (uint64_t)number;
	}
	return 0;
}

static int compare_choices(const void *left, const void *right)
{
	size_t a = strlen(((const struct policy_choice *)left)->id);
	size_t b = strlen(((const struct policy_choice *)right)->id);

	return (a > b) - (a < b);
}

/* Reads a map of rules to words. */
static int read_choices(struct reading *reading, const char *key, const struct value *value,
	const char *const *words, const char *what, struct policy_choices *choices)
{
	if (!value_is(value, VALUE_MAP) || value->map.count > POLICY_PATTERNS_MAX)
		return complain(reading, key, what);
	choices->count = 0;
	choices->rows = arena_array(reading->arena, struct policy_choice, value->map.count + 1);
	if (!choices->rows)
		return complain(reading, key, "no memory");
	for (size_t i = 0; i < value->map.count; i++) {
		const struct value_entry *entry = &value->map.entries[i];
		const char *text = value_as_text(entry->value);
		unsigned number = 0;

		while (words[number] && (!text || strcmp(text, words[number]) != 0))
			number++;
		if (!words[number])
			return complain(reading, entry->key, what);
		choices->rows[choices->count++] = (struct policy_choice){ entry->key, number };
	}
	return 0;
}

static int read_modes(
	struct reading *reading, const char *key, const struct value *value, void *field)
{
	return read_choices(reading, key, value, mode_words,
		"write deny, ask, observe or off for each rule", field);
}

static int read_places(
	struct reading *reading, const char *key, const struct value *value, void *field)
{
	return read_choices(
		reading, key, value, at_words, "write text, run or both for each rule", field);
}

static int read_lists(
	struct reading *reading, const char *key, const struct value *value, void *field)
{
	struct policy_lists *all = field;

	if (!value_is(value, VALUE_MAP) || value->map.count > POLICY_FILE_LISTS)
		return complain(reading, key, "write a map of names to lists of words");
	all->lists = arena_array(reading->arena, struct policy_words, value->map.count + 1);
	if (!all->lists)
		return complain(reading, key, "no memory");
	for (size_t i = 0; i < value->map.count; i++) {
		const struct value_entry *entry = &value->map.entries[i];

		all->lists[i].name = entry->key;
		if (read_words(reading, entry->key, entry->value, &all->lists[i]) < 0)
			return -1;
	}
	all->count = value->map.count;
	return 0;
}

static int read_network(
	struct reading *reading, const char *key, const struct value *value, void *field)
{
	static const enum policy_decision decisions[] = { POLICY_ALLOW, POLICY_ASK, POLICY_DENY };
	const char *word = value_as_text(value);

	for (size_t i = 0; word && i < COUNT_OF(decisions); i++)
		if (strcmp(policy_decision_word(decisions[i]), word) == 0) {
			*(unsigned *)field = 1 + (unsigned)decisions[i];
			return 0;
		}
	return complain(reading, key, "write \"allow\", \"ask\" or \"deny\"");
}

/* A name that a tool can have, or the beginning of one with * after it. */
static bool is_tool_pattern(const char *word)
{
	size_t len =
		strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");
	bool begins = (word[0] >= 'A' && word[0] <= 'Z') || (word[0] >= 'a' && word[0] <= 'z');

	if (len > JOB_TOOL_NAME_MAX || (len > 0 && !begins))
		return false;
	return word[len] == '*' ? word[len + 1] == '\0' : len > 0 && word[len] == '\0';
}

static int read_tool_list(struct reading *reading, const struct value_entry *entry,
	struct policy_words *list, const char *word)
{
	if (read_words(reading, word, entry->value, list) < 0)
		return -1;
	for (size_t i = 0; i < list->count; i++)
		if (!is_tool_pattern(list->words[i]))
			return err_set(reading->err, ERR_INVALID,
				"tools: %s: \"%s\" is no name of a tool: write letters, digits "
				"and _, a letter first, and at most one * at the end",
				word, list->words[i]);
	return 0;
}

static int read_tools(
	struct reading *reading, const char *key, const struct value *value, void *field)
{
	struct policy_tools *tools = field;
	const struct {
		const char *word;
		struct policy_words *list;
	} lists[] = { { "deny", &tools->deny }, { "ask", &tools->ask },
		{ "allow", &tools->allow } };

	if (!value_is(value, VALUE_MAP))
		return complain(reading, key,
			"write a map of \"allow\", \"ask\" and \"deny\" to lists of names");
	for (size_t i = 0; i < value->map.count; i++) {
		const struct value_entry *entry = &value->map.entries[i];
		size_t k = 0;

		while (k < COUNT_OF(lists) && strcmp(lists[k].word, entry->key) != 0)
			k++;
		if (k == COUNT_OF(lists))
			return err_set(reading->err, ERR_INVALID,
				"tools: it has no list \"%s\": write \"allow\", \"ask\" or "
				"\"deny\"",
				entry->key);
		if (read_tool_list(reading, entry, lists[k].list, lists[k].word) < 0)
			return -1;
	}
	return 0;
}

#define FIELD(field) offsetof(struct policy_file, field)
static const struct {
	const char *word;
	reader *read;
	size_t offset;
} keys[] = {
	{ "name", read_name, FIELD(name) },
	{ "description", read_text, FIELD(description) },
	{ "extends", read_name, FIELD(extends) },
	{ "languages", read_words, FIELD(languages) },
	{ "executes", read_words, FIELD(bounds.executes) },
	{ "unread", read_words, FIELD(bounds.unread) },
	{ "entries", read_entries, FIELD(bounds.entries) },
	{ "code_bytes", read_code_bytes, FIELD(bounds.code_bytes) },
	{ "safe_builtins", read_safe_builtins, FIELD(denied_builtins) },
	{ "rules", read_modes, FIELD(modes) },
	{ "at", read_places, FIELD(places) },
	{ "lists", read_lists, FIELD(lists) },
	{ "lists_add", read_lists, FIELD(added) },
	{ "numbers", read_numbers, 0 },
	{ "limits", read_limits, FIELD(bounds.limits) },
	{ "most", read_limits, FIELD(bounds.most) },
	{ "network", read_network, FIELD(bounds.network) },
	{ "tools", read_tools, FIELD(bounds.tools) },
};
#undef FIELD

static int read_entry(
	struct reading *reading, const struct value_entry *entry, struct policy_file *file)
{
	for (size_t i = 0; i < COUNT_OF(keys); i++)
		if (strcmp(entry->key, keys[i].word) == 0)
			return keys[i].read(
				reading, entry->key, entry->value, (char *)file + keys[i].offset);
	return complain(reading, entry->key, "a policy cannot have this key");
}

/* Adds the list of denied builtins, and denies its rule unless the policy sets the rule's mode. */
static int add_denied_builtins(struct reading *reading, struct policy_file *file)
{
	static const char *const rule = "python.builtin.denied";
	struct policy_words *lists =
		arena_array(reading->arena, struct policy_words, file->lists.count + 1);
	struct policy_choice *modes =
		arena_array(reading->arena, struct policy_choice, file->modes.count + 1);
	bool has_mode = false;

	if (!lists || !modes)
		return complain(reading, "safe_builtins", "no memory");
	for (size_t i = 0; i < file->lists.count; i++)
		lists[i] = file->lists.lists[i];
	lists[file->lists.count++] = file->denied_builtins;
	file->lists.lists = lists;
	for (size_t i = 0; i < file->modes.count; i++) {
		modes[i] = file->modes.rows[i];
		has_mode = has_mode || strcmp(modes[i].id, rule) == 0;
	}
	if (!has_mode)
		modes[file->modes.count++] = (struct policy_choice){ rule, MODE_DENY };
	file->modes.rows = modes;
	return 0;
}

static int check_limits(const struct policy_file *file, struct err *err)
{
#define PAIR(name, meaning) { #name, file->bounds.limits.name, file->bounds.most.name },
	const struct {
		const char *name;
		uint64_t limit, most;
	} pairs[] = { JOB_LIMITS(PAIR) };
#undef PAIR

	for (size_t i = 0; i < COUNT_OF(pairs); i++)
		if (pairs[i].limit != POLICY_LIMIT_UNSET && pairs[i].limit > pairs[i].most)
			return err_set(err, ERR_INVALID, "limits: %s is above %s of most",
				pairs[i].name, pairs[i].name);
	return 0;
}

int policy_file_parse(struct arena *arena, const char *text, size_t len,
	struct policy_file *ret_file, struct err *err)
{
	static const struct json_bounds bounds = { POLICY_FILE_MAX, 8, 1U << 16 };
	struct policy_file file = { 0 };
	struct reading reading = { .arena = arena, .err = err };
	struct value *root = NULL;

	memset(&file.bounds.limits, 0xff,
		sizeof(file.bounds.limits)); /* POLICY_LIMIT_UNSET, each of them */
	memset(&file.bounds.most, 0xff, sizeof(file.bounds.most));
	file.bounds.code_bytes = POLICY_LIMIT_UNSET;
	if (json_parse(arena, text, len, &bounds, &root, err) < 0)
		return -1;
	if (!value_is(root, VALUE_MAP))
		return err_set(err, ERR_INVALID, "a policy file must hold a map");
	for (size_t i = 0; i < root->map.count; i++)
		if (read_entry(&reading, &root->map.entries[i], &file) < 0)
			return -1;
	if (file.denied_builtins.words && add_denied_builtins(&reading, &file) < 0)
		return -1;
	if (!file.name || !file.description)
		return err_set(err, ERR_INVALID, "a policy needs a name and a description");
	if (check_limits(&file, err) < 0)
		return -1;
	if (file.modes.count > 0)
		qsort(file.modes.rows, file.modes.count, sizeof(*file.modes.rows), compare_choices);
	if (file.places.count > 0)
		qsort(file.places.rows, file.places.count, sizeof(*file.places.rows),
			compare_choices);
	*ret_file = file;
	return 0;
}
