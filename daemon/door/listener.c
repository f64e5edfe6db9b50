#include "daemon/door/listener.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/door/conn.h"
#include "daemon/loop/loop.h"
#include "daemon/loop/service_manager.h"
#include "daemon/services.h"
#include "daemon/settings/config.h"
#include "proto/base/cleanup.h"
#include "proto/base/log.h"

#define BACKLOG   4096 /* clients waiting for accept(2); beyond it connect(2) fails or blocks */
#define TURN_MOST 64   /* clients accepted in one loop iteration */
#define RETRY_MS  100  /* delay after an accept failed for lack of memory */
#define LOOK_MS   1000 /* interval of checks of the socket's file */

struct listener {
	uv_pipe_t *pipe; /* NULL before the start and after the end */
	struct services *services;
	struct timer *retry; /* allocated at start, since it serves when memory is short */
	struct timer *look;
	bool waiting;     /* libuv has accepted a client that conn_start() has not taken yet */
	unsigned taken;   /* clients accepted in this loop iteration ... */
	uint64_t turn_ms; /* ... which began at this time */
	bool handed_over;
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
	struct stat file;   /* the file when the socket was made or handed over */
	bool gone;          /* the path no longer leads to `file`; this has been logged */
	uint64_t remade;    /* how often the socket was made again */
	struct err trouble; /* why it could not be made again */
};

static bool holds_place(const struct listener *listener)
{
	uv_os_fd_t fd = -1;

	return uv_fileno((const uv_handle_t *)listener->pipe, &fd) == 0 &&
	       loop_hold_place(listener->services->loop, fd, NULL) == 0;
}

/*
 * libuv stops listening until we take the client that it has accepted.  Meanwhile the listener may
 * have lost its place in the epoll set.  Without memory or a place we retry later; otherwise no
 * client would be accepted again.
 */
static void let_in(struct listener *listener)
{
	listener->waiting = !holds_place(listener) ||
			    conn_start(listener->services, (uv_stream_t *)listener->pipe) < 0;
	if (listener->waiting)
		timer_set(listener->retry, RETRY_MS);
}

static void on_retry(void *owner)
{
	struct listener *listener = owner;

	listener->taken = 0;
	if (listener->waiting)
		let_in(listener);
}

/*
 * libuv accepts as long as clients are waiting.  Under a flood of clients it would not return to
 * the loop: connected clients would not be served, and refused ones would not be closed.
 */
static bool has_had_its_turn(struct listener *listener)
{
	uint64_t now_ms = uv_now(listener->services->loop);

	if (listener->turn_ms != now_ms)
		listener->taken = 0;
	listener->turn_ms = now_ms;
	return ++listener->taken > TURN_MOST;
}

static void on_client(uv_stream_t *stream, int status)
{
	struct listener *listener = stream->data;

	if (status != 0)
		return;
	if (has_had_its_turn(listener)) {
		listener->waiting = true;
		timer_set(listener->retry, 0);
		return;
	}
	let_in(listener);
}

static int fill_address(struct sockaddr_un *address, const char *path, struct err *err)
{
	memset(address, 0, sizeof(*address));
	address->sun_family = AF_UNIX;
	if (strlen(path) >= sizeof(address->sun_path))
		return err_set(err, ERR_TOO_BIG,
			"socket %s: the path is too long: it may have at most %zu bytes: name a shorter one",
			path, sizeof(address->sun_path) - 1);
	memcpy(address->sun_path, path, strlen(path) + 1);
	return 0;
}

/* Returns an error when a daemon answers at the address; otherwise removes a stale socket file. */
static int clear_way(const struct sockaddr_un *address, struct err *err)
{
	auto_fd int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct stat info;

	if (probe < 0)
		return err_sys(err, "socket");
	if (connect(probe, (const struct sockaddr *)address, sizeof(*address)) == 0)
		return err_set(err, ERR_EXISTS,
			"socket %s: another daemon answers at this path: stop it first, or name another path",
			address->sun_path);
	if (lstat(address->sun_path, &info) < 0)
		return 0;
	if (!S_ISSOCK(info.st_mode))
		return err_set(err, ERR_EXISTS,
			"socket %s: a file that is no socket is in its place: remove it, or name another path",
			address->sun_path);
	if (unlink(address->sun_path) < 0)
		return err_sys(
			err, "socket %s: the daemon cannot remove the old one", address->sun_path);
	return 0;
}

/* Says who cannot make it, and what an administrator types. */
static int cannot_make(const char *path, struct err *err)
{
	unsigned uid = geteuid();
	const char *slash = strrchr(path, '/');
	const char *folder = slash ? path : ".";
	int folder_len = slash ? (int)(slash - path) : 1;
	bool missing = errno == ENOENT;
	size_t len;

	(void)err_sys(err, "uid %u cannot make the socket %s", uid, path);
	len = strlen(err->text);
	if (missing)
		cut_printf(err->text + len, sizeof(err->text) - len,
			": type install -d -o %u -g %u %.*s", uid, (unsigned)getegid(), folder_len,
			folder);
	else if (err->sys_errno == EACCES)
		cut_printf(err->text + len, sizeof(err->text) - len,
			": its folder belongs to others: type install -d -o %u -g %u %.*s/ced, and name "
			"%.*s/ced/ced.sock",
			uid, (unsigned)getegid(), folder_len, folder, folder_len, folder);
	return -1;
}

/*
 * The socket's file never has more rights than `mode`, and has exactly those afterwards.  umask(2)
 * would also affect files that other threads create meanwhile.
 */
static int make_socket(const char *path, const char *mode_text, struct err *err)
{
	auto_fd int sock = -1;
	struct sockaddr_un address;
	mode_t mode = (mode_t)strtoul(mode_text, NULL, 8);

	if (fill_address(&address, path, err) < 0 || clear_way(&address, err) < 0)
		return -1;
	sock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (sock < 0)
		return err_sys(err, "socket");
	if (fchmod(sock, mode) < 0 ||
		bind(sock, (const struct sockaddr *)&address, sizeof(address)) < 0 ||
		chmod(path, mode) < 0)
		return cannot_make(path, err);
	return take_fd(&sock);
}

static void free_pipe(uv_handle_t *handle)
{
	free(handle);
}

static void drop_pipe(struct listener *listener)
{
	if (listener->pipe)
		uv_close((uv_handle_t *)listener->pipe, free_pipe);
	listener->pipe = NULL;
	listener->waiting = false;
}

/* Takes over `fd`. */
static int listen_on(struct listener *listener, int fd, struct err *err)
{
	auto_fd int owned = fd;
	uv_pipe_t *pipe = calloc(1, sizeof(*pipe));
	int result;

	if (!pipe)
		return err_set(err, ERR_MEMORY, "no memory for the listener");
	if (loop_hold_place(listener->services->loop, fd, err) < 0) {
		free(pipe);
		return -1;
	}
	(void)uv_pipe_init(listener->services->loop, pipe, 0);
	pipe->data = listener;
	result = uv_pipe_open(pipe, fd);
	if (result == 0) {
		(void)take_fd(&owned);
		result = uv_listen((uv_stream_t *)pipe, BACKLOG, on_client);
	}
	if (result < 0) {
		uv_close((uv_handle_t *)pipe, free_pipe);
		return err_set(
			err, ERR_SYSTEM, "socket %s: %s", listener->path, uv_strerror(result));
	}
	drop_pipe(listener);
	listener->pipe = pipe;
	if (lstat(listener->path, &listener->file) < 0)
		listener->file = (struct stat){ 0 };
	return 0;
}

/* ---- while it listens -------------------------------------------------------------------- */

/* Whether the path still leads to our socket. */
static bool stands(const struct listener *listener)
{
	struct stat now;

	return lstat(listener->path, &now) == 0 && now.st_dev == listener->file.st_dev &&
	       now.st_ino == listener->file.st_ino;
}

static int make_again(struct listener *listener, struct err *err)
{
	int fd;

	if (listener->handed_over)
		return err_set(err, ERR_UNSUPPORTED,
			"systemd made it and must make it again: type systemctl restart ced.socket");
	fd = make_socket(listener->path, listener->services->config->socket_mode, err);
	return fd < 0 ? -1 : listen_on(listener, fd, err);
}

static void log_gone(struct listener *listener, const struct err *why)
{
	if (strcmp(listener->trouble.text, why->text) != 0)
		log_event(LOG_LEVEL_ERROR, "socket.not_made", LOG_STR("path", listener->path),
			LOG_STR("why", why->text));
	listener->trouble = *why;
}

/* Makes the socket again when its file is gone or replaced, since new clients cannot find it. */
static void on_look(void *owner)
{
	struct listener *listener = owner;
	struct err err = ERR_INIT;

	if (stands(listener)) {
		listener->gone = false;
		listener->trouble = (struct err)ERR_INIT;
		return;
	}
	if (!listener->gone)
		log_event(LOG_LEVEL_WARNING, "socket.gone", LOG_STR("path", listener->path));
	listener->gone = true;
	if (make_again(listener, &err) < 0) {
		log_gone(listener, &err);
		return;
	}
	listener->gone = false;
	listener->remade++;
	listener->trouble = (struct err)ERR_INIT;
	log_event(LOG_LEVEL_NOTICE, "socket.made_again", LOG_STR("path", listener->path));
}

struct value *listener_describe(const struct listener *listener, struct arena *arena)
{
	struct value *map = value_map(arena);

	value_map_put(arena, map, "path", value_text(arena, listener->path));
	value_map_put(arena, map, "remade", value_uint(arena, listener->remade));
	value_map_put(arena, map, "trouble",
		value_text(arena, listener->trouble.text[0] ? listener->trouble.text : NULL));
	return map;
}

/* ---- starting and closing ---------------------------------------------------------------- */

static int socket_option(int fd, int name)
{
	int number = -1;
	socklen_t len = sizeof(number);

	return getsockopt(fd, SOL_SOCKET, name, &number, &len) < 0 ? -1 : number;
}

/*
 * Reads the path of a socket that was handed over.  Clients find a socket by its path, and the
 * file's owner and mode say who may use it, so any other kind is refused.
 */
static int learn_path(struct listener *listener, int fd, struct err *err)
{
	struct sockaddr_un address = { 0 };
	socklen_t len = sizeof(address);

	if (socket_option(fd, SO_DOMAIN) != AF_UNIX || socket_option(fd, SO_TYPE) != SOCK_STREAM ||
		getsockname(fd, (struct sockaddr *)&address, &len) < 0 ||
		len <= offsetof(struct sockaddr_un, sun_path) || address.sun_path[0] != '/')
		return err_set(err, ERR_INVALID,
			"the socket that the service manager handed over is no Unix stream socket with a path: "
			"write ListenStream=%s into ced.socket",
			listener->services->config->socket);
	cut_printf(listener->path, sizeof(listener->path), "%.*s", (int)sizeof(address.sun_path),
		address.sun_path);
	return 0;
}

/* The settings about the socket are not in force then, which an administrator may not expect. */
static void compare_with_settings(const struct listener *listener, const char *path)
{
	const char *mode_text = listener->services->config->socket_mode;
	mode_t mode = (mode_t)strtoul(mode_text, NULL, 8);
	char why[256];
	struct stat info;

	if (strcmp(listener->path, path) != 0)
		cut_printf(why, sizeof(why), "the setting is socket = %s", path);
	else if (lstat(listener->path, &info) == 0 && (info.st_mode & 0777) != mode)
		cut_printf(why, sizeof(why),
			"the setting is socket_mode = %s, and its mode is %04o", mode_text,
			(unsigned)(info.st_mode & 0777));
	else
		return;
	log_event(LOG_LEVEL_WARNING, "socket.other", LOG_STR("path", listener->path),
		LOG_STR("why", why),
		LOG_STR("repair",
			"systemd made the socket: systemctl edit ced.socket, with ListenStream= or SocketMode="));
}

static int open_listener(struct listener *listener, const char *path, struct err *err)
{
	int fd = -1;

	if (host_listen_fd(&fd, err) < 0)
		return -1;
	listener->handed_over = fd >= 0;
	if (listener->handed_over) {
		if (learn_path(listener, fd, err) < 0)
			return -1;
		compare_with_settings(listener, path);
	} else {
		fd = make_socket(path, listener->services->config->socket_mode, err);
		if (fd < 0)
			return -1;
		cut_printf(listener->path, sizeof(listener->path), "%s", path);
	}
	if (listen_on(listener, fd, err) < 0)
		return -1;
	listener->retry = timer_new(listener->services->loop, RETRY_MS, 0, on_retry, listener);
	listener->look = timer_new(listener->services->loop, LOOK_MS, LOOK_MS, on_look, listener);
	if (!listener->retry || !listener->look)
		return err_set(err, ERR_MEMORY, "no memory for the listener");
	return 0;
}

struct listener *listener_start(struct services *services, const char *path, struct err *err)
{
	struct listener *listener = calloc(1, sizeof(*listener));

	if (!listener) {
		(void)err_set(err, ERR_MEMORY, "no memory for the listener");
		return NULL;
	}
	listener->services = services;
	if (open_listener(listener, path, err) < 0) {
		listener_close(listener);
		return NULL;
	}
	return listener;
}

void listener_drain(struct listener *listener)
{
	if (listener && listener->handed_over)
		drop_pipe(listener); /* systemd has the socket too */
}

void listener_close(struct listener *listener)
{
	if (!listener)
		return;
	/* The file may belong to another daemon by now. */
	if (listener->pipe && !listener->handed_over && stands(listener))
		(void)unlink(listener->path);
	timer_close(listener->retry);
	timer_close(listener->look);
	drop_pipe(listener);
	free(listener);
}
