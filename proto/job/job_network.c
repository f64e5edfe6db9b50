#include "proto/job/job_network.h"

#include <ctype.h>
#include <string.h>

#include "proto/number.h"

#define PORT_PROXY     3128
#define LABEL_MAX      63
#define HOST_BYTES_MAX 253

/* ---- hosts ----------------------------------------------------------------------------------- */

static bool is_label(const char *label, size_t len)
{
	if (len == 0 || len > LABEL_MAX || label[0] == '-' || label[len - 1] == '-')
		return false;
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)label[i]) && label[i] != '-' && label[i] != '_')
			return false;
	return true;
}

/* Labels with dots between them; the first may be "*". */
static bool is_host(const char *host)
{
	size_t len;

	if (strlen(host) > HOST_BYTES_MAX)
		return false;
	if (host[0] == '*' && (host[1] == '\0' || host[1] == '.'))
		host += host[1] ? 2 : 1;
	if (!*host)
		return true; /* all */
	for (;; host += len + 1) {
		len = strcspn(host, ".");
		if (!is_label(host, len))
			return false;
		if (!host[len])
			return true;
	}
}

/* The characters of an address of IPv6; whether it is one is seen where it is used. */
static bool is_in_brackets(const char *text, size_t len)
{
	return len > 4 && text[0] == '[' && text[len - 1] == ']' &&
	       strspn(text + 1, "0123456789abcdefABCDEF:.") >= len - 2;
}

static bool read_port(const char *text, size_t len, int *ret_port)
{
	int port = 0;

	if (len == 1 && *text == '*') {
		*ret_port = -1;
		return true;
	}
	for (size_t i = 0; i < len; i++) {
		if (!isdigit((unsigned char)text[i]) || i > 4)
			return false;
		port = port * 10 + (text[i] - '0');
	}
	*ret_port = port;
	return len > 0 && port >= 1 && port <= UINT16_MAX;
}

/* In small letters, without a dot at its end. */
static bool take_host(const char *text, size_t len, char ret_host[NETWORK_HOST_MAX])
{
	if (len > 1 && text[len - 1] == '.')
		len--;
	if (len == 0 || len >= NETWORK_HOST_MAX)
		return false;
	memset(ret_host, 0, NETWORK_HOST_MAX);
	for (size_t i = 0; i < len; i++)
		ret_host[i] =
			(char)(text[i] >= 'A' && text[i] <= 'Z' ? text[i] - 'A' + 'a' : text[i]);
	return memchr(ret_host, ':', len) || is_host(ret_host);
}

bool network_read_host(const char *text, size_t len, char ret_host[NETWORK_HOST_MAX], int *ret_port)
{
	const char *colon = memrchr(text, ':', len);
	const char *bracket = memrchr(text, ']', len);
	size_t host_len = len;

	*ret_port = 0;
	if (memchr(text, '\0', len))
		return false;
	if (colon && (!bracket || colon > bracket)) {
		host_len = (size_t)(colon - text);
		if (!read_port(colon + 1, len - host_len - 1, ret_port))
			return false;
	}
	if (is_in_brackets(text, host_len))
		return take_host(text + 1, host_len - 2, ret_host);
	return !bracket && take_host(text, host_len, ret_host);
}

bool network_covers(const char *allowed, const char *asked)
{
	size_t asked_len = strlen(asked);
	size_t tail_len;

	if (strcmp(allowed, asked) == 0)
		return true;
	if (allowed[0] != '*')
		return false;
	if (allowed[1] == '\0')
		return true;
	tail_len = strlen(allowed + 1);
	return asked_len > tail_len && strcmp(asked + asked_len - tail_len, allowed + 1) == 0;
}

/* ---- a request -------------------------------------------------------------------------------- */

struct network_reader {
	struct arena *arena;
	struct job_network *network;
	struct network_fault *fault;
	unsigned rule;
};

static int refuse(struct network_reader *reader, const char *reason, const char *message)
{
	*reader->fault = (struct network_fault){
		arena_printf(reader->arena, "/network/allow/%u", reader->rule), reason, message
	};
	return reader->fault->pointer ? 1 : -1;
}

static bool add_port(struct job_network *network, uint16_t port)
{
	for (size_t i = 0; i < network->port_count; i++)
		if (network->ports[i] == port)
			return true;
	if (network->port_count == NETWORK_PORTS_MAX)
		return false;
	network->ports[network->port_count++] = port;
	return true;
}

/* `tls`: -1: as the port says. */
static int add_pair(struct network_reader *reader, const char *host, uint16_t port, int tls)
{
	struct job_network *network = reader->network;

	for (size_t i = 0; i < network->pair_count; i++)
		if (network->pairs[i].port == port && strcmp(network->pairs[i].host, host) == 0)
			return refuse(reader, "duplicate",
				"the same host and port is asked for a second time");
	if (port == PORT_PROXY)
		return refuse(reader, "range", "port 3128 is the proxy's");
	if (network->pair_count == NETWORK_PAIRS_MAX || !add_port(network, port))
		return refuse(reader, "too_long",
			"there are at most 16 different ports, and 64 pairs of a host and a port");
	network->pairs[network->pair_count++] = (struct network_pair){ host, port,
		tls < 0 ? port == NETWORK_PORT_TLS : tls != 0, reader->rule };
	network->has_pattern = network->has_pattern || host[0] == '*';
	return 0;
}

static int add_ports(struct network_reader *reader, const char *host, const struct value *ports,
	int port, int tls)
{
	int answer = 0;

	if (!ports)
		return add_pair(reader, host, port ? (uint16_t)port : NETWORK_PORT_TLS, tls);
	for (size_t i = 0; i < ports->list.count && !answer; i++) {
		uint64_t number = 0;

		if (number_as_u64(ports->list.items[i], &number) < 0 || number > UINT16_MAX)
			return refuse(reader, "value", "a port is a number from 1 to 65535");
		answer = add_pair(reader, host, (uint16_t)number, tls);
	}
	return answer;
}

bool network_is_address(const char *host)
{
	const char *dot = strrchr(host, '.');
	const char *last = dot ? dot + 1 : host;

	return strchr(host, ':') || last[strspn(last, "0123456789")] == '\0' ||
	       strncmp(last, "0x", 2) == 0;
}

static int add_rule(struct network_reader *reader, const struct value *item)
{
	const struct value *text = value_is(item, VALUE_MAP) ? value_get(item, "host") : item;
	const struct value *ports = value_get(item, "ports");
	const struct value *tls = value_get(item, "tls");
	char host[NETWORK_HOST_MAX];
	const char *kept;
	int port;

	if (value_is(text, VALUE_TEXT) && strstr(text->text.bytes, "://"))
		return refuse(reader, "value",
			"write only the host and its port: \"api.example.org:8443\", without "
			"\"https://\" and without a path");
	if (!value_is(text, VALUE_TEXT) ||
		!network_read_host(text->text.bytes, text->text.len, host, &port) || port < 0 ||
		(port && ports))
		return refuse(reader, "value",
			"write a host as \"api.example.org\", \"api.example.org:8443\" or "
			"\"*.example.org\", in ASCII");
	if (network_is_address(host))
		return refuse(reader, "value",
			"this is an address: write the name that the servers of names have for it");
	kept = arena_strdup(reader->arena, host);
	if (!kept)
		return -1;
	return add_ports(reader, kept, ports, port, tls ? value_as_bool(tls, true) : -1);
}

static void read_amount(const struct value *value, const char *key, uint64_t *ret_amount)
{
	const struct value *amount = value_get(value, key);

	/* the schema has checked that it is a positive integer; one that is too large is refused later */
	if (amount && number_as_u64(amount, ret_amount) < 0)
		*ret_amount = UINT64_MAX;
}

int job_network_read(struct arena *arena, const struct value *value,
	const struct job_network **ret_network, struct network_fault *ret_fault)
{
	const struct value *allow = value_get(value, "allow");
	struct job_network *network;
	struct network_reader reader = { arena, NULL, ret_fault, 0 };
	int answer = 0;

	*ret_network = NULL;
	if (!value_is(value, VALUE_MAP) || !value_is(allow, VALUE_LIST))
		return 0;
	network = arena_new(arena, struct job_network);
	if (!network)
		return -1;
	reader.network = network;
	for (; reader.rule < allow->list.count && !answer; reader.rule++)
		answer = add_rule(&reader, allow->list.items[reader.rule]);
	if (answer)
		return answer;
	read_amount(value, "connections", &network->connections);
	read_amount(value, "at_once", &network->at_once);
	read_amount(value, "up_bytes", &network->up_bytes);
	read_amount(value, "down_bytes", &network->down_bytes);
	*ret_network = network;
	return 0;
}
