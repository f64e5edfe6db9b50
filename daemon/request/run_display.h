/*
 * Sends what a run displays to a client that streams: each item as a notification run.display, as
 * soon as it is whole and the store durably knows the run.
 */
#pragma once

struct request;

/* Sends the items that have arrived since the last call, while the program runs. */
void run_display_look(struct request *request);

/* Sends the items that were not sent yet, of a result that is complete. */
void run_display_rest(struct request *request);
