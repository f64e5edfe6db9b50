#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>

#include "proto/base/cleanup.h"
#include "proto/base/fdio.h"
#include "sandbox/worker/joblink.h"
#include "tests/check.h"

static struct err err = ERR_INIT;

static bool open_pair(int pair[2])
{
	return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0;
}

static struct job_head head_for(uint32_t len)
{
	return (struct job_head){ SLOTMSG_MAGIC, JOB_START, len, 0 };
}

TEST(a_job_arrives_with_its_descriptor)
{
	auto_fd int ours = -1;
	auto_fd int theirs = -1;
	char bytes[sizeof(struct job_head) + 4];
	struct job_head head = head_for(4);
	struct joblink_job job = { .body = NULL };
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	int pair[2];

	CHECK(open_pair(pair));
	ours = pair[0];
	theirs = pair[1];
	memcpy(bytes, &head, sizeof(head));
	memcpy(bytes + sizeof(head), "body", 4);
	CHECK(send_with_fds(ours, bytes, sizeof(bytes), &null, 1, &err) == sizeof(bytes));
	close(null);
	CHECK(joblink_wait(theirs, &job, &err) == 0);
	CHECK(job.len == 4 && memcmp(job.body, "body", 4) == 0);
	CHECK(job.fds[0] >= 0);
	close(job.fds[0]);
}

TEST(a_job_that_comes_in_pieces_is_whole_in_the_end)
{
	auto_fd int ours = -1;
	auto_fd int theirs = -1;
	struct job_head head = head_for(40000);
	struct joblink_job job = { .body = NULL };
	auto_free char *body = malloc(40000);
	int pair[2];

	CHECK(body && open_pair(pair));
	ours = pair[0];
	theirs = pair[1];
	memset(body, 'x', 40000);
	CHECK(write_all(ours, &head, 7, &err) == 0);
	if (fork() == 0) {
		(void)usleep(20000);
		_exit(write_all(ours, (char *)&head + 7, sizeof(head) - 7, &err) < 0 ||
			write_all(ours, body, 10, &err) < 0 || usleep(10000) < 0 ||
			write_all(ours, body, 39990, &err) < 0);
	}
	CHECK(joblink_wait(theirs, &job, &err) == 0);
	CHECK(job.len == 40000 && job.fds[0] < 0 && memcmp(job.body, body, 40000) == 0);
	joblink_forget(&job);
	CHECK(!job.body);
}

/* JOB_GO may come with the job in one read, or later, whole or in pieces. */
TEST(a_gate_opens_however_the_word_comes)
{
	const struct job_head go = { SLOTMSG_MAGIC, JOB_GO, 0, 0 };
	const size_t with_job[] = { 0, 1, 7, sizeof(go) };

	for (size_t i = 0; i < sizeof(with_job) / sizeof(*with_job); i++) {
		auto_fd int ours = -1;
		auto_fd int theirs = -1;
		struct job_head head = head_for(4);
		struct joblink_job job = { .body = NULL };
		char bytes[sizeof(head) + 4 + sizeof(go)];
		const size_t first = sizeof(head) + 4 + with_job[i];
		int pair[2];

		CHECK(open_pair(pair));
		ours = pair[0];
		theirs = pair[1];
		memcpy(bytes, &head, sizeof(head));
		memcpy(bytes + sizeof(head), "body", 4);
		memcpy(bytes + sizeof(head) + 4, &go, sizeof(go));
		CHECK(write_all(ours, bytes, first, &err) == 0);
		CHECK(joblink_wait(theirs, &job, &err) == 0);
		CHECK(job.len == 4 && memcmp(job.body, "body", 4) == 0);
		CHECK(write_all(ours, bytes + first, sizeof(bytes) - first, &err) == 0);
		CHECK(joblink_wait_go(theirs, &err) == 0);
	}
}

TEST(a_gate_stays_shut_for_everything_else)
{
	const struct job_head bad[] = {
		{ SLOTMSG_MAGIC, JOB_START, 0, 0 },
		{ SLOTMSG_MAGIC + 1, JOB_GO, 0, 0 },
		{ SLOTMSG_MAGIC, JOB_GO, 1, 0 },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		auto_fd int ours = -1;
		auto_fd int theirs = -1;
		struct job_head head = head_for(0);
		struct joblink_job job = { .body = NULL };
		int pair[2];

		CHECK(open_pair(pair));
		ours = pair[0];
		theirs = pair[1];
		CHECK(write_all(ours, &head, sizeof(head), &err) == 0);
		CHECK(joblink_wait(theirs, &job, &err) == 0);
		CHECK(write_all(ours, &bad[i], sizeof(bad[i]), &err) == 0);
		CHECK(joblink_wait_go(theirs, &err) < 0);
	}
}

TEST(a_gate_that_the_daemon_leaves_does_not_open)
{
	auto_fd int theirs = -1;
	struct job_head head = head_for(0);
	struct joblink_job job = { .body = NULL };
	int pair[2];

	CHECK(open_pair(pair));
	theirs = pair[1];
	CHECK(write_all(pair[0], &head, sizeof(head), &err) == 0);
	CHECK(joblink_wait(theirs, &job, &err) == 0);
	close(pair[0]);
	CHECK(joblink_wait_go(theirs, &err) < 0);
}

TEST(what_is_no_job_is_refused)
{
	const struct job_head bad[] = {
		{ SLOTMSG_MAGIC + 1, JOB_START, 0, 0 },
		{ SLOTMSG_MAGIC, JOB_DONE, 0, 0 },
		{ SLOTMSG_MAGIC, JOB_START, SLOTMSG_BODY_MAX + 1, 0 },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		auto_fd int ours = -1;
		auto_fd int theirs = -1;
		struct joblink_job job = { .body = NULL };
		int pair[2];

		CHECK(open_pair(pair));
		ours = pair[0];
		theirs = pair[1];
		CHECK(write_all(ours, &bad[i], sizeof(bad[i]), &err) == 0);
		CHECK(joblink_wait(theirs, &job, &err) < 0);
	}
}

TEST(more_bytes_than_a_job_has_are_refused)
{
	auto_fd int ours = -1;
	auto_fd int theirs = -1;
	struct job_head head = head_for(2);
	char bytes[sizeof(head) + 3] = { 0 };
	struct joblink_job job = { .body = NULL };
	int pair[2];

	CHECK(open_pair(pair));
	ours = pair[0];
	theirs = pair[1];
	memcpy(bytes, &head, sizeof(head));
	CHECK(write_all(ours, bytes, sizeof(bytes), &err) == 0);
	CHECK(joblink_wait(theirs, &job, &err) < 0);
}

TEST(a_daemon_that_has_gone_is_told)
{
	auto_fd int theirs = -1;
	struct joblink_job job = { .body = NULL };
	int pair[2];

	CHECK(open_pair(pair));
	theirs = pair[1];
	close(pair[0]);
	CHECK(joblink_wait(theirs, &job, &err) < 0);
	CHECK_EQ_INT(err.code, ERR_CLOSED);
	CHECK(joblink_tell(theirs, JOB_DONE, 0, NULL, 0, &err) < 0);
	joblink_linger(theirs); /* returns at once */
}

TEST(a_word_arrives_with_its_body)
{
	auto_fd int ours = -1;
	auto_fd int theirs = -1;
	struct job_head head;
	char body[6];
	int pair[2];

	CHECK(open_pair(pair));
	ours = pair[0];
	theirs = pair[1];
	CHECK(joblink_tell(theirs, JOB_ERROR, 3, "report", 6, &err) == 0);
	CHECK(read_all(ours, &head, sizeof(head), &err) == 0);
	CHECK(read_all(ours, body, sizeof(body), &err) == 0);
	CHECK(head.magic == SLOTMSG_MAGIC && head.kind == JOB_ERROR && head.len == 6);
	CHECK(head.exit_code == 3 && memcmp(body, "report", 6) == 0);
}

TEST(a_refused_cell_is_told_with_its_reason_and_is_over)
{
	static const char expected[] =
		"{\"type\":\"FilesError\",\"message\":\"file "
		"\\u0022a\\u005c\\u000a\\u0022: \xc3\xa4\",\"line\":0,\"column\":0,"
		"\"frames\":[],\"text\":\"\",\"syntax\":false}";
	auto_fd int ours = -1;
	auto_fd int theirs = -1;
	struct job_head head;
	char body[sizeof(expected)] = "";
	int pair[2];

	CHECK(open_pair(pair));
	ours = pair[0];
	theirs = pair[1];
	CHECK(joblink_refuse_cell(theirs, 5, "file \"a\\\n\": \xc3\xa4", &err) == 0);
	CHECK(read_all(ours, &head, sizeof(head), &err) == 0);
	CHECK(head.kind == JOB_ERROR && head.len == sizeof(expected) - 1);
	CHECK(read_all(ours, body, sizeof(expected) - 1, &err) == 0);
	CHECK_STR(body, expected);
	CHECK(read_all(ours, &head, sizeof(head), &err) == 0);
	CHECK(head.kind == JOB_DONE && head.len == 0 && head.exit_code == JOB_TURN_DONE(5, 1));
}

TEST(a_report_past_its_ceiling_is_not_sent)
{
	CHECK(joblink_tell(-1, JOB_ERROR, 0, "x", SLOTMSG_REPORT_MAX + 1, &err) < 0);
	CHECK_EQ_INT(err.code, ERR_TOO_BIG);
}
