#include "daemon/request/worker_finding.h"

#include <string.h>

#include "daemon/services.h"
#include "daemon/workers/runtime.h"
#include "proto/base/container.h"
#include "proto/jail_dirs.h"

#define NUMBER_MAX (1 << 24)

/* Reads a number that a program may have forged; 0 means "unknown". */
static uint32_t forged_number(const struct value *denied, const char *key)
{
	int64_t number = value_as_int(value_get(denied, key), 0);

	return number > 0 && number < NUMBER_MAX ? (uint32_t)number : 0;
}

/* Converts a column in bytes to one in code points, for a line of the program. */
static uint32_t column_of(struct bytes code, uint32_t line, uint32_t byte_column)
{
	const char *at = code.data;
	const char *end = code.data + code.len;
	uint32_t column = 1;

	for (uint32_t i = 1; i < line && at; i++) {
		at = memchr(at, '\n', (size_t)(end - at));
		at = at ? at + 1 : NULL;
	}
	for (uint32_t i = 1; at && at < end && *at != '\n' && i < byte_column; i++, at++)
		column += ((unsigned char)*at & 0xc0) != 0x80;
	return byte_column ? column : 0;
}

/* Returns the path of the file, or NULL when it is the program itself. */
static const char *other_file(struct request *request, const char *file)
{
	static const char work[] = JAIL_WORK_DIR "/";
	const char *own = arena_printf(&request->arena, "%s%s", work, request->spec.entrypoint);

	if (!file || !file[0] || !own || strcmp(file, own) == 0)
		return NULL;
	return strncmp(file, work, strlen(work)) == 0 ? file + strlen(work) : file;
}

static bool fill_finding(
	struct request *request, const struct value *denied, struct policy_finding *finding)
{
	struct arena *arena = &request->arena;
	const char *file = other_file(request, value_as_text(value_get(denied, "file")));
	const char *text = value_as_text(value_get(denied, "text"));

	const char *rule = value_as_text(value_get(denied, "rule"));

	if (!rule || !policy_run_finding(request->policies, request->policy,
			     runtime_language(request->runtime), rule, finding))
		return false;
	finding->line = forged_number(denied, "line");
	finding->column = forged_number(denied, "column");
	if (!file)
		finding->column = column_of(request->spec.code, finding->line, finding->column);
	finding->text = text ? arena_printf(arena, "%.120s", text) : "";
	finding->message = arena_printf(arena, "%s%s%swhen it ran, %s", file ? "in " : "",
		file ? file : "", file ? ", " : "", finding->message);
	return finding->text && finding->message;
}

static void add_worker_finding(struct request *request, const struct policy_finding *finding)
{
	struct policy_verdict *verdict = &request->result.verdict;
	struct policy_finding *all =
		arena_array(&request->arena, struct policy_finding, verdict->finding_count + 1);

	verdict->decision = POLICY_DENY;
	if (!all)
		return;
	for (size_t i = 0; i < verdict->finding_count; i++)
		all[i] = verdict->findings[i];
	all[verdict->finding_count++] = *finding;
	verdict->findings = all;
}

void worker_finding_add(struct request *request, const struct facts *facts)
{
	struct policy_finding finding = { 0 };
	char where[32] = "";

	if (request->result.outcome != OUTCOME_POLICY_DENIED)
		return;
	if (!fill_finding(request, facts->denied, &finding)) {
		request->result.verdict.decision = POLICY_DENY;
		return;
	}
	add_worker_finding(request, &finding);
	if (finding.line)
		cut_printf(where, sizeof(where), ", line %u", finding.line);
	request->result.reason =
		arena_printf(&request->arena, "Policy %s ended the program: %s (rule %s%s).",
			request->result.verdict.name, finding.message, finding.rule, where);
	request_step(request, "policy.caught", "execute", false, finding.rule);
}
