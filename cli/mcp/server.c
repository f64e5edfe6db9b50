#include "cli/mcp/server.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/interrupt.h"
#include "cli/mcp/methods.h"
#include "cli/mcp/progress.h"
#include "cli/mcp/requests.h"
#include "cli/mcp/sessions.h"
#include "proto/base/clock.h"
#include "proto/base/container.h"

#define TICK_MS   250
#define ENDING_MS 10000 /* for answers and cancelled runs after the end of stdin */

/* ---- the daemon ---------------------------------------------------------------------------- */

static void on_notice(void *context, const char *method, const struct value *params)
{
	const char *session = value_as_text(value_get(params, "session"));

	if (session && strcmp(method, "session.ended") == 0)
		sessions_ended(context, session);
	progress_notice(context, method, params);
}

static void on_answer(
	void *context, uint32_t id, const struct value *error, const struct value *result)
{
	struct server *server = context;
	struct request *request = requests_asked(server, id);

	if (!sessions_answered(server, id) && request)
		methods_answer(server, request, error, result);
}

/* The sessions may still be open: then the end closes them over another connection. */
static void on_lost(void *context, const struct err *why)
{
	struct server *server = context;

	sessions_lost(server);
	if (requests_wait(server))
		progress_log(server, "warning", why->text);
	for (size_t i = 0; i < REQUESTS_MAX; i++) {
		if (server->requests[i])
			methods_lost(server, server->requests[i], why);
	}
}

/* ---- the loop ------------------------------------------------------------------------------ */

static void take_lines(struct server *server)
{
	const char *line;
	size_t len = 0;
	enum jsonrpc_line found = JSONRPC_NONE;

	do {
		found = jsonrpc_in_line(&server->in, &line, &len);
		if (found == JSONRPC_TOO_LONG)
			jsonrpc_error(&server->out, NULL, JSONRPC_INVALID_REQUEST,
				"a message has more than %zu MiB", JSONRPC_LINE_MAX >> 20);
		if (found == JSONRPC_LINE) {
			methods_take(server, line, len);
			jsonrpc_in_next(&server->in, len);
		}
	} while (found == JSONRPC_LINE);
}

/* A client that does not read its answers, or a daemon that does not, stops what causes more. */
static bool may_read(const struct server *server)
{
	return !server->in.ended && !server->ending &&
	       server->out.bytes.len < JSONRPC_UNSENT_HIGH &&
	       link_unsent(&server->link) < JSONRPC_UNSENT_HIGH;
}

/* What the client has not read yet, if it is still there. */
static size_t unsent_bytes(const struct server *server)
{
	return server->out.broken ? 0 : server->out.bytes.len;
}

static void turn(struct server *server)
{
	const size_t waits = unsent_bytes(server);
	struct pollfd fds[] = {
		{ .fd = may_read(server) ? STDIN_FILENO : -1, .events = POLLIN },
		{ .fd = waits ? STDOUT_FILENO : -1, .events = POLLOUT },
		{ .fd = waits < JSONRPC_UNSENT_HIGH ? link_fd(&server->link) : -1,
			.events = link_events(&server->link) },
	};
	const nfds_t count = COUNT_OF(fds);
	int wait_ms = progress_wanted(server) || server->ending ? TICK_MS : -1;

	if ((server->ending ? poll(fds, count, wait_ms) : interrupt_poll(fds, count, wait_ms)) <
		0) {
		if (errno != EINTR)
			server->out.broken = true;
		return;
	}
	if (fds[1].revents)
		jsonrpc_out_write(&server->out, STDOUT_FILENO);
	if (fds[2].revents)
		link_turn(&server->link);
	if (fds[0].revents) {
		jsonrpc_in_read(&server->in, STDIN_FILENO);
		take_lines(server);
	}
	progress_tick(server);
}

/* ---- the end ------------------------------------------------------------------------------- */

/* Whether sessions are left that the daemon can be asked to close.  Asks it. */
static bool may_close(struct server *server)
{
	return sessions_wait(server) &&
	       (sessions_close(server) == 0 || link_fd(&server->link) >= 0);
}

static bool is_busy(const struct server *server)
{
	return requests_wait(server) || unsent_bytes(server) > 0 ||
	       (link_fd(&server->link) >= 0 && link_unsent(&server->link) > 0);
}

/*
 * Nobody asks any more: ends what runs, and brings the answers that are still due.  A signal that
 * comes now is the first one if the end of stdin was the reason; the second one ends cectl at once.
 */
static void end(struct server *server)
{
	int64_t until_ms = clock_ms() + ENDING_MS;

	server->ending = true;
	for (size_t i = 0; i < REQUESTS_MAX; i++) {
		if (server->requests[i])
			methods_cancel(server, server->requests[i]);
	}
	while (clock_ms() < until_ms && (may_close(server) || is_busy(server)))
		turn(server);
}

static void server_done(struct server *server)
{
	for (size_t i = 0; i < REQUESTS_MAX; i++) {
		if (server->requests[i])
			requests_forget(server, server->requests[i]);
	}
	sessions_done(server);
	link_done(&server->link);
	toolset_done(&server->tools);
	jsonrpc_in_done(&server->in);
	jsonrpc_out_done(&server->out);
}

int server_run(const char *socket, const struct value *defaults, struct err *err)
{
	struct server *server = calloc(1, sizeof(*server));
	struct link_watch watch = { .context = server,
		.on_notice = on_notice,
		.on_answer = on_answer,
		.on_lost = on_lost };
	int status;

	if (!server)
		return err_set(err, ERR_MEMORY, "no memory");
	(void)signal(SIGPIPE, SIG_IGN);
	jsonrpc_in_init(&server->in);
	jsonrpc_out_init(&server->out);
	sessions_init(server);
	link_init(&server->link, socket, &watch);
	server->link.name = server->name;
	cut_printf(server->name, sizeof(server->name), "cectl mcp");
	interrupt_catch();
	status = toolset_init(&server->tools, defaults, err);
	while (status == 0 && !server->in.ended && !server->out.broken && !interrupt_noted())
		turn(server);
	end(server);
	interrupt_release();
	server_done(server);
	free(server);
	return status;
}
