/*
 * What every CPython has exported since 3.9 or longer, and the limited API learnt of only later.  Weak:
 * an interpreter without one of them is found out when it starts (audit_init()).
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
