/*
 * Sends events about runs.  Each function first checks for subscribers (events.h).  No event is
 * sent about a run that the store does not durably know.
 */
#pragma once

#include <stdbool.h>

struct call_approval;
struct request;

/*
 * Whether a client has subscribed to the start of this run: its begun record must be durable then.
 */
bool run_is_watched(const struct request *request);

/* Call it when the program was sent and when the run is known.  Sends the event once both hold. */
void event_run_started(struct request *request);

/* The run waits for approval, or was approved. */
void event_run_asked(const struct request *request);
void event_run_approved(const struct request *request);

/* A call of a tool waits for an approver, or was approved. */
void event_call_asked(const struct call_approval *asked);
void event_call_approved(const struct call_approval *asked);

/* The run is recorded: sends `limit` if it applies, then `finished` or `denied`. */
void event_run_ended(const struct request *request);
