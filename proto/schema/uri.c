#include "proto/schema/uri.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "proto/value.h"

/* RFC 3986, 3.  `data` is NULL where a part is absent, which is not the same as empty. */
struct uri {
	struct bytes scheme, authority, path, query;
};

static bool is_scheme(const char *text, size_t len)
{
	if (!len || !isalpha((unsigned char)text[0]))
		return false;
	for (size_t i = 1; i < len; i++)
		if (!isalnum((unsigned char)text[i]) && !strchr("+-.", text[i]))
			return false;
	return true;
}

/* Takes the text up to one of `ends` from the front. */
static struct bytes cut(const char **text, const char *end, const char *ends)
{
	struct bytes part = { *text, 0 };

	while (*text < end && !strchr(ends, **text))
		(*text)++;
	part.len = (size_t)(*text - part.data);
	return part;
}

/* Parses a URI reference and ignores its fragment. */
static struct uri parse(const char *text)
{
	struct uri uri = { .path = { text, 0 } };
	const char *end = text + strcspn(text, "#");
	size_t word = strcspn(text, ":/?#");

	if (text[word] == ':' && is_scheme(text, word)) {
		uri.scheme = (struct bytes){ text, word };
		text += word + 1;
	}
	if (end - text >= 2 && text[0] == '/' && text[1] == '/') {
		text += 2;
		uri.authority = cut(&text, end, "/?");
	}
	uri.path = cut(&text, end, "?");
	if (text < end)
		uri.query = (struct bytes){ text + 1, (size_t)(end - text) - 1 };
	return uri;
}

/* RFC 3986, 5.2.4, in place.  Returns the new length of `path`. */
static size_t remove_dots(char *path)
{
	char *out = path;
	const char *in = path;

	while (*in) {
		size_t segment = (*in == '/') + strcspn(in + (*in == '/'), "/");
		const char *name = in + (*in == '/');
		size_t len = segment - (size_t)(name - in);
		bool up = len == 2 && memcmp(name, "..", 2) == 0;
		bool stay = len == 1 && *name == '.';

		if (up)
			while (out > path && *--out != '/')
				;
		if (!up && !stay) {
			memmove(out, in, segment);
			out += segment;
		} else if (!in[segment]) {
			*out++ = '/'; /* "a/.." still ends as a folder */
		}
		in += segment;
	}
	*out = '\0';
	return (size_t)(out - path);
}

/* RFC 3986, 5.2.3: the reference replaces the last segment of the base. */
static const char *merge(struct arena *arena, const struct uri *base, const struct uri *reference)
{
	size_t kept = base->path.len;

	if (base->authority.data && !base->path.len)
		return arena_printf(arena, "/%.*s", (int)reference->path.len, reference->path.data);
	while (kept > 0 && base->path.data[kept - 1] != '/')
		kept--;
	return arena_printf(arena, "%.*s%.*s", (int)kept, base->path.data, (int)reference->path.len,
		reference->path.data);
}

static const char *part_text(
	struct arena *arena, const char *before, struct bytes part, const char *behind)
{
	if (!part.data)
		return "";
	return arena_printf(arena, "%s%.*s%s", before, (int)part.len, part.data, behind);
}

static const char *compose(struct arena *arena, const struct uri *uri)
{
	const char *scheme = part_text(arena, "", uri->scheme, ":");
	const char *authority = part_text(arena, "//", uri->authority, "");
	const char *query = part_text(arena, "?", uri->query, "");

	if (!scheme || !authority || !query)
		return NULL;
	return arena_printf(
		arena, "%s%s%.*s%s", scheme, authority, (int)uri->path.len, uri->path.data, query);
}

/* Computes the path of the result, for a reference with a path. */
static int resolve_path(
	struct arena *arena, const struct uri *base, struct uri *meant, bool relative)
{
	const char *merged = relative ? merge(arena, base, meant)
				      : arena_copy(arena, meant->path.data, meant->path.len);
	char *path = merged ? arena_strdup(arena, merged) : NULL;

	if (!path)
		return -1;
	meant->path = (struct bytes){ path, remove_dots(path) };
	return 0;
}

static bool is_absolute(struct bytes path)
{
	return path.len > 0 && path.data[0] == '/';
}

/* A URI such as urn:..., which has no path of folders. */
static bool is_opaque(const struct uri *uri)
{
	return uri->scheme.data && !uri->authority.data && !is_absolute(uri->path);
}

/* Only a fragment, and perhaps a query: the reference is to its own document. */
static bool is_same_document(const struct uri *uri)
{
	return !uri->scheme.data && !uri->authority.data && !uri->path.len;
}

/* RFC 3986, 5.2.2. */
const char *uri_resolve(struct arena *arena, const char *base_text, const char *reference)
{
	struct uri base = parse(base_text);
	struct uri meant = parse(reference);
	bool relative = !meant.scheme.data && !meant.authority.data && !is_absolute(meant.path);

	if (is_opaque(&meant))
		return compose(arena, &meant);
	if (is_same_document(&meant)) {
		base.query = meant.query.data ? meant.query : base.query;
		return compose(arena, &base);
	}
	if (!meant.scheme.data) {
		meant.scheme = base.scheme;
		if (!meant.authority.data)
			meant.authority = base.authority;
	}
	if (resolve_path(arena, &base, &meant, relative) < 0)
		return NULL;
	return compose(arena, &meant);
}

static int digit_of(char letter)
{
	static const char digits[] = "0123456789abcdef0123456789ABCDEF";
	const char *found = letter ? strchr(digits, letter) : NULL;

	return found ? (int)(found - digits) % 16 : -1;
}

const char *uri_fragment(struct arena *arena, const char *reference)
{
	const char *in = strchr(reference, '#');
	char *text = arena_strdup(arena, in ? in + 1 : "");
	char *out = text;

	if (!text)
		return NULL;
	for (const char *at = text; *at; at++) {
		int high = *at == '%' ? digit_of(at[1]) : -1;
		int low = high >= 0 ? digit_of(at[2]) : -1;

		if (low >= 0 && (high || low)) { /* %00 stays encoded: no key has a NUL */
			*out++ = (char)(high * 16 + low);
			at += 2;
		} else {
			*out++ = *at;
		}
	}
	*out = '\0';
	return text;
}
