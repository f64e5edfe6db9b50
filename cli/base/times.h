/*
 * Moments as people write and read them.
 *
 *   1h  30m  2d             so long ago
 *   now  today  yesterday   the last two are midnights of the local calendar
 *   10:30                   today
 *   2026-11-20              midnight, local time
 *   2026-11-20T10:30[:15]   local time; with Z or +02:00 behind it, that zone's
 *   @1700000000             seconds since 1970
 */
#pragma once

#include <stdint.h>

#include "proto/base/err.h"

#define TIMES_TEXT_MAX 40

/* Microseconds since 1970 of what `text` says at `now_us`. */
int times_parse(const char *text, int64_t now_us, int64_t *ret_us, struct err *err);

/* "2026-11-20 10:30:15", local time. */
void times_print(char ret_text[TIMES_TEXT_MAX], int64_t wall_us);

/* "2026-11-20 10:30:15.042 +0100", local time. */
void times_print_exact(char ret_text[TIMES_TEXT_MAX], int64_t wall_us);

/* "just now", "12 s ago", "3 min ago", "5 h ago"; past a day, the date. */
void times_print_ago(char ret_text[TIMES_TEXT_MAX], int64_t wall_us, int64_t now_us);
