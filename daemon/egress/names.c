#include "daemon/egress/names.h"

#include <ares.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/clock.h"
#include "proto/base/container.h"
#include "proto/base/list.h"

#define SOCKETS_MAX 64
#define CACHE_MAX   128
#define CACHE_MS    30000
#define TIMEOUT_MS  1500
#define TRIES       3

struct name_socket {
	struct loop_io io;
	struct names *names;
};

struct cached {
	char host[EGRESS_HOST_MAX];
	int64_t until_ms; /* 0: empty */
	size_t count;
	struct address list[NAMES_ADDRESSES_MAX];
};

struct names {
	struct loop *loop;
	ares_channel channel;
	struct name_socket sockets[SOCKETS_MAX];
	struct cached cache[CACHE_MAX];
	size_t next;       /* of the cache, to be replaced */
	struct list again; /* questions, while the servers change */
};

struct question {
	struct list link; /* while it is in `again` */
	struct names *names;
	char host[EGRESS_HOST_MAX];
	names_answer *on_answer;
	void *context;
};

/* ---- sockets of c-ares ----------------------------------------------------------------------- */

static void on_socket(struct loop_io *io, uint32_t events)
{
	/* the first field of its struct */
	struct name_socket *at = (struct name_socket *)(void *)io;
	const int fd = io->fd;

	ares_process_fd(at->names->channel,
		(events & (EPOLLIN | EPOLLERR | EPOLLHUP)) ? fd : ARES_SOCKET_BAD,
		(events & EPOLLOUT) ? fd : ARES_SOCKET_BAD);
}

static struct name_socket *socket_of(struct names *names, int fd)
{
	struct name_socket *empty = NULL;

	for (size_t i = 0; i < SOCKETS_MAX; i++) {
		if (names->sockets[i].io.fd == fd)
			return &names->sockets[i];
		if (names->sockets[i].io.fd < 0 && !empty)
			empty = &names->sockets[i];
	}
	return empty;
}

static void on_socket_state(void *context, ares_socket_t fd, int readable, int writable)
{
	struct names *names = context;
	struct name_socket *at = socket_of(names, fd);
	uint32_t events = (readable ? EPOLLIN : 0U) | (writable ? EPOLLOUT : 0U);

	if (!at)
		return; /* the query ends by its timeout */
	at->io.fd = fd;
	(void)loop_want(names->loop, &at->io, events);
	if (!events)
		at->io.fd = -1;
}

/* ---- the channel ------------------------------------------------------------------------------ */

static int failed(struct err *err, int status, const char *what)
{
	return err_set(err, ERR_SYSTEM, "%s: %s", what, ares_strerror(status));
}

struct names *names_new(struct loop *loop, struct err *err)
{
	struct names *names = calloc(1, sizeof(*names));
	char lookups[] = "b"; /* only servers, no file of hosts */
	struct ares_options options = {
		.timeout = TIMEOUT_MS,
		.tries = TRIES,
		.ndots = 0,
		.lookups = lookups,
		.sock_state_cb = on_socket_state,
		.sock_state_cb_data = names,
		.flags = ARES_FLAG_NOSEARCH | ARES_FLAG_NOALIASES,
	};
	int status;

	if (!names) {
		(void)err_set(err, ERR_MEMORY, "no memory for names");
		return NULL;
	}
	names->loop = loop;
	list_init(&names->again);
	for (size_t i = 0; i < SOCKETS_MAX; i++) {
		names->sockets[i].names = names;
		names->sockets[i].io = (struct loop_io){ -1, 0, on_socket };
	}
	status = ares_init_options(&names->channel, &options,
		ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_NDOTS | ARES_OPT_LOOKUPS |
			ARES_OPT_SOCK_STATE_CB | ARES_OPT_FLAGS);
	if (status == ARES_SUCCESS)
		return names;
	(void)failed(err, status, "c-ares");
	free(names);
	return NULL;
}

/* ---- questions -------------------------------------------------------------------------------- */

static size_t take_addresses(const struct ares_addrinfo *info,
	struct address list[NAMES_ADDRESSES_MAX], int64_t *ret_ttl_ms)
{
	size_t count = 0;

	*ret_ttl_ms = CACHE_MS;
	for (const struct ares_addrinfo_node *at = info->nodes; at; at = at->ai_next) {
		struct sockaddr_in in;
		struct sockaddr_in6 in6;

		if (count == NAMES_ADDRESSES_MAX)
			break;
		if ((int64_t)at->ai_ttl * 1000 < *ret_ttl_ms)
			*ret_ttl_ms = (int64_t)at->ai_ttl * 1000;
		if (at->ai_family == AF_INET && at->ai_addrlen == sizeof(in)) {
			memcpy(&in, at->ai_addr, sizeof(in));
			list[count++] = address_of_v4(in.sin_addr);
		} else if (at->ai_family == AF_INET6 && at->ai_addrlen == sizeof(in6)) {
			memcpy(&in6, at->ai_addr, sizeof(in6));
			memcpy(list[count++].bytes, &in6.sin6_addr, 16);
		}
	}
	return count;
}

static struct cached *cached_of(struct names *names, const char *host)
{
	for (size_t i = 0; i < CACHE_MAX; i++)
		if (names->cache[i].until_ms > clock_ms() &&
			strcmp(names->cache[i].host, host) == 0)
			return &names->cache[i];
	return NULL;
}

static void keep(struct names *names, const char *host, const struct address *list, size_t count,
	int64_t ttl_ms)
{
	struct cached *place = &names->cache[names->next++ % CACHE_MAX];

	memcpy(place->host, host, sizeof(place->host));
	memcpy(place->list, list, count * sizeof(*list));
	place->count = count;
	place->until_ms = clock_ms() + ttl_ms;
}

static void on_info(void *context, int status, int timeouts, struct ares_addrinfo *info)
{
	struct question *question = context;
	struct address list[NAMES_ADDRESSES_MAX];
	int64_t ttl_ms = 0;
	size_t count = 0;

	(void)timeouts;
	if (status == ARES_ECANCELLED) {
		list_append(&question->names->again, &question->link);
		return;
	}
	if (status == ARES_SUCCESS && info)
		count = take_addresses(info, list, &ttl_ms);
	if (info)
		ares_freeaddrinfo(info);
	if (count > 0 && ttl_ms > 0)
		keep(question->names, question->host, list, count, ttl_ms);
	question->on_answer(question->context, list, count);
	free(question);
}

static void ask(struct question *question)
{
	const struct ares_addrinfo_hints hints = {
		.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = ARES_AI_NOSORT
	};

	ares_getaddrinfo(question->names->channel, question->host, NULL, &hints, on_info, question);
}

/* c-ares takes no other servers while it waits for those that it has. */
int names_use(struct names *names, const char *resolvers, struct err *err)
{
	int status;

	ares_cancel(names->channel);
	status = ares_set_servers_ports_csv(names->channel, resolvers);
	for (size_t i = 0; i < CACHE_MAX; i++)
		names->cache[i].until_ms = 0;
	list_for_each(at, &names->again) {
		list_remove(at);
		ask(container_of(at, struct question, link));
	}
	return status == ARES_SUCCESS ? 0 : failed(err, status, "resolvers");
}

void names_find(struct names *names, const char *host, names_answer *on_answer, void *context)
{
	const struct cached *cached = cached_of(names, host);
	struct question *question;

	if (cached) {
		on_answer(context, cached->list, cached->count);
		return;
	}
	question = calloc(1, sizeof(*question));
	if (!question) {
		on_answer(context, NULL, 0);
		return;
	}
	question->names = names;
	question->on_answer = on_answer;
	question->context = context;
	memcpy(question->host, host, strnlen(host, sizeof(question->host) - 1));
	ask(question);
}

void names_tick(struct names *names)
{
	ares_process_fd(names->channel, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
}

void names_free(struct names *names)
{
	if (!names)
		return;
	ares_destroy(names->channel);
	free(names);
}
