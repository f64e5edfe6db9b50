#include "cli/terminal/bar.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/clock.h"

#define CELLS    30
#define AGAIN_MS 100

static bool can_erase(const struct output *out)
{
	const char *term = getenv("TERM");

	return out->terminal && term && strcmp(term, "dumb") != 0;
}

void bar_update(struct bar *bar, double done, const char *note)
{
	int64_t now_ms = clock_ms();
	double part = done < 0 ? 0 : done > 1 ? 1 : done;
	size_t full = (size_t)(part * CELLS);

	if (!can_erase(bar->out) || (bar->shown_ms && now_ms - bar->shown_ms < AGAIN_MS))
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
