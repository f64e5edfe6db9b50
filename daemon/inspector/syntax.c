#include "daemon/inspector/syntax.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <tree_sitter/api.h>

#include "daemon/inspector/query.h"
#include "daemon/inspector/respell.h"
#include "proto/base/cleanup.h"
#include "proto/base/container.h"

/*
 * Matches that a query may have begun and not ended.  tree-sitter drops matches past this limit,
 * so the check is then given up.  It also compares unfinished matches of one pattern with each
 * other at each node, so the square of this limit is what one node may cost.
 */
#define UNFINISHED_MATCHES_MAX 512U
/*
 * A query counts depth in 16 bits and would find nothing below.  No grammar makes more than one or
 * two levels of a byte, so a short program need not be measured.
 */
#define TREE_DEPTH_MAX         60000U
#define SHALLOW_BYTES          (TREE_DEPTH_MAX / 4)
#define UNREADABLE_MAX         16U

const TSLanguage *tree_sitter_python(void);
const TSLanguage *tree_sitter_javascript(void);
const TSLanguage *tree_sitter_bash(void);

static const struct {
	const char *name;
	const TSLanguage *(*language)(void);
} grammars[] = {
	{ "python", tree_sitter_python },
	{ "javascript", tree_sitter_javascript },
	{ "bash", tree_sitter_bash },
};

struct syntax {
	const TSLanguage *language;
	struct query queries[SYNTAX_QUERY_COUNT];
	/* of the current program */
	TSParser *parser;
	TSQueryCursor *cursor;
	TSTree *tree;
	const char *code;
	char *respelled; /* what the parser reads instead, or NULL */
	size_t len;
	struct effort *effort;
};

/* ---- making one ---------------------------------------------------------------------------- */

static const TSLanguage *find_language(const char *name)
{
	for (size_t i = 0; i < COUNT_OF(grammars); i++)
		if (strcmp(grammars[i].name, name) == 0)
			return grammars[i].language();
	return NULL;
}

void syntax_free(struct syntax *syntax)
{
	if (!syntax)
		return;
	syntax_forget(syntax);
	for (int i = 0; i < SYNTAX_QUERY_COUNT; i++)
		query_done(&syntax->queries[i]);
	free(syntax);
}

AUTO_DEFINE(struct syntax, syntax_free);

static bool is_of_this_age(const TSLanguage *grammar)
{
	TSParser *parser = ts_parser_new();
	bool fits = ts_parser_set_language(parser, grammar);

	ts_parser_delete(parser);
	return fits;
}

struct syntax *syntax_new(const char *language, const char *const texts[SYNTAX_QUERY_COUNT],
	const size_t lens[SYNTAX_QUERY_COUNT], struct err *err)
{
	auto_of(syntax_free) struct syntax *syntax = calloc(1, sizeof(*syntax));
	const TSLanguage *grammar = find_language(language);

	if (!syntax || !grammar) {
		(void)err_set(err, ERR_MISSING, "no grammar for %s", language);
		return NULL;
	}
	if (!is_of_this_age(grammar)) {
		(void)err_set(
			err, ERR_UNSUPPORTED, "the grammar of %s is of another age", language);
		return NULL;
	}
	syntax->language = grammar;
	for (int i = 0; i < SYNTAX_QUERY_COUNT; i++)
		if (query_init(&syntax->queries[i], grammar, texts[i], lens[i], err) < 0)
			return NULL;
	return take_ptr(syntax);
}

uint32_t syntax_pattern_count(const struct syntax *syntax, enum syntax_query which)
{
	return ts_query_pattern_count(syntax->queries[which].query);
}

uint32_t syntax_pattern_start(
	const struct syntax *syntax, enum syntax_query which, uint32_t pattern)
{
	return ts_query_start_byte_for_pattern(syntax->queries[which].query, pattern);
}

/* ---- using it ------------------------------------------------------------------------------ */

static const char *read_on(void *payload, uint32_t at, TSPoint point, uint32_t *ret_len)
{
	const struct syntax *syntax = payload;
	const char *text = syntax->respelled ? syntax->respelled : syntax->code;

	(void)point;
	*ret_len = at < syntax->len ? (uint32_t)syntax->len - at : 0;
	return at < syntax->len ? text + at : "";
}

static bool parse_is_late(TSParseState *state)
{
	struct syntax *syntax = state->payload;

	return effort_is_spent(syntax->effort);
}

static bool query_is_late(TSQueryCursorState *state)
{
	struct syntax *syntax = state->payload;

	return ts_query_cursor_did_exceed_match_limit(syntax->cursor) ||
	       effort_is_spent(syntax->effort);
}

static TSTree *parse(struct syntax *syntax)
{
	TSInput input = { .payload = syntax, .read = read_on, .encoding = TSInputEncodingUTF8 };
	TSParseOptions options = { .payload = syntax, .progress_callback = parse_is_late };

	return ts_parser_parse_with_options(syntax->parser, NULL, input, options);
}

/* Replaces what the grammar could not read by an equal spelling.  False: there is none. */
static bool respell(struct syntax *syntax)
{
	if (syntax->language != tree_sitter_bash() ||
		!ts_node_has_error(ts_tree_root_node(syntax->tree)))
		return false;
	syntax->respelled = malloc(syntax->len + 1);
	if (!syntax->respelled)
		return false;
	memcpy(syntax->respelled, syntax->code, syntax->len);
	if (respell_bash(syntax->respelled, syntax->len))
		return true;
	free(syntax->respelled);
	syntax->respelled = NULL;
	return false;
}

/* Whether the tree has levels that a query would not see, or there is no effort left to know. */
static bool is_too_deep(struct syntax *syntax)
{
	TSTreeCursor cursor;
	uint32_t depth = 1;
	bool late = false;

	if (syntax->len <= SHALLOW_BYTES)
		return false;
	cursor = ts_tree_cursor_new(ts_tree_root_node(syntax->tree));
	while (depth > 0 && depth <= TREE_DEPTH_MAX && !late) {
		late = effort_add(syntax->effort, 1);
		if (ts_tree_cursor_goto_first_child(&cursor)) {
			depth++;
			continue;
		}
		while (depth > 0 && !ts_tree_cursor_goto_next_sibling(&cursor)) {
			(void)ts_tree_cursor_goto_parent(&cursor);
			depth--;
		}
	}
	ts_tree_cursor_delete(&cursor);
	return late || depth > 0;
}

bool syntax_parse(struct syntax *syntax, const char *code, size_t len, struct effort *effort)
{
	syntax_forget(syntax);
	syntax->code = code;
	syntax->len = len;
	syntax->effort = effort;
	syntax->parser = ts_parser_new();
	syntax->cursor = ts_query_cursor_new();
	ts_query_cursor_set_match_limit(syntax->cursor, UNFINISHED_MATCHES_MAX);
	(void)ts_parser_set_language(syntax->parser, syntax->language);
	syntax->tree = parse(syntax);
	if (syntax->tree && respell(syntax)) {
		ts_tree_delete(syntax->tree);
		syntax->tree = parse(syntax);
	}
	return syntax->tree && !is_too_deep(syntax);
}

void syntax_forget(struct syntax *syntax)
{
	if (!syntax->parser)
		return;
	if (syntax->tree)
		ts_tree_delete(syntax->tree);
	ts_query_cursor_delete(syntax->cursor);
	ts_parser_delete(syntax->parser);
	syntax->parser = NULL;
	syntax->cursor = NULL;
	syntax->tree = NULL;
	free(syntax->respelled);
	syntax->respelled = NULL;
	syntax->code = NULL;
	syntax->len = 0;
}

/*
 * Goes to the next node: the first child if `inside`, else the next sibling of it or of a parent.
 */
static bool walk_on(TSTreeCursor *cursor, bool inside)
{
	if (inside && ts_tree_cursor_goto_first_child(cursor))
		return true;
	while (!ts_tree_cursor_goto_next_sibling(cursor))
		if (!ts_tree_cursor_goto_parent(cursor))
			return false;
	return true;
}

static void add_fault(struct findings *findings, TSNode node)
{
	findings_add(findings, INSPECT_SYNTAX_UNREADABLE, WEIGHT_DENY, ts_node_start_byte(node),
		ts_node_end_byte(node));
}

/* A missing node may be invisible, such as the end of a line.  Then its parent is the finding. */
void syntax_add_unreadable(struct syntax *syntax, struct findings *findings)
{
	TSNode root = ts_tree_root_node(syntax->tree);
	TSNode around = root;
	uint32_t count = 0;
	TSTreeCursor cursor;
	bool inside;

	if (!ts_node_has_error(root))
		return;
	cursor = ts_tree_cursor_new(root);
	do {
		TSNode node = ts_tree_cursor_current_node(&cursor);
		bool is_fault = ts_node_is_error(node) || ts_node_is_missing(node);

		if (is_fault && ++count <= UNREADABLE_MAX)
			add_fault(findings, node);
		inside = !is_fault && ts_node_has_error(node);
		around = inside ? node : around;
	} while (count < UNREADABLE_MAX && walk_on(&cursor, inside));
	if (count == 0)
		add_fault(findings, around);
	ts_tree_cursor_delete(&cursor);
}

bool syntax_run(
	struct syntax *syntax, enum syntax_query which, syntax_on_match *on_match, void *context)
{
	const struct query *query = &syntax->queries[which];
	TSQueryCursorOptions options = { .payload = syntax, .progress_callback = query_is_late };
	struct match match;
	TSQueryMatch raw;

	assert(syntax->tree);
	ts_query_cursor_exec_with_options(
		syntax->cursor, query->query, ts_tree_root_node(syntax->tree), &options);
	while (ts_query_cursor_next_match(syntax->cursor, &raw) &&
		!ts_query_cursor_did_exceed_match_limit(syntax->cursor)) {
		if (!query_holds(query, syntax->code, &raw))
			continue;
		query_fill(query, &raw, &match);
		on_match(context, &match);
	}
	return !ts_query_cursor_did_exceed_match_limit(syntax->cursor) &&
	       !effort_is_spent(syntax->effort);
}
