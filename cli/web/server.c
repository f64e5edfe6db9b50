#include "cli/web/server.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "cli/base/interrupt.h"
#include "cli/base/link.h"
#include "cli/web/answer.h"
#include "cli/web/conn.h"
#include "proto/base/clock.h"
#include "proto/base/container.h"
#include "proto/base/embedded.h"

#define CONNS_MAX   64
#define STREAMS_MAX 8
#define TICK_MS     250
#define ALIVE_MS    15000
#define AGAIN_MS    500  /* between two tries to find the daemon */
#define REFUSED_MS  5000 /* after the daemon has refused a subscription */

#define QUESTION_BYTES ((size_t)256 << 10)
#define UNSENT_HIGH    ((size_t)1 << 20) /* of questions that the daemon has not read */
#define HELD_MAX       (2 * ANSWER_BYTES_MAX)

#define API      "/api/"
#define EVENTS   "events"
#define POLL_MAX (2 + CONNS_MAX)

/* What is known about the daemon's events. */
enum news {
	NEWS_NONE,  /* nobody listens */
	NEWS_ASKED, /* the subscription is asked for */
	NEWS_ALL,   /* everybody's runs */
	NEWS_OWN,   /* those of this user */
	NEWS_GONE,  /* no daemon */
	NEWS_REFUSED,
};

struct web {
	const struct listener *listener;
	const struct access *access;
	struct link link;
	struct conn *conns[CONNS_MAX]; /* the oldest first */
	size_t count;
	enum news news;
	uint32_t asked;   /* NEWS_ASKED: the id of the question */
	int64_t again_ms; /* when it is asked for again */
	int64_t alive_ms;
};

/* The files of the page, see cli/CMakeLists.txt. */
extern const struct embedded web_files[];

static const struct {
	const char *suffix, *type;
} types[] = {
	{ ".html", "text/html; charset=utf-8" },
	{ ".css", "text/css; charset=utf-8" },
	{ ".js", "text/javascript; charset=utf-8" },
	{ ".svg", "image/svg+xml" },
};

/* Methods that change nothing.  Their names are the paths below /api/. */
static const char *const methods[] = { "admin.status", "approvals.list", "health", "hello",
	"runs.get", "runs.list", "runs.output", "runtimes", "stats" };

/* ---- events -------------------------------------------------------------------------------- */

static size_t count_streams(const struct web *web)
{
	size_t count = 0;

	for (size_t i = 0; i < web->count; i++)
		count += web->conns[i]->state == CONN_STREAM;
	return count;
}

static void put_event(struct web *web, const struct value *event)
{
	for (size_t i = 0; i < web->count; i++) {
		if (web->conns[i]->state == CONN_STREAM)
			conn_event(web->conns[i], event);
	}
}

/* {"kind": "daemon", "state"}: whether events come, which the daemon itself cannot say. */
static const struct value *daemon_event(struct arena *arena, enum news news)
{
	static const char *const words[] = { [NEWS_ALL] = "all",
		[NEWS_OWN] = "own",
		[NEWS_GONE] = "gone",
		[NEWS_REFUSED] = "refused" };
	struct value *event = value_map(arena);

	(void)value_map_put(arena, event, "kind", value_text(arena, "daemon"));
	(void)value_map_put(arena, event, "at_us", value_int(arena, clock_wall_us()));
	(void)value_map_put(arena, event, "state", value_text(arena, words[news]));
	return value_ok(arena) ? event : NULL;
}

/* One stream, or all of them if `only` is NULL. */
static void put_news(struct web *web, struct conn *only)
{
	const struct value *event;
	struct arena arena;

	if (web->news == NEWS_NONE || web->news == NEWS_ASKED)
		return;
	arena_init(&arena, QUESTION_BYTES);
	event = daemon_event(&arena, web->news);
	if (event && only)
		conn_event(only, event);
	else if (event)
		put_event(web, event);
	arena_done(&arena);
}

static void note_news(struct web *web, enum news news)
{
	bool is_new = web->news != news;

	web->news = news;
	web->again_ms = clock_ms() + (news == NEWS_REFUSED ? REFUSED_MS : AGAIN_MS);
	if (is_new)
		put_news(web, NULL);
}

/* Subscribes for the first stream, and again when the daemon is back. */
static void subscribe(struct web *web)
{
	bool wants = web->news == NEWS_NONE || web->news == NEWS_GONE || web->news == NEWS_REFUSED;
	struct arena arena;

	if (!wants || count_streams(web) == 0 || clock_ms() < web->again_ms)
		return;
	arena_init(&arena, QUESTION_BYTES);
	if (link_ask(&web->link, "events.subscribe", value_map(&arena), &web->asked, NULL) < 0)
		note_news(web, NEWS_GONE);
	else
		web->news = NEWS_ASKED;
	arena_done(&arena);
}

static void subscribed(struct web *web, const struct value *error, const struct value *result)
{
	const char *runs = value_as_text(value_get(result, "runs"));

	if (error)
		note_news(web, NEWS_REFUSED);
	else
		note_news(web, runs && strcmp(runs, "all") == 0 ? NEWS_ALL : NEWS_OWN);
}

/* ---- the daemon ---------------------------------------------------------------------------- */

/* The answer is there, or it found no memory and a short one must do. */
static void answered(struct conn *conn, int made)
{
	if (made < 0)
		made = answer_error(&conn->out, 500, "internal",
			"cectl web has no memory for this answer; ask for less at a time");
	conn_move(conn, CONN_ANSWER);
	if (made < 0)
		conn->until_ms = 0;
}

static size_t held_bytes(const struct web *web)
{
	size_t held = 0;

	for (size_t i = 0; i < web->count; i++)
		held += web->conns[i]->out.size;
	return held;
}

static void on_notice(void *context, const char *method, const struct value *params)
{
	if (strcmp(method, "event") == 0)
		put_event(context, params);
}

static void on_answer(
	void *context, uint32_t id, const struct value *error, const struct value *result)
{
	struct web *web = context;

	if (web->news == NEWS_ASKED && web->asked == id)
		subscribed(web, error, result);
	for (size_t i = 0; i < web->count; i++) {
		struct conn *conn = web->conns[i];

		if (conn->state != CONN_ASKED || conn->asked != id)
			continue;
		if (held_bytes(web) > HELD_MAX)
			answered(conn, answer_error(&conn->out, 503, "busy",
					       "too many answers wait to be read"));
		else if (error)
			answered(conn, answer_refusal(&conn->out, error));
		else
			answered(conn, answer_value(&conn->out, 200, result));
	}
}

static void on_lost(void *context, const struct err *why)
{
	struct web *web = context;

	for (size_t i = 0; i < web->count; i++) {
		if (web->conns[i]->state == CONN_ASKED)
			answered(web->conns[i],
				answer_error(&web->conns[i]->out, 503, "no_daemon", why->text));
	}
	if (web->news != NEWS_NONE)
		note_news(web, NEWS_GONE);
}

/* ---- requests ------------------------------------------------------------------------------ */

static const char *type_of(const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < COUNT_OF(types); i++) {
		size_t suffix = strlen(types[i].suffix);

		if (len > suffix && strcmp(name + len - suffix, types[i].suffix) == 0)
			return types[i].type;
	}
	return "application/octet-stream";
}

static int give_file(struct conn *conn, const char *path)
{
	const char *name = strcmp(path, "/") == 0 ? "index.html" : path + 1;

	for (const struct embedded *file = web_files; file->name; file++) {
		if (strcmp(file->name, name) == 0)
			return answer_bytes(&conn->out, 200, type_of(name), file->bytes, file->len);
	}
	return answer_text(&conn->out, 404, "There is no such page.");
}

static void begin_stream(struct web *web, struct conn *conn)
{
	if (count_streams(web) >= STREAMS_MAX) {
		answered(conn, answer_error(&conn->out, 503, "busy",
				       "the page is open too often; close one of its tabs"));
		return;
	}
	if (answer_stream(&conn->out) < 0) {
		answered(conn, -1);
		return;
	}
	conn_move(conn, CONN_STREAM);
	put_news(web, conn);
}

static bool is_method(const char *name)
{
	for (size_t i = 0; i < COUNT_OF(methods); i++) {
		if (strcmp(methods[i], name) == 0)
			return true;
	}
	return false;
}

static void ask_daemon(struct web *web, struct conn *conn, const struct web_request *request)
{
	struct err err = ERR_INIT;
	struct value *params = NULL;
	struct arena arena;

	arena_init(&arena, QUESTION_BYTES);
	if (request_params(&arena, request->query, &params, &err) < 0)
		answered(conn, answer_error(&conn->out, 400, "bad_request", err.text));
	else if (link_unsent(&web->link) > UNSENT_HIGH)
		answered(conn, answer_error(&conn->out, 503, "busy", "the daemon does not read"));
	else if (link_ask(&web->link, request->path + strlen(API), params, &conn->asked, &err) < 0)
		answered(conn, answer_error(&conn->out, 503, "no_daemon", err.text));
	else
		conn_move(conn, CONN_ASKED);
	arena_done(&arena);
}

static void give_api(struct web *web, struct conn *conn, const struct web_request *request)
{
	const char *name = request->path + strlen(API);

	if (!access_has_token(web->access, request))
		answered(conn, answer_error(&conn->out, 401, "forbidden",
				       "the token is missing or wrong; open the address that cectl "
				       "web printed when it began"));
	else if (strcmp(name, EVENTS) == 0)
		begin_stream(web, conn);
	else if (is_method(name))
		ask_daemon(web, conn, request);
	else
		answered(conn, answer_error(&conn->out, 404, "unknown_method",
				       "cectl web has no such question"));
}

static void take_request(struct web *web, struct conn *conn, const struct web_request *request)
{
	const char *refused = access_refuses(web->access, request);

	if (refused)
		answered(conn, answer_text(&conn->out, 403, refused));
	else if (strcmp(request->method, "GET") != 0)
		answered(conn, answer_text(&conn->out, 405, "cectl web only reads: GET."));
	else if (request->coding || (request->body_len && strcmp(request->body_len, "0") != 0))
		answered(conn, answer_text(&conn->out, 400, "A GET has no body here."));
	else if (strncmp(request->path, API, strlen(API)) == 0)
		give_api(web, conn, request);
	else
		answered(conn, give_file(conn, request->path));
}

static void take_head(struct web *web, struct conn *conn)
{
	struct web_request request;

	switch (request_read(conn->head, conn->head_len, &request)) {
	case REQUEST_MORE:
		break;
	case REQUEST_WHOLE:
		take_request(web, conn, &request);
		break;
	case REQUEST_TOO_LONG:
		answered(conn,
			answer_text(&conn->out, 431, "The head of this request is too long."));
		break;
	case REQUEST_BAD:
		answered(conn, answer_text(&conn->out, 400, "This is no request of HTTP/1.1."));
		break;
	}
}

/* ---- connections --------------------------------------------------------------------------- */

static void drop(struct web *web, size_t index)
{
	conn_free(web->conns[index]);
	web->count--;
	memmove(web->conns + index, web->conns + index + 1,
		(web->count - index) * sizeof(*web->conns));
}

/* If all places are taken: the oldest connection that has not asked yet goes. */
static bool make_room(struct web *web)
{
	if (web->count < CONNS_MAX)
		return true;
	for (size_t i = 0; i < web->count; i++) {
		if (web->conns[i]->state == CONN_HEAD || web->conns[i]->state == CONN_ENDING) {
			drop(web, i);
			return true;
		}
	}
	return false;
}

static void take_connections(struct web *web)
{
	while (make_room(web)) {
		int fd = accept4(web->listener->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		struct conn *conn = fd >= 0 ? conn_new(fd) : NULL;

		if (!conn)
			return;
		web->conns[web->count++] = conn;
	}
}

/* -1: it is over. */
static int serve(struct web *web, struct conn *conn, short came)
{
	if (came & (POLLERR | POLLNVAL))
		return -1;
	if ((came & (POLLIN | POLLHUP)) && (conn_events(conn) & POLLIN)) {
		if (conn_read(conn) < 0)
			return -1;
		if (conn->state == CONN_HEAD)
			take_head(web, conn);
	} else if ((came & POLLHUP) && !(conn_events(conn) & POLLOUT)) {
		return -1;
	}
	/* What was answered just now is mostly sent at once. */
	if ((conn_events(conn) & POLLOUT) && conn_write(conn) < 0)
		return -1;
	return 0;
}

/* A head that comes too slowly, or a daemon that does.  -1: nothing can be said any more. */
static int time_is_over(struct conn *conn)
{
	if (conn->state == CONN_HEAD && conn->head_len > 0)
		answered(conn, answer_text(&conn->out, 408, "The request came too slowly."));
	else if (conn->state == CONN_ASKED)
		answered(conn, answer_error(&conn->out, 504, "timeout",
				       "the daemon has not answered within a minute"));
	else
		return -1;
	return 0;
}

static void serve_all(struct web *web, const struct pollfd *fds, size_t count)
{
	int64_t now_ms = clock_ms();

	/* From the last to the first, since a place that becomes free is filled from behind. */
	for (size_t i = count; i-- > 0;) {
		struct conn *conn = web->conns[i];
		int status = fds[i].revents ? serve(web, conn, fds[i].revents) : 0;

		if (status == 0 && now_ms >= conn->until_ms)
			status = time_is_over(conn);
		if (status < 0)
			drop(web, i);
	}
}

/* ---- the loop ------------------------------------------------------------------------------ */

static void tick(struct web *web)
{
	int64_t now_ms = clock_ms();

	subscribe(web);
	if (now_ms >= web->alive_ms) {
		for (size_t i = 0; i < web->count; i++) {
			if (web->conns[i]->state == CONN_STREAM)
				conn_alive(web->conns[i]);
		}
		web->alive_ms = now_ms + ALIVE_MS;
	}
	/* A watched run costs the daemon more, so nobody watches when nobody looks. */
	if (web->count == 0) {
		link_done(&web->link);
		web->news = NEWS_NONE;
	}
}

static int turn(struct web *web, struct err *err)
{
	struct pollfd fds[POLL_MAX] = {
		{ .fd = web->listener->fd, .events = POLLIN },
		{ .fd = link_fd(&web->link), .events = link_events(&web->link) },
	};
	size_t count = web->count;

	for (size_t i = 0; i < count; i++)
		fds[2 + i] = (struct pollfd){ .fd = web->conns[i]->fd,
			.events = conn_events(web->conns[i]) };
	if (interrupt_poll(fds, 2 + count, count > 0 ? TICK_MS : -1) < 0)
		return errno == EINTR ? 0 : err_sys(err, "poll");
	serve_all(web, fds + 2, count);
	if (fds[1].revents)
		link_turn(&web->link);
	if (fds[0].revents)
		take_connections(web);
	tick(web);
	return 0;
}

int web_serve(const struct listener *listener, const struct access *access, const char *socket,
	struct err *err)
{
	const struct link_watch watch = {
		.on_notice = on_notice, .on_answer = on_answer, .on_lost = on_lost
	};
	struct web *web = calloc(1, sizeof(*web));
	int status = 0;

	if (!web)
		return err_set(err, ERR_MEMORY, "no memory");
	web->listener = listener;
	web->access = access;
	link_init(&web->link, socket, &watch);
	web->link.name = "cectl web";
	web->link.watch.context = web;
	while (status == 0 && !interrupt_noted())
		status = turn(web, err);
	while (web->count > 0)
		drop(web, web->count - 1);
	link_done(&web->link);
	free(web);
	return status;
}
