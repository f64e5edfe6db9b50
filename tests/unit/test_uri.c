#include "proto/schema/uri.h"
#include "tests/check.h"

#define BASE "http://a/b/c/d;p?q"

/* RFC 3986, 5.4, without fragments, which are not part of a name. */
static const struct {
	const char *reference, *meant;
} examples[] = {
	{ "g:h", "g:h" },
	{ "g", "http://a/b/c/g" },
	{ "./g", "http://a/b/c/g" },
	{ "g/", "http://a/b/c/g/" },
	{ "/g", "http://a/g" },
	{ "//g", "http://g" },
	{ "?y", "http://a/b/c/d;p?y" },
	{ "g?y", "http://a/b/c/g?y" },
	{ "#s", "http://a/b/c/d;p?q" },
	{ "g#s", "http://a/b/c/g" },
	{ ";x", "http://a/b/c/;x" },
	{ "", "http://a/b/c/d;p?q" },
	{ ".", "http://a/b/c/" },
	{ "./", "http://a/b/c/" },
	{ "..", "http://a/b/" },
	{ "../", "http://a/b/" },
	{ "../g", "http://a/b/g" },
	{ "../..", "http://a/" },
	{ "../../g", "http://a/g" },
	{ "../../../g", "http://a/g" },
	{ "/./g", "http://a/g" },
	{ "/../g", "http://a/g" },
	{ "g.", "http://a/b/c/g." },
	{ "..g", "http://a/b/c/..g" },
	{ "./../g", "http://a/b/g" },
	{ "./g/.", "http://a/b/c/g/" },
	{ "g/./h", "http://a/b/c/g/h" },
	{ "g/../h", "http://a/b/c/h" },
	{ "g?y/../x", "http://a/b/c/g?y/../x" },
};

static const char *resolved(struct arena *arena, const char *base, const char *reference)
{
	const char *meant = uri_resolve(arena, base, reference);

	return meant ? meant : "no memory";
}

TEST(references_mean_what_the_standard_says)
{
	__attribute__((cleanup(arena_done))) struct arena arena;

	arena_init(&arena, 1U << 20);
	for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++)
		CHECK_STR(resolved(&arena, BASE, examples[i].reference), examples[i].meant);
}

TEST(names_without_folders_and_bases_without_a_name_are_kept)
{
	__attribute__((cleanup(arena_done))) struct arena arena;

	arena_init(&arena, 1U << 20);
	CHECK_STR(resolved(&arena, "urn:uuid:1-2", ""), "urn:uuid:1-2");
	CHECK_STR(resolved(&arena, "urn:uuid:1-2", "#a"), "urn:uuid:1-2");
	CHECK_STR(resolved(&arena, "urn:uuid:1-2", "urn:uuid:3"), "urn:uuid:3");
	CHECK_STR(resolved(&arena, "", "a/b"), "a/b");
	CHECK_STR(resolved(&arena, "", ""), "");
	CHECK_STR(resolved(&arena, "http://a", "b"), "http://a/b");
	CHECK_STR(resolved(&arena, "a/b", "../../../c"), "/c");
	CHECK_STR(resolved(&arena, "1:2", "x"), "x");
}

TEST(fragments_lose_their_escapes)
{
	__attribute__((cleanup(arena_done))) struct arena arena;

	arena_init(&arena, 1U << 20);
	CHECK_STR(uri_fragment(&arena, "a#/%24defs/x%25y"), "/$defs/x%y");
	CHECK_STR(uri_fragment(&arena, "a"), "");
	CHECK_STR(uri_fragment(&arena, "a#"), "");
	CHECK_STR(uri_fragment(&arena, "#%"), "%");
	CHECK_STR(uri_fragment(&arena, "#%4"), "%4");
	CHECK_STR(uri_fragment(&arena, "#%zz"), "%zz");
	CHECK_STR(uri_fragment(&arena, "#%00"), "%00");
}

TEST(a_full_arena_is_told)
{
	__attribute__((cleanup(arena_done))) struct arena arena;

	arena_init(&arena, 1);
	CHECK(uri_resolve(&arena, BASE, "g") == NULL);
	CHECK(uri_fragment(&arena, "#g") == NULL);
}
