/* How much of a run's calls a record may keep, such that it can be read whole, exported and replayed. */
#pragma once

#include <stdint.h>

#include "proto/value.h"

#define CALL_DEPTH_MAX \
	56 /* of arguments and results; an answer with records nests them by six more */
#define CALL_ROOM_MAX (UINT64_C(64) << 20) /* of all calls of a run */

/* The most memory that a reader needs for a stored text of JSON: for its bytes twice, and its values. */
uint64_t call_room_of(struct bytes text);
