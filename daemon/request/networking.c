#include "daemon/request/networking.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/policy/allowances.h"
#include "daemon/services.h"
#include "daemon/settings/config_egress.h"
#include "daemon/workers/egress_link.h"
#include "daemon/workers/runtime.h"
#include "proto/base/buf.h"
#include "proto/base/cleanup.h"
#include "proto/base/clock.h"
#include "proto/base/container.h"
#include "proto/base/fdio.h"
#include "proto/fill.h"
#include "proto/internal/slotmsg.h"
#include "proto/job/job_network.h"

#define ROWS_MAX      128
#define ROWS_VAIN_MAX 64 /* a program can think of any number of hosts that it does not reach */
#define STEPS_MAX     8  /* of the steps that a run has room for */

/* Connections that are alike in all but their numbers. */
struct net_row {
	struct egress_connection like;
	uint64_t count, up, down;
	int64_t first_us, connect_us, took_us;
};

struct networking {
	struct egress_run run;
	struct request *request;
	bool begun;
	void (*then)(struct request *request);
	struct net_row *rows;
	size_t row_count, vain_count;
	unsigned steps;
	uint64_t others, others_bytes;
};

/* ---- what may be asked ------------------------------------------------------------------------ */

static bool refuse(const struct wish *wish, struct job_refusal *ret_refusal, const char *pointer,
	const char *reason, const char *message)
{
	*ret_refusal = (struct job_refusal){ pointer, reason,
		arena_printf(wish->arena, "%s: %s", pointer, message) };
	return false;
}

static bool amounts_are_allowed(const struct wish *wish, struct job_refusal *ret_refusal)
{
	const struct job_network *asked = wish->spec->network;
	const struct config_egress *egress = &wish->services->config->egress;
	const struct {
		const char *pointer;
		uint64_t asked, most;
	} rows[] = {
		{ "/network/connections", asked->connections, egress->connections_most },
		{ "/network/at_once", asked->at_once, egress->at_once_most },
		{ "/network/up_bytes", asked->up_bytes, egress->up_bytes_most },
		{ "/network/down_bytes", asked->down_bytes, egress->down_bytes_most },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++)
		if (rows[i].asked > rows[i].most)
			return refuse(wish, ret_refusal, rows[i].pointer, "range",
				arena_printf(wish->arena, "must be at most %llu",
					(unsigned long long)rows[i].most));
	return true;
}

static bool pair_is_allowed(const struct wish *wish, const struct allowance_case *what,
	const struct network_pair *pair, struct job_refusal *ret_refusal)
{
	const struct config *config = wish->services->config;
	const char *why = NULL;

	if (!allowances_cover_host(config, what, pair->host, pair->port))
		why = arena_printf(wish->arena,
			"the settings of this host do not allow %s:%u to this caller, runtime and "
			"policy%s",
			pair->host, pair->port,
			pair->port == 443 ? " (without a port, 443 is meant)" : "");
	else if (!pair->tls && config_wants_server_name(config, pair->port))
		why = arena_printf(wish->arena,
			"the setting egress.server_names wants TLS that names %s at port %u: say "
			"\"tls\": true",
			pair->host, pair->port);
	return !why ||
	       refuse(wish, ret_refusal, arena_printf(wish->arena, "/network/allow/%u", pair->rule),
		       "not_allowed", why);
}

bool networking_is_allowed(const struct wish *wish, struct job_refusal *ret_refusal)
{
	const struct config *config = wish->services->config;
	const struct job_network *asked = wish->spec->network;
	const struct allowance_case what = {
		.runtime = wish->spec->language,
		.policy = wish->spec->policy,
		.has_caller = true,
		.uid = wish->caller->uid,
		.gid = wish->caller->gid,
	};

	if (!asked)
		return true;
	if (!config_has_egress(config) || !wish->runtime->networked)
		return refuse(wish, ret_refusal, "/network", "not_allowed",
			"no run on this host has a network; the setting egress.allow lists hosts");
	for (size_t i = 0; i < asked->pair_count; i++)
		if (!pair_is_allowed(wish, &what, &asked->pairs[i], ret_refusal))
			return false;
	return amounts_are_allowed(wish, ret_refusal);
}

/* ---- rules, hosts and listeners ---------------------------------------------------------------- */

/* The address that an earlier rule gave the same host; 0: none. */
static uint32_t known_address(const struct egress_begin *begin, uint32_t count, const char *host)
{
	for (uint32_t i = 0; i < count; i++)
		if (strcmp(begin->rules[i].host, host) == 0)
			return begin->rules[i].address;
	return 0;
}

static void write_rules(const struct job_network *asked, struct egress_begin *begin)
{
	uint32_t next = SLOTMSG_NET_FIRST;

	for (size_t i = 0; i < asked->pair_count; i++) {
		const struct network_pair *pair = &asked->pairs[i];
		struct egress_rule *rule = &begin->rules[i];
		uint32_t known = known_address(begin, (uint32_t)i, pair->host);

		cut_printf(rule->host, sizeof(rule->host), "%s", pair->host);
		rule->port = pair->port;
		rule->tls = pair->tls;
		rule->proxy = asked->has_pattern;
		if (pair->host[0] != '*')
			rule->address = known ? known : next++;
	}
	begin->rule_count = (uint32_t)asked->pair_count;
}

static uint64_t amount(uint64_t asked, uint64_t otherwise, uint64_t most)
{
	uint64_t number = asked ? asked : otherwise;

	return number < most ? number : most;
}

static void write_amounts(const struct request *request, struct egress_begin *begin)
{
	const struct job_network *asked = request->spec.network;
	const struct config_egress *egress = &request->services->config->egress;

	begin->connections =
		(uint32_t)amount(asked->connections, egress->connections, egress->connections_most);
	begin->at_once = (uint32_t)amount(asked->at_once, egress->at_once, egress->at_once_most);
	begin->up_bytes = amount(asked->up_bytes, egress->up_bytes, egress->up_bytes_most);
	begin->down_bytes = amount(asked->down_bytes, egress->down_bytes, egress->down_bytes_most);
}

static void add_port(struct slotmsg_network *orders, uint16_t port)
{
	for (uint32_t i = 0; i < orders->port_count; i++)
		if (orders->ports[i] == port)
			return;
	if (orders->port_count < SLOTMSG_NET_PORTS_MAX)
		orders->ports[orders->port_count++] = port;
}

static void add_host(struct slotmsg_network *orders, uint32_t address, const char *host)
{
	const struct in_addr in = { htonl(address) };
	char text[INET_ADDRSTRLEN] = "";
	size_t room = sizeof(orders->hosts) - orders->hosts_len;

	(void)inet_ntop(AF_INET, &in, text, sizeof(text));
	cut_printf(orders->hosts + orders->hosts_len, room, "%s %s\n", text, host);
	orders->hosts_len += (uint32_t)strlen(orders->hosts + orders->hosts_len);
}

static int write_orders(const struct egress_begin *begin, struct err *err)
{
	static struct slotmsg_network orders; /* large for a stack */
	auto_fd int fd = memfd_create("network", MFD_CLOEXEC);

	memset(&orders, 0, sizeof(orders));
	orders.magic = SLOTMSG_MAGIC;
	add_host(&orders, 0x7f000001U, "localhost");
	for (uint32_t i = 0; i < begin->rule_count; i++) {
		const struct egress_rule *rule = &begin->rules[i];

		if (!rule->address)
			continue;
		add_port(&orders, rule->port);
		if (!known_address(begin, i, rule->host))
			add_host(&orders, rule->address, rule->host);
	}
	if (begin->rules[0].proxy)
		add_port(&orders, SLOTMSG_NET_PROXY);
	if (fd < 0)
		return err_sys(err, "memfd_create");
	if (write_all(fd, &orders, sizeof(orders), err) < 0)
		return -1;
	return take_fd(&fd);
}

/* ---- words in the environment ------------------------------------------------------------------ */

static bool has_variable(const struct job_spec *spec, const char *key)
{
	for (size_t i = 0; i < spec->env_count; i++)
		if (strcmp(spec->env[i].key, key) == 0)
			return true;
	return false;
}

static const char *exact_hosts(struct arena *arena, const struct job_network *asked)
{
	const char *list = "localhost,127.0.0.1";

	for (size_t i = 0; i < asked->pair_count && list; i++)
		if (asked->pairs[i].host[0] != '*')
			list = arena_printf(arena, "%s,%s", list, asked->pairs[i].host);
	return list;
}

/*
 * Patterns are reached by the proxy, so the job gets the variables that point to it.  The record
 * keeps the request as it came.
 */
static void add_proxy(struct request *request)
{
	static const char *const keys[] = { "HTTPS_PROXY", "HTTP_PROXY", "https_proxy",
		"http_proxy", "NO_PROXY", "no_proxy", "NODE_USE_ENV_PROXY" };
	const char *const proxy = "http://127.0.0.1:3128";
	struct job_spec *spec = arena_new(&request->arena, struct job_spec);
	const char *exact = exact_hosts(&request->arena, request->spec.network);
	struct job_pair *env = arena_array(
		&request->arena, struct job_pair, request->spec.env_count + COUNT_OF(keys));

	if (!spec || !env || !exact)
		return; /* the program can still name the proxy itself */
	*spec = request->spec;
	if (spec->env_count)
		memcpy(env, spec->env, spec->env_count * sizeof(*env));
	spec->env = env;
	for (size_t i = 0; i < COUNT_OF(keys); i++) {
		const char *value = i < 4 ? proxy : i < 6 ? exact : "1";

		if (!has_variable(&request->spec, keys[i]))
			env[spec->env_count++] = (struct job_pair){ keys[i],
				(struct bytes){ value, strlen(value) } };
	}
	request->execution.spec = spec;
}

/* ---- connections ------------------------------------------------------------------------------ */

static bool is_alike(const struct egress_connection *one, const struct egress_connection *other)
{
	return one->port == other->port && one->way == other->way &&
	       one->verdict == other->verdict && one->why == other->why &&
	       strcmp(one->host, other->host) == 0 && strcmp(one->sni, other->sni) == 0 &&
	       strcmp(one->address, other->address) == 0;
}

/* NULL: there is none, and no room for one.  Those that were never allowed do not take all of it. */
static struct net_row *row_of(
	struct networking *net, const struct egress_connection *connection, bool was_allowed)
{
	struct net_row *row;

	for (size_t i = 0; i < net->row_count; i++)
		if (is_alike(&net->rows[i].like, connection))
			return &net->rows[i];
	if (net->row_count == ROWS_MAX || (!was_allowed && net->vain_count == ROWS_VAIN_MAX))
		return NULL;
	net->vain_count += !was_allowed;
	row = &net->rows[net->row_count++];
	*row = (struct net_row){ .like = *connection };
	row->first_us = clock_us() - net->request->execution.started_us;
	return row;
}

/* One step for each of the first hosts that were denied. */
static void step_denied(struct networking *net, const struct egress_connection *connection)
{
	struct request *request = net->request;
	const char *why = egress_why_word(connection->why);

	for (size_t i = 0; i + 1 < net->row_count; i++)
		if (net->rows[i].like.verdict == EGRESS_DENIED &&
			strcmp(net->rows[i].like.host, connection->host) == 0)
			return;
	if (net->steps++ >= STEPS_MAX)
		return;
	request_step(request, "network.denied", "execute", false,
		arena_printf(&request->arena, "%s:%u%s%s", connection->host, connection->port,
			why ? ", " : "", why ? why : ""));
}

/* One that was allowed and then reached a limit, or was denied, counts as that, once. */
static struct net_row *row_of_closed(
	struct networking *net, const struct egress_connection *connection)
{
	const bool is_cut = connection->verdict != EGRESS_ALLOWED;
	struct egress_connection allowed = *connection;
	struct net_row *before;
	struct net_row *row;

	allowed.verdict = EGRESS_ALLOWED;
	allowed.why = EGRESS_WHY_NONE;
	if (connection->verdict == EGRESS_DENIED) /* for a name that came later */
		memcpy(allowed.sni, connection->host, sizeof(allowed.sni));
	before = row_of(net, &allowed, true);
	row = is_cut ? row_of(net, connection, connection->verdict != EGRESS_DENIED) : NULL;
	if (!row && connection->verdict != EGRESS_DENIED)
		return before;
	if (before && before->count > 0)
		before->count--;
	else if (!before && net->others > 0)
		net->others--; /* it was one of them */
	if (row)
		row->count++;
	else
		net->others++; /* no longer told as allowed */
	return row;
}

static void on_connection(
	struct egress_run *run, const struct egress_connection *connection, bool is_closed)
{
	struct networking *net = container_of(run, struct networking, run);
	size_t rows = net->row_count;
	struct net_row *row =
		is_closed ? row_of_closed(net, connection)
			  : row_of(net, connection, connection->verdict == EGRESS_ALLOWED);

	if (!row) {
		net->others += !is_closed;
		net->others_bytes += connection->up + connection->down;
		return;
	}
	row->count += !is_closed;
	row->up += connection->up;
	row->down += connection->down;
	if (!is_closed && connection->connect_us > row->connect_us)
		row->connect_us = connection->connect_us;
	if (is_closed || connection->verdict != EGRESS_ALLOWED)
		row->took_us += connection->took_us;
	if (connection->verdict == EGRESS_DENIED && net->row_count > rows)
		step_denied(net, connection);
}

static struct value *make_connection(struct arena *arena, const void *items, size_t index)
{
	const struct net_row *row = (const struct net_row *)items + index;
	const struct egress_connection *like = &row->like;
	struct fill fill = fill_start(arena);

	fill_text(&fill, "host", arena_strdup(arena, like->host));
	fill_uint(&fill, "port", like->port);
	fill_text(&fill, "way", egress_way_word(like->way));
	fill_text(&fill, "verdict", egress_verdict_word(like->verdict));
	fill_optional_text(&fill, "why", egress_why_word(like->why));
	if (like->sni[0])
		fill_text(&fill, "sni", arena_strdup(arena, like->sni));
	if (like->address[0])
		fill_text(&fill, "address", arena_strdup(arena, like->address));
	fill_uint(&fill, "count", row->count);
	fill_uint(&fill, "up", row->up);
	fill_uint(&fill, "down", row->down);
	fill_int(&fill, "first_us", row->first_us);
	if (row->connect_us)
		fill_int(&fill, "connect_us", row->connect_us);
	fill_int(&fill, "took_us", row->took_us);
	return fill_done(&fill);
}

static void write_result(struct networking *net)
{
	struct job_result *result = &net->request->result;
	struct arena *arena = &net->request->arena;
	struct fill fill = fill_start(arena);
	size_t kept = 0;

	for (size_t i = 0; i < net->row_count; i++)
		if (net->rows[i].count > 0)
			net->rows[kept++] = net->rows[i];
	fill_list(&fill, "connections", kept, net->rows, make_connection);
	result->connections = value_get(fill_done(&fill), "connections");
	result->connections_others = net->others;
	result->connections_others_bytes = net->others_bytes;
	result->connections_lost = net->run.lost;
}

/* ---- its life -------------------------------------------------------------------------------- */

static void on_ended(struct egress_run *run)
{
	struct networking *net = container_of(run, struct networking, run);

	net->begun = false;
	write_result(net);
	net->then(net->request);
}

static int begin(struct request *request, struct networking *net, struct err *err)
{
	static struct egress_begin rules; /* large for a stack */
	struct execution *execution = &request->execution;
	int slot_fd = -1;
	int orders;

	memset(&rules, 0, sizeof(rules));
	write_rules(request->spec.network, &rules);
	write_amounts(request, &rules);
	net->run.on_connection = on_connection;
	net->run.on_ended = on_ended;
	net->request = request;
	orders = write_orders(&rules, err);
	if (orders < 0)
		return -1;
	if (egress_link_begin(request->services->egress, &net->run, &rules, &slot_fd, err) < 0) {
		close(orders);
		return -1;
	}
	net->begun = true;
	execution->network_fds[0] = orders;
	execution->network_fds[1] = slot_fd;
	return 0;
}

void networking_begin(struct request *request)
{
	struct networking *net;
	struct err err = ERR_INIT;

	if (!request->spec.network || request->networking)
		return;
	net = calloc(1, sizeof(*net));
	request->execution.network_trouble = "There is no memory for the network of the run.";
	if (net)
		net->rows = calloc(ROWS_MAX, sizeof(*net->rows));
	if (!net || !net->rows) {
		free(net);
		return;
	}
	request->networking = net;
	request->execution.has_network = true;
	request->execution.network_fds[0] = request->execution.network_fds[1] = -1;
	if (request->spec.network->has_pattern)
		add_proxy(request);
	if (begin(request, net, &err) == 0)
		request->execution.network_trouble = NULL;
	else
		request->execution.network_trouble = arena_printf(
			&request->arena, "The network of the run cannot be opened: %s", err.text);
}

bool networking_end(struct request *request, void (*then)(struct request *request))
{
	struct networking *net = request->networking;
	const enum outcome outcome = request->result.outcome;
	const bool by_itself = outcome_is_fact(outcome) || outcome == OUTCOME_SIGNAL;

	if (!net || !net->begun)
		return false;
	net->then = then;
	if (egress_link_end(request->services->egress, &net->run, by_itself))
		return true;
	net->begun = false;
	write_result(net);
	return false;
}

void networking_leave(struct request *request)
{
	if (!request->networking)
		return;
	if (request->networking->begun)
		egress_link_forget(request->services->egress, &request->networking->run);
	free(request->networking->rows);
	free(request->networking);
	request->networking = NULL;
}
