#include <signal.h>
#include <string.h>

#include "daemon/runs/artifacts.h"
#include "proto/base/container.h"
#include "proto/internal/slotmsg.h"
#include "tests/check.h"
#include "tests/fault.h"

#define ARENA_BYTES ((size_t)4 << 20)

static struct job_spec spec_for_test(void)
{
	return (struct job_spec){ .entrypoint = "main.py",
		.code = { "print(1)", 8 },
		.limits = { .artifact_bytes = 1000, .artifact_count = 3 } };
}

static void put_len(
	struct buf *buf, uint32_t reason, const char *path, size_t path_len, const char *data)
{
	struct artifact_head head = { SLOTMSG_MAGIC, reason, (uint32_t)path_len, 0100644,
		strlen(data) };

	(void)buf_append(buf, &head, sizeof(head));
	(void)buf_append(buf, path, path_len);
	(void)buf_append_text(buf, data);
}

static void put(struct buf *buf, uint32_t reason, const char *path, const char *data)
{
	put_len(buf, reason, path, strlen(path), data);
}

struct read {
	struct arena arena;
	struct buf bytes;
	struct job_result result;
	struct err err;
};

static void open_read(struct read *read)
{
	memset(read, 0, sizeof(*read));
	arena_init(&read->arena, ARENA_BYTES);
	buf_init(&read->bytes, ARENA_BYTES);
}

static int do_read(struct read *read)
{
	struct job_spec spec = spec_for_test();

	return artifacts_read(&read->arena, &read->bytes, &spec, &read->result, &read->err);
}

static void close_read(struct read *read)
{
	buf_done(&read->bytes);
	arena_done(&read->arena);
}

static void pass_over(void *owner)
{
	(void)owner;
}

TEST(files_that_a_failed_collector_may_have_left_out_are_told)
{
	struct artifacts artifacts = { .asked = true, .on_end = pass_over };
	struct read read;

	open_read(&read);
	put(&read.bytes, ARTIFACT_TAKEN, "whole", "bytes");
	CHECK_EQ_INT(do_read(&read), 0);
	artifacts_collected(&artifacts, 0);
	artifacts_tell_cut(&artifacts, true, &read.result);
	CHECK_EQ_INT(read.result.skipped_count, 0);
	artifacts.asked = true; /* a slot that is lost reports nothing */
	artifacts_tell_cut(&artifacts, true, &read.result);
	CHECK_EQ_INT(read.result.skipped_count, 1);
	artifacts_collected(&artifacts, SIGALRM);
	artifacts_tell_cut(&artifacts, true, &read.result);
	CHECK_EQ_INT(read.result.skipped_count, 2);
	CHECK_STR(read.result.skipped[1].path, "");
	CHECK(strstr(read.result.skipped[1].reason, "the rest is missing"));
	CHECK_EQ_INT(read.result.artifact_count, 1);
	close_read(&read);
}

TEST(files_come_back_with_their_bytes_mode_and_digest)
{
	struct read read;

	open_read(&read);
	put(&read.bytes, ARTIFACT_TAKEN, "out/a.txt", "hello");
	CHECK_EQ_INT(do_read(&read), 0);
	CHECK_EQ_INT(read.result.artifact_count, 1);
	CHECK_STR(read.result.artifacts[0].path, "out/a.txt");
	CHECK_EQ_INT(read.result.artifacts[0].data.len, 5);
	CHECK_EQ_INT(read.result.artifacts[0].mode, 0644);
	CHECK_STR(read.result.artifacts[0].sha256,
		"sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824");
	close_read(&read);
}

TEST(nothing_is_nothing)
{
	struct read read;

	open_read(&read);
	CHECK_EQ_INT(do_read(&read), 0);
	CHECK_EQ_INT(read.result.artifact_count + read.result.skipped_count, 0);
	close_read(&read);
}

TEST(the_program_itself_is_an_artifact_only_when_it_was_changed)
{
	struct read read;

	open_read(&read);
	put(&read.bytes, ARTIFACT_TAKEN, "main.py", "print(1)");
	CHECK_EQ_INT(do_read(&read), 0);
	CHECK_EQ_INT(read.result.artifact_count, 0);
	put(&read.bytes, ARTIFACT_TAKEN, "main.py", "print(2)");
	CHECK_EQ_INT(do_read(&read), 0);
	CHECK_EQ_INT(read.result.artifact_count, 1);
	close_read(&read);
}

TEST(names_that_lead_out_of_a_folder_are_never_handed_on)
{
	static const char *const names[] = { "", "/etc/passwd", "..", "../x", "a/../b", "./a",
		"a//b", "a/", "a/.", "\xff" };

	for (unsigned i = 0; i < COUNT_OF(names); i++) {
		struct read read;

		open_read(&read);
		put(&read.bytes, ARTIFACT_TAKEN, names[i], "x");
		CHECK_EQ_INT(do_read(&read), 0);
		CHECK_EQ_INT(read.result.artifact_count, 0);
		CHECK_EQ_INT(read.result.skipped_count, 1);
		CHECK_STR(read.result.skipped[0].reason, "its name is not text");
		close_read(&read);
	}
}

TEST(odd_bytes_of_a_name_are_written_out)
{
	struct read read;

	open_read(&read);
	put_len(&read.bytes, ARTIFACT_NOT_REGULAR, "a\0\xff\x62", 4, "");
	CHECK_EQ_INT(do_read(&read), 0);
	CHECK_STR(read.result.skipped[0].path, "a\\x00\\xffb");
	CHECK_STR(read.result.skipped[0].reason, "not a regular file");
	close_read(&read);
}

TEST(a_collector_that_ignores_the_limits_does_not_pass_them)
{
	struct read read;
	char large[1001];

	open_read(&read);
	memset(large, 'x', sizeof(large));
	large[1000] = '\0';
	put(&read.bytes, ARTIFACT_TAKEN, "a", "1");
	put(&read.bytes, ARTIFACT_TAKEN, "large", large);
	CHECK_EQ_INT(do_read(&read), 0);
	CHECK_EQ_INT(read.result.artifact_count, 1);
	CHECK_STR(read.result.skipped[0].path, "large");
	close_read(&read);

	open_read(&read);
	for (int i = 0; i < 5; i++)
		put(&read.bytes, ARTIFACT_TAKEN, (const char *[]){ "a", "b", "c", "d", "e" }[i],
			"");
	CHECK_EQ_INT(do_read(&read), 0);
	CHECK_EQ_INT(read.result.artifact_count, 3);
	CHECK_EQ_INT(read.result.skipped_count, 1);
	CHECK_STR(read.result.skipped[0].path, "");
	close_read(&read);
}

TEST(what_is_too_large_leaves_room_for_what_is_not)
{
	struct read read;
	char large[1002];

	open_read(&read);
	memset(large, 'x', sizeof(large));
	large[1001] = '\0';
	put(&read.bytes, ARTIFACT_TAKEN, "large", large);
	put(&read.bytes, ARTIFACT_TAKEN, "small", "1");
	CHECK_EQ_INT(do_read(&read), 0);
	CHECK_EQ_INT(read.result.artifact_count, 1);
	CHECK_STR(read.result.artifacts[0].path, "small");
	close_read(&read);
}

TEST(a_list_of_skipped_files_has_an_end)
{
	struct read read;

	open_read(&read);
	for (int i = 0; i < 1000; i++)
		put(&read.bytes, ARTIFACT_UNREADABLE, "f", "");
	CHECK_EQ_INT(do_read(&read), 0);
	CHECK_EQ_INT(read.result.skipped_count, 256);
	close_read(&read);
}

TEST(an_entry_that_lies_about_itself_is_refused)
{
	static const struct artifact_head heads[] = {
		{ 0, ARTIFACT_TAKEN, 1, 0, 0 },
		{ SLOTMSG_MAGIC, ARTIFACT_REASON_COUNT, 1, 0, 0 },
		{ SLOTMSG_MAGIC, ARTIFACT_TAKEN, 4097, 0, 0 },
		{ SLOTMSG_MAGIC, ARTIFACT_TAKEN, 2, 0, 0 },
		{ SLOTMSG_MAGIC, ARTIFACT_TAKEN, 1, 0, 1 },
		{ SLOTMSG_MAGIC, ARTIFACT_TAKEN, 1, 0, UINT64_MAX },
	};

	for (unsigned i = 0; i < COUNT_OF(heads); i++) {
		struct read read;

		open_read(&read);
		(void)buf_append(&read.bytes, &heads[i], sizeof(heads[i]));
		(void)buf_append_byte(&read.bytes, 'a');
		CHECK_EQ_INT(do_read(&read), -1);
		CHECK_EQ_INT(read.err.code, ERR_PROTOCOL);
		close_read(&read);
	}
}

TEST(every_cut_of_what_a_collector_sends_is_refused_and_keeps_what_came_before)
{
	struct read whole;

	open_read(&whole);
	put(&whole.bytes, ARTIFACT_TAKEN, "a", "first");
	for (size_t first = whole.bytes.len, len = 1; len < 24 + 6; len++) {
		struct read read;

		open_read(&read);
		put(&read.bytes, ARTIFACT_TAKEN, "a", "first");
		put(&read.bytes, ARTIFACT_TAKEN, "b", "other");
		read.bytes.len = first + len;
		CHECK_EQ_INT(do_read(&read), -1);
		CHECK_EQ_INT(read.result.artifact_count, 1);
		close_read(&read);
	}
	close_read(&whole);
}

TEST(without_memory_it_is_an_error)
{
	FAULT_LOOP(FAULT_ALLOC) {
		struct read read;
		int result;

		open_read(&read);
		put(&read.bytes, ARTIFACT_TAKEN, "a", "x");
		result = do_read(&read);
		CHECK(result == 0 || fault_hit());
		close_read(&read);
	}
}
