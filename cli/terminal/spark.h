/*
 * A line of little bars, one for each number: how something went over time.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "cli/terminal/output.h"

/*
 * As many columns as there are numbers, in the arena; "" when there is no memory.  The highest
 * number is the highest bar; 0 and less are a blank; any number above 0 is visible.
 */
const char *spark_text(
	struct arena *arena, const struct output *out, const int64_t *numbers, size_t count);

/*
 * Joins neighbours, 2 of them, 4, 8 and so on, until no more than `room` numbers are left: into
 * their sum, or into the highest.  Sets *count to how many are left; returns how many became one.
 */
size_t spark_join(int64_t *numbers, size_t *count, size_t room, bool adds);
