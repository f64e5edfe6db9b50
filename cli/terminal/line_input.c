#include "cli/terminal/line_input.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "cli/base/interrupt.h"
#include "proto/base/fdio.h"

#define FRAME_BYTES ((size_t)1 << 16)
#define COLUMNS     80

bool line_input_can(const struct output *out)
{
	const char *term = getenv("TERM");

	return isatty(STDIN_FILENO) && out->terminal && term && term[0] &&
	       strcmp(term, "dumb") != 0;
}

void line_input_init(struct line_input *input, const struct output *out, const char *history)
{
	*input = (struct line_input){ .out = out };
	history_open(&input->history, history);
	line_edit_init(&input->edit, &input->history);
}

void line_input_done(struct line_input *input)
{
	line_edit_done(&input->edit);
	history_close(&input->history);
}

/* ---- the terminal --------------------------------------------------------------------------- */

/* Keys come one by one and unseen; Enter stays a newline, and what was typed ahead stays. */
static bool take_keys(struct termios *ret_before)
{
	struct termios keys;

	if (tcgetattr(STDIN_FILENO, ret_before) < 0)
		return false;
	keys = *ret_before;
	keys.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ISIG | IEXTEN);
	keys.c_iflag &= ~(tcflag_t)IXON;
	keys.c_cc[VMIN] = 1;
	keys.c_cc[VTIME] = 0;
	return tcsetattr(STDIN_FILENO, TCSADRAIN, &keys) == 0;
}

static void give_keys(const struct termios *before)
{
	(void)tcsetattr(STDIN_FILENO, TCSADRAIN, before);
}

static void put(const struct line_input *input, const char *bytes, size_t len)
{
	(void)fflush(input->out->file);
	(void)write_all(fileno(input->out->file), bytes, len, &(struct err)ERR_INIT);
}

static void draw(const struct line_input *input, const char *prompt)
{
	const bool coloured = input->out->colour;
	const struct line_prompt how = { prompt, coloured ? "\033[36m" : "",
		coloured ? "\033[0m" : "" };
	struct output now;
	struct buf frame;

	output_init(&now, input->out->file); /* the width may have changed */
	buf_init(&frame, FRAME_BYTES);
	if (line_edit_draw(&input->edit, &how, now.width ? now.width : COLUMNS, &frame) == 0)
		put(input, frame.bytes, frame.len);
	buf_done(&frame);
}

/* ---- keys ----------------------------------------------------------------------------------- */

/* More keys; false: the terminal has gone. */
static bool read_keys(struct line_input *input)
{
	ssize_t got = read(STDIN_FILENO, input->ahead + input->ahead_len,
		sizeof(input->ahead) - input->ahead_len);

	if (got < 0 && (errno == EINTR || errno == EAGAIN))
		return true;
	if (got <= 0)
		return false;
	input->ahead_len += (size_t)got;
	return true;
}

/* Keys up to the first that is an event; those behind it stay. */
static enum line_event take_ahead(struct line_input *input)
{
	enum line_event event = LINE_GOES_ON;
	size_t at = 0;

	while (at < input->ahead_len && event == LINE_GOES_ON)
		event = line_edit_key(&input->edit, (unsigned char)input->ahead[at++]);
	input->ahead_len -= at;
	memmove(input->ahead, input->ahead + at, input->ahead_len);
	return event;
}

enum wait {
	WAIT_KEYS,
	WAIT_OTHER,
	WAIT_SIGNAL
};

static enum wait wait_for_keys(int other)
{
	struct pollfd fds[] = { { .fd = STDIN_FILENO, .events = POLLIN },
		{ .fd = other, .events = POLLIN } };

	while (interrupt_poll(fds, 2, -1) <= 0)
		if (interrupt_noted())
			return WAIT_SIGNAL;
	return fds[0].revents ? WAIT_KEYS : WAIT_OTHER;
}

/* Ctrl-Z: the shell continues us. */
static void stop(const struct line_input *input, struct termios *before)
{
	put(input, "\n", 1);
	give_keys(before);
	(void)kill(0, SIGTSTP);
	(void)take_keys(before);
}

static enum line_event edit_line(
	struct line_input *input, const char *prompt, int other, struct termios *before)
{
	enum line_event event = take_ahead(input);

	while (event == LINE_GOES_ON || event == LINE_STOPS || event == LINE_CLEARS) {
		enum wait came;

		if (event == LINE_STOPS)
			stop(input, before);
		if (event == LINE_CLEARS)
			put(input, "\033[H\033[2J", 7);
		draw(input, prompt);
		came = input->ahead_len ? WAIT_KEYS : wait_for_keys(other);
		if (came == WAIT_OTHER)
			return LINE_GOES_ON;
		if (came == WAIT_SIGNAL || (!input->ahead_len && !read_keys(input)))
			return LINE_ENDED;
		event = take_ahead(input);
	}
	draw(input, prompt);
	return event;
}

/* The line is over: the cursor goes below it. */
static void finish(struct line_input *input, enum line_event event)
{
	input->is_begun = false;
	if (event == LINE_DONE)
		history_add(&input->history, input->edit.text.bytes, input->edit.text.len);
	if (event == LINE_DROPPED)
		put(input, "^C", 2);
	put(input, "\n", 1);
}

enum line_event line_input_read(struct line_input *input, const char *prompt, int other)
{
	struct termios before;
	enum line_event event;

	if (!input->is_begun)
		line_edit_begin(&input->edit);
	input->is_begun = true;
	interrupt_catch();
	if (!take_keys(&before)) {
		interrupt_release();
		return LINE_ENDED;
	}
	event = edit_line(input, prompt, other, &before);
	if (event != LINE_GOES_ON)
		finish(input, event);
	give_keys(&before);
	interrupt_release();
	return event;
}
