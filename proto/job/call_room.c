#include "proto/job/call_room.h"

#include <stdbool.h>

#define ROOM_OF_VALUE 64 /* with its place in a list or in a map */

/* Before each value but the first stands one of these, outside of texts. */
static bool is_mark(char byte)
{
	return byte == ',' || byte == ':' || byte == '[';
}

uint64_t call_room_of(struct bytes text)
{
	uint64_t values = 1;
	bool is_inside = false;

	for (size_t i = 0; i < text.len; i++) {
		if (text.data[i] == '"')
			is_inside = !is_inside;
		else if (text.data[i] == '\\' && is_inside)
			i++;
		else
			values += !is_inside && is_mark(text.data[i]);
	}
	return 2 * (uint64_t)text.len + values * ROOM_OF_VALUE;
}
