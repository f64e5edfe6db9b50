#include "daemon/settings/config_egress.h"

#include <arpa/inet.h>
#include <string.h>

#include "proto/base/err.h"
#include "proto/job/job_network.h"

/* ---- lists of words -------------------------------------------------------------------------- */

static int take_words(char *text, size_t size, const struct config_item *item,
	bool (*is_word)(const char *word), const char *form, struct err *err)
{
	size_t len = 0;

	text[0] = '\0';
	for (const struct config_value *value = item->values; value; value = value->next) {
		if (!is_word(value->text))
			return setting_fault(err, value->line, "%s: \"%s\" is not %s", item->name,
				value->text, form);
		if (len + strlen(value->text) + 2 > size)
			return setting_fault(err, value->line,
				"%s: the list is longer than %zu bytes with \"%s\"", item->name,
				size, value->text);
		cut_printf(text + len, size - len, "%s%s", len ? " " : "", value->text);
		len = strlen(text);
	}
	return 0;
}

static bool is_host(const char *word)
{
	char host[NETWORK_HOST_MAX];
	int port;

	return !strchr(word, ' ') && network_read_host(word, strlen(word), host, &port) &&
	       !network_is_address(host);
}

/* An address, perhaps with /BITS, perhaps with a port. */
static bool is_private(const char *word)
{
	char host[NETWORK_HOST_MAX];
	unsigned char bytes[16];
	char *slash;
	int port;

	cut_printf(host, sizeof(host), "%s", word);
	slash = strchr(host, '/');
	if (slash) {
		*slash = '\0';
		return strspn(slash + 1, "0123456789") == strlen(slash + 1) && slash[1] &&
		       strlen(slash + 1) <= 3 &&
		       (inet_pton(AF_INET, host, bytes) == 1 ||
			       inet_pton(AF_INET6, host, bytes) == 1);
	}
	if (inet_pton(AF_INET6, word, bytes) == 1)
		return true;
	return network_read_host(word, strlen(word), host, &port) && port >= 0 &&
	       (inet_pton(AF_INET, host, bytes) == 1 || inet_pton(AF_INET6, host, bytes) == 1);
}

static const char HOST_FORM[] =
	"the name of a host such as \"api.example.org:443\" or \"*.example.org\"";

static int take_allow(
	void *set, const struct setting *row, const struct config_item *item, struct err *err)
{
	struct config_egress *egress = set;

	(void)row;
	return take_words(egress->allow, sizeof(egress->allow), item, is_host, HOST_FORM, err);
}

static int take_private(
	void *set, const struct setting *row, const struct config_item *item, struct err *err)
{
	struct config_egress *egress = set;

	(void)row;
	return take_words(egress->privates, sizeof(egress->privates), item, is_private,
		"an address such as \"10.0.0.5:5432\" or \"10.1.0.0/16\"", err);
}

static bool is_resolver(const char *word)
{
	return is_private(word) && !strchr(word, '/');
}

static int take_resolvers(
	void *set, const struct setting *row, const struct config_item *item, struct err *err)
{
	struct config_egress *egress = set;

	(void)row;
	return take_words(egress->resolvers, sizeof(egress->resolvers), item, is_resolver,
		"the address of a server, such as \"10.0.0.1\" or \"10.0.0.1:53\"", err);
}

int config_take_egress_allow(
	void *set, const struct setting *row, const struct config_item *item, struct err *err)
{
	struct config_allowance *allowance = set;

	(void)row;
	allowance->has_egress = true;
	return take_words(allowance->egress_allow, sizeof(allowance->egress_allow), item, is_host,
		HOST_FORM, err);
}

bool config_has_egress(const struct config *config)
{
	bool has = config->egress.allow[0] != '\0';

	for (unsigned i = 0; i < config->allowance_count; i++)
		has = has ||
		      (config->allowances[i].has_egress && config->allowances[i].egress_allow[0]);
	return has;
}

/* ---- the section ----------------------------------------------------------------------------- */

static const char *const server_names_words[] = { "443", "always", "asked", NULL };

bool config_wants_server_name(const struct config *config, uint16_t port)
{
	const char *word = config->egress.server_names;

	return !strcmp(word, "always") || (!strcmp(word, "443") && port == NETWORK_PORT_TLS);
}

/* clang-format off */
#define LIST(word, field, hook, when, says) \
	{ .name = word, .type = SETTING_LIST, .offset = offsetof(struct config_egress, field), \
		.size = sizeof(((struct config_egress *)NULL)->field), .take = hook, .change = when, \
		.meaning = says }
#define ROW(field, standard, ceiling, greatest, says) \
	SETTING_NUMBER_OF(config_egress, field, .otherwise = standard, .lowest = 1, .highest = greatest, \
		.change = CHANGE_RELOAD, .meaning = says), \
	{ .name = ("most_" #field), .offset = offsetof(struct config_egress, field##_most), \
		.otherwise = ceiling, .lowest = 1, .highest = greatest, .change = CHANGE_RELOAD, \
		.meaning = "the most of these that a run may ask for" },
const struct setting config_egress[] = {
	LIST("allow", allow, take_allow, CHANGE_RELOAD,
		"hosts that runs may ask for: HOST[:PORT]; \"*.example.org\" for the names below it, \"*\" for all"),
	LIST("private", privates, take_private, CHANGE_RESTART,
		"addresses that are opened although their kind is closed: ADDRESS[:PORT] or ADDRESS/BITS"),
	LIST("resolvers", resolvers, take_resolvers, CHANGE_RESTART,
		"servers of the DNS, ADDRESS[:PORT]; empty: those of /etc/resolv.conf"),
	SETTING_TEXT_OF(config_egress, server_names, .text = "443", .words = server_names_words, .change = CHANGE_RELOAD,
		.meaning = "where a connection must begin with TLS that names the host: 443: on that port, whatever a request "
			"says; always: on every port; asked: where the request says so"),
	CONFIG_EGRESS(ROW)
	{ 0 },
};
#undef ROW
#undef LIST
/* clang-format on */
