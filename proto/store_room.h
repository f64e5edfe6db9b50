/*
 * The disk space that the store needs.  The store enforces these numbers, and other code reports
 * them.
 */
#pragma once

#include <stdint.h>

#define STORE_ROOM_LOG     ((int64_t)8 << 20)  /* the write-ahead log, allocated at the start */
#define STORE_ROOM_RESERVE ((int64_t)4 << 20)  /* ced.reserve */
#define STORE_ROOM_LEAST   ((int64_t)1 << 20)  /* the daemon refuses runs when less is free */
#define STORE_ROOM_NEAR    ((int64_t)64 << 20) /* below this the disk is reported as nearly full */
#define STORE_ROOM_NEW     (STORE_ROOM_LOG + STORE_ROOM_RESERVE + STORE_ROOM_LEAST)
