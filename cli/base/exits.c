#include "cli/base/exits.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/container.h"

#define EXIT_NO_RUNTIME 127
#define EXIT_CANCELED   130

/* -1 and -2 stand for what only the result can say. */
#define BY_EXIT_CODE (-1)
#define BY_SIGNAL    (-2)

static const struct {
	const char *outcome;
	int status;
} outcomes[] = {
	{ "ok", EXIT_OK },
	{ "exit", BY_EXIT_CODE },
	{ "exception", BY_EXIT_CODE },
	{ "syntax_error", BY_EXIT_CODE },
	{ "signal", BY_SIGNAL },
	{ "wall_limit", EXIT_TIME },
	{ "cpu_limit", EXIT_TIME },
	{ "memory_limit", 137 },
	{ "disk_limit", 123 },
	{ "output_limit", 123 },
	{ "pids_limit", 123 },
	{ "syscall_denied", 123 },
	{ "output_invalid", 122 },
	{ "policy_denied", EXIT_REFUSED },
	{ "approval_denied", EXIT_REFUSED },
	{ "approval_expired", EXIT_REFUSED },
	{ "budget_exceeded", EXIT_REFUSED },
	{ "refused", EXIT_REFUSED },
	{ "canceled", EXIT_CANCELED },
	{ "busy", EXIT_BUSY },
	{ "sandbox_error", EXIT_SERVICE },
	{ "lost", EXIT_SERVICE },
};

static const struct {
	const char *code;
	int status;
} errors[] = {
	{ "bad_request", EXIT_REFUSED },
	{ "forbidden", EXIT_REFUSED },
	{ "conflict", EXIT_REFUSED },
	{ "too_large", EXIT_REFUSED },
	{ "not_found", EXIT_SERVICE }, /* 1 would be the program's */
	{ "busy", EXIT_BUSY },
	{ "draining", EXIT_BUSY },
};

static const char help[] =
	"\nExit status:\n"
	"  0        ok\n"
	"  N        the program's own exit code; 1 after an exception or a syntax error\n"
	"  75       busy: no worker was free in time, too much waits, or the daemon drains;\n"
	"           try again later\n"
	"  122      its output breaks the contract (not JSON, or not what the schema asks)\n"
	"  123      output, disk, process or system call limit\n"
	"  124      time limit (wall clock or cpu)\n"
	"  125      no daemon, a wrong command line, no such run, a fault of the sandbox, or a\n"
	"           run that could not be recorded\n"
	"  126      refused before it ran: policy, contract, budget, approval\n"
	"  127      no such runtime\n"
	"  128+N    died by signal N\n"
	"  130      canceled\n"
	"  137      memory limit\n"
	"A program may exit with these numbers too; the line on stderr and --json tell which it was.\n";

/* "SIGSEGV" or "SIG34"; 0 when it is none that we know. */
static int signal_number(const char *name)
{
	if (!name)
		return 0;
	if (strncmp(name, "SIG", 3) == 0)
		name += 3;
	if (strspn(name, "0123456789") == strlen(name))
		return (int)strtol(name, NULL, 10); /* a real-time signal has only its number */
	for (int number = 1; number < NSIG; number++) {
		const char *abbreviation = sigabbrev_np(number);

		if (abbreviation && strcmp(abbreviation, name) == 0)
			return number;
	}
	return 0;
}

static int by_signal(const struct value *result)
{
	const struct value *signal = value_get(result, "signal");
	int64_t number = value_as_int(signal, signal_number(value_as_text(signal)));

	return number > 0 && number < 127 ? 128 + (int)number : EXIT_SERVICE;
}

static int by_exit_code(const struct value *result)
{
	int64_t code = value_as_int(value_get(result, "exit_code"), 1);

	return code > 0 && code < 256 ? (int)code : 1;
}

int exits_for_result(const struct value *result)
{
	const char *outcome = value_as_text(value_get(result, "outcome"));

	for (size_t i = 0; outcome && i < COUNT_OF(outcomes); i++) {
		if (strcmp(outcomes[i].outcome, outcome) != 0)
			continue;
		if (outcomes[i].status == BY_EXIT_CODE)
			return by_exit_code(result);
		if (outcomes[i].status == BY_SIGNAL)
			return by_signal(result);
		return outcomes[i].status;
	}
	return EXIT_SERVICE;
}

int exits_for_error(const struct value *error)
{
	const char *code = value_as_text(value_get(error, "code"));
	const char *pointer = value_as_text(value_get(value_get(error, "data"), "pointer"));

	if (pointer && strcmp(pointer, "/language") == 0)
		return EXIT_NO_RUNTIME;
	/* A run that waits on for approval must not be sent again. */
	if (code && strcmp(code, "draining") == 0 && value_get(value_get(error, "data"), "run_id"))
		return EXIT_SERVICE;
	for (size_t i = 0; code && i < COUNT_OF(errors); i++) {
		if (strcmp(errors[i].code, code) == 0)
			return errors[i].status;
	}
	return EXIT_SERVICE;
}

int exits_help(struct buf *out)
{
	return buf_append_text(out, help);
}
