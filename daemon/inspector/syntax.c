#include "daemon/inspector/syntax.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <tree_sitter/api.h>

#include "daemon/inspector/fit.h"
#include "daemon/inspector/nodes.h"
#include "daemon/inspector/query.h"
#include "daemon/inspector/respell.h"
#include "daemon/inspector/treemem.h"
#include "proto/base/cleanup.h"
#include "proto/base/container.h"

/* Matches that a query may have begun and not ended.  Past it matches would be lost in silence. */
#define UNFINISHED_MATCHES_MAX 65536U
#define UNREADABLE_MAX         16U
#define NODES_PER_LOOK         64U    /* at the clock */
#define NODES_KEPT             65536U /* room for so many stays for the next program */

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
	bool *plain; /* for `wish` */
	bool *holders;
	struct nodes_wish wish;
	/* of the program at hand; made for it, so that all their memory goes with it (treemem.h) */
	TSParser *parser;
	TSQueryCursor *cursor;
	TSTree *tree;
	struct nodes nodes; /* of the tree, once they are asked for */
	const char *code;
	char *respelled; /* what the parser is given in its place, or NULL */
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
	nodes_done(&syntax->nodes);
	free(syntax->plain);
	free(syntax->holders);
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

/* What is to be known of trees, for all queries. */
static int make_wish(struct syntax *syntax, struct err *err)
{
	uint32_t count = ts_language_symbol_count(syntax->language);

	syntax->plain = calloc(count, sizeof(*syntax->plain));
	syntax->holders = calloc(count, sizeof(*syntax->holders));
	if (!syntax->plain || !syntax->holders)
		return err_set(err, ERR_MEMORY, "no memory for a language");
	syntax->wish = (struct nodes_wish){
		.plain = syntax->plain, .holders = syntax->holders, .kind_count = count
	};
	for (int i = 0; i < SYNTAX_QUERY_COUNT; i++)
		query_wish(&syntax->queries[i], syntax->plain, syntax->holders);
	return 0;
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
	if (make_wish(syntax, err) < 0)
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

	return effort_is_spent(syntax->effort);
}

static TSTree *parse(struct syntax *syntax)
{
	TSInput input = { .payload = syntax, .read = read_on, .encoding = TSInputEncodingUTF8 };
	TSParseOptions options = { .payload = syntax, .progress_callback = parse_is_late };

	return ts_parser_parse_with_options(syntax->parser, NULL, input, options);
}

/* Another spelling of what the grammar could not read; false: there is none. */
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

bool syntax_parse(struct syntax *syntax, const char *code, size_t len, struct effort *effort)
{
	syntax_forget(syntax);
	treemem_begin();
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
	syntax->nodes.count = 0;
	if (syntax->nodes.size > NODES_KEPT)
		nodes_done(&syntax->nodes);
	free(syntax->respelled);
	syntax->respelled = NULL;
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

static void add_fault(struct found *found, TSNode node)
{
	found_add(found, INSPECT_SYNTAX_UNREADABLE, WEIGHT_DENY, ts_node_start_byte(node),
		ts_node_end_byte(node));
}

/* What is missing may be a node that is not seen, such as the end of a line: then it is all around it. */
void syntax_add_unreadable(struct syntax *syntax, struct found *found)
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
			add_fault(found, node);
		inside = !is_fault && ts_node_has_error(node);
		around = inside ? node : around;
	} while (count < UNREADABLE_MAX && walk_on(&cursor, inside));
	if (count == 0)
		add_fault(found, around);
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

/*
 * What is tree-sitter's, over the whole tree; false when not all was found.  A cursor that is kept to
 * patterns which begin in one node is no way: it loses matches behind nodes that are not seen.
 */
static bool run_cursor(struct running *running)
{
	struct syntax *syntax = running->syntax;
	TSNode root = ts_tree_root_node(syntax->tree);
	TSQueryCursorOptions options = { .payload = syntax, .progress_callback = query_is_late };
	TSQueryMatch raw;

	ts_query_cursor_exec_with_options(syntax->cursor, running->query->query, root, &options);
	while (ts_query_cursor_next_match(syntax->cursor, &raw))
		tell(running, &raw);
	return !ts_query_cursor_did_exceed_match_limit(syntax->cursor);
}

static bool holds(void *context, uint32_t node)
{
	const struct running *running = context;
	const struct node *at = &running->syntax->nodes.nodes[node];

	return query_allows(running->query, running->match.pattern,
		running->syntax->code + at->start, at->end - at->start);
}

static void on_fit(void *context, const struct fit_capture *captures, uint32_t count)
{
	struct running *running = context;
	struct match *match = &running->match;

	match->count = 0;
	for (uint32_t i = 0; i < count && match->count < MATCH_CAPTURES_MAX; i++) {
		const struct node *node = &running->syntax->nodes.nodes[captures[i].node];
		enum capture what = running->query->captures[captures[i].id];

		if (what == CAPTURE_NONE)
			continue;
		match->captures[match->count].what = what;
		match->captures[match->count].at = (struct place){ node->start, node->end };
		match->count++;
	}
	running->on_match(running->context, match);
}

static bool is_late(void *context)
{
	const struct running *running = context;

	return effort_is_spent(running->syntax->effort);
}

static bool run_over_nodes(struct running *running, struct fit *fit)
{
	const struct query *query = running->query;
	const struct nodes *nodes = &running->syntax->nodes;
	bool deep = false;

	for (uint32_t at = 0; at < nodes->count && !fit->late; at++) {
		const struct kind *kind = query_kind(query, nodes->nodes[at].kind);

		for (uint32_t i = kind->starts; i > 0; i = query->starts[i - 1].next) {
			running->match.pattern = query->starts[i - 1].pattern;
			fit_at(fit, query->starts[i - 1].step, at);
		}
		deep |= kind->deep;
		if (at % NODES_PER_LOOK == 0 && is_late(running))
			return false;
	}
	return !fit->late && (!deep || run_cursor(running));
}

/* Tree-sitter's own walk asks so much at each node that it costs several times as much as this. */
static bool run_by_kind(struct running *running)
{
	struct syntax *syntax = running->syntax;
	TSNode root = ts_tree_root_node(syntax->tree);
	struct fit fit = { .holds = holds,
		.on_fit = on_fit,
		.is_late = is_late,
		.context = running,
		.steps = running->query->shapes.steps };

	if (syntax->nodes.count == 0 &&
		!nodes_read(&syntax->nodes, root, &syntax->wish, is_late, running))
		return false;
	fit.nodes = syntax->nodes.nodes;
	return run_over_nodes(running, &fit);
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
		whole = run_cursor(&running);
	else
		whole = run_by_kind(&running);
	return whole && !effort_is_spent(syntax->effort);
}
