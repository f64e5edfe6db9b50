#include "daemon/redact/pattern_book.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/redact/redactor.h"
#include "proto/base/cleanup.h"
#include "proto/base/embedded.h"
#include "proto/base/fdio.h"
#include "proto/digest.h"
#include "proto/json.h"
#include "proto/names.h"

#define BOOK_BYTES_MAX ((size_t)16 << 20)
#define FILE_BYTES_MAX ((size_t)1 << 20)
#define AFTER_USUAL    4096
#define AROUND_MAX     65536
#define WORDS_MAX      4096U

extern const struct embedded redact_files[];

AUTO_DEFINE(struct pattern_book, pattern_book_release);

/* ---- one rule ------------------------------------------------------------------------------- */

static int rule_refuse(struct err *err, const char *name, const char *why)
{
	return err_set(err, ERR_INVALID, "pattern %s: %s", name, why);
}

static int check_keys(const struct value *map, const char *name, struct err *err)
{
	static const char *const known[] = { "name", "words", "pattern", "any_case", "before",
		"after", "matches", "passes", "off", NULL };

	for (size_t i = 0; i < map->map.count; i++) {
		const char *const *at = known;

		while (*at && strcmp(*at, map->map.entries[i].key) != 0)
			at++;
		if (!*at)
			return err_set(err, ERR_INVALID, "pattern %s: there is no key \"%s\" here",
				name, map->map.entries[i].key);
	}
	return 0;
}

static int read_flag(
	const struct value *map, const char *name, const char *key, bool *ret_flag, struct err *err)
{
	const struct value *value = value_get(map, key);

	if (value && !value_is(value, VALUE_BOOL))
		return err_set(err, ERR_INVALID, "pattern %s: %s is true or false", name, key);
	*ret_flag = value_as_bool(value, false);
	return 0;
}

static int read_distance(
	const struct value *map, const char *key, int64_t otherwise, size_t *ret, struct err *err)
{
	const struct value *value = value_get(map, key);
	int64_t number = value ? value_as_int(value, -1) : otherwise;

	if (number < 0 || number > AROUND_MAX)
		return err_set(err, ERR_INVALID, "%s: 0 to %d", key, AROUND_MAX);
	*ret = (size_t)number;
	return 0;
}

static int read_words(const struct value *map, struct redact_rule *rule, struct err *err)
{
	rule->words = value_get(map, "words");
	if (!value_at(rule->words, 0))
		return rule_refuse(err, rule->name, "words: at least one is needed");
	for (size_t i = 0; value_at(rule->words, i); i++) {
		const char *word = value_as_text(value_at(rule->words, i));

		if (!word || strlen(word) < MATCH_LEN_MIN)
			return rule_refuse(err, rule->name, "words: texts of at least two bytes");
	}
	return 0;
}

static int read_rule(struct pattern_book *book, const struct value *map, struct redact_rule *rule,
	struct err *err)
{
	const char *text = value_as_text(value_get(map, "pattern"));

	if (!text)
		return rule_refuse(err, rule->name, "pattern is missing");
	if (pattern_compile_bytes(&book->arena, text, strlen(text), &rule->pattern, err) < 0 ||
		read_distance(map, "before", 0, &rule->before, err) < 0 ||
		read_distance(map, "after", AFTER_USUAL, &rule->after, err) < 0)
		return err_wrap(err, "pattern %s", rule->name);
	if (read_flag(map, rule->name, "any_case", &rule->any_case, err) < 0)
		return -1;
	rule->matches = value_get(map, "matches");
	rule->passes = value_get(map, "passes");
	if (!value_at(rule->matches, 0) || !value_at(rule->passes, 0))
		return rule_refuse(
			err, rule->name, "matches and passes: an example of each is needed");
	return read_words(map, rule, err);
}

static struct redact_rule *rule_named(struct pattern_book *book, const char *name)
{
	for (size_t i = 0; i < book->count; i++)
		if (!strcmp(book->rules[i].name, name))
			return &book->rules[i];
	return NULL;
}

static bool is_name(const char *name)
{
	return name && *name && strlen(name) <= 64 &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == strlen(name);
}

/* A later rule replaces an earlier one of the same name. */
static int add_rule(struct pattern_book *book, const struct value *map, struct err *err)
{
	const char *name = value_as_text(value_get(map, "name"));
	struct redact_rule *rule = is_name(name) ? rule_named(book, name) : NULL;
	bool off = false;

	if (!is_name(name))
		return err_set(err, ERR_INVALID,
			"name: only small letters, digits and hyphens are allowed");
	if (check_keys(map, name, err) < 0 || read_flag(map, name, "off", &off, err) < 0)
		return -1;
	if (off && !rule)
		return rule_refuse(err, name, "there is no pattern of this name to turn off");
	if (!rule && book->count == REDACT_RULES_MAX)
		return rule_refuse(err, name, "there are too many");
	if (!rule) {
		rule = &book->rules[book->count++];
		rule->name = name;
	}
	rule->off = off;
	return off ? 0 : read_rule(book, map, rule, err);
}

static void note_text(struct pattern_book *book, const char *text, size_t len)
{
	struct digest digest;

	digest_start(&digest);
	digest_add(&digest, book->digest, strlen(book->digest));
	digest_add_sized(&digest, text, len);
	digest_end_text(&digest, book->digest);
}

static int add_text(struct pattern_book *book, const char *text, size_t len, struct err *err)
{
	struct value *whole = NULL;
	const struct value *list;

	note_text(book, text, len);
	if (json_parse(&book->arena, text, len, NULL, &whole, err) < 0)
		return -1;
	list = value_get(whole, "patterns");
	if (!value_is(list, VALUE_LIST))
		return err_set(err, ERR_INVALID, "there is no list \"patterns\"");
	for (size_t i = 0; i < whole->map.count; i++)
		if (strcmp(whole->map.entries[i].key, "patterns") != 0 &&
			strcmp(whole->map.entries[i].key, "about") != 0)
			return err_set(err, ERR_INVALID,
				"there is no key \"%s\" here: \"about\" and \"patterns\" are known",
				whole->map.entries[i].key);
	for (size_t i = 0; value_at(list, i); i++)
		if (add_rule(book, value_at(list, i), err) < 0)
			return -1;
	return 0;
}

/* ---- the book ------------------------------------------------------------------------------- */

static int gather_words(struct pattern_book *book, struct err *err)
{
	struct match_text *items = arena_array(&book->arena, struct match_text, WORDS_MAX);
	size_t count = 0;

	for (size_t i = 0; items && i < book->count; i++) {
		const struct redact_rule *rule = &book->rules[i];

		for (size_t k = 0; !rule->off && value_at(rule->words, k); k++) {
			const char *word = value_as_text(value_at(rule->words, k));

			if (count == WORDS_MAX)
				return err_set(err, ERR_INVALID, "more than %u words", WORDS_MAX);
			items[count++] = (struct match_text){ .bytes = word,
				.len = strlen(word),
				.mark = (unsigned)i,
				.any_case = rule->any_case };
		}
	}
	book->words = items ? multi_match_new(&book->arena, items, count) : NULL;
	return book->words ? 0 : err_set(err, ERR_MEMORY, "no memory for patterns");
}

/* Masks `text` with the book, and returns whether the result is `hoped`. */
static bool comes_to(const struct pattern_book *book, const char *text, const char *hoped)
{
	struct redactor redactor;
	struct arena arena;
	struct bytes bytes = { text, strlen(text) };
	bool same;

	arena_init(&arena, (size_t)1 << 20);
	redactor_init(&redactor, book, NULL, &arena);
	(void)redact_bytes(&redactor, &bytes, 0);
	same = bytes.len == strlen(hoped) && !memcmp(bytes.data, hoped, bytes.len);
	arena_done(&arena);
	return same;
}

/* An example is [text before, secret, text after]. */
static int try_match(struct pattern_book *book, const struct redact_rule *rule,
	const struct value *example, struct err *err)
{
	const char *parts[3];
	const char *whole;
	const char *masked;
	const char *newlines = "";

	for (size_t i = 0; i < 3; i++) {
		parts[i] = value_as_text(value_at(example, i));
		if (!parts[i])
			return rule_refuse(err, rule->name,
				"matches: each is a list of the text before, the secret, the text after");
	}
	for (const char *at = parts[1]; (at = strchr(at, '\n')); at++)
		newlines = arena_printf(&book->arena, "%s\n", newlines);
	whole = arena_printf(&book->arena, "%s%s%s", parts[0], parts[1], parts[2]);
	masked = arena_printf(
		&book->arena, "%s[masked:%s]%s%s", parts[0], rule->name, newlines, parts[2]);
	if (!whole || !masked)
		return err_set(err, ERR_MEMORY, "no memory for examples");
	if (!comes_to(book, whole, masked))
		return err_set(err, ERR_INVALID,
			"pattern %s: this example of `matches` is not masked as it says: %s",
			rule->name, whole);
	return 0;
}

static int try_rule(struct pattern_book *book, const struct redact_rule *rule, struct err *err)
{
	for (size_t i = 0; value_at(rule->matches, i); i++)
		if (try_match(book, rule, value_at(rule->matches, i), err) < 0)
			return -1;
	for (size_t i = 0; value_at(rule->passes, i); i++) {
		const char *text = value_as_text(value_at(rule->passes, i));

		if (!text)
			return rule_refuse(err, rule->name, "passes: texts");
		if (!comes_to(book, text, text))
			return err_set(err, ERR_INVALID,
				"pattern %s: this example of `passes` is masked: %s", rule->name,
				text);
	}
	return 0;
}

static int finish(struct pattern_book *book, struct err *err)
{
	if (gather_words(book, err) < 0)
		return -1;
	for (size_t i = 0; i < book->count; i++)
		if (!book->rules[i].off && try_rule(book, &book->rules[i], err) < 0)
			return -1;
	return 0;
}

static struct pattern_book *book_new(struct err *err)
{
	struct pattern_book *book = calloc(1, sizeof(*book));

	if (book) {
		book->holders = 1;
		arena_init(&book->arena, BOOK_BYTES_MAX);
		book->rules = arena_array(&book->arena, struct redact_rule, REDACT_RULES_MAX);
	}
	if (!book || !book->rules)
		(void)err_set(err, ERR_MEMORY, "no memory for patterns");
	return book;
}

static int add_file(struct pattern_book *book, const char *path, struct err *err)
{
	auto_free char *text = NULL;
	size_t len = 0;

	if (read_file(path, FILE_BYTES_MAX, &text, &len, err) < 0)
		return -1;
	return add_text(book, text, len, err);
}

struct pattern_book *pattern_book_load(const char *path, struct err *err)
{
	auto_of(pattern_book_release) struct pattern_book *book = book_new(err);
	const struct embedded *file = redact_files;

	if (!book || !book->rules)
		return NULL;
	if (add_text(book, (const char *)file->bytes, file->len, err) < 0) {
		(void)err_wrap(err, "the shipped patterns");
		return NULL;
	}
	if (path && add_file(book, path, err) < 0) {
		(void)err_wrap(err, "redactions %s", path);
		return NULL;
	}
	if (finish(book, err) < 0) {
		(void)err_wrap(err, "redactions");
		return NULL;
	}
	return take_ptr(book);
}

struct pattern_book *pattern_book_parse(const char *text, size_t len, struct err *err)
{
	auto_of(pattern_book_release) struct pattern_book *book = book_new(err);

	if (!book || !book->rules || add_text(book, text, len, err) < 0 || finish(book, err) < 0)
		return NULL;
	return take_ptr(book);
}

bool pattern_book_is_same(const struct pattern_book *book, const struct pattern_book *other)
{
	return strcmp(book->digest, other->digest) == 0;
}

struct pattern_book *pattern_book_hold(struct pattern_book *book)
{
	book->holders++;
	return book;
}

void pattern_book_release(struct pattern_book *book)
{
	if (!book || --book->holders)
		return;
	arena_done(&book->arena);
	free(book);
}
