#include "sandbox/runtimes/python/rules.h"

#include <string.h>

#include "proto/base/container.h"
#include "sandbox/runtimes/python/late_api.h"

#define PATH_BYTES_MAX 512

/* daemon/policy/policy_compile.c has the same ids and lists. */
static const struct {
	const char *id;
	const char *list;
	bool breaks_in; /* whether a word breaks the rule by being in the list, or by not being there */
} rule_rows[RULE_COUNT] = {
	[RULE_IMPORT_DANGEROUS] = { "python.import.dangerous", "python.imports.dangerous", true },
	[RULE_IMPORT_DENIED] = { "python.import.denied", "python.imports", false },
	[RULE_IMPORT_MEMBER] = { "python.import.member", "python.members", true },
	[RULE_CALL_DENIED] = { "python.call.denied", "python.calls", true },
	[RULE_ATTRIBUTE_DENIED] = { "python.attribute.denied", "python.attributes", true },
	[RULE_NAME_DENIED] = { "python.name.denied", "python.names", true },
	[RULE_BUILTIN_DENIED] = { "python.builtin.denied", "python.builtins.denied", true },
	[RULE_DUNDER_DENIED] = { "python.dunder.denied", "python.dunders", false },
};

const char *rule_id(enum rule rule)
{
	return rule_rows[rule].id;
}

/* ---- reading -------------------------------------------------------------------------------- */

static struct span cut_off(struct span *rest, char end)
{
	const char *at = rest->len ? memchr(rest->bytes, end, rest->len) : NULL;
	struct span part = { rest->bytes, at ? (size_t)(at - rest->bytes) : rest->len };

	rest->bytes += part.len + (at ? 1 : 0);
	rest->len -= part.len + (at ? 1 : 0);
	return part;
}

static bool span_is(struct span span, const char *text)
{
	return strlen(text) == span.len && memcmp(text, span.bytes, span.len) == 0;
}

/* Returns a frozenset, or NULL. */
static PyObject *read_words(struct span rest)
{
	PyObject *list = PyList_New(0);
	PyObject *words = NULL;
	bool failed = !list;

	while (rest.len && !failed) {
		struct span text = cut_off(&rest, '\t');
		PyObject *word = PyUnicode_FromStringAndSize(text.bytes, (Py_ssize_t)text.len);

		failed = !word || PyList_Append(list, word) < 0;
		Py_XDECREF(word);
	}
	if (!failed)
		words = PyFrozenSet_New(list);
	Py_XDECREF(list);
	return words;
}

static int read_rule(struct rules *rules, struct span line)
{
	struct span id = cut_off(&line, '\t');
	struct span list = cut_off(&line, '\t');

	for (size_t i = 0; i < RULE_COUNT; i++) {
		if (!span_is(id, rule_rows[i].id) || !span_is(list, rule_rows[i].list))
			continue;
		rules->on[i] = true;
		Py_XDECREF(rules->words[i]);
		rules->words[i] = read_words(line);
		return rules->words[i] ? 0 : -1;
	}
	return 0;
}

int rules_read(struct rules *rules, struct span text)
{
	memset(rules, 0, sizeof(*rules));
	while (text.len)
		if (read_rule(rules, cut_off(&text, '\n')) < 0)
			return -1;
	return 0;
}

/* ---- asking --------------------------------------------------------------------------------- */

/* A program's own string type may lie about equality, so the word is compared as plain text. */
static bool has(PyObject *words, PyObject *word)
{
	PyObject *plain = PyUnicode_FromObject(word);
	int found = plain ? PySet_Contains(words, plain) : 0;

	if (!plain || found < 0)
		PyErr_Clear();
	Py_XDECREF(plain);
	return found > 0;
}

static bool has_text(PyObject *words, const char *text, size_t len, const char *behind)
{
	char joined[PATH_BYTES_MAX + 8];
	PyObject *word;
	bool found;

	cut_printf(joined, sizeof(joined), "%.*s%s", (int)len, text, behind);
	word = PyUnicode_FromString(joined);
	found = word && has(words, word);

	PyErr_Clear();
	Py_XDECREF(word);
	return found;
}

/* *.name, and *._ */
static bool has_tail(PyObject *words, const char *path)
{
	const char *dot = strrchr(path, '.');
	char tail[PATH_BYTES_MAX + 4];

	if (!dot)
		return false;
	if (dot[1] == '_' && dot[2] != '_' && has_text(words, "*._", 3, ""))
		return true;
	cut_printf(tail, sizeof(tail), "*%s", dot);
	return has_text(words, tail, strlen(tail), "");
}

static bool has_path(PyObject *words, PyObject *path, const char *text, Py_ssize_t len)
{
	if (has(words, path) || has_tail(words, text))
		return true;
	for (Py_ssize_t at = 1; at <= len; at++)
		if ((at == len || text[at] == '.') && has_text(words, text, (size_t)at, ".*"))
			return true;
	return false;
}

bool rules_break_word(const struct rules *rules, enum rule rule, PyObject *word)
{
	if (!rules->on[rule] || !rules->words[rule])
		return false;
	return has(rules->words[rule], word) == rule_rows[rule].breaks_in;
}

bool rules_break_path(const struct rules *rules, enum rule rule, PyObject *path)
{
	Py_ssize_t len = 0;
	const char *text;

	if (!rules->on[rule] || !rules->words[rule])
		return false;
	text = PyUnicode_AsUTF8AndSize(path, &len);
	PyErr_Clear();
	if (!text || len > PATH_BYTES_MAX)
		return true; /* a path that cannot be read breaks any rule */
	return has_path(rules->words[rule], path, text, len) == rule_rows[rule].breaks_in;
}

bool rules_break_dunder(const struct rules *rules, PyObject *name)
{
	Py_ssize_t len = 0;
	const char *text = PyUnicode_AsUTF8AndSize(name, &len);

	if (!text) {
		PyErr_Clear();
		return false;
	}
	if (len <= 4 || strncmp(text, "__", 2) != 0 || strcmp(text + len - 2, "__") != 0)
		return false;
	return rules_break_word(rules, RULE_DUNDER_DENIED, name);
}
