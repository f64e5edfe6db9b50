#include "daemon/runs/artifacts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "daemon/runs/job_body.h"
#include "proto/base/cleanup.h"
#include "proto/base/container.h"
#include "proto/base/fdio.h"
#include "proto/base/log.h"
#include "proto/base/utf8.h"
#include "proto/digest.h"
#include "proto/internal/slotmsg.h"

#define HEADS_BYTES_MAX ((size_t)4 << 20) /* room for names and heads beside the files' bytes */
#define READ_BYTES      65536
#define PATH_LEN_MAX    4096
#define SKIPPED_MAX     256

#define QUOTED(text)  #text
#define TEXT_OF(text) QUOTED(text)

/* ---- collecting ------------------------------------------------------------------------------ */

static void on_bytes(void *owner, int events)
{
	struct artifacts *artifacts = owner;
	struct buf *bytes = &artifacts->bytes;
	ssize_t got = 0;

	(void)events;
	if (buf_reserve(bytes, READ_BYTES) < 0) {
		log_event(LOG_LEVEL_WARNING, "artifacts.too_many_bytes");
	} else {
		got = read(watch_fd(artifacts->pipe), bytes->bytes + bytes->len, READ_BYTES);
		if (got < 0 && (errno == EAGAIN || errno == EINTR))
			return;
	}
	if (got > 0) {
		bytes->len += (size_t)got;
		return;
	}
	artifacts_close(artifacts);
	if (!artifacts->asked)
		artifacts->on_end(artifacts->owner);
}

int artifacts_collect(struct artifacts *artifacts, struct worker *worker,
	const struct job_spec *spec, struct err *err)
{
	auto_fd int globs = job_globs_file(spec, err);
	auto_fd int write_end = -1;
	/*
	 * The program's own file may match a glob.  artifacts_read() leaves it out, so it must not
	 * use up room for the program's output files.
	 */
	const uint64_t bytes = spec->limits.artifact_bytes + spec->code.len;
	int ends[2];

	if (globs < 0)
		return -1;
	if (pipe2(ends, O_CLOEXEC) < 0)
		return err_sys(err, "pipe for artifacts");
	write_end = ends[1];
	(void)fd_set_nonblocking(ends[0], true, err);
	buf_init(&artifacts->bytes, (size_t)bytes + HEADS_BYTES_MAX);
	artifacts->pipe =
		watch_new(zygote_loop(worker->zygote), ends[0], UV_READABLE, on_bytes, artifacts);
	if (!artifacts->pipe)
		return err_set(err, ERR_MEMORY, "no memory for artifacts");
	artifacts->asked = true;
	return worker_collect(worker, &(struct worker_collection){ .pipe_fd = write_end,
					      .globs_fd = globs,
					      .bytes = bytes,
					      .count = (uint32_t)spec->limits.artifact_count + 1,
					      .stands = artifacts->stands });
}

bool artifacts_are_coming(const struct artifacts *artifacts)
{
	return artifacts->asked || artifacts->pipe;
}

void artifacts_collected(struct artifacts *artifacts, int status)
{
	if (!artifacts->asked)
		return; /* it was not requested */
	artifacts->asked = false;
	artifacts->cut = status != 0;
	if (!artifacts->pipe)
		artifacts->on_end(artifacts->owner);
}

void artifacts_give_up(struct artifacts *artifacts)
{
	artifacts->asked = false;
	artifacts->cut = true;
	artifacts_close(artifacts);
}

void artifacts_close(struct artifacts *artifacts)
{
	watch_close(artifacts->pipe);
	artifacts->pipe = NULL;
}

void artifacts_done(struct artifacts *artifacts)
{
	artifacts_close(artifacts);
	buf_done(&artifacts->bytes);
}

/* ---- reading --------------------------------------------------------------------------------- */

static const char *const reasons[ARTIFACT_REASON_COUNT] = {
	[ARTIFACT_TAKEN] = "taken",
	[ARTIFACT_TOO_MANY] = "more files than artifact_count allows; the rest was not read",
	[ARTIFACT_NOT_REGULAR] = "not a regular file",
	[ARTIFACT_TOO_LARGE] = "larger than what is left of artifact_bytes",
	[ARTIFACT_UNREADABLE] = "could not be read",
	[ARTIFACT_BAD_NAME] = "its name is not text",
	[ARTIFACT_HARD_LINK] = "has a second name (a hard link)",
	[ARTIFACT_TOO_DEEP] =
		"folders more than " TEXT_OF(ARTIFACT_DEPTH_MAX) " deep; the rest was not read",
	[ARTIFACT_TOO_MANY_ENTRIES] = "more than " TEXT_OF(
		ARTIFACT_ENTRIES_MAX) " files and folders; the rest was not read",
};

/* Nothing is looked at after one of these reasons.  An empty path stands for the rest. */
static bool is_stop(uint32_t reason)
{
	return reason == ARTIFACT_TOO_MANY || reason == ARTIFACT_TOO_DEEP ||
	       reason == ARTIFACT_TOO_MANY_ENTRIES;
}

/* Whether a client may use this name: relative, with no empty, "." or ".." part. */
static bool is_clean_path(const char *path, size_t len)
{
	const char *end = path + len;

	if (!len || !utf8_is_valid(path, len) || memchr(path, 0, len))
		return false;
	for (const char *part = path; part <= end;) {
		const char *slash = memchr(part, '/', (size_t)(end - part));
		size_t part_len = (size_t)((slash ? slash : end) - part);

		if (!part_len || (part_len == 1 && part[0] == '.') ||
			(part_len == 2 && part[0] == '.' && part[1] == '.'))
			return false;
		part += part_len + 1;
	}
	return true;
}

/* Writes the odd bytes of a name that is not text as \xNN. */
static const char *shown(struct arena *arena, const char *path, size_t len)
{
	char *text;
	size_t at = 0;

	if (utf8_is_valid(path, len) && !memchr(path, 0, len))
		return arena_copy(arena, path, len);
	text = arena_alloc(arena, len * 4 + 1);
	for (size_t i = 0; text && i < len; i++) {
		unsigned char byte = (unsigned char)path[i];

		if (byte >= 0x20 && byte < 0x7f)
			text[at++] = path[i];
		else
			at += (size_t)snprintf(text + at, 5, "\\x%02x", byte);
	}
	return text;
}

static int take_artifact(struct arena *arena, const struct artifact_head *head, const char *path,
	struct job_result *result)
{
	struct job_artifact *artifact = &result->artifacts[result->artifact_count++];

	artifact->path = arena_copy(arena, path, head->path_len);
	artifact->data.data = path + head->path_len;
	artifact->data.len = (size_t)head->data_len;
	artifact->mode = head->mode & 07777;
	digest_text_of(artifact->data.data, artifact->data.len, artifact->sha256);
	return artifact->path ? 0 : -1;
}

static int skip_artifact(struct arena *arena, const struct artifact_head *head, const char *path,
	uint32_t reason, struct job_result *result)
{
	struct job_skipped *skipped;

	if (result->skipped_count == SKIPPED_MAX)
		return 0;
	skipped = &result->skipped[result->skipped_count++];
	skipped->path = shown(arena, path, head->path_len);
	skipped->reason = reasons[reason];
	return skipped->path ? 0 : -1;
}

/* Whether this is the program's own file, unchanged since the worker wrote it. */
static bool is_own_program(
	const struct artifact_head *head, const char *path, const struct job_spec *spec)
{
	return head->path_len == strlen(spec->entrypoint) && head->data_len == spec->code.len &&
	       !memcmp(path, spec->entrypoint, head->path_len) &&
	       !memcmp(path + head->path_len, spec->code.data, spec->code.len);
}

/* Returns the path of the entry; its bytes follow the path.  NULL: this is not an entry. */
static const char *read_entry_head(
	const struct buf *bytes, size_t at, struct artifact_head *ret_head, struct err *err)
{
	size_t left = bytes->len - at;
	struct artifact_head head;

	if (left < sizeof(head)) {
		(void)err_set(err, ERR_PROTOCOL, "artifacts: an entry is incomplete");
		return NULL;
	}
	memcpy(&head, bytes->bytes + at, sizeof(head));
	left -= sizeof(head);
	if (head.magic != SLOTMSG_MAGIC || head.reason >= ARTIFACT_REASON_COUNT ||
		head.path_len > PATH_LEN_MAX || head.path_len > left ||
		head.data_len > left - head.path_len) {
		(void)err_set(err, ERR_PROTOCOL, "artifacts: an entry is malformed");
		return NULL;
	}
	*ret_head = head;
	return bytes->bytes + at + sizeof(head);
}

/* Returns ARTIFACT_TAKEN, or the reason to skip the file. */
static uint32_t judge_entry(const struct artifact_head *head, const char *path,
	uint64_t taken_bytes, const struct job_limits *limits, const struct job_result *result)
{
	if (head->reason != ARTIFACT_TAKEN)
		return head->reason;
	if (!is_clean_path(path, head->path_len))
		return ARTIFACT_BAD_NAME;
	if (result->artifact_count == limits->artifact_count)
		return ARTIFACT_TOO_MANY;
	if (head->data_len > limits->artifact_bytes - taken_bytes)
		return ARTIFACT_TOO_LARGE;
	return ARTIFACT_TAKEN;
}

/* Adds an entry as an artifact or as skipped.  A reason that stops the list has no name. */
static int put_entry(struct arena *arena, const struct artifact_head *head, const char *path,
	uint32_t reason, struct job_result *result, struct err *err)
{
	const struct artifact_head rest = { 0 };
	int kept;

	if (reason == ARTIFACT_TAKEN)
		kept = take_artifact(arena, head, path, result);
	else if (is_stop(reason))
		kept = skip_artifact(arena, &rest, "", reason, result);
	else
		kept = skip_artifact(arena, head, path, reason, result);
	return kept < 0 ? err_set(err, ERR_MEMORY, "no memory for artifacts") : 0;
}

int artifacts_read(struct arena *arena, const struct buf *bytes, const struct job_spec *spec,
	struct job_result *result, struct err *err)
{
	const struct job_limits *limits = &spec->limits;
	struct artifact_head head = { 0 };
	uint64_t taken_bytes = 0;

	result->artifacts = arena_array(arena, struct job_artifact, limits->artifact_count + 1);
	result->skipped = arena_array(arena, struct job_skipped, SKIPPED_MAX);
	if (!result->artifacts || !result->skipped)
		return err_set(err, ERR_MEMORY, "no memory for artifacts");
	for (size_t at = 0; at < bytes->len;
		at += sizeof(head) + head.path_len + (size_t)head.data_len) {
		const char *path = read_entry_head(bytes, at, &head, err);
		uint32_t reason;

		if (!path)
			return -1;
		if (head.reason == ARTIFACT_TAKEN && is_own_program(&head, path, spec))
			continue;
		reason = judge_entry(&head, path, taken_bytes, limits, result);
		if (put_entry(arena, &head, path, reason, result, err) < 0)
			return -1;
		if (is_stop(reason))
			return 0;
		taken_bytes += reason == ARTIFACT_TAKEN ? head.data_len : 0;
	}
	return 0;
}

void artifacts_tell_cut(
	const struct artifacts *artifacts, bool is_readable, struct job_result *result)
{
	if (is_readable && !artifacts->cut && !artifacts->asked)
		return;
	if (!result->skipped)
		return;
	if (result->skipped_count == SKIPPED_MAX)
		result->skipped_count--; /* this says more than the last name */
	result->skipped[result->skipped_count++] = (struct job_skipped){ .path = "",
		.reason = "not all files could be collected; the rest is missing" };
}
