#include "daemon/inspector/query.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/inspector/names.h"
#include "daemon/inspector/roots.h"

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
		condition->words[condition->count] = string_of(query, &steps[i]);
		condition->lens[condition->count] = strlen(condition->words[condition->count]);
		condition->count++;
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

/* ---- where patterns begin ------------------------------------------------------------------- */

/* A pattern's text. */
struct extent {
	const char *text;
	size_t len;
};

static struct kind *kind_of(const struct query *query, TSSymbol symbol)
{
	uint32_t index = symbol;

	return &query->kinds[index < query->kind_count ? index : query->kind_count - 1];
}

const struct kind *query_kind(const struct query *query, TSSymbol symbol)
{
	return kind_of(query, symbol);
}

static int add_start(struct query *query, uint32_t pattern, uint32_t step, struct err *err)
{
	struct start *starts =
		reallocarray(query->starts, query->start_count + 1UL, sizeof(*starts));
	struct kind *kind = kind_of(query, query->shapes.steps[step].kind);

	if (!starts)
		return err_set(err, ERR_MEMORY, "no memory for a query");
	query->starts = starts;
	starts[query->start_count++] =
		(struct start){ .pattern = pattern, .step = step, .next = kind->starts };
	kind->starts = query->start_count;
	return 0;
}

static int add_starts(struct query *query, uint32_t pattern, uint32_t first, struct err *err)
{
	for (uint32_t step = first; step; step = query->shapes.steps[step].other)
		if (add_start(query, pattern, step, err) < 0)
			return -1;
	ts_query_disable_pattern(query->query, pattern);
	return 0;
}

static struct extent span_of(const struct query *query, const char *text, uint32_t pattern)
{
	uint32_t start = ts_query_start_byte_for_pattern(query->query, pattern);

	return (struct extent){ text + start,
		ts_query_end_byte_for_pattern(query->query, pattern) - start };
}

static int place_pattern(struct query *query, const TSLanguage *language, struct extent span,
	uint32_t pattern, struct err *err)
{
	const struct any_of *condition = &query->conditions[pattern];
	uint32_t asked = condition->count > 0 ? condition->capture : SHAPE_ASKED_NONE;
	struct roots roots;
	uint32_t first;

	first = shape_read(&query->shapes, query->query, language, span.text, span.len, asked);
	if (first)
		return add_starts(query, pattern, first, err);
	roots_read(language, span.text, span.len, &roots);
	for (uint32_t i = 0; i < roots.count; i++)
		kind_of(query, roots.kinds[i])->deep = true;
	return 0;
}

static bool begins_anywhere(const struct query *query, const TSLanguage *language, const char *text)
{
	uint32_t patterns = ts_query_pattern_count(query->query);
	struct roots roots = { 0 };

	for (uint32_t i = 0; i < patterns && !roots.anywhere; i++) {
		struct extent span = span_of(query, text, i);

		roots_read(language, span.text, span.len, &roots);
	}
	return roots.anywhere;
}

/*
 * One pattern that may begin anywhere makes the whole query one that is tried everywhere.  So none
 * is taken out of it: tree-sitter counts those that begin anywhere and does not when one is taken.
 */
static int find_roots(
	struct query *query, const TSLanguage *language, const char *text, struct err *err)
{
	query->anywhere = begins_anywhere(query, language, text);
	if (query->anywhere)
		return 0;
	query->kind_count = ts_language_symbol_count(language) + 1;
	query->kinds = calloc(query->kind_count, sizeof(*query->kinds));
	if (!query->kinds)
		return err_set(err, ERR_MEMORY, "no memory for a query");
	for (uint32_t i = ts_query_pattern_count(query->query); i > 0; i--)
		if (place_pattern(query, language, span_of(query, text, i - 1), i - 1, err) < 0)
			return -1;
	return 0;
}

void query_wish(const struct query *query, bool *plain, bool *holders)
{
	for (uint32_t kind = 0; kind + 1 < query->kind_count; kind++)
		plain[kind] |= query->kinds[kind].deep;
	for (uint32_t i = 1; i <= query->shapes.count; i++) {
		const struct shape_step *step = &query->shapes.steps[i];
		bool holds_field = false;

		for (uint32_t k = step->inside; k; k = query->shapes.steps[k].next)
			holds_field |= query->shapes.steps[k].field != 0;
		for (uint32_t kind = 0; step->any && holds_field && kind + 1 < query->kind_count;
			kind++)
			holders[kind] = true;
		if (step->any || step->kind + 1U >= query->kind_count)
			continue;
		plain[step->kind] = true;
		holders[step->kind] |= holds_field;
	}
}

int query_init(struct query *query, const TSLanguage *language, const char *text, size_t len,
	struct err *err)
{
	TSQueryError kind = TSQueryErrorNone;
	uint32_t at = 0;

	query->query = ts_query_new(language, text, (uint32_t)len, &at, &kind);
	if (!query->query)
		return complain_at(text, len, at, fault_word(kind), err);
	if (name_captures(query, err) < 0 || read_conditions(query, err) < 0)
		return -1;
	return find_roots(query, language, text, err);
}

void query_done(struct query *query)
{
	if (query->query)
		ts_query_delete(query->query);
	free(query->captures);
	free(query->conditions);
	free(query->kinds);
	free(query->starts);
	shapes_done(&query->shapes);
	*query = (struct query){ 0 };
}

/* ---- what was matched ----------------------------------------------------------------------- */

static bool is_plain(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (text[i] == '\\' || (unsigned char)text[i] >= 0x80)
			return false;
	return len <= NAME_BYTES_MAX;
}

static bool is_word(const struct any_of *condition, const char *text, size_t len)
{
	struct name name;

	if (!is_plain(text, len)) {
		name_read(text, len, &name);
		text = name.text;
		len = name.len;
	}
	for (uint32_t i = 0; i < condition->count; i++)
		if (condition->lens[i] == len && memcmp(condition->words[i], text, len) == 0)
			return true;
	return false;
}

bool query_allows(const struct query *query, uint32_t pattern, const char *text, size_t len)
{
	const struct any_of *condition = &query->conditions[pattern];

	return is_word(condition, text, len) != condition->not ;
}

static bool is_any(const char *code, const struct any_of *condition, const TSQueryMatch *raw)
{
	for (uint16_t i = 0; i < raw->capture_count; i++) {
		TSNode node = raw->captures[i].node;
		uint32_t start = ts_node_start_byte(node);

		if (raw->captures[i].index == condition->capture &&
			is_word(condition, code + start, ts_node_end_byte(node) - start))
			return true;
	}
	return false;
}

bool query_holds(const struct query *query, const char *code, const TSQueryMatch *raw)
{
	const struct any_of *condition = &query->conditions[raw->pattern_index];

	return condition->count == 0 || is_any(code, condition, raw) != condition->not ;
}

void query_fill(const struct query *query, const TSQueryMatch *raw, struct match *match)
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
