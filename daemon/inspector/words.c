#include "daemon/inspector/words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* FNV-1a: the table is made of trusted words, so nobody outside can lengthen its chains. */
uint32_t words_hash(const char *text, size_t len)
{
	uint32_t hash = 2166136261U;

	for (size_t i = 0; i < len; i++)
		hash = (uint32_t)(((uint64_t)hash ^ (unsigned char)text[i]) * 16777619U);
	return hash;
}

/* The slot that holds the word, or the empty one where it would stand. */
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
		if (strchr(list[i], '*'))
			words->has_stars = true;
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

/* Is `before`, a path or its end, and `after` one word of the list? */
static bool have_joined(const struct words *words, const char *before, const char *text, size_t len)
{
	char joined[NAME_BYTES_MAX + 4];
	int size = snprintf(
		joined, sizeof(joined), "%s%.*s%s", before, (int)len, text, before[0] ? "" : ".*");

	return words_have(words, joined, (size_t)size);
}

/* Is the last of several names in the list as `*.name`, or does `*._` stand for it? */
static bool have_tail(const struct words *words, const struct name *path)
{
	size_t at = path_tail(path);
	const char *tail = path->text + at;

	if (at == 0)
		return false;
	if (tail[0] == '_' && tail[1] != '_' && words_have(words, "*._", 3))
		return true;
	return !path->cut && have_joined(words, "*.", tail, path->len - at);
}

bool words_have_path(const struct words *words, const struct name *path)
{
	if (!path->cut && words_have(words, path->text, path->len))
		return true;
	if (!words->has_stars)
		return false;
	for (size_t at = 1; at <= path->len; at++)
		if ((at == path->len ? !path->cut : path->text[at] == '.') &&
			have_joined(words, "", path->text, at))
			return true;
	return have_tail(words, path);
}
