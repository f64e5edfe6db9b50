/*
 * Policy violations that a worker detects while the program runs.  The worker's message
 * (JOB_DENIED) becomes a finding of the result, beside the findings in the text.
 */
#pragma once

#include "daemon/request/request.h"

/* Call it after the outcome is decided.  Fills in verdict and reason for outcome policy_denied. */
void worker_finding_add(struct request *request, const struct facts *facts);
