/*
 * ced-call NAME [JSON | -]: calls a tool of the client that started the run, from a shell.
 *
 * The arguments are a JSON document on the command line, or on stdin (-), or {}.  The result goes to
 * stdout, as JSON.  An error goes to stderr as JSON {code, message, data?}.
 */
#include <string.h>
#include <unistd.h>

#include "sandbox/runtimes/command/channel.h"

#define PROGRAM  "ced-call"
#define ARGS_MAX ((size_t)8 << 20)

int main(int argc, char **argv)
{
	struct channel_message message = { .kind = JOB_CALL };
	const char *args = argc > 2 ? argv[2] : "{}";

	if (argc < 2 || argc > 3)
		return channel_complain(
			PROGRAM, CHANNEL_USAGE, "it is called as ced-call NAME [JSON | -]");
	if (channel_write(&message, argv[1], strcmp(args, "-") == 0 ? NULL : args, STDIN_FILENO,
		    ARGS_MAX) < 0)
		return channel_complain(PROGRAM, CHANNEL_USAGE, "the arguments are too long");
	return channel_ask(PROGRAM, &message);
}
