#include "proto/internal/slotmsg.h"

#include <stdbool.h>
#include <stddef.h>

#include "proto/base/container.h"
#include "proto/base/fdio.h"

#define SLOTMSG_FDS_MAX (1 + SLOTMSG_JOIN_FDS_MAX)

/* One row per kind: its name in logs and how many descriptors it has. */
static const struct slotmsg_rule {
	const char *name;
	unsigned fds_least;
	unsigned fds_most;
} rules[SLOTMSG_KIND_COUNT] = {
	/* clang-format off */
	[SLOTMSG_ZYGOTE_READY]  = { "zygote_ready",  0, 0 },
	[SLOTMSG_SLOT_OPENED]   = { "slot_opened",   0, 0 },
	[SLOTMSG_SLOT_FAILED]   = { "slot_failed",   0, 0 },
	[SLOTMSG_SLOT_GONE]     = { "slot_gone",     0, 0 },
	[SLOTMSG_SLOT_OPEN]     = { "slot_open",     1, SLOTMSG_FDS_MAX },
	[SLOTMSG_WORKER_MAKE]   = { "worker_make",   4, 4 },
	[SLOTMSG_ADJUST]        = { "adjust",        0, 1 },
	[SLOTMSG_COLLECT]       = { "collect",       2, 2 },
	[SLOTMSG_NETWORK]       = { "network",       2, 2 },
	[SLOTMSG_WORKER_DROP]   = { "worker_drop",   0, 0 },
	[SLOTMSG_WORKER_MADE]   = { "worker_made",   0, 0 },
	[SLOTMSG_WORKER_FAILED] = { "worker_failed", 0, 0 },
	[SLOTMSG_ADJUSTED]      = { "adjusted",      0, 0 },
	[SLOTMSG_WORKER_ENDED]  = { "worker_ended",  0, 0 },
	[SLOTMSG_COLLECTED]     = { "collected",     0, 0 },
	[SLOTMSG_DROPPED]       = { "dropped",       0, 0 },
	[SLOTMSG_NETWORKED]     = { "networked",     0, 0 },
	[SLOTMSG_WORKER_REFUSED] = { "worker_refused", 0, 0 },
	[SLOTMSG_CELL_END]      = { "cell_end",      0, 0 },
	[SLOTMSG_CELL_ENDED]    = { "cell_ended",    0, 0 },
	[SLOTMSG_KEEP]          = { "keep",          2, 1 + SLOTMSG_JOIN_FDS_MAX },
	[SLOTMSG_PROMOTE]       = { "promote",       0, 0 },
	[SLOTMSG_STATE_DROP]    = { "state_drop",    0, 0 },
	[SLOTMSG_PERMITTED]     = { "permitted",     0, 0 },
	[SLOTMSG_KEPT]          = { "kept",          0, 0 },
	[SLOTMSG_PROMOTED]      = { "promoted",      0, 0 },
	[SLOTMSG_STATE_GONE]    = { "state_gone",    0, 0 },
	/* clang-format on */
};

static const struct slotmsg_rule *rule_of(uint32_t kind)
{
	if (kind >= COUNT_OF(rules) || !rules[kind].name)
		return NULL;
	return &rules[kind];
}

struct slotmsg slotmsg_of(enum slotmsg_kind kind)
{
	return (struct slotmsg){ .magic = SLOTMSG_MAGIC, .kind = kind };
}

const char *slotmsg_kind_word(uint32_t kind)
{
	const struct slotmsg_rule *rule = rule_of(kind);

	return rule ? rule->name : "unknown";
}

/*
 * Checks the rows of refused calls: only WORKER_ENDED and CELL_ENDED have them, each has valid values, and at most
 * one ended the run.
 */
static bool refused_are_well(const struct slotmsg *msg)
{
	const bool reports = msg->kind == SLOTMSG_WORKER_ENDED || msg->kind == SLOTMSG_CELL_ENDED;
	const uint32_t most = reports ? SLOTMSG_REFUSED_MAX : 0;
	unsigned ended = 0;

	if (msg->refused_count > most)
		return false;
	for (uint32_t i = 0; i < msg->refused_count; i++) {
		const struct slotmsg_refused *row = &msg->refused[i];

		if (row->nr >= SLOTMSG_CALLS_MAX || row->count == 0 || row->ended > 1 ||
			row->first_us < 0)
			return false;
		ended += row->ended;
	}
	return ended <= 1;
}

static int check_shape(const struct slotmsg *msg, size_t fd_count, struct err *err)
{
	const struct slotmsg_rule *rule = rule_of(msg->kind);

	if (msg->magic != SLOTMSG_MAGIC)
		return err_set(
			err, ERR_PROTOCOL, "slot message with the wrong magic %#x", msg->magic);
	if (!rule)
		return err_set(err, ERR_PROTOCOL, "slot message of unknown kind %u", msg->kind);
	if (fd_count < rule->fds_least || fd_count > rule->fds_most)
		return err_set(err, ERR_PROTOCOL, "slot message %s has %zu descriptors", rule->name,
			fd_count);
	if (!refused_are_well(msg))
		return err_set(
			err, ERR_PROTOCOL, "slot message %s has invalid refused calls", rule->name);
	if (msg->text[sizeof(msg->text) - 1] != '\0')
		return err_set(
			err, ERR_PROTOCOL, "slot message %s has a text without an end", rule->name);
	return 0;
}

int slotmsg_send(
	int sock, const struct slotmsg *msg, const int *fds, unsigned fd_count, struct err *err)
{
	ssize_t sent;

	if (check_shape(msg, fd_count, err) < 0)
		return -1;

	sent = send_with_fds(sock, msg, sizeof(*msg), fds, fd_count, err);
	if (sent < 0)
		return err_wrap(err, "slot message %s", rules[msg->kind].name);
	if (sent != (ssize_t)sizeof(*msg))
		return err_set(err, ERR_PROTOCOL, "the socket cuts slot messages");
	return 0;
}

int slotmsg_recv(
	int sock, struct slotmsg *ret_msg, int *ret_fds, unsigned *ret_fd_count, struct err *err)
{
	struct err failure = ERR_INIT;
	size_t fd_count = 0;
	ssize_t got = recv_with_fds(
		sock, ret_msg, sizeof(*ret_msg), ret_fds, SLOTMSG_FDS_MAX, &fd_count, &failure);
	int result = 1;

	if (got == 0 || (got < 0 && failure.code == ERR_CLOSED))
		result = 0;
	else if (got < 0)
		return err_pass(err, &failure);
	else if (got != (ssize_t)sizeof(*ret_msg))
		result = err_set(err, ERR_PROTOCOL, "a slot message has %zd bytes", got);
	else
		result = check_shape(ret_msg, fd_count, err) < 0 ? -1 : 1;
	if (result <= 0)
		close_fds(ret_fds, fd_count);
	*ret_fd_count = result <= 0 ? 0 : (unsigned)fd_count;
	return result;
}
