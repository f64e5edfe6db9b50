#include "daemon/inspector/text_heuristics.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "proto/base/container.h"

/* ---- URLs ---------------------------------------------------------------------------------- */

static const char *const schemes[] = { "http", "https", "ftp", "ftps", "sftp", "ssh", "ws", "wss",
	"tcp", "udp", "smtp", "ldap", "git", "telnet", "redis", "mongodb", "postgresql", "mysql" };

/* Where the scheme before "://" at `colon` begins; `colon` itself when there is none. */
static size_t scheme_start(const char *text, size_t colon)
{
	size_t start = colon;

	while (start > 0 && isalpha((unsigned char)text[start - 1]))
		start--;
	for (size_t i = 0; i < COUNT_OF(schemes); i++)
		if (strlen(schemes[i]) == colon - start &&
			strncasecmp(schemes[i], text + start, colon - start) == 0)
			return start;
	return colon;
}

static bool is_host_byte(char byte)
{
	return isalnum((unsigned char)byte) || (byte && strchr(".-_[]:@%{}$", byte)) ||
	       (unsigned char)byte >= 0x80;
}

/* The host alone: without user and port. */
static void trim_host(const char **host, size_t *len)
{
	const char *at = memrchr(*host, '@', *len);
	const char *colon;

	if (at) {
		*len -= (size_t)(at + 1 - *host);
		*host = at + 1;
	}
	colon = memrchr(*host, ':', *len);
	if (colon && !memchr(*host, ']', *len))
		*len = (size_t)(colon - *host);
}

static bool host_is_in(const struct words *hosts, const char *host, size_t len)
{
	char wild[260] = "*";

	trim_host(&host, &len);
	if (len == 0 || len > 255)
		return false;
	if (words_have(hosts, host, len))
		return true;
	for (size_t at = 0; hosts->has_stars && at < len; at++) {
		if (host[at] != '.')
			continue;
		memcpy(wild + 1, host + at, len - at);
		if (words_have(hosts, wild, len - at + 1))
			return true;
	}
	return false;
}

bool text_has_url(const char *text, size_t len, const struct words *hosts, bool in_list,
	size_t *ret_start, size_t *ret_end)
{
	const char *end = text + len;

	for (const char *at = memmem(text, len, "://", 3); at;
		at = memmem(at + 3, (size_t)(end - at - 3), "://", 3)) {
		size_t colon = (size_t)(at - text);
		size_t start = scheme_start(text, colon);
		size_t host = colon + 3;
		size_t stop = host;

		while (stop < len && is_host_byte(text[stop]))
			stop++;
		if (start == colon || stop == host ||
			host_is_in(hosts, text + host, stop - host) != in_list)
			continue;
		*ret_start = start;
		*ret_end = stop;
		return true;
	}
	return false;
}

/* ---- packed text ---------------------------------------------------------------------------- */

enum kind {
	KIND_LOWER,
	KIND_UPPER,
	KIND_DIGIT,
	KIND_OTHER, /* of base64 */
	KIND_NONE,
};

static enum kind kind_of(char byte)
{
	if (islower((unsigned char)byte))
		return KIND_LOWER;
	if (isupper((unsigned char)byte))
		return KIND_UPPER;
	if (isdigit((unsigned char)byte))
		return KIND_DIGIT;
	return byte && strchr("+/=_-", byte) ? KIND_OTHER : KIND_NONE;
}

/* A run of bytes that could be packed. */
struct run {
	uint32_t len;
	uint32_t of[KIND_NONE];
	uint32_t not_hex;
	uint64_t seen[4];
};

static uint32_t distinct(const struct run *run)
{
	uint32_t count = 0;

	for (int i = 0; i < 4; i++)
		count += (uint32_t)__builtin_popcountll(run->seen[i]);
	return count;
}

static void run_take_byte(struct run *run, char byte, enum kind kind)
{
	unsigned char value = (unsigned char)byte;

	run->len++;
	run->of[kind]++;
	run->not_hex += !isxdigit(value);
	run->seen[value / 64] |= (uint64_t)1 << (value % 64);
}

/* Packed data has many letters of both cases and many digits, or is hexadecimal. */
static bool is_packed(const struct run *run, uint32_t least)
{
	uint32_t some = run->len / 20;

	if (run->len < least)
		return false;
	if (run->not_hex == 0)
		return distinct(run) >= 14 && run->of[KIND_DIGIT] > some &&
		       run->len - run->of[KIND_DIGIT] > some;
	return distinct(run) >= 32 && run->of[KIND_LOWER] > some && run->of[KIND_UPPER] > some &&
	       run->of[KIND_DIGIT] > some;
}

static bool is_escape(const char *text, size_t left)
{
	return left >= 4 && text[0] == '\\' && text[1] == 'x' && isxdigit((unsigned char)text[2]) &&
	       isxdigit((unsigned char)text[3]);
}

/* Packed text may be split into lines; their indentation belongs to the line end. */
static bool is_line_end(const char *text, size_t at)
{
	if (text[at] == ' ' || text[at] == '\t')
		return at > 0 && strchr(" \t\n", text[at - 1]);
	return text[at] == '\n' || text[at] == '\r' || text[at] == '\\';
}

bool text_is_opaque(const char *text, size_t len, uint32_t least)
{
	struct run run = { 0 };
	uint32_t escapes = 0;

	if (len < least && len / 4 < least / 4)
		return false; /* too short for such a run or so many escapes */
	for (size_t at = 0; at < len; at++) {
		enum kind kind = kind_of(text[at]);

		if (is_escape(text + at, len - at)) {
			escapes++;
			at += 3;
			continue;
		}
		if (kind != KIND_NONE) {
			run_take_byte(&run, text[at], kind);
		} else if (!is_line_end(text, at)) {
			if (is_packed(&run, least))
				return true;
			run = (struct run){ 0 };
		}
	}
	return is_packed(&run, least) || escapes >= least / 4;
}

/* ---- format templates ----------------------------------------------------------------------- */

bool template_reaches(const char *text, size_t len, const struct words *allowed)
{
	size_t depth = 0;

	for (size_t at = 0; at + 1 < len; at++) {
		size_t end;

		if (text[at] == '{')
			depth++;
		else if (text[at] == '}' && depth > 0)
			depth--;
		if (depth == 0 || text[at] != '.' || text[at + 1] != '_')
			continue;
		end = at + 1 + name_span(text + at + 1, len - at - 1);
		if (!words_have(allowed, text + at + 1, end - at - 1))
			return true;
	}
	return false;
}
