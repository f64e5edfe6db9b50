#include <stdio.h>
#include <string.h>

#include "cli/web/access.h"
#include "proto/base/container.h"
#include "tests/check.h"

static struct access access_on(const char *address, uint16_t port)
{
	struct access access;

	(void)access_init(&access, address, port, NULL);
	return access;
}

static bool host_passes(const struct access *access, const char *host)
{
	const struct web_request request = { .method = "GET", .path = "/", .host = host };

	return access_refuses(access, &request) == NULL;
}

TEST(only_the_served_host_name_passes)
{
	static const char *const good[] = { "127.0.0.1:8417", "localhost:8417" };
	static const char *const bad[] = { "", "127.0.0.1", "localhost", "127.0.0.1:8418",
		"127.0.0.1:84170", "127.0.0.1:08417", "127.0.0.1:8417 ", "127.0.0.2:8417",
		"127.1:8417", "2130706433:8417", "0.0.0.0:8417", "[::1]:8417", "[::]:8417",
		"evil.example:8417", "localhost.:8417", "LOCALHOST:8417",
		"localhost.evil.example:8417", "127.0.0.1.evil.example:8417", "a@127.0.0.1:8417",
		"127.0.0.1:8417,evil.example" };
	struct access access = access_on("127.0.0.1", 8417);

	for (size_t i = 0; i < COUNT_OF(good); i++)
		CHECK(host_passes(&access, good[i]));
	for (size_t i = 0; i < COUNT_OF(bad); i++)
		CHECK(!host_passes(&access, bad[i]));
}

TEST(port_80_may_be_left_out)
{
	struct access access = access_on("127.0.0.1", 80);

	CHECK(host_passes(&access, "127.0.0.1") && host_passes(&access, "localhost"));
	CHECK(host_passes(&access, "127.0.0.1:80") && !host_passes(&access, "127.0.0.1:8080"));
}

TEST(an_address_of_ipv6_stands_in_brackets)
{
	struct access access = access_on("[::1]", 8417);

	CHECK(host_passes(&access, "[::1]:8417") && host_passes(&access, "localhost:8417"));
	CHECK(!host_passes(&access, "::1:8417") && !host_passes(&access, "127.0.0.1:8417"));
}

TEST(a_socket_file_takes_any_port_of_loopback_names)
{
	static const char *const bad[] = { "localhost:", "localhost:80x", "localhost:80:80",
		"localhostx", "evil.example", "127.0.0.1.evil.example", "localhost:80@evil" };
	struct access access = access_on("", 0);

	CHECK(host_passes(&access, "localhost") && host_passes(&access, "127.0.0.1:9000"));
	CHECK(host_passes(&access, "[::1]:1"));
	for (size_t i = 0; i < COUNT_OF(bad); i++)
		CHECK(!host_passes(&access, bad[i]));
}

TEST(a_page_of_another_origin_is_refused)
{
	static const struct {
		const char *origin, *site;
		bool passes;
	} rows[] = {
		{ NULL, NULL, true },
		{ "http://127.0.0.1:8417", "same-origin", true },
		{ NULL, "none", true },
		{ "http://localhost:8417", NULL, false },
		{ "https://127.0.0.1:8417", NULL, false },
		{ "http://127.0.0.1:8418", NULL, false },
		{ "http://127.0.0.1:8417/", NULL, false },
		{ "http://127.0.0.1:8417.evil.example", NULL, false },
		{ "null", NULL, false },
		{ "", NULL, false },
		{ NULL, "same-site", false },
		{ NULL, "cross-site", false },
		{ NULL, "", false },
		{ "http://127.0.0.1:8417", "cross-site", false },
	};
	struct access access = access_on("127.0.0.1", 8417);

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		const struct web_request request = {
			.host = "127.0.0.1:8417", .origin = rows[i].origin, .site = rows[i].site
		};

		CHECK_EQ_INT(access_refuses(&access, &request) == NULL, rows[i].passes);
	}
}

TEST(a_token_is_long_and_new_each_time)
{
	struct access one = access_on("127.0.0.1", 1);
	struct access other = access_on("127.0.0.1", 1);

	CHECK_EQ_INT(strlen(one.token), 64);
	CHECK_EQ_INT(strspn(one.token, "0123456789abcdef"), 64);
	CHECK(strcmp(one.token, other.token) != 0);
}

TEST(only_the_whole_token_passes)
{
	struct access access = access_on("127.0.0.1", 1);
	struct web_request request = { .authorization = NULL };
	char given[128];

	CHECK(!access_has_token(&access, &request));
	request.authorization = given;
	snprintf(given, sizeof(given), "Bearer %s", access.token);
	CHECK(access_has_token(&access, &request));
	for (size_t i = 0; i < 64; i++) {
		given[7 + i] = (char)(given[7 + i] ^ 1);
		CHECK(!access_has_token(&access, &request));
		given[7 + i] = (char)(given[7 + i] ^ 1);
	}
	given[7 + 63] = '\0';
	CHECK(!access_has_token(&access, &request));
	snprintf(given, sizeof(given), "Bearer %s0", access.token);
	CHECK(!access_has_token(&access, &request));
	snprintf(given, sizeof(given), "bearer %s", access.token);
	CHECK(!access_has_token(&access, &request));
	snprintf(given, sizeof(given), "%s", access.token);
	CHECK(!access_has_token(&access, &request));
	snprintf(given, sizeof(given), "Bearer ");
	CHECK(!access_has_token(&access, &request));
}
