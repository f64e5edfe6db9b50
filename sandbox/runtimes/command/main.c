/*
 * ced-zygote: the zygote of command runtimes (bash, perl ...), which has no interpreter in it.
 *
 * It makes the tree that jobs will see, asks the interpreter for its version, and then makes slots
 * and workers like every zygote.  A worker becomes the interpreter, before its job comes if it can
 * (ahead.h), or when it comes (run_program.c).
 *
 * argv[0] is the interpreter as configured; jail_env.h has the rest.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sandbox/child_exit.h"
#include "sandbox/filter/syscalls_runtime.h"
#include "sandbox/jail_env.h"
#include "sandbox/runtimes/command/ahead.h"
#include "sandbox/runtimes/command/needs.h"
#include "sandbox/runtimes/command/orders.h"
#include "sandbox/runtimes/command/run_program.h"
#include "sandbox/runtimes/command/tree.h"
#include "sandbox/zygote/zygote.h"

#define VERSION_MAX 64

static struct zygote zygote;
static struct orders orders;
static bool can_ahead; /* the interpreter can be started before its job comes */

__attribute__((noreturn)) static void fail(const struct err *err)
{
	(void)dprintf(STDERR_FILENO, "<3>ced-zygote zygote.failed error=\"%s\"\n", err->text);
	child_exit(1);
}

/* The first number with a dot: "5.2.15" of "GNU bash, version 5.2.15(1)-release". */
static size_t find_number(const char *text, const char **ret_number)
{
	for (; *text; text++) {
		size_t len = isdigit((unsigned char)*text) ? strspn(text, "0123456789.") : 0;

		while (len > 0 && text[len - 1] == '.')
			len--;
		*ret_number = text;
		if (len > 0 && memchr(text, '.', len))
			return len;
		text += len > 0 ? len - 1 : 0;
	}
	return 0;
}

/* The name and version, such as "bash 5.2.15". */
static void ask_version(const char *interpreter, char ret_version[VERSION_MAX])
{
	const char *const argv[] = { interpreter, "--version", NULL };
	const char *slash = strrchr(interpreter, '/');
	const char *number = "";
	static char text[4096];
	size_t len;

	if (needs_run(argv, text, sizeof(text), NULL) != 0)
		text[0] = '\0';
	len = find_number(text, &number);
	cut_printf(ret_version, VERSION_MAX, "%s%s%.*s", slash ? slash + 1 : interpreter,
		len ? " " : "", (int)len, number);
}

#define ADDON TREE_AHEAD_DIR "/" NODE_LIBRARY

/*
 * The interpreter becomes the zygote itself: node/ced_node.c.  Each worker starts its engine's threads
 * anew, so it has one.  Eight seconds after its start, V8 looks for memory to give back.  That timer of the
 * zygote would be due in every worker, and each would collect everything in the middle of its run.  So V8
 * must not set it.  No worker has it either, since V8 decides that when it makes its heap.  A program that
 * waits then keeps its garbage: within its memory_bytes, and until it allocates more or ends.
 */
__attribute__((noreturn)) static void start_ahead(const char *interpreter)
{
	static char script[256];
	union {
		const char *in[ORDERS_ARGS_MAX + 5];
		char *out[ORDERS_ARGS_MAX + 5];
	} argv = { .in = { interpreter } };
	size_t count = 1;
	struct err err = ERR_INIT;

	for (size_t i = 0; orders.args[i]; i++)
		argv.in[count++] = orders.args[i];
	argv.in[count++] = "--v8-pool-size=1";
	argv.in[count++] = "--no-memory-reducer";
	cut_printf(script, sizeof(script), TREE_AHEAD_DIR "/%s", orders.ahead[0]);
	argv.in[count++] = script;
	argv.in[count] = NULL;
	if (setenv("LD_PRELOAD", ADDON, 1) == 0)
		(void)execv(interpreter, argv.out);
	(void)err_sys(&err, "%s", interpreter);
	fail(&err);
}

__attribute__((noreturn)) static void be_worker(const char *interpreter)
{
	union {
		char **in;
		const char *const *out;
	} env = { environ };
	const struct command command = { interpreter, orders.args, env.out, NULL };

	if (can_ahead)
		ahead_start(&command);

	run_program(&command);
}

int main(int argc, char **argv)
{
	const char *interpreter = argc > 0 ? argv[0] : "";
	const char *words = getenv(JAIL_ENV_PRELOAD);
	char *text = strdup(words ? words : "");
	char version[VERSION_MAX];
	struct err err = ERR_INIT;
	int result;

	if (!text || orders_read(text, &orders, &err) < 0)
		fail(&err);
	if (tree_pick(&orders, interpreter, &err) < 0)
		fail(&err);
	if (orders.ahead[0])
		start_ahead(interpreter);
	if (zygote_init(&zygote, &err) < 0)
		fail(&err);
	ask_version(interpreter, version);
	can_ahead = ahead_is_possible(interpreter);
	zygote.calls = &SYSCALLS_COMMAND;
	result = zygote_serve(&zygote, version, &err);
	if (result < 0)
		fail(&err);
	if (result > 0)
		be_worker(interpreter);
	return 0;
}
