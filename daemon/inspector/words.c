#include "daemon/inspector/words.h"

#include <stdlib.h>
#include <string.h>

/* FNV-1a: the table holds trusted words only, so a program cannot lengthen its chains. */
uint32_t words_hash(const char *text, size_t len)
{
	uint32_t hash = 2166136261U;

	for (size_t i = 0; i < len; i++)
		hash = (uint32_t)(((uint64_t)hash ^ (unsigned char)text[i]) * 16777619U);
	return hash;
}

/* The slot that holds the word, or the empty one for it. */
static uint32_t slot_of(const struct words *words, const char *text, size_t len, uint32_t hash)
{
	uint32_t slot = hash & words->mask;

	while (words->slots[slot]) {
		const char *word = words->slots[slot];

		if (strncmp(word, text, len) == 0 && word[len] == '\0')
			return slot;
		slot = (slot + 1) & words->mask;
	}
	return slot;
}

static void note_stars(struct words *words, const char *word, size_t len)
{
	if (!memchr(word, '*', len))
		return;
	words->has_stars = true;
	if (len >= 2 && word[0] == '*' && word[1] == '.')
		words->has_tails = true;
	if (len >= 2 && word[len - 1] == '*' && word[len - 2] == '.')
		words->has_trees = true;
}

int words_init(struct words *words, const char *const *list, uint32_t count)
{
	uint32_t size = 8;

	while (size < count * 2)
		size *= 2;
	*words = (struct words){ .mask = size - 1 };
	words->slots = calloc(size, sizeof(*words->slots));
	if (!words->slots)
		return -1;
	for (uint32_t i = 0; i < count; i++) {
		size_t len = strlen(list[i]);

		words->slots[slot_of(words, list[i], len, words_hash(list[i], len))] = list[i];
		note_stars(words, list[i], len);
	}
	return 0;
}

void words_done(struct words *words)
{
	free(words->slots);
	words->slots = NULL;
}

bool words_have_hashed(const struct words *words, const char *text, size_t len, uint32_t hash)
{
	return words->slots[slot_of(words, text, len, hash)] != NULL;
}

bool words_have(const struct words *words, const char *text, size_t len)
{
	return words_have_hashed(words, text, len, words_hash(text, len));
}

/* Whether the list has `p.*` for a parent p of the path. */
static bool have_tree(const struct words *words, const struct name *path)
{
	char tree[NAME_BYTES_MAX + 2];

	memcpy(tree, path->text, path->len);
	for (size_t at = 1; at <= path->len; at++) {
		if (at == path->len ? path->cut : path->text[at] != '.')
			continue;
		tree[at] = '.';
		tree[at + 1] = '*';
		if (words_have(words, tree, at + 2))
			return true;
		tree[at + 1] = path->text[at + 1 < path->len ? at + 1 : path->len];
	}
	return false;
}

/* Whether `*.name` is in the list for the last of several names, or `*._` matches it. */
static bool have_tail(const struct words *words, const struct name *path)
{
	size_t at = path_tail(path);
	size_t len = path->len - at;
	char tail[NAME_BYTES_MAX + 2] = "*.";

	if (at == 0)
		return false;
	memcpy(tail + 2, path->text + at, len);
	if (tail[2] == '_' && tail[3] != '_' && words_have(words, "*._", 3))
		return true;
	return !path->cut && words_have(words, tail, len + 2);
}

bool words_have_path(const struct words *words, const struct name *path)
{
	if (!path->cut && words_have(words, path->text, path->len))
		return true;
	return (words->has_trees && have_tree(words, path)) ||
	       (words->has_tails && have_tail(words, path));
}
