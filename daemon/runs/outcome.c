#include "daemon/runs/outcome.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "proto/base/container.h"
#include "proto/callname.h"

/* The input and output of a rule; the rules call it `j`. */
struct judgement {
	struct arena *arena;
	const struct job_limits *limits;
	const struct facts *facts;
	struct job_result *result;
	struct value *evidence;
};

static void note_int(struct judgement *judgement, const char *key, uint64_t number)
{
	value_map_put(
		judgement->arena, judgement->evidence, key, value_uint(judgement->arena, number));
}

static void note_text(struct judgement *judgement, const char *key, const char *text)
{
	value_map_put(
		judgement->arena, judgement->evidence, key, value_text(judgement->arena, text));
}

static void set_reason(struct judgement *judgement, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static void set_reason(struct judgement *judgement, const char *format, ...)
{
	char text[ERR_TEXT_MAX];
	va_list args;

	va_start(args, format);
	cut_vprintf(text, sizeof(text), format, args);
	va_end(args);
	judgement->result->reason = arena_strdup(judgement->arena, text);
}

static const char *error_message(const struct judgement *judgement)
{
	const char *message = value_as_text(value_get(judgement->facts->error, "message"));

	return message ? message : "";
}

/* ---- the rules, first match counts ---------------------------------------------------------- */

static bool is_canceled(struct judgement *j)
{
	const char *words = canceled_words(j->facts->killed);

	if (words)
		set_reason(j, "The run was cancelled %s.", words);
	return words != NULL;
}

static bool is_output_limit(struct judgement *j)
{
	const struct {
		enum kill_reason killed;
		const char *limit;
		uint64_t cap, total;
		const char *where;
	} rows[] = {
		{ KILLED_STDOUT, "stdout_bytes", j->limits->stdout_bytes, j->facts->stdout_total,
			"to stdout" },
		{ KILLED_STDERR, "stderr_bytes", j->limits->stderr_bytes, j->facts->stderr_total,
			"to stderr" },
		{ KILLED_DISPLAY, "display_bytes", j->limits->display_bytes,
			j->facts->display_total, "to its display" },
	};
	size_t row = 0;

	while (row < COUNT_OF(rows) && rows[row].killed != j->facts->killed)
		row++;
	if (row == COUNT_OF(rows))
		return false;
	note_text(j, "limit", rows[row].limit);
	note_int(j, "limit_bytes", rows[row].cap);
	note_int(j, "read_bytes", rows[row].total);
	note_int(j, "kill_us", (uint64_t)j->facts->kill_us);
	if (j->facts->gone_us)
		note_int(j, "gone_us", (uint64_t)j->facts->gone_us);
	set_reason(j,
		"It wrote more than %" PRIu64 " bytes %s and was killed at that byte: print less, "
		"ask for a higher limit, or use on_output_limit \"truncate\".",
		rows[row].cap, rows[row].where);
	return true;
}

/* The killed run may have used little.  The host cannot provide the memory that it promised. */
static bool is_host_memory(struct judgement *j)
{
	const struct facts *facts = j->facts;

	if (!facts->short_above)
		return false;
	note_text(j, "cause", "host_memory");
	note_text(j, "cgroup", facts->short_where);
	if (facts->short_bytes)
		note_int(j, "cgroup_limit_bytes", facts->short_bytes);
	note_int(j, "limit_bytes", j->limits->memory_bytes);
	note_int(j, "oom_kills", facts_oom_kills(facts));
	if (facts->memory_peak)
		note_int(j, "peak_bytes", facts->memory_peak);
	set_reason(j,
		"The kernel killed the program because the host ran out of memory (%s%s); it had used %" PRIu64
		" of its %" PRIu64 " MiB.",
		facts->short_where ? "the limit of the cgroup "
				   : "not the limit of a cgroup that ced sees",
		facts->short_where ? facts->short_where : "", facts->memory_peak >> 20,
		j->limits->memory_bytes >> 20);
	return true;
}

static bool is_memory_limit(struct judgement *j)
{
	bool by_cgroup = facts_oom_kills(j->facts) > 0; /* v2 kills the rest too, v1 does not */
	bool by_rlimit =
		!j->facts->has_memory_cgroup && facts_went_wrong(j->facts) &&
		(facts_error_is(j->facts, "MemoryError") || facts_say_errno(j->facts, ENOMEM));

	if (!by_cgroup && !by_rlimit)
		return false;
	note_text(j, "limit", "memory_bytes");
	note_int(j, "limit_bytes", j->limits->memory_bytes);
	if (by_cgroup) {
		note_int(j, "oom_kills", facts_oom_kills(j->facts));
		if (j->facts->memory_peak)
			note_int(j, "peak_bytes", j->facts->memory_peak);
	}
	set_reason(j, "It needed more than %" PRIu64 " MiB of memory (its files count) and was %s.",
		j->limits->memory_bytes >> 20, by_cgroup ? "killed" : "given no more");
	return true;
}

static enum ran what_ran(const struct facts *facts, enum outcome outcome)
{
	if (!facts->job_sent)
		return RAN_NO;
	/* Cells before it may speak for the process, and they say that it did not run. */
	if (facts->is_later && (outcome == OUTCOME_SYNTAX_ERROR || facts_say_refused(facts) ||
				       !(facts->began || facts->done)))
		return RAN_UNKNOWN;
	if (outcome == OUTCOME_SYNTAX_ERROR)
		return RAN_NO;
	if (facts->began || facts->done)
		return RAN_YES;
	if (outcome == OUTCOME_POLICY_DENIED)
		return RAN_NO;
	if (facts->failed)
		return RAN_NO;
	/*
	 * A limit killed it.  All its messages were read after its death.  A program that begins
	 * sends JOB_BEGUN first, and that did not come.
	 */
	return facts->killed != KILLED_NOT && facts->ended ? RAN_NO : RAN_UNKNOWN;
}

static void note_calls_limit(struct judgement *j)
{
	note_text(j, "limit", "calls_ms");
	note_int(j, "limit_ms", j->limits->calls_ms);
	note_int(j, "cpu_ms", facts_cpu_us(j->facts) / 1000);
	set_reason(j,
		"Its calls of tools had waited for %" PRIu64
		" ms in all, and it was killed: its client has to answer sooner, or allow more "
		"with limits.calls_ms.",
		j->limits->calls_ms);
}

static bool is_wall_limit(struct judgement *j)
{
	if (j->facts->killed == KILLED_CALLS) {
		note_calls_limit(j);
		return true;
	}
	if (j->facts->killed != KILLED_WALL)
		return false;
	note_text(j, "limit", "wall_ms");
	note_int(j, "limit_ms", j->limits->wall_ms);
	note_int(j, "cpu_ms", facts_cpu_us(j->facts) / 1000);
	if (facts_pids_refused(j->facts)) /* some retry again and again */
		note_int(j, "refused", facts_pids_refused(j->facts));
	if (what_ran(j->facts, OUTCOME_WALL_LIMIT) == RAN_NO) {
		set_reason(j, "It had not begun after %" PRIu64 " ms and was killed.",
			j->limits->wall_ms);
		return true;
	}
	set_reason(j,
		"It was still running after %" PRIu64 " ms and was killed; it had used %" PRIu64
		" ms of cpu.",
		j->limits->wall_ms, facts_cpu_us(j->facts) / 1000);
	return true;
}

static bool is_cpu_limit(struct judgement *j)
{
	bool by_slot = j->facts->cpu_spent && facts_died_by(j->facts, SIGKILL) && !j->facts->done;

	if (j->facts->killed != KILLED_CPU && !facts_died_by(j->facts, SIGXCPU) && !by_slot)
		return false;
	note_text(j, "limit", "cpu_ms");
	note_int(j, "limit_ms", j->limits->cpu_ms);
	note_int(j, "used_ms", facts_cpu_us(j->facts) / 1000);
	set_reason(j, "It used more than %" PRIu64 " ms of cpu time and was killed.",
		j->limits->cpu_ms);
	return true;
}

static bool is_lost_worker(struct judgement *j)
{
	const struct facts *facts = j->facts;

	if (!facts->worker_lost && !(facts->failed && !facts->began))
		return false;
	set_reason(j, "%s",
		facts->failure ? facts->failure
			       : "The worker was lost during the run; this is a fault of ced.");
	return true;
}

static void note_call(struct judgement *j, const struct slotmsg_refused *call)
{
	struct value *map = value_map(j->arena);

	value_map_put(j->arena, map, "name",
		value_text(j->arena, call_name_or_number(j->arena, call->nr)));
	value_map_put(j->arena, map, "nr", value_uint(j->arena, call->nr));
	value_map_put(j->arena, map, "arch", value_text(j->arena, "x86_64"));
	value_map_put(j->arena, j->evidence, "syscall", map);
}

/*
 * The kernel itself kills a program that uses another system call entry (i386, x32).  If no process
 * could listen for refused calls, the kernel also kills for a call that ends runs.  In both cases
 * there is no report of which call it was.
 */
static bool is_syscall_denied(struct judgement *j)
{
	const struct slotmsg_refused *call = facts_ended_for(j->facts);

	if (!call && (!facts_died_by(j->facts, SIGSYS) || j->facts->done))
		return false;
	note_text(j, "signal", "SIGSYS");
	if (call) {
		note_call(j, call);
		set_reason(j,
			"It tried to %s (%s), which no honest program needs here, and was "
			"killed.",
			call_wish(call->nr, call->kind), call_name_or_number(j->arena, call->nr));
	} else {
		set_reason(j,
			"It made a system call that no honest program needs here, or through the "
			"i386 or x32 entry, and was killed.");
	}
	return true;
}

/*
 * Gives a general reason.  The request replaces it with the broken rule if it can read which one.
 */
static bool is_policy_denied(struct judgement *j)
{
	if (j->facts->was_denied)
		set_reason(j, "It broke a rule of its policy while it ran, and was killed.");
	return j->facts->was_denied;
}

/* Whether one file was too large while the disk had room. */
static bool is_file_limit(struct judgement *j)
{
	const struct facts *facts = j->facts;
	bool refused = facts_died_by(facts, SIGXFSZ) || facts_say_signal(facts, SIGXFSZ) ||
		       facts_say_errno(facts, EFBIG);

	if (!refused || facts->disk_full || !facts_went_wrong(facts))
		return false;
	note_text(j, "limit", "file_bytes");
	note_int(j, "limit_bytes", j->limits->file_bytes);
	note_int(j, "used_bytes", facts->disk_bytes);
	set_reason(j, "It tried to write a file of more than %" PRIu64 " bytes, and failed.",
		j->limits->file_bytes);
	return true;
}

/*
 * Whether the disk was full.  The slot measured the file system itself: no space or no inode was
 * left when the worker was dead.
 */
static bool is_disk_limit(struct judgement *j)
{
	const struct facts *facts = j->facts;
	bool full = (facts->disk_full || facts->inodes_full) &&
		    (!facts->disk_was_full || facts_say_no_space(facts));
	/* What there was no room for is not there at the end. */
	bool refused = facts_say_refused(facts) && facts_say_errno(facts, ENOSPC);

	if (!facts_went_wrong(facts) || (!refused && !facts_died_by(facts, SIGXFSZ) &&
						!(full && (facts->error || facts->speechless))))
		return false;
	note_text(j, "limit", facts->inodes_full && !facts->disk_full ? "inodes" : "disk_bytes");
	note_int(j, "limit_bytes", j->limits->disk_bytes);
	note_int(j, "used_bytes", facts->disk_bytes);
	note_int(j, "limit_inodes", j->limits->inodes);
	note_int(j, "used_inodes", facts->inodes);
	if (refused) {
		set_reason(j,
			"It did not begin, because its files and stdin have no room on the session's disk: %s",
			error_message(j));
		return true;
	}
	set_reason(j,
		"It filled its disk (%" PRIu64 " of %" PRIu64 " bytes, %" PRIu64 " of %" PRIu64
		" files), and failed.",
		facts->disk_bytes, j->limits->disk_bytes, facts->inodes, j->limits->inodes);
	return true;
}

static bool is_pids_limit(struct judgement *j)
{
	bool by_rlimit = !j->facts->has_pids_cgroup && facts_say_no_process(j->facts);

	if ((!facts_pids_refused(j->facts) && !by_rlimit) || !facts_went_wrong(j->facts))
		return false;
	note_text(j, "limit", "pids");
	note_int(j, "limit_pids", j->limits->pids);
	if (!by_rlimit)
		note_int(j, "refused", facts_pids_refused(j->facts));
	set_reason(j, "It tried to start more than %" PRIu64 " processes and threads, and failed.",
		j->limits->pids);
	return true;
}

/* Returns the name as in the result's `signal`.  Real-time signals have no name of their own. */
static const char *signal_name(struct arena *arena, int number)
{
	const char *name = sigabbrev_np(number);

	return name ? arena_printf(arena, "SIG%s", name) : arena_printf(arena, "SIG%d", number);
}

static bool is_signal(struct judgement *j)
{
	const struct facts *facts = j->facts;

	/* Before the job was sent, no program could die. */
	if (facts->done || !facts->job_sent || !facts->ended || !WIFSIGNALED(facts->wait_status))
		return false;
	j->result->signal = WTERMSIG(facts->wait_status);
	note_text(j, "signal", signal_name(j->arena, j->result->signal));
	set_reason(j, "Signal %d (%s) killed it.", j->result->signal,
		sigdescr_np(j->result->signal) ? sigdescr_np(j->result->signal) : "unknown");
	return true;
}

static bool is_syntax_error(struct judgement *j)
{
	const char *message = value_as_text(value_get(j->facts->error, "message"));

	if (!j->facts->error_is_syntax || j->facts->began)
		return false;
	set_reason(j, "The program does not compile: %s, line %" PRId64 ".",
		message ? message : "syntax error",
		value_as_int(value_get(j->facts->error, "line"), 0));
	return true;
}

/* Returns " at line 4 of helpers.py".  It names the file only if it is not the program itself. */
static const char *place_of(struct judgement *j)
{
	const char *file = value_as_text(value_get(j->facts->error, "file"));
	int64_t line = value_as_int(value_get(j->facts->error, "line"), 0);

	if (line <= 0)
		return "";
	return arena_printf(
		j->arena, " at line %" PRId64 "%s%s", line, file ? " of " : "", file ? file : "");
}

static bool is_exception(struct judgement *j)
{
	const char *type = value_as_text(value_get(j->facts->error, "type"));
	const char *place;

	if (!j->facts->error || !facts_went_wrong(j->facts))
		return false;
	if (facts_say_errno(j->facts, EMFILE)) {
		note_text(j, "limit", "open_files");
		note_int(j, "limit_files", j->limits->open_files);
	}
	if (facts_say_refused(j->facts)) {
		set_reason(j,
			"It did not begin, because its files or stdin could not be written: %s",
			error_message(j));
		return true;
	}
	place = place_of(j);
	set_reason(j, "Uncaught %s%s: %s", type ? type : "exception", place ? place : "",
		error_message(j));
	return true;
}

static bool is_never_begun(struct judgement *j)
{
	if (j->facts->began || j->facts->done)
		return false;
	set_reason(j,
		j->facts->is_later
			? "The session's process ended before it began the cell: an earlier cell has changed it."
			: "The worker died before the program began; this is a fault of ced.");
	return true;
}

static bool is_exit(struct judgement *j)
{
	int code = 0;

	if (!facts_left_with(j->facts, &code) || code == 0)
		return false;
	set_reason(j, "It ended with exit code %d.", code);
	return true;
}

static bool is_ok(struct judgement *j)
{
	int code = 0;

	if (!facts_left_with(j->facts, &code))
		return false;
	set_reason(j, "It ended well.");
	return true;
}

static bool is_unknown(struct judgement *j)
{
	set_reason(j, "ced did not see how it ended; this is a fault of ced.");
	return true;
}

static const struct {
	bool (*applies)(struct judgement *judgement);
	enum outcome outcome;
} rules[] = {
	{ is_canceled, OUTCOME_CANCELED },
	{ is_output_limit, OUTCOME_OUTPUT_LIMIT },
	{ is_host_memory, OUTCOME_SANDBOX_ERROR },
	{ is_memory_limit, OUTCOME_MEMORY_LIMIT },
	{ is_wall_limit, OUTCOME_WALL_LIMIT },
	{ is_cpu_limit, OUTCOME_CPU_LIMIT },
	{ is_lost_worker, OUTCOME_SANDBOX_ERROR },
	{ is_syscall_denied, OUTCOME_SYSCALL_DENIED },
	{ is_policy_denied, OUTCOME_POLICY_DENIED },
	{ is_file_limit, OUTCOME_DISK_LIMIT },
	{ is_disk_limit, OUTCOME_DISK_LIMIT },
	{ is_pids_limit, OUTCOME_PIDS_LIMIT },
	{ is_signal, OUTCOME_SIGNAL },
	{ is_syntax_error, OUTCOME_SYNTAX_ERROR },
	{ is_never_begun, OUTCOME_SANDBOX_ERROR },
	{ is_exception, OUTCOME_EXCEPTION },
	{ is_exit, OUTCOME_EXIT },
	{ is_ok, OUTCOME_OK },
	{ is_unknown, OUTCOME_SANDBOX_ERROR },
};

void outcome_decide(struct arena *arena, const struct job_limits *limits, const struct facts *facts,
	struct job_result *result)
{
	struct judgement judgement = { arena, limits, facts, result, value_map(arena) };
	int code = 0;

	for (size_t i = 0; result->outcome == OUTCOME_NONE; i++)
		if (rules[i].applies(&judgement))
			result->outcome = rules[i].outcome;
	result->ran = what_ran(facts, result->outcome);
	if (facts_left_with(facts, &code) && facts->killed == KILLED_NOT) {
		result->has_exit_code = true;
		result->exit_code = code;
	}
	if (result->outcome == OUTCOME_EXCEPTION || result->outcome == OUTCOME_SYNTAX_ERROR ||
		result->outcome == OUTCOME_DISK_LIMIT || result->outcome == OUTCOME_PIDS_LIMIT ||
		result->outcome == OUTCOME_MEMORY_LIMIT)
		result->error = facts->error;
	if (judgement.evidence && judgement.evidence->map.count)
		result->evidence = judgement.evidence;
	facts_fill_metrics(facts, &result->metrics);
}
