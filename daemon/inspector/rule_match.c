#include "daemon/inspector/rule_match.h"

#include <string.h>

#include "daemon/inspector/literal.h"
#include "daemon/inspector/shellword.h"
#include "daemon/inspector/text_heuristics.h"

#define STEPS_PER_IMPORT 8U /* its path is read and looked up in a list */

static bool is_dunder(const struct name *name)
{
	const char *text = name->text;
	size_t len = name->len;

	if (len < 5 || text[0] != '_' || text[1] != '_')
		return false;
	return name->cut || (text[len - 2] == '_' && text[len - 1] == '_');
}

/* Whether the rule finds a word, given whether its list has the word. */
static bool applies(const struct rule_context *context, uint32_t rule, bool in_list)
{
	return in_list == (context->rules[rule].relation == RELATION_IN);
}

static const struct words *list_of(const struct rule_context *context, uint32_t rule)
{
	return &context->lists[context->settings[rule].list];
}

void subject_words_reset(struct subject_words *words)
{
	words->has_word = false;
	words->has_path = false;
	words->has_command = false;
}

static const struct name *word_of(const struct rule_context *context, const struct subject *subject,
	struct subject_words *words)
{
	if (words->has_word)
		return &words->word;
	name_read(context->code + subject->at.start, subject->at.end - subject->at.start,
		&words->word);
	words->hash = words_hash(words->word.text, words->word.len);
	words->has_word = true;
	return &words->word;
}

static bool word_fits(const struct rule_context *context, uint32_t rule,
	const struct subject *subject, struct subject_words *words)
{
	const struct name *word = word_of(context, subject, words);
	bool in_list = !word->cut && words_have_hashed(list_of(context, rule), word->text,
					     word->len, words->hash);

	return applies(context, rule, in_list);
}

static bool path_fits(const struct rule_context *context, uint32_t rule, const struct name *path)
{
	return path && applies(context, rule, words_have_path(list_of(context, rule), path));
}

/* Checks a path of one name that no import binds. */
static bool path_word_fits(
	const struct rule_context *context, uint32_t rule, const struct name *path)
{
	bool in_list = !path->cut && words_have(list_of(context, rule), path->text, path->len);

	return applies(context, rule, in_list);
}

/* Checks a path through imports, for each path that its first name may stand for. */
static bool use_fits(const struct rule_context *context, uint32_t rule, const struct name *path)
{
	const struct import *import;
	size_t head;

	if (!path)
		return false;
	head = path_head_len(path);
	import = imports_find(context->imports, path->text, head);
	if (!import)
		return head == path->len && path_word_fits(context, rule, path);
	for (; import && !effort_add(context->effort, STEPS_PER_IMPORT); import = import->next) {
		struct name resolved = import->path;

		if (head < path->len)
			path_join(&resolved, path->text + head + 1, path->len - head - 1);
		if (path_fits(context, rule, &resolved))
			return true;
	}
	return false;
}

static bool is_module(const struct rule_context *context, const struct name *name)
{
	const struct import *import = imports_find(context->imports, name->text, name->len);

	while (import && !import->is_module && !effort_add(context->effort, STEPS_PER_IMPORT))
		import = import->next;
	return import && import->is_module;
}

/* Reads the whole path of a subject; false if it is not a path, such as the result of a call. */
static bool read_path(
	const struct rule_context *context, const struct subject *subject, struct name *ret_path)
{
	const struct place *more = &subject->names[1];
	struct name part;

	if (!path_read(context->code + subject->names[0].start,
		    subject->names[0].end - subject->names[0].start, ret_path))
		return false;
	if (more->end == 0)
		return true;
	if (!path_read(context->code + more->start, more->end - more->start, &part))
		return false;
	path_join(ret_path, part.text, part.len);
	return true;
}

/* NULL when it is not a path. */
static const struct name *path_of(const struct rule_context *context, const struct subject *subject,
	struct subject_words *words)
{
	if (!words->has_path)
		words->is_path = read_path(context, subject, &words->path);
	words->has_path = true;
	return words->is_path ? &words->path : NULL;
}

/* A text that is not constant may be outside the list, so a rule with `not in` finds it. */
static bool text_fits(
	const struct rule_context *context, uint32_t rule, const struct subject *subject)
{
	struct name literal;

	literal_read(
		context->code + subject->at.start, subject->at.end - subject->at.start, &literal);
	if (context->rules[rule].relation == RELATION_NOT_IN && literal_is_open(&literal))
		return true;
	return applies(context, rule, literal_is_in(&literal, list_of(context, rule)));
}

static bool url_fits(const struct rule_context *context, uint32_t rule, struct subject *subject)
{
	bool in_list = context->rules[rule].relation == RELATION_IN;
	uint32_t base = subject->at.start;
	size_t start = 0;
	size_t end = 0;

	if (!text_has_url(context->code + base, subject->at.end - base, list_of(context, rule),
		    in_list, &start, &end))
		return false;
	subject->at = (struct place){ base + (uint32_t)start, base + (uint32_t)end };
	return true;
}

/* Removes a standard folder, since rules name the host's programs without one. */
static void forget_folder(struct name *word)
{
	static const char *const folders[] = { "/usr/local/bin/", "/usr/bin/", "/bin/",
		"/usr/sbin/", "/sbin/" };

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		size_t len = strlen(folders[i]);

		if (strncmp(word->text, folders[i], len) == 0) {
			memmove(word->text, word->text + len, word->len - len + 1);
			word->len -= len;
			return;
		}
	}
}

/* words->command. */
static void read_command(const struct rule_context *context, const struct subject *subject,
	struct subject_words *words)
{
	const char *text = context->code + subject->at.start;

	if (words->has_command)
		return;
	words->is_closed = shellword_read(text, subject->at.end - subject->at.start,
		context->code + subject->at.end, &words->command);
	forget_folder(&words->command);
	words->has_command = true;
}

static bool command_fits(const struct rule_context *context, uint32_t rule,
	const struct subject *subject, struct subject_words *words)
{
	read_command(context, subject, words);
	if (!words->is_closed && context->rules[rule].relation == RELATION_NOT_IN)
		return false; /* only SUBJECT_DYNAMIC finds an open word */
	return applies(context, rule, literal_is_in(&words->command, list_of(context, rule)));
}

static bool is_dynamic(const struct rule_context *context, const struct subject *subject,
	struct subject_words *words)
{
	read_command(context, subject, words);
	return !words->is_closed;
}

/* The end of the substitution that begins there in the tree; 0: none does. */
static uint32_t substitution_at(const struct rule_context *context, uint32_t start)
{
	uint32_t low = 0;
	uint32_t high = *context->substitution_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (context->substitutions[middle].start < start)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < *context->substitution_count && context->substitutions[low].start == start)
		return context->substitutions[low].end;
	return 0;
}

/* A here-document whose delimiter is quoted substitutes nothing. */
static bool is_quoted(const struct rule_context *context, const struct subject *subject)
{
	return subject->names[0].start != subject->at.start &&
	       strchr("'\"\\", context->code[subject->names[0].start]);
}

static bool hides_substitution(const struct rule_context *context, const struct subject *subject)
{
	const char *code = context->code;

	if (is_quoted(context, subject))
		return false;
	for (uint32_t at = subject->at.start; at < subject->at.end; at++) {
		bool begins = code[at] == '`' || (code[at] == '$' && code[at + 1] == '(');
		uint32_t end = begins ? substitution_at(context, at) : 0;

		if (code[at] == '\\')
			at++;
		else if (end > at)
			at = end - 1;
		else if (begins && (code[at] == '`' || code[at + 2] != '('))
			return true;
	}
	return false;
}

bool rule_matches(const struct rule_context *context, uint32_t rule, struct subject *subject,
	struct subject_words *words)
{
	const char *code = context->code;
	size_t len = subject->at.end - subject->at.start;

	switch ((enum inspect_subject)context->rules[rule].subject) {
	case SUBJECT_ANY:
		return true;
	case SUBJECT_WORD:
		return word_fits(context, rule, subject, words);
	case SUBJECT_DUNDER:
		return is_dunder(word_of(context, subject, words)) &&
		       word_fits(context, rule, subject, words);
	case SUBJECT_PATH:
		return path_fits(context, rule, path_of(context, subject, words));
	case SUBJECT_USE:
		return use_fits(context, rule, path_of(context, subject, words));
	case SUBJECT_MODULE:
		return is_module(context, word_of(context, subject, words));
	case SUBJECT_TEMPLATE:
		return template_reaches(code + subject->at.start, len, list_of(context, rule));
	case SUBJECT_TEXT:
		return text_fits(context, rule, subject);
	case SUBJECT_URL:
		return url_fits(context, rule, subject);
	case SUBJECT_OPAQUE:
		return text_is_opaque(
			code + subject->at.start, len, context->settings[rule].number);
	case SUBJECT_COMMAND:
		return command_fits(context, rule, subject, words);
	case SUBJECT_DYNAMIC:
		return is_dynamic(context, subject, words);
	case SUBJECT_DELIMITER:
		return !shellword_is_plain_delimiter(code + subject->at.start, len);
	case SUBJECT_BACKTICK:
		return shellword_hides_backtick(code + subject->at.start, len);
	case SUBJECT_SUBSTITUTION:
		return hides_substitution(context, subject);
	case SUBJECT_SUBSCRIPT:
		return shellword_hides_subscript(code + subject->at.start, len);
	case SUBJECT_COUNT:
		break;
	}
	return true;
}

bool rule_needs_imports(uint32_t subject)
{
	return subject == SUBJECT_USE || subject == SUBJECT_MODULE ||
	       subject == SUBJECT_SUBSTITUTION;
}
