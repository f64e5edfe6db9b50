#include "daemon/redact/redactor.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/container.h"

#define CONTEXT     16U /* bytes before the first place of a pattern, for its lookbehind */
#define WORD_MAX    4096U
#define OVERLAP_MIN 4U  /* bytes of a secret at a cut: fewer reveal nothing */
#define GLANCES     16U /* compared bytes that cost as much as one comparison with a secret */
#define SECRET      UINT32_MAX

static const char WITHHELD[] = "[withheld: no memory to look for secrets in it]";

/* Something to mask. */
struct span {
	size_t start, end;
	uint32_t rule; /* or SECRET */
};

struct spans {
	struct span *items;
	size_t count, size;
	bool failed;
};

void redactor_init(struct redactor *redactor, const struct pattern_book *book,
	const struct multi_match *secrets, struct arena *arena)
{
	*redactor = (struct redactor){ .book = book, .secrets = secrets, .arena = arena };
	redactor_allow(redactor, REDACT_WORK_LONG);
}

void redactor_allow(struct redactor *redactor, uint64_t work)
{
	redactor->work = work;
	redactor->looks = work * REDACT_LOOKS;
	redactor->spent = false;
}

/* ---- finding secrets ------------------------------------------------------------------------ */

static void add_span(struct spans *spans, size_t start, size_t end, uint32_t rule)
{
	struct span *last = spans->count ? &spans->items[spans->count - 1] : NULL;
	struct span *grown;
	size_t size;

	/* Parts of one secret follow each other. */
	if (last && last->rule == rule && start >= last->start && start <= last->end) {
		last->end = end > last->end ? end : last->end;
		return;
	}
	if (spans->count == spans->size) {
		size = spans->size ? spans->size * 2 : 16;
		grown = reallocarray(spans->items, size, sizeof(*grown));
		if (!grown) {
			spans->failed = true;
			return;
		}
		spans->items = grown;
		spans->size = size;
	}
	if (spans->items)
		spans->items[spans->count++] = (struct span){ start, end, rule };
}

/* The budget is used up: masks the rest of the text, which was not searched. */
static void give_up(
	struct redactor *redactor, const struct bytes *text, size_t from, struct spans *spans)
{
	redactor->spent = true;
	add_span(spans, from, text->len, SECRET);
}

static void find_secrets(struct redactor *redactor, const struct bytes *text, struct spans *spans)
{
	size_t at = 0;
	const struct match_text *found;

	while ((found = multi_match_find(
			redactor->secrets, text->data, text->len, &at, &redactor->looks))) {
		add_span(spans, at, at + found->len, SECRET);
		at++;
	}
	if (!redactor->looks)
		give_up(redactor, text, at, spans);
}

static void take_looks(struct redactor *redactor, uint64_t looks)
{
	redactor->looks -= looks < redactor->looks ? looks : redactor->looks;
}

/*
 * How many bytes of the needle stand at the cut: its beginning at the end of the text, or its end
 * at the beginning.  Returns `most` if there are not more.
 */
static size_t part_at_cut(struct redactor *redactor, const struct match_text *needle,
	const struct bytes *text, enum redact_cut cut, size_t most)
{
	bool at_end = cut == REDACT_CUT_END;
	size_t part = needle->len - 1 < text->len ? needle->len - 1 : text->len;
	char edge = needle->bytes[at_end ? 0 : needle->len - 1];

	take_looks(redactor, 1 + part / GLANCES);
	for (; part >= OVERLAP_MIN && part > most; part--) {
		char there = text->data[at_end ? text->len - part : part - 1];

		if ((unsigned char)(there ^ edge) & 0xdfU) /* ignores case */
			continue;
		take_looks(redactor, 1);
		if (at_end ? match_text_begins(needle, text->data + text->len - part, part)
			   : match_text_ends(needle, text->data, part))
			return part;
	}
	return most;
}

/* Masks the part of a secret at the cut of the text. */
static void find_cut(struct redactor *redactor, const struct bytes *text, enum redact_cut cut,
	struct spans *spans)
{
	const struct multi_match *secrets = redactor->secrets;
	size_t most = 0;

	for (size_t i = 0; i < secrets->count && redactor->looks; i++)
		most = part_at_cut(redactor, &secrets->items[i], text, cut, most);
	if (!redactor->looks)
		give_up(redactor, text, 0, spans);
	else if (most && cut == REDACT_CUT_END)
		add_span(spans, text->len - most, text->len, SECRET);
	else if (most)
		add_span(spans, 0, most, SECRET);
}

static size_t end_of_word(const struct bytes *text, size_t at)
{
	size_t end = at;

	while (end < text->len && end - at < WORD_MAX && !strchr(" \t\r\n", text->data[end]))
		end++;
	return end > at ? end : at + 1;
}

/* An incomplete match at a cut counts if the word is part of it. */
static bool is_found(enum pattern_answer answer, const struct pattern_span *span, size_t word)
{
	if (answer == PATTERN_BEGUN)
		return span->start <= word;
	return answer == PATTERN_YES && span->end > span->start;
}

/* Looks for the rule's pattern around one of its words, which was found at `at`. */
static bool try_rule(struct redactor *redactor, const struct bytes *text, size_t at,
	uint32_t number, bool is_cut, struct spans *spans)
{
	const struct redact_rule *rule = &redactor->book->rules[number];
	size_t begin = at > rule->before ? at - rule->before : 0;
	size_t first = begin > CONTEXT ? begin - CONTEXT : 0;
	size_t end = text->len - at > rule->after ? at + rule->after : text->len;
	unsigned look = (rule->before ? PATTERN_ANYWHERE : PATTERN_HERE) |
			(is_cut && end == text->len ? PATTERN_IS_CUT : 0);
	struct pattern_span span = { 0, begin - first };
	enum pattern_answer answer;

	do {
		span.start = at - first;
		answer = pattern_in_bytes(rule->pattern, text->data + first, end - first, look,
			&span, &redactor->work);
	} while (answer == PATTERN_YES && first + span.end <= at && span.end > span.start);
	if (answer == PATTERN_GAVE_UP || answer == PATTERN_NO_MEMORY) {
		redactor->spent = true;
		add_span(spans, at, end_of_word(text, at), number);
	} else if (is_found(answer, &span, at - first)) {
		add_span(spans, first + span.start, first + span.end, number);
	} else {
		return false;
	}
	return true;
}

/* Tries the rules of all words at `at`.  Returns where to continue. */
static size_t try_words(struct redactor *redactor, const struct bytes *text, size_t at,
	const struct match_text *word, bool is_cut, struct spans *spans)
{
	uint64_t looks = UINT64_MAX; /* words are few */
	size_t next;

	while (word && !try_rule(redactor, text, at, word->mark, is_cut, spans))
		word = multi_match_next_here(
			redactor->book->words, word, text->data + at, text->len - at, &looks);
	next = word && spans->count ? spans->items[spans->count - 1].end : 0;
	return next > at ? next : at + 1;
}

static void find_patterns(
	struct redactor *redactor, const struct bytes *text, bool is_cut, struct spans *spans)
{
	const struct match_text *found;
	uint64_t looks = UINT64_MAX; /* words are few */
	size_t at = 0;

	while (!spans->failed && (found = multi_match_find(redactor->book->words, text->data,
					  text->len, &at, &looks)))
		at = try_words(redactor, text, at, found, is_cut, spans);
}

/* ---- masking -------------------------------------------------------------------------------- */

static int by_start(const void *a, const void *b)
{
	const struct span *one = a;
	const struct span *other = b;

	return one->start < other->start ? -1 : one->start > other->start;
}

/* Joins spans that meet into one, which keeps the rule of the first. */
static void join_spans(struct spans *spans)
{
	size_t kept = 0;

	qsort(spans->items, spans->count, sizeof(*spans->items), by_start);
	for (size_t i = 1; i < spans->count; i++) {
		struct span *last = &spans->items[kept];

		if (spans->items[i].start > last->end)
			spans->items[++kept] = spans->items[i];
		else if (spans->items[i].end > last->end)
			last->end = spans->items[i].end;
	}
	spans->count = kept + 1;
}

static const char *name_of(const struct redactor *redactor, const struct span *span)
{
	return span->rule == SECRET ? "secret" : redactor->book->rules[span->rule].name;
}

static size_t newlines_in(const struct bytes *text, const struct span *span)
{
	size_t count = 0;

	for (size_t i = span->start; i < span->end; i++)
		count += text->data[i] == '\n';
	return count;
}

static char *append_bytes(char *to, const char *bytes, size_t len)
{
	memcpy(to, bytes, len);
	return to + len;
}

static char *put_mask(char *to, const char *name, size_t newlines)
{
	to = append_bytes(to, "[masked:", 8);
	to = append_bytes(to, name, strlen(name));
	to = append_bytes(to, "]", 1);
	memset(to, '\n', newlines);
	return to + newlines;
}

/* The masked text from `from` on; without memory, the text that replaces a withheld one. */
static struct bytes masked(
	struct redactor *redactor, const struct bytes *text, size_t from, const struct spans *spans)
{
	size_t len = text->len - from;
	char *copy;
	char *to;

	for (size_t i = 0; i < spans->count; i++)
		len += 9 + strlen(name_of(redactor, &spans->items[i])) +
		       newlines_in(text, &spans->items[i]);
	copy = spans->failed ? NULL : arena_alloc(redactor->arena, len + 1);
	if (!copy)
		return (struct bytes){ WITHHELD, sizeof(WITHHELD) - 1 };
	to = copy;
	for (size_t i = 0; i < spans->count; i++) {
		const struct span *span = &spans->items[i];

		if (span->end <= from)
			continue;
		if (span->start > from)
			to = append_bytes(to, text->data + from, span->start - from);
		to = put_mask(to, name_of(redactor, span), newlines_in(text, span));
		from = span->end;
		redactor->masks++;
	}
	to = append_bytes(to, text->data + from, text->len - from);
	*to = '\0';
	return (struct bytes){ copy, (size_t)(to - copy) };
}

bool redact_behind(struct redactor *redactor, struct bytes *bytes, size_t in_front, unsigned cut)
{
	struct bytes text = { bytes->data - in_front, bytes->len + in_front };
	struct spans spans = { NULL, 0, 0, false };
	bool concerned = false;

	if (!bytes->len)
		return false;
	if (!redactor->facts)
		find_patterns(redactor, &text, (cut & REDACT_CUT_END) != 0, &spans);
	if (redactor->secrets) {
		find_secrets(redactor, &text, &spans);
		if (cut & REDACT_CUT_END)
			find_cut(redactor, &text, REDACT_CUT_END, &spans);
		if (cut & REDACT_CUT_FRONT)
			find_cut(redactor, &text, REDACT_CUT_FRONT, &spans);
	}
	for (size_t i = 0; i < spans.count; i++)
		concerned = concerned || spans.items[i].end > in_front;
	if (concerned || spans.failed) {
		if (!spans.failed)
			join_spans(&spans);
		*bytes = masked(redactor, &text, in_front, &spans);
	}
	free(spans.items);
	return concerned || spans.failed;
}

bool redact_bytes(struct redactor *redactor, struct bytes *bytes, unsigned cut)
{
	return redact_behind(redactor, bytes, 0, cut);
}

bool redact_text(struct redactor *redactor, const char **text, unsigned cut)
{
	struct bytes bytes;

	if (!*text)
		return false;
	bytes = (struct bytes){ *text, strlen(*text) };
	if (!redact_bytes(redactor, &bytes, cut))
		return false;
	*text = bytes.data; /* NUL-terminated */
	return true;
}

/* ---- trees ---------------------------------------------------------------------------------- */

static const struct value *withheld(void)
{
	static const struct value text = { .type = VALUE_TEXT,
		.text = { WITHHELD, sizeof(WITHHELD) - 1, false } };

	return &text;
}

static const struct value *redact_leaf(struct redactor *redactor, const struct value *value)
{
	struct bytes bytes = { value->text.bytes, value->text.len };
	struct value *copy;

	if (!redact_bytes(redactor, &bytes, REDACT_CUT_FRONT | REDACT_CUT_END))
		return value;
	copy = value_blob_borrowed(redactor->arena, bytes.data, bytes.len);
	if (!copy)
		return withheld();
	copy->text.open = false; /* masked() has terminated it with NUL */
	return copy;
}

/* Copies the first `count` items of a list. */
static struct value *copy_items(struct redactor *redactor, const struct value *list, size_t count)
{
	struct value *copy = value_list(redactor->arena);

	for (size_t i = 0; copy && i < count; i++)
		if (value_list_add(redactor->arena, copy, list->list.items[i]) < 0)
			return NULL;
	return copy;
}

/* Copies the list once an item is masked; else returns it unchanged. */
static const struct value *redact_list(struct redactor *redactor, const struct value *list)
{
	struct value *copy = NULL;

	for (size_t i = 0; i < list->list.count; i++) {
		const struct value *item = redact_value(redactor, list->list.items[i]);

		if (item == list->list.items[i] && !copy)
			continue;
		if (!copy)
			copy = copy_items(redactor, list, i);
		if (!copy ||
			value_list_add(redactor->arena, copy, (struct value *)(uintptr_t)item) < 0)
			return withheld();
	}
	return copy ? copy : list;
}

/* Two keys may get the same mask: changes the second, since keys are unique.  False: no memory. */
static bool make_unique(struct redactor *redactor, const struct value *map, struct bytes *key)
{
	const char *name = key->data;

	for (unsigned i = 2; name && value_get(map, name); i++)
		name = arena_printf(redactor->arena, "%s~%u", key->data, i);
	*key = (struct bytes){ name, name ? strlen(name) : 0 };
	return name != NULL;
}

/* Copies the first `count` entries of a map. */
static struct value *copy_entries(struct redactor *redactor, const struct value *map, size_t count)
{
	struct value *copy = value_map(redactor->arena);

	for (size_t i = 0; copy && i < count; i++)
		if (value_map_put_len(redactor->arena, copy, map->map.entries[i].key,
			    map->map.entries[i].key_len, map->map.entries[i].value) < 0)
			return NULL;
	return copy;
}

static const struct value *redact_map(struct redactor *redactor, const struct value *map)
{
	struct value *copy = NULL;

	for (size_t i = 0; i < map->map.count; i++) {
		const struct value_entry *entry = &map->map.entries[i];
		struct bytes key = { entry->key, entry->key_len };
		const struct value *value = redact_value(redactor, entry->value);
		bool new_key = !redactor->facts && redact_bytes(redactor, &key, 0);

		if (!new_key && value == entry->value && !copy)
			continue;
		if (!copy)
			copy = copy_entries(redactor, map, i);
		if (!copy || (new_key && !make_unique(redactor, copy, &key)))
			return withheld();
		if (value_map_put_len(redactor->arena, copy, key.data, key.len,
			    (struct value *)(uintptr_t)value) < 0)
			return withheld();
	}
	return copy ? copy : map;
}

const struct value *redact_value(struct redactor *redactor, const struct value *value)
{
	if (!value)
		return NULL;
	if (value_is(value, VALUE_TEXT) || value_is(value, VALUE_BYTES))
		return redact_leaf(redactor, value);
	if (value_is(value, VALUE_LIST))
		return redact_list(redactor, value);
	if (value_is(value, VALUE_MAP))
		return redact_map(redactor, value);
	return value;
}

const struct value *redact_by_patterns(
	const struct pattern_book *book, struct arena *arena, const struct value *value)
{
	struct redactor redactor;

	redactor_init(&redactor, book, NULL, arena);
	redactor_allow(&redactor, REDACT_WORK_SHORT);
	return redact_value(&redactor, value);
}
