/*
 * What a worker caught its program at: the second enforcement's word (JOB_DENIED) becomes a finding
 * of the result, beside those over the text.
 */
#pragma once

#include "daemon/request/request.h"

/* When the outcome is policy_denied because of what the worker said.  Fills in verdict and reason. */
void caught_tell(struct request *request, const struct facts *facts);
