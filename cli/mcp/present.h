/* How the daemon's results become answers: see struct tool. */
#pragma once

#include "cli/mcp/answer.h"
#include "proto/value.h"

#define PRESENT(name)        \
	void present_##name( \
		struct answer *answer, const struct value *params, const struct value *result)

PRESENT(run); /* also of wait and runs.get */
PRESENT(check);
PRESENT(cancel);
PRESENT(output);
PRESENT(explain);
PRESENT(runs);
PRESENT(runtimes);
PRESENT(session);
PRESENT(sessions);
PRESENT(rolled_back);
PRESENT(closed);
