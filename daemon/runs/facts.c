#include "daemon/runs/facts.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "proto/base/container.h"

const char *canceled_words(enum kill_reason why)
{
	switch ((int)why) {
	case KILLED_CANCEL:
		return "by its caller";
	case KILLED_ADMIN:
		return "by an administrator";
	case KILLED_LEFT:
		return "because its client disconnected";
	case KILLED_CLOSING:
		return "because the daemon was shutting down";
	default:
		return NULL;
	}
}

bool facts_died_by(const struct facts *facts, int signal)
{
	return facts->ended && WIFSIGNALED(facts->wait_status) &&
	       WTERMSIG(facts->wait_status) == signal;
}

bool facts_left_with(const struct facts *facts, int *ret_code)
{
	if (facts->done)
		*ret_code = facts->done_code;
	else if (facts->ended && WIFEXITED(facts->wait_status))
		*ret_code = WEXITSTATUS(facts->wait_status);
	else
		return false;
	return true;
}

bool facts_went_wrong(const struct facts *facts)
{
	int code = 0;

	return !facts_left_with(facts, &code) || code != 0;
}

uint64_t facts_oom_kills(const struct facts *facts)
{
	return knobs_since(facts->before.oom_kills, facts->after.oom_kills);
}

uint64_t facts_pids_refused(const struct facts *facts)
{
	return knobs_since(facts->before.pids_refused, facts->after.pids_refused);
}

uint64_t facts_cpu_us(const struct facts *facts)
{
	uint64_t counted = knobs_since(facts->before.cpu_user_us, facts->after.cpu_user_us) +
			   knobs_since(facts->before.cpu_sys_us, facts->after.cpu_sys_us);

	if (!counted && facts->ended)
		counted = facts->usage.cpu_user_us + facts->usage.cpu_sys_us;
	return counted;
}

bool facts_error_is(const struct facts *facts, const char *type)
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

/*
 * Whether the message is about this errno.  Runtimes write "[Errno 24] ...", "EMFILE: ..." or "...:
 * Too many open files".
 */
bool facts_say_errno(const struct facts *facts, int number)
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

/* Whether the message says that this signal ended a child process. */
bool facts_say_signal(const struct facts *facts, int number)
{
	const char *message = value_as_text(value_get(facts->error, "message"));

	return message && strstr(message, sigdescr_np(number));
}

/* Whether a runtime reports that it could not start another process or thread. */
bool facts_say_no_process(const struct facts *facts)
{
	const char *message = value_as_text(value_get(facts->error, "message"));

	return facts_error_is(facts, "BlockingIOError") ||
	       (facts_error_is(facts, "RuntimeError") && message &&
		       !strcmp(message, "can't start new thread"));
}

bool facts_say_refused(const struct facts *facts)
{
	return facts->is_later && facts->done && !facts->began && facts->error &&
	       !facts->error_is_syntax;
}

bool facts_say_no_space(const struct facts *facts)
{
	static const char *const phrases[] = {
		"No space left on device", "ENOSPC",
		"disk is full",    /* SQLite: "database or disk is full" */
		" requested and ", /* numpy: "1000 requested and 0 written" */
	};
	const char *message = value_as_text(value_get(facts->error, "message"));

	for (size_t i = 0; message && i < COUNT_OF(phrases); i++)
		if (strstr(message, phrases[i]))
			return true;
	return false;
}

const struct slotmsg_refused *facts_ended_for(const struct facts *facts)
{
	for (size_t i = 0; i < facts->refused_count; i++)
		if (facts->refused[i].ended)
			return &facts->refused[i];
	return NULL;
}

void facts_fill_metrics(const struct facts *facts, struct job_metrics *metrics)
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
