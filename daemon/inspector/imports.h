/*
 * The names that a program's imports bind: `import a.b as c` makes c stand for a.b.
 *
 * A program may import one name in several places, so it may stand for several paths.  A rule is
 * checked against each of them.  The table lives for one check.
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
	bool is_module;      /* not a member of a module */
	struct name path;
};

struct imports {
	struct arena arena;
	struct map map;
	bool failed;                             /* no memory: an unknown name might be anything */
	struct place places[IMPORTS_PLACES_MAX]; /* where names stand in imports: the first ones */
	uint32_t place_count;
};

void imports_init(struct imports *imports);
void imports_done(struct imports *imports);

/* Forgets all. */
void imports_reset(struct imports *imports);

/* Adds the names if the match is of an import. */
void imports_note(struct imports *imports, const char *code, const struct match *match);

/* Whether the place is known to lie within an import.  False: it may or may not. */
bool imports_hold(const struct imports *imports, struct place at);

/* The first import of the name, or NULL. */
const struct import *imports_find(const struct imports *imports, const char *text, size_t len);
