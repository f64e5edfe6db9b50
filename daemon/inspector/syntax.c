#include "daemon/inspector/syntax.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <tree_sitter/api.h>

#include "daemon/inspector/names.h"
#include "proto/base/cleanup.h"
#include "proto/base/clock.h"
#include "proto/base/container.h"

/* Matches that a query may have begun and not ended.  Past it matches would be lost in silence. */
#define UNFINISHED_MATCHES_MAX 65536U
#define UNREADABLE_MAX         16U
#define WORDS_OF_ANY_MAX       12U

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

static const char *const capture_words[CAPTURE_COUNT] = {
	[CAPTURE_NAME] = "name",
	[CAPTURE_AT] = "at",
	[CAPTURE_IMPORT_MODULE] = "import.module",
	[CAPTURE_IMPORT_MEMBER] = "import.member",
	[CAPTURE_IMPORT_ALIAS] = "import.alias",
	[CAPTURE_SUBSTITUTION] = "substitution",
	[CAPTURE_ATTRIBUTE] = "attribute",
	[CAPTURE_KEYWORD] = "keyword",
	[CAPTURE_STORE] = "store",
	[CAPTURE_PART] = "part",
	[CAPTURE_HARMLESS] = "harmless",
	[CAPTURE_CALLED] = "called",
	[CAPTURE_OWN] = "own",
	[CAPTURE_SUM] = "sum",
	[CAPTURE_BIND] = "bind",
	[CAPTURE_IMPORTED] = "imported",
	[CAPTURE_IN] = "in",
	[CAPTURE_BLOCK] = "block",
	[CAPTURE_AFTER] = "after",
	[CAPTURE_WITHIN] = "within",
	[CAPTURE_LATER] = "later",
	[CAPTURE_CALL] = "call",
	[CAPTURE_UNBIND] = "unbind",
	[CAPTURE_STATEMENT] = "statement",
	[CAPTURE_FUNCTION] = "function",
	[CAPTURE_CLASS] = "class",
};

/*
 * (#any-of? @_capture "word" ...): the pattern counts only when the name is one of these;
 * #not-any-of?: only when it is none of them.
 */
struct any_of {
	bool not ;
	uint32_t capture;
	uint32_t count;                      /* 0: no condition */
	const char *words[WORDS_OF_ANY_MAX]; /* live as long as the query */
};

struct query {
	TSQuery *query;
	enum capture *captures;    /* by tree-sitter's number */
	struct any_of *conditions; /* by pattern */
};

struct syntax {
	TSParser *parser;
	TSQueryCursor *cursor;
	TSTree *tree;
	struct query queries[SYNTAX_QUERY_COUNT];
	const char *code;
	size_t len;
	int64_t deadline_us;
};

/* ---- making one ---------------------------------------------------------------------------- */

static int name_captures(struct query *query, struct err *err)
{
	uint32_t count = ts_query_capture_count(query->query);

	query->captures = calloc(count + 1U, sizeof(*query->captures));
	if (!query->captures)
		return err_set(err, ERR_MEMORY, "no memory for a query");
	for (uint32_t i = 0; i < count; i++) {
		uint32_t len;
		const char *word = ts_query_capture_name_for_id(query->query, i, &len);

		for (enum capture what = CAPTURE_NAME; what < CAPTURE_COUNT; what++)
			if (strcmp(word, capture_words[what]) == 0)
				query->captures[i] = what;
		if (query->captures[i] == CAPTURE_NONE && word[0] != '_')
			return err_set(err, ERR_INVALID, "@%s is no capture that we know", word);
	}
	return 0;
}

static const char *string_of(const struct query *query, const TSQueryPredicateStep *step)
{
	uint32_t len;

	return ts_query_string_value_for_id(query->query, step->value_id, &len);
}

static bool is_any_of(const char *word, struct any_of *condition)
{
	condition->not = strcmp(word, "not-any-of?") == 0;
	return condition->not || strcmp(word, "any-of?") == 0;
}

/* Steps of one predicate: its name, a capture, words, and a mark for the end. */
static bool read_any_of(const struct query *query, const TSQueryPredicateStep *steps,
	uint32_t count, struct any_of *condition)
{
	if (count < 4 || count - 3 > WORDS_OF_ANY_MAX ||
		steps[0].type != TSQueryPredicateStepTypeString ||
		!is_any_of(string_of(query, &steps[0]), condition) ||
		steps[1].type != TSQueryPredicateStepTypeCapture)
		return false;
	condition->capture = steps[1].value_id;
	for (uint32_t i = 2; i < count - 1; i++) {
		if (steps[i].type != TSQueryPredicateStepTypeString)
			return false;
		condition->words[condition->count++] = string_of(query, &steps[i]);
	}
	return steps[count - 1].type == TSQueryPredicateStepTypeDone;
}

static int read_conditions(struct query *query, struct err *err)
{
	uint32_t patterns = ts_query_pattern_count(query->query);

	query->conditions = calloc(patterns + 1U, sizeof(*query->conditions));
	if (!query->conditions)
		return err_set(err, ERR_MEMORY, "no memory for a query");
	for (uint32_t i = 0; i < patterns; i++) {
		uint32_t count;
		const TSQueryPredicateStep *steps =
			ts_query_predicates_for_pattern(query->query, i, &count);

		if (count > 0 && !read_any_of(query, steps, count, &query->conditions[i]))
			return err_set(err, ERR_INVALID,
				"the pattern at byte %u has a condition other than one #any-of? or #not-any-of?",
				ts_query_start_byte_for_pattern(query->query, i));
	}
	return 0;
}

static const char *fault_word(TSQueryError kind)
{
	static const char *const words[] = {
		[TSQueryErrorNone] = "no fault",
		[TSQueryErrorSyntax] = "this is no query",
		[TSQueryErrorNodeType] = "the grammar has no such node",
		[TSQueryErrorField] = "the grammar has no such field",
		[TSQueryErrorCapture] = "no such capture is in the pattern",
		[TSQueryErrorStructure] = "the grammar never has this in that",
		[TSQueryErrorLanguage] = "the grammar is of another age",
	};

	return words[kind];
}

/* Says in which file (lines `;@ file` stand in front of each), in which line, and near what. */
static int complain_at(const char *text, size_t len, size_t at, const char *what, struct err *err)
{
	const char *file = "the query";
	size_t file_len = strlen(file);
	const char *near = text + (at < len ? at : len);
	size_t near_len = 0;
	unsigned line = 1;

	for (const char *byte = text; byte < near; byte++) {
		if (*byte != '\n')
			continue;
		line++;
		if (near - byte > 4 && memcmp(byte + 1, ";@ ", 3) == 0) {
			file = byte + 4;
			file_len = strcspn(file, "\n");
			line = 0;
		}
	}
	while (near_len < 40 && near + near_len < text + len && near[near_len] != '\n')
		near_len++;
	return err_set(err, ERR_INVALID, "%.*s line %u: %s: %.*s", (int)file_len, file, line, what,
		(int)near_len, near);
}

static int query_init(struct query *query, const TSLanguage *language, const char *text, size_t len,
	struct err *err)
{
	TSQueryError kind = TSQueryErrorNone;
	uint32_t at = 0;

	query->query = ts_query_new(language, text, (uint32_t)len, &at, &kind);
	if (!query->query)
		return complain_at(text, len, at, fault_word(kind), err);
	if (name_captures(query, err) < 0)
		return -1;
	return read_conditions(query, err);
}

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
	for (int i = 0; i < SYNTAX_QUERY_COUNT; i++) {
		struct query *query = &syntax->queries[i];

		if (query->query)
			ts_query_delete(query->query);
		free(query->captures);
		free(query->conditions);
	}
	if (syntax->cursor)
		ts_query_cursor_delete(syntax->cursor);
	if (syntax->parser)
		ts_parser_delete(syntax->parser);
	free(syntax);
}

AUTO_DEFINE(struct syntax, syntax_free);

struct syntax *syntax_new(const char *language, const char *const texts[SYNTAX_QUERY_COUNT],
	const size_t lens[SYNTAX_QUERY_COUNT], struct err *err)
{
	auto_of(syntax_free) struct syntax *syntax = calloc(1, sizeof(*syntax));
	const TSLanguage *grammar = find_language(language);

	if (!syntax || !grammar) {
		(void)err_set(err, ERR_MISSING, "no grammar for %s", language);
		return NULL;
	}
	syntax->parser = ts_parser_new();
	syntax->cursor = ts_query_cursor_new();
	ts_query_cursor_set_match_limit(syntax->cursor, UNFINISHED_MATCHES_MAX);
	if (!ts_parser_set_language(syntax->parser, grammar)) {
		(void)err_set(
			err, ERR_UNSUPPORTED, "the grammar of %s is of another age", language);
		return NULL;
	}
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
	syntax->code = code;
	syntax->len = len;
	syntax->deadline_us = deadline_us;
	syntax->tree = ts_parser_parse_with_options(syntax->parser, NULL, input, options);
	if (!syntax->tree)
		ts_parser_reset(syntax->parser);
	return syntax->tree != NULL;
}

void syntax_forget(struct syntax *syntax)
{
	if (syntax->tree)
		ts_tree_delete(syntax->tree);
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

static bool is_any(
	const struct syntax *syntax, const struct any_of *condition, const TSQueryMatch *raw)
{
	struct name name;

	for (uint16_t i = 0; i < raw->capture_count; i++) {
		TSNode node = raw->captures[i].node;
		uint32_t start = ts_node_start_byte(node);

		if (raw->captures[i].index != condition->capture)
			continue;
		name_read(syntax->code + start, ts_node_end_byte(node) - start, &name);
		for (uint32_t w = 0; w < condition->count; w++)
			if (strcmp(name.text, condition->words[w]) == 0)
				return true;
	}
	return false;
}

static bool holds(
	const struct syntax *syntax, const struct any_of *condition, const TSQueryMatch *raw)
{
	return condition->count == 0 || is_any(syntax, condition, raw) != condition->not ;
}

static void fill_match(const struct query *query, const TSQueryMatch *raw, struct match *match)
{
	match->pattern = raw->pattern_index;
	match->count = 0;
	for (uint16_t i = 0; i < raw->capture_count; i++) {
		enum capture what = query->captures[raw->captures[i].index];
		TSNode node = raw->captures[i].node;

		if (what == CAPTURE_NONE || match->count == MATCH_CAPTURES_MAX)
			continue;
		match->captures[match->count].what = what;
		match->captures[match->count].at =
			(struct place){ ts_node_start_byte(node), ts_node_end_byte(node) };
		match->count++;
	}
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
	while (ts_query_cursor_next_match(syntax->cursor, &raw)) {
		if (!holds(syntax, &query->conditions[raw.pattern_index], &raw))
			continue;
		fill_match(query, &raw, &match);
		on_match(context, &match);
	}
	return !ts_query_cursor_did_exceed_match_limit(syntax->cursor) &&
	       clock_us() <= syntax->deadline_us;
}
