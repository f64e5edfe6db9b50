/* Bytes of keys, and what they make of a line. */
#include <locale.h>
#include <string.h>

#include "cli/terminal/line_edit.h"
#include "proto/base/container.h"
#include "tests/check.h"

struct desk {
	struct history history;
	struct line_edit edit;
};

static void set_up(struct desk *desk)
{
	history_open(&desk->history, NULL);
	line_edit_init(&desk->edit, &desk->history);
	line_edit_begin(&desk->edit);
}

static void clear(struct desk *desk)
{
	line_edit_done(&desk->edit);
	history_close(&desk->history);
}

/* The event of the last byte. */
static enum line_event type(struct desk *desk, const char *keys)
{
	enum line_event event = LINE_GOES_ON;

	for (size_t i = 0; i < strlen(keys); i++)
		event = line_edit_key(&desk->edit, (unsigned char)keys[i]);
	return event;
}

static bool has(const struct desk *desk, const char *text)
{
	return desk->edit.text.len == strlen(text) &&
	       (!desk->edit.text.len ||
		       memcmp(desk->edit.text.bytes, text, desk->edit.text.len) == 0);
}

TEST(keys_change_the_line)
{
	static const struct {
		const char *keys, *text;
	} cases[] = {
		{ "abc", "abc" },
		{ "abc\x7f", "ab" },
		{ "\x7f", "" },
		{ "ac\033[Db", "abc" },
		{ "ac\033ODb", "abc" },
		{ "bc\x01"
		  "a",
			"abc" },
		{ "bc\033[Ha\033[Fd", "abcd" },
		{ "bc\033[1~a\033[4~d", "abcd" },
		{ "abc\033[D\033[D\033[3~", "ac" },
		{ "abc\x02\x02\x04", "ac" },
		{ "one two\x17", "one " },
		{ "one two  \x17", "one " },
		{ "one two\x15x", "x" },
		{ "one two\033b\x0b", "one " },
		{ "one two\x01\033f\x0b", "one" },
		{ "one two\033[1;5Dx", "one xtwo" },
		{ "\tx", "    x" },
		{ "gr\xc3\xbc\xc3\x9f\x7f\x7f"
		  "e",
			"gre" },
		{ "\xc3\xbc"
		  "b\033[D\033[Da",
			"a\xc3\xbc"
			"b" },
		{ "\xc3\xbc"
		  "b\x01\033[C\x7f",
			"b" },
		{ "a\033[Zb\033[12;34;56;78;90xc", "abc" },
		{ "a\033\001b", "ab" },
		{ "\xbf\xbf\x7f", "" },
		{ "a\x0e\x10", "a" },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct desk desk;
		bool good;

		set_up(&desk);
		(void)type(&desk, cases[i].keys);
		good = has(&desk, cases[i].text);
		clear(&desk);
		CHECK_STR(good ? cases[i].keys : "", cases[i].keys);
	}
}

TEST(keys_end_the_line)
{
	struct desk desk;

	set_up(&desk);
	CHECK_EQ_INT(type(&desk, "abc"), LINE_GOES_ON);
	CHECK_EQ_INT(type(&desk, "\n"), LINE_DONE);
	CHECK_EQ_INT(type(&desk, "\r"), LINE_DONE);
	CHECK_EQ_INT(type(&desk, "\x04"), LINE_GOES_ON);
	CHECK_EQ_INT(type(&desk, "\x03"), LINE_DROPPED);
	CHECK_EQ_INT(type(&desk, "\033\x03"), LINE_DROPPED);
	CHECK_EQ_INT(type(&desk, "\x1a"), LINE_GOES_ON); /* behind the ESC */
	line_edit_begin(&desk.edit);
	CHECK_EQ_INT(type(&desk, "\x1a"), LINE_STOPS);
	CHECK_EQ_INT(type(&desk, "\x0c"), LINE_CLEARS);
	CHECK_EQ_INT(type(&desk, "\x04"), LINE_ENDED);
	clear(&desk);
}

TEST(the_history_is_a_walk_from_the_line)
{
	struct desk desk;

	set_up(&desk);
	history_add(&desk.history, "one", 3);
	history_add(&desk.history, "two", 3);
	(void)type(&desk, "own\033[A");
	CHECK(has(&desk, "two"));
	(void)type(&desk, "\033[A\033[A\033[A");
	CHECK(has(&desk, "one"));
	(void)type(&desk, "x\033[B");
	CHECK(has(&desk, "two"));
	(void)type(&desk, "\033[B");
	CHECK(has(&desk, "own"));
	(void)type(&desk, "\033[B");
	CHECK(has(&desk, "own"));
	clear(&desk);
}

static const char *drawn(struct desk *desk, size_t columns, struct buf *frame)
{
	const struct line_prompt prompt = { ">>> ", "<", ">" };

	frame->len = 0;
	if (line_edit_draw(&desk->edit, &prompt, columns, frame) < 0 ||
		buf_append_byte(frame, 0) < 0)
		return "";
	return frame->bytes;
}

TEST(a_line_draws_itself_in_one_row)
{
	struct desk desk;
	struct buf frame;

	(void)setlocale(LC_CTYPE, "C.UTF-8");
	set_up(&desk);
	buf_init(&frame, 4096);
	CHECK_STR(drawn(&desk, 80, &frame), "\r<>>> >\033[K\r\033[4C");
	(void)type(&desk, "ab\033[D");
	CHECK_STR(drawn(&desk, 80, &frame), "\r<>>> >ab\033[K\r\033[5C");
	(void)type(&desk, "\x15\x0b\xe4\xb8\x96");
	CHECK_STR(drawn(&desk, 80, &frame), "\r<>>> >\xe4\xb8\x96\033[K\r\033[6C");
	(void)type(&desk, "\x15\xe2\x80\xae");
	CHECK_STR(drawn(&desk, 80, &frame), "\r<>>> >\\u{202e}\033[K\r\033[12C");
	(void)type(&desk, "\x15"
			  "0123456789");
	CHECK_STR(drawn(&desk, 10, &frame), "\r<>>> >56789\033[K\r\033[9C");
	(void)type(&desk, "\x01");
	CHECK_STR(drawn(&desk, 10, &frame), "\r<>>> >01234\033[K\r\033[4C");
	CHECK(drawn(&desk, 1, &frame)[0] != '\0');
	buf_done(&frame);
	clear(&desk);
}
