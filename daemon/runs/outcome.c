#include "daemon/runs/outcome.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "proto/callname.h"

/* What a rule looks at and fills in. */
struct judgement {
	struct arena *arena;
	const struct job_limits *limits;
	const struct facts *facts;
	struct job_result *result;
	struct value *evidence;
	enum outcome outcome; /* of the row that is being tried */
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

static void say(struct judgement *judgement, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static void say(struct judgement *judgement, const char *format, ...)
{
	char text[ERR_TEXT_MAX];
	va_list args;

	va_start(args, format);
	cut_vprintf(text, sizeof(text), format, args);
	va_end(args);
	judgement->result->reason = arena_strdup(judgement->arena, text);
}

/* ---- what the facts are, in words ----------------------------------------------------------- */

static bool died_by(const struct facts *facts, int signal)
{
	return facts->ended && WIFSIGNALED(facts->wait_status) &&
	       WTERMSIG(facts->wait_status) == signal;
}

/* Its end as the program brought it about: the done word, or else the wait status. */
static bool left_with(const struct facts *facts, int *ret_code)
{
	if (facts->done)
		*ret_code = facts->done_code;
	else if (facts->ended && WIFEXITED(facts->wait_status))
		*ret_code = WEXITSTATUS(facts->wait_status);
	else
		return false;
	return true;
}

static bool went_wrong(const struct facts *facts)
{
	int code = 0;

	return !left_with(facts, &code) || code != 0;
}

static uint64_t oom_kills(const struct facts *facts)
{
	return knobs_since(facts->before.oom_kills, facts->after.oom_kills);
}

static uint64_t pids_refused(const struct facts *facts)
{
	return knobs_since(facts->before.pids_refused, facts->after.pids_refused);
}

static uint64_t cpu_us(const struct facts *facts)
{
	uint64_t counted = knobs_since(facts->before.cpu_user_us, facts->after.cpu_user_us) +
			   knobs_since(facts->before.cpu_sys_us, facts->after.cpu_sys_us);

	if (!counted && facts->ended)
		counted = facts->usage.cpu_user_us + facts->usage.cpu_sys_us;
	return counted;
}

static bool error_is(const struct facts *facts, const char *type)
{
	const char *said = value_as_text(value_get(facts->error, "type"));

	return said && !strcmp(said, type);
}

static bool ends_with(const char *text, const char *end)
{
	size_t text_len = strlen(text);
	size_t end_len = strlen(end);

	return text_len >= end_len && !strcmp(text + text_len - end_len, end);
}

/* How runtimes word an error of the system's: "[Errno 24] ...", "EMFILE: ...", "...: Too many open files". */
static bool says_errno(const struct facts *facts, int number)
{
	const char *message = value_as_text(value_get(facts->error, "message"));
	char head[32];

	if (!message)
		return false;
	cut_printf(head, sizeof(head), "[Errno %d]", number);
	if (!strncmp(message, head, strlen(head)))
		return true;
	cut_printf(head, sizeof(head), "%s:", strerrorname_np(number));
	return !strncmp(message, head, strlen(head)) || ends_with(message, strerrordesc_np(number));
}

/* And of a process of theirs that a signal ended. */
static bool says_signal(const struct facts *facts, int number)
{
	const char *message = value_as_text(value_get(facts->error, "message"));

	return message && strstr(message, sigdescr_np(number));
}

/* ---- the rules, first match counts ---------------------------------------------------------- */

const char *canceled_words(enum limit_word why)
{
	switch ((int)why) {
	case KILLED_CANCEL:
		return "by its caller";
	case KILLED_ADMIN:
		return "by an administrator";
	case KILLED_LEFT:
		return "because its client left";
	case KILLED_CLOSING:
		return "because the daemon was shutting down";
	default:
		return NULL;
	}
}

static bool is_canceled(struct judgement *j)
{
	const char *words = canceled_words(j->facts->killed);

	if (words)
		say(j, "The run was cancelled %s.", words);
	return words != NULL;
}

static bool is_output_limit(struct judgement *j)
{
	bool is_stderr = j->facts->killed == KILLED_STDERR;
	uint64_t cap = is_stderr ? j->limits->stderr_bytes : j->limits->stdout_bytes;

	if (j->facts->killed != KILLED_STDOUT && !is_stderr)
		return false;
	note_text(j, "limit", is_stderr ? "stderr_bytes" : "stdout_bytes");
	note_int(j, "limit_bytes", cap);
	note_int(j, "read_bytes", is_stderr ? j->facts->stderr_total : j->facts->stdout_total);
	note_int(j, "kill_us", (uint64_t)j->facts->kill_us);
	if (j->facts->gone_us)
		note_int(j, "gone_us", (uint64_t)j->facts->gone_us);
	say(j,
		"It wrote more than %" PRIu64
		" bytes to %s and was killed at that byte: print less, "
		"ask for a higher limit, or use on_output_limit \"truncate\".",
		cap, is_stderr ? "stderr" : "stdout");
	return true;
}

static bool is_memory_limit(struct judgement *j)
{
	bool by_cgroup = oom_kills(j->facts) > 0; /* v2 kills the rest as well, v1 does not */
	bool by_rlimit = !j->facts->has_memory_cgroup && went_wrong(j->facts) &&
			 (error_is(j->facts, "MemoryError") || says_errno(j->facts, ENOMEM));

	if (!by_cgroup && !by_rlimit)
		return false;
	note_text(j, "limit", "memory_bytes");
	note_int(j, "limit_bytes", j->limits->memory_bytes);
	if (by_cgroup) {
		note_int(j, "oom_kills", oom_kills(j->facts));
		if (j->facts->memory_peak)
			note_int(j, "peak_bytes", j->facts->memory_peak);
	}
	say(j, "It needed more than %" PRIu64 " MiB of memory (files it wrote count) and was %s.",
		j->limits->memory_bytes >> 20, by_cgroup ? "killed" : "refused more");
	return true;
}

static bool is_wall_limit(struct judgement *j)
{
	if (j->facts->killed != KILLED_WALL)
		return false;
	note_text(j, "limit", "wall_ms");
	note_int(j, "limit_ms", j->limits->wall_ms);
	note_int(j, "cpu_ms", cpu_us(j->facts) / 1000);
	if (pids_refused(j->facts)) /* some try again and again */
		note_int(j, "refused", pids_refused(j->facts));
	say(j,
		"It was still running after %" PRIu64 " ms and was killed; it had used %" PRIu64
		" ms of cpu.",
		j->limits->wall_ms, cpu_us(j->facts) / 1000);
	return true;
}

static bool is_cpu_limit(struct judgement *j)
{
	bool by_slot = j->facts->cpu_spent && died_by(j->facts, SIGKILL) && !j->facts->done;

	if (j->facts->killed != KILLED_CPU && !died_by(j->facts, SIGXCPU) && !by_slot)
		return false;
	note_text(j, "limit", "cpu_ms");
	note_int(j, "limit_ms", j->limits->cpu_ms);
	note_int(j, "used_ms", cpu_us(j->facts) / 1000);
	say(j, "It used more than %" PRIu64 " ms of cpu time and was killed.", j->limits->cpu_ms);
	return true;
}

static bool is_lost_worker(struct judgement *j)
{
	const struct facts *facts = j->facts;

	if (!facts->worker_lost && !(facts->failed && !facts->began))
		return false;
	say(j, "%s",
		facts->failure ? facts->failure
			       : "The worker was lost while it ran; this is our fault.");
	return true;
}

/* The call for which its slot has ended it. */
static const struct lease_refused *ended_for(const struct facts *facts)
{
	for (size_t i = 0; i < facts->refused_count; i++)
		if (facts->refused[i].ended)
			return &facts->refused[i];
	return NULL;
}

static void note_call(struct judgement *j, const struct lease_refused *call)
{
	struct value *map = value_map(j->arena);

	value_map_put(j->arena, map, "name",
		value_text(j->arena, call_name_or_number(j->arena, call->nr)));
	value_map_put(j->arena, map, "nr", value_uint(j->arena, call->nr));
	value_map_put(j->arena, map, "arch", value_text(j->arena, "x86_64"));
	value_map_put(j->arena, j->evidence, "syscall", map);
}

/*
 * The kernel itself kills who comes in by another door (i386, x32), and, where nobody could be had
 * to listen, who makes a call that ends runs.  Which it was nobody tells us then.
 */
static bool is_syscall_denied(struct judgement *j)
{
	const struct lease_refused *call = ended_for(j->facts);

	if (!call && (!died_by(j->facts, SIGSYS) || j->facts->done))
		return false;
	note_text(j, "signal", "SIGSYS");
	if (call) {
		note_call(j, call);
		say(j,
			"It tried to %s (%s), which no honest program needs here, and was killed "
			"for it.",
			call_wish(call->nr, call->kind), call_name_or_number(j->arena, call->nr));
	} else {
		say(j, "It made a system call that no honest program needs here, or made it by the "
		       "i386 or x32 entry, and was killed for it.");
	}
	return true;
}

/* Whoever started it says which rule that was; this says it as it is, should nobody know better. */
static bool is_policy_denied(struct judgement *j)
{
	if (j->facts->was_denied)
		say(j, "It broke a rule of its policy while it ran, and was ended.");
	return j->facts->was_denied;
}

/* One file was too large, and the disk had room. */
static bool is_file_limit(struct judgement *j)
{
	const struct facts *facts = j->facts;
	bool refused =
		died_by(facts, SIGXFSZ) || says_signal(facts, SIGXFSZ) || says_errno(facts, EFBIG);

	if (!refused || facts->disk_full || !went_wrong(facts))
		return false;
	note_text(j, "limit", "file_bytes");
	note_int(j, "limit_bytes", j->limits->file_bytes);
	note_int(j, "used_bytes", facts->disk_bytes);
	say(j, "It wanted a file of more than %" PRIu64 " bytes and failed on that.",
		j->limits->file_bytes);
	return true;
}

/* The slot measured the file system itself: nothing was left of it when the worker was dead. */
static bool is_disk_limit(struct judgement *j)
{
	const struct facts *facts = j->facts;
	bool full = facts->disk_full || facts->inodes_full;

	if (!went_wrong(facts) ||
		(!died_by(facts, SIGXFSZ) && !(full && (facts->error || facts->speechless))))
		return false;
	note_text(j, "limit", facts->inodes_full && !facts->disk_full ? "inodes" : "disk_bytes");
	note_int(j, "limit_bytes", j->limits->disk_bytes);
	note_int(j, "used_bytes", facts->disk_bytes);
	note_int(j, "limit_inodes", j->limits->inodes);
	note_int(j, "used_inodes", facts->inodes);
	say(j,
		"It filled its disk (%" PRIu64 " of %" PRIu64 " bytes, %" PRIu64 " of %" PRIu64
		" files) and failed on that.",
		facts->disk_bytes, j->limits->disk_bytes, facts->inodes, j->limits->inodes);
	return true;
}

/* How a runtime says that it could not have another process or thread. */
static bool says_no_process(const struct facts *facts)
{
	const char *message = value_as_text(value_get(facts->error, "message"));

	return error_is(facts, "BlockingIOError") ||
	       (error_is(facts, "RuntimeError") && message &&
		       !strcmp(message, "can't start new thread"));
}

static bool is_pids_limit(struct judgement *j)
{
	bool by_rlimit = !j->facts->has_pids_cgroup && says_no_process(j->facts);

	if ((!pids_refused(j->facts) && !by_rlimit) || !went_wrong(j->facts))
		return false;
	note_text(j, "limit", "pids");
	note_int(j, "limit_pids", j->limits->pids);
	if (!by_rlimit)
		note_int(j, "refused", pids_refused(j->facts));
	say(j, "It wanted more than %" PRIu64 " processes and threads together and failed on that.",
		j->limits->pids);
	return true;
}

/* As the result's own `signal` has it; real-time signals have no name of their own. */
static const char *signal_name(struct arena *arena, int number)
{
	const char *name = sigabbrev_np(number);

	return name ? arena_printf(arena, "SIG%s", name) : arena_printf(arena, "SIG%d", number);
}

static bool is_signal(struct judgement *j)
{
	const struct facts *facts = j->facts;

	/* Before it had the job there was no program that could die. */
	if (facts->done || !facts->job_sent || !facts->ended || !WIFSIGNALED(facts->wait_status))
		return false;
	j->result->signal = WTERMSIG(facts->wait_status);
	note_text(j, "signal", signal_name(j->arena, j->result->signal));
	say(j, "It died by signal %d (%s).", j->result->signal,
		sigdescr_np(j->result->signal) ? sigdescr_np(j->result->signal) : "unknown");
	return true;
}

static bool is_syntax_error(struct judgement *j)
{
	const char *message = value_as_text(value_get(j->facts->error, "message"));

	if (!j->facts->error_is_syntax || j->facts->began)
		return false;
	say(j, "The program does not compile: %s, line %" PRId64 ".",
		message ? message : "syntax error",
		value_as_int(value_get(j->facts->error, "line"), 0));
	return true;
}

static bool is_exception(struct judgement *j)
{
	const char *type = value_as_text(value_get(j->facts->error, "type"));
	const char *message = value_as_text(value_get(j->facts->error, "message"));
	int64_t line = value_as_int(value_get(j->facts->error, "line"), 0);

	if (!j->facts->error || !went_wrong(j->facts))
		return false;
	if (says_errno(j->facts, EMFILE)) {
		note_text(j, "limit", "open_files");
		note_int(j, "limit_files", j->limits->open_files);
	}
	if (line > 0)
		say(j, "Uncaught %s at line %" PRId64 ": %s", type ? type : "exception", line,
			message ? message : "");
	else
		say(j, "Uncaught %s: %s", type ? type : "exception", message ? message : "");
	return true;
}

static bool is_never_begun(struct judgement *j)
{
	if (j->facts->began || j->facts->done)
		return false;
	say(j, "The worker died before the program began; this is our fault.");
	return true;
}

static bool is_exit(struct judgement *j)
{
	int code = 0;

	if (!left_with(j->facts, &code) || code == 0)
		return false;
	say(j, "It ended with exit code %d.", code);
	return true;
}

static bool is_ok(struct judgement *j)
{
	int code = 0;

	if (!left_with(j->facts, &code))
		return false;
	say(j, "It ended well.");
	return true;
}

static bool is_unknown(struct judgement *j)
{
	say(j, "Its end was not seen; this is our fault.");
	return true;
}

static const struct {
	bool (*applies)(struct judgement *judgement);
	enum outcome outcome;
} rules[] = {
	{ is_canceled, OUTCOME_CANCELED },
	{ is_output_limit, OUTCOME_OUTPUT_LIMIT },
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

static enum ran what_ran(const struct facts *facts, enum outcome outcome)
{
	if (facts->began || facts->done)
		return outcome == OUTCOME_SYNTAX_ERROR ? RAN_NO : RAN_YES;
	if (!facts->job_sent || outcome == OUTCOME_SYNTAX_ERROR || facts->failed ||
		outcome == OUTCOME_POLICY_DENIED)
		return RAN_NO;
	return RAN_UNKNOWN;
}

static void fill_metrics(const struct facts *facts, struct job_metrics *metrics)
{
	metrics->cpu_user_us =
		(int64_t)knobs_since(facts->before.cpu_user_us, facts->after.cpu_user_us);
	metrics->cpu_sys_us =
		(int64_t)knobs_since(facts->before.cpu_sys_us, facts->after.cpu_sys_us);
	metrics->memory_peak_bytes = (int64_t)facts->memory_peak;
	if (facts->has_disk)
		metrics->disk_bytes = (int64_t)facts->disk_bytes;
	if (!facts->ended)
		return;
	metrics->ctx_voluntary = (int64_t)facts->usage.ctx_voluntary;
	metrics->ctx_forced = (int64_t)facts->usage.ctx_forced;
	if (metrics->cpu_user_us + metrics->cpu_sys_us == 0) {
		metrics->cpu_user_us = (int64_t)facts->usage.cpu_user_us;
		metrics->cpu_sys_us = (int64_t)facts->usage.cpu_sys_us;
	}
	if (!metrics->memory_peak_bytes)
		metrics->memory_peak_bytes = (int64_t)facts->usage.max_rss_bytes;
}

void outcome_decide(struct arena *arena, const struct job_limits *limits, const struct facts *facts,
	struct job_result *result)
{
	struct judgement judgement = { arena, limits, facts, result, value_map(arena),
		OUTCOME_NONE };
	int code = 0;

	for (size_t i = 0; result->outcome == OUTCOME_NONE; i++)
		if (rules[i].applies(&judgement))
			result->outcome = rules[i].outcome;
	result->ran = what_ran(facts, result->outcome);
	if (left_with(facts, &code) && facts->killed == KILLED_NOT) {
		result->has_exit_code = true;
		result->exit_code = code;
	}
	if (result->outcome == OUTCOME_EXCEPTION || result->outcome == OUTCOME_SYNTAX_ERROR ||
		result->outcome == OUTCOME_DISK_LIMIT || result->outcome == OUTCOME_PIDS_LIMIT ||
		result->outcome == OUTCOME_MEMORY_LIMIT)
		result->error = facts->error;
	if (judgement.evidence && judgement.evidence->map.count)
		result->evidence = judgement.evidence;
	fill_metrics(facts, &result->metrics);
}
