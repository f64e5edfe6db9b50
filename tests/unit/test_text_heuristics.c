#include <stdio.h>
#include <string.h>

#include "daemon/inspector/text_heuristics.h"
#include "tests/check.h"

static const char *const hosts[] = { "example.com", "*.example.org" };

/* The first URL whose host is not among these, or "". */
static const char *url_in(const char *text)
{
	static char url[256];
	struct words words;
	size_t start = 0;
	size_t end = 0;

	url[0] = '\0';
	if (words_init(&words, hosts, 2) < 0)
		return "no memory";
	if (text_has_url(text, strlen(text), &words, false, &start, &end))
		(void)snprintf(url, sizeof(url), "%.*s", (int)(end - start), text + start);
	words_done(&words);
	return url;
}

TEST(urls_are_found_by_scheme_and_host)
{
	CHECK_STR(url_in("see http://a.b/c?d"), "http://a.b");
	CHECK_STR(url_in("HTTPS://A.B:80/"), "HTTPS://A.B:80");
	CHECK_STR(url_in("x ws://{host}/y"), "ws://{host}");
	CHECK_STR(url_in("http://example.com/ http://a.b/"), "http://a.b");
	CHECK_STR(url_in("http://example.com@a.b/"), "http://example.com@a.b");
	CHECK_STR(url_in("http://example.com.a.b/"), "http://example.com.a.b");
	CHECK_STR(url_in("http://[::1]:80/"), "http://[::1]:80");
}

TEST(hosts_of_the_list_and_other_slashes_are_none)
{
	CHECK_STR(url_in("http://example.com/a http://u:p@example.com:80/"), "");
	CHECK_STR(url_in("http://a.example.org"), "");
	CHECK_STR(url_in("http://example.org"), "http://example.org");
	CHECK_STR(url_in("a://b // :// http://"), "");
	CHECK_STR(url_in("xhttp://a.b"), "");
}

static char text[4096];

static bool is_opaque(const char *letters, size_t len)
{
	size_t count = strlen(letters);
	unsigned state = 7;

	for (size_t i = 0; i < len; i++) {
		state = state * 1103515245U + 12345U;
		text[i] = letters[(state >> 16) % count];
	}
	return text_is_opaque(text, len, 400);
}

#define LOWER "abcdefghijklmnopqrstuvwxyz"
#define UPPER "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

TEST(packed_wording_is_opaque)
{
	CHECK(is_opaque(LOWER UPPER "0123456789+/", 600));
	CHECK(is_opaque("0123456789abcdef", 600));
	CHECK(is_opaque("0123456789ABCDEF", 600));
	CHECK(!is_opaque(LOWER UPPER "0123456789+/", 300));
}

TEST(text_of_few_letters_or_with_blanks_is_not)
{
	CHECK(!is_opaque("0123456789", 900));
	CHECK(!is_opaque("ACGT", 900));
	CHECK(!is_opaque(UPPER, 900));
	CHECK(!is_opaque(LOWER, 900));
	CHECK(!is_opaque(LOWER UPPER "0123456789 ....", 900));
}

TEST(line_ends_do_not_divide_packed_text)
{
	CHECK(is_opaque(LOWER UPPER "0123456789+/", 600));
	for (size_t i = 76; i < 600; i += 77)
		text[i] = '\n';
	CHECK(text_is_opaque(text, 600, 400));
}

TEST(many_escapes_are_opaque)
{
	for (size_t i = 0; i < 800; i += 4)
		memcpy(text + i, "\\xa0", 4);
	CHECK(text_is_opaque(text, 800, 400));
	CHECK(!text_is_opaque(text, 200, 400));
}
