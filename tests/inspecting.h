/*
 * Policies with real inspectors for tests and benches: starts ced-inspector over a socket pair,
 * without a jail but with its own filter, and runs the loop until an answer is there.
 */

#ifndef CED_TESTS_INSPECTING_H
#define CED_TESTS_INSPECTING_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include <uv.h>

#include "daemon/policy/policy.h"

#define INSPECTING_MAX 64

struct inspecting {
	uv_loop_t loop;
	struct policies *policies;
	struct arena arena;             /* of the last verdict */
	pid_t children[INSPECTING_MAX]; /* by number, from 0 */
	unsigned started;
	unsigned lost;
	bool last_retired;
	char last_why[ERR_TEXT_MAX];
	bool replace; /* starts another inspector for each lost one */
};

/* NULL folder: only the shipped policies.  Waits until `count` inspectors are ready. */
bool inspecting_start(struct inspecting *in, const char *folder, unsigned count);

/* Waits until all running inspectors are ready. */
bool inspecting_ready(struct inspecting *in);

/* Closes everything and reaps the children.  Must be called after a failed start too. */
void inspecting_stop(struct inspecting *in);

/* Starts one more inspector.  Returns its number, or -1. */
int inspecting_add(struct inspecting *in);

/*
 * Asks and waits; `verdict` is valid until the next call.  False if the question was not accepted.
 */
bool inspecting_check(struct inspecting *in, const char *policy, const char *language,
	struct bytes code, const char *code_hash, struct policy_verdict *ret_verdict);

/* Runs the loop until `*flag` is set, for at most `ms`. */
bool inspecting_wait(struct inspecting *in, const bool *flag, unsigned ms);

/* The path of the program, from CED_LIBEXEC. */
const char *inspecting_program(void);

/*
 * Starts `program` with one end of a socket pair as descriptor 3.  Returns the other end in
 * *ret_end.
 */
pid_t inspecting_spawn(const char *program, int *ret_fd);

#endif
