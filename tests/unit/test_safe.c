#include <locale.h>
#include <string.h>

#include "cli/base/safe.h"
#include "proto/base/container.h"
#include "tests/check.h"

struct shown {
	char text[512];
};

/* The safe form of these bytes, as a person sees it. */
static struct shown show(enum safe_form form, const char *bytes, size_t len)
{
	struct shown shown = { "" };
	struct buf buf;

	buf_init(&buf, sizeof(shown.text) - 1);
	(void)safe_append(&buf, form, bytes, len);
	if (buf.len > 0)
		memcpy(shown.text, buf.bytes, buf.len);
	buf_done(&buf);
	return shown;
}

#define SHOW(form, literal) show((form), (literal), sizeof(literal) - 1).text

TEST(plain_text_passes_as_it_is)
{
	CHECK_STR(SHOW(SAFE_LINE, "42 \\ \"quoted\" ~"), "42 \\ \"quoted\" ~");
	CHECK_STR(SHOW(SAFE_LINE, "Grüße, 世界 🎉"), "Grüße, 世界 🎉");
}

TEST(an_escape_sequence_cannot_reach_the_terminal)
{
	CHECK_STR(SHOW(SAFE_BLOCK, "\033[2J\033]0;owned\007"), "\\x1b[2J\\x1b]0;owned\\x07");
}

TEST(a_carriage_return_cannot_overwrite_a_line)
{
	CHECK_STR(SHOW(SAFE_BLOCK, "denied\rok    "), "denied\\rok    ");
}

TEST(newlines_and_tabs_pass_in_a_block_and_not_in_a_line)
{
	CHECK_STR(SHOW(SAFE_BLOCK, "a\tb\n"), "a\tb\n");
	CHECK_STR(SHOW(SAFE_LINE, "a\tb\n"), "a\\tb\\n");
}

TEST(c1_codes_are_controls_too)
{
	CHECK_STR(SHOW(SAFE_BLOCK, "\xc2\x9b"
				   "31m"),
		"\\u{9b}31m");
	CHECK_STR(SHOW(SAFE_BLOCK, "\x9b"
				   "31m"),
		"\\x9b31m");
}

TEST(bidirectional_overrides_and_invisible_text_are_shown)
{
	CHECK_STR(SHOW(SAFE_LINE, "user\xe2\x80\xae nimda"), "user\\u{202e} nimda");
	CHECK_STR(SHOW(SAFE_LINE, "a\xe2\x81\xa6z\xe2\x81\xa9"), "a\\u{2066}z\\u{2069}");
	CHECK_STR(SHOW(SAFE_LINE, "zero\xe2\x80\x8bwidth"), "zero\\u{200b}width");
	CHECK_STR(SHOW(SAFE_LINE, "\xf3\xa0\x81\xa1"), "\\u{e0061}");
	CHECK_STR(SHOW(SAFE_LINE, "\xef\xbb\xbfx"), "\\u{feff}x");
	CHECK_STR(SHOW(SAFE_LINE, "a\xe3\x85\xa4\xef\xb8\x80"
				  "b"),
		"a\\u{3164}\\u{fe00}b");
	CHECK_STR(SHOW(SAFE_LINE, "\xe2\x9d\xa4\xef\xb8\x8f"), "\xe2\x9d\xa4\xef\xb8\x8f");
}

TEST(bytes_that_are_not_utf8_are_shown_one_by_one)
{
	CHECK_STR(SHOW(SAFE_LINE, "\xff\xfe"), "\\xff\\xfe");
	CHECK_STR(SHOW(SAFE_LINE, "\xed\xa0\x80"), "\\xed\\xa0\\x80");
	CHECK_STR(SHOW(SAFE_LINE, "\xc3"), "\\xc3");
	CHECK_STR(SHOW(SAFE_LINE, "nul\0byte"), "nul\\x00byte");
}

/* The result must not depend on how the text is cut into pieces. */
static void feed_in_pieces(const char *bytes, size_t len, size_t piece, struct shown *ret_shown)
{
	struct safe_stream stream = { .held_len = 0 };
	struct buf buf;

	buf_init(&buf, sizeof(ret_shown->text) - 1);
	for (size_t at = 0; at < len; at += piece)
		(void)safe_feed(&stream, &buf, bytes + at, len - at < piece ? len - at : piece);
	(void)safe_flush(&stream, &buf);
	memcpy(ret_shown->text, buf.bytes, buf.len);
	buf_done(&buf);
}

TEST(a_character_cut_between_two_pieces_stays_whole)
{
	static const char text[] = "ä世🎉\xe2\x80\xae\xff\xe4\xb8 x\xf0\x9f\x8e";
	const struct shown whole = show(SAFE_BLOCK, text, sizeof(text) - 1);

	for (size_t piece = 1; piece < sizeof(text); piece++) {
		struct shown pieces = { "" };

		feed_in_pieces(text, sizeof(text) - 1, piece, &pieces);
		CHECK_STR(pieces.text, whole.text);
	}
}

TEST(json_stays_the_same_document_and_hides_nothing)
{
	static const char json[] = "{\"a\":\"\xe2\x80\xae\xc2\x9b\x7f\xf3\xa0\x81\xa1 ok ü\"}";
	struct buf buf;

	buf_init(&buf, 1024);
	CHECK_EQ_INT(safe_json(&buf, json, sizeof(json) - 1), 0);
	CHECK_EQ_INT(buf_append_byte(&buf, 0), 0);
	CHECK_STR(buf.bytes, "{\"a\":\"\\u202e\\u009b\\u007f\\udb40\\udc61 ok ü\"}");
	buf_done(&buf);
}

TEST(widths_count_what_a_terminal_draws)
{
	(void)setlocale(LC_CTYPE, "C.UTF-8");
	CHECK_EQ_INT(safe_columns("abc", 3), 3);
	CHECK_EQ_INT(safe_columns("世界", strlen("世界")), 4);
	CHECK_EQ_INT(safe_columns("e\xcc\x81", 3), 1);
	CHECK_EQ_INT(safe_fit("世界", strlen("世界"), 3), strlen("世"));
	CHECK_EQ_INT(safe_fit("abcdef", 6, 4), 4);
}
