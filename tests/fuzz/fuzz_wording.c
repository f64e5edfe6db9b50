/*
 * The readers of text inside inspectors: constant expressions, shell words, URLs, packed text.
 * The first byte chooses; the rest is the text, in memory of exactly its size.
 */
#include <stdlib.h>
#include <string.h>

#include "daemon/inspector/literal.h"
#include "daemon/inspector/shellword.h"
#include "daemon/inspector/text_heuristics.h"
#include "tests/fuzz/fuzz.h"

static const char *const list[] = { "constructor", "/dev/tcp/*", "*.example.org", "eval" };
static struct words words;

static void read_url(const char *text, size_t len)
{
	size_t start = 0;
	size_t end = 0;

	if (text_has_url(text, len, &words, false, &start, &end) && (start >= end || end > len))
		abort();
}

static void read_shell(const char *text, size_t len)
{
	struct name name;

	if (shellword_read(text, len, "", &name) && literal_is_open(&name) && !name.cut)
		abort();
	(void)literal_is_in(&name, &words);
	(void)shellword_is_plain_delimiter(text, len);
	(void)shellword_hides_backtick(text, len);
	(void)shellword_hides_subscript(text, len);
	(void)shellword_is_sum(text, len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct name name;
	char *text;

	if (len == 0)
		return 0;
	if (!words.slots && words_init(&words, list, 4) < 0)
		abort();
	text = malloc(len - 1 + !(len - 1));
	if (!text)
		return 0;
	memcpy(text, data + 1, len - 1);
	if (data[0] == 's') {
		read_shell(text, len - 1);
	} else if (data[0] == 'u') {
		read_url(text, len - 1);
		(void)text_is_opaque(text, len - 1, 40);
	} else {
		literal_read(text, len - 1, &name);
		(void)literal_is_in(&name, &words);
	}
	free(text);
	return 0;
}
