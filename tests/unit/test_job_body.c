#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "daemon/runs/job_body.h"
#include "proto/base/cleanup.h"
#include "proto/internal/slotmsg.h"
#include "tests/check.h"

#define SEALED (F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)

static struct job_spec small(void)
{
	return (struct job_spec){ .code = { "print(1)", 8 }, .entrypoint = "main.py" };
}

/* The bytes after the head and the lengths. */
static const char *text_of(const char *body)
{
	return body + sizeof(struct job_head) + sizeof(struct job_body);
}

TEST(the_parts_of_a_job_stand_in_their_order)
{
	static const char parts[] = "print(1)main.pyrules\3\0\0\0arg\5\0\0\0K=env";
	struct job_pair env = { "K", { "env", 3 } };
	struct bytes arg = { "arg", 3 };
	struct job_input_file file = { "in/data", { "1234", 4 }, 0644 };
	struct job_extras extras = { .rules = { "rules", 5 } };
	struct job_spec spec = small();
	struct job_head head;
	struct job_file file_head;
	size_t len = 0;
	auto_free char *body = NULL;
	const char *at;

	spec.args = &arg;
	spec.env = &env;
	spec.files = &file;
	spec.arg_count = spec.env_count = spec.file_count = 1;
	body = job_body_write(&spec, extras, &len);
	CHECK(body != NULL);
	memcpy(&head, body, sizeof(head));
	CHECK_EQ_INT(head.kind, JOB_START);
	CHECK_EQ_INT(head.len, len - sizeof(head));
	at = text_of(body);
	CHECK(!memcmp(at, parts, sizeof(parts) - 1));
	at += sizeof(parts) - 1;
	memcpy(&file_head, at, sizeof(file_head));
	CHECK_EQ_INT(file_head.path_len, 7);
	CHECK_EQ_INT(file_head.mode, 0644);
	at += sizeof(file_head);
	CHECK_EQ_INT(body + len - at, 11);
	CHECK(!memcmp(at, "in/data1234", 11));
}

TEST(stdin_stands_in_the_job_only_where_no_descriptor_can_come_with_it)
{
	static const struct {
		bool has_input, stdin_inline;
		enum job_stdin word;
		size_t more;
	} rows[] = {
		{ false, false, JOB_STDIN_NONE, 0 },
		{ false, true, JOB_STDIN_NONE, 0 },
		{ true, false, JOB_STDIN_FD, 0 },
		{ true, true, JOB_STDIN_INLINE, sizeof(uint64_t) + 5 },
	};
	size_t least = sizeof(struct job_head) + sizeof(struct job_body) + 8 + 7;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct job_spec spec = small();
		struct job_body lengths;
		size_t len = 0;
		auto_free char *body = NULL;

		spec.input = (struct bytes){ "stdin", 5 };
		spec.has_input = rows[i].has_input;
		body = job_body_write(
			&spec, (struct job_extras){ .stdin_inline = rows[i].stdin_inline }, &len);
		CHECK(body != NULL);
		memcpy(&lengths, body + sizeof(struct job_head), sizeof(lengths));
		CHECK_EQ_INT(lengths.has_stdin, rows[i].word);
		CHECK_EQ_INT(len, least + rows[i].more);
	}
}

TEST(no_more_threads_are_announced_than_can_reserve_what_they_want)
{
	static const struct {
		uint64_t percent, mib;
		bool reserved_counts;
		unsigned processors; /* 0: the number that workers are made for */
	} rows[] = {
		{ 100, 256, true, 0 },
		{ 250, 256, false, 3 },
		{ 250, 256, true, 2 },
		{ 250, 384, true, 3 },
		{ 250, 64, true, 0 },
		{ 64000, 256, false, 255 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct job_spec spec = small();
		struct job_body head;
		size_t len = 0;
		auto_free char *body = NULL;

		spec.limits.cpu_percent = rows[i].percent;
		spec.limits.memory_bytes = rows[i].mib << 20;
		body = job_body_write(&spec,
			(struct job_extras){ .reserved_counts = rows[i].reserved_counts }, &len);
		CHECK(body != NULL);
		memcpy(&head, body + sizeof(struct job_head), sizeof(head));
		CHECK_EQ_INT(
			head.flags, rows[i].processors ? JOB_PROCESSORS(rows[i].processors) : 0);
	}
}

TEST(a_job_that_is_larger_than_a_worker_takes_is_none)
{
	struct job_spec spec = small();
	size_t len = 0;

	spec.code.len = SLOTMSG_BODY_MAX; /* never read */
	CHECK(!job_body_write(&spec, (struct job_extras){ .stdin_inline = false }, &len));
}

TEST(files_beside_it_are_sealed_and_at_their_start)
{
	static const char *globs[] = { "*.txt", "out/*" };
	struct job_spec spec = small();
	char text[32] = "";
	struct err err = ERR_INIT;
	auto_fd int input = -1;
	auto_fd int wanted = -1;

	spec.input = (struct bytes){ "stdin", 5 };
	spec.artifact_globs = globs;
	spec.artifact_glob_count = 2;
	input = job_stdin_file(&spec, &err);
	CHECK_EQ_INT(fcntl(input, F_GET_SEALS), SEALED);
	CHECK_EQ_INT(read(input, text, sizeof(text)), 5);
	CHECK(!memcmp(text, "stdin", 5));
	wanted = job_globs_file(&spec, &err);
	CHECK_EQ_INT(fcntl(wanted, F_GET_SEALS), SEALED);
	CHECK_EQ_INT(read(wanted, text, sizeof(text)), 12);
	CHECK(!memcmp(text, "*.txt\0out/*", 12));
}
