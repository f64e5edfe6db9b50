#include "daemon/redact/multi_match.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "proto/base/container.h"

static unsigned char folded(char byte)
{
	unsigned char c = (unsigned char)byte;

	return c >= 'A' && c <= 'Z' ? (unsigned char)(c | 0x20) : c;
}

static unsigned pair_of(char first, char second)
{
	return (unsigned)(unsigned char)first | (unsigned)(unsigned char)second << 8;
}

/* Uses folded bytes, so that both cases of a needle are in one chain. */
static unsigned chain_of(char first, char second)
{
	return (folded(first) * 31U + folded(second)) % 1024U;
}

static bool same(const struct match_text *needle, const char *a, const char *b, size_t count)
{
	return needle->any_case ? !strncasecmp(a, b, count) : !memcmp(a, b, count);
}

static void mark_pair(struct multi_match *needles, char first, char second)
{
	unsigned pair = pair_of(first, second);

	needles->begins[pair / 64] |= UINT64_C(1) << (pair % 64);
}

static char swapped(char byte)
{
	unsigned char low = folded(byte);

	if (low < 'a' || low > 'z')
		return byte;
	return (char)((unsigned char)byte ^ 0x20U);
}

static void mark_beginnings(struct multi_match *needles, const struct match_text *needle)
{
	char first = needle->bytes[0];
	char second = needle->bytes[1];

	mark_pair(needles, first, second);
	if (!needle->any_case)
		return;
	mark_pair(needles, swapped(first), second);
	mark_pair(needles, first, swapped(second));
	mark_pair(needles, swapped(first), swapped(second));
}

/* Puts longer needles first, because a search takes the first that matches. */
static void chain(struct multi_match *needles, uint32_t number)
{
	struct match_text *needle = &needles->items[number - 1];
	uint32_t *at = &needles->chains[chain_of(needle->bytes[0], needle->bytes[1])];

	while (*at && needles->items[*at - 1].len >= needle->len)
		at = &needles->items[*at - 1].next;
	needle->next = *at;
	*at = number;
}

struct multi_match *multi_match_new(struct arena *arena, struct match_text *items, size_t count)
{
	struct multi_match *needles = arena_new(arena, struct multi_match);

	if (!needles)
		return NULL;
	needles->items = items;
	needles->count = count;
	for (size_t i = 0; i < count; i++) {
		assert(items[i].len >= MATCH_LEN_MIN);

		mark_beginnings(needles, &items[i]);
		chain(needles, (uint32_t)i + 1);
	}
	return needles;
}

/* Searches a chain from the needle `number` on. */
static const struct match_text *needle_at(const struct multi_match *needles, uint32_t number,
	const char *text, size_t len, uint64_t *looks)
{
	for (; number && *looks; number = needles->items[number - 1].next) {
		const struct match_text *needle = &needles->items[number - 1];

		--*looks;
		if (needle->len <= len && same(needle, needle->bytes, text, needle->len))
			return needle;
	}
	return NULL;
}

const struct match_text *multi_match_find(const struct multi_match *needles, const char *text,
	size_t len, size_t *at, uint64_t *looks)
{
	for (size_t i = *at; i + MATCH_LEN_MIN <= len; i++) {
		unsigned pair = pair_of(text[i], text[i + 1]);
		const struct match_text *needle;

		if (!(needles->begins[pair / 64] >> (pair % 64) & 1U))
			continue;
		needle = needle_at(needles, needles->chains[chain_of(text[i], text[i + 1])],
			text + i, len - i, looks);
		if (needle || !*looks) {
			*at = i;
			return needle;
		}
	}
	return NULL;
}

const struct match_text *multi_match_next_here(const struct multi_match *needles,
	const struct match_text *found, const char *text, size_t len, uint64_t *looks)
{
	return needle_at(needles, found->next, text, len, looks);
}

bool match_text_begins(const struct match_text *needle, const char *text, size_t count)
{
	return same(needle, needle->bytes, text, count);
}

bool match_text_ends(const struct match_text *needle, const char *text, size_t count)
{
	return same(needle, needle->bytes + needle->len - count, text, count);
}
