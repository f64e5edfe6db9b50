#include "daemon/policy/policy_file.h"

#include <stdbool.h>
#include <string.h>

#include "proto/base/container.h"
#include "proto/json.h"

#define WORD_LEN_MAX 128U

static const char *const mode_words[MODE_COUNT] = {
	[MODE_DENY] = "deny",
	[MODE_ASK] = "ask",
	[MODE_OBSERVE] = "observe",
	[MODE_OFF] = "off",
};

const char *policy_mode_word(enum policy_mode mode)
{
	return mode_words[mode];
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
	struct policy_file *file;
	struct policy_words denied_builtins;
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

static int read_name(struct reading *reading, const char *key, const struct value *value)
{
	const char *text = value_as_text(value);

	if (!text || !is_name(text))
		return complain(reading, key, "not a name of small letters, digits, - and _");
	if (strcmp(key, "name") == 0)
		reading->file->name = text;
	else
		reading->file->extends = text;
	return 0;
}

static int read_description(struct reading *reading, const char *key, const struct value *value)
{
	reading->file->description = value_as_text(value);
	return reading->file->description ? 0 : complain(reading, key, "not a text");
}

static int read_words(struct reading *reading, const char *key, const struct value *value,
	const char ***ret_words, size_t *ret_count)
{
	const char **words;

	if (!value_is(value, VALUE_LIST))
		return complain(reading, key, "not a list of words");
	words = arena_array(reading->arena, const char *, value->list.count);
	if (!words)
		return complain(reading, key, "no memory");
	for (size_t i = 0; i < value->list.count; i++) {
		words[i] = value_as_text(value->list.items[i]);
		if (!words[i] || words[i][0] == '\0' || strlen(words[i]) > WORD_LEN_MAX)
			return complain(reading, key, "has an item that is no word");
	}
	*ret_words = words;
	*ret_count = value->list.count;
	return 0;
}

static int read_languages(struct reading *reading, const char *key, const struct value *value)
{
	return read_words(
		reading, key, value, &reading->file->languages, &reading->file->language_count);
}

static int read_unread(struct reading *reading, const char *key, const struct value *value)
{
	return read_words(
		reading, key, value, &reading->file->unread, &reading->file->unread_count);
}

static int read_executes(struct reading *reading, const char *key, const struct value *value)
{
	return read_words(
		reading, key, value, &reading->file->executes, &reading->file->execute_count);
}

static int read_entries(struct reading *reading, const char *key, const struct value *value)
{
	struct policy_file *file = reading->file;

	if (read_words(reading, key, value, &file->entries, &file->entry_count) < 0)
		return -1;
	for (size_t i = 0; i < file->entry_count; i++)
		if (strchr(file->entries[i], '/'))
			return complain(reading, key,
				"a program runs as a bare file name, such as main.py");
	return 0;
}

static int read_code_bytes(struct reading *reading, const char *key, const struct value *value)
{
	int64_t number = value_as_int(value, 0);

	if (number < 1)
		return complain(reading, key, "not a number of bytes from 1 on");
	reading->file->code_bytes = (uint64_t)number;
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

static bool is_among(const char *word, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(word, words[i]) == 0)
			return true;
	return false;
}

/* Makes a list of the policy from all builtins that the file does not name. */
static int read_safe_builtins(struct reading *reading, const char *key, const struct value *value)
{
	struct policy_words *denied = &reading->denied_builtins;
	const char **safe = NULL;
	size_t count = 0;

	if (read_words(reading, key, value, &safe, &count) < 0)
		return -1;
	for (size_t i = 0; i < count; i++)
		if (!is_among(safe[i], python_builtins, COUNT_OF(python_builtins)))
			return err_set(reading->err, ERR_INVALID,
				"%s: %s is no builtin of Python that could be denied", key,
				safe[i]);
	denied->words = arena_array(reading->arena, const char *, COUNT_OF(python_builtins));
	if (!denied->words)
		return complain(reading, key, "no memory");
	denied->name = "python.builtins.denied";
	for (size_t i = 0; i < COUNT_OF(python_builtins); i++)
		if (!is_among(python_builtins[i], safe, count))
			denied->words[denied->count++] = python_builtins[i];
	reading->file->has_safe_builtins = true;
	return 0;
}

static int read_numbers(struct reading *reading, const char *key, const struct value *value)
{
	struct policy_file *file = reading->file;

	if (!value_is(value, VALUE_MAP) || value->map.count > POLICY_NUMBERS_MAX)
		return complain(reading, key, "not a map of names to numbers");
	file->numbers = arena_array(reading->arena, struct policy_number, value->map.count);
	if (!file->numbers)
		return complain(reading, key, "no memory");
	for (size_t i = 0; i < value->map.count; i++) {
		const struct value_entry *entry = &value->map.entries[i];
		int64_t number = value_as_int(entry->value, -1);

		if (number < 0 || number > UINT32_MAX)
			return complain(reading, entry->key, "not a number from 0 on");
		file->numbers[i] = (struct policy_number){ entry->key, (uint32_t)number };
	}
	file->number_count = value->map.count;
	return 0;
}

static uint64_t *limit_called(struct job_limits *limits, const char *name)
{
#define FIND(field, meaning)           \
	if (strcmp(name, #field) == 0) \
		return &limits->field;
	JOB_LIMITS(FIND)
#undef FIND
	return NULL;
}

static int read_limit_set(struct reading *reading, const char *key, const struct value *value,
	struct job_limits *limits)
{
	if (!value_is(value, VALUE_MAP))
		return complain(reading, key, "not a map of limits to numbers");
	for (size_t i = 0; i < value->map.count; i++) {
		const struct value_entry *entry = &value->map.entries[i];
		uint64_t *limit = limit_called(limits, entry->key);
		int64_t number = value_as_int(entry->value, -1);

		if (!limit)
			return complain(reading, entry->key, "there is no such limit");
		if (number < 0)
			return complain(reading, entry->key, "not a number from 0 on");
		*limit = (uint64_t)number;
	}
	return 0;
}

static int read_limits(struct reading *reading, const char *key, const struct value *value)
{
	return read_limit_set(reading, key, value, &reading->file->limits);
}

static int read_most(struct reading *reading, const char *key, const struct value *value)
{
	return read_limit_set(reading, key, value, &reading->file->most);
}

static int read_mode(struct reading *reading, const char *id, const struct value *value,
	enum policy_mode *ret_mode)
{
	const char *text = value_as_text(value);

	for (size_t i = 0; text && i < COUNT_OF(mode_words); i++) {
		if (strcmp(text, mode_words[i]) == 0) {
			*ret_mode = (enum policy_mode)i;
			return 0;
		}
	}
	return complain(reading, id, "neither deny nor ask nor observe nor off");
}

static int read_rules(struct reading *reading, const char *key, const struct value *value)
{
	struct policy_file *file = reading->file;

	if (!value_is(value, VALUE_MAP) || value->map.count > POLICY_PATTERNS_MAX)
		return complain(reading, key, "not a map of rules to deny, ask, observe or off");
	file->patterns = arena_array(reading->arena, struct policy_pattern, value->map.count);
	if (!file->patterns)
		return complain(reading, key, "no memory");
	for (size_t i = 0; i < value->map.count; i++) {
		const struct value_entry *entry = &value->map.entries[i];

		file->patterns[i].id = entry->key;
		if (read_mode(reading, entry->key, entry->value, &file->patterns[i].mode) < 0)
			return -1;
	}
	file->pattern_count = value->map.count;
	return 0;
}

static int read_place(
	struct reading *reading, const struct value_entry *entry, struct policy_place *ret_place)
{
	static const char *const words[AT_COUNT] = { "both", "text", "run" };
	const char *text = value_as_text(entry->value);

	ret_place->id = entry->key;
	for (size_t i = 0; text && i < COUNT_OF(words); i++) {
		if (strcmp(text, words[i]) == 0) {
			ret_place->at = (enum policy_at)i;
			return 0;
		}
	}
	return complain(reading, entry->key, "neither text nor run nor both");
}

static int read_at(struct reading *reading, const char *key, const struct value *value)
{
	struct policy_file *file = reading->file;

	if (!value_is(value, VALUE_MAP) || value->map.count > POLICY_PATTERNS_MAX)
		return complain(reading, key, "not a map of rules to text, run or both");
	file->places = arena_array(reading->arena, struct policy_place, value->map.count);
	if (!file->places)
		return complain(reading, key, "no memory");
	for (size_t i = 0; i < value->map.count; i++)
		if (read_place(reading, &value->map.entries[i], &file->places[i]) < 0)
			return -1;
	file->place_count = value->map.count;
	return 0;
}

static int read_map_of_words(struct reading *reading, const char *key, const struct value *value,
	struct policy_words **ret_lists, size_t *ret_count)
{
	struct policy_words *lists;

	if (!value_is(value, VALUE_MAP) || value->map.count > POLICY_FILE_LISTS)
		return complain(reading, key, "not a map of names to lists of words");
	lists = arena_array(reading->arena, struct policy_words, value->map.count);
	if (!lists)
		return complain(reading, key, "no memory");
	for (size_t i = 0; i < value->map.count; i++) {
		const struct value_entry *entry = &value->map.entries[i];

		lists[i].name = entry->key;
		if (read_words(reading, entry->key, entry->value, &lists[i].words,
			    &lists[i].count) < 0)
			return -1;
	}
	*ret_lists = lists;
	*ret_count = value->map.count;
	return 0;
}

static int read_lists(struct reading *reading, const char *key, const struct value *value)
{
	return read_map_of_words(
		reading, key, value, &reading->file->lists, &reading->file->list_count);
}

static int read_added(struct reading *reading, const char *key, const struct value *value)
{
	return read_map_of_words(
		reading, key, value, &reading->file->added, &reading->file->added_count);
}

static const struct {
	const char *word;
	int (*read)(struct reading *reading, const char *key, const struct value *value);
} keys[] = {
	{ "name", read_name },
	{ "description", read_description },
	{ "extends", read_name },
	{ "languages", read_languages },
	{ "executes", read_executes },
	{ "unread", read_unread },
	{ "entries", read_entries },
	{ "code_bytes", read_code_bytes },
	{ "safe_builtins", read_safe_builtins },
	{ "rules", read_rules },
	{ "at", read_at },
	{ "lists", read_lists },
	{ "lists_add", read_added },
	{ "numbers", read_numbers },
	{ "limits", read_limits },
	{ "most", read_most },
};

static int read_entry(struct reading *reading, const struct value_entry *entry)
{
	for (size_t i = 0; i < COUNT_OF(keys); i++)
		if (strcmp(entry->key, keys[i].word) == 0)
			return keys[i].read(reading, entry->key, entry->value);
	return complain(reading, entry->key, "a policy has no such key");
}

/* Adds the list of denied builtins, and denies its rule unless the policy sets the rule's mode. */
static int add_denied_builtins(struct reading *reading)
{
	static const char *const rule = "python.builtin.denied";
	struct policy_file *file = reading->file;
	struct policy_words *lists =
		arena_array(reading->arena, struct policy_words, file->list_count + 1);
	struct policy_pattern *patterns =
		arena_array(reading->arena, struct policy_pattern, file->pattern_count + 1);
	bool has_word = false;

	if (!lists || !patterns)
		return complain(reading, "safe_builtins", "no memory");
	for (size_t i = 0; i < file->list_count; i++)
		lists[i] = file->lists[i];
	lists[file->list_count++] = reading->denied_builtins;
	file->lists = lists;
	for (size_t i = 0; i < file->pattern_count; i++) {
		patterns[i] = file->patterns[i];
		has_word = has_word || strcmp(patterns[i].id, rule) == 0;
	}
	if (!has_word)
		patterns[file->pattern_count++] = (struct policy_pattern){ rule, MODE_DENY };
	file->patterns = patterns;
	return 0;
}

static int check_limits(const struct policy_file *file, struct err *err)
{
#define PAIR(name, meaning) { #name, file->limits.name, file->most.name },
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
	struct reading reading = { .arena = arena, .file = &file, .err = err };
	struct value *root = NULL;

	memset(&file.limits, 0xff, sizeof(file.limits)); /* POLICY_LIMIT_UNSET, each of them */
	memset(&file.most, 0xff, sizeof(file.most));
	file.code_bytes = POLICY_LIMIT_UNSET;
	if (json_parse(arena, text, len, &bounds, &root, err) < 0)
		return -1;
	if (!value_is(root, VALUE_MAP))
		return err_set(err, ERR_INVALID, "a policy is a map");
	for (size_t i = 0; i < root->map.count; i++)
		if (read_entry(&reading, &root->map.entries[i]) < 0)
			return -1;
	if (file.has_safe_builtins && add_denied_builtins(&reading) < 0)
		return -1;
	if (!file.name || !file.description)
		return err_set(err, ERR_INVALID, "a policy has a name and a description");
	if (check_limits(&file, err) < 0)
		return -1;
	*ret_file = file;
	return 0;
}
