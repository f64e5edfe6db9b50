/*
 * Examples held against policies, one after the other, and nothing is run: those in force, or
 * those that the operator's folder holds now, which have an inspector of their own meanwhile.
 *
 *	start -> (fresh: read the folder, get an inspector) -> ask, ask, ... -> answer the call
 *
 * Rules with a fault are an answer, too: `complaint` says in which file and line.  Of rehearsals
 * with fresh rules there is one at a time; the next is told that the house is busy.
 */
#pragma once

#include <stdbool.h>

#include "daemon/methods/call.h"

/* Takes the call and answers it. */
void rehearsal_start(struct call *call, bool fresh);

/* The house closes: what is under way is answered with what there is. */
void rehearsals_close(struct services *services);
