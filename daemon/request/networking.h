/*
 * The network of a run: what the settings let it ask for, what its slot and ced-egress get, and what
 * the result says about its connections.
 */
#pragma once

#include <stdbool.h>

#include "daemon/request/request.h"

/* Whether the settings allow the network that is wanted, or none is.  False: *ret_refusal. */
bool networking_is_allowed(const struct wish *wish, struct job_refusal *ret_refusal);

/* Before the worker gets the job: begins the network, and tells the execution how. */
void networking_begin(struct request *request);

/* The program is over.  True: `then` is called from the loop when all connections are told. */
bool networking_end(struct request *request, void (*then)(struct request *request));

/* Gives everything back.  May be called for any request. */
void networking_leave(struct request *request);
