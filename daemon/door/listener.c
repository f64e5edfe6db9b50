#include "daemon/door/listener.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "daemon/door/conn.h"
#include "daemon/host.h"
#include "daemon/server.h"
#include "proto/base/cleanup.h"

#define BACKLOG  512
#define RETRY_MS 100 /* until there may be memory for a client again */

struct listener {
	uv_pipe_t pipe;
	struct server *server;
	struct timer *retry; /* made at the start: there is no memory when it is needed */
	bool waiting;        /* a client has been accepted and nobody could look after it */
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)]; /* "" when it was handed over */
};

static bool holds_place(const struct listener *listener)
{
	uv_os_fd_t fd = -1;

	return uv_fileno((const uv_handle_t *)&listener->pipe, &fd) == 0 &&
	       loop_hold_place(&listener->server->loop, fd, NULL) == 0;
}

/*
 * libuv listens no more until the client that it has accepted is taken from it, and may have lost
 * its place in the epoll set meanwhile.  Without memory or place it is asked for again, or nobody
 * would ever be let in any more.
 */
static void let_in(struct listener *listener)
{
	listener->waiting = !holds_place(listener) ||
			    conn_start(listener->server, (uv_stream_t *)&listener->pipe) < 0;
	if (listener->waiting)
		timer_set(listener->retry, RETRY_MS);
}

static void on_retry(void *owner)
{
	struct listener *listener = owner;

	if (listener->waiting)
		let_in(listener);
}

static void on_client(uv_stream_t *stream, int status)
{
	struct listener *listener = stream->data;

	if (status == 0)
		let_in(listener);
}

static int fill_address(struct sockaddr_un *address, const char *path, struct err *err)
{
	memset(address, 0, sizeof(*address));
	address->sun_family = AF_UNIX;
	if (strlen(path) >= sizeof(address->sun_path))
		return err_set(err, ERR_TOO_BIG,
			"socket %s: a path of a socket has at most %zu bytes", path,
			sizeof(address->sun_path) - 1);
	memcpy(address->sun_path, path, strlen(path) + 1);
	return 0;
}

/* Somebody answers there, or nobody does and the name is free afterwards. */
static int clear_way(const struct sockaddr_un *address, struct err *err)
{
	auto_fd int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct stat info;

	if (probe < 0)
		return err_sys(err, "socket");
	if (connect(probe, (const struct sockaddr *)address, sizeof(*address)) == 0)
		return err_set(err, ERR_EXISTS, "socket %s: another daemon answers there",
			address->sun_path);
	if (lstat(address->sun_path, &info) < 0)
		return 0;
	if (!S_ISSOCK(info.st_mode))
		return err_set(
			err, ERR_EXISTS, "socket %s: something else is there", address->sun_path);
	if (unlink(address->sun_path) < 0)
		return err_sys(err, "socket %s: cannot replace the old one", address->sun_path);
	return 0;
}

static int make_socket(const char *path, const char *mode, struct err *err)
{
	auto_fd int sock = -1;
	struct sockaddr_un address;
	mode_t before;
	int bound;

	if (fill_address(&address, path, err) < 0 || clear_way(&address, err) < 0)
		return -1;
	sock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (sock < 0)
		return err_sys(err, "socket");
	before = umask(0777 & ~(mode_t)strtoul(mode, NULL, 8));
	bound = bind(sock, (const struct sockaddr *)&address, sizeof(address));
	(void)umask(before);
	if (bound < 0)
		return err_sys(err, "socket %s, as uid %u", path, (unsigned)geteuid());
	return take_fd(&sock);
}

struct listener *listener_start(struct server *server, const char *path, struct err *err)
{
	struct listener *listener = calloc(1, sizeof(*listener));
	int fd = host_listen_fd();
	int result;

	if (!listener) {
		(void)err_set(err, ERR_MEMORY, "no memory for the listener");
		return NULL;
	}
	if (fd < 0) {
		fd = make_socket(path, server->config.socket_mode, err);
		if (fd < 0) {
			free(listener);
			return NULL;
		}
		cut_printf(listener->path, sizeof(listener->path), "%s", path);
	}
	listener->server = server;
	(void)uv_pipe_init(&server->loop, &listener->pipe, 0);
	listener->pipe.data = listener;
	listener->retry = timer_new(&server->loop, RETRY_MS, 0, on_retry, listener);
	result = listener->retry ? uv_pipe_open(&listener->pipe, fd) : UV_ENOMEM;
	if (result == 0)
		result = uv_listen((uv_stream_t *)&listener->pipe, BACKLOG, on_client);
	if (result < 0) {
		(void)err_set(err, ERR_SYSTEM, "socket %s: %s", path, uv_strerror(result));
		listener_close(listener);
		return NULL;
	}
	return listener;
}

static void on_closed(uv_handle_t *handle)
{
	free(handle->data);
}

void listener_close(struct listener *listener)
{
	if (!listener)
		return;
	if (listener->path[0])
		(void)unlink(listener->path);
	timer_close(listener->retry);
	uv_close((uv_handle_t *)&listener->pipe, on_closed);
}
