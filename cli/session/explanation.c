/* cectl explain: the sentences, how their holes are filled, and the command. */
#include "cli/session/explanation.h"

#include <string.h>

#include "cli/session/page.h"
#include "proto/base/buf.h"
#include "proto/base/container.h"
#include "proto/jail_network.h"

/* ---- conditions ------------------------------------------------------------------------------ */

/* The value under "a.b.c" of the record. */
static const struct value *value_under(const struct value *record, const char *path, size_t len)
{
	for (size_t part = 0; part < len; part++) {
		const char *dot = memchr(path + part, '.', len - part);
		size_t part_len = dot ? (size_t)(dot - path) - part : len - part;

		record = value_get_len(record, path + part, part_len);
		part += part_len;
	}
	return record;
}

static bool has_word(const struct value *value, bool anywhere, const char *words, size_t len)
{
	const char *text = value_as_text(value);

	for (size_t at = 0; text && at < len; at++) {
		const char *bar = memchr(words + at, '|', len - at);
		size_t word_len = bar ? (size_t)(bar - words) - at : len - at;

		if (anywhere ? memmem(text, strlen(text), words + at, word_len) != NULL
			     : strlen(text) == word_len && !memcmp(text, words + at, word_len))
			return true;
		at += word_len;
	}
	return false;
}

#define WAITED "(waited)" /* a clause of its own */

/* Less than half of the time on a processor: it waited for something. */
static bool mostly_waited(const struct value *record)
{
	const struct value *evidence = value_get(record, "evidence");

	return page_int(evidence, "cpu_ms") * 2 < page_int(evidence, "limit_ms");
}

static bool clause_holds(const struct value *record, const char *clause, size_t len)
{
	bool opposite = clause[0] == '!';
	const char *path = clause + opposite;
	const char *end = clause + len;
	size_t path_len = strcspn(path, "=~ ");
	const char *words = path + path_len + 1;
	const struct value *value = value_under(record, path, path_len);
	bool holds = !strncmp(path, WAITED, path_len) ? mostly_waited(record)
		     : words >= end
			     ? value && !value_is(value, VALUE_NIL) &&
				       !(value_is(value, VALUE_INT) && !value_as_int(value, 0))
			     : has_word(value, words[-1] == '~', words, (size_t)(end - words));

	return holds != opposite;
}

static bool condition_holds(const struct value *record, const char *when)
{
	bool group = true;

	for (;;) {
		const char *next_and = strstr(when, " && ");
		const char *next_or = strstr(when, " || ");
		bool ends_group = !next_and || (next_or && next_or < next_and);
		const char *end = ends_group ? next_or : next_and;

		group = group &&
			clause_holds(record, when, end ? (size_t)(end - when) : strlen(when));
		if (!end || (ends_group && group))
			return group;
		group = group || ends_group;
		when = end + strlen(" && ");
	}
}

/* ---- the sentences --------------------------------------------------------------------------- */

#define HAPPENED EXPLAIN_HAPPENED
#define KNOWN    EXPLAIN_KNOWN
#define CHANGE   EXPLAIN_CHANGE

#define NO_MODULE "error.type=ModuleNotFoundError|ImportError"
#define NO_NETWORK                                                             \
	"!connections && error.message~" JAIL_NO_NET "|Network is unreachable" \
	" || stderr~" JAIL_NO_NET
#define NAMED_ONLY                                                                \
	"connections && error.message~" JAIL_NAMED_ONLY "|Network is unreachable" \
	" || stderr~" JAIL_NAMED_ONLY
#define NO_SUCH_WAY JAIL_NO_NET "|" JAIL_NAMED_ONLY
#define OF_LINE                                                               \
	"error.line && !error.message~" NO_SUCH_WAY "|Network is unreachable" \
	" && !stderr~" NO_SUCH_WAY

// clang-format off
const struct explain_text explain_texts[] = {
	{ NULL, HAPPENED, NULL, "{reason}" }, /* by the rule in daemon/runs/outcome.c that found the outcome */
	{ NULL, HAPPENED, "!outcome", "The run has not ended; its timeline and its use of resources are recorded at the end." },
	{ NULL, CHANGE, "!outcome", "Wait for it: cectl wait {run_id}" },

	{ "ok", KNOWN, NULL, "It took {metrics.total_us} in all and at most {metrics.memory_peak_bytes} of memory." },
	{ "ok", CHANGE, NULL, "Nothing." },

	{ "exit", KNOWN, NULL, "It broke no limit, and no exception was left uncaught." },
	{ "exit", CHANGE, NO_NETWORK, "There is no network inside, unless the run asks for hosts (--allow-host) that the settings allow: fetch the data first and send it with the run, in files or stdin." },
	{ "exit", CHANGE, NAMED_ONLY, "Ask for each host that it needs by its name and port (network.allow, cectl run --allow-host), if the settings allow it." },
	{ "exit", CHANGE, NULL, "What it printed may say why: cectl output {run_id} --stream stderr" },

	{ "exception", KNOWN, NULL, "It was raised at line {error.line}: {error.text}" },
	{ "exception", KNOWN, OF_LINE " && error.file", "It was raised at line {error.line} of {error.file}." },
	{ "exception", CHANGE, NO_MODULE "|FileNotFoundError && reason~: run it with ", "{reason}." },
	{ "exception", CHANGE, NO_MODULE, "Modules are those of the runtime (cectl runtimes), those of the package sets that the run names (cectl packages list, cectl run --packages), and files that come with the run; nothing can be installed from inside." },
	{ "exception", CHANGE, "error.type=FileNotFoundError", "Only files that come with the run, and what the program writes, are in /work." },
	{ "exception", CHANGE, "error.type=PermissionError || error.message~Read-only file system", "Only /work and /tmp can be written; starting other programs is not permitted." },
	{ "exception", CHANGE, NO_NETWORK, "There is no network inside, unless the run asks for hosts (--allow-host) that the settings allow: fetch the data first and send it with the run, in files or stdin." },
	{ "exception", CHANGE, NAMED_ONLY, "Ask for each host that it needs by its name and port (network.allow, cectl run --allow-host), if the settings allow it." },
	{ "exception", CHANGE, "error.type=RecursionError", "It calls itself without end, or too deeply: use a loop with a list instead." },
	{ "exception", CHANGE, "error.type=EOFError", "It reads more than it was given: stdin or input comes with the run." },
	{ "exception", CHANGE, OF_LINE " && error.file", "Change line {error.line} of {error.file}, or catch {error.type} there." },
	{ "exception", CHANGE, OF_LINE " && !error.file", "Change line {error.line}, or catch {error.type} there." },

	{ "syntax_error", KNOWN, NULL, "Line {error.line}, column {error.column}: {error.text}" },
	{ "syntax_error", KNOWN, NULL, "None of its code ran." },
	{ "syntax_error", CHANGE, NULL, "Correct line {error.line}. The language is {request.language}, {runtime.version}." },

	{ "signal", KNOWN, NULL, "The kernel reported it; the daemon did not send that signal." },
	{ "signal", CHANGE, "evidence.signal=SIGSEGV|SIGBUS|SIGABRT", "The interpreter itself or a native module crashed: look for ctypes, a very deep recursion, or a broken extension." },
	{ "signal", CHANGE, NULL, "If the program sends signals to itself, remove that." },

	{ "wall_limit", KNOWN, NULL, "Until then it had used {evidence.cpu_ms} of cpu time." },
	{ "wall_limit", CHANGE, "evidence.limit=calls_ms", "Its client answered too slowly, or the program called too often. Ask for more: limits.calls_ms." },
	{ "wall_limit", CHANGE, WAITED " && evidence.limit=wall_ms", "It mostly waited: for input, in sleep, or for a lock. Remove the wait." },
	{ "wall_limit", CHANGE, "!" WAITED " && evidence.limit=wall_ms", "It was busy all the time: do less in one run, or find the loop that has no end." },
	{ "wall_limit", CHANGE, "evidence.limit=wall_ms", "If it needs that long, ask for more: limits.wall_ms (cectl run --limit wall=...)." },

	{ "cpu_limit", KNOWN, NULL, "All its threads and processes together used {evidence.used_ms}." },
	{ "cpu_limit", CHANGE, NULL, "Do less in one run, or ask for more: limits.cpu_ms (cectl run --limit cpu=...)." },

	{ "memory_limit", KNOWN, NULL, "Out-of-memory kills of the kernel: {evidence.oom_kills}; the peak was {evidence.peak_bytes}." },
	{ "memory_limit", CHANGE, NULL, "Work on the data piece by piece. Files under /work and /tmp count as memory." },
	{ "memory_limit", CHANGE, NULL, "If it needs that much, ask for more: limits.memory_bytes (cectl run --limit memory=...)." },

	{ "disk_limit", KNOWN, NULL, "It had written {evidence.used_bytes} of {evidence.limit_bytes}, in {evidence.used_inodes} of {evidence.limit_inodes} files and folders." },
	{ "disk_limit", CHANGE, NULL, "Remove what is no longer needed, or ask for more: limits.disk_bytes, limits.file_bytes, limits.inodes." },

	{ "output_limit", KNOWN, NULL, "The kill was sent {evidence.kill_us} after that byte was read." },
	{ "output_limit", CHANGE, NULL, "Print a summary instead of everything, or write a file and ask for it as an artifact." },
	{ "output_limit", CHANGE, NULL, "To keep the beginning and the end without a kill: on_output_limit \"truncate\"." },

	{ "pids_limit", KNOWN, NULL, "Refused by the kernel: {evidence.refused} of them." },
	{ "pids_limit", CHANGE, NULL, "Use a pool of a few workers; one thread for each item is rarely faster." },

	{ "syscall_denied", KNOWN, NULL, "The call was {evidence.syscall.name}, number {evidence.syscall.nr}." },
	{ "syscall_denied", KNOWN, NULL, "The filter of its jail killed it with {evidence.signal}." },
	{ "syscall_denied", CHANGE, NULL, "Look for ctypes, inline assembly or a native module that talks to the kernel itself." },

	{ "output_invalid", CHANGE, NULL, "Print exactly one JSON document that satisfies the schema, and nothing else, to stdout; notes go to stderr." },

	{ "budget_exceeded", KNOWN, NULL, "None of its code ran. The daemon counts what users, their agents and their tasks spend." },
	{ "budget_exceeded", CHANGE, NULL, "Wait as long as the reason says; cectl budgets shows what was spent. An administrator can reset it: cectl budgets reset." },
	{ "policy_denied", KNOWN, "!ran=yes", "None of its code ran." },
	{ "policy_denied", KNOWN, "ran=yes", "Its effects before that remain." },
	{ "policy_denied", CHANGE, NULL, "cectl check FILE --policy {policy.name} shows the verdict before a run." },

	{ "approval_denied", KNOWN, NULL, "The policy {policy.name} asks a person about such programs; uid {approval.by} said no (act {approval.act})." },
	{ "approval_denied", KNOWN, NULL, "None of its code ran." },
	{ "approval_denied", CHANGE, NULL, "Avoid what the policy asks about, or talk to the approver." },

	{ "approval_expired", KNOWN, NULL, "None of its code ran." },
	{ "approval_expired", CHANGE, NULL, "Avoid what the policy asks about, or have an approver look at cectl approvals in time." },

	{ NULL, KNOWN, "approval.decision=approved", "The policy asks a person about such programs; uid {approval.by} let it run (act {approval.act})." },
	{ NULL, HAPPENED, "state=parked", "It waits for a person's approval; none of its code has run." },
	{ NULL, CHANGE, "state=parked", "An approver decides with cectl approve or cectl deny; cectl cancel cancels the run." },

	{ "canceled", KNOWN, "ran=no", "None of its code had run." },
	{ "canceled", KNOWN, "!ran=no", "A part of it may have run." },
	{ "canceled", CHANGE, NULL, "Nothing in the program. Use detach for a run that continues without its client." },

	{ "busy", KNOWN, NULL, "None of its code ran. The daemon is healthy and has more work than workers." },
	{ "busy", CHANGE, NULL, "Nothing in the program: send it again later. cectl status shows how many runs wait; an administrator can raise workers_max or queue_ms." },

	{ "sandbox_error", KNOWN, "ran=no", "None of its code ran." },
	{ "sandbox_error", KNOWN, "!ran=no", "Some of its code may have run." },
	{ "sandbox_error", CHANGE, "ran=no", "It can be sent again as it is." },
	{ "sandbox_error", CHANGE, "!ran=no", "It can be sent again if running it twice does no harm." },
	{ "sandbox_error", CHANGE, NULL, "If it happens again: cectl status, and the log of the service." },

	{ "lost", KNOWN, NULL, "When the daemon started again, the disk held its beginning and not its end." },
	{ "lost", CHANGE, NULL, "It can be sent again if running it twice does no harm, with another id where it had one." },

	{ "refused", KNOWN, NULL, "None of its code ran." },
	{ "refused", CHANGE, NULL, "Correct the request; the contract is in docs/PROTOCOL.md." },

	{ NULL, 0, NULL, NULL },
};
// clang-format on

#define SENTENCE_MAX 4096U

/* Numbers that name something; those that count have their thousands apart. */
static bool is_name(const char *key, size_t len)
{
	static const char *const keys[] = { "by", "act", "uid" };

	for (size_t i = 0; i < COUNT_OF(keys); i++) {
		if (strlen(keys[i]) == len && memcmp(keys[i], key, len) == 0)
			return true;
	}
	return false;
}

/* The value under "a.b.c" of the record, with the unit that its name ends with; "" for none. */
static const char *shown_under(
	struct cli *cli, const struct value *record, const char *path, size_t len)
{
	const struct value *value = value_under(record, path, len);
	const char *dot = memrchr(path, '.', len);
	const char *name = dot ? dot + 1 : path;
	size_t name_len = len - (size_t)(name - path);

	if ((value_is(value, VALUE_INT) || value_is(value, VALUE_UINT)) && !is_name(name, name_len))
		return page_number(cli, arena_copy(&cli->arena, name, name_len), value);
	return output_text(&cli->arena, value);
}

/* Fills the holes of a text.  NULL when the record has nothing for one of them. */
static const char *explain_fill(struct cli *cli, const struct value *record, const char *text)
{
	__attribute__((cleanup(buf_done))) struct buf sentence;

	buf_init(&sentence, SENTENCE_MAX);
	while (*text) {
		size_t plain = strcspn(text, "{");
		const char *end = strchr(text + plain, '}');
		const char *found;

		(void)buf_append(&sentence, text, plain); /* past the ceiling: what fits */
		if (!text[plain] || !end)
			break;
		found = shown_under(
			cli, record, text + plain + 1, (size_t)(end - text) - plain - 1);
		if (!found[0])
			return NULL;
		(void)buf_append_text(&sentence, found);
		text = end + 1;
	}
	return arena_copy(&cli->arena, sentence.bytes ? sentence.bytes : "", sentence.len);
}

static void explain_add(
	struct explanation *explanation, enum explain_part part, const char *sentence)
{
	if (sentence && explanation->counts[part] < EXPLAIN_SENTENCES_MAX)
		explanation->sentences[part][explanation->counts[part]++] = sentence;
}

/* The limit that it broke, as it was in force. */
static void add_limit(struct cli *cli, const struct value *record, struct explanation *explanation)
{
	const char *limit = page_text(cli, value_get(record, "evidence"), "limit");
	const struct value *limits = value_get(record, "limits");
	const char *holder = page_text(cli, value_get(limits, "enforced_by"), limit);
	const struct value *number = value_get(limits, limit);

	if (limit[0] && number && holder[0])
		explain_add(explanation, EXPLAIN_KNOWN,
			arena_printf(&cli->arena, "%s was limited to %s, held by: %s.", limit,
				page_number(cli, limit, number), holder));
}

/* The findings of a policy; where it refused, with its hints. */
static void add_findings(
	struct cli *cli, const struct value *record, struct explanation *explanation)
{
	const struct value *policy = value_get(record, "policy");
	const struct value *findings = value_get(policy, "findings");
	bool denied = strcmp(page_text(cli, policy, "decision"), "deny") == 0;
	bool asked = strcmp(page_text(cli, policy, "decision"), "ask") == 0;
	const char *before = denied  ? ""
			     : asked ? "The policy found: "
				     : "The policy let pass and noted: ";

	for (size_t i = 0; value_at(findings, i); i++) {
		const struct value *finding = value_at(findings, i);
		const char *hint = page_text(cli, finding, "hint");
		const char *path = page_text(cli, finding, "path");

		explain_add(explanation, EXPLAIN_KNOWN,
			arena_printf(&cli->arena, "%s%s%sline %s, column %s: %s (%s)", before, path,
				path[0] ? ", " : "", page_text(cli, finding, "line"),
				page_text(cli, finding, "column"),
				page_text(cli, finding, "message"),
				page_text(cli, finding, "rule")));
		if (denied && hint[0])
			explain_add(explanation, EXPLAIN_CHANGE,
				arena_printf(&cli->arena, "line %s: %s",
					page_text(cli, finding, "line"), hint));
	}
}

/* System calls that were refused before the run ended. */
static void add_refused(
	struct cli *cli, const struct value *record, struct explanation *explanation)
{
	const struct value *calls = value_get(record, "refused_calls");

	for (size_t i = 0; value_at(calls, i); i++)
		explain_add(explanation, EXPLAIN_KNOWN,
			arena_printf(&cli->arena, "It %s.", page_refused(cli, value_at(calls, i))));
}

static void add_output_errors(
	struct cli *cli, const struct value *record, struct explanation *explanation)
{
	const struct value *errors = value_get(record, "output_errors");

	for (size_t i = 0; value_at(errors, i); i++) {
		const struct value *error = value_at(errors, i);
		const char *pointer = page_text(cli, error, "pointer");

		explain_add(explanation, EXPLAIN_KNOWN,
			arena_printf(&cli->arena, "%s %s (schema: %s)",
				pointer[0] ? pointer : "the whole output",
				page_text(cli, error, "message"),
				page_text(cli, error, "schema_pointer")));
	}
}

// clang-format off
static const struct {
	const char *why, *meaning, *change; /* change NULL: nothing to add */
} connection_whys[] = {
	{ "not_listed", "the run does not name this host and port", "Name each host and port that it needs (network.allow, cectl run --allow-host), and connect by that name." },
	{ "closed_address", "the name leads to an address that is closed to all runs", "An administrator can open a closed address: setting egress.private." },
	{ "name_not_found", "no server of names knows the name", "Correct the name. If it is right, an administrator lists servers that know it in the setting egress.resolvers; /etc/hosts of this host is not used." },
	{ "not_reached", "no server took the connection there", NULL },
	{ "not_tls", "the connection did not begin with TLS", NULL },
};
// clang-format on

/* The same advice only once. */
static void add_advice(struct explanation *explanation, const char *advice)
{
	for (size_t i = 0; i < explanation->counts[EXPLAIN_CHANGE]; i++)
		if (explanation->sentences[EXPLAIN_CHANGE][i] == advice)
			return;
	explain_add(explanation, EXPLAIN_CHANGE, advice);
}

static void add_connection(
	struct cli *cli, const struct value *row, bool advises, struct explanation *explanation)
{
	const char *why = page_text(cli, row, "why");
	const char *meaning = NULL;

	for (size_t i = 0; i < COUNT_OF(connection_whys); i++) {
		if (strcmp(connection_whys[i].why, why) != 0)
			continue;
		meaning = connection_whys[i].meaning;
		if (advises && connection_whys[i].change)
			add_advice(explanation, connection_whys[i].change);
	}
	if (why[0])
		explain_add(explanation, EXPLAIN_KNOWN,
			arena_printf(&cli->arena, "Connection to %s:%s: %s, %s%s%s.",
				page_text(cli, row, "host"), page_text(cli, row, "port"),
				page_text(cli, row, "verdict"), why, meaning ? ": " : "",
				meaning ? meaning : ""));
}

/* Connections that came to nothing; advice unless the program did without them. */
static void add_connections(
	struct cli *cli, const struct value *record, struct explanation *explanation)
{
	const struct value *rows = value_get(record, "connections");
	const bool advises = strcmp(page_text(cli, record, "outcome"), "ok") != 0;

	for (size_t i = 0; value_at(rows, i); i++)
		add_connection(cli, value_at(rows, i), advises, explanation);
}

/* Without evidence in the store, sentences about it would be guesses. */
static void explain_pruned(
	struct cli *cli, const struct value *record, struct explanation *explanation)
{
	explain_add(explanation, EXPLAIN_HAPPENED, explain_fill(cli, record, "{reason}"));
	explain_add(explanation, EXPLAIN_KNOWN,
		explain_fill(cli, record,
			"The contents of the run have left the store (act {pruned.act} of cectl acts), "
			"and the evidence with them."));
}

int explain(struct cli *cli, const struct value *record, struct explanation *ret_explanation)
{
	const char *outcome = page_text(cli, record, "outcome");

	*ret_explanation = (struct explanation){ .counts = { 0 } };
	if (value_is(value_get(record, "pruned"), VALUE_MAP)) {
		explain_pruned(cli, record, ret_explanation);
		return cli->arena.failed ? -1 : 0;
	}
	for (const struct explain_text *row = explain_texts; row->text; row++)
		if ((!row->outcome || strcmp(row->outcome, outcome) == 0) &&
			(!row->when || condition_holds(record, row->when)))
			explain_add(
				ret_explanation, row->part, explain_fill(cli, record, row->text));
	add_limit(cli, record, ret_explanation);
	add_findings(cli, record, ret_explanation);
	add_output_errors(cli, record, ret_explanation);
	add_refused(cli, record, ret_explanation);
	add_connections(cli, record, ret_explanation);
	return cli->arena.failed ? -1 : 0;
}
