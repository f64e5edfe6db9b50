/*
 * Gaps in the heap of a zygote: memory that its start has used and given back.
 *
 * A worker that allocates into a gap copies the page, which it shares with its zygote.  Gaps are
 * everywhere, so each program would copy other pages.  The zygote takes them all, for ever: a worker
 * then allocates from new memory, whose first pages every program uses.
 */
#pragma once

/* `hexversion`: of the interpreter.  Takes at most some MiB, whatever the heap looks like. */
void gaps_fill(long hexversion);
