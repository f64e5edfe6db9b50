/*
 * What events say of runs.  Each of these asks first whether anybody hears it (events.h), and says
 * nothing of a run that the store does not durably know.
 */
#pragma once

#include <stdbool.h>

struct request;

/* Whether somebody wants to hear when this run starts: then its begun record is made durable. */
bool run_is_watched(const struct request *request);

/* To be called when the program has been sent, and when the run is known: told once both are so. */
void event_run_started(struct request *request);

/* It waits for a person's word, and somebody has let it run. */
void event_run_asked(const struct request *request);
void event_run_approved(const struct request *request);

/* It is on the record: `finished` or `denied`, and `limit` before that. */
void event_run_ended(const struct request *request);
