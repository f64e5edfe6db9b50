#include "cli/terminal/line_edit.h"

#include <string.h>

#include "cli/base/safe.h"
#include "proto/base/container.h"
#include "proto/base/utf8.h"

#define LINE_BYTES ((size_t)1 << 20)
#define CTRL(key)  ((key)&0x1f)
#define ESCAPE     0x1b
#define DELETE     0x7f
#define TAB        "    "

void line_edit_init(struct line_edit *edit, const struct history *history)
{
	*edit = (struct line_edit){ .history = history };
	buf_init(&edit->text, LINE_BYTES);
	buf_init(&edit->kept, LINE_BYTES);
}

void line_edit_done(struct line_edit *edit)
{
	buf_done(&edit->text);
	buf_done(&edit->kept);
}

void line_edit_begin(struct line_edit *edit)
{
	edit->text.len = 0;
	edit->kept.len = 0;
	edit->at = edit->back = edit->escape_len = 0;
}

/* ---- characters ----------------------------------------------------------------------------- */

static bool continues(char byte)
{
	return ((unsigned char)byte & 0xc0) == 0x80;
}

static size_t before(const struct line_edit *edit, size_t at)
{
	while (at > 0 && continues(edit->text.bytes[--at]))
		;
	return at;
}

static size_t after(const struct line_edit *edit, size_t at)
{
	if (at < edit->text.len)
		at++;
	while (at < edit->text.len && continues(edit->text.bytes[at]))
		at++;
	return at;
}

static bool is_blank_at(const struct line_edit *edit, size_t at)
{
	return edit->text.bytes[at] == ' ';
}

static size_t word_before(const struct line_edit *edit)
{
	size_t at = edit->at;

	while (at > 0 && is_blank_at(edit, at - 1))
		at--;
	while (at > 0 && !is_blank_at(edit, at - 1))
		at--;
	return at;
}

static size_t word_after(const struct line_edit *edit)
{
	size_t at = edit->at;

	while (at < edit->text.len && is_blank_at(edit, at))
		at++;
	while (at < edit->text.len && !is_blank_at(edit, at))
		at++;
	return at;
}

/* What has no room is not typed. */
static void insert(struct line_edit *edit, const char *bytes, size_t len)
{
	size_t behind = edit->text.len - edit->at;

	if (buf_append(&edit->text, bytes, len) < 0)
		return;
	memmove(edit->text.bytes + edit->at + len, edit->text.bytes + edit->at, behind);
	memcpy(edit->text.bytes + edit->at, bytes, len);
	edit->at += len;
}

static void erase(struct line_edit *edit, size_t from, size_t to)
{
	if (to <= from)
		return;
	memmove(edit->text.bytes + from, edit->text.bytes + to, edit->text.len - to);
	edit->text.len -= to - from;
	edit->at = from;
}

/* ---- keys ----------------------------------------------------------------------------------- */

static void go_home(struct line_edit *edit)
{
	edit->at = 0;
}

static void go_end(struct line_edit *edit)
{
	edit->at = edit->text.len;
}

static void go_left(struct line_edit *edit)
{
	edit->at = before(edit, edit->at);
}

static void go_right(struct line_edit *edit)
{
	edit->at = after(edit, edit->at);
}

static void go_word_left(struct line_edit *edit)
{
	edit->at = word_before(edit);
}

static void go_word_right(struct line_edit *edit)
{
	edit->at = word_after(edit);
}

static void erase_left(struct line_edit *edit)
{
	erase(edit, before(edit, edit->at), edit->at);
}

static void erase_here(struct line_edit *edit)
{
	erase(edit, edit->at, after(edit, edit->at));
}

static void erase_word(struct line_edit *edit)
{
	erase(edit, word_before(edit), edit->at);
}

static void erase_to_home(struct line_edit *edit)
{
	erase(edit, 0, edit->at);
}

static void erase_to_end(struct line_edit *edit)
{
	erase(edit, edit->at, edit->text.len);
}

static void indent(struct line_edit *edit)
{
	insert(edit, TAB, strlen(TAB));
}

static void show_line(struct line_edit *edit, const char *text, size_t len)
{
	edit->text.len = 0;
	edit->at = 0;
	if (len)
		insert(edit, text, len);
}

static void go_back(struct line_edit *edit)
{
	const char *line = edit->history ? history_line(edit->history, edit->back + 1) : NULL;

	if (!line)
		return;
	if (edit->back++ == 0) {
		edit->kept.len = 0;
		(void)buf_append(&edit->kept, edit->text.bytes, edit->text.len);
	}
	show_line(edit, line, strlen(line));
}

static void go_forth(struct line_edit *edit)
{
	const char *line;

	if (edit->back == 0)
		return;
	line = history_line(edit->history, --edit->back);
	if (line)
		show_line(edit, line, strlen(line));
	else
		show_line(edit, edit->kept.bytes, edit->kept.len);
}

// clang-format off
static const struct {
	unsigned char byte;
	void (*change)(struct line_edit *edit); /* NULL: it is an event */
	enum line_event event;
} keys[] = {
	{ '\n',      NULL,          LINE_DONE },
	{ '\r',      NULL,          LINE_DONE },
	{ CTRL('C'), NULL,          LINE_DROPPED },
	{ CTRL('Z'), NULL,          LINE_STOPS },
	{ CTRL('L'), NULL,          LINE_CLEARS },
	{ CTRL('A'), go_home,       LINE_GOES_ON },
	{ CTRL('E'), go_end,        LINE_GOES_ON },
	{ CTRL('B'), go_left,       LINE_GOES_ON },
	{ CTRL('F'), go_right,      LINE_GOES_ON },
	{ CTRL('P'), go_back,       LINE_GOES_ON },
	{ CTRL('N'), go_forth,      LINE_GOES_ON },
	{ CTRL('H'), erase_left,    LINE_GOES_ON },
	{ DELETE,    erase_left,    LINE_GOES_ON },
	{ CTRL('D'), erase_here,    LINE_GOES_ON },
	{ CTRL('W'), erase_word,    LINE_GOES_ON },
	{ CTRL('U'), erase_to_home, LINE_GOES_ON },
	{ CTRL('K'), erase_to_end,  LINE_GOES_ON },
	{ '\t',      indent,        LINE_GOES_ON },
};

/* What keys send behind Escape, to terminals of the kinds that are common. */
static const struct {
	const char *bytes;
	void (*change)(struct line_edit *edit);
} sequences[] = {
	{ "[A",    go_back },       { "OA", go_back },
	{ "[B",    go_forth },      { "OB", go_forth },
	{ "[C",    go_right },      { "OC", go_right },
	{ "[D",    go_left },       { "OD", go_left },
	{ "[H",    go_home },       { "OH", go_home },  { "[1~", go_home }, { "[7~", go_home },
	{ "[F",    go_end },        { "OF", go_end },   { "[4~", go_end },  { "[8~", go_end },
	{ "[3~",   erase_here },
	{ "[1;5C", go_word_right }, { "[1;3C", go_word_right }, { "f", go_word_right },
	{ "[1;5D", go_word_left },  { "[1;3D", go_word_left },  { "b", go_word_left },
	{ "\x7f",  erase_word },
};
// clang-format on

/* ESC, then a byte; or ESC [ with parameters up to a byte from @ on; or ESC O and one more. */
static bool is_sequence_over(const char *bytes, size_t len, unsigned char last)
{
	if (last < ' ' || last == DELETE)
		return true;
	if (bytes[0] == '[')
		return len > 1 && last >= '@';
	return bytes[0] != 'O' || len > 1;
}

/* A longer sequence than any that is known ends as one that is not. */
static void take_escaped(struct line_edit *edit, unsigned char byte)
{
	size_t len = edit->escape_len; /* with the ESC itself */

	if (len < sizeof(edit->escape)) {
		edit->escape[len - 1] = (char)byte;
		edit->escape_len++;
	}
	if (!is_sequence_over(edit->escape, len, byte))
		return;
	for (size_t i = 0; i < COUNT_OF(sequences); i++)
		if (strlen(sequences[i].bytes) == len &&
			memcmp(sequences[i].bytes, edit->escape, len) == 0)
			sequences[i].change(edit);
	edit->escape_len = 0;
}

static enum line_event take_control(struct line_edit *edit, unsigned char byte)
{
	for (size_t i = 0; i < COUNT_OF(keys); i++) {
		if (keys[i].byte != byte)
			continue;
		if (keys[i].change)
			keys[i].change(edit);
		return keys[i].event;
	}
	return LINE_GOES_ON;
}

enum line_event line_edit_key(struct line_edit *edit, unsigned char byte)
{
	const char typed = (char)byte;

	if (byte == CTRL('D') && edit->text.len == 0)
		return LINE_ENDED;
	if (edit->escape_len > 0 && byte != CTRL('C')) {
		take_escaped(edit, byte);
		return LINE_GOES_ON;
	}
	if (byte == ESCAPE) {
		edit->escape_len = 1;
		return LINE_GOES_ON;
	}
	if (byte < ' ' || byte == DELETE)
		return take_control(edit, byte);
	insert(edit, &typed, 1);
	return LINE_GOES_ON;
}

/* ---- drawing -------------------------------------------------------------------------------- */

/* The columns of one character in its safe form. */
static size_t columns_of(const struct line_edit *edit, size_t from, size_t to)
{
	char bytes[64];
	struct buf shown;
	size_t columns = 0;

	buf_init(&shown, sizeof(bytes));
	if (safe_append(&shown, SAFE_LINE, edit->text.bytes + from, to - from) == 0)
		columns = safe_columns(shown.bytes, shown.len);
	buf_done(&shown);
	return columns;
}

/* The first byte that is shown, and how many columns are between it and the cursor. */
static size_t find_begin(const struct line_edit *edit, size_t room, size_t *ret_columns)
{
	size_t begin = edit->at;

	*ret_columns = 0;
	while (begin > 0) {
		size_t previous = before(edit, begin);
		size_t columns = columns_of(edit, previous, begin);

		if (*ret_columns + columns > room)
			break;
		*ret_columns += columns;
		begin = previous;
	}
	return begin;
}

static size_t find_end(const struct line_edit *edit, size_t room)
{
	size_t end = edit->at;

	while (end < edit->text.len) {
		size_t next = after(edit, end);
		size_t columns = columns_of(edit, end, next);

		if (columns > room)
			break;
		room -= columns;
		end = next;
	}
	return end;
}

int line_edit_draw(const struct line_edit *edit, const struct line_prompt *prompt, size_t columns,
	struct buf *frame)
{
	size_t taken = safe_columns(prompt->text, strlen(prompt->text));
	size_t room = columns > taken + 2 ? columns - taken - 1 : 1;
	size_t left;
	size_t begin = find_begin(edit, room, &left);
	size_t end = find_end(edit, room - left);

	if (buf_printf(frame, "\r%s%s%s", prompt->before, prompt->text, prompt->after) < 0)
		return -1;
	if (end > begin && safe_append(frame, SAFE_LINE, edit->text.bytes + begin, end - begin) < 0)
		return -1;
	return buf_printf(frame, "\033[K\r\033[%zuC", taken + left);
}
