#include "proto/internal/privmsg.h"

#include <stddef.h>
#include <string.h>

#include "proto/base/container.h"
#include "proto/base/fdpass.h"

#define DURING(phase) (1U << (unsigned)(phase))
#define HEAD_LEN      offsetof(struct priv_msg, body)

/* The shape of a message: of the request or of the answer of an operation. */
struct shape {
	uint32_t body_len;
	unsigned fds_least;
	unsigned fds_most;
};

/*
 * One row per operation: its name, the shapes of request and answer, and the phases that allow it.
 */
static const struct rule {
	const char *name;
	struct shape request;
	struct shape answer;
	unsigned allowed;
	bool unasked; /* the spawner sends it without a request */
} rules[PRIV_OP_COUNT] = {
	/* clang-format off */
	[PRIV_HELLO]     = { "hello",     { 0, 0, 0 },                             { sizeof(struct priv_host), 0, 0 },              DURING(PRIV_GREETING),    false },
	[PRIV_RUNTIME]   = { "runtime",   { sizeof(struct priv_runtime), 0, 0 },   { 0, 0, 0 },                                     DURING(PRIV_CONFIGURING), false },
	[PRIV_SEAL]      = { "seal",      { 0, 0, 0 },                             { 0, 0, 0 },                                     DURING(PRIV_CONFIGURING), false },
	[PRIV_ZYGOTE]    = { "zygote",    { sizeof(struct priv_zygote), 1, 1 },    { 0, 1, 1 },                                     DURING(PRIV_SERVING),     false },
	[PRIV_SLOT]      = { "slot",      { sizeof(struct priv_slot), 0, 0 },      { sizeof(struct priv_knobs), 0, PRIV_FDS_MAX },  DURING(PRIV_SERVING),     false },
	[PRIV_INSPECTOR] = { "inspector", { sizeof(struct priv_inspector), 1, 1 }, { 0, 1, 1 },                                     DURING(PRIV_SERVING),     false },
	[PRIV_KILL]      = { "kill",      { 0, 0, 0 },                             { 0, 0, 0 },                                     DURING(PRIV_SERVING),     false },
	[PRIV_EXITED]    = { "exited",    { 0, 0, 0 },                             { 0, 0, 0 },                                     0,                        true },
	/* clang-format on */
};

static const struct rule *rule_of(uint32_t op)
{
	if (op >= COUNT_OF(rules) || !rules[op].name)
		return NULL;
	return &rules[op];
}

const char *priv_op_word(uint32_t op)
{
	const struct rule *rule = rule_of(op);

	return rule ? rule->name : "unknown";
}

bool priv_op_in_turn(uint32_t op, enum priv_phase phase)
{
	const struct rule *rule = rule_of(op);

	return rule && (rule->allowed & DURING(phase));
}

enum priv_phase priv_phase_after(uint32_t op, enum priv_phase phase)
{
	if (op == PRIV_HELLO && phase == PRIV_GREETING)
		return PRIV_CONFIGURING;
	if (op == PRIV_SEAL && phase == PRIV_CONFIGURING)
		return PRIV_SERVING;
	return phase;
}

/* Returns the shape that this message must have.  An answer with an error has no body. */
static struct shape shape_of(const struct priv_msg *msg, const struct rule *rule)
{
	if (!msg->is_answer)
		return rule->request;
	return msg->error == 0 ? rule->answer : (struct shape){ 0, 0, 0 };
}

/* ---- texts and counts inside the bodies --------------------------------------------------- */

#define IS_CLOSED(array) ((array)[sizeof(array) - 1] == '\0')

static bool runtime_is_sound(const struct priv_runtime *runtime)
{
	if (runtime->bind_count > PRIV_BINDS_MAX)
		return false;
	for (size_t i = 0; i < PRIV_BINDS_MAX; i++)
		if (!IS_CLOSED(runtime->binds[i].path) || !IS_CLOSED(runtime->binds[i].place))
			return false;
	return IS_CLOSED(runtime->name) && IS_CLOSED(runtime->interpreter) &&
	       IS_CLOSED(runtime->harness) && IS_CLOSED(runtime->preload);
}

static bool knobs_are_sound(const struct priv_knobs *knobs, size_t fd_count)
{
	if (knobs->count > PRIV_FDS_MAX || knobs->count != fd_count)
		return false;
	for (size_t i = 0; i < knobs->count; i++)
		if (knobs->which[i] == KNOB_NONE || knobs->which[i] >= KNOB_COUNT)
			return false;
	return true;
}

/* Checks a body whose length has been checked against the table. */
static bool body_is_sound(const struct priv_msg *msg, size_t fd_count)
{
	if (msg->body_len == 0)
		return true;
	if (msg->op == PRIV_HELLO)
		return IS_CLOSED(msg->body.host.why_not);
	if (msg->op == PRIV_RUNTIME)
		return runtime_is_sound(&msg->body.runtime);
	if (msg->op == PRIV_SLOT && msg->is_answer)
		return knobs_are_sound(&msg->body.knobs, fd_count);
	return true;
}

/* ---- the whole message -------------------------------------------------------------------- */

static int check_head(const struct priv_msg *msg, struct err *err)
{
	const struct rule *rule = rule_of(msg->op);

	if (msg->magic != PRIV_MAGIC)
		return err_set(err, ERR_PROTOCOL, "priv: wrong magic %#x", msg->magic);
	if (!rule)
		return err_set(err, ERR_PROTOCOL, "priv: operation %u does not exist", msg->op);
	if (msg->is_answer > 1 || (rule->unasked && msg->is_answer))
		return err_set(err, ERR_PROTOCOL, "priv: %s cannot be an answer", rule->name);
	if (!msg->is_answer && msg->error != 0)
		return err_set(err, ERR_PROTOCOL, "priv: the request %s has an error", rule->name);
	if (!IS_CLOSED(msg->text))
		return err_set(err, ERR_PROTOCOL, "priv: %s has a text without an end", rule->name);
	return 0;
}

/* Needs a head that check_head() accepted. */
static int check_shape(const struct priv_msg *msg, size_t fd_count, struct err *err)
{
	const struct rule *rule = rule_of(msg->op);
	struct shape shape = shape_of(msg, rule);

	if (msg->body_len != shape.body_len)
		return err_set(err, ERR_PROTOCOL, "priv: %s has the wrong size", rule->name);
	if (fd_count < shape.fds_least || fd_count > shape.fds_most)
		return err_set(
			err, ERR_PROTOCOL, "priv: %s has %zu descriptors", rule->name, fd_count);
	if (!body_is_sound(msg, fd_count))
		return err_set(err, ERR_PROTOCOL, "priv: %s has a broken body", rule->name);
	return 0;
}

int priv_send(int sock, struct priv_msg *msg, const int *fds, unsigned fd_count, struct err *err)
{
	ssize_t sent;
	size_t len;

	msg->magic = PRIV_MAGIC;
	if (check_head(msg, err) < 0)
		return -1;
	msg->body_len = shape_of(msg, rule_of(msg->op)).body_len;
	if (check_shape(msg, fd_count, err) < 0)
		return -1;

	len = HEAD_LEN + msg->body_len;
	sent = send_with_fds(sock, msg, len, fds, fd_count, err);
	if (sent < 0)
		return err_wrap(err, "priv: %s", priv_op_word(msg->op));
	if (sent != (ssize_t)len)
		return err_set(err, ERR_PROTOCOL, "priv: the socket cuts messages");
	return 0;
}

/* Checks everything in a packet except the descriptors themselves. */
static int check_packet(
	const struct priv_msg *msg, size_t len, size_t fd_count, bool from_daemon, struct err *err)
{
	if (len < HEAD_LEN)
		return err_set(err, ERR_PROTOCOL, "priv: a message has only %zu bytes", len);
	if (check_head(msg, err) < 0)
		return -1;
	if (from_daemon == (msg->is_answer || rule_of(msg->op)->unasked))
		return err_set(
			err, ERR_PROTOCOL, "priv: %s from the wrong side", priv_op_word(msg->op));
	if (len != HEAD_LEN + msg->body_len)
		return err_set(
			err, ERR_PROTOCOL, "priv: %s has the wrong size", priv_op_word(msg->op));
	return check_shape(msg, fd_count, err);
}

int priv_recv(int sock, bool from_daemon, struct priv_msg *ret_msg, int *ret_fds,
	unsigned *ret_fd_count, struct err *err)
{
	struct err failure = ERR_INIT;
	size_t fd_count = 0;
	ssize_t got;
	int result = 0;

	memset(ret_msg, 0, sizeof(*ret_msg));
	got = recv_with_fds(
		sock, ret_msg, sizeof(*ret_msg), ret_fds, PRIV_FDS_MAX, &fd_count, &failure);
	if (got < 0 && failure.code != ERR_CLOSED)
		return err_pass(err, &failure);
	if (got > 0)
		result =
			check_packet(ret_msg, (size_t)got, fd_count, from_daemon, err) < 0 ? -1 : 1;
	if (result <= 0)
		close_fds(ret_fds, fd_count);
	*ret_fd_count = result <= 0 ? 0 : (unsigned)fd_count;
	return result;
}
