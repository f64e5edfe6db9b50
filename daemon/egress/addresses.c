#include "daemon/egress/addresses.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

#include "proto/base/cleanup.h"
#include "proto/base/container.h"

/* clang-format off */
/* Text, and how many bits count.  Rows of IPv4 count from the first bit of a.b.c.d. */
static const struct {
	const char *prefix;
	unsigned bits;
} closed[] = {
	{ "0.0.0.0",       8 }, /* this network; connects to this host */
	{ "10.0.0.0",      8 }, /* private */
	{ "100.64.0.0",   10 }, /* shared by a provider's customers */
	{ "127.0.0.0",     8 }, /* this host */
	{ "168.63.129.16", 32 }, /* the host's agent in Azure */
	{ "169.254.0.0",  16 }, /* link-local, metadata of clouds */
	{ "172.16.0.0",   12 }, /* private */
	{ "192.0.0.0",    24 }, /* protocols */
	{ "192.88.99.0",  24 }, /* relays of 6to4 */
	{ "192.168.0.0",  16 }, /* private */
	{ "198.18.0.0",   15 }, /* tests of networks, and the addresses inside jails */
	{ "224.0.0.0",     4 }, /* multicast */
	{ "240.0.0.0",     4 }, /* reserved, broadcast */
	{ "::",          128 }, /* unspecified */
	{ "::1",         128 }, /* this host */
	{ "fc00::",        7 }, /* private */
	{ "fe80::",       10 }, /* link-local */
	{ "fec0::",       10 }, /* site-local */
	{ "ff00::",        8 }, /* multicast */
	{ "64:ff9b:1::",  48 }, /* translated to IPv4 in this network */
	{ "2001::",       32 }, /* Teredo: hides an address of IPv4 */
};

/* Prefixes of IPv6 behind which an address of IPv4 stands, and at which byte. */
static const struct {
	const char *prefix;
	unsigned bits;
	unsigned at;
} holders[] = {
	{ "::ffff:0:0",   96, 12 },
	{ "::ffff:0:0:0", 96, 12 }, /* translated to IPv4 by this host */
	{ "::",           96, 12 }, /* "compatible", long out of use */
	{ "64:ff9b::",    96, 12 },
	{ "2002::",       16,  2 },
};
/* clang-format on */

static struct egress_private opened[EGRESS_PRIVATE_MAX];
static uint32_t opened_count;

static const struct address mapped = { { [10] = 0xff, [11] = 0xff } };

struct address address_of_v4(struct in_addr in)
{
	struct address address = mapped;

	memcpy(address.bytes + 12, &in.s_addr, 4);
	return address;
}

bool address_is_v4(const struct address *address)
{
	return memcmp(address->bytes, mapped.bytes, 12) == 0;
}

bool address_read(const char *text, struct address *ret_address)
{
	struct in_addr in;

	if (inet_pton(AF_INET, text, &in) == 1) {
		*ret_address = address_of_v4(in);
		return true;
	}
	return inet_pton(AF_INET6, text, ret_address->bytes) == 1;
}

void address_write(const struct address *address, char ret_text[EGRESS_ADDRESS_MAX])
{
	const bool is_v4 = address_is_v4(address);

	ret_text[0] = '\0';
	(void)inet_ntop(is_v4 ? AF_INET : AF_INET6, address->bytes + (is_v4 ? 12 : 0), ret_text,
		EGRESS_ADDRESS_MAX);
}

socklen_t address_socket(
	const struct address *address, uint16_t port, struct sockaddr_storage *ret_to)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons(port) };
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6, .sin6_port = htons(port) };

	memset(ret_to, 0, sizeof(*ret_to));
	if (address_is_v4(address)) {
		memcpy(&in.sin_addr, address->bytes + 12, 4);
		memcpy(ret_to, &in, sizeof(in));
		return sizeof(in);
	}
	memcpy(&in6.sin6_addr, address->bytes, 16);
	memcpy(ret_to, &in6, sizeof(in6));
	return sizeof(in6);
}

/* ---- what is open --------------------------------------------------------------------------- */

static bool has_prefix(const uint8_t *bytes, const uint8_t *prefix, unsigned bits)
{
	const unsigned whole = bits / 8;
	const unsigned rest = bits % 8;

	if (memcmp(bytes, prefix, whole) != 0)
		return false;
	return rest == 0 || (bytes[whole] ^ prefix[whole]) >> (8 - rest) == 0;
}

void addresses_open(const struct egress_private *privates, uint32_t count)
{
	opened_count = 0;
	while (opened_count < count && opened_count < EGRESS_PRIVATE_MAX) {
		opened[opened_count] = privates[opened_count];
		opened_count++;
	}
}

static bool is_opened(const struct address *address, uint16_t port)
{
	for (uint32_t i = 0; i < opened_count; i++)
		if ((opened[i].port == 0 || opened[i].port == port) &&
			has_prefix(address->bytes, opened[i].address, opened[i].bits))
			return true;
	return false;
}

/* ---- what is closed ------------------------------------------------------------------------- */

/* The kernel's question, and the front of its answer. */
struct route_question {
	struct nlmsghdr head;
	struct rtmsg route;
	char attributes[64];
};

union route_answer {
	struct {
		struct nlmsghdr head;
		union {
			struct rtmsg route;
			struct nlmsgerr error;
		};
	};
	char room[1024];
};

static void add_attribute(
	struct route_question *question, unsigned short type, const void *bytes, size_t len)
{
	const struct rtattr head = { .rta_len = (unsigned short)RTA_LENGTH(len), .rta_type = type };
	char *at = (char *)question + question->head.nlmsg_len;

	memcpy(at, &head, sizeof(head));
	memcpy(at + sizeof(head), bytes, len);
	question->head.nlmsg_len += (uint32_t)RTA_SPACE(len);
}

/* Rules may lead a protocol or a port elsewhere, so it is the question that connect() asks. */
static ssize_t ask_for_route(
	const struct address *address, uint16_t port, union route_answer *ret_answer)
{
	const bool is_v4 = address_is_v4(address);
	const size_t len = is_v4 ? 4 : 16;
	const uint8_t protocol = IPPROTO_TCP;
	const uint16_t to_port = htons(port);
	const struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	struct route_question question = {
		.head = { .nlmsg_len = offsetof(struct route_question, attributes),
			.nlmsg_type = RTM_GETROUTE,
			.nlmsg_flags = NLM_F_REQUEST },
		.route = { .rtm_family = is_v4 ? AF_INET : AF_INET6,
			.rtm_dst_len = (unsigned char)(8 * len) },
	};
	auto_fd int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);

	add_attribute(&question, RTA_DST, address->bytes + 16 - len, len);
	add_attribute(&question, RTA_IP_PROTO, &protocol, sizeof(protocol));
	add_attribute(&question, RTA_DPORT, &to_port, sizeof(to_port));
	if (fd < 0 || sendto(fd, &question, question.head.nlmsg_len, 0,
			      (const struct sockaddr *)&kernel, sizeof(kernel)) < 0)
		return -1;
	return recv(fd, ret_answer, sizeof(*ret_answer), MSG_DONTWAIT);
}

/*
 * Whether the kernel would not send a packet there to another host.  Its routes know this host's addresses
 * and ranges of addresses that lead here.  No route at all leads nowhere.  Without an answer it is closed.
 */
static bool is_own(const struct address *address, uint16_t port)
{
	union route_answer answer = { .room = { 0 } };
	const ssize_t got = ask_for_route(address, port, &answer);

	if (got >= (ssize_t)NLMSG_LENGTH(sizeof(answer.error)) &&
		answer.head.nlmsg_type == NLMSG_ERROR)
		return answer.error.error != -ENETUNREACH && answer.error.error != -EHOSTUNREACH;
	return got < (ssize_t)NLMSG_LENGTH(sizeof(answer.route)) ||
	       answer.head.nlmsg_type != RTM_NEWROUTE || answer.route.rtm_type != RTN_UNICAST;
}

static bool is_in_table(const struct address *address)
{
	const bool is_v4 = address_is_v4(address);

	for (size_t i = 0; i < COUNT_OF(closed); i++) {
		struct address row;

		if (!address_read(closed[i].prefix, &row))
			return true;
		if (address_is_v4(&row) != is_v4)
			continue;
		if (has_prefix(address->bytes + (is_v4 ? 12 : 0), row.bytes + (is_v4 ? 12 : 0),
			    closed[i].bits))
			return true;
	}
	return false;
}

/* Whether the address of IPv4 that this one holds is closed. */
static bool holds_closed(const struct address *address, uint16_t port)
{
	for (size_t i = 0; i < COUNT_OF(holders) && !address_is_v4(address); i++) {
		struct address prefix = { { 0 } };
		struct address held = mapped;

		(void)inet_pton(AF_INET6, holders[i].prefix, prefix.bytes);
		if (!has_prefix(address->bytes, prefix.bytes, holders[i].bits))
			continue;
		memcpy(held.bytes + 12, address->bytes + holders[i].at, 4);
		if (is_in_table(&held) || is_own(&held, port))
			return true;
	}
	return false;
}

bool address_is_closed(const struct address *address, uint16_t port)
{
	if (is_opened(address, port))
		return false;
	return is_in_table(address) || is_own(address, port) || holds_closed(address, port);
}
