/* Which addresses are closed to runs, whatever name leads there. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/egress/addresses.h"
#include "proto/base/container.h"
#include "tests/check.h"

static bool is_closed(const char *text)
{
	struct address address;

	if (!address_read(text, &address)) {
		printf("# %s is no address\n", text);
		return false;
	}
	return address_is_closed(&address, 443);
}

TEST(private_and_special_addresses_are_closed_in_every_form)
{
	static const char *const closed[] = { "0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255",
		"100.64.0.1", "100.127.255.255", "127.0.0.1", "127.255.255.254", "169.254.169.254",
		"172.16.0.1", "172.31.255.255", "192.0.0.1", "192.168.0.1", "198.18.0.1",
		"198.19.255.255", "224.0.0.1", "239.1.1.1", "240.0.0.1", "255.255.255.255",
		"::", "::1", "fc00::1", "fdff::1", "fe80::1", "febf::1", "fec0::1", "ff02::1",
		"::ffff:127.0.0.1", "::ffff:10.0.0.1", "::127.0.0.1", "64:ff9b::169.254.169.254",
		"::ffff:0:10.0.0.1", "64:ff9b:1::1", "2002:7f00:1::", "2002:a00:1::1", "2001::1" };

	for (size_t i = 0; i < COUNT_OF(closed); i++)
		if (!is_closed(closed[i])) {
			printf("# %s is open\n", closed[i]);
			CHECK(false);
		}
}

TEST(addresses_next_to_them_are_open)
{
	static const char *const open[] = { "1.0.0.1", "9.255.255.255", "11.0.0.0",
		"100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.1", "169.253.255.255",
		"169.255.0.0", "172.15.255.255", "172.32.0.0", "192.0.1.0", "192.167.255.255",
		"192.169.0.0", "198.17.255.255", "198.20.0.0", "223.255.255.255", "2606:4700::1111",
		"64:ff9b::8.8.8.8", "2002:808:808::1", "::ffff:8.8.8.8" };

	for (size_t i = 0; i < COUNT_OF(open); i++)
		if (is_closed(open[i])) {
			printf("# %s is closed\n", open[i]);
			CHECK(false);
		}
}

TEST(a_setting_opens_one_address_one_port_or_a_range)
{
	struct egress_private rows[2] = { { .bits = 128, .port = 5432 }, { .bits = 96 + 16 } };
	struct address address;

	CHECK(address_read("10.0.0.5", &address));
	memcpy(rows[0].address, address.bytes, 16);
	CHECK(address_read("10.7.0.0", &address));
	memcpy(rows[1].address, address.bytes, 16);
	addresses_open(rows, 2);
	CHECK(address_read("10.0.0.5", &address));
	CHECK(!address_is_closed(&address, 5432) && address_is_closed(&address, 443));
	CHECK(address_read("10.0.0.4", &address));
	CHECK(address_is_closed(&address, 5432));
	CHECK(!is_closed("10.7.255.1") && is_closed("10.8.0.1"));
	addresses_open(NULL, 0);
	CHECK(is_closed("10.7.255.1"));
}

static void write_word(const char *path, const char *word)
{
	FILE *file = fopen(path, "w");

	if (!file || fputs(word, file) < 0)
		printf("# cannot write %s\n", path);
	if (file)
		(void)fclose(file);
}

#define V4                                                                            \
	"ip link set lo up && ip address add 198.51.100.7/32 dev lo && "              \
	"ip route add local 203.0.113.0/24 dev lo && ip route add default dev lo && " \
	"ip route add local 203.0.114.0/24 dev lo table 7 && "                        \
	"ip rule add ipproto tcp dport 443 table 7"
#define V6                                             \
	"ip -6 address add 2001:db8::7/128 dev lo && " \
	"ip -6 route add local 2001:db8:1::/48 dev lo && ip -6 route add default dev lo"

/* 77: this host gives no network to set up. */
static int look_in_own_network(void)
{
	const unsigned uid = geteuid();
	char map[32];

	if (unshare((uid ? CLONE_NEWUSER : 0) | CLONE_NEWNET) < 0)
		return 77;
	(void)snprintf(map, sizeof(map), "0 %u 1", uid);
	if (uid)
		write_word("/proc/self/uid_map", map);
	if (system("ip -V >/dev/null && ip link set lo up") != 0)
		return 77;
	if (system(V4) != 0)
		return 2;
	if (!is_closed("198.51.100.7") || !is_closed("203.0.113.9") || !is_closed("203.0.114.1") ||
		!is_closed("2002:cb00:7109::1") || is_closed("198.51.100.8") ||
		is_closed("203.0.115.1"))
		return 3;
	if (system(V6) != 0)
		return 0; /* this host has no IPv6 */
	return is_closed("2001:db8::7") && is_closed("2001:db8:1::9") && !is_closed("2001:db8::8")
		       ? 0
		       : 4;
}

TEST(addresses_and_ranges_that_lead_to_this_host_are_closed)
{
	const pid_t child = fork();
	int status = 0;

	if (child == 0)
		_exit(look_in_own_network());
	CHECK(waitpid(child, &status, 0) == child);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		SKIP("this host gives no network to set up");
	CHECK_EQ_INT(status, 0);
}

TEST(an_address_is_written_as_it_was_read)
{
	struct address address;
	char text[EGRESS_ADDRESS_MAX];

	CHECK(address_read("8.8.4.4", &address));
	address_write(&address, text);
	CHECK_STR(text, "8.8.4.4");
	CHECK(address_read("2606:4700::1111", &address));
	address_write(&address, text);
	CHECK_STR(text, "2606:4700::1111");
	CHECK(!address_read("8.8.4", &address) && !address_read("0x7f.1", &address));
}
