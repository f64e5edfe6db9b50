#include "daemon/inspector/query.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/inspector/names.h"

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

/* The error names the file (a line `;@ file` precedes each), the line, and the text there. */
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
	return 0;
}

void query_done(struct query *query)
{
	if (query->query)
		ts_query_delete(query->query);
	free(query->captures);
	free(query->conditions);
	*query = (struct query){ 0 };
}

/* ---- matches ------------------------------------------------------------------------------- */

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

/* Nothing is bound in a range that the grammar could not read. */
static bool is_unreadable_range(const struct query *query, const TSQueryCapture *capture)
{
	enum capture what = query->captures[capture->index];

	return (what == CAPTURE_IN || what == CAPTURE_WITHIN) && ts_node_is_error(capture->node);
}

bool query_holds(const struct query *query, const char *code, const TSQueryMatch *raw)
{
	const struct any_of *condition = &query->conditions[raw->pattern_index];

	for (uint16_t i = 0; i < raw->capture_count; i++)
		if (is_unreadable_range(query, &raw->captures[i]))
			return false;
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
