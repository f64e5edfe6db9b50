#include "sandbox/runtimes/python/inspection.h"

#include <stdint.h>
#include <string.h>

#include "sandbox/runtimes/python/bytecode.h"
#include "sandbox/runtimes/python/late_api.h"

#define DEPTH_MAX        200 /* of code in code; the compiler stops long before */
#define NAMESAKES_MAX    64  /* imports that give one name */
#define CODE_IS_FUNCTION 1L  /* CO_OPTIMIZED */

/* ---- a walk over all code of a program ------------------------------------------------------- */

struct walk {
	const struct rules *rules;
	PyObject *stored;   /* set: names that the program gives a value */
	PyObject *imported; /* dict: name -> tuple of paths that imports have given it */
	PyObject *within;   /* the same of names inside functions */
	PyObject *modules;  /* set: names that stand for a module */
	bool checks;        /* the second time round */
	struct breach *breach;
	bool found;
	bool failed;
};

/* Where a walk is in one code object. */
struct step {
	const struct code *code;
	uint32_t arg;
	Py_ssize_t at;    /* of the instruction */
	PyObject *paths;  /* owned tuple: what may be on top of the stack, as far as imports tell */
	PyObject *module; /* owned: the import that is under way */
	bool chain;       /* import a.b as c: the parts come one by one */
	PyObject *last[2];     /* borrowed: constants that were loaded last */
	PyObject *module_name; /* borrowed: a name of a module was loaded last, at... */
	Py_ssize_t module_at;
};

static void set_path(PyObject **path, PyObject *value)
{
	PyObject *old = *path;

	*path = value;
	Py_XDECREF(old);
}

static PyObject *name_at(const struct step *step)
{
	return item_of(step->code->names, step->arg);
}

/* The line and column of an instruction. */
static void find_place(const struct step *step, struct breach *breach)
{
	PyObject *positions = PyObject_CallMethod(step->code->self, "co_positions", NULL);
	PyObject *first = PyObject_GetAttrString(step->code->self, "co_firstlineno");
	PyObject *iterator = positions ? PyObject_GetIter(positions) : NULL;
	PyObject *place = NULL;

	breach->line = first ? (int)PyLong_AsLong(first) : 0;
	breach->column = -1;
	for (Py_ssize_t i = 0; iterator && i <= step->at / 2; i++) {
		Py_XDECREF(place);
		place = PyIter_Next(iterator);
	}
	if (place && item_of(place, 0) != Py_None)
		breach->line = (int)PyLong_AsLong(item_of(place, 0));
	if (place && item_of(place, 2) != Py_None)
		breach->column = (int)PyLong_AsLong(item_of(place, 2));
	PyErr_Clear(); /* before 3.11 there is no such method */
	Py_XDECREF(place);
	Py_XDECREF(iterator);
	Py_XDECREF(first);
	Py_XDECREF(positions);
}

static void tell(struct walk *walk, const struct step *step, enum rule rule, PyObject *text)
{
	if (walk->found || !walk->checks)
		return;
	walk->found = true;
	walk->breach->rule = rule;
	Py_INCREF(text);
	walk->breach->text = text;
	walk->breach->file = PyObject_GetAttrString(step->code->self, "co_filename");
	PyErr_Clear();
	find_place(step, walk->breach);
}

static void check_path(struct walk *walk, const struct step *step, PyObject *path)
{
	if (rules_break_path(walk->rules, RULE_IMPORT_MEMBER, path))
		tell(walk, step, RULE_IMPORT_MEMBER, path);
	if (rules_break_path(walk->rules, RULE_CALL_DENIED, path))
		tell(walk, step, RULE_CALL_DENIED, path);
}

static void check_name(struct walk *walk, const struct step *step, PyObject *name)
{
	if (rules_break_dunder(walk->rules, name))
		tell(walk, step, RULE_DUNDER_DENIED, name);
	if (PySet_Contains(walk->stored, name) > 0 || PyDict_Contains(walk->imported, name) > 0)
		return; /* the program's own, sometimes at least: audit.c sees when it is not */
	if (rules_break_word(walk->rules, RULE_NAME_DENIED, name))
		tell(walk, step, RULE_NAME_DENIED, name);
	if (rules_break_word(walk->rules, RULE_BUILTIN_DENIED, name))
		tell(walk, step, RULE_BUILTIN_DENIED, name);
	if (rules_break_word(walk->rules, RULE_CALL_DENIED, name))
		tell(walk, step, RULE_CALL_DENIED, name);
}

static void check_attribute(struct walk *walk, const struct step *step, PyObject *name)
{
	if (rules_break_word(walk->rules, RULE_ATTRIBUTE_DENIED, name))
		tell(walk, step, RULE_ATTRIBUTE_DENIED, name);
	if (rules_break_dunder(walk->rules, name))
		tell(walk, step, RULE_DUNDER_DENIED, name);
}

static void check_paths(struct walk *walk, const struct step *step)
{
	PyObject *path;

	for (uint32_t i = 0; (path = item_of(step->paths, i)); i++)
		check_path(walk, step, path);
}

/* ---- what each instruction says --------------------------------------------------------------- */

static void on_load(struct walk *walk, struct step *step, PyObject *name, bool is_local)
{
	PyObject *known = is_local ? walk->within : walk->imported;
	PyObject *paths = name ? PyDict_GetItem(known, name) : NULL;

	Py_XINCREF(paths);
	set_path(&step->paths, paths);
	if (name && !is_local)
		check_name(walk, step, name);
	check_paths(walk, step);
	if (paths && PySet_Contains(walk->modules, name) > 0 &&
		(is_local || PySet_Contains(walk->stored, name) <= 0)) {
		step->module_name = name;
		step->module_at = step->at;
	}
}

/* A module may be looked into, and nothing else: what is done with it as a value nobody can see. */
static void check_value(struct walk *walk, struct step *step, enum kind kind)
{
	PyObject *name = step->module_name;
	Py_ssize_t at = step->at;

	if (!name)
		return;
	step->module_name = NULL;
	if (kind == KIND_LOAD_ATTR || kind == KIND_STORE_ATTR ||
		!walk->rules->on[RULE_IMPORT_VALUE])
		return;
	step->at = step->module_at;
	tell(walk, step, RULE_IMPORT_VALUE, name);
	step->at = at;
}

/* One name may stand for several paths: each of them counts. */
static void note_import(struct walk *walk, PyObject *where, PyObject *name, PyObject *paths)
{
	PyObject *known = PyDict_GetItem(where, name);
	PyObject *all = known ? PySequence_Concat(known, paths) : NULL;

	if (known && PyTuple_Size(known) > NAMESAKES_MAX)
		walk->failed = true;
	if (PyDict_SetItem(where, name, all ? all : paths) < 0 || (known && !all))
		walk->failed = true;
	Py_XDECREF(all);
}

/* Of a class: neither a function nor the module itself. */
static bool is_class_body(const struct code *code)
{
	PyObject *flags = PyObject_GetAttrString(code->self, "co_flags");
	PyObject *name = PyObject_GetAttrString(code->self, "co_name");
	bool is_class = flags && name && !(PyLong_AsLong(flags) & CODE_IS_FUNCTION) &&
			PyUnicode_CompareWithASCIIString(name, "<module>") != 0;

	PyErr_Clear();
	Py_XDECREF(flags);
	Py_XDECREF(name);
	return is_class;
}

static void on_store(struct walk *walk, struct step *step, PyObject *name, bool is_local)
{
	if (!name)
		return;
	if (walk->checks && step->module && step->paths && walk->rules->on[RULE_IMPORT_CLASS] &&
		is_class_body(step->code))
		tell(walk, step, RULE_IMPORT_CLASS, name);
	if (step->module && step->paths && !walk->checks) {
		note_import(walk, is_local ? walk->within : walk->imported, name, step->paths);
		if (step->chain && PySet_Add(walk->modules, name) < 0)
			walk->failed = true;
	} else if (!walk->checks && !is_local && PySet_Add(walk->stored, name) < 0)
		walk->failed = true;
	if (!is_local && rules_break_dunder(walk->rules, name))
		tell(walk, step, RULE_DUNDER_DENIED, name);
	set_path(&step->paths, NULL);
}

static PyObject *joined(PyObject *path, PyObject *name)
{
	return PyUnicode_FromFormat("%U.%U", path, name);
}

/* Each path with the name behind it; NULL where there was none. */
static PyObject *all_joined(struct walk *walk, PyObject *paths, PyObject *name)
{
	Py_ssize_t count = paths ? PyTuple_Size(paths) : 0;
	PyObject *all = count ? PyTuple_New(count) : NULL;

	walk->failed = walk->failed || (count && !all);
	for (Py_ssize_t i = 0; all && i < count; i++) {
		PyObject *path = joined(PyTuple_GetItem(paths, i), name);

		walk->failed = walk->failed || !path || PyTuple_SetItem(all, i, path) < 0;
	}
	return all;
}

/* The name of an attribute that a template asks for. */
static bool is_denied_field(const struct rules *rules, const char *name)
{
	PyObject *field =
		PyUnicode_FromStringAndSize(name, (Py_ssize_t)strcspn(name, ".[]{}!: \t\n"));
	bool denied = !field || rules_break_word(rules, RULE_FORMAT_DENIED, field);

	PyErr_Clear();
	Py_XDECREF(field);
	return denied;
}

/* "{0.__class__}" asks for attributes by text. */
static bool reaches(const struct rules *rules, const char *template)
{
	bool inside = false;

	for (const char *at = template; *at; at++) {
		if (*at == '{')
			inside = at[1] != '{' || !++at;
		else if (*at == '}' || *at == '!')
			inside = false;
		else if (inside && *at == '.' && at[1] == '_' && is_denied_field(rules, at + 1))
			return true;
	}
	return false;
}

static void check_template(struct walk *walk, const struct step *step, PyObject *text)
{
	const char *template =
		text && PyUnicode_Check(text) ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;

	PyErr_Clear();
	if (template && reaches(walk->rules, template))
		tell(walk, step, RULE_FORMAT_DENIED, text);
}

static void on_attribute(struct walk *walk, struct step *step, bool is_load)
{
	PyObject *name = name_at(step);

	if (!name)
		return;
	check_attribute(walk, step, name);
	set_path(&step->paths, is_load ? all_joined(walk, step->paths, name) : NULL);
	if (!walk->failed)
		check_paths(walk, step);
}

static PyObject *first_part(PyObject *name)
{
	PyObject *parts = PyObject_CallMethod(name, "partition", "s", ".");
	PyObject *first = item_of(parts, 0);

	PyErr_Clear();
	Py_XINCREF(first);
	Py_XDECREF(parts);
	return first;
}

static void on_import(struct walk *walk, struct step *step)
{
	PyObject *name = name_at(step);
	PyObject *level = step->last[1];
	bool has_list = step->last[0] && step->last[0] != Py_None;

	if (!name || PyUnicode_CompareWithASCIIString(name, "__future__") == 0)
		return; /* the compiler's business */
	if (level && PyLong_Check(level) && PyLong_AsLong(level) > 0) {
		if (walk->rules->on[RULE_IMPORT_RELATIVE])
			tell(walk, step, RULE_IMPORT_RELATIVE, name);
	} else if (rules_break_path(walk->rules, RULE_IMPORT_DANGEROUS, name)) {
		tell(walk, step, RULE_IMPORT_DANGEROUS, name);
	} else if (rules_break_path(walk->rules, RULE_IMPORT_DENIED, name)) {
		tell(walk, step, RULE_IMPORT_DENIED, name);
	}
	step->chain = !has_list;
	if (has_list)
		Py_INCREF(name);
	set_path(&step->module, has_list ? name : first_part(name));
	set_path(&step->paths, step->module ? PyTuple_Pack(1, step->module) : NULL);
	walk->failed = walk->failed || !step->paths;
}

static void on_import_from(struct walk *walk, struct step *step)
{
	PyObject *name = name_at(step);
	PyObject *path = name && step->module ? joined(step->module, name) : NULL;

	if (!path)
		return;
	set_path(&step->paths, PyTuple_Pack(1, path));
	walk->failed = walk->failed || !step->paths;
	check_paths(walk, step);
	if (rules_break_dunder(walk->rules, name))
		tell(walk, step, RULE_DUNDER_DENIED, name);
	if (step->chain)
		set_path(&step->module, path);
	else
		Py_DECREF(path);
}

static void on_star(struct walk *walk, struct step *step)
{
	if (walk->rules->on[RULE_IMPORT_STAR] && step->module)
		tell(walk, step, RULE_IMPORT_STAR, step->module);
}

/* case C(name=x): the names are the constant before. */
static void on_match_class(struct walk *walk, struct step *step)
{
	PyObject *attributes = step->last[0];
	PyObject *name;

	if (!attributes || !PyTuple_Check(attributes))
		return;
	for (uint32_t i = 0; (name = item_of(attributes, i)); i++)
		if (PyUnicode_Check(name))
			check_attribute(walk, step, name);
}

/* A text may be a template, or an attribute's name, wherever it goes; keywords are a tuple of texts. */
static void check_const(struct walk *walk, const struct step *step, PyObject *value, int depth)
{
	PyObject *item;

	if (value && PyUnicode_Check(value)) {
		check_template(walk, step, value);
		if (rules_break_word(walk->rules, RULE_TEXT_NAME, value))
			tell(walk, step, RULE_TEXT_NAME, value);
	}
	if (!value || !PyTuple_Check(value) || depth == DEPTH_MAX)
		return;
	for (uint32_t i = 0; (item = item_of(value, i)); i++)
		check_const(walk, step, item, depth + 1);
}

static void on_const(struct walk *walk, struct step *step)
{
	step->last[1] = step->last[0];
	step->last[0] = item_of(step->code->consts, step->arg);
	if (walk->checks)
		check_const(walk, step, step->last[0], 0);
}

static void take_step(struct walk *walk, struct step *step, enum kind kind)
{
	bool keeps = kind == KIND_LOAD_ATTR || kind == KIND_STORE_NAME ||
		     kind == KIND_STORE_LOCAL || kind == KIND_STORE_CELL ||
		     kind == KIND_IMPORT_FROM;

	check_value(walk, step, kind);
	if (!keeps && kind != KIND_OTHER)
		set_path(&step->paths, NULL);
	switch (kind) {
	case KIND_LOAD_NAME:
		on_load(walk, step, name_at(step), false);
		return;
	case KIND_LOAD_LOCAL:
		on_load(walk, step, item_of(step->code->locals, step->arg), true);
		return;
	case KIND_LOAD_CELL:
		on_load(walk, step, item_of(step->code->cells, step->arg), true);
		return;
	case KIND_STORE_NAME:
		on_store(walk, step, name_at(step), false);
		return;
	case KIND_STORE_LOCAL:
		on_store(walk, step, item_of(step->code->locals, step->arg), true);
		return;
	case KIND_STORE_CELL:
		on_store(walk, step, item_of(step->code->cells, step->arg), true);
		return;
	case KIND_LOAD_ATTR:
	case KIND_STORE_ATTR:
		on_attribute(walk, step, kind == KIND_LOAD_ATTR);
		return;
	case KIND_IMPORT:
		on_import(walk, step);
		return;
	case KIND_IMPORT_FROM:
		on_import_from(walk, step);
		return;
	case KIND_INTRINSIC:
		if (step->arg != INTRINSIC_IMPORT_STAR)
			return;
		on_star(walk, step);
		return;
	case KIND_IMPORT_STAR:
		on_star(walk, step);
		return;
	case KIND_CONST:
		on_const(walk, step);
		return;
	case KIND_MATCH_CLASS:
		on_match_class(walk, step);
		return;
	case KIND_OTHER:
	case KIND_NOTHING:
	case KIND_LONGER:
		return;
	}
}

/* Between an import and the names that it gives stand only moves; anything else ends it. */
static bool ends_import(enum kind kind)
{
	return kind == KIND_LOAD_NAME || kind == KIND_LOAD_LOCAL || kind == KIND_LOAD_CELL ||
	       kind == KIND_CONST;
}

static void walk_instructions(struct walk *walk, const struct code *code)
{
	const char *bytes = PyBytes_AsString(code->bytes);
	Py_ssize_t len = PyBytes_Size(code->bytes);
	struct step step = { .code = code };
	uint32_t longer = 0;

	for (Py_ssize_t at = 0; at + 1 < len && !walk->found && !walk->failed; at += 2) {
		uint8_t number = (uint8_t)bytes[at];
		enum kind kind = (enum kind)bytecode.kind[number];
		uint32_t arg = longer << 8 | (uint8_t)bytes[at + 1];

		longer = kind == KIND_LONGER ? arg : 0;
		if (kind == KIND_LONGER || kind == KIND_NOTHING)
			continue;
		step.arg = arg >> bytecode.shift[number];
		step.at = at;
		if (ends_import(kind))
			set_path(&step.module, NULL);
		take_step(walk, &step, kind);
		if (kind != KIND_CONST && kind != KIND_OTHER)
			step.last[0] = step.last[1] = NULL;
		if (kind == KIND_OTHER && step.module == NULL)
			set_path(&step.paths, NULL);
	}
	set_path(&step.paths, NULL);
	set_path(&step.module, NULL);
}

static void walk_code(struct walk *walk, PyObject *self, int depth)
{
	struct code code;
	PyObject *inner;

	if (!code_open(&code, self) || depth == DEPTH_MAX)
		walk->failed = true;
	if (!walk->failed)
		walk_instructions(walk, &code);
	for (uint32_t i = 0; !walk->found && !walk->failed && (inner = item_of(code.consts, i));
		i++)
		if (bytecode_is_code(inner))
			walk_code(walk, inner, depth + 1);
	code_close(&code);
}

/* What names stand for must be known of all code before any of it is judged. */
int inspection_of(const struct rules *rules, PyObject *code, struct breach *ret_breach)
{
	struct walk walk = { .rules = rules,
		.stored = PySet_New(NULL),
		.imported = PyDict_New(),
		.within = PyDict_New(),
		.modules = PySet_New(NULL),
		.breach = ret_breach };

	walk.failed = !walk.stored || !walk.imported || !walk.within || !walk.modules;
	if (!walk.failed)
		walk_code(&walk, code, 0);
	walk.checks = true;
	if (!walk.failed)
		walk_code(&walk, code, 0);
	PyErr_Clear();
	Py_XDECREF(walk.stored);
	Py_XDECREF(walk.imported);
	Py_XDECREF(walk.within);
	Py_XDECREF(walk.modules);
	if (walk.found)
		return 1;
	return walk.failed ? -1 : 0;
}
