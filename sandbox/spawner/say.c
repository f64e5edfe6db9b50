#include "sandbox/spawner/say.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "proto/base/at_once.h"
#include "proto/base/err.h"

#define LINE_LEN_MAX 1024

void say(int level, const char *event, const char *text)
{
	char line[LINE_LEN_MAX];
	/* Only a journal reads the level, so a terminal does not get it. */
	const char *from = isatty(STDERR_FILENO) ? line + strlen("<6>") : line;
	size_t head;

	cut_printf(line, sizeof(line), "<%d>ced-spawner %s text=\"", level, event);
	head = strlen(line);
	cut_printf(line + head, sizeof(line) - head - 2, "%s", text);
	for (char *at = line + head; *at; at++)
		if (*at < ' ' || *at == '"' || *at == '\\' || *at == 0x7f)
			*at = '?';
	memcpy(line + strlen(line), "\"\n", 3);
	(void)write_at_once(STDERR_FILENO, from, strlen(from));
}
