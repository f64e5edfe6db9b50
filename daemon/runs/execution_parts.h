/*
 * The parts of an execution, which know each other: execution.c begins it, holds its clocks and ends
 * it, execution_told.c takes what the worker and its slot tell into the facts.
 */
#pragma once

#include "daemon/runs/execution.h"

/* ---- execution.c ---- */

/* Kills what is in the jail; its slot tells of the death.  `why` counts when nothing ended it before. */
void execution_kill(struct execution *execution, enum limit_word why);

/* Every process of the run is dead: gathers its artifacts, as nothing can change under the collector. */
void execution_after_death(struct execution *execution);

/* The facts are all there: on_end() follows. */
void execution_conclude(struct execution *execution);
