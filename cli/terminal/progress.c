#include "cli/terminal/progress.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SILENT_MS 1000

bool progress_can_erase(const struct output *out)
{
	const char *term = getenv("TERM");

	return out->terminal && term && strcmp(term, "dumb") != 0;
}

void progress_update(struct progress *progress, int64_t elapsed_ms)
{
	if (elapsed_ms < SILENT_MS || !progress_can_erase(progress->out))
		return;
	say(progress->out, PAINT_PLAIN, "\r");
	say(progress->out, PAINT_DIM, "%s for %" PRId64 " s  (Ctrl-C %s)", progress->what,
		elapsed_ms / 1000, progress->ctrl_c);
	(void)fflush(progress->out->file);
	progress->shown = true;
}

void progress_erase(struct progress *progress)
{
	if (!progress->shown)
		return;
	say(progress->out, PAINT_PLAIN, "\r\033[K");
	(void)fflush(progress->out->file);
	progress->shown = false;
}
