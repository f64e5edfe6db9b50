/*
 * Names of the system calls whose refusal is told, and what whoever makes them wants.
 *
 * The jail's table (sandbox/syscalls.c) says which they are; unit.callname holds this one against it.
 */
#pragma once

#include <stdint.h>

#include "proto/base/arena.h"

/* "ptrace"; NULL for a number that is not told. */
const char *call_name(uint32_t nr);

/* The same for people and for good: "call 999" where there is no name.  NULL: no memory. */
const char *call_name_or_number(struct arena *arena, uint32_t nr);

/* What it wants, to stand behind "tried to": "open an internet socket". */
const char *call_wish(uint32_t nr, uint32_t kind);

/* What `kind` is of this call, "AF_INET"; NULL when there is nothing to be said. */
const char *call_kind(struct arena *arena, uint32_t nr, uint32_t kind);
