/*
 * Any bytes as the head of a request to `cectl web`.  A head that is whole names a method, a path and a
 * host of visible signs.  Reading never depends on what comes behind it.
 */

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cli/web/access.h"
#include "tests/fuzz/fuzz.h"

#define ARENA_BYTES_MAX ((size_t)1 << 20)

static void check_visible(const char *text)
{
	for (const char *at = text ? text : ""; *at; at++)
		assert((*at >= 0x20 && *at < 0x7f) || *at == '\t');
}

static void check_params(const struct web_request *request)
{
	struct value *params = NULL;
	struct err err = ERR_INIT;
	struct arena arena;

	arena_init(&arena, ARENA_BYTES_MAX);
	if (request_params(&arena, request->query, &params, &err) == 0)
		assert(value_is(params, VALUE_MAP));
	arena_done(&arena);
}

static void check_whole(const struct web_request *request)
{
	static struct access access = { .token = "", .address = "127.0.0.1", .port = 8417 };
	const char *refused = access_refuses(&access, request);

	assert(request->method[0] && request->path[0] == '/' && request->host);
	check_visible(request->method);
	check_visible(request->path);
	check_visible(request->query);
	check_visible(request->host);
	check_visible(request->authorization);
	if (!refused)
		assert(strcmp(request->host, "127.0.0.1:8417") == 0 ||
			strcmp(request->host, "localhost:8417") == 0);
	assert(!access_has_token(&access, request));
	check_params(request);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct web_request request;
	enum request_state state;
	char *bytes = malloc(len + 1);

	assert(bytes);
	if (len)
		memcpy(bytes, data, len);
	state = request_read(bytes, len, &request);
	if (state == REQUEST_WHOLE)
		check_whole(&request);
	else
		assert(state != REQUEST_MORE || len < REQUEST_HEAD_MAX);
	free(bytes);
	return 0;
}
