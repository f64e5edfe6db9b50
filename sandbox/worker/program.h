/*
 * One job, as it came over the job socket: a program with its arguments, environment and files.
 *
 * program_parse() checks every length once and rejects a body that is malformed; afterwards the
 * parts are read without further checks.  All pointers point into the body, which the caller keeps.
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
	uint32_t turn;     /* of a cell, for JOB_TURN_DONE() */
	struct span rules; /* the policy's rules, for runtimes that enforce them */
	struct span tools; /* that it may call, as JSON (proto/internal/slotmsg.h) */
	struct span args;  /* still packed: program_next_text() */
	struct span env;
	struct span packages; /* names of package sets, packed in the same way */
	struct span files;    /* program_next_file() */
};

struct program_file {
	struct span path; /* relative, no empty, "." or ".." part */
	struct span data;
	uint32_t mode;
};

int program_parse(const char *body, size_t len, struct program *ret_program, struct err *err);

/* Reads one part and removes it from `rest`.  False at the end, or when the rest is malformed. */
bool program_next_text(struct span *rest, struct span *ret_text);
bool program_next_file(struct span *rest, struct program_file *ret_file);

/*
 * Makes the file that the program will probably be written to, with room for a small one, before
 * the job comes.  Making a file costs more than everything else between a job and its first line.
 * Returns the descriptor, for program_write(), or -1; a failure is harmless.
 */
int program_file_ahead(int dir);

/*
 * Writes the program and its files below the folder `dir`.  Takes `ahead`, which
 * program_file_ahead() returned for the same folder.  Of the first cell of a session it writes only
 * the files.
 */
int program_write(const struct program *program, int dir, int ahead, struct err *err);

/*
 * Takes `ahead`, and removes its file: the first cell of a session has none.  program_write() does it
 * itself.
 */
int program_forget_ahead(int dir, int ahead, struct err *err);

/*
 * Writes the files of a later cell below `folder`; a file that is there is replaced.  On failure the
 * files before the one that the error names are written.
 */
int program_write_files(const struct program *program, const char *folder, struct err *err);

/*
 * Makes the file without a name that a program's stdin is copied to, before the job comes.  Returns
 * the descriptor, for program_stdin(), or -1; a failure is harmless.
 */
int program_stdin_ahead(const char *folder);

/*
 * Takes `fd` and makes it the process's stdin.  A file is copied, to `ahead` or to a new file in
 * `folder`, because the daemon's file lies on a mount that allows to execute it.  Takes `ahead`, too.
 */
int program_stdin(int fd, int ahead, const char *folder, struct err *err);
