/*
 * Masks secrets in a request before anything of it is written to the disk (redact/).  Short texts
 * are masked in the loop.  Long ones, and patterns that take more time, are masked on a thread.
 */
#pragma once

#include "daemon/request/request.h"

/*
 * Fills request->masked.spec, then enters the stage that `then` returns.  The request must have its
 * spec.
 */
enum stage masking_of_spec(struct request *request, enum stage (*then)(struct request *request));

/* The same for everything that the record of the run contains. */
enum stage masking_of_record(struct request *request, enum stage (*then)(struct request *request));
