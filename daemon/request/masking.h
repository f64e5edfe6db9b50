/*
 * Where a request meets redact/: before anything of it goes to the disk.  What is short is masked
 * in the loop; what is long, or takes patterns more than a moment, on a thread.
 */
#pragma once

#include "daemon/request/request.h"

/*
 * Fills request->kept.spec, then enters what `then` answers.  The request has its spec.
 */
enum stage redaction_of_spec(struct request *request, enum stage (*then)(struct request *request));

/* The same for everything that its record is made of. */
enum stage redaction_of_record(
	struct request *request, enum stage (*then)(struct request *request));
