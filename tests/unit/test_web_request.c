#include <stdio.h>
#include <string.h>

#include "cli/web/request.h"
#include "proto/base/container.h"
#include "tests/check.h"

#define HOST "Host: 127.0.0.1:8417\r\n"

static char head[REQUEST_HEAD_MAX + 2];

static enum request_state read_text(const char *text, struct web_request *request)
{
	size_t len = strlen(text);

	memcpy(head, text, len + 1);
	return request_read(head, len, request);
}

TEST(a_head_of_a_browser_is_read)
{
	struct web_request request;

	CHECK_EQ_INT(read_text("GET /api/runs.list?params=%7B%7D HTTP/1.1\r\n" HOST
			       "sec-fetch-site:same-origin\r\nAccept: text/html;q=0.8, */*\r\n"
			       "Authorization: \t Bearer abc \t\r\n\r\nrest",
			     &request),
		REQUEST_WHOLE);
	CHECK_STR(request.method, "GET");
	CHECK_STR(request.path, "/api/runs.list");
	CHECK_STR(request.query, "params=%7B%7D");
	CHECK_STR(request.host, "127.0.0.1:8417");
	CHECK_STR(request.site, "same-origin");
	CHECK_STR(request.authorization, "Bearer abc");
	CHECK(!request.origin && !request.body_len && !request.coding);
}

TEST(a_head_is_read_only_when_it_is_whole)
{
	const char *whole = "GET / HTTP/1.1\r\n" HOST "\r\n";
	struct web_request request;

	for (size_t len = 0; len < strlen(whole); len++) {
		memcpy(head, whole, len);
		CHECK_EQ_INT(request_read(head, len, &request), REQUEST_MORE);
	}
	CHECK_EQ_INT(read_text(whole, &request), REQUEST_WHOLE);
}

TEST(a_head_that_two_programs_may_read_differently_is_refused)
{
	static const char *const bad[] = {
		"GET / HTTP/1.1\r\n\r\n",
		"GET / HTTP/1.0\r\n" HOST "\r\n",
		"GET / HTTP/1.1 \r\n" HOST "\r\n",
		"GET  / HTTP/1.1\r\n" HOST "\r\n",
		"GET /\r\n" HOST "\r\n",
		" GET / HTTP/1.1\r\n" HOST "\r\n",
		"G(T / HTTP/1.1\r\n" HOST "\r\n",
		"GET http://127.0.0.1:8417/ HTTP/1.1\r\n" HOST "\r\n",
		"GET * HTTP/1.1\r\n" HOST "\r\n",
		"GET /a#b HTTP/1.1\r\n" HOST "\r\n",
		"GET /a\\b HTTP/1.1\r\n" HOST "\r\n",
		"GET /\xc3\xa4 HTTP/1.1\r\n" HOST "\r\n",
		"GET / HTTP/1.1\r\n" HOST HOST "\r\n",
		"GET / HTTP/1.1\r\n" HOST "host: localhost:8417\r\n\r\n",
		"GET / HTTP/1.1\r\n" HOST "Origin: a\r\nORIGIN: b\r\n\r\n",
		"GET / HTTP/1.1\r\n" HOST "Authorization: a\r\nAuthorization: b\r\n\r\n",
		"GET / HTTP/1.1\r\n" HOST "X: a\r\n b\r\n\r\n",
		"GET / HTTP/1.1\r\nHost : 127.0.0.1:8417\r\n\r\n",
		"GET / HTTP/1.1\r\n" HOST "no colon\r\n\r\n",
		"GET / HTTP/1.1\r\n" HOST ": no name\r\n\r\n",
		"GET / HTTP/1.1\r\n" HOST "X: a\nY: b\r\n\r\n",
		"GET / HTTP/1.1\r\n" HOST "X: a\rY: b\r\n\r\n",
		"GET / HTTP/1.1\r\n" HOST "X: \x01\r\n\r\n",
		"GET / HTTP/1.1\r\n" HOST "X: \x7f\r\n\r\n",
		"GET / HTTP/1.1\n" HOST "\r\n\r\n",
	};
	struct web_request request;

	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		enum request_state state = read_text(bad[i], &request);

		if (state != REQUEST_BAD)
			printf("# %zu: %s\n", i, bad[i]);
		CHECK_EQ_INT(state, REQUEST_BAD);
	}
}

TEST(a_nul_in_a_head_is_refused)
{
	char bytes[] = "GET / HTTP/1.1\r\n" HOST "X: a\0b\r\n\r\n";
	struct web_request request;

	CHECK_EQ_INT(request_read(bytes, sizeof(bytes) - 1, &request), REQUEST_BAD);
}

TEST(a_head_is_bounded)
{
	struct web_request request;
	size_t len;

	memset(head, 'a', sizeof(head));
	CHECK_EQ_INT(request_read(head, REQUEST_HEAD_MAX - 1, &request), REQUEST_MORE);
	CHECK_EQ_INT(request_read(head, REQUEST_HEAD_MAX, &request), REQUEST_TOO_LONG);
	len = (size_t)sprintf(head, "GET / HTTP/1.1\r\n" HOST);
	for (size_t i = 0; i < REQUEST_LINES; i++)
		len += (size_t)sprintf(head + len, "X: y\r\n");
	len += (size_t)sprintf(head + len, "\r\n");
	CHECK_EQ_INT(request_read(head, len, &request), REQUEST_TOO_LONG);
}

TEST(params_are_a_map_of_json)
{
	struct value *params = NULL;
	struct err err = ERR_INIT;
	struct arena arena;

	arena_init(&arena, 1 << 20);
	CHECK_EQ_INT(request_params(&arena, NULL, &params, &err), 0);
	CHECK(value_is(params, VALUE_MAP) && params->map.count == 0);
	CHECK_EQ_INT(request_params(&arena, "params=%7B%22limit%22:3,%22text%22:%22a%2Bb+c%22%7D",
			     &params, &err),
		0);
	CHECK_EQ_INT(value_as_int(value_get(params, "limit"), 0), 3);
	CHECK_STR(value_as_text(value_get(params, "text")), "a+b+c");
	arena_done(&arena);
}

TEST(params_that_are_something_else_are_refused)
{
	static const char *const bad[] = { "", "x", "params=", "params=%", "params=%7",
		"params=%7B%7", "params=%zz", "params=%00", "params=[]", "params=1", "params=null",
		"params={}{}", "params={%22a%22:1,%22a%22:2}", "params={}&x=1", "PARAMS={}",
		"params={%22a%22:[[[[[]]]]]}" };
	struct value *params = NULL;
	struct arena arena;

	arena_init(&arena, 1 << 20);
	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		struct err err = ERR_INIT;

		CHECK_EQ_INT(request_params(&arena, bad[i], &params, &err), -1);
		CHECK_EQ_INT(err.code == ERR_INVALID || err.code == ERR_TOO_BIG, 1);
	}
	arena_done(&arena);
}
