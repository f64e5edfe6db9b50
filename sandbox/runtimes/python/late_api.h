/*
 * Functions that every CPython since 3.9 exports, and that the limited API got later.  Weak:
 * audit_init() fails in an interpreter without one of them.
 */
#pragma once

#include <Python.h>

/* NOLINTBEGIN(readability-identifier-naming,readability-redundant-declaration) */
const char *PyUnicode_AsUTF8AndSize(PyObject *text, Py_ssize_t *ret_len) __attribute__((weak));
int PySys_AddAuditHook(int (*hook)(const char *event, PyObject *args, void *data), void *data)
	__attribute__((weak));
PyCodeObject *PyFrame_GetCode(PyFrameObject *frame) __attribute__((weak));
PyFrameObject *PyFrame_GetBack(PyFrameObject *frame) __attribute__((weak));
int PyFrame_GetLineNumber(PyFrameObject *frame) __attribute__((weak));
/* NOLINTEND(readability-identifier-naming,readability-redundant-declaration) */
