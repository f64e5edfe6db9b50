#include "proto/internal/egressmsg.h"

#include <stddef.h>
#include <string.h>

#include "proto/base/container.h"
#include "proto/base/fdio.h"

#define HEAD_LEN        offsetof(struct egress_msg, body)
#define IS_CLOSED(text) ((text)[sizeof(text) - 1] == '\0')

/* One row per kind: its name, the size of its body, its direction and its descriptors. */
static const struct rule {
	const char *name;
	size_t body_len;
	bool from_daemon;
	unsigned fds;
} rules[EGRESS_KIND_COUNT] = {
	/* clang-format off */
	[EGRESS_SETUP]   = { "setup",   sizeof(struct egress_setup),      true,  0 },
	[EGRESS_BEGIN]   = { "begin",   sizeof(struct egress_begin),      true,  1 },
	[EGRESS_END]     = { "end",     sizeof(struct egress_end),        true,  0 },
	[EGRESS_READY]   = { "ready",   0,                                false, 0 },
	[EGRESS_DECIDED] = { "decided", sizeof(struct egress_connection), false, 0 },
	[EGRESS_CLOSED]  = { "closed",  sizeof(struct egress_connection), false, 0 },
	[EGRESS_ENDED]   = { "ended",   sizeof(struct egress_end),        false, 0 },
	/* clang-format on */
};

static const char *const verdicts[EGRESS_VERDICT_COUNT] = {
	[EGRESS_ALLOWED] = "allowed",
	[EGRESS_DENIED] = "denied",
	[EGRESS_FAILED] = "failed",
	[EGRESS_LIMIT] = "limit",
};

static const char *const ways[EGRESS_WAY_COUNT] = {
	[EGRESS_BY_ADDRESS] = "address",
	[EGRESS_BY_PROXY] = "proxy",
};

static const char *const whys[EGRESS_WHY_COUNT] = {
	[EGRESS_WHY_RULE] = "not_listed",
	[EGRESS_WHY_CLOSED_ADDRESS] = "closed_address",
	[EGRESS_WHY_NOT_TLS] = "not_tls",
	[EGRESS_WHY_NO_SERVER_NAME] = "no_server_name",
	[EGRESS_WHY_SERVER_NAME] = "other_server_name",
	[EGRESS_WHY_HIDDEN_NAME] = "hidden_server_name",
	[EGRESS_WHY_REQUEST] = "bad_request",
	[EGRESS_WHY_LOOKUP] = "name_not_found",
	[EGRESS_WHY_CONNECT] = "not_reached",
	[EGRESS_WHY_TIMEOUT] = "timeout",
	[EGRESS_WHY_CONNECTIONS] = "connections",
	[EGRESS_WHY_AT_ONCE] = "at_once",
	[EGRESS_WHY_UP_BYTES] = "up_bytes",
	[EGRESS_WHY_DOWN_BYTES] = "down_bytes",
	[EGRESS_WHY_MEMORY] = "no_room",
};

const char *egress_verdict_word(uint32_t verdict)
{
	return verdict < COUNT_OF(verdicts) ? verdicts[verdict] : NULL;
}

const char *egress_way_word(uint32_t way)
{
	return way < COUNT_OF(ways) ? ways[way] : NULL;
}

const char *egress_why_word(uint32_t why)
{
	return why < COUNT_OF(whys) ? whys[why] : NULL;
}

/* ---- checks --------------------------------------------------------------------------------- */

static bool setup_is_sound(const struct egress_setup *setup)
{
	if (!IS_CLOSED(setup->resolvers) || setup->private_count > EGRESS_PRIVATE_MAX)
		return false;
	for (uint32_t i = 0; i < setup->private_count; i++)
		if (setup->privates[i].bits > 128 || setup->privates[i].port > UINT16_MAX)
			return false;
	return true;
}

static bool begin_is_sound(const struct egress_begin *begin)
{
	if (begin->rule_count == 0 || begin->rule_count > EGRESS_RULES_MAX)
		return false;
	for (uint32_t i = 0; i < begin->rule_count; i++)
		if (!IS_CLOSED(begin->rules[i].host) || !begin->rules[i].port)
			return false;
	return true;
}

bool egress_text_has(uint8_t byte)
{
	static const char others[] = "-._:";

	return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
	       (byte >= 'A' && byte <= 'Z') || (byte && memchr(others, byte, sizeof(others)));
}

/* What ced-egress was told by programs and servers comes into the record. */
static bool is_plain(const char *text, size_t size)
{
	size_t len = strnlen(text, size);

	for (size_t i = 0; i < len; i++)
		if (!egress_text_has((uint8_t)text[i]))
			return false;
	return len < size;
}

#define IS_PLAIN(text) is_plain((text), sizeof(text))

static bool connection_is_sound(const struct egress_connection *connection)
{
	return connection->verdict < EGRESS_VERDICT_COUNT && connection->way < EGRESS_WAY_COUNT &&
	       connection->why < EGRESS_WHY_COUNT && connection->port <= UINT16_MAX &&
	       IS_PLAIN(connection->host) && IS_PLAIN(connection->sni) &&
	       IS_PLAIN(connection->address);
}

static bool body_is_sound(const struct egress_msg *msg)
{
	switch ((enum egress_kind)msg->kind) {
	case EGRESS_SETUP:
		return setup_is_sound(&msg->body.setup);
	case EGRESS_BEGIN:
		return begin_is_sound(&msg->body.begin);
	case EGRESS_DECIDED:
	case EGRESS_CLOSED:
		return connection_is_sound(&msg->body.connection);
	case EGRESS_NONE:
	case EGRESS_END:
	case EGRESS_READY:
	case EGRESS_ENDED:
	case EGRESS_KIND_COUNT:
		break;
	}
	return true;
}

static int check(const struct egress_msg *msg, size_t len, size_t fd_count, bool from_daemon,
	struct err *err)
{
	const struct rule *rule;

	if (len < HEAD_LEN || msg->magic != EGRESS_MAGIC || msg->kind >= COUNT_OF(rules) ||
		!rules[msg->kind].name)
		return err_set(err, ERR_PROTOCOL, "not a message of ced-egress");
	rule = &rules[msg->kind];
	if (len != HEAD_LEN + rule->body_len || fd_count != rule->fds ||
		from_daemon != rule->from_daemon)
		return err_set(
			err, ERR_PROTOCOL, "egress message %s has the wrong shape", rule->name);
	if (!body_is_sound(msg))
		return err_set(
			err, ERR_PROTOCOL, "egress message %s has invalid values", rule->name);
	return 0;
}

int egressmsg_send(int sock, const struct egress_msg *msg, int fd, struct err *err)
{
	const struct rule *rule = msg->kind < COUNT_OF(rules) ? &rules[msg->kind] : &rules[0];
	const size_t len = HEAD_LEN + rule->body_len;

	if (check(msg, len, fd >= 0 ? 1 : 0, rule->from_daemon, err) < 0)
		return -1;
	if (send_with_fds(sock, msg, len, &fd, rule->fds, err) != (ssize_t)len)
		return err_wrap(err, "egress message %s", rule->name);
	return 0;
}

int egressmsg_recv(
	int sock, bool from_daemon, struct egress_msg *ret_msg, int *ret_fd, struct err *err)
{
	struct err failure = ERR_INIT;
	size_t fd_count = 0;
	int fd = -1;
	ssize_t got = recv_with_fds(sock, ret_msg, sizeof(*ret_msg), &fd, 1, &fd_count, &failure);

	*ret_fd = -1;
	if (got == 0 || (got < 0 && failure.code == ERR_CLOSED))
		return 0;
	if (got < 0)
		return err_pass(err, &failure);
	if (check(ret_msg, (size_t)got, fd_count, from_daemon, err) < 0) {
		close_fds(&fd, fd_count);
		return -1;
	}
	*ret_fd = fd_count ? fd : -1;
	return 1;
}
