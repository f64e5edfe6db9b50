#include "sandbox/child_exit.h"
#include "sandbox/joblink.h"
#include "sandbox/runtimes/python/audit_parts.h"
#include "sandbox/runtimes/python/inspection.h"
#include "sandbox/runtimes/python/late_api.h"
#include "sandbox/worker.h"

#define TEXT_CHARACTERS 120

struct audit_state audit;

/* ---- telling -------------------------------------------------------------------------------- */

__attribute__((noreturn)) static void end_run(const char *report, size_t len)
{
	/* The interpreter's lock stays with us, so nothing of the program goes on meanwhile. */
	if (report && joblink_tell(WORKER_JOB_FD, JOB_DENIED, 0, report, len, NULL) == 0)
		joblink_linger(WORKER_JOB_FD);
	child_exit(1);
}

/* As a text in JSON, at most so long. */
static PyObject *quoted(PyObject *text)
{
	PyObject *exact = text && PyUnicode_Check(text) ? PyUnicode_FromObject(text) : NULL;
	PyObject *beginning = exact ? PyUnicode_Substring(exact, 0, TEXT_CHARACTERS) : NULL;
	PyObject *bytes =
		beginning ? PyUnicode_AsEncodedString(beginning, "utf-8", "backslashreplace")
			  : NULL;
	PyObject *plain = bytes ? PyUnicode_FromEncodedObject(bytes, "utf-8", NULL) : NULL;
	PyObject *quoted = plain ? PyObject_CallFunctionObjArgs(audit.quote, plain, NULL) : NULL;

	PyErr_Clear();
	Py_XDECREF(plain);
	Py_XDECREF(bytes);
	Py_XDECREF(beginning);
	Py_XDECREF(exact);
	return quoted ? quoted : PyUnicode_FromString("\"\"");
}

__attribute__((noreturn)) static void tell_breach(const struct breach *breach)
{
	PyObject *text = quoted(breach->text);
	PyObject *file = quoted(breach->file);
	PyObject *report =
		text && file ? PyUnicode_FromFormat(
				       "{\"rule\":\"%s\",\"line\":%d,\"column\":%d,\"text\":%U,"
				       "\"file\":%U}",
				       rule_id(breach->rule), breach->line, breach->column + 1,
				       text, file)
			     : NULL;
	Py_ssize_t len = 0;
	const char *bytes = report ? PyUnicode_AsUTF8AndSize(report, &len) : NULL;

	end_run(bytes, (size_t)len);
}

void audit_lost(void)
{
	end_run(NULL, 0);
}

void audit_code(PyObject *code)
{
	struct breach breach = { 0 };
	int found = audit.on ? inspection_of(&audit.rules, code, &breach) : 0;

	if (found > 0)
		tell_breach(&breach);
	if (found < 0)
		audit_lost();
}

void audit_begin(void)
{
	audit.begun = true;
}

/* ---- judging ---------------------------------------------------------------------------------- */

/* What has no frame is no longer the house's once the program has begun: a thread may begin with it. */
bool audit_is_programs(enum caller caller)
{
	return caller == CALLER_PROGRAM || (caller == CALLER_NOBODY && audit.begun);
}

void audit_deny(enum rule rule, PyObject *text)
{
	PyFrameObject *frame = PyEval_GetFrame();
	struct breach breach = { .rule = rule, .text = text, .column = -1 };

	Py_XINCREF((PyObject *)frame);
	while (frame) {
		breach.file = caller_file_of(frame);
		breach.line = PyFrame_GetLineNumber(frame);
		if (caller_of_file(breach.file) == CALLER_PROGRAM)
			break;
		frame = PyFrame_GetBack(frame);
	}
	tell_breach(&breach);
}

/* Breaks a rule by what is called, told as a path: the call itself, or the module that it is of. */
void audit_judge_path(PyObject *path)
{
	if (rules_break_path(&audit.rules, RULE_CALL_DENIED, path))
		audit_deny(RULE_CALL_DENIED, path);
	if (rules_break_path(&audit.rules, RULE_IMPORT_DANGEROUS, path))
		audit_deny(RULE_IMPORT_DANGEROUS, path);
	if (rules_break_path(&audit.rules, RULE_IMPORT_MEMBER, path))
		audit_deny(RULE_IMPORT_MEMBER, path);
}

/* A builtin by its name. */
void audit_judge_builtin(const char *name)
{
	PyObject *text = PyUnicode_FromString(name);

	if (text && rules_break_word(&audit.rules, RULE_CALL_DENIED, text))
		audit_deny(RULE_CALL_DENIED, text);
	if (text && rules_break_word(&audit.rules, RULE_NAME_DENIED, text))
		audit_deny(RULE_NAME_DENIED, text);
	if (text && rules_break_word(&audit.rules, RULE_BUILTIN_DENIED, text))
		audit_deny(RULE_BUILTIN_DENIED, text);
	PyErr_Clear();
	Py_XDECREF(text);
}

/* Code that says it is of a file that nobody can write speaks as the library from then on. */
void audit_judge_pose(PyObject *file)
{
	if (caller_is_trusted(file))
		audit_deny(RULE_CALL_DENIED, file);
}
