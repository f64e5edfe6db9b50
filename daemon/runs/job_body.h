/*
 * A job in the form that its worker receives: head and body in one piece (see slotmsg.h), and files
 * for data outside the body.
 */
#pragma once

#include <stddef.h>

#include "proto/base/err.h"
#include "proto/job/job.h"

#define JOB_CELL_NAME_MAX 40

/* Data that is not in the spec. */
struct job_extras {
	struct bytes rules;          /* for the worker to enforce on the program */
	struct bytes tools;          /* that it may call: job_tools_text(); or nothing */
	bool stdin_inline;           /* for workers that receive no descriptors */
	bool gate;                   /* the program waits for JOB_GO */
	const char *const *packages; /* sets for which the worker prepares the program */
	size_t package_count;
	uint64_t cell;        /* its number in its session; 0: the program is no cell */
	uint32_t turn;        /* ... and the number with which its end is told */
	bool next_cell;       /* ... and not its first */
	bool reserved_counts; /* the memory limit counts reserved memory, used or not */
};

/*
 * Describes the tools of a job for its harness: {as, calls, bytes, tools: [[name, [parameter ...]]
 * ...]}, as JSON in the arena.  {NULL, 0}: it has none, or there is no memory.
 */
struct bytes job_tools_text(struct arena *arena, const struct job_spec *spec);

/*
 * Returns the head and body (from malloc).  NULL: larger than a worker accepts, or out of memory.
 */
char *job_body_write(const struct job_spec *spec, struct job_extras extras, size_t *ret_len);

/* The name of a cell, with the suffix of a file of its language: "cell-3.py". */
void job_name_cell(const struct job_spec *spec, uint64_t cell, char ret_name[JOB_CELL_NAME_MAX]);

/* Returns the job's stdin as a sealed file, at offset 0, as a shell's `< file` would. */
int job_stdin_file(const struct job_spec *spec, struct err *err);

/* Returns the job's artifact globs as a sealed file, with a NUL after each. */
int job_globs_file(const struct job_spec *spec, struct err *err);
