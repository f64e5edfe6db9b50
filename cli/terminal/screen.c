#include "cli/terminal/screen.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "cli/base/safe.h"
#include "proto/base/buf.h"
#include "proto/base/container.h"
#include "proto/base/fdio.h"

#define FRAME_MAX ((size_t)4 << 20)
#define ROWS      24
#define COLUMNS   80

/* Other screen, no cursor, no line wrap; and back. */
#define TAKE "\033[?1049h\033[?25l\033[?7l\033[2J"
#define GIVE "\033[?7h\033[?25h\033[?1049l"

static const int deadly[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };

/* Also used by the handlers of signals. */
static struct {
	volatile sig_atomic_t taken;
	struct termios before;
	struct termios drawing;
} terminal;

/* Calls only async-signal-safe functions. */
static void take(void)
{
	(void)tcsetattr(STDIN_FILENO, TCSADRAIN, &terminal.drawing);
	(void)!write(STDOUT_FILENO, TAKE, sizeof(TAKE) - 1);
	terminal.taken = 1;
}

static void give(void)
{
	if (!terminal.taken)
		return;
	terminal.taken = 0;
	(void)!write(STDOUT_FILENO, GIVE, sizeof(GIVE) - 1);
	(void)tcsetattr(STDIN_FILENO, TCSADRAIN, &terminal.before);
}

static void on_deadly(int number)
{
	give();
	(void)signal(number, SIG_DFL);
	(void)kill(getpid(), number);
}

static void handle(int number, void (*handler)(int))
{
	struct sigaction action = { .sa_handler = handler };

	(void)sigemptyset(&action.sa_mask);
	(void)sigaction(number, &action, NULL);
}

/* Stops here.  The kernel ignores the signal when no shell could continue us. */
static void on_stop(int number)
{
	int kept = errno;
	sigset_t stop;

	give();
	(void)signal(number, SIG_DFL);
	(void)kill(getpid(), number);
	(void)sigemptyset(&stop);
	(void)sigaddset(&stop, number);
	(void)sigprocmask(SIG_UNBLOCK, &stop, NULL);
	handle(number, on_stop);
	take();
	errno = kept;
}

/* It only has to end what waits. */
static void on_resize(int number)
{
	(void)number;
}

static void listen_to_signals(void)
{
	for (size_t i = 0; i < COUNT_OF(deadly); i++)
		handle(deadly[i], on_deadly);
	handle(SIGTSTP, on_stop);
	handle(SIGWINCH, on_resize);
}

static void let_signals_be(void)
{
	for (size_t i = 0; i < COUNT_OF(deadly); i++)
		(void)signal(deadly[i], SIG_DFL);
	(void)signal(SIGTSTP, SIG_DFL);
	(void)signal(SIGWINCH, SIG_DFL);
}

int screen_open(struct err *err)
{
	const char *term = getenv("TERM");

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return err_set(err, ERR_UNSUPPORTED, "this needs a terminal");
	if (!term || !term[0] || strcmp(term, "dumb") == 0)
		return err_set(err, ERR_UNSUPPORTED, "this terminal cannot be drawn on (TERM)");
	if (tcgetattr(STDIN_FILENO, &terminal.before) < 0)
		return err_sys(err, "the terminal");
	terminal.drawing = terminal.before;
	terminal.drawing.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	terminal.drawing.c_cc[VMIN] = 0;
	terminal.drawing.c_cc[VTIME] = 0;
	listen_to_signals();
	take();
	return 0;
}

void screen_close(void)
{
	bool was_taken = terminal.taken;

	give();
	if (was_taken)
		let_signals_be();
}

struct screen_size screen_get_size(void)
{
	struct winsize size = { 0 };

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 || !size.ws_col || !size.ws_row)
		return (struct screen_size){ COLUMNS, ROWS };
	return (struct screen_size){ size.ws_col, size.ws_row };
}

/* The length of the colour that begins here. */
static size_t colour_len(const char *text, size_t len)
{
	const char *end = memchr(text, 'm', len);

	return end ? (size_t)(end - text) + 1 : len;
}

/* How much of a line fits, in bytes: colours take no room. */
static size_t line_fit(const char *text, size_t len, size_t columns)
{
	size_t at = 0;

	while (at < len) {
		const char *colour = memchr(text + at, '\033', len - at);
		size_t plain = colour ? (size_t)(colour - text) - at : len - at;
		size_t fitting = safe_fit(text + at, plain, columns);

		if (fitting < plain)
			return at + fitting;
		columns -= safe_columns(text + at, plain);
		at += plain;
		if (colour)
			at += colour_len(colour, len - at);
	}
	return len;
}

/* From the top left.  Clears the rest of each line, and the lines below. */
static int compose(struct buf *frame, const char *text, size_t len)
{
	const struct screen_size size = screen_get_size();

	if (buf_append_text(frame, "\033[H") < 0)
		return -1;
	for (size_t row = 0; row < size.rows && len > 0; row++) {
		const char *end = memchr(text, '\n', len);
		size_t line = end ? (size_t)(end - text) : len;

		if ((row && buf_append_text(frame, "\r\n") < 0) ||
			buf_append(frame, text, line_fit(text, line, size.columns)) < 0 ||
			buf_append_text(frame, "\033[0m\033[K") < 0)
			return -1;
		line += end ? 1 : 0;
		text += line;
		len -= line;
	}
	return buf_append_text(frame, "\033[J");
}

int screen_draw(const char *text, size_t len, struct err *err)
{
	struct buf frame;
	int status = -1;

	buf_init(&frame, FRAME_MAX);
	if (compose(&frame, text, len) < 0)
		(void)err_set(err, ERR_MEMORY, "no memory to draw");
	else
		status = write_all(STDOUT_FILENO, frame.bytes, frame.len, err);
	buf_done(&frame);
	return status;
}

int screen_wait(int64_t wait_ms)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	unsigned char key = 0;
	ssize_t got;

	if (poll(&input, 1, (int)wait_ms) <= 0)
		return 0;
	got = read(STDIN_FILENO, &key, 1);
	if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN))
		return -1;
	return got < 0 ? 0 : key;
}
