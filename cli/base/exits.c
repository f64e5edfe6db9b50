#include "cli/base/exits.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/container.h"
#include "proto/job/job.h"

#define EXIT_OUTPUT     122
#define EXIT_LIMIT      123
#define EXIT_NO_RUNTIME 127
#define EXIT_CANCELED   130
#define EXIT_MEMORY     137

/* -1 and -2 stand for what only the result can say. */
#define BY_EXIT_CODE (-1)
#define BY_SIGNAL    (-2)

// clang-format off
static const struct outcome_facts outcomes[] = {
	[OUTCOME_NONE]             = { EXIT_SERVICE, SEVERITY_INFORMATIONAL, false, false },
	[OUTCOME_OK]               = { EXIT_OK,      SEVERITY_INFORMATIONAL, false, false },
	[OUTCOME_EXIT]             = { BY_EXIT_CODE, SEVERITY_INFORMATIONAL, false, true },
	[OUTCOME_EXCEPTION]        = { BY_EXIT_CODE, SEVERITY_INFORMATIONAL, false, true },
	[OUTCOME_SYNTAX_ERROR]     = { BY_EXIT_CODE, SEVERITY_INFORMATIONAL, false, true },
	[OUTCOME_SIGNAL]           = { BY_SIGNAL,    SEVERITY_INFORMATIONAL, false, false },
	[OUTCOME_WALL_LIMIT]       = { EXIT_TIME,    SEVERITY_LOW,           true,  false },
	[OUTCOME_CPU_LIMIT]        = { EXIT_TIME,    SEVERITY_LOW,           true,  false },
	[OUTCOME_MEMORY_LIMIT]     = { EXIT_MEMORY,  SEVERITY_LOW,           true,  false },
	[OUTCOME_DISK_LIMIT]       = { EXIT_LIMIT,   SEVERITY_LOW,           true,  false },
	[OUTCOME_OUTPUT_LIMIT]     = { EXIT_LIMIT,   SEVERITY_LOW,           true,  false },
	[OUTCOME_PIDS_LIMIT]       = { EXIT_LIMIT,   SEVERITY_LOW,           true,  false },
	[OUTCOME_SYSCALL_DENIED]   = { EXIT_LIMIT,   SEVERITY_HIGH,          true,  false },
	[OUTCOME_OUTPUT_INVALID]   = { EXIT_OUTPUT,  SEVERITY_INFORMATIONAL, false, true },
	[OUTCOME_POLICY_DENIED]    = { EXIT_REFUSED, SEVERITY_MEDIUM,        true,  false },
	[OUTCOME_APPROVAL_DENIED]  = { EXIT_REFUSED, SEVERITY_MEDIUM,        true,  false },
	[OUTCOME_APPROVAL_EXPIRED] = { EXIT_REFUSED, SEVERITY_MEDIUM,        true,  false },
	[OUTCOME_BUDGET_EXCEEDED]  = { EXIT_REFUSED, SEVERITY_LOW,           true,  false },
	[OUTCOME_REFUSED]          = { EXIT_REFUSED, SEVERITY_MEDIUM,        true,  false },
	[OUTCOME_CANCELED]         = { EXIT_CANCELED, SEVERITY_INFORMATIONAL, false, true },
	[OUTCOME_BUSY]             = { EXIT_BUSY,    SEVERITY_LOW,           false, false },
	[OUTCOME_SANDBOX_ERROR]    = { EXIT_SERVICE, SEVERITY_HIGH,          false, false },
	[OUTCOME_LOST]             = { EXIT_SERVICE, SEVERITY_HIGH,          false, false },
};
// clang-format on

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

const struct outcome_facts *outcome_facts(const char *outcome)
{
	return &outcomes[outcome ? outcome_from_word(outcome) : OUTCOME_NONE];
}

int exits_for_result(const struct value *result)
{
	int status = outcome_facts(value_as_text(value_get(result, "outcome")))->status;

	if (status == BY_EXIT_CODE)
		return by_exit_code(result);
	return status == BY_SIGNAL ? by_signal(result) : status;
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
