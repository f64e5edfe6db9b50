/*
 * Run records as resources:
 *
 *   ced://run/RUN                  the record, as JSON
 *   ced://run/RUN/output/STREAM    what it wrote, and its files: up to a mebibyte
 */
#pragma once

#include "cli/mcp/requests.h"

/* The method and params for a URI.  -1: it is none of ours. */
int resources_question(struct request *request, const char *uri, const char **ret_method,
	const struct value **ret_params, struct err *err);

/* The templates, as resources/templates/list answers. */
struct value *resources_templates(struct arena *arena);

/* Answers to resources/list and resources/read. */
request_finish resources_listed, resources_read;
