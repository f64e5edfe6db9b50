#include "daemon/workers/egress_link.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "daemon/settings/config_egress.h"
#include "proto/base/cleanup.h"
#include "proto/base/clock.h"
#include "proto/base/container.h"
#include "proto/base/fdio.h"
#include "proto/base/log.h"
#include "proto/job/job_network.h"

#define RETRY_MS       100 /* after an end; doubled for each one in a row that never served */
#define RETRY_MS_MAX   10000
#define TURN_MS        2    /* until runs that ended without a process are reported */
#define SILENT_MS      5000 /* for the process to end a run; it waits EGRESS_DRAIN_MS at most */
#define VISIT_MESSAGES 64   /* in one turn of the loop */
#define RESOLV_PATH    "/etc/resolv.conf"
#define RESOLV_MAX     ((size_t)64 << 10)

struct egress_link {
	uv_loop_t *loop;
	const struct config *config;
	struct spawner_link *spawner;
	uint32_t child;
	int early_sock; /* our end, until the spawner has answered */
	struct watch *watch;
	bool is_ready;
	bool closing;
	unsigned failures; /* in a row */
	struct timer *retry;
	struct timer *turn;  /* ends runs that are ended here */
	struct timer *alarm; /* while a run is being ended */
	struct list runs;
	uint64_t last_id;
	struct timespec resolv_changed;
	char trouble[ERR_TEXT_MAX];
	struct egress_msg msg; /* large for a stack */
};

static void ask(struct egress_link *link);

/* ---- settings -------------------------------------------------------------------------------- */

static void put_private(struct egress_setup *setup, const char *word, size_t len)
{
	struct egress_private *row = &setup->privates[setup->private_count];
	char host[NETWORK_HOST_MAX] = "";
	char text[NETWORK_HOST_MAX];
	struct in_addr in;
	char *slash;
	int port = 0;
	unsigned bits = 128;

	if (setup->private_count == EGRESS_PRIVATE_MAX || len >= sizeof(text))
		return;
	memcpy(text, word, len);
	text[len] = '\0';
	slash = strchr(text, '/');
	if (slash) {
		bits = (unsigned)strtoul(slash + 1, NULL, 10);
		*slash = '\0';
	}
	if (slash || inet_pton(AF_INET6, text, row->address) == 1)
		memcpy(host, text, sizeof(host));
	else
		(void)network_read_host(text, len, host, &port);
	if (inet_pton(AF_INET, host, &in) == 1) {
		memset(row->address, 0, 10);
		row->address[10] = row->address[11] = 0xff;
		memcpy(row->address + 12, &in, 4);
		bits = slash ? 96 + (bits < 32 ? bits : 32) : 128;
	} else if (inet_pton(AF_INET6, host, row->address) != 1) {
		return;
	}
	row->bits = bits < 128 ? bits : 128;
	row->port = port > 0 ? (uint32_t)port : 0;
	setup->private_count++;
}

static void put_privates(struct egress_setup *setup, const char *list)
{
	for (const char *at = list; *at; at += *at == ' ') {
		size_t len = strcspn(at, " ");

		put_private(setup, at, len);
		at += len;
	}
}

/* "10.0.0.1" or "10.0.0.1:5353" or "::1" becomes "10.0.0.1:53", "[::1]:53". */
static void put_resolver(struct egress_setup *setup, const char *word, size_t len)
{
	char host[NETWORK_HOST_MAX] = "";
	char row[NETWORK_HOST_MAX + 16];
	unsigned char bytes[16];
	size_t have = strlen(setup->resolvers);
	int port = 53;

	if (len >= sizeof(host))
		return;
	memcpy(host, word, len);
	host[len] = '\0';
	host[strcspn(host, "%")] = '\0';
	if (inet_pton(AF_INET6, host, bytes) != 1 && inet_pton(AF_INET, host, bytes) != 1) {
		if (!network_read_host(word, len, host, &port) || port < 0)
			return;
	}
	cut_printf(row, sizeof(row), strchr(host, ':') ? "%s[%s]:%d" : "%s%s:%d", have ? "," : "",
		host, port ? port : 53);
	if (have + strlen(row) < sizeof(setup->resolvers))
		cut_printf(setup->resolvers + have, sizeof(setup->resolvers) - have, "%s", row);
}

static void read_resolv(struct egress_setup *setup)
{
	static const char key[] = "nameserver";
	auto_free char *text = NULL;
	char *rest = NULL;
	size_t len;

	if (read_file(RESOLV_PATH, RESOLV_MAX, &text, &len, NULL) < 0)
		return;
	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		char *word = line + strlen(key);

		if (strncmp(line, key, strlen(key)) != 0)
			continue;
		word += strspn(word, " \t");
		put_resolver(setup, word, strcspn(word, " \t\r#;"));
	}
}

static void put_resolvers(const struct egress_link *link, struct egress_setup *setup)
{
	for (const char *at = link->config->egress.resolvers; *at; at += *at == ' ') {
		size_t len = strcspn(at, " ");

		put_resolver(setup, at, len);
		at += len;
	}
	if (!setup->resolvers[0])
		read_resolv(setup);
	if (!setup->resolvers[0])
		put_resolver(setup, "127.0.0.1", strlen("127.0.0.1"));
}

/* Programs that manage resolvers replace the file, so it is never bound into the jail. */
static bool resolv_has_changed(struct egress_link *link)
{
	struct stat stat_of = { .st_size = 0 };
	struct timespec *seen = &link->resolv_changed;
	bool changed;

	(void)stat(RESOLV_PATH, &stat_of);
	changed = memcmp(seen, &stat_of.st_mtim, sizeof(*seen)) != 0;
	*seen = stat_of.st_mtim;
	return changed;
}

static int send_setup(struct egress_link *link, struct err *err)
{
	(void)resolv_has_changed(link);
	memset(&link->msg, 0, sizeof(link->msg));
	link->msg.magic = EGRESS_MAGIC;
	link->msg.kind = EGRESS_SETUP;
	put_privates(&link->msg.body.setup, link->config->egress.privates);
	put_resolvers(link, &link->msg.body.setup);
	return egressmsg_send(watch_fd(link->watch), &link->msg, -1, err);
}

/* ---- runs ------------------------------------------------------------------------------------ */

static struct egress_run *run_of(struct egress_link *link, uint64_t id)
{
	list_for_each(at, &link->runs) {
		struct egress_run *run = container_of(at, struct egress_run, link);

		if (run->id == id)
			return run;
	}
	return NULL;
}

static void run_ended(struct egress_run *run)
{
	list_remove(&run->link);
	run->on_ended(run);
}

/* Those that have nobody any more who could report their end. */
static void end_the_lost(struct egress_link *link)
{
	list_for_each(at, &link->runs) {
		struct egress_run *run = container_of(at, struct egress_run, link);

		if (run->ending_ms && run->lost)
			run_ended(run);
	}
}

static void on_turn(void *owner)
{
	struct egress_link *link = owner;

	timer_close(link->turn);
	link->turn = NULL;
	end_the_lost(link);
}

static void end_soon(struct egress_link *link)
{
	if (!link->turn && !link->closing)
		link->turn = timer_new(link->loop, TURN_MS, 0, on_turn, link);
}

/* ---- the process ----------------------------------------------------------------------------- */

static void on_retry(void *owner)
{
	struct egress_link *link = owner;

	timer_close(link->retry);
	link->retry = NULL;
	ask(link);
}

static void lose(struct egress_link *link, const char *why)
{
	struct priv_msg kill = { .op = PRIV_KILL, .id = link->child };
	uint64_t wait_ms = RETRY_MS;

	cut_printf(link->trouble, sizeof(link->trouble), "%s", why);
	log_event(LOG_LEVEL_ERROR, "egress.lost", LOG_STR("why", why));
	watch_close(link->watch);
	link->watch = NULL;
	link->failures = link->is_ready ? 0 : link->failures + 1;
	link->is_ready = false;
	if (link->child)
		spawner_ask(link->spawner, &kill, NULL, 0, NULL, NULL);
	link->child = 0;
	list_for_each(at, &link->runs)
		container_of(at, struct egress_run, link)->lost = true;
	end_soon(link);
	for (unsigned i = 0; i < link->failures && wait_ms < RETRY_MS_MAX; i++)
		wait_ms *= 2;
	if (!link->retry && !link->closing)
		link->retry = timer_new(link->loop, wait_ms, 0, on_retry, link);
}

static void on_message(struct egress_link *link, const struct egress_msg *msg)
{
	struct egress_run *run;

	if (msg->kind == EGRESS_READY) {
		if (!link->is_ready)
			log_event(LOG_LEVEL_INFO, "egress.ready", LOG_INT("child", link->child));
		link->is_ready = true;
		link->trouble[0] = '\0';
		return;
	}
	if (msg->kind == EGRESS_ENDED) {
		run = run_of(link, msg->body.end.run);
		if (run && run->ending_ms)
			run_ended(run);
		else if (run)
			run->lost = true; /* it could not be begun */
		return;
	}
	run = run_of(link, msg->body.connection.run);
	if (run)
		run->on_connection(run, &msg->body.connection, msg->kind == EGRESS_CLOSED);
}

static void on_readable(void *owner, int events)
{
	static struct egress_msg msg;
	struct egress_link *link = owner;

	(void)events;
	for (int i = 0; i < VISIT_MESSAGES && link->watch; i++) {
		struct err err = ERR_INIT;
		int fd = -1;
		int got = egressmsg_recv(watch_fd(link->watch), false, &msg, &fd, &err);

		if (got < 0 && err.code == ERR_BUSY)
			return;
		if (got <= 0)
			lose(link, got < 0 ? err.text : "ced-egress has ended");
		else
			on_message(link, &msg);
	}
}

static void on_answer(void *context, const struct priv_msg *msg, int *fds, unsigned fd_count)
{
	struct egress_link *link = context;
	struct err err = ERR_INIT;
	auto_fd int sock = take_fd(&link->early_sock);

	close_fds(fds, fd_count);
	if (link->closing)
		return;
	if (msg->error) {
		lose(link, msg->text);
		return;
	}
	link->child = msg->id;
	link->watch = watch_new(link->loop, take_fd(&sock), UV_READABLE, on_readable, link);
	if (!link->watch)
		lose(link, "no memory to watch ced-egress");
	else if (send_setup(link, &err) < 0)
		lose(link, err.text);
}

static void ask(struct egress_link *link)
{
	struct priv_msg msg = { .op = PRIV_INSPECTOR, .id = 1 };
	struct err err = ERR_INIT;
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0) {
		lose(link, "no socket for ced-egress");
		return;
	}
	(void)fd_set_nonblocking(ends[0], true, &err);
	link->early_sock = ends[0];
	msg.body.inspector.memory_bytes = UINT64_C(1) << 30;
	msg.body.inspector.cpu_s = 1;
	spawner_ask(link->spawner, &msg, &ends[1], 1, on_answer, link);
}

/* A process that is stopped, or hangs, is replaced. */
static void on_alarm(void *owner)
{
	struct egress_link *link = owner;
	int64_t first_ms = 0;

	list_for_each(at, &link->runs) {
		struct egress_run *run = container_of(at, struct egress_run, link);

		if (run->ending_ms && !run->lost && (!first_ms || run->ending_ms < first_ms))
			first_ms = run->ending_ms;
	}
	if (first_ms && clock_ms() - first_ms >= SILENT_MS) {
		lose(link, "ced-egress does not answer");
		first_ms = 0;
	}
	if (first_ms) {
		timer_set(link->alarm, (uint64_t)(first_ms + SILENT_MS - clock_ms()) + 1);
		return;
	}
	timer_close(link->alarm);
	link->alarm = NULL;
}

/* ---- what others call ------------------------------------------------------------------------- */

int egress_link_start(uv_loop_t *loop, const struct config *config, struct spawner_link *spawner,
	struct egress_link **ret_link, struct err *err)
{
	struct egress_link *link;

	*ret_link = NULL;
	if (!config_has_egress(config))
		return 0;
	link = calloc(1, sizeof(*link));
	if (!link)
		return err_set(err, ERR_MEMORY, "no memory for the link to ced-egress");
	link->loop = loop;
	link->config = config;
	link->spawner = spawner;
	link->early_sock = -1;
	list_init(&link->runs);
	cut_printf(link->trouble, sizeof(link->trouble), "ced-egress has not started yet");
	ask(link);
	*ret_link = link;
	return 0;
}

int egress_link_begin(struct egress_link *link, struct egress_run *run, struct egress_begin *begin,
	int *ret_slot_fd, struct err *err)
{
	auto_fd int ours = -1;
	auto_fd int theirs = -1;
	int pair[2];

	if (!link || !link->is_ready)
		return err_set(err, ERR_BUSY, "%s",
			link ? link->trouble : "the settings allow no network");
	if (!link->config->egress.resolvers[0] && resolv_has_changed(link) &&
		send_setup(link, err) < 0)
		return -1;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return err_sys(err, "socketpair");
	ours = pair[0];
	theirs = pair[1];
	run->id = begin->run = ++link->last_id;
	link->msg.magic = EGRESS_MAGIC;
	link->msg.kind = EGRESS_BEGIN;
	link->msg.body.begin = *begin;
	if (egressmsg_send(watch_fd(link->watch), &link->msg, theirs, err) < 0)
		return -1;
	run->ending_ms = 0;
	run->lost = false;
	list_append(&link->runs, &run->link);
	*ret_slot_fd = take_fd(&ours);
	return 0;
}

static void send_end(struct egress_link *link, const struct egress_run *run, bool drains)
{
	struct err err = ERR_INIT;

	link->msg.magic = EGRESS_MAGIC;
	link->msg.kind = EGRESS_END;
	link->msg.body.end = (struct egress_end){ .run = run->id, .drains = drains };
	if (!run->lost && egressmsg_send(watch_fd(link->watch), &link->msg, -1, &err) < 0)
		lose(link, err.text); /* it does not read, so it does not serve either */
}

bool egress_link_end(struct egress_link *link, struct egress_run *run, bool drains)
{
	if (link->closing) {
		list_remove(&run->link);
		return false;
	}
	run->ending_ms = clock_ms();
	send_end(link, run, drains);
	if (run->lost)
		end_soon(link);
	else if (!link->alarm)
		link->alarm = timer_new(link->loop, SILENT_MS, 0, on_alarm, link);
	return true;
}

void egress_link_forget(struct egress_link *link, struct egress_run *run)
{
	if (!run->ending_ms && !link->closing)
		send_end(link, run, false);
	list_remove(&run->link);
}

const char *egress_link_trouble(const struct egress_link *link)
{
	return link && link->trouble[0] ? link->trouble : NULL;
}

void egress_link_close(struct egress_link *link)
{
	if (!link)
		return;
	link->closing = true;
	timer_close(link->retry);
	timer_close(link->turn);
	timer_close(link->alarm);
	watch_close(link->watch);
	list_for_each(at, &link->runs)
		container_of(at, struct egress_run, link)->lost = true;
	end_the_lost(link);
	link->retry = link->turn = link->alarm = NULL;
	link->watch = NULL;
}

void egress_link_free(struct egress_link *link)
{
	if (link && link->early_sock >= 0)
		close(link->early_sock);
	free(link);
}
