/*
 * ced-display TYPE [FILE]: displays a file, or stdin, as content of this media type.
 *
 * An error goes to stderr as JSON {code, message}.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "sandbox/runtimes/command/channel.h"

#define PROGRAM  "ced-display"
#define ITEM_MAX ((size_t)SLOTMSG_BODY_MAX) /* display_bytes is at most as much */

int main(int argc, char **argv)
{
	struct channel_message message = { .kind = JOB_DISPLAY };
	int fd = STDIN_FILENO;

	if (argc < 2 || argc > 3 || !strchr(argv[1], '/'))
		return channel_complain(PROGRAM, CHANNEL_USAGE,
			"it is called as ced-display TYPE [FILE]: ced-display image/png plot.png");
	if (argc == 3 && strcmp(argv[2], "-") != 0)
		fd = open(argv[2], O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return channel_complain(PROGRAM, CHANNEL_USAGE, strerror(errno));
	if (channel_write(&message, argv[1], NULL, fd, ITEM_MAX) < 0)
		return channel_complain(PROGRAM, CHANNEL_USAGE, "it is too long");
	return channel_ask(PROGRAM, &message);
}
