/* Hosts, patterns and ports, in requests and in settings. */
#include <string.h>

#include "proto/job/job_network.h"
#include "tests/check.h"

static char host[NETWORK_HOST_MAX];
static int port;

static bool reads(const char *text)
{
	return network_read_host(text, strlen(text), host, &port);
}

TEST(hosts_are_read_with_and_without_a_port)
{
	CHECK(reads("Api.Example.ORG.") && !strcmp(host, "api.example.org") && port == 0);
	CHECK(reads("a:8443") && !strcmp(host, "a") && port == 8443);
	CHECK(reads("*.a.b:*") && !strcmp(host, "*.a.b") && port == -1);
	CHECK(reads("*") && !strcmp(host, "*"));
	CHECK(reads("[::1]:53") && !strcmp(host, "::1") && port == 53);
	CHECK(reads("10.0.0.1:5432") && !strcmp(host, "10.0.0.1"));
}

TEST(what_is_no_host_is_refused)
{
	CHECK(!reads("") && !reads(":80") && !reads("a..b") && !reads("-a") && !reads("a-"));
	CHECK(!reads("a b") && !reads("a/b") && !reads("a:0") && !reads("a:65536") &&
		!reads("a:1x"));
	CHECK(!reads("**.a") && !reads("a.*") && !reads("*a") && !reads("\xc3\xbc") &&
		!reads("[a]"));
	CHECK(!network_read_host("a\0b", 3, host, &port));
}

TEST(a_pattern_covers_what_ends_in_it)
{
	CHECK(network_covers("a.b", "a.b") && !network_covers("a.b", "b") &&
		!network_covers("b", "a.b"));
	CHECK(network_covers("*.b", "a.b") && network_covers("*.b", "c.a.b") &&
		network_covers("*.b", "*.b"));
	CHECK(network_covers("*.b", "*.a.b") && !network_covers("*.a.b", "*.b"));
	CHECK(!network_covers("*.b", "b") && !network_covers("*.b", "ab") &&
		!network_covers("*.b", "*"));
	CHECK(network_covers("*", "a") && network_covers("*", "*"));
}
