#include "daemon/runs/job_body.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "proto/base/buf.h"
#include "proto/base/cleanup.h"
#include "proto/base/fdio.h"
#include "proto/internal/slotmsg.h"
#include "proto/json.h"

#define GLOBS_BYTES_MAX ((size_t)1 << 20)
#define SUFFIX_MAX      8

/* OpenBLAS reserves most for a thread: 128 MiB, its stack and a heap of its own. */
#define THREAD_BYTES ((uint64_t)192 << 20)

/* ---- tools ---------------------------------------------------------------------------------- */

static struct value *names_of(struct arena *arena, const struct value *params)
{
	struct value *names = value_list(arena);

	for (size_t i = 0; value_is(params, VALUE_MAP) && i < params->map.count; i++)
		value_list_add(arena, names,
			value_text_len(
				arena, params->map.entries[i].key, params->map.entries[i].key_len));
	return names;
}

struct bytes job_tools_text(struct arena *arena, const struct job_spec *spec)
{
	struct bytes text = { NULL, 0 };
	struct value *map;
	struct value *tools;

	if (!spec->tool_count)
		return text;
	map = value_map(arena);
	tools = value_list(arena);
	for (size_t i = 0; i < spec->tool_count; i++) {
		struct value *tool = value_list(arena);

		value_list_add(arena, tool, value_text(arena, spec->tools[i].name));
		value_list_add(arena, tool, names_of(arena, spec->tools[i].params));
		value_list_add(arena, tools, tool);
	}
	value_map_put(arena, map, "as", value_text(arena, tools_as_word(spec->tools_as)));
	value_map_put(arena, map, "calls", value_uint(arena, spec->limits.calls));
	value_map_put(arena, map, "bytes", value_uint(arena, spec->limits.call_bytes));
	value_map_put(arena, map, "tools", tools);
	if (!map || json_write_text(
			    arena, map, JSON_WRITE_COMPACT, SLOTMSG_REPORT_MAX, &text, NULL) < 0)
		text = (struct bytes){ NULL, 0 };
	return text;
}

/* ---- the body ------------------------------------------------------------------------------- */

/* Whether stdin is part of the body. */
static bool holds_stdin(const struct job_spec *spec, struct job_extras extras)
{
	return spec->has_input && extras.stdin_inline;
}

/* A program, with the name under which its errors are reported. */
struct named_job {
	const struct job_spec *spec;
	struct job_extras extras;
	const char *name;
	char cell_name[JOB_CELL_NAME_MAX];
};

void job_name_cell(const struct job_spec *spec, uint64_t cell, char ret_name[JOB_CELL_NAME_MAX])
{
	const char *suffix = strrchr(spec->entrypoint, '.');

	cut_printf(ret_name, JOB_CELL_NAME_MAX, "cell-%" PRIu64 "%.*s", cell, SUFFIX_MAX,
		suffix ? suffix : "");
}

static void name_job(struct named_job *job)
{
	job->name = job->spec->entrypoint;
	if (!job->extras.cell)
		return;
	job_name_cell(job->spec, job->extras.cell, job->cell_name);
	job->name = job->cell_name;
}

static size_t body_size(const struct named_job *job)
{
	const struct job_spec *spec = job->spec;
	const struct job_extras extras = job->extras;
	size_t size = sizeof(struct job_head) + sizeof(struct job_body) + spec->code.len +
		      strlen(job->name) + extras.rules.len + extras.tools.len;

	for (size_t i = 0; i < spec->arg_count; i++)
		size += sizeof(uint32_t) + spec->args[i].len;
	for (size_t i = 0; i < spec->env_count; i++)
		size += sizeof(uint32_t) + strlen(spec->env[i].key) + 1 + spec->env[i].value.len;
	for (size_t i = 0; i < extras.package_count; i++)
		size += sizeof(uint32_t) + strlen(extras.packages[i]);
	for (size_t i = 0; i < spec->file_count; i++)
		size += sizeof(struct job_file) + strlen(spec->files[i].path) +
			spec->files[i].data.len;
	if (holds_stdin(spec, extras))
		size += sizeof(uint64_t) + spec->input.len;
	return size;
}

/*
 * Returns how many processors the job may use.  A numeric library that cannot reserve memory for
 * one of its threads retries forever.  So where reserved memory counts, each processor needs room
 * for a thread.
 */
static uint64_t processors_of(const struct job_spec *spec, struct job_extras extras)
{
	uint64_t wanted = (spec->limits.cpu_percent + 99) / 100;
	uint64_t fitting = 1 + spec->limits.memory_bytes / THREAD_BYTES;

	return extras.reserved_counts && fitting < wanted ? fitting : wanted;
}

static uint32_t flags_of(const struct job_spec *spec, struct job_extras extras)
{
	uint64_t processors = processors_of(spec, extras);
	uint32_t flags = spec->deterministic ? JOB_FLAG_DETERMINISTIC : 0;

	flags |= extras.gate ? JOB_FLAG_GATE : 0;
	flags |= JOB_PACKAGES(extras.package_count);
	flags |= extras.cell ? JOB_FLAG_SESSION : 0;
	flags |= spec->display ? JOB_FLAG_DISPLAY : 0;
	flags |= spec->network ? JOB_FLAG_NETWORK : 0;
	return processors > 1 ? flags | JOB_PROCESSORS(processors < 255 ? processors : 255) : flags;
}

static enum job_stdin stdin_of(const struct job_spec *spec, struct job_extras extras)
{
	if (!spec->has_input)
		return JOB_STDIN_NONE;
	return extras.stdin_inline ? JOB_STDIN_INLINE : JOB_STDIN_FD;
}

static struct job_body parts_of(const struct named_job *job)
{
	const struct job_spec *spec = job->spec;
	const struct job_extras extras = job->extras;

	return (struct job_body){ .code_len = (uint32_t)spec->code.len,
		.entrypoint_len = (uint32_t)strlen(job->name),
		.arg_count = (uint32_t)spec->arg_count,
		.env_count = (uint32_t)spec->env_count,
		.file_count = (uint32_t)spec->file_count,
		.has_stdin = stdin_of(spec, extras),
		.flags = flags_of(spec, extras),
		.rules_len = (uint32_t)extras.rules.len,
		.tools_len = (uint32_t)extras.tools.len,
		.turn = extras.turn };
}

static void append_args(struct buf *body, const struct job_spec *spec)
{
	for (size_t i = 0; i < spec->arg_count; i++) {
		uint32_t len = (uint32_t)spec->args[i].len;

		(void)buf_append(body, &len, sizeof(len));
		(void)buf_append(body, spec->args[i].data, len);
	}
}

static void append_env(struct buf *body, const struct job_spec *spec)
{
	for (size_t i = 0; i < spec->env_count; i++) {
		const struct job_pair *pair = &spec->env[i];
		uint32_t len = (uint32_t)(strlen(pair->key) + 1 + pair->value.len);

		(void)buf_append(body, &len, sizeof(len));
		(void)buf_printf(body, "%s=", pair->key);
		(void)buf_append(body, pair->value.data, pair->value.len);
	}
}

static void append_packages(struct buf *body, struct job_extras extras)
{
	for (size_t i = 0; i < extras.package_count; i++) {
		uint32_t len = (uint32_t)strlen(extras.packages[i]);

		(void)buf_append(body, &len, sizeof(len));
		(void)buf_append(body, extras.packages[i], len);
	}
}

static void append_files(struct buf *body, const struct job_spec *spec)
{
	for (size_t i = 0; i < spec->file_count; i++) {
		const struct job_input_file *file = &spec->files[i];
		struct job_file head = { .path_len = (uint32_t)strlen(file->path),
			.mode = file->mode,
			.data_len = file->data.len };

		(void)buf_append(body, &head, sizeof(head));
		(void)buf_append(body, file->path, head.path_len);
		(void)buf_append(body, file->data.data, file->data.len);
	}
}

static void append_stdin(struct buf *body, const struct job_spec *spec)
{
	uint64_t len = spec->input.len;

	(void)buf_append(body, &len, sizeof(len));
	(void)buf_append(body, spec->input.data, spec->input.len);
}

char *job_body_write(const struct job_spec *spec, struct job_extras extras, size_t *ret_len)
{
	struct named_job job = { .spec = spec, .extras = extras };
	struct job_head head = { .magic = SLOTMSG_MAGIC,
		.kind = extras.next_cell ? JOB_CELL : JOB_START };
	struct job_body parts;
	struct buf body;
	size_t size;

	name_job(&job);
	parts = parts_of(&job);
	size = body_size(&job);
	if (size > SLOTMSG_BODY_MAX)
		return NULL;
	buf_init(&body, size);
	if (buf_reserve(&body, size) < 0)
		return NULL;
	/* The buffer has room for everything, so the appends below cannot fail. */
	head.len = (uint32_t)(size - sizeof(head));
	(void)buf_append(&body, &head, sizeof(head));
	(void)buf_append(&body, &parts, sizeof(parts));
	(void)buf_append(&body, spec->code.data, spec->code.len);
	(void)buf_append(&body, job.name, parts.entrypoint_len);
	(void)buf_append(&body, extras.rules.data, extras.rules.len);
	(void)buf_append(&body, extras.tools.data, extras.tools.len);
	append_args(&body, spec);
	append_env(&body, spec);
	append_packages(&body, extras);
	append_files(&body, spec);
	if (holds_stdin(spec, extras))
		append_stdin(&body, spec);
	return buf_take(&body, ret_len);
}

/* ---- files beside it ------------------------------------------------------------------------ */

static int sealed_file(const char *name, const char *bytes, size_t len, struct err *err)
{
	auto_fd int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0)
		return err_sys(err, "memfd_create");
	if (write_all(fd, bytes, len, err) < 0)
		return -1;
	if (lseek(fd, 0, SEEK_SET) < 0 ||
		fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) <
			0)
		return err_sys(err, "sealing %s", name);
	return take_fd(&fd);
}

int job_stdin_file(const struct job_spec *spec, struct err *err)
{
	return sealed_file("stdin", spec->input.data, spec->input.len, err);
}

int job_globs_file(const struct job_spec *spec, struct err *err)
{
	struct buf text;
	int fd;

	buf_init(&text, GLOBS_BYTES_MAX);
	for (size_t i = 0; i < spec->artifact_glob_count; i++) {
		(void)buf_append_text(&text, spec->artifact_globs[i]);
		(void)buf_append_byte(&text, 0);
	}
	fd = sealed_file("globs", text.bytes ? text.bytes : "", text.len, err);
	buf_done(&text);
	return fd;
}
