/*
 * Finds the error that an interpreter without a harness prints on stderr when it fails, for the
 * result.
 *
 * A form is a line of the interpreter's output with placeholders:
 *
 *	"%f: line %l: %m"			main.sh: line 3: frob: command not found
 *	"(SyntaxError) %f: line %l: %Msyntax error"
 *	"%m at %f line %l."			no such thing at main.pl line 7.
 *
 *	%f the program's file   %l line   %c column   %m message   %x anything
 *	%M the message: from here to the end of the line, whatever follows in the form
 *	(Type) in front: the error's type; without it "Error"
 *
 * Forms are tried in order against the last lines of stderr, from the end upwards.  A form without
 * a type matches only the last line.  The program may have written such a line itself.  So the
 * error only adds detail to an outcome that is bad already.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "proto/job/job.h"
#include "proto/value.h"

/* Whether a text is a form: known placeholders, with a line and at most three %m or %x. */
bool complaint_is_form(const char *form);

/* {type, message, line, column?, text}, or NULL when no form fits.  `forms` ends with NULL. */
struct value *complaint_find(struct arena *arena, const char *const *forms,
	const struct job_spec *spec, const char *text, size_t len);
