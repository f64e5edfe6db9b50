/*
 * The life of a worker of a command runtime: it waits for a job, writes its files, and becomes the
 * interpreter.  Nothing of ours is left then: the job socket closes at the exec, and how the program
 * ended is what its wait status says.
 *
 * Or, with a script: it becomes the interpreter at once, and the script waits for the job, with the
 * job socket at WORKER_JOB_FD.
 */
#pragma once

#include "proto/base/err.h"
#include "sandbox/program.h"

struct command {
	const char *interpreter;
	const char *const *args; /* before the program's name */
	const char *const *env;  /* KEY=VALUE, which a job's own entries replace */
	const char *ahead;       /* a script that takes the job itself, or NULL */
};

__attribute__((noreturn)) void run_program(const struct command *command);

/* What a process is started with.  NULL-ended lists, from malloc, never given back. */
struct process_start {
	char **argv;
	char **env;
};

/* ERR_TOO_BIG: no process can have so much. */
int run_program_prepare(const struct command *command, const struct program *program,
	struct process_start *ret_start, struct err *err);
