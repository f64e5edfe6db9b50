#include "cli/commands/ocsf.h"

#include <string.h>

#include "cli/base/exits.h"
#include "proto/base/container.h"
#include "proto/fill.h"
#include "proto/version.h"

#define HASH_PREFIX "sha256:"

static const char *const severity_words[] = { "Unknown", "Informational", "Low", "Medium", "High" };

static const char *text_of(const struct value *map, const char *key)
{
	return value_as_text(value_get(map, key));
}

/* OCSF counts milliseconds. */
static void put_ms(struct fill *fill, const char *key, const struct value *us)
{
	if (value_is(us, VALUE_INT))
		fill_int(fill, key, us->integer / 1000);
}

static struct value *metadata(struct arena *arena, const struct value *record)
{
	struct fill product = fill_start(arena);
	struct fill fill = fill_start(arena);
	struct value *profiles = value_list(arena);

	fill_text(&product, "name", "ced");
	fill_text(&product, "vendor_name", "ced");
	fill_text(&product, "version", CED_VERSION);
	value_list_add(arena, profiles, value_text(arena, "security_control"));
	fill_text(&fill, "version", "1.3.0");
	fill_value(&fill, "product", fill_done(&product));
	fill_value(&fill, "profiles", profiles);
	fill_optional_text(&fill, "uid", text_of(record, "run_id"));
	return fill_done(&fill);
}

static struct value *device(struct arena *arena)
{
	struct fill os = fill_start(arena);
	struct fill fill = fill_start(arena);

	fill_text(&os, "name", "Linux");
	fill_int(&os, "type_id", 200);
	fill_int(&fill, "type_id", 0);
	fill_value(&fill, "os", fill_done(&os));
	return fill_done(&fill);
}

/* A uid is text there. */
static struct value *user_of(struct arena *arena, const struct value *uid)
{
	struct fill fill = fill_start(arena);

	if (value_is(uid, VALUE_INT))
		fill_text(&fill, "uid", arena_printf(arena, "%lld", (long long)uid->integer));
	return fill_done(&fill);
}

static struct value *actor(struct arena *arena, const struct value *record)
{
	const struct value *caller = value_get(record, "caller");
	struct fill caller_process = fill_start(arena);
	struct fill fill = fill_start(arena);

	fill_shared(&caller_process, "pid", value_get(caller, "pid"));
	fill_value(&fill, "user", user_of(arena, value_get(caller, "uid")));
	fill_value(&fill, "process", fill_done(&caller_process));
	fill_optional_text(&fill, "app_name", text_of(value_get(record, "request"), "agent"));
	return fill_done(&fill);
}

static struct value *hashes(struct arena *arena, const char *code_hash)
{
	struct value *list = value_list(arena);
	struct fill fill = fill_start(arena);

	fill_int(&fill, "algorithm_id", 3);
	fill_text(&fill, "algorithm", "SHA-256");
	fill_text(&fill, "value", code_hash + strlen(HASH_PREFIX));
	value_list_add(arena, list, fill_done(&fill));
	return list;
}

static struct value *process(struct arena *arena, const struct value *record)
{
	const struct value *request = value_get(record, "request");
	const char *name = text_of(request, "entrypoint");
	const char *code_hash = text_of(record, "code_hash");
	struct fill file = fill_start(arena);
	struct fill fill = fill_start(arena);

	fill_text(&file, "name", name);
	fill_int(&file, "type_id", 1);
	if (code_hash && strncmp(code_hash, HASH_PREFIX, strlen(HASH_PREFIX)) == 0)
		fill_value(&file, "hashes", hashes(arena, code_hash));
	fill_text(&fill, "name", name);
	fill_optional_text(&fill, "uid", text_of(record, "run_id"));
	fill_value(&fill, "file", fill_done(&file));
	put_ms(&fill, "created_time", value_get(record, "received_us"));
	return fill_done(&fill);
}

static void put_policy(struct fill *fill, const struct value *policy)
{
	struct fill inner = fill_start(fill->arena);

	if (!value_is(policy, VALUE_MAP))
		return;
	fill_optional_text(&inner, "name", text_of(policy, "name"));
	fill_optional_text(&inner, "uid", text_of(policy, "digest"));
	fill_value(fill, "policy", fill_done(&inner));
}

static void put_class(struct fill *fill)
{
	fill_int(fill, "category_uid", 1);
	fill_text(fill, "category_name", "System Activity");
	fill_int(fill, "class_uid", 1007);
	fill_text(fill, "class_name", "Process Activity");
	fill_int(fill, "activity_id", 1);
	fill_text(fill, "activity_name", "Launch");
	fill_int(fill, "type_uid", 100701);
	fill_text(fill, "type_name", "Process Activity: Launch");
}

static void put_verdict(struct fill *fill, const struct value *record)
{
	const char *outcome = text_of(record, "outcome");
	bool ok = value_as_bool(value_get(record, "ok"), false);
	const struct outcome_facts *facts = outcome_facts(outcome);
	enum severity severity = facts->severity;
	bool blocked = facts->blocked;

	fill_int(fill, "severity_id", severity);
	fill_text(fill, "severity", severity_words[severity]);
	fill_int(fill, "status_id", outcome ? ok ? 1 : 2 : 0);
	fill_text(fill, "status", outcome ? ok ? "Success" : "Failure" : "Unknown");
	fill_optional_text(fill, "status_code", outcome);
	fill_optional_text(fill, "status_detail", text_of(record, "reason"));
	fill_int(fill, "action_id", blocked ? 2 : 1);
	fill_text(fill, "action", blocked ? "Denied" : "Allowed");
	fill_int(fill, "disposition_id", blocked ? 2 : 1);
	fill_text(fill, "disposition", blocked ? "Blocked" : "Allowed");
}

/* Keys for which OCSF has no place. */
static struct value *unmapped(struct arena *arena, const struct value *record)
{
	static const char *const of_record[] = { "ran", "replay_of", "input_hash", "metrics",
		"runtime", "evidence", "refused_calls", "stdout_bytes", "stderr_bytes" };
	static const char *const of_request[] = { "language", "task", "labels", "limits" };
	const struct value *request = value_get(record, "request");
	struct fill fill = fill_start(arena);

	for (size_t i = 0; i < COUNT_OF(of_record); i++)
		fill_shared(&fill, of_record[i], value_get(record, of_record[i]));
	for (size_t i = 0; i < COUNT_OF(of_request); i++)
		fill_shared(&fill, of_request[i], value_get(request, of_request[i]));
	fill_shared(&fill, "findings", value_get(value_get(record, "policy"), "findings"));
	return fill_done(&fill);
}

struct value *ocsf_event(struct arena *arena, const struct value *record)
{
	struct fill fill = fill_start(arena);

	put_class(&fill);
	put_ms(&fill, "time", value_get(record, "received_us"));
	put_ms(&fill, "start_time", value_get(record, "received_us"));
	put_ms(&fill, "end_time", value_get(record, "ended_us"));
	put_ms(&fill, "duration", value_get(value_get(record, "metrics"), "total_us"));
	put_verdict(&fill, record);
	fill_value(&fill, "metadata", metadata(arena, record));
	fill_value(&fill, "device", device(arena));
	fill_value(&fill, "actor", actor(arena, record));
	fill_value(&fill, "process", process(arena, record));
	put_policy(&fill, value_get(record, "policy"));
	fill_value(&fill, "unmapped", unmapped(arena, record));
	return fill_done(&fill);
}
