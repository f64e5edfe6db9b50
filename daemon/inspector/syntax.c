#include "daemon/inspector/syntax.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <tree_sitter/api.h>

#include "daemon/inspector/query.h"
#include "daemon/inspector/treemem.h"
#include "proto/base/cleanup.h"
#include "proto/base/clock.h"
#include "proto/base/container.h"

/* Matches that a query may have begun and not ended.  Past it matches would be lost in silence. */
#define UNFINISHED_MATCHES_MAX 65536U
#define UNREADABLE_MAX         16U
#define NODES_PER_LOOK         64U /* at the clock */

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
	/* of the program at hand; made for it, so that all their memory goes with it (treemem.h) */
	TSParser *parser;
	TSQueryCursor *cursor;
	TSTree *tree;
	const char *code;
	size_t len;
	int64_t deadline_us;
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

	treemem_install();
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

	(void)point;
	*ret_len = at < syntax->len ? (uint32_t)syntax->len - at : 0;
	return at < syntax->len ? syntax->code + at : "";
}

static bool parse_is_late(TSParseState *state)
{
	const struct syntax *syntax = state->payload;

	return clock_us() > syntax->deadline_us;
}

static bool query_is_late(TSQueryCursorState *state)
{
	const struct syntax *syntax = state->payload;

	return clock_us() > syntax->deadline_us;
}

bool syntax_parse(struct syntax *syntax, const char *code, size_t len, int64_t deadline_us)
{
	TSInput input = { .payload = syntax, .read = read_on, .encoding = TSInputEncodingUTF8 };
	TSParseOptions options = { .payload = syntax, .progress_callback = parse_is_late };

	syntax_forget(syntax);
	treemem_begin();
	syntax->code = code;
	syntax->len = len;
	syntax->deadline_us = deadline_us;
	syntax->parser = ts_parser_new();
	syntax->cursor = ts_query_cursor_new();
	ts_query_cursor_set_match_limit(syntax->cursor, UNFINISHED_MATCHES_MAX);
	(void)ts_parser_set_language(syntax->parser, syntax->language);
	syntax->tree = ts_parser_parse_with_options(syntax->parser, NULL, input, options);
	return syntax->tree != NULL;
}

void syntax_forget(struct syntax *syntax)
{
	if (!syntax->parser)
		return;
	if (syntax->tree)
		ts_tree_delete(syntax->tree);
	ts_query_cursor_delete(syntax->cursor);
	ts_parser_delete(syntax->parser);
	treemem_end();
	syntax->parser = NULL;
	syntax->cursor = NULL;
	syntax->tree = NULL;
	syntax->code = NULL;
	syntax->len = 0;
}

/* The next node to look at: the first child when `inside`, else what follows, further up if need be. */
static bool walk_on(TSTreeCursor *cursor, bool inside)
{
	if (inside && ts_tree_cursor_goto_first_child(cursor))
		return true;
	while (!ts_tree_cursor_goto_next_sibling(cursor))
		if (!ts_tree_cursor_goto_parent(cursor))
			return false;
	return true;
}

void syntax_add_unreadable(struct syntax *syntax, struct found *found)
{
	TSNode root = ts_tree_root_node(syntax->tree);
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
			found_add(found, INSPECT_SYNTAX_UNREADABLE, WEIGHT_DENY,
				ts_node_start_byte(node), ts_node_end_byte(node));
		inside = !is_fault && ts_node_has_error(node);
	} while (count < UNREADABLE_MAX && walk_on(&cursor, inside));
	ts_tree_cursor_delete(&cursor);
}

/* One query over one tree. */
struct running {
	struct syntax *syntax;
	const struct query *query;
	syntax_on_match *on_match;
	void *context;
	struct match match;
};

static void tell(struct running *running, const TSQueryMatch *raw)
{
	if (!query_holds(running->query, running->syntax->code, raw))
		return;
	query_fill(running->query, raw, &running->match);
	running->on_match(running->context, &running->match);
}

/* What begins in the node, at most so deep; false when not all was found. */
static bool run_at(struct running *running, TSNode node, uint32_t depth)
{
	struct syntax *syntax = running->syntax;
	TSQueryCursorOptions options = { .payload = syntax, .progress_callback = query_is_late };
	TSQueryMatch raw;

	ts_query_cursor_set_max_start_depth(syntax->cursor, depth);
	ts_query_cursor_exec_with_options(syntax->cursor, running->query->query, node, &options);
	while (ts_query_cursor_next_match(syntax->cursor, &raw))
		tell(running, &raw);
	return !ts_query_cursor_did_exceed_match_limit(syntax->cursor);
}

static void tell_leaf(struct running *running, const struct leaf *leaf, TSNode node)
{
	TSQueryCapture captures[ROOT_CAPTURES_MAX];
	TSQueryMatch raw = { .pattern_index = (uint16_t)leaf->pattern,
		.capture_count = leaf->root.capture_count,
		.captures = captures };

	for (uint16_t i = 0; i < raw.capture_count; i++)
		captures[i] = (TSQueryCapture){ node, leaf->root.captures[i] };
	tell(running, &raw);
}

/* What begins at this very node. */
static bool visit(struct running *running, TSNode node)
{
	const struct query *query = running->query;
	const struct kind *kind = query_kind(query, ts_node_symbol(node));

	for (uint32_t i = kind->leaves; i > 0; i = query->leaves[i - 1].next)
		tell_leaf(running, &query->leaves[i - 1], node);
	return !kind->deep || run_at(running, node, 0);
}

/* Tree-sitter's own walk asks so much at each node that it costs several times as much as this. */
static bool run_by_kind(struct running *running)
{
	struct syntax *syntax = running->syntax;
	TSNode node = ts_tree_root_node(syntax->tree);
	TSTreeCursor cursor = ts_tree_cursor_new(node);
	uint32_t count = 0;
	bool whole = true;

	do {
		node = ts_tree_cursor_current_node(&cursor);
		whole = visit(running, node);
		if (++count % NODES_PER_LOOK == 0 && clock_us() > syntax->deadline_us)
			whole = false;
	} while (whole && walk_on(&cursor, ts_node_child_count(node) > 0));
	ts_tree_cursor_delete(&cursor);
	return whole;
}

bool syntax_run(
	struct syntax *syntax, enum syntax_query which, syntax_on_match *on_match, void *context)
{
	struct running running = { .syntax = syntax,
		.query = &syntax->queries[which],
		.on_match = on_match,
		.context = context };
	bool whole;

	assert(syntax->tree);
	if (running.query->anywhere)
		whole = run_at(&running, ts_tree_root_node(syntax->tree), UINT32_MAX);
	else
		whole = run_by_kind(&running);
	return whole && clock_us() <= syntax->deadline_us;
}
