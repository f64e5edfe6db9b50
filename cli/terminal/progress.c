#include "cli/terminal/progress.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/clock.h"

#define SILENT_MS 1000
#define CELLS     30
#define AGAIN_MS  100

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

void bar_update(struct bar *bar, double done, const char *note)
{
	int64_t now_ms = clock_ms();
	double part = done < 0 ? 0 : done > 1 ? 1 : done;
	size_t full = (size_t)(part * CELLS);

	if (!progress_can_erase(bar->out) || (bar->shown_ms && now_ms - bar->shown_ms < AGAIN_MS))
		return;
	say(bar->out, PAINT_PLAIN, "\r%s ", bar->what);
	output_repeat(bar->out, PAINT_CYAN, MARK_BAR, full);
	output_repeat(bar->out, PAINT_DIM, MARK_DOT, CELLS - full);
	say(bar->out, PAINT_PLAIN, " %3d %%  ", (int)(part * 100));
	say(bar->out, PAINT_DIM, "%s\033[K", note);
	(void)fflush(bar->out->file);
	bar->shown_ms = now_ms;
}

void bar_erase(struct bar *bar)
{
	if (!bar->shown_ms)
		return;
	say(bar->out, PAINT_PLAIN, "\r\033[K");
	(void)fflush(bar->out->file);
	bar->shown_ms = 0;
}
