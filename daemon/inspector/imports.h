/*
 * What a program's imports call things: `import a.b as c` makes c stand for a.b.
 *
 * One name may stand for several paths, because a program may import it in several places; a
 * rule holds against each of them.  Lives as long as one check.
 */
#pragma once

#include <stdbool.h>

#include "daemon/inspector/names.h"
#include "daemon/inspector/syntax.h"
#include "proto/base/arena.h"
#include "proto/base/map.h"

#define IMPORTS_PLACES_MAX 64U

struct import {
	struct import *next; /* of the same name */
	bool is_module;      /* and not a member of one */
	struct name path;
};

struct imports {
	struct arena arena;
	struct map map;
	bool failed; /* out of room: what is unknown might be anything */
	struct place places[IMPORTS_PLACES_MAX]; /* where names stand in imports: the first ones */
	uint32_t place_count;
};

void imports_init(struct imports *imports);
void imports_done(struct imports *imports);

/* Forgets all. */
void imports_reset(struct imports *imports);

/* Takes note when the match is of an import. */
void imports_note(struct imports *imports, const char *code, const struct match *match);

/* Whether the place is known to lie within an import.  False says nothing. */
bool imports_hold(const struct imports *imports, struct place at);

/* The first of those that the name stands for, or NULL. */
const struct import *imports_find(const struct imports *imports, const char *text, size_t len);
