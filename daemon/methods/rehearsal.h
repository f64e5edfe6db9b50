/*
 * policies.test: checks examples against policies, one after the other, and runs none of them.  It
 * uses the policies in force.  With `fresh` it reads the operator's folder again, and the policies
 * in it get an inspector of their own until the test ends.
 *
 *	start -> (fresh: read the folder, get an inspector) -> ask, ask, ... -> answer the call
 *
 * If the rules have an error, the answer has a `complaint` with file and line.  Only one rehearsal
 * with fresh rules runs at a time; a second one is answered `busy`.
 */
#pragma once

#include <stdbool.h>

#include "daemon/methods/call.h"

/* Takes the call and answers it. */
void rehearsal_start(struct call *call, bool fresh);

/* The daemon closes: answers each rehearsal with the results it has so far. */
void rehearsals_close(struct services *services);
