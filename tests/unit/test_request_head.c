/* Heads of requests to the proxy. */
#include <stdio.h>
#include <string.h>

#include "daemon/egress/request_head.h"
#include "proto/base/container.h"
#include "tests/check.h"

static struct request_target target;

static enum request_head read_text(const char *text)
{
	return request_head_read(text, strlen(text), &target);
}

TEST(connect_and_absolute_urls_are_read)
{
	CHECK_EQ_INT(read_text("CONNECT Api.Test.:443 HTTP/1.1\r\nHost: x\r\n\r\n"), HEAD_CONNECT);
	CHECK_STR(target.host, "api.test");
	CHECK_EQ_INT(target.port, 443);
	CHECK_EQ_INT(read_text("GET http://a.test/x?y HTTP/1.0\r\n\r\nbody"), HEAD_URL);
	CHECK_EQ_INT(target.port, 80);
	CHECK_EQ_INT(target.len, strlen("GET http://a.test/x?y HTTP/1.0\r\n\r\n"));
	CHECK_EQ_INT(read_text("POST http://a.test:8080 HTTP/1.1\r\n\r\n"), HEAD_URL);
	CHECK_EQ_INT(target.port, 8080);
}

TEST(what_is_not_whole_waits_and_what_is_wrong_is_refused)
{
	static const char *const bad[] = { "GET / HTTP/1.1\r\n\r\n", "GET http://a.test/\r\n\r\n",
		"CONNECT a.test HTTP/1.1\r\n\r\n", "CONNECT a.test:0 HTTP/1.1\r\n\r\n",
		"CONNECT a.test:65536 HTTP/1.1\r\n\r\n", "CONNECT [::1]:80 HTTP/1.1\r\n\r\n",
		"CONNECT a b:80 HTTP/1.1\r\n\r\n", "CONNECT a.test:80 HTTP/2.0\r\n\r\n",
		"CONNECT :80 HTTP/1.1\r\n\r\n", "CONNECT a.test:80 HTTP/1.1\r\nno header\r\n\r\n",
		"CONNECT a.test:80 HTTP/1.1\nA: b\r\n\r\n",
		"CONNECT a.test:80 HTTP/1.1\r\nA\x01: b\r\n\r\n",
		"GET http://u@a.test/ HTTP/1.1\r\n\r\n", "GET https://a.test/ HTTP/1.1\r\n\r\n",
		" GET http://a.test/ HTTP/1.1\r\n\r\n",
		"GET http://a.test/ HTTP/1.1\r\nContent-Length: 1\r\ncontent-length: 1\r\n\r\n",
		"GET http://a.test/ HTTP/1.1\r\nContent-Length : 1\r\n\r\n" };
	static const char whole[] = "CONNECT a.test:80 HTTP/1.1\r\nA: b\r\n\r\n";

	for (size_t i = 0; i < COUNT_OF(bad); i++)
		if (read_text(bad[i]) != HEAD_BAD) {
			printf("# taken: %s\n", bad[i]);
			CHECK(false);
		}
	for (size_t len = 0; len < sizeof(whole) - 1; len++)
		CHECK_EQ_INT(request_head_read(whole, len, &target), HEAD_MORE);
}

TEST(a_server_gets_a_path_and_the_hosts_own_name)
{
	static const char head[] =
		"GET http://A.test:81?q HTTP/1.1\r\nHost: other\r\n"
		"Proxy-Authorization: x\r\nAccept: y\r\nConnection: keep-alive\r\n\r\n";
	char out[512] = "";
	size_t len;

	CHECK_EQ_INT(read_text(head), HEAD_URL);
	len = request_head_rewrite(head, &target, out, sizeof(out) - 1);
	out[len] = '\0';
	CHECK_STR(out,
		"GET /?q HTTP/1.1\r\nHost: a.test:81\r\nConnection: close\r\nAccept: y\r\n\r\n");
	CHECK_EQ_INT(request_head_rewrite(head, &target, out, 20), 0);
}
