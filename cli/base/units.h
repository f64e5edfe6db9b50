/* Sizes and lengths of time as people write and read them: 64M, 2s, 1.5 KiB, 340 us. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "proto/base/err.h"

#define UNITS_TEXT_MAX 32

/* "64M", "64MiB", "512k", "1.5G", "4096": bytes, in powers of 1024. */
int units_parse_bytes(const char *text, uint64_t *ret_bytes, struct err *err);

/* "2s", "500ms", "1.5m", "1h", "2d"; a number without a unit is refused. */
int units_parse_ms(const char *text, uint64_t *ret_ms, struct err *err);

/* A plain number without sign. */
int units_parse_count(const char *text, uint64_t *ret_count, struct err *err);

/* "0 B", "17 B", "1.5 KiB", "64 MiB". */
void units_print_bytes(char ret_text[UNITS_TEXT_MAX], int64_t bytes);

/* "340 us", "1.24 ms", "2.50 s", "3 min 20 s", "2 h 05 min". */
void units_print_us(char ret_text[UNITS_TEXT_MAX], int64_t us);

/* "12,345,678". */
void units_print_count(char ret_text[UNITS_TEXT_MAX], int64_t count);
