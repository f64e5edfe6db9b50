#include "proto/schema/pattern.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "proto/base/cleanup.h"
#include "proto/base/container.h"
#include "proto/schema/ecmascript.h"

/*
 * ECMAScript as far as PCRE2 supports it: `$` matches only at the very end, \u0041 works, []
 * matches nothing, an unset group matches the empty text, \d and \w are ASCII.  Callouts between
 * all items count the work.
 */
#define COMPILE_OPTIONS                                                                 \
	(PCRE2_UTF | PCRE2_NEVER_UCP | PCRE2_NEVER_BACKSLASH_C | PCRE2_DOLLAR_ENDONLY | \
		PCRE2_ALT_BSUX | PCRE2_ALLOW_EMPTY_CLASS | PCRE2_MATCH_UNSET_BACKREF |  \
		PCRE2_AUTO_CALLOUT)

/* Bytes, with the pattern in Perl's dialect. */
#define COMPILE_OPTIONS_BYTES                                                                 \
	(PCRE2_NEVER_UTF | PCRE2_NEVER_UCP | PCRE2_NEVER_BACKSLASH_C | PCRE2_DOLLAR_ENDONLY | \
		PCRE2_AUTO_CALLOUT | PCRE2_USE_OFFSET_LIMIT)

#define PARENS_DEPTH_MAX 100
#define HEAP_KIB_MAX     8192U

/* One unit of work covers this many characters that one item passes. */
#define WALK_PER_UNIT   16U
/*
 * A step costs more in a long pattern, which may have long classes: PCRE2 compares a character with
 * each range of a class.
 */
#define LEN_PER_UNIT    64U
/* The cost of starting a search. */
#define WORK_OF_CALL    8U
/*
 * PCRE2 keeps what it may go back to.  Up to a size that it takes at once this costs nothing.  Beyond it,
 * one unit of work covers so many bytes: each page is new, and is copied when there are more.
 */
#define FRAMES_FREE     ((size_t)32 << 10)
#define FRAMES_PER_UNIT 8U
/* One unit of work covers this many bytes that are read once, for the first character. */
#define READ_PER_UNIT   1024U
/* The same in UTF-8, which is checked byte by byte. */
#define CHECK_PER_UNIT  64U

struct pattern {
	const pcre2_code *code;
	const char *text; /* as passed to PCRE2; callouts point into it */
	size_t len;
	size_t size;
	size_t behind; /* the characters that all branches of a lookbehind may go back */
	bool refers_back;
	bool is_utf;
};

/* PCRE2 compiles in malloc'ed memory; the finished code is then copied into the arena. */
struct landing {
	struct arena *arena; /* NULL while compiling */
	size_t size;
};

/* The state of a search, for the callout. */
struct search {
	const struct pattern *pattern;
	uint64_t work;
	size_t last;   /* offset in the text at the last callout */
	size_t latest; /* the last offset at which a match may begin */
	bool no_memory;
	pcre2_general_context *general; /* takes memory by search_alloc() */
};

static void free_compile_context(pcre2_compile_context **context)
{
	pcre2_compile_context_free(*context);
}

static void free_general_context(pcre2_general_context **context)
{
	pcre2_general_context_free(*context);
}

static void free_match_context(pcre2_match_context **context)
{
	pcre2_match_context_free(*context);
}

static void free_match_data(pcre2_match_data **data)
{
	pcre2_match_data_free(*data);
}

static void free_code(pcre2_code **code)
{
	pcre2_code_free(*code);
}

static void *landing_alloc(size_t size, void *data)
{
	struct landing *landing = data;

	if (!landing->arena)
		return malloc(size);
	landing->size += size;
	return arena_alloc(landing->arena, size);
}

static void landing_free(void *bytes, void *data)
{
	const struct landing *landing = data;

	if (!landing->arena)
		free(bytes);
}

static int no_memory(struct err *err)
{
	return err_set(err, ERR_MEMORY, "no memory for a pattern");
}

static int mistake(int number, size_t at, struct err *err)
{
	PCRE2_UCHAR message[128];

	if (number == PCRE2_ERROR_NOMEMORY || number == PCRE2_ERROR_HEAP_FAILED)
		return no_memory(err);
	(void)pcre2_get_error_message(number, message, sizeof(message));
	return err_set(err, ERR_INVALID, "at byte %zu: %s", at, (const char *)message);
}

static pcre2_code *compile(const char *text, size_t len, uint32_t options,
	pcre2_general_context *general, struct err *err)
{
	__attribute__((cleanup(free_compile_context))) pcre2_compile_context *context = NULL;
	pcre2_code *code;
	size_t at = 0;
	int number = 0;

	context = pcre2_compile_context_create(general);
	if (!context) {
		(void)no_memory(err);
		return NULL;
	}
	(void)pcre2_set_newline(context, PCRE2_NEWLINE_ANYCRLF);
	(void)pcre2_set_parens_nest_limit(context, PARENS_DEPTH_MAX);
	if (options & PCRE2_ALT_BSUX)
		(void)pcre2_set_compile_extra_options(context, PCRE2_EXTRA_ALT_BSUX);
	code = pcre2_compile((PCRE2_SPTR)text, len, options, &number, &at, context);
	if (!code)
		(void)mistake(number, at, err);
	return code;
}

static size_t branches_of(const struct pattern *pattern)
{
	size_t count = 1;

	for (size_t i = 0; i < pattern->len; i++)
		count += pattern->text[i] == '|';
	return count;
}

/* Copies the code with pcre2_code_copy() into the arena, where nothing frees it separately. */
static int land(struct arena *arena, struct landing *landing, const pcre2_code *code,
	struct pattern *pattern, struct err *err)
{
	uint32_t back_reference = 0, behind = 0;

	landing->arena = arena;
	pattern->code = pcre2_code_copy(code);
	landing->arena = NULL;
	if (!pattern->code)
		return no_memory(err);
	(void)pcre2_pattern_info(code, PCRE2_INFO_BACKREFMAX, &back_reference);
	pattern->refers_back = back_reference > 0;
	(void)pcre2_pattern_info(code, PCRE2_INFO_MAXLOOKBEHIND, &behind);
	pattern->behind = behind * branches_of(pattern);
	pattern->size = landing->size;
	return 0;
}

/* The long names of categories in ECMAScript, and the short names that PCRE2 has for them. */
static const struct {
	const char *name, *code;
} categories[] = {
	{ "Letter", "L" },
	{ "Cased_Letter", "L&" },
	{ "Uppercase_Letter", "Lu" },
	{ "Lowercase_Letter", "Ll" },
	{ "Titlecase_Letter", "Lt" },
	{ "Modifier_Letter", "Lm" },
	{ "Other_Letter", "Lo" },
	{ "LC", "L&" },
	{ "Mark", "M" },
	{ "Combining_Mark", "M" },
	{ "Nonspacing_Mark", "Mn" },
	{ "Spacing_Mark", "Mc" },
	{ "Enclosing_Mark", "Me" },
	{ "Number", "N" },
	{ "Decimal_Number", "Nd" },
	{ "digit", "Nd" },
	{ "Letter_Number", "Nl" },
	{ "Other_Number", "No" },
	{ "Punctuation", "P" },
	{ "punct", "P" },
	{ "Connector_Punctuation", "Pc" },
	{ "Dash_Punctuation", "Pd" },
	{ "Open_Punctuation", "Ps" },
	{ "Close_Punctuation", "Pe" },
	{ "Initial_Punctuation", "Pi" },
	{ "Final_Punctuation", "Pf" },
	{ "Other_Punctuation", "Po" },
	{ "Symbol", "S" },
	{ "Math_Symbol", "Sm" },
	{ "Currency_Symbol", "Sc" },
	{ "Modifier_Symbol", "Sk" },
	{ "Other_Symbol", "So" },
	{ "Separator", "Z" },
	{ "Space_Separator", "Zs" },
	{ "Line_Separator", "Zl" },
	{ "Paragraph_Separator", "Zp" },
	{ "Other", "C" },
	{ "Control", "Cc" },
	{ "cntrl", "Cc" },
	{ "Format", "Cf" },
	{ "Private_Use", "Co" },
	{ "Unassigned", "Cn" },
};

static size_t skip_word(const char *text, size_t len, const char *word)
{
	size_t word_len = strlen(word);

	return len > word_len && memcmp(text, word, word_len) == 0 ? word_len : 0;
}

/*
 * Returns the short name for the name between the braces.  NULL: keep the name, which PCRE2 may
 * have.
 */
static const char *category_code(const char *name, size_t len)
{
	size_t skip = skip_word(name, len, "General_Category=");

	skip += skip ? 0 : skip_word(name, len, "gc=");
	for (size_t i = 0; i < COUNT_OF(categories); i++)
		if (strlen(categories[i].name) == len - skip &&
			memcmp(categories[i].name, name + skip, len - skip) == 0)
			return categories[i].code;
	return NULL;
}

/* Copies the escape that starts at `text`.  Returns how many bytes of `text` it took. */
static size_t copy_escape(const char *text, size_t len, char *out, size_t *ret_len)
{
	const char *end = len > 3 ? memchr(text, '}', len) : NULL;
	const char *code = NULL;
	size_t taken = len > 1 ? 2 : 1;

	if (end && (text[1] == 'p' || text[1] == 'P') && text[2] == '{')
		code = category_code(text + 3, (size_t)(end - text) - 3);
	/* In PCRE2 it is every line break and more, in ECMAScript one character. */
	if (len > 1 && text[1] == 'v') {
		*out = '\v';
		*ret_len = 1;
		return 2;
	}
	memcpy(out, text, taken);
	*ret_len = taken;
	if (!code)
		return taken;
	/* fits: shorter than the long name */
	*ret_len += (size_t)sprintf(out + taken, "{%s}", code);
	return (size_t)(end - text) + 1;
}

/* Translates the pattern for PCRE2.  The result is never longer than the pattern. */
static char *translate(struct arena *arena, const char *text, size_t len, size_t *ret_len)
{
	char *out = arena_alloc(arena, len + 1);
	size_t written = 0;

	for (size_t at = 0; out && at < len;) {
		size_t copied = 1;

		if (text[at] == '\\') {
			at += copy_escape(text + at, len - at, out + written, &copied);
			written += copied;
		} else {
			out[written++] = text[at++];
		}
	}
	*ret_len = written;
	return out;
}

static int refuse_long(size_t len, struct err *err)
{
	if (len > PATTERN_LEN_MAX)
		return err_set(err, ERR_INVALID, "longer than %d bytes", PATTERN_LEN_MAX);
	return 0;
}

/* `text` must be in the arena. */
static int compile_into(struct arena *arena, const char *text, size_t len, uint32_t options,
	const struct pattern **ret_pattern, struct err *err)
{
	/* declared first, because the cleanup of the others uses it */
	struct landing landing = { NULL, 0 };
	__attribute__((cleanup(free_general_context))) pcre2_general_context *general = NULL;
	__attribute__((cleanup(free_code))) pcre2_code *code = NULL;
	struct pattern *pattern;

	general = pcre2_general_context_create(landing_alloc, landing_free, &landing);
	if (!general)
		return no_memory(err);
	code = compile(text, len, options, general, err);
	if (!code)
		return -1;

	pattern = arena_new(arena, struct pattern);
	if (!pattern)
		return no_memory(err);
	pattern->len = len;
	pattern->text = text;
	pattern->is_utf = (options & PCRE2_UTF) != 0;
	if (land(arena, &landing, code, pattern, err) < 0)
		return -1;
	*ret_pattern = pattern;
	return 0;
}

int pattern_compile(struct arena *arena, const char *text, size_t len,
	const struct pattern **ret_pattern, struct err *err)
{
	if (refuse_long(len, err) < 0 || ecmascript_check(text, len, err) < 0)
		return -1;
	text = translate(arena, text, len, &len);
	if (!text)
		return no_memory(err);
	return compile_into(arena, text, len, COMPILE_OPTIONS, ret_pattern, err);
}

int pattern_compile_bytes(struct arena *arena, const char *text, size_t len,
	const struct pattern **ret_pattern, struct err *err)
{
	if (refuse_long(len, err) < 0)
		return -1;
	if (len >= 2 && memcmp(text, "(*", 2) == 0)
		return err_set(err, ERR_INVALID, "at byte 1: nothing to repeat");
	text = arena_copy(arena, text, len);
	if (!text)
		return no_memory(err);
	return compile_into(arena, text, len, COMPILE_OPTIONS_BYTES, ret_pattern, err);
}

size_t pattern_size(const struct pattern *pattern)
{
	return pattern->size + pattern->len + sizeof(*pattern);
}

/*
 * Returns the minimum count of an item such as `a{5000}` or `a{5000,}`.  Such an item can pass many
 * characters and then fail, without another callout.  So its cost is charged before it starts.
 */
static uint64_t repeat_of(const char *item, size_t len)
{
	size_t at = len;
	uint64_t count = 0;

	while (at > 0 && item[at - 1] != '{')
		at--;
	if (at == 0)
		return 0;
	for (; at < len && item[at] >= '0' && item[at] <= '9'; at++)
		count = count * 10 + (uint64_t)(item[at] - '0');
	return count;
}

/*
 * Returns the characters that a lookbehind or a back reference may pass and then fail, without
 * another callout.
 */
static uint64_t passes(const struct pattern *pattern, const pcre2_callout_block *block)
{
	const char *item = pattern->text + block->pattern_position;

	if (block->next_item_length >= 4 && memcmp(item, "(?<", 3) == 0)
		return pattern->behind;
	if (pattern->refers_back && block->next_item_length >= 2 && item[0] == '\\' &&
		((item[1] >= '1' && item[1] <= '9') || item[1] == 'k'))
		return block->subject_length - block->current_position;
	return 0;
}

static int on_item(pcre2_callout_block *block, void *data)
{
	struct search *search = data;
	size_t now = block->current_position;
	size_t walked = now > search->last ? now - search->last : search->last - now;
	uint64_t cost = 1 + walked / WALK_PER_UNIT;

	cost += repeat_of(
			search->pattern->text + block->pattern_position, block->next_item_length) /
		WALK_PER_UNIT;
	cost += passes(search->pattern, block) / WALK_PER_UNIT;
	cost *= 1 + search->pattern->len / LEN_PER_UNIT;
	search->last = now;
	if (cost > search->work) {
		search->work = 0;
		return PCRE2_ERROR_CALLOUT;
	}
	search->work -= cost;
	return 0;
}

static void *search_alloc(size_t size, void *data)
{
	struct search *search = data;
	uint64_t cost = size > FRAMES_FREE ? size / FRAMES_PER_UNIT : 0;
	void *bytes;

	if (cost > search->work)
		return NULL;
	search->work -= cost;
	bytes = malloc(size);
	search->no_memory = !bytes;
	return bytes;
}

static void search_free(void *bytes, void *data)
{
	(void)data;
	free(bytes);
}

static pcre2_match_context *counting_context(struct search *search)
{
	pcre2_match_context *context = pcre2_match_context_create(search->general);

	if (!context)
		return NULL;
	(void)pcre2_set_callout(context, on_item, search);
	(void)pcre2_set_heap_limit(context, HEAP_KIB_MAX);
	if (search->latest != PCRE2_UNSET)
		(void)pcre2_set_offset_limit(context, search->latest);
	return context;
}

static enum pattern_answer run(struct search *search, const char *text, size_t len, size_t from,
	uint32_t options, pcre2_match_data *data)
{
	__attribute__((cleanup(free_match_context))) pcre2_match_context *context = NULL;
	int found;

	context = counting_context(search);
	if (!context)
		return PATTERN_GAVE_UP;
	found = pcre2_match(search->pattern->code, (PCRE2_SPTR)(text ? text : ""), len, from,
		options, data, context);
	if (found >= 0)
		return PATTERN_YES;
	if (found == PCRE2_ERROR_PARTIAL)
		return PATTERN_BEGUN;
	return found == PCRE2_ERROR_NOMATCH ? PATTERN_NO : PATTERN_GAVE_UP;
}

static enum pattern_answer find(struct search *search, const char *text, size_t len,
	uint32_t options, struct pattern_span *span, uint64_t *work)
{
	const struct pattern *pattern = search->pattern;
	__attribute__((cleanup(free_general_context))) pcre2_general_context *general = NULL;
	__attribute__((cleanup(free_match_data))) pcre2_match_data *data = NULL;
	uint64_t reading =
		1 + (len - span->end) / (pattern->is_utf ? CHECK_PER_UNIT : READ_PER_UNIT);
	enum pattern_answer answer;

	search->work = *work;
	search->last = span->end;
	if (reading > search->work || (pattern->refers_back && len > PATTERN_BACKREF_TEXT_MAX)) {
		*work = 0;
		return PATTERN_GAVE_UP;
	}
	search->work -= reading;
	general = pcre2_general_context_create(search_alloc, search_free, search);
	search->general = general;
	data = general ? pcre2_match_data_create(1, general) : NULL;
	answer = data ? run(search, text, len, span->end, options, data) : PATTERN_GAVE_UP;
	if (answer == PATTERN_GAVE_UP && search->no_memory)
		return PATTERN_NO_MEMORY;
	*work = answer == PATTERN_GAVE_UP ? 0 : search->work;
	if (answer == PATTERN_YES || answer == PATTERN_BEGUN) {
		span->start = pcre2_get_ovector_pointer(data)[0];
		span->end = pcre2_get_ovector_pointer(data)[1];
	}
	return answer;
}

enum pattern_answer pattern_find(const struct pattern *pattern, const char *text, size_t len,
	struct pattern_span *span, uint64_t *work)
{
	struct search search = { .pattern = pattern, .latest = PCRE2_UNSET };

	return find(&search, text, len, 0, span, work);
}

enum pattern_answer pattern_in_bytes(const struct pattern *pattern, const char *bytes, size_t len,
	unsigned look, struct pattern_span *span, uint64_t *work)
{
	struct search search = { .pattern = pattern, .latest = span->start };
	uint32_t options = 0;

	if (*work < WORK_OF_CALL) {
		*work = 0;
		return PATTERN_GAVE_UP;
	}
	*work -= WORK_OF_CALL;
	if (look & PATTERN_HERE)
		options |= PCRE2_ANCHORED;
	if (look & PATTERN_IS_CUT)
		options |= PCRE2_PARTIAL_SOFT;
	return find(&search, bytes, len, options, span, work);
}

enum pattern_answer pattern_search(
	const struct pattern *pattern, const char *text, size_t len, uint64_t *work)
{
	struct pattern_span span = { 0, 0 };

	return pattern_find(pattern, text, len, &span, work);
}
