#include "cli/web/access.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "proto/base/container.h"

#define BEARER    "Bearer "
#define HTTP      "http://"
#define HTTP_PORT 80 /* browsers leave it out */

int access_init(struct access *access, const char *address, uint16_t port, struct err *err)
{
	unsigned char random[ACCESS_TOKEN_BYTES];

	*access = (struct access){ .port = port };
	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return err_sys(err, "getrandom");
	for (size_t i = 0; i < sizeof(random); i++)
		(void)snprintf(access->token + 2 * i, 3, "%02x", random[i]);
	cut_printf(access->address, sizeof(access->address), "%s", address);
	return 0;
}

/* "NAME:PORT"; for port 80 also "NAME". */
static bool is_served(const char *host, const char *name, uint16_t port)
{
	char served[80];

	if (port == HTTP_PORT && strcmp(host, name) == 0)
		return true;
	cut_printf(served, sizeof(served), "%s:%u", name, (unsigned)port);
	return strcmp(host, served) == 0;
}

/* "NAME", or "NAME:" and digits: somebody forwards a port of theirs to the Unix socket. */
static bool is_forwarded(const char *host, const char *name)
{
	size_t len = strlen(name);
	const char *port = host + len;

	if (strncmp(host, name, len) != 0)
		return false;
	return !*port ||
	       (*port == ':' && port[1] && strspn(port + 1, "0123456789") == strlen(port + 1));
}

static bool knows_host(const struct access *access, const char *host)
{
	static const char *const loopback[] = { "localhost", "127.0.0.1", "[::1]" };

	if (access->port)
		return is_served(host, access->address, access->port) ||
		       is_served(host, loopback[0], access->port);
	for (size_t i = 0; i < COUNT_OF(loopback); i++) {
		if (is_forwarded(host, loopback[i]))
			return true;
	}
	return false;
}

const char *access_refuses(const struct access *access, const struct web_request *request)
{
	const char *origin = request->origin;
	const char *site = request->site;

	if (!knows_host(access, request->host))
		return "This is not the host name that cectl web serves. Use the address that it printed.";
	if (origin && (strncmp(origin, HTTP, strlen(HTTP)) != 0 ||
			      strcmp(origin + strlen(HTTP), request->host) != 0))
		return "A page of another origin may not ask cectl web.";
	if (site && strcmp(site, "same-origin") != 0 && strcmp(site, "none") != 0)
		return "Another site led here. Type or paste the address that cectl web printed.";
	return NULL;
}

bool access_has_token(const struct access *access, const struct web_request *request)
{
	const char *given = request->authorization;
	volatile unsigned char differs = 0;

	if (!given || strncmp(given, BEARER, strlen(BEARER)) != 0)
		return false;
	given += strlen(BEARER);
	if (strlen(given) != ACCESS_TOKEN_SIZE - 1)
		return false;
	for (size_t i = 0; i < ACCESS_TOKEN_SIZE - 1; i++)
		differs = (unsigned char)(differs | (access->token[i] ^ given[i]));
	return differs == 0;
}
