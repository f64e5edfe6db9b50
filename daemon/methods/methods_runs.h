/*
 * What clients ask about one run: to wait for its end, or to cancel it.  What the house does not know
 * by the name they give, the store may.
 */
#pragma once

#include "daemon/methods/call.h"

void method_wait(struct call *call);
void method_cancel(struct call *call);

/* The one run in the house that the call names and that its caller may see; NULL: none, or several. */
struct request *method_find_run(const struct call *call);

/*
 * The store knew which run a call of `wait` or `cancel` means (call->run_id); `record` is what it
 * knew of it.  Takes the call.
 */
void method_found(struct call *call, const struct value *record);
