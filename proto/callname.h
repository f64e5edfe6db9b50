/*
 * Names of the system calls whose refusal ced reports, and what a program tries to do with each.
 *
 * The jail's table (sandbox/filter/syscalls.c) lists the same calls.  unit.callname compares the
 * two tables.
 */
#pragma once

#include <stdint.h>

#include "proto/base/arena.h"

/* Returns a name such as "ptrace"; NULL for a call that is not in the table. */
const char *call_name(uint32_t nr);

/*
 * As call_name(), but returns a text such as "call 999" for a call without a name.  NULL: no
 * memory.
 */
const char *call_name_or_number(struct arena *arena, uint32_t nr);

/* Returns what the program tried to do, to follow "tried to": "open an internet socket". */
const char *call_wish(uint32_t nr, uint32_t kind);

/*
 * Returns the name of the call's `kind`, such as "AF_INET".  NULL for a call without kinds, or no
 * memory.
 */
const char *call_kind(struct arena *arena, uint32_t nr, uint32_t kind);
