#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/inspector/query.h"
#include "daemon/inspector/roots.h"
#include "daemon/policy/rulebook.h"
#include "proto/base/cleanup.h"
#include "proto/base/clock.h"
#include "proto/base/fdio.h"
#include "tests/check.h"

const TSLanguage *tree_sitter_python(void);
const TSLanguage *tree_sitter_javascript(void);
const TSLanguage *tree_sitter_bash(void);

static void read_python(const char *text, struct roots *ret_roots)
{
	TSQueryError kind;
	uint32_t at;
	TSQuery *query =
		ts_query_new(tree_sitter_python(), text, (uint32_t)strlen(text), &at, &kind);

	*ret_roots = (struct roots){ 0 };
	CHECK(query);
	roots_read(tree_sitter_python(), text, strlen(text), ret_roots);
	ts_query_delete(query);
}

static TSSymbol symbol(const char *name)
{
	return ts_language_symbol_for_name(
		tree_sitter_python(), name, (uint32_t)strlen(name), true);
}

TEST(a_node_alone_is_told_whatever_it_is_called)
{
	struct roots roots;

	read_python("(identifier) @name @at ; and no more\n", &roots);
	CHECK(!roots.anywhere && roots.count == 1);
	CHECK_EQ_INT(roots.kinds[0], symbol("identifier"));
}

TEST(a_condition_beside_it_is_passed_over)
{
	struct roots roots;

	read_python("((identifier) @name (#any-of? @name \"a)\" \"b\"))", &roots);
	CHECK(!roots.anywhere && roots.count == 1);
	CHECK_EQ_INT(roots.kinds[0], symbol("identifier"));
}

TEST(each_of_several_may_begin)
{
	struct roots roots;

	read_python("[(string) @at (call function: (_)) \"with\" (ERROR)] @name", &roots);
	CHECK(!roots.anywhere && roots.count == 4);
	CHECK_EQ_INT(roots.kinds[0], symbol("string"));
	CHECK_EQ_INT(roots.kinds[1], symbol("call"));
	CHECK_EQ_INT(roots.kinds[3], (TSSymbol)-1);
}

TEST(what_is_in_a_node_is_passed_over)
{
	struct roots roots;

	read_python("(call ; a ) here\n function: [(identifier) (attribute)] @name\n"
		    "  arguments: (argument_list . \")\" @at)) @_all",
		&roots);
	CHECK(!roots.anywhere && roots.count == 1);
	CHECK_EQ_INT(roots.kinds[0], symbol("call"));
}

TEST(what_is_not_certain_begins_anywhere)
{
	static const char *const rows[] = { "(_) @name", "(_ (identifier) @name)", "_ @name",
		"(expression) @name", "(MISSING) @name", "((comment) (call)) @name",
		"((comment)+ @name)", "(comment)* @name", "[(identifier) (_)] @name" };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct roots roots;

		read_python(rows[i], &roots);
		CHECK(roots.anywhere);
	}
}

/* ---- a walk by kinds finds what tree-sitter's own does --------------------------------------- */

#define SEEN_MAX 200000U
/* A pattern that begins anywhere, and finds nothing that a tree has. */
#define ANYWHERE "\n(_ (ERROR (ERROR (ERROR (ERROR) @name))))\n"

struct seen {
	struct match *matches;
	uint32_t count;
	uint32_t patterns;
};

static void on_match(void *context, const struct match *match)
{
	struct seen *seen = context;
	struct match copy = { .pattern = match->pattern, .count = match->count };

	if (match->pattern >= seen->patterns)
		return;
	memcpy(copy.captures, match->captures, match->count * sizeof(copy.captures[0]));
	CHECK(seen->count < SEEN_MAX);
	seen->matches[seen->count++] = copy;
}

static int compare_matches(const void *left, const void *right)
{
	return memcmp(left, right, sizeof(struct match));
}

static void run(struct syntax *syntax, enum syntax_query which, const char *code, size_t len,
	struct seen *seen)
{
	struct effort effort;

	seen->count = 0;
	effort_begin(&effort, 1000000, 60000000, NULL, NULL);
	CHECK(syntax_parse(syntax, code, len, &effort));
	CHECK(syntax_run(syntax, which, on_match, seen));
	qsort(seen->matches, seen->count, sizeof(*seen->matches), compare_matches);
	syntax_forget(syntax);
}

struct pair {
	struct syntax *by_kind;
	struct syntax *anywhere;
	struct seen found[2];
	uint64_t told;
};

static void compare_walks(struct pair *pair, const char *code, size_t len)
{
	for (enum syntax_query which = SYNTAX_RULES; which < SYNTAX_QUERY_COUNT; which++) {
		uint32_t patterns = syntax_pattern_count(pair->by_kind, which);

		CHECK_EQ_INT(syntax_pattern_count(pair->anywhere, which), patterns + 1);
		pair->found[0].patterns = pair->found[1].patterns = patterns;
		run(pair->by_kind, which, code, len, &pair->found[0]);
		run(pair->anywhere, which, code, len, &pair->found[1]);
		CHECK_EQ_INT(pair->found[0].count, pair->found[1].count);
		CHECK(memcmp(pair->found[0].matches, pair->found[1].matches,
			      pair->found[0].count * sizeof(struct match)) == 0);
		pair->told += pair->found[0].count;
	}
}

static struct syntax *make(const struct inspect_language *texts, const char *more)
{
	auto_free char *rules = NULL;
	auto_free char *scope = NULL;
	struct err err = ERR_INIT;

	if (asprintf(&rules, "%.*s%s", (int)texts->rules_len, texts->rules, more) < 0 ||
		asprintf(&scope, "%.*s%s", (int)texts->scope_len, texts->scope, more) < 0)
		return NULL;
	return syntax_new(texts->name, (const char *[]){ rules, scope },
		(size_t[]){ strlen(rules), strlen(scope) }, &err);
}

/* By its name; who names none is Python's. */
static const char *language_of(const char *file)
{
	if (strstr(file, "-bash-"))
		return "bash";
	return strstr(file, "-javascript-") ? "javascript" : "python";
}

static void compare_over_cases(struct pair *pair, const char *language)
{
	const char *folder = getenv("CED_CASES");
	DIR *dir = opendir(folder ? folder : "tests/cases/policy");
	const struct dirent *entry;
	struct err err = ERR_INIT;
	unsigned count = 0;

	CHECK(dir);
	while ((entry = readdir(dir))) {
		auto_free char *path = NULL;
		auto_free char *text = NULL;
		size_t len = 0;

		if (entry->d_name[0] == '.' || strcmp(language_of(entry->d_name), language) != 0)
			continue;
		CHECK(asprintf(&path, "%s/%s", folder, entry->d_name) > 0);
		CHECK_EQ_INT(read_file(path, 1 << 20, &text, &len, &err), 0);
		compare_walks(pair, text, len);
		count++;
	}
	(void)closedir(dir);
	CHECK(count > 150);
}

TEST(the_walk_by_kinds_finds_in_each_case_what_tree_sitters_own_does)
{
	struct err err = ERR_INIT;
	struct rulebook *book = rulebook_load(NULL, &err);
	struct pair pair = { 0 };

	CHECK(book);
	for (int i = 0; i < 2; i++) {
		pair.found[i].matches = calloc(SEEN_MAX, sizeof(struct match));
		CHECK(pair.found[i].matches);
	}
	for (uint32_t i = 0; i < book->language_count; i++) {
		pair.by_kind = make(&book->languages[i].texts, "");
		pair.anywhere = make(&book->languages[i].texts, ANYWHERE);
		CHECK(pair.by_kind && pair.anywhere);
		compare_over_cases(&pair, book->languages[i].name);
		syntax_free(pair.by_kind);
		syntax_free(pair.anywhere);
	}
	CHECK(pair.told > 5000);
	free(pair.found[0].matches);
	free(pair.found[1].matches);
	rulebook_free(book);
}

/* ---- patterns such as an operator might write ------------------------------------------------- */

#define PYTHON_ODD                                                                             \
	"(argument_list (_) @name (_) @at)\n"                                                  \
	"(argument_list . (_) @name)\n"                                                        \
	"(argument_list (_) @name .)\n"                                                        \
	"(argument_list (_) @name . (_) @at)\n"                                                \
	"(argument_list . (_) . (_) @name .)\n"                                                \
	"(argument_list (identifier) (string) @name)\n"                                        \
	"(argument_list [(identifier) (call)] (string) @name)\n"                               \
	"(argument_list (call (identifier)) (_) @name)\n"                                      \
	"(argument_list \",\" @name)\n"                                                        \
	"(module (expression_statement (call (attribute (identifier) @at) @name)) @store)\n"   \
	"[(call (identifier) @name) (attribute (identifier) @name) (string)] @at @store\n"     \
	"(call [(identifier) @name (attribute (identifier) @name)] (argument_list (_) @at))\n" \
	"((call (identifier) @_x (argument_list (_) @name)) (#not-any-of? @_x \"print\"))\n"   \
	"((call [(identifier) (attribute)] @_x) @name (#any-of? @_x \"eval\" \"exec\"))\n"     \
	"(block (_)* @name)\n"                                                                 \
	"(call (argument_list (_)? @name))\n"                                                  \
	"(call !arguments) @name\n"                                                            \
	"(ERROR (_) @name)\n"                                                                  \
	"(module (_ (call))*) @name\n"                                                         \
	"(module ((expression_statement (_) @name)))\n"                                        \
	"(argument_list (\"(\") ((_) @name))\n"                                                \
	"(argument_list . [\",\" (identifier)] . (_) @name)\n"                                 \
	"(ERROR) @name\n"

#define JAVASCRIPT_ODD                                                                   \
	"(switch_case body: (_) @name)\n"                                                \
	"(arguments (_) @name (_) @at)\n"                                                \
	"(statement_block . (_) @name)\n"                                                \
	"(object (pair key: (_) @name value: (_) @at)) @store\n"                         \
	"(member_expression object: [(identifier) (call_expression)] @name \".\" @at)\n" \
	"(binary_expression operator: [\"+\" \"-\"] @name right: (_) @at)\n"             \
	"(for_in_statement kind: _ left: (identifier) @name)\n"

#define BASH_ODD                                                 \
	"(file_redirect destination: (_) @name)\n"               \
	"(file_redirect destination: [(word) (string)] @name)\n" \
	"(if_statement condition: (_) @name)\n"                  \
	"(while_statement condition: (command) @name)\n"         \
	"(for_statement variable: (_) @at value: (_) @name)\n"   \
	"(case_item value: (_) @name)\n"                         \
	"(redirected_statement redirect: (_) @name)\n"           \
	"(binary_expression right: (_) @name)\n"                 \
	"(command argument: (_) @name argument: (_) @at)\n"      \
	"(command name: (_) . argument: (_) @name)\n"            \
	"(program (_ name: (_))*) @name\n"                       \
	"(program (command) @name .)\n"                          \
	"(command argument: (word) argument: [(string) (raw_string)] @name .)\n"

TEST(odd_patterns_find_in_each_case_what_they_find_in_tree_sitters_own_walk)
{
	static const struct inspect_language rows[] = {
		{ .name = "python", .rules = PYTHON_ODD, .rules_len = sizeof(PYTHON_ODD) - 1 },
		{ .name = "javascript",
			.rules = JAVASCRIPT_ODD,
			.rules_len = sizeof(JAVASCRIPT_ODD) - 1 },
		{ .name = "bash", .rules = BASH_ODD, .rules_len = sizeof(BASH_ODD) - 1 },
	};
	struct pair pair = { 0 };

	for (int i = 0; i < 2; i++) {
		pair.found[i].matches = calloc(SEEN_MAX, sizeof(struct match));
		CHECK(pair.found[i].matches);
	}
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		pair.by_kind = make(&rows[i], "");
		pair.anywhere = make(&rows[i], ANYWHERE);
		CHECK(pair.by_kind && pair.anywhere);
		compare_over_cases(&pair, rows[i].name);
		syntax_free(pair.by_kind);
		syntax_free(pair.anywhere);
	}
	CHECK(pair.told > 3000);
	free(pair.found[0].matches);
	free(pair.found[1].matches);
}

/* ---- fields ----------------------------------------------------------------------------------- */

/* What each grammar gives one field to several nodes in. */
#define PYTHON_FIELDS                                                             \
	"match a, b:\n  case {-1: c, 'k': d, **e}:\n    pass\n"                   \
	"f = [x for x in y, z if x < y not in z is not w]\n"                      \
	"from m import n, o as p\nimport q, r as s\nt[1, 2:3, 4]\nprint >>u, v\n" \
	"try:\n  pass\nexcept (A, B) as c:\n  pass\nelse:\n  pass\n"              \
	"if a:\n  b\nelif c:\n  d\nelif e:\n  f\nelse:\n  g\n"
#define JAVASCRIPT_FIELDS                                                                   \
	"switch (a) { case b: c(); /* d */ e(); break; default: f(); /* g */ h() }\n"       \
	"@i @j class K { @l @m n() {} @o @p q = 1; static {} }\nexport @r @s class T {}\n"  \
	"for (let u = 0, v; w, x; y++, z--) {}\nfor await (const a of b) {}\nfor (;;) {}\n" \
	"c = <d e='f' {...g}><h i='j' k/></d>\n{ await using l = m }\n"
#define BASH_FIELDS                                                                           \
	"for ((a = 0, b = 1; c < 2, d < 3; e++, f--)); do g; done\ncat < h i > j k 2>&1 l\n"  \
	"cat <<E > m n 2> o p\nq\nE\n{ r; } > s 2>&1 < t\nfor u in v w \"$x\"; do y; done\n"  \
	"if z; a; then b; elif c; d; then e; fi\nwhile f & g; do h; done\n"                   \
	"case i in j | k*) l;; @(m|n)o*$p) q;; r*$s\"t\") u;; esac\necho ${v//w/x} ${!y@P}\n" \
	"[[ $a == b*$c\"d\" ]] && [[ $e =~ ^f$g ]]\nselect h in i j; do k; done\n> l m n\n"

/* For each node with a field: (its parent field: (_) @name), and the same with its own kind. */
static void add_fields(TSNode parent, FILE *out)
{
	uint32_t count = ts_node_child_count(parent);

	for (uint32_t i = 0; i < count; i++) {
		TSNode child = ts_node_child(parent, i);
		const char *field = ts_node_field_name_for_child(parent, i);

		if (field && ts_node_is_named(child))
			(void)fprintf(out, "(%s %s: (_) @name)\n(%s %s: (%s) @name)\n",
				ts_node_type(parent), field, ts_node_type(parent), field,
				ts_node_type(child));
		add_fields(child, out);
	}
}

static void write_patterns(const TSLanguage *language, const char *code, char **ret_patterns)
{
	TSParser *parser = ts_parser_new();
	size_t len = 0;
	FILE *out = open_memstream(ret_patterns, &len);
	TSTree *tree;

	CHECK(out && ts_parser_set_language(parser, language));
	tree = ts_parser_parse_string(parser, NULL, code, (uint32_t)strlen(code));
	add_fields(ts_tree_root_node(tree), out);
	CHECK_EQ_INT(fclose(out), 0);
	ts_tree_delete(tree);
	ts_parser_delete(parser);
}

static void compare_fields(
	const TSLanguage *language, const char *name, const char *code, struct pair *pair)
{
	auto_free char *patterns = NULL;
	struct inspect_language texts = { .name = name };

	write_patterns(language, code, &patterns);
	CHECK(patterns);
	texts.rules = patterns;
	texts.rules_len = strlen(patterns);
	pair->by_kind = make(&texts, "");
	pair->anywhere = make(&texts, ANYWHERE);
	CHECK(pair->by_kind && pair->anywhere);
	compare_walks(pair, code, strlen(code));
	syntax_free(pair->by_kind);
	syntax_free(pair->anywhere);
}

TEST(each_field_finds_what_it_finds_in_tree_sitters_own_walk)
{
	struct pair pair = { 0 };

	for (int i = 0; i < 2; i++) {
		pair.found[i].matches = calloc(SEEN_MAX, sizeof(struct match));
		CHECK(pair.found[i].matches);
	}
	compare_fields(tree_sitter_python(), "python", PYTHON_FIELDS, &pair);
	compare_fields(tree_sitter_javascript(), "javascript", JAVASCRIPT_FIELDS, &pair);
	compare_fields(tree_sitter_bash(), "bash", BASH_FIELDS, &pair);
	CHECK(pair.told > 500);
	free(pair.found[0].matches);
	free(pair.found[1].matches);
}
