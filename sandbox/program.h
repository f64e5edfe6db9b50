/*
 * One job as it came over the job socket: a program with its arguments, environment and files.
 *
 * program_parse() looks at every length once and refuses a body of which one byte is out of place;
 * after that the parts are read without further checks.  Everything points into the body, which
 * the caller keeps.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/err.h"

struct span {
	const char *bytes;
	size_t len;
};

struct program {
	struct span code;
	struct span entrypoint; /* a bare file name */
	uint32_t arg_count;
	uint32_t env_count;
	uint32_t file_count;
	bool has_stdin;
	uint32_t flags;    /* JOB_FLAG_* */
	struct span rules; /* for whoever watches the program */
	struct span args;  /* still packed: program_next_text() */
	struct span env;
	struct span files; /* program_next_file() */
};

struct program_file {
	struct span path; /* relative, no empty, "." or ".." part */
	struct span data;
	uint32_t mode;
};

int program_parse(const char *body, size_t len, struct program *ret_program, struct err *err);

/* Takes one part off the front of `rest`.  False at the end, or where nothing whole is left. */
bool program_next_text(struct span *rest, struct span *ret_text);
bool program_next_file(struct span *rest, struct program_file *ret_file);

/*
 * Makes the file that a program will most likely be written to, with room for a small one, before
 * there is a program: making a file costs more than all else that a worker does between a job and
 * its first line.  The descriptor, for program_write(); -1 where it cannot be had, which is no harm.
 */
int program_file_ahead(int dir);

/*
 * Writes the program and its files below the folder `dir`, which nobody else knows yet.  Takes
 * `ahead`, what program_file_ahead() gave for the same folder.
 */
int program_write(const struct program *program, int dir, int ahead, struct err *err);

/*
 * Makes `fd`, which is taken, the process's stdin; of a file a copy, without a name, in `folder`.  What
 * the daemon has sent lies under no mount that says that nothing of it may be run as code.
 */
int program_stdin(int fd, const char *folder, struct err *err);
