#include <string.h>

#include "cli/explain.h"
#include "cli/page.h"
#include "proto/jail_dirs.h"

/* ---- conditions ------------------------------------------------------------------------------ */

static bool is_word(const struct value *record, const char *map, const char *key, const char *word)
{
	const char *text = value_as_text(value_get(value_get(record, map), key));

	return text && strcmp(text, word) == 0;
}

static bool error_is(const struct value *record, const char *type)
{
	return is_word(record, "error", "type", type);
}

static bool error_says(const struct value *record, const char *part)
{
	const char *message = value_as_text(value_get(value_get(record, "error"), "message"));

	return message && strstr(message, part);
}

/* What of stderr is in the record. */
static bool prints(const struct value *record, const char *part)
{
	const char *text = value_as_text(value_get(record, "stderr"));

	return text && strstr(text, part);
}

static bool no_module(const struct value *record)
{
	return error_is(record, "ModuleNotFoundError") || error_is(record, "ImportError");
}

static bool other_has_module(const struct value *record)
{
	const char *reason = value_as_text(value_get(record, "reason"));

	return no_module(record) && reason && strstr(reason, ": run it with language ");
}

static bool no_file(const struct value *record)
{
	return error_is(record, "FileNotFoundError");
}

static bool not_permitted(const struct value *record)
{
	return error_is(record, "PermissionError") || error_says(record, "Read-only file system");
}

static bool no_network(const struct value *record)
{
	return error_says(record, JAIL_NO_NET) || prints(record, JAIL_NO_NET) ||
	       error_says(record, "Network is unreachable");
}

/* Where the line is to be changed that raised it. */
static bool is_of_line(const struct value *record)
{
	return value_as_int(value_get(value_get(record, "error"), "line"), 0) > 0 &&
	       !no_network(record);
}

static bool too_deep(const struct value *record)
{
	return error_is(record, "RecursionError");
}

static bool no_input(const struct value *record)
{
	return error_is(record, "EOFError");
}

/* Less than half of the time on a processor: it waited for something. */
static bool mostly_waited(const struct value *record)
{
	const struct value *evidence = value_get(record, "evidence");

	return page_int(evidence, "cpu_ms") * 2 < page_int(evidence, "limit_ms");
}

static bool mostly_worked(const struct value *record)
{
	return !mostly_waited(record);
}

static bool on_stderr(const struct value *record)
{
	return is_word(record, "evidence", "limit", "stderr_bytes");
}

static bool on_stdout(const struct value *record)
{
	return !on_stderr(record);
}

static bool many_inodes(const struct value *record)
{
	return is_word(record, "evidence", "limit", "inodes");
}

static bool one_file(const struct value *record)
{
	return is_word(record, "evidence", "limit", "file_bytes");
}

static bool many_bytes(const struct value *record)
{
	return !many_inodes(record) && !one_file(record);
}

static bool ran_is(const struct value *record, const char *word)
{
	const char *ran = value_as_text(value_get(record, "ran"));

	return ran && strcmp(ran, word) == 0;
}

static bool nothing_ran(const struct value *record)
{
	return ran_is(record, "no");
}

static bool something_ran(const struct value *record)
{
	return !nothing_ran(record);
}

/* By the worker and not by the text. */
static bool was_caught(const struct value *record)
{
	return ran_is(record, "yes");
}

static bool not_caught(const struct value *record)
{
	return !was_caught(record);
}

static bool segfault(const struct value *record)
{
	return is_word(record, "evidence", "signal", "SIGSEGV") ||
	       is_word(record, "evidence", "signal", "SIGBUS") ||
	       is_word(record, "evidence", "signal", "SIGABRT");
}

static bool still_runs(const struct value *record)
{
	return !value_as_text(value_get(record, "outcome"));
}

/* ---- the sentences --------------------------------------------------------------------------- */

#define HAPPENED EXPLAIN_HAPPENED
#define KNOWN    EXPLAIN_KNOWN
#define CHANGE   EXPLAIN_CHANGE

static bool was_approved(const struct value *record)
{
	return is_word(record, "approval", "decision", "approved");
}

static bool is_parked(const struct value *record)
{
	const char *state = value_as_text(value_get(record, "state"));

	return state && strcmp(state, "parked") == 0;
}

// clang-format off
const struct explain_text explain_texts[] = {
	{ NULL, HAPPENED, still_runs, "The run has not ended; its timeline and what it used are recorded when it has." },
	{ NULL, CHANGE, still_runs, "Wait for it: cectl wait {run_id}" },

	{ "ok", HAPPENED, NULL, "The program ran to its end and left with exit code 0." },
	{ "ok", KNOWN, NULL, "It took {metrics.exec_us} to run and at most {metrics.memory_peak_bytes} of memory." },
	{ "ok", CHANGE, NULL, "Nothing." },

	{ "exit", HAPPENED, NULL, "The program ran and chose to leave with exit code {exit_code}." },
	{ "exit", KNOWN, NULL, "Nothing here stopped it: it broke no limit, and no exception was left uncaught." },
	{ "exit", CHANGE, no_network, "There is no network inside, and none to be asked for: fetch the data first and send it with the run, in files or stdin." },
	{ "exit", CHANGE, NULL, "What it printed may say why: cectl output {run_id} --stream stderr" },

	{ "exception", HAPPENED, NULL, "An exception went uncaught: {error.type}: {error.message}" },
	{ "exception", KNOWN, NULL, "It was raised at line {error.line}: {error.text}" },
	{ "exception", CHANGE, other_has_module, "{reason}." },
	{ "exception", CHANGE, no_module, "Modules are those of the runtime (cectl runtimes) and files that come with the run; nothing can be installed from inside." },
	{ "exception", CHANGE, no_file, "Only files that come with the run, and what the program writes, are in /work." },
	{ "exception", CHANGE, not_permitted, "Only /work and /tmp can be written; starting other programs is not permitted." },
	{ "exception", CHANGE, no_network, "There is no network inside, and none to be asked for: fetch the data first and send it with the run, in files or stdin." },
	{ "exception", CHANGE, too_deep, "It calls itself without an end, or too deeply: a loop with a list of its own has no such bound." },
	{ "exception", CHANGE, no_input, "It reads more than it was given: stdin or input comes with the run, nobody types." },
	{ "exception", CHANGE, is_of_line, "Change line {error.line}, or catch {error.type} there." },

	{ "syntax_error", HAPPENED, NULL, "The program does not compile: {error.message}" },
	{ "syntax_error", KNOWN, NULL, "Line {error.line}, column {error.column}: {error.text}" },
	{ "syntax_error", KNOWN, NULL, "None of its code ran." },
	{ "syntax_error", CHANGE, NULL, "Correct line {error.line}. The language is {request.language}, {runtime.version}." },

	{ "signal", HAPPENED, NULL, "The program died by {evidence.signal}." },
	{ "signal", KNOWN, NULL, "The kernel said so; nothing here sent that signal." },
	{ "signal", CHANGE, segfault, "The interpreter itself or a native module crashed: look for ctypes, a very deep recursion, or a broken extension." },
	{ "signal", CHANGE, NULL, "If it sends signals to itself, it should not." },

	{ "wall_limit", HAPPENED, NULL, "The program was still running after {evidence.limit_ms} and was killed." },
	{ "wall_limit", KNOWN, NULL, "Until then it had used {evidence.cpu_ms} of cpu time." },
	{ "wall_limit", CHANGE, mostly_waited, "It mostly waited: for input that does not come, in sleep, or for a lock. Do not wait for what is not there." },
	{ "wall_limit", CHANGE, mostly_worked, "It was busy all the time: do less in one run, or find the loop that has no end." },
	{ "wall_limit", CHANGE, NULL, "If it rightly takes long, ask for more: limits.wall_ms (cectl run --limit wall=...)." },

	{ "cpu_limit", HAPPENED, NULL, "The program used more than {evidence.limit_ms} of cpu time and was killed." },
	{ "cpu_limit", KNOWN, NULL, "All its threads and processes together used {evidence.used_ms}." },
	{ "cpu_limit", CHANGE, NULL, "Do less in one run, or ask for more: limits.cpu_ms (cectl run --limit cpu=...)." },

	{ "memory_limit", HAPPENED, NULL, "The program needed more than {evidence.limit_bytes} of memory." },
	{ "memory_limit", KNOWN, NULL, "Kills of the kernel for want of memory: {evidence.oom_kills}; the most it held was {evidence.peak_bytes}." },
	{ "memory_limit", CHANGE, NULL, "Work on the data piece by piece. Files under /work and /tmp count as memory." },
	{ "memory_limit", CHANGE, NULL, "If it rightly needs much, ask for more: limits.memory_bytes (cectl run --limit memory=...)." },

	{ "disk_limit", HAPPENED, many_bytes, "The program filled its disk and failed on that." },
	{ "disk_limit", HAPPENED, many_inodes, "The program made more files than it may and failed on that." },
	{ "disk_limit", HAPPENED, one_file, "The program wanted a file of more than {evidence.limit_bytes} and failed on that." },
	{ "disk_limit", KNOWN, NULL, "It had written {evidence.used_bytes} of {evidence.limit_bytes}, in {evidence.used_inodes} of {evidence.limit_inodes} files and folders." },
	{ "disk_limit", CHANGE, NULL, "Remove what is no longer needed, or ask for more: limits.disk_bytes, limits.file_bytes, limits.inodes." },

	{ "output_limit", HAPPENED, on_stdout, "The program printed more than {evidence.limit_bytes} and was killed at the byte that was too much." },
	{ "output_limit", HAPPENED, on_stderr, "The program wrote more than {evidence.limit_bytes} to stderr and was killed at the byte that was too much." },
	{ "output_limit", KNOWN, NULL, "The kill was sent {evidence.kill_us} after that byte was read." },
	{ "output_limit", CHANGE, NULL, "Print a summary instead of everything, or write a file and have it brought back as an artifact." },
	{ "output_limit", CHANGE, NULL, "To keep the beginning and the end and let it run on: on_output_limit \"truncate\"." },

	{ "pids_limit", HAPPENED, NULL, "The program wanted more than {evidence.limit_pids} processes and threads together and failed on that." },
	{ "pids_limit", KNOWN, NULL, "Refused by the kernel: {evidence.refused} of them." },
	{ "pids_limit", CHANGE, NULL, "Use a pool of a few workers; one thread for each item is rarely faster." },

	{ "syscall_denied", HAPPENED, NULL, "The program made a system call that no honest program needs here, and was killed for it." },
	{ "syscall_denied", KNOWN, NULL, "The call was {evidence.syscall.name}, number {evidence.syscall.nr}." },
	{ "syscall_denied", KNOWN, NULL, "The filter of its jail killed it with {evidence.signal}." },
	{ "syscall_denied", CHANGE, NULL, "Look for ctypes, inline assembly or a native module that talks to the kernel itself." },

	{ "output_invalid", HAPPENED, NULL, "The program ended well, but its output is not what was agreed on." },
	{ "output_invalid", CHANGE, NULL, "Print exactly one JSON document that satisfies the schema, and nothing else, to stdout; notes go to stderr." },

	{ "budget_exceeded", HAPPENED, NULL, "It was not let in: {reason}" },
	{ "budget_exceeded", KNOWN, NULL, "None of its code ran. The daemon counts what users, their agents and their tasks spend." },
	{ "budget_exceeded", CHANGE, NULL, "Wait as long as it says; cectl budgets tells what was spent. An administrator can let it begin anew: cectl budgets reset." },
	{ "policy_denied", HAPPENED, not_caught, "The policy {policy.name} refused the program." },
	{ "policy_denied", HAPPENED, was_caught, "The policy {policy.name} ended the program while it ran, at a rule that its text did not show it would break." },
	{ "policy_denied", KNOWN, not_caught, "None of its code ran." },
	{ "policy_denied", KNOWN, was_caught, "What it did before that is done." },
	{ "policy_denied", CHANGE, NULL, "cectl check FILE --policy {policy.name} tells beforehand what it will say." },

	{ "approval_denied", HAPPENED, NULL, "{reason}" },
	{ "approval_denied", KNOWN, NULL, "The policy {policy.name} asks a person about such programs; uid {approval.by} said no (act {approval.act})." },
	{ "approval_denied", KNOWN, NULL, "None of its code ran." },
	{ "approval_denied", CHANGE, NULL, "Do without what the policy asks about, or ask whoever refused it." },

	{ "approval_expired", HAPPENED, NULL, "{reason}" },
	{ "approval_expired", KNOWN, NULL, "None of its code ran." },
	{ "approval_expired", CHANGE, NULL, "Do without what the policy asks about, or see that somebody looks at cectl approvals in time." },

	{ NULL, KNOWN, was_approved, "The policy asks a person about such programs; uid {approval.by} let it run (act {approval.act})." },
	{ NULL, HAPPENED, is_parked, "It waits until a person has approved it; none of its code has run." },
	{ NULL, CHANGE, is_parked, "An approver decides with cectl approve or cectl deny; cectl cancel ends the waiting." },

	{ "canceled", HAPPENED, NULL, "{reason}" },
	{ "canceled", KNOWN, nothing_ran, "None of its code had run." },
	{ "canceled", KNOWN, something_ran, "A part of it may have run." },
	{ "canceled", CHANGE, NULL, "Nothing in the program. A run that shall outlive its client's connection is sent with detach." },

	{ "busy", HAPPENED, NULL, "It got no worker: {reason}" },
	{ "busy", KNOWN, NULL, "None of its code ran. The daemon is healthy and has more work than workers." },
	{ "busy", CHANGE, NULL, "Nothing in the program: send it again later. cectl status tells how many runs wait; an administrator can raise workers_max or queue_ms." },

	{ "sandbox_error", HAPPENED, NULL, "The sandbox failed, not the program: {reason}" },
	{ "sandbox_error", KNOWN, nothing_ran, "None of its code ran." },
	{ "sandbox_error", KNOWN, something_ran, "Some of its code may have run." },
	{ "sandbox_error", CHANGE, nothing_ran, "It can be sent again as it is." },
	{ "sandbox_error", CHANGE, something_ran, "It can be sent again if running it twice does no harm." },
	{ "sandbox_error", CHANGE, NULL, "If it happens again: cectl status, and the log of the service." },

	{ "lost", HAPPENED, NULL, "The daemon died while the program ran, and the program with it." },
	{ "lost", KNOWN, NULL, "Its beginning was on the disk and its end was not when the daemon started again." },
	{ "lost", CHANGE, NULL, "It can be sent again if running it twice does no harm." },

	{ "refused", HAPPENED, NULL, "The request was refused: {reason}" },
	{ "refused", KNOWN, NULL, "None of its code ran." },
	{ "refused", CHANGE, NULL, "Correct the request; the contract is in docs/PROTOCOL.md." },

	{ NULL, 0, NULL, NULL },
};
// clang-format on
