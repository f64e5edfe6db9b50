#include "daemon/workers/inspectors.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "daemon/policy/policy.h"
#include "daemon/settings/config.h"
#include "daemon/workers/spawner_link.h"
#include "proto/base/clock.h"
#include "proto/base/fdio.h"
#include "proto/base/log.h"

/*
 * Address space of one inspector.  The parse tree of a dense program takes 500 bytes per byte of
 * code.
 */
#define MEMORY_BYTES    ((uint64_t)256 << 20)
#define MEMORY_PER_CODE 1024U
#define CPU_S           60  /* over its life; it is retired long before */
#define RETRY_MS        100 /* after a loss; doubled for each one in a row that never got ready */
#define RETRY_MS_MAX    10000
#define WELL_MS         5000 /* an inspector that lived so long may be replaced at once */

/* A place for one inspector. */
struct seat {
	struct inspectors *inspectors;
	uint32_t child; /* 0: requested from the spawner, or to be requested */
	int sock;       /* our end, until the spawner has answered */
	int64_t asked_ms;
	bool was_ready;  /* this inspector was ready once, whatever happened later */
	unsigned losses; /* in a row, of inspectors that were never ready */
	struct timer *retry;
};

struct inspectors {
	struct inspectors_parts parts;
	struct inspectors_events events;
	struct seat seats[INSPECTORS_MAX];
	unsigned count;
	bool given; /* the spawner has made one: this host can make jails */
	bool closing;
};

static void ask(struct seat *seat);

void inspectors_ceilings(const struct config *config, struct priv_msg *msg)
{
	msg->body.inspector.memory_bytes = MEMORY_BYTES + MEMORY_PER_CODE * config->code_bytes;
	msg->body.inspector.cpu_s = CPU_S;
}

static void on_retry(void *owner)
{
	struct seat *seat = owner;

	timer_close(seat->retry);
	seat->retry = NULL;
	ask(seat);
}

static void ask_later(struct seat *seat)
{
	uint64_t wait_ms = RETRY_MS;

	if (seat->inspectors->closing || seat->retry)
		return;
	seat->losses = seat->was_ready ? 0 : seat->losses + 1;
	for (unsigned i = 1; i < seat->losses && wait_ms < RETRY_MS_MAX; i++)
		wait_ms *= 2;
	if (seat->was_ready && clock_ms() - seat->asked_ms > WELL_MS)
		wait_ms = 0;
	seat->retry = timer_new(seat->inspectors->parts.loop, wait_ms, 0, on_retry, seat);
}

static void replace(struct seat *seat)
{
	struct priv_msg msg = { .op = PRIV_KILL, .id = seat->child };

	seat->child = 0;
	spawner_ask(seat->inspectors->parts.spawner, &msg, NULL, 0, NULL, NULL);
	ask_later(seat);
}

static void on_answer(void *context, const struct priv_msg *msg, int *fds, unsigned fd_count)
{
	struct seat *seat = context;
	struct inspectors *inspectors = seat->inspectors;
	struct err err = ERR_INIT;
	int sock = take_fd(&seat->sock);

	close_fds(fds, fd_count);
	if (seat->inspectors->closing || msg->error) {
		close(sock);
		if (!seat->inspectors->closing && !seat->inspectors->given &&
			inspectors->events.cannot_jail(inspectors->events.owner, msg->text))
			return;
		if (!seat->inspectors->closing) {
			log_event(LOG_LEVEL_ERROR, "inspector.not_started",
				LOG_STR("why", msg->text));
			ask_later(seat);
		}
		return;
	}
	seat->child = msg->id;
	seat->inspectors->given = true;
	if (policies_add_inspector(inspectors->parts.policies, sock, seat->child, &err) == 0)
		return;
	log_event(LOG_LEVEL_ERROR, "inspector.not_added", LOG_STR("why", err.text));
	replace(seat);
}

static void ask(struct seat *seat)
{
	struct priv_msg msg = { .op = PRIV_INSPECTOR };
	struct err err = ERR_INIT;
	int ends[2];

	seat->child = 0;
	seat->was_ready = false;
	seat->asked_ms = clock_ms();
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0) {
		ask_later(seat);
		return;
	}
	(void)fd_set_nonblocking(ends[0], true, &err);
	seat->sock = ends[0];
	inspectors_ceilings(seat->inspectors->parts.config, &msg);
	spawner_ask(seat->inspectors->parts.spawner, &msg, &ends[1], 1, on_answer, seat);
}

static struct seat *seat_of(struct inspectors *inspectors, uint32_t child)
{
	for (unsigned i = 0; child && i < inspectors->count; i++)
		if (inspectors->seats[i].child == child)
			return &inspectors->seats[i];
	return NULL;
}

/*
 * Whether the rules are at fault: no inspector was ever ready, and this one cannot load the rules.
 * Then no other inspector can load them either.
 */
static bool are_rules_at_fault(const struct inspectors *inspectors, const char *why)
{
	return !policies_were_ready(inspectors->parts.policies) &&
	       strncmp(why, INSPECT_RULES_FAULT, strlen(INSPECT_RULES_FAULT)) == 0;
}

static void on_ready(void *context, uint32_t child)
{
	struct inspectors *inspectors = context;
	struct seat *seat = seat_of(inspectors, child);

	if (seat)
		seat->was_ready = true;
	inspectors->events.on_ready(inspectors->events.owner);
}

static void on_lost(void *context, uint32_t child, const char *why, bool retired)
{
	struct inspectors *inspectors = context;
	struct seat *seat = seat_of(inspectors, child);

	if (!seat || inspectors->closing)
		return;
	if (are_rules_at_fault(inspectors, why) &&
		inspectors->events.cannot_start(inspectors->events.owner, why,
			"correct the rules; cectl policy test --new tries them beforehand"))
		return;
	if (!retired)
		log_event(LOG_LEVEL_WARNING, "inspector.lost", LOG_INT("child", child),
			LOG_STR("why", why));
	replace(seat);
}

void inspectors_child_exited(struct inspectors *inspectors, uint32_t child, int status)
{
	/* Its socket closed as well, and the policy reports that with on_lost(). */
	if (inspectors && seat_of(inspectors, child))
		log_event(LOG_LEVEL_DEBUG, "inspector.exited", LOG_INT("child", child),
			LOG_INT("status", status));
}

struct inspectors *inspectors_start(const struct inspectors_parts *parts,
	const struct inspectors_events *events, struct err *err)
{
	struct inspectors *inspectors = calloc(1, sizeof(*inspectors));
	const struct inspector_events heard = { on_ready, on_lost, inspectors };

	if (!inspectors) {
		(void)err_set(err, ERR_MEMORY, "no memory for inspectors");
		return NULL;
	}
	inspectors->parts = *parts;
	inspectors->events = *events;
	inspectors->count = (unsigned)parts->config->inspectors;
	if (policies_start(parts->policies, parts->loop, &heard, err) < 0) {
		free(inspectors);
		return NULL;
	}
	for (unsigned i = 0; i < inspectors->count; i++) {
		inspectors->seats[i].inspectors = inspectors;
		inspectors->seats[i].sock = -1;
		ask(&inspectors->seats[i]);
	}
	return inspectors;
}

void inspectors_closing(struct inspectors *inspectors)
{
	if (!inspectors)
		return;
	inspectors->closing = true;
	for (unsigned i = 0; i < inspectors->count; i++)
		timer_close(inspectors->seats[i].retry);
}

void inspectors_end(struct inspectors *inspectors)
{
	inspectors_closing(inspectors);
	for (unsigned i = 0; i < inspectors->count; i++) {
		struct priv_msg msg = { .op = PRIV_KILL, .id = inspectors->seats[i].child };

		inspectors->seats[i].child = 0;
		inspectors->seats[i].retry = NULL;
		if (msg.id)
			spawner_ask(inspectors->parts.spawner, &msg, NULL, 0, NULL, NULL);
	}
}

bool inspectors_are_quiet(const struct inspectors *inspectors)
{
	for (unsigned i = 0; i < inspectors->count; i++)
		if (inspectors->seats[i].sock >= 0)
			return false;
	return true;
}

void inspectors_free(struct inspectors *inspectors)
{
	free(inspectors);
}
