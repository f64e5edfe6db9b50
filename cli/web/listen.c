#include "cli/web/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "proto/base/cleanup.h"

#define UNIX         "unix:"
#define WAITING      64 /* connections that the kernel keeps */
#define LOOPBACK_TOP 127

union address {
	struct sockaddr any;
	struct sockaddr_in four;
	struct sockaddr_in6 six;
	struct sockaddr_un file;
};

/* ---- a Unix socket ------------------------------------------------------------------------- */

/* Whether a socket file is there to which no process listens. */
static bool is_left_behind(const union address *address)
{
	struct stat found;
	auto_fd int fd = -1;

	if (lstat(address->file.sun_path, &found) < 0 || !S_ISSOCK(found.st_mode))
		return false;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	return fd >= 0 && connect(fd, &address->any, sizeof(address->file)) < 0 &&
	       errno == ECONNREFUSED;
}

static int bind_file(int fd, const union address *address, struct err *err)
{
	const char *path = address->file.sun_path;
	mode_t before = umask(0177); /* nobody else connects, not even for a moment */
	int status = bind(fd, &address->any, sizeof(address->file));

	if (status < 0 && errno == EADDRINUSE && is_left_behind(address) && unlink(path) == 0)
		status = bind(fd, &address->any, sizeof(address->file));
	(void)umask(before);
	if (status < 0 && errno == EADDRINUSE)
		return err_set(err, ERR_EXISTS,
			"%s is there already: remove it, or name another file", path);
	return status < 0 ? err_sys(err, "%s", path) : 0;
}

static int open_file(const char *path, struct listener *listener, struct err *err)
{
	union address address = { .file = { .sun_family = AF_UNIX } };
	auto_fd int fd = -1;

	if (!path[0] || strlen(path) >= sizeof(address.file.sun_path))
		return err_set(err, ERR_INVALID, "a socket's path has 1 to %zu bytes",
			sizeof(address.file.sun_path) - 1);
	cut_printf(address.file.sun_path, sizeof(address.file.sun_path), "%s", path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return err_sys(err, "socket");
	if (bind_file(fd, &address, err) < 0)
		return -1;
	cut_printf(listener->path, sizeof(listener->path), "%s", path);
	listener->fd = take_fd(&fd);
	return 0;
}

/* ---- an address ---------------------------------------------------------------------------- */

static int parse_port(const char *text, uint16_t *ret_port)
{
	char *end;
	unsigned long port = strtoul(text, &end, 10);

	if (*end || end == text || strspn(text, "0123456789") != strlen(text) || port > 65535)
		return -1;
	*ret_port = (uint16_t)port;
	return 0;
}

/* -1: no address, or one that others can reach. */
static int parse_host(const char *host, uint16_t port, union address *ret_address)
{
	if (strcmp(host, "localhost") == 0)
		host = "127.0.0.1";
	*ret_address =
		(union address){ .four = { .sin_family = AF_INET, .sin_port = htons(port) } };
	if (inet_pton(AF_INET, host, &ret_address->four.sin_addr) == 1)
		return ntohl(ret_address->four.sin_addr.s_addr) >> 24 == LOOPBACK_TOP ? 0 : -1;
	if (strcmp(host, "[::1]") != 0)
		return -1;
	*ret_address = (union address){ .six = { .sin6_family = AF_INET6,
						.sin6_port = htons(port),
						.sin6_addr = IN6ADDR_LOOPBACK_INIT } };
	return 0;
}

static int parse_address(const char *where, union address *ret_address, struct err *err)
{
	char host[LISTEN_ADDRESS_SIZE];
	const char *colon = strrchr(where, ':');
	uint16_t port;

	if (!colon || parse_port(colon + 1, &port) < 0)
		return err_set(err, ERR_INVALID,
			"%s is neither ADDRESS:PORT, such as 127.0.0.1:8417, nor unix:PATH", where);
	cut_printf(host, sizeof(host), "%.*s", (int)(colon - where), where);
	if (parse_host(host, port, ret_address) < 0)
		return err_set(err, ERR_INVALID,
			"%s is no loopback address: use 127.0.0.1 or [::1], and from another host ssh "
			"-L PORT:127.0.0.1:PORT",
			host);
	return 0;
}

/* What the kernel says about the address that was bound. */
static int note_address(struct listener *listener, struct err *err)
{
	union address bound = { .four = { .sin_family = AF_INET } };
	socklen_t len = sizeof(bound);
	char text[INET6_ADDRSTRLEN];

	if (getsockname(listener->fd, &bound.any, &len) < 0)
		return err_sys(err, "getsockname");
	if (bound.any.sa_family == AF_INET6) {
		listener->port = ntohs(bound.six.sin6_port);
		cut_printf(listener->address, sizeof(listener->address), "[::1]");
	} else {
		listener->port = ntohs(bound.four.sin_port);
		if (!inet_ntop(AF_INET, &bound.four.sin_addr, text, sizeof(text)))
			return err_sys(err, "inet_ntop");
		cut_printf(listener->address, sizeof(listener->address), "%s", text);
	}
	return 0;
}

static int open_address(const char *where, struct listener *listener, struct err *err)
{
	union address address = { .any = { .sa_family = AF_UNSPEC } };
	auto_fd int fd = -1;
	const int on = 1;
	socklen_t len;

	if (parse_address(where, &address, err) < 0)
		return -1;
	fd = socket(address.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return err_sys(err, "socket");
	/* Connections of a cectl web that has just ended must not keep its port from the next. */
	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	len = address.any.sa_family == AF_INET6 ? sizeof(address.six) : sizeof(address.four);
	if (bind(fd, &address.any, len) < 0)
		return errno == EADDRINUSE
			       ? err_set(err, ERR_EXISTS,
					 "another program listens on %s: name another port, or 0 for a free one",
					 where)
			       : err_sys(err, "%s", where);
	listener->fd = take_fd(&fd);
	return note_address(listener, err);
}

int listener_open(const char *where, struct listener *ret_listener, struct err *err)
{
	struct listener listener = { .fd = -1 };
	bool is_file = strncmp(where, UNIX, strlen(UNIX)) == 0;
	int status = is_file ? open_file(where + strlen(UNIX), &listener, err)
			     : open_address(where, &listener, err);

	if (status == 0 && listen(listener.fd, WAITING) < 0)
		status = err_sys(err, "%s", where);
	if (status < 0)
		listener_close(&listener);
	else
		*ret_listener = listener;
	return status;
}

void listener_close(struct listener *listener)
{
	if (listener->fd >= 0)
		(void)close(listener->fd);
	if (listener->fd >= 0 && listener->path[0])
		(void)unlink(listener->path);
	listener->fd = -1;
}
