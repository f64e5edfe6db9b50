#include "proto/job/job.h"

#include <string.h>

#include "proto/base/container.h"
#include "proto/digest.h"

_Static_assert(HASH_TEXT_LEN == DIGEST_TEXT_LEN, "a hash is a digest in text form");

/* Prefix of the hashed bytes, so that a later form never has the same hash by accident. */
#define INPUT_HASH_FORM "ced input 1\n"

static const char *const outcome_words[OUTCOME_COUNT] = {
	[OUTCOME_NONE] = "none",
	[OUTCOME_OK] = "ok",
	[OUTCOME_EXIT] = "exit",
	[OUTCOME_EXCEPTION] = "exception",
	[OUTCOME_SYNTAX_ERROR] = "syntax_error",
	[OUTCOME_SIGNAL] = "signal",
	[OUTCOME_WALL_LIMIT] = "wall_limit",
	[OUTCOME_CPU_LIMIT] = "cpu_limit",
	[OUTCOME_MEMORY_LIMIT] = "memory_limit",
	[OUTCOME_DISK_LIMIT] = "disk_limit",
	[OUTCOME_OUTPUT_LIMIT] = "output_limit",
	[OUTCOME_PIDS_LIMIT] = "pids_limit",
	[OUTCOME_SYSCALL_DENIED] = "syscall_denied",
	[OUTCOME_OUTPUT_INVALID] = "output_invalid",
	[OUTCOME_POLICY_DENIED] = "policy_denied",
	[OUTCOME_APPROVAL_DENIED] = "approval_denied",
	[OUTCOME_APPROVAL_EXPIRED] = "approval_expired",
	[OUTCOME_BUDGET_EXCEEDED] = "budget_exceeded",
	[OUTCOME_CANCELED] = "canceled",
	[OUTCOME_BUSY] = "busy",
	[OUTCOME_SANDBOX_ERROR] = "sandbox_error",
	[OUTCOME_LOST] = "lost",
	[OUTCOME_REFUSED] = "refused",
};

static const char *const ran_words[] = {
	[RAN_NO] = "no",
	[RAN_YES] = "yes",
	[RAN_UNKNOWN] = "unknown",
};

static const char *const tools_as_words[] = {
	[TOOLS_AS_MODULE] = "module",
	[TOOLS_AS_FUNCTIONS] = "functions",
	[TOOLS_AS_ASYNC] = "async",
};

static const char *const decision_words[] = {
	[POLICY_ALLOW] = "allow",
	[POLICY_OBSERVE] = "observe",
	[POLICY_ASK] = "ask",
	[POLICY_DENY] = "deny",
};

const char *outcome_word(enum outcome outcome)
{
	return (unsigned)outcome < OUTCOME_COUNT ? outcome_words[outcome] : "none";
}

enum outcome outcome_from_word(const char *word)
{
	for (unsigned i = OUTCOME_OK; word && i < OUTCOME_COUNT; i++) {
		if (strcmp(outcome_words[i], word) == 0)
			return (enum outcome)i;
	}
	return OUTCOME_NONE;
}

const char *ran_word(enum ran ran)
{
	return (unsigned)ran < COUNT_OF(ran_words) ? ran_words[ran] : "unknown";
}

const char *tools_as_word(enum job_tools_as as)
{
	return (unsigned)as < COUNT_OF(tools_as_words) ? tools_as_words[as] : "module";
}

const char *policy_decision_word(enum policy_decision decision)
{
	return (unsigned)decision < COUNT_OF(decision_words) ? decision_words[decision] : "deny";
}

bool outcome_is_fact(enum outcome outcome)
{
	return outcome == OUTCOME_OK || outcome == OUTCOME_EXIT || outcome == OUTCOME_EXCEPTION ||
	       outcome == OUTCOME_SYNTAX_ERROR;
}

bool job_result_is_spent(const struct job_result *result)
{
	return result->ran != RAN_NO || result->outcome == OUTCOME_SYNTAX_ERROR;
}

const char *const job_limit_names[JOB_LIMIT_COUNT] = {
#define JOB_LIMIT_NAME(name, meaning) #name,
	JOB_LIMITS(JOB_LIMIT_NAME)
#undef JOB_LIMIT_NAME
};

void job_limits_settle(struct job_limits *limits)
{
	if (limits->file_bytes > limits->disk_bytes)
		limits->file_bytes = limits->disk_bytes;
}

void job_code_hash(const struct job_spec *spec, char ret_text[HASH_TEXT_LEN + 1])
{
	digest_text_of(spec->code.data, spec->code.len, ret_text);
}

static void add_files(struct digest *digest, const struct job_spec *spec)
{
	digest_add_u64(digest, spec->file_count);
	for (size_t i = 0; i < spec->file_count; i++) {
		const struct job_input_file *file = &spec->files[i];

		digest_add_sized(digest, file->path, strlen(file->path));
		digest_add_u64(digest, file->mode);
		digest_add_sized(digest, file->data.data, file->data.len);
	}
}

static void add_env(struct digest *digest, const struct job_spec *spec)
{
	digest_add_u64(digest, spec->env_count);
	for (size_t i = 0; i < spec->env_count; i++) {
		digest_add_sized(digest, spec->env[i].key, strlen(spec->env[i].key));
		digest_add_sized(digest, spec->env[i].value.data, spec->env[i].value.len);
	}
}

void job_input_hash(const struct job_spec *spec, char ret_text[HASH_TEXT_LEN + 1])
{
	struct digest digest;

	digest_start(&digest);
	digest_add(&digest, INPUT_HASH_FORM, strlen(INPUT_HASH_FORM));
	digest_add_u64(&digest, spec->has_input);
	digest_add_sized(&digest, spec->input.data, spec->has_input ? spec->input.len : 0);
	add_files(&digest, spec);
	digest_add_u64(&digest, spec->arg_count);
	for (size_t i = 0; i < spec->arg_count; i++)
		digest_add_sized(&digest, spec->args[i].data, spec->args[i].len);
	add_env(&digest, spec);
	digest_end_text(&digest, ret_text);
}
