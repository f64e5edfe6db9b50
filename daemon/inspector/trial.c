#include "daemon/inspector/trial.h"

#include "daemon/inspector/template.h"

static bool is_dunder(const struct name *name)
{
	const char *text = name->text;
	size_t len = name->len;

	if (len < 5 || text[0] != '_' || text[1] != '_')
		return false;
	return name->cut || (text[len - 2] == '_' && text[len - 1] == '_');
}

/* Whether the rule applies to a word that is, or is not, in its list. */
static bool applies(const struct trial *trial, uint32_t rule, bool in_list)
{
	return in_list == (trial->rules[rule].relation == RELATION_IN);
}

static const struct words *list_of(const struct trial *trial, uint32_t rule)
{
	return &trial->lists[trial->settings[rule].list];
}

static bool word_fits(const struct trial *trial, uint32_t rule, const struct name *word)
{
	bool in_list = !word->cut && words_have(list_of(trial, rule), word->text, word->len);

	return applies(trial, rule, in_list);
}

static bool path_fits(const struct trial *trial, uint32_t rule, const struct name *path)
{
	return applies(trial, rule, words_have_path(list_of(trial, rule), path));
}

/* A path through imports: each thing that its first name may stand for. */
static bool use_fits(const struct trial *trial, uint32_t rule, const struct name *path)
{
	size_t head = path_head_len(path);
	const struct import *import = imports_find(trial->imports, path->text, head);

	if (!import)
		return head == path->len && word_fits(trial, rule, path);
	for (; import; import = import->next) {
		struct name resolved = import->path;

		if (head < path->len)
			path_join(&resolved, path->text + head + 1, path->len - head - 1);
		if (path_fits(trial, rule, &resolved))
			return true;
	}
	return false;
}

static bool is_module(const struct trial *trial, const struct name *name)
{
	const struct import *import = imports_find(trial->imports, name->text, name->len);

	while (import && !import->is_module)
		import = import->next;
	return import != NULL;
}

/* The whole path of a subject; false when it is none, such as the result of a call. */
static bool read_path(
	const struct trial *trial, const struct subject *subject, struct name *ret_path)
{
	const struct place *more = &subject->names[1];
	struct name part;

	if (!path_read(trial->code + subject->names[0].start,
		    subject->names[0].end - subject->names[0].start, ret_path))
		return false;
	if (more->end == 0)
		return true;
	if (!path_read(trial->code + more->start, more->end - more->start, &part))
		return false;
	path_join(ret_path, part.text, part.len);
	return true;
}

bool trial_fits(const struct trial *trial, uint32_t rule, const struct subject *subject,
	const struct name *word)
{
	const char *code = trial->code;
	struct name path;

	switch ((enum inspect_subject)trial->rules[rule].subject) {
	case SUBJECT_ANY:
		return true;
	case SUBJECT_WORD:
		return word_fits(trial, rule, word);
	case SUBJECT_DUNDER:
		return is_dunder(word) && word_fits(trial, rule, word);
	case SUBJECT_PATH:
		return read_path(trial, subject, &path) && path_fits(trial, rule, &path);
	case SUBJECT_USE:
		return read_path(trial, subject, &path) && use_fits(trial, rule, &path);
	case SUBJECT_MODULE:
		return is_module(trial, word);
	case SUBJECT_TEMPLATE:
		return template_reaches(code + subject->at.start,
			subject->at.end - subject->at.start, list_of(trial, rule));
	case SUBJECT_COUNT:
		break;
	}
	return true;
}

bool trial_needs_imports(const struct trial *trial, uint32_t rule)
{
	uint32_t subject = trial->rules[rule].subject;

	return subject == SUBJECT_USE || subject == SUBJECT_MODULE;
}
