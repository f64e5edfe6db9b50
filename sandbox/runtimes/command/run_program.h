/*
 * A worker of a command runtime waits for a job, writes its files, and becomes the interpreter.
 * After that no code of ours runs: the job socket is closed, and the wait status says how the program
 * ended.
 *
 * Where it can, a worker starts the interpreter before the job comes (ahead.h), and the library that it
 * is loaded with takes the job.
 */
#pragma once

#include "proto/base/err.h"
#include "sandbox/worker/program.h"

struct command {
	const char *interpreter;
	const char *const *args; /* before the program's name */
	const char *const *env;  /* KEY=VALUE; entries of the job replace them */
	const char *calls_env;   /* KEY=VALUE: the job socket, for ced-call or a session; or NULL */
};

__attribute__((noreturn)) void run_program(const struct command *command);

/* The arguments and environment of a process: lists and texts from malloc, ended by NULL. */
struct process_start {
	char **argv;
	char **env;
};

/*
 * Says that the worker waits, waits for its job and writes the job's files.  For a session it does not
 * return, but starts the shell.
 */
void run_program_take(const struct command *given, struct process_start *ret_start);

/* Says that the job begins. */
void run_program_begun(void);

/* Becomes the interpreter, or says on stderr why not and exits. */
__attribute__((noreturn)) void run_program_start(
	const char *interpreter, const struct process_start *start);

/* ERR_TOO_BIG: more than a process can have. */
int run_program_prepare(const struct command *command, const struct program *program,
	struct process_start *ret_start, struct err *err);
