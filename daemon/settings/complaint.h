/*
 * What an interpreter without a harness says on stderr when it gives up, as the error of a result.
 *
 * A form is a line as the interpreter writes it, with places in it:
 *
 *	"%f: line %l: %m"			main.sh: line 3: frob: command not found
 *	"(SyntaxError) %f: line %l: %Msyntax error"
 *	"%m at %f line %l."			no such thing at main.pl line 7.
 *
 *	%f the program's file   %l line   %c column   %m message   %x anything
 *	%M the message begins here and goes on to the end of the line, whatever follows in the form
 *	(Type) in front: the error's type; without it "Error"
 *
 * Forms are tried in order, each against the last lines of stderr, the very last one first; a form
 * without a type fits only the last line.  What is found is the program's own word and adds detail
 * to an outcome that is bad already.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "proto/job/job.h"
#include "proto/value.h"

/* Whether a text is a form: known places, a line among them, none twice in a row. */
bool complaint_is_form(const char *form);

/* {type, message, line, column?, text}, or NULL when no form fits.  `forms` ends with NULL. */
struct value *complaint_find(struct arena *arena, const char *const *forms,
	const struct job_spec *spec, const char *text, size_t len);
