/*
 * A line of little bars, one for each number: how something went over time.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "cli/output.h"

/*
 * As many columns as there are numbers, in the arena; "" when there is no memory.  The highest number
 * is the highest bar, 0 and less are a blank, and what is above 0 shows.
 */
const char *spark_text(
	struct arena *arena, const struct output *out, const int64_t *numbers, size_t count);
