#include "proto/jail_dirs.h"
#include "sandbox/runtimes/python/audit_parts.h"
#include "sandbox/runtimes/python/bytecode.h"
#include "sandbox/runtimes/python/late_api.h"

int audit_init(void)
{
	PyObject *module = PyImport_ImportModule("_json");

	if (!PySys_AddAuditHook || !PyFrame_GetCode || !PyFrame_GetBack || !PyFrame_GetLineNumber ||
		!PyUnicode_AsUTF8AndSize) {
		PyErr_SetString(PyExc_SystemError, "this interpreter is too old");
		return -1;
	}
	audit.quote = module ? PyObject_GetAttrString(module, "encode_basestring_ascii") : NULL;
	Py_XDECREF(module);
	return audit.quote ? bytecode_init() : -1;
}

int audit_start(struct span rules, struct span name)
{
	cut_printf(
		audit.main, sizeof(audit.main), JAIL_WORK_DIR "/%.*s", (int)name.len, name.bytes);
	audit.roots = PySequence_Tuple(PySys_GetObject("path"));
	if (!audit.roots || rules_read(&audit.rules, rules) < 0 || audit_guard_all() < 0)
		return -1;
	audit.on = true;
	return PySys_AddAuditHook(audit_hear, NULL);
}
