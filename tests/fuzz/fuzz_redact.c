/*
 * A file of redaction patterns, a line of `---`, and a text to mask with them.
 *
 * Besides doing no harm: a text reported as unchanged is unchanged, a text with masks is a new
 * one, and the number of line breaks stays the same.
 */
#include <stdlib.h>
#include <string.h>

#include "daemon/redact/redactor.h"
#include "tests/fuzz/fuzz.h"

/* Each example may use all the work that patterns are allowed, so their number is limited. */
#define INPUT_BYTES_MAX 4096U
#define ARENA_BYTES     (1U << 20)
#define DIVIDER         "\n---\n"

static size_t count_lines(const char *text, size_t len)
{
	size_t count = 0;

	for (size_t i = 0; i < len; i++)
		count += text[i] == '\n';
	return count;
}

static void mask(const struct pattern_book *book, const char *text, size_t len, unsigned cut)
{
	struct bytes bytes = { text, len };
	struct redactor redactor;
	struct arena arena;
	bool changed;

	arena_init(&arena, ARENA_BYTES);
	redactor_init(&redactor, book, NULL, &arena);
	redactor.work = REDACT_WORK_SHORT;
	changed = redact_bytes(&redactor, &bytes, cut);
	if (changed != (redactor.masks > 0) || changed == (bytes.data == text) ||
		(!changed && bytes.len != len))
		abort();
	if (count_lines(bytes.data, bytes.len) != count_lines(text, len))
		abort();
	arena_done(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const char *text = (const char *)data;
	const char *divider = memmem(text, len, DIVIDER, strlen(DIVIDER));
	size_t book_len = divider ? (size_t)(divider - text) : len;
	size_t rest = divider ? book_len + strlen(DIVIDER) : len;
	struct err err = ERR_INIT;
	struct pattern_book *book;

	if (len > INPUT_BYTES_MAX)
		return 0;
	book = pattern_book_parse(text, book_len, &err);
	for (unsigned cut = 0; book && cut <= (REDACT_CUT_FRONT | REDACT_CUT_END); cut++)
		mask(book, text + rest, len - rest, cut);
	pattern_book_release(book);
	return 0;
}
