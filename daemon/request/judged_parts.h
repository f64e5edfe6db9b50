/* Which parts of a request the policy judges beside the program. */
#pragma once

#include "daemon/request/request.h"

/*
 * Files that the program can load as code are checked like the program: modules that Python
 * imports, scripts that a shell reads.
 */
enum file_kind {
	FILE_OF_DATA,
	FILE_OF_CODE,
	FILE_OF_BYTECODE, /* cannot be checked */
};

enum file_kind judged_file_kind(const struct request *request, const struct job_input_file *file);

/* Whether an environment variable of this name is a finding. */
bool judged_variable(const struct request *request, const char *name);

/* How many places of what an approver has to see are masked, variables that are code among them. */
uint64_t judged_masks(const struct request *request);
