/*
 * `wait` and `cancel`.  If no run in progress has the name that the client gives, the store is
 * searched for it.
 */
#pragma once

#include "daemon/methods/call.h"

void method_wait(struct call *call);
void method_cancel(struct call *call);

/* The run in progress that the call names and its caller may see; NULL: none, or several. */
struct request *method_find_run(const struct call *call);

/*
 * Continues a call of `wait` or `cancel` after the store has found its run: call->run_id is the id,
 * `record` its record.  Takes the call.
 */
void method_found(struct call *call, const struct value *record);
