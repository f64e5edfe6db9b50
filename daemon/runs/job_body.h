/*
 * A job as its worker gets it: head and body in one piece, as slotmsg.h lays them out, and files
 * for what does not travel in it.
 */
#pragma once

#include <stddef.h>

#include "proto/base/err.h"
#include "proto/job/job.h"

/* What goes beside the spec. */
struct job_extras {
	struct bytes rules;   /* that the worker holds the program to */
	bool stdin_inline;    /* for workers that receive no descriptors */
	bool reserved_counts; /* the memory limit is one of what is reserved, used or not */
};

/* Gives it (malloc), or NULL: it is larger than a worker takes, or there is no memory. */
char *job_body_write(const struct job_spec *spec, struct job_extras extras, size_t *ret_len);

/* The job's stdin as a sealed file, at its start; what a shell's `< file` would give. */
int job_stdin_file(const struct job_spec *spec, struct err *err);

/* The same with the globs of its artifacts, a NUL behind each. */
int job_globs_file(const struct job_spec *spec, struct err *err);
