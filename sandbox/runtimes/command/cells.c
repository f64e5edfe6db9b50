/*
 * Cells of a session of bash: a library that is loaded before the C library, into that one process.
 *
 * Bash reads its commands from a script, one line at a time, and asks for the next line when the one
 * before it is done.  Here the script is nothing but this library.  When bash asks, the cell is over:
 * the library tells its exit status, waits for the next cell, and answers with a line that sources a
 * file.  That file exists only in memory: bash opens it by its name and reads the cell.  So a cell with
 * an open quote ends where the cell ends, and nothing of ours is among the variables and functions of
 * the program.
 *
 * The program can control this process.  What it can do to the library it does to its own session.
 * Its children have the library too, as memory that was copied, but not the cells: only the process
 * that was started with the session gets them.  Programs that it executes do not load it.
 */
#undef _FORTIFY_SOURCE /* its headers define inline functions of the same names */
#include "sandbox/runtimes/command/cells.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "proto/base/buf.h"
#include "sandbox/child_exit.h"
#include "sandbox/jail_env.h"
#include "sandbox/runtimes/command/channel.h"
#include "sandbox/worker/branch.h"
#include "sandbox/worker/joblink.h"
#include "sandbox/worker/program.h"

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): the C library's are not for readers */

#define OURS           __attribute__((visibility("default")))
#define PATH_BYTES     512
#define EXIT_TRAP      0 /* bash's numbers for its own traps; that of ERR is between the last two */
#define DEBUG_TRAP     NSIG
#define RETURN_TRAP    (NSIG + 2)
#define LINE_BYTES_MAX ((size_t)16 << 20) /* arguments of a cell, each of their bytes quoted */

/* Bash exports these for the builtins that it loads. */
extern int last_command_exit_value __attribute__((weak)); /* $? */
extern pid_t dollar_dollar_pid __attribute__((weak));     /* $$ */
extern char *dollar_vars[] __attribute__((weak));         /* $0 and on; bash frees them */
/* It has come to the end of its script. */
extern int EOF_Reached __attribute__((weak));       /* NOLINT(readability-identifier-naming) */
extern int running_trap __attribute__((weak));      /* 0: none */
extern int loop_level __attribute__((weak));        /* in how many loops it is */
extern int indirection_level __attribute__((weak)); /* how many signs `set -x` prints */
int reader_loop(void) __attribute__((weak));        /* reads commands and executes them */
/* Leaves all functions and files that it is in. */
void run_unwind_protects(void) __attribute__((weak));
/* Traps by their signals: NULL, text, or 1 if the signal is ignored.  Setting one copies the text. */
extern char *trap_list[] __attribute__((weak));
void set_signal(int signal, const char *command) __attribute__((weak));
void restore_default_signal(int signal) __attribute__((weak)); /* takes the trap away */
void run_trap_cleanup(int signal) __attribute__((weak));       /* the trap does not run any more */
void exit_shell(int status) __attribute__((weak, noreturn));

static struct {
	pid_t head; /* the process that runs cells; 0: this is not bash in a session */
	int sock;   /* the job socket */
	int script; /* bash reads its commands from here; -1: it has not asked yet */
	int file;   /* bash reads the cell's text from here; -1: it does not */
	bool is_opened, is_running, is_first;
	bool has_channels;      /* at CHANNEL_FD_SESSION */
	bool is_new;            /* since bash wanted to exit, a cell has begun */
	struct joblink_job job; /* its body has all of the cell */
	struct program program;
	size_t file_at;
	struct buf line;
	char path[PATH_BYTES]; /* of the cell */
	char *debug_trap;      /* to be set when bash reads the cell */
} cells = { .script = -1, .file = -1 };

/* Exits without a message: the daemon is gone, or has sent a malformed one. */
__attribute__((noreturn)) static void leave(void)
{
	child_exit(1);
}

static bool is_head(void)
{
	return cells.head && getpid() == cells.head;
}

static void tell(enum job_kind kind, int32_t exit_code)
{
	if (joblink_tell(cells.sock, kind, exit_code, NULL, 0, NULL) < 0)
		leave();
}

/* ---- taking a cell -------------------------------------------------------------------------- */

/* What a cell has closed would be the number of a descriptor that comes with the next. */
static void fill_closed(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= STDERR_FILENO);
	close(fd);
}

static void replace_fd(int fd, int number)
{
	if (dup2(fd, number) < 0)
		leave();
	close(fd);
}

/* Without stdin a cell reads /dev/null, and not what was left of the last cell's. */
static int take_stdin(int fd, struct err *err)
{
	if (fd >= 0)
		return program_stdin(fd, -1, JAIL_TMP_DIR, err);
	fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (fd < 0)
		leave();
	replace_fd(fd, STDIN_FILENO);
	return 0;
}

/*
 * Where programs that the cell starts call tools and display.  The socket is the cell's own; `at` is
 * how many descriptors came for its streams.
 */
static void take_channels(size_t at)
{
	if (!cells.program.tools.len && !(cells.program.flags & JOB_FLAG_DISPLAY))
		return;
	at += cells.program.has_stdin;
	if (dup2(cells.job.fds[at], CHANNEL_FD_SESSION) < 0)
		joblink_fail(cells.sock,
			"cells of bash that call tools or display need the limit open_files to be "
			"200 or more");
	close(cells.job.fds[at]);
	cells.has_channels = true;
}

static void leave_channels(void)
{
	if (cells.has_channels)
		close(CHANNEL_FD_SESSION);
	cells.has_channels = false;
}

static void parse(void)
{
	if (program_parse(cells.job.body, cells.job.len, &cells.program, NULL) < 0)
		leave();
}

/* The child goes on here, too, when it becomes the worker. */
static void keep_state(void)
{
	enum kept_why why = KEPT_WELL;

	if (!branch(cells.sock, &cells.job, &why)) {
		tell(JOB_AGREED, (int32_t)why);
		return;
	}
	cells.head = getpid();
	if (&dollar_dollar_pid)
		dollar_dollar_pid = cells.head;
}

/* What the cell brings has no room, or an earlier cell has left something in its way. */
static void refuse(const char *why)
{
	leave_channels();
	if (joblink_refuse_cell(cells.sock, cells.program.turn, why, NULL) < 0)
		leave();
}

/* False: the cell is refused, and another will come. */
static bool take_next(void)
{
	struct err err = ERR_INIT;
	int kind;

	fill_closed();
	while ((kind = joblink_wait_next(cells.sock, &cells.job, &err)) == JOB_KEEP)
		keep_state();
	if (kind != JOB_CELL)
		leave();
	parse();
	replace_fd(cells.job.fds[0], STDOUT_FILENO);
	replace_fd(cells.job.fds[1], STDERR_FILENO);
	take_channels(2);
	/* The program may stand in another folder now. */
	if (take_stdin(cells.program.has_stdin ? cells.job.fds[2] : -1, &err) < 0 ||
		program_write_files(&cells.program, JAIL_WORK_DIR, &err) < 0) {
		refuse(err.text);
		return false;
	}
	return true;
}

/* ---- the line that bash reads --------------------------------------------------------------- */

static void append_quoted(struct buf *line, struct span text)
{
	(void)buf_append_text(line, " '");
	for (size_t i = 0; i < text.len; i++) {
		if (text.bytes[i] == '\'')
			(void)buf_append_text(line, "'\\'");
		(void)buf_append_byte(line, (uint8_t)text.bytes[i]);
	}
	(void)buf_append_byte(line, '\'');
}

/* The backslash keeps an alias away. */
static void write_line(void)
{
	struct span rest = cells.program.args;
	const struct span name = cells.program.entrypoint;
	struct span text;

	cut_printf(
		cells.path, sizeof(cells.path), JAIL_WORK_DIR "/%.*s", (int)name.len, name.bytes);
	buf_init(&cells.line, LINE_BYTES_MAX);
	(void)buf_printf(&cells.line, "\\. %s", cells.path);
	while (program_next_text(&rest, &text))
		append_quoted(&cells.line, text);
	if (buf_append_byte(&cells.line, '\n') < 0)
		joblink_fail(cells.sock, "there is no memory for the arguments of a cell");
}

/* A script asks whether it is the program by comparing its name with $0. */
static void name_program(void)
{
	char *name;

	if (!&dollar_vars)
		return;
	name = strdup(cells.path);
	if (!name)
		joblink_fail(cells.sock, "there is no memory for the name of a cell");
	free(dollar_vars[0]);
	dollar_vars[0] = name;
}

/*
 * The trap of DEBUG is there for the cell's commands, and not for our line, which is not the program's.
 * Bash would do the reverse: what is sourced has no trap of DEBUG unless `set -T` is on, and the one that was
 * there comes back at its end, even if the cell has taken it away.
 */
static void take_debug_trap(void)
{
	if (!set_signal || !restore_default_signal || !&trap_list ||
		(uintptr_t)trap_list[DEBUG_TRAP] <= 1)
		return;
	free(cells.debug_trap);
	cells.debug_trap = strdup(trap_list[DEBUG_TRAP]);
	if (!cells.debug_trap)
		joblink_fail(cells.sock, "there is no memory for a trap");
	restore_default_signal(DEBUG_TRAP);
}

static void give_debug_trap(void)
{
	if (cells.debug_trap)
		set_signal(DEBUG_TRAP, cells.debug_trap);
	free(cells.debug_trap);
	cells.debug_trap = NULL;
}

/* Bash asks for its next command: what it had is done. */
static void begin_next(void)
{
	if (cells.is_running) {
		leave_channels();
		tell(JOB_DONE, JOB_TURN_DONE(cells.program.turn, last_command_exit_value));
	}
	buf_done(&cells.line);
	cells.file_at = 0;
	while (!cells.is_first && !take_next())
		;
	cells.is_first = false;
	write_line();
	name_program();
	take_debug_trap();
	tell(JOB_BEGUN, 0);
	cells.is_running = true;
	cells.is_new = true;
}

static ssize_t read_script(char *bytes, size_t count)
{
	if (!is_head())
		return 0;
	if (cells.line.len == 0)
		begin_next();
	if (count > cells.line.len)
		count = cells.line.len;
	memcpy(bytes, cells.line.bytes, count);
	buf_consume(&cells.line, count);
	return (ssize_t)count;
}

static ssize_t read_file(char *bytes, size_t count)
{
	const struct span code = cells.program.code;
	size_t left = code.len - cells.file_at;

	if (count > left)
		count = left;
	memcpy(bytes, code.bytes + cells.file_at, count);
	cells.file_at += count;
	if (left == 0)
		cells.file = -1; /* bash closes it */
	return (ssize_t)count;
}

/* ---- what bash calls ------------------------------------------------------------------------ */

/* Bash moves its script to a high descriptor, and reads single bytes from there. */
static bool is_script(int fd, size_t count)
{
	if (cells.script < 0 && cells.is_opened && count == 1 && fd > STDERR_FILENO && is_head())
		cells.script = fd;
	return fd == cells.script;
}

OURS ssize_t read(int fd, void *bytes, size_t count)
{
	if (cells.head && fd >= 0 && count > 0) {
		if (fd == cells.file && is_head())
			return read_file(bytes, count);
		if (is_script(fd, count))
			return read_script(bytes, count);
	}
	return syscall(SYS_read, fd, bytes, count);
}

static int open_next(const char *path, int flags, mode_t mode)
{
	static int (*next)(const char *path, int flags, ...);

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "open");
	return next(path, flags, mode);
}

/* The first name that bash opens is that of its script. */
static bool is_opening_script(const char *path)
{
	if (cells.is_opened || strcmp(path, CELLS_SCRIPT) != 0)
		return false;
	cells.is_opened = true;
	return true;
}

static bool is_opening_cell(const char *path)
{
	return cells.is_running && cells.file_at == 0 && strcmp(path, cells.path) == 0 && is_head();
}

OURS int open(const char *path, int flags, ...)
{
	mode_t mode = 0;
	va_list arguments;

	va_start(arguments, flags);
	if ((flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE)
		mode = va_arg(arguments, mode_t);
	va_end(arguments);
	if (!cells.head)
		return open_next(path, flags, mode);
	if (is_opening_script(path))
		return open_next("/dev/null", O_RDONLY | O_CLOEXEC, 0);
	if (!is_opening_cell(path))
		return open_next(path, flags, mode);
	cells.file = open_next("/dev/null", O_RDONLY | O_CLOEXEC, 0);
	give_debug_trap();
	return cells.file;
}

static bool ends_cell_only(void)
{
	return is_head() && cells.is_new && &EOF_Reached && &loop_level && &indirection_level &&
	       reader_loop && run_unwind_protects && run_trap_cleanup && set_signal && &trap_list &&
	       exit_shell;
}

/* Bash takes the trap of EXIT for one that runs and is used up, so the next `exit` would not run it. */
static void set_exit_trap(void)
{
	const char *command = trap_list[EXIT_TRAP];

	run_trap_cleanup(EXIT_TRAP);
	if ((uintptr_t)command > 1)
		set_signal(EXIT_TRAP, command);
}

/* A trap that has exited still runs, for bash, and would not run again. */
static void leave_traps(void)
{
	for (int trap = DEBUG_TRAP; trap <= RETURN_TRAP; trap++)
		run_trap_cleanup(trap);
	if (&running_trap)
		running_trap = 0;
}

/*
 * Bash has run the trap of EXIT, and would end now.  It returns to nothing that is on its stack, so it
 * can as well go on from here.
 */
__attribute__((noreturn)) static void go_on(int status)
{
	cells.is_new = false;
	run_unwind_protects();
	set_exit_trap();
	leave_traps();
	loop_level = 0;
	indirection_level = 0;
	EOF_Reached = 0;
	last_command_exit_value = status;
	(void)reader_loop();
	exit_shell(last_command_exit_value);
}

/* `exit`, or set -e: it ends its cell. */
OURS void exit(int status)
{
	void (*next)(int status);

	if (ends_cell_only())
		go_on(status);
	*(void **)&next = dlsym(RTLD_NEXT, "exit");
	next(status);
	leave();
}

/* ---- the first cell ------------------------------------------------------------------------- */

/* The value of an entry of the environment, or NULL if it has another name. */
static const char *value_of(const char *entry, const char *name)
{
	size_t len = strlen(name);

	return strncmp(entry, name, len) == 0 && entry[len] == '=' ? entry + len + 1 : NULL;
}

/* Bash has functions of its own for the environment, which are not ready here. */
static const char *take_env(const char *name)
{
	const char *value = NULL;
	char **kept = environ;

	for (char **entry = environ; *entry; entry++) {
		const char *found = value_of(*entry, name);

		if (found)
			value = found;
		else
			*kept++ = *entry;
	}
	*kept = NULL;
	return value;
}

static size_t count_env(void)
{
	size_t count = 0;

	while (environ[count])
		count++;
	return count;
}

/* The last entry of a name counts: bash reads them in their order. */
static void set_env(void)
{
	size_t count = count_env();
	char **both = calloc(count + cells.program.env_count + 1, sizeof(*both));
	struct span rest = cells.program.env;
	struct span text;

	if (!both)
		leave();
	memcpy(both, environ, count * sizeof(*both));
	while (program_next_text(&rest, &text)) {
		both[count] = strndup(text.bytes, text.len);
		if (!both[count++])
			leave();
	}
	environ = both;
}

static void take_first(void)
{
	struct err err = ERR_INIT;

	if (joblink_wait(cells.sock, &cells.job, &err) < 0)
		leave();
	parse();
	set_env();
	if (program_write(&cells.program, AT_FDCWD, -1, &err) < 0)
		joblink_fail(cells.sock, err.text);
	if (cells.program.has_stdin && take_stdin(cells.job.fds[0], &err) < 0)
		joblink_fail(cells.sock, err.text);
	take_channels(0);
	cells.is_first = true;
}

__attribute__((constructor)) static void begin_with_bash(void)
{
	const char *fd = take_env(CELLS_ENV);

	if (!fd)
		return;
	cells.sock = (int)strtol(fd, NULL, 10);
	(void)take_env("LD_PRELOAD");
	if (fcntl(cells.sock, F_SETFD, FD_CLOEXEC) < 0)
		leave();
	if (!&last_command_exit_value)
		joblink_fail(cells.sock, "this bash does not tell the exit status of a cell");
	branch_init();
	take_first();
	cells.head = getpid();
}

/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */
