/*
 * What the store needs of its disk, for those that look after it and those that tell of it.
 */
#pragma once

#include <stdint.h>

#define STORE_ROOM_LOG     ((int64_t)8 << 20) /* the write-ahead log, written out at the start */
#define STORE_ROOM_RESERVE ((int64_t)4 << 20) /* ced.reserve */
#define STORE_ROOM_LEAST   ((int64_t)1 << 20) /* runs are refused when less is free */
#define STORE_ROOM_NEAR    ((int64_t)64 << 20) /* below this it is told that the disk is nearly full */
#define STORE_ROOM_NEW     (STORE_ROOM_LOG + STORE_ROOM_RESERVE + STORE_ROOM_LEAST)
