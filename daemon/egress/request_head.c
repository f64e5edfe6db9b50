#include "daemon/egress/request_head.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "proto/base/container.h"
#include "proto/base/err.h"

#define METHOD_MAX 20
#define NAME_BYTES "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._"

/* ---- the shape ------------------------------------------------------------------------------- */

/* The end of the head, behind its empty line.  NULL: it is not there yet. */
static const char *end_of(const char *bytes, size_t len)
{
	const char *end = memmem(bytes, len, "\r\n\r\n", 4);

	return end ? end + 4 : NULL;
}

/* Line breaks are CR LF and nothing else, and no other control character is there. */
static bool is_clean(const char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		const unsigned char byte = (unsigned char)bytes[i];

		if (byte == '\r' && (i + 1 == len || bytes[i + 1] == '\n'))
			continue;
		if (byte == '\n' && i > 0 && bytes[i - 1] == '\r')
			continue;
		if ((byte < ' ' && byte != '\t') || byte == 0x7f)
			return false;
	}
	return true;
}

static bool is_header(const char *line, const char *name)
{
	size_t len = strlen(name);

	return strncasecmp(line, name, len) == 0 && line[len] == ':';
}

static const char *next_line(const char *line)
{
	return strstr(line, "\r\n") + 2;
}

/* Each line is "name: value"; the length of the body is said at most once. */
static bool headers_are_sound(const char *line)
{
	unsigned lengths = 0;

	for (; strncmp(line, "\r\n", 2) != 0; line = next_line(line)) {
		size_t len = strcspn(line, ":\r\n \t");

		if (len == 0 || line[len] != ':')
			return false;
		lengths +=
			is_header(line, "Content-Length") || is_header(line, "Transfer-Encoding");
	}
	return lengths <= 1;
}

/* ---- host and port --------------------------------------------------------------------------- */

static char lower(char byte)
{
	return (char)(byte >= 'A' && byte <= 'Z' ? byte - 'A' + 'a' : byte);
}

static bool take_port(const char *text, size_t len, uint16_t *ret_port)
{
	unsigned port = 0;

	if (len == 0 || len > 5)
		return false;
	for (size_t i = 0; i < len; i++) {
		if (!isdigit((unsigned char)text[i]))
			return false;
		port = port * 10 + (unsigned)(text[i] - '0');
	}
	*ret_port = (uint16_t)port;
	return port > 0 && port <= UINT16_MAX;
}

/* A dot at the end does not matter. */
static bool take_host(const char *text, size_t len, char ret_host[EGRESS_HOST_MAX])
{
	if (len > 0 && text[len - 1] == '.')
		len--;
	if (len == 0 || len >= EGRESS_HOST_MAX || strspn(text, NAME_BYTES) < len)
		return false;
	for (size_t i = 0; i < len; i++)
		ret_host[i] = lower(text[i]);
	ret_host[len] = '\0';
	return true;
}

static bool take_authority(
	const char *text, size_t len, uint16_t otherwise, struct request_target *target)
{
	const char *colon = memchr(text, ':', len);
	size_t host_len = colon ? (size_t)(colon - text) : len;

	target->port = otherwise;
	if (colon && !take_port(colon + 1, len - host_len - 1, &target->port))
		return false;
	return target->port && take_host(text, host_len, target->host);
}

static enum request_head take_target(const char *head, struct request_target *target)
{
	static const char scheme[] = "http://";
	size_t method = strcspn(head, " \r\n");
	const char *uri = head + method + 1;
	size_t uri_len;

	if (head[method] != ' ' || method == 0 || method > METHOD_MAX)
		return HEAD_BAD;
	uri_len = strcspn(uri, " \r\n");
	if (strncmp(uri + uri_len, " HTTP/1.", 8) != 0 ||
		strncmp(uri + uri_len + 9, "\r\n", 2) != 0 ||
		!headers_are_sound(next_line(uri + uri_len)))
		return HEAD_BAD;
	if (strncmp(head, "CONNECT ", 8) == 0)
		return take_authority(uri, uri_len, 0, target) ? HEAD_CONNECT : HEAD_BAD;
	if (strncasecmp(uri, scheme, sizeof(scheme) - 1) != 0)
		return HEAD_BAD;
	uri += sizeof(scheme) - 1;
	return take_authority(uri, strcspn(uri, "/?# \r\n"), 80, target) ? HEAD_URL : HEAD_BAD;
}

enum request_head request_head_read(
	const char *bytes, size_t len, struct request_target *ret_target)
{
	static char head[REQUEST_HEAD_MAX + 1];
	const char *end = end_of(bytes, len < REQUEST_HEAD_MAX ? len : REQUEST_HEAD_MAX);

	*ret_target = (struct request_target){ .port = 0 };
	if (!is_clean(bytes, end ? (size_t)(end - bytes) : len))
		return HEAD_BAD;
	if (!end)
		return len >= REQUEST_HEAD_MAX ? HEAD_BAD : HEAD_MORE;
	ret_target->len = (size_t)(end - bytes);
	memcpy(head, bytes, ret_target->len);
	head[ret_target->len] = '\0';
	return take_target(head, ret_target);
}

/* ---- the head for the server ------------------------------------------------------------------ */

static bool is_for_proxy(const char *line)
{
	static const char *const names[] = { "Host", "Connection", "Keep-Alive", "Proxy-Connection",
		"Proxy-Authorization", "Upgrade" };

	for (size_t i = 0; i < COUNT_OF(names); i++)
		if (is_header(line, names[i]))
			return true;
	return false;
}

struct sink {
	char *at;
	size_t room;
	bool full;
};

static void sink_put(struct sink *sink, const char *bytes, size_t len)
{
	sink->full = sink->full || len > sink->room;
	if (sink->full)
		return;
	memcpy(sink->at, bytes, len);
	sink->at += len;
	sink->room -= len;
}

size_t request_head_rewrite(
	/* NOLINTNEXTLINE(readability-non-const-parameter): the sink writes there */
	const char *head, const struct request_target *target, char *ret_head, size_t room)
{
	struct sink sink = { ret_head, room, false };
	const char *uri = strchr(head, ' ') + 1;
	const char *path = uri + strlen("http://") + strcspn(uri + strlen("http://"), "/?# \r\n");
	const char *line = next_line(head);
	char host[EGRESS_HOST_MAX + 64];

	sink_put(&sink, head, (size_t)(uri - head));
	if (*path != '/')
		sink_put(&sink, "/", 1);
	sink_put(&sink, path, strcspn(path, "# \r\n"));
	if (target->port == 80)
		cut_printf(host, sizeof(host), "%s", target->host);
	else
		cut_printf(host, sizeof(host), "%s:%u", target->host, target->port);
	sink_put(&sink, " HTTP/1.1\r\nHost: ", 17);
	sink_put(&sink, host, strlen(host));
	sink_put(&sink, "\r\nConnection: close\r\n", 21);
	for (; strncmp(line, "\r\n", 2) != 0; line = next_line(line))
		if (!is_for_proxy(line))
			sink_put(&sink, line, (size_t)(next_line(line) - line));
	sink_put(&sink, "\r\n", 2);
	return sink.full ? 0 : room - sink.room;
}
