#include "proto/leasemsg.h"

#include <stdbool.h>
#include <stddef.h>

#include "proto/base/container.h"
#include "proto/base/fdio.h"

#define LEASE_FDS_MAX (1 + LEASE_JOIN_FDS_MAX)

/* One row a kind: its name in logs and how many descriptors come with it. */
static const struct lease_rule {
	const char *name;
	unsigned fds_least;
	unsigned fds_most;
} rules[LEASE_KIND_COUNT] = {
	/* clang-format off */
	[LEASE_ZYGOTE_READY]  = { "zygote_ready",  0, 0 },
	[LEASE_SLOT_OPENED]   = { "slot_opened",   0, 0 },
	[LEASE_SLOT_FAILED]   = { "slot_failed",   0, 0 },
	[LEASE_SLOT_GONE]     = { "slot_gone",     0, 0 },
	[LEASE_SLOT_OPEN]     = { "slot_open",     1, LEASE_FDS_MAX },
	[LEASE_WORKER_MAKE]   = { "worker_make",   4, 4 },
	[LEASE_ADJUST]        = { "adjust",        0, 1 },
	[LEASE_COLLECT]       = { "collect",       2, 2 },
	[LEASE_WORKER_DROP]   = { "worker_drop",   0, 0 },
	[LEASE_WORKER_MADE]   = { "worker_made",   0, 0 },
	[LEASE_WORKER_FAILED] = { "worker_failed", 0, 0 },
	[LEASE_ADJUSTED]      = { "adjusted",      0, 0 },
	[LEASE_WORKER_ENDED]  = { "worker_ended",  0, 0 },
	[LEASE_COLLECTED]     = { "collected",     0, 0 },
	[LEASE_DROPPED]       = { "dropped",       0, 0 },
	[LEASE_WORKER_REFUSED] = { "worker_refused", 0, 0 },
	/* clang-format on */
};

static const struct lease_rule *rule_of(uint32_t kind)
{
	if (kind >= COUNT_OF(rules) || !rules[kind].name)
		return NULL;
	return &rules[kind];
}

struct lease_msg lease_msg_of(enum lease_kind kind)
{
	return (struct lease_msg){ .magic = LEASE_MAGIC, .kind = kind };
}

const char *lease_kind_word(uint32_t kind)
{
	const struct lease_rule *rule = rule_of(kind);

	return rule ? rule->name : "unknown";
}

/* Rows only where they are meant, each of them possible, and one that ended the run at most. */
static bool refused_are_well(const struct lease_msg *msg)
{
	const uint32_t most = msg->kind == LEASE_WORKER_ENDED ? LEASE_REFUSED_MAX : 0;
	unsigned ended = 0;

	if (msg->refused_count > most)
		return false;
	for (uint32_t i = 0; i < msg->refused_count; i++) {
		const struct lease_refused *row = &msg->refused[i];

		if (row->nr >= LEASE_CALLS_MAX || row->count == 0 || row->ended > 1 ||
			row->first_us < 0)
			return false;
		ended += row->ended;
	}
	return ended <= 1;
}

static int check_shape(const struct lease_msg *msg, size_t fd_count, struct err *err)
{
	const struct lease_rule *rule = rule_of(msg->kind);

	if (msg->magic != LEASE_MAGIC)
		return err_set(err, ERR_PROTOCOL, "lease: wrong magic %#x", msg->magic);
	if (!rule)
		return err_set(err, ERR_PROTOCOL, "lease: kind %u does not exist", msg->kind);
	if (fd_count < rule->fds_least || fd_count > rule->fds_most)
		return err_set(
			err, ERR_PROTOCOL, "lease: %s with %zu descriptors", rule->name, fd_count);
	if (!refused_are_well(msg))
		return err_set(err, ERR_PROTOCOL, "lease: %s with odd refused calls", rule->name);
	if (msg->text[sizeof(msg->text) - 1] != '\0')
		return err_set(err, ERR_PROTOCOL, "lease: %s with an open text", rule->name);
	return 0;
}

int lease_send(
	int sock, const struct lease_msg *msg, const int *fds, unsigned fd_count, struct err *err)
{
	ssize_t sent;

	if (check_shape(msg, fd_count, err) < 0)
		return -1;

	sent = send_with_fds(sock, msg, sizeof(*msg), fds, fd_count, err);
	if (sent < 0)
		return err_wrap(err, "lease: %s", rules[msg->kind].name);
	if (sent != (ssize_t)sizeof(*msg))
		return err_set(err, ERR_PROTOCOL, "lease: the socket cuts messages");
	return 0;
}

int lease_recv(
	int sock, struct lease_msg *ret_msg, int *ret_fds, unsigned *ret_fd_count, struct err *err)
{
	struct err failure = ERR_INIT;
	struct lease_msg msg;
	int fds[LEASE_FDS_MAX];
	size_t fd_count = 0;
	ssize_t got =
		recv_with_fds(sock, &msg, sizeof(msg), fds, LEASE_FDS_MAX, &fd_count, &failure);

	if (got == 0 || (got < 0 && failure.code == ERR_CLOSED)) {
		close_fds(fds, fd_count);
		return 0;
	}
	if (got < 0)
		return err_pass(err, &failure);

	if (got != (ssize_t)sizeof(msg)) {
		close_fds(fds, fd_count);
		return err_set(err, ERR_PROTOCOL, "lease: a message of %zd bytes", got);
	}
	if (check_shape(&msg, fd_count, err) < 0) {
		close_fds(fds, fd_count);
		return -1;
	}

	*ret_msg = msg;
	for (size_t i = 0; i < fd_count; i++)
		ret_fds[i] = fds[i];
	*ret_fd_count = (unsigned)fd_count;
	return 1;
}
