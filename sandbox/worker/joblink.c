#include "sandbox/worker/joblink.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "proto/base/fdio.h"
#include "sandbox/child_exit.h"

/* Most jobs fit, and come with their head in the first read. */
#define SMALL_BODY 16384

#define USUAL_BODY 1024 /* most jobs are shorter */

#define QUOTED_BYTES 6 /* the most that a byte takes as JSON */

static struct {
	struct job_head head;
	char body[SMALL_BODY];
} first;

static const struct job_head go = { .magic = SLOTMSG_MAGIC, .kind = JOB_GO };
static size_t go_len; /* bytes of JOB_GO that came with the job in one read */

void joblink_touch(void)
{
	memset(&first, 0, sizeof(first.head) + USUAL_BODY);
}

/* Which messages may come. */
#define MAY(kind) (1U << (unsigned)(kind))

static int check_head(const struct job_head *head, unsigned may, struct err *err)
{
	if (head->magic != SLOTMSG_MAGIC || head->kind >= JOB_KIND_COUNT ||
		!(may & MAY(head->kind)))
		return err_set(err, ERR_PROTOCOL, "not a job");
	if (head->len > SLOTMSG_BODY_MAX)
		return err_set(err, ERR_TOO_BIG, "a job of %u bytes", head->len);
	return 0;
}

/* The first read takes everything that is there, and the descriptors. */
static int read_first(int sock, size_t *ret_got, int *ret_fds, struct err *err)
{
	size_t fd_count = 0;
	ssize_t got = recv_with_fds(
		sock, &first, sizeof(first), ret_fds, JOBLINK_FDS_MAX, &fd_count, err);

	if (got < 0)
		return -1;
	if (got == 0)
		return err_set(err, ERR_CLOSED, "the daemon has gone");
	*ret_got = (size_t)got;
	return 0;
}

static int read_rest(int sock, size_t got, struct joblink_job *job, struct err *err)
{
	size_t have = got - sizeof(first.head);

	job->len = first.head.len;
	job->body = first.body;
	go_len = 0;
	if (have > job->len) {
		go_len = have - job->len;
		if (go_len > sizeof(go) || memcmp(first.body + job->len, &go, go_len) != 0)
			return err_set(err, ERR_PROTOCOL, "more than a job");
		return 0;
	}
	if (job->len > sizeof(first.body)) {
		char *body = mmap(
			NULL, job->len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (body == MAP_FAILED)
			return err_set(err, ERR_MEMORY, "no memory for a job");
		job->body = memcpy(body, first.body, have);
	}
	return read_all(sock, job->body + have, job->len - have, err);
}

/*
 * Reads a job whose head and first bytes come now.  A worker that fails exits, so nothing closes the
 * descriptors before.
 */
static int read_job(int sock, unsigned may, struct joblink_job *job, struct err *err)
{
	size_t got = 0;

	for (size_t i = 0; i < JOBLINK_FDS_MAX; i++)
		job->fds[i] = -1;
	if (read_first(sock, &got, job->fds, err) < 0)
		return -1;
	if (got < sizeof(first.head)) {
		char *rest = (char *)&first.head + got;

		if (read_all(sock, rest, sizeof(first.head) - got, err) < 0)
			return -1;
		got = sizeof(first.head);
	}
	if (check_head(&first.head, may, err) < 0)
		return -1;
	return read_rest(sock, got, job, err);
}

int joblink_wait(int sock, struct joblink_job *ret_job, struct err *err)
{
	return read_job(sock, MAY(JOB_START), ret_job, err);
}

/* A large body has a mapping of its own: an allocator changes its ways when it frees a large block. */
void joblink_forget(struct joblink_job *job)
{
	if (job->body && job->body != first.body)
		(void)munmap(job->body, job->len);
	*job = (struct joblink_job){ .body = NULL };
}

int joblink_wait_next(int sock, struct joblink_job *job, struct err *err)
{
	joblink_forget(job);
	if (read_job(sock, MAY(JOB_CELL) | MAY(JOB_KEEP), job, err) < 0)
		return -1;
	if (job->fds[1] < 0)
		return err_set(err, ERR_PROTOCOL, "descriptors are missing");
	return (int)first.head.kind;
}

int joblink_wait_word(int sock, enum job_kind kind)
{
	struct job_head head;

	if (read_all(sock, &head, sizeof(head), NULL) < 0)
		return -1;
	return head.magic == SLOTMSG_MAGIC && head.kind == (uint32_t)kind && head.len == 0 ? 0 : -1;
}

int joblink_wait_go(int sock, struct err *err)
{
	char rest[sizeof(go)];
	size_t left = sizeof(go) - go_len;

	if (read_all(sock, rest, left, err) < 0)
		return -1;
	if (memcmp(rest, (const char *)&go + go_len, left) != 0)
		return err_set(err, ERR_PROTOCOL, "not a go");
	return 0;
}

/* send(2), because the job's filter refuses sendmsg(2). */
static int send_all(int sock, const char *bytes, size_t len, int flags, struct err *err)
{
	while (len > 0) {
		ssize_t sent = send(sock, bytes, len, flags | MSG_NOSIGNAL);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0)
			return err_sys(err, "job socket");
		bytes += sent;
		len -= (size_t)sent;
	}
	return 0;
}

int joblink_tell(int sock, enum job_kind kind, int32_t exit_code, const void *body, size_t len,
	struct err *err)
{
	struct job_head head = {
		.magic = SLOTMSG_MAGIC,
		.kind = kind,
		.len = (uint32_t)len,
		.exit_code = exit_code,
	};

	if (len > SLOTMSG_REPORT_MAX)
		return err_set(err, ERR_TOO_BIG, "a report of %zu bytes", len);
	if (send_all(sock, (const char *)&head, sizeof(head), len ? MSG_MORE : 0, err) < 0)
		return -1;
	return len ? send_all(sock, body, len, 0, err) : 0;
}

int joblink_ready(int sock)
{
	struct timespec used;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	return joblink_tell(sock, JOB_READY, (int32_t)(used.tv_sec * 1000000 + used.tv_nsec / 1000),
		NULL, 0, NULL);
}

void joblink_fail(int sock, const char *why)
{
	(void)joblink_tell(sock, JOB_FAILED, 0, why, strlen(why), NULL);
	joblink_linger(sock);
	child_exit(1);
}

/* As a text in JSON.  `ret_text` has room. */
static void quote(const char *text, char *ret_text)
{
	for (; *text; text++) {
		const unsigned char byte = (unsigned char)*text;

		if (byte < ' ' || byte == '"' || byte == '\\')
			ret_text += snprintf(ret_text, QUOTED_BYTES + 1, "\\u%04x", byte);
		else
			*ret_text++ = *text;
	}
	*ret_text = '\0';
}

int joblink_refuse_cell(int sock, uint32_t turn, const char *why, struct err *err)
{
	char message[ERR_TEXT_MAX];
	char quoted[QUOTED_BYTES * ERR_TEXT_MAX];
	char body[sizeof(quoted) + 128];

	cut_printf(message, sizeof(message), "%s", why);
	quote(message, quoted);
	cut_printf(body, sizeof(body),
		"{\"type\":\"FilesError\",\"message\":\"%s\",\"line\":0,\"column\":0,"
		"\"frames\":[],\"text\":\"\",\"syntax\":false}",
		quoted);
	if (joblink_tell(sock, JOB_ERROR, 0, body, strlen(body), err) < 0)
		return -1;
	return joblink_tell(sock, JOB_DONE, JOB_TURN_DONE(turn, 1), NULL, 0, err);
}

void joblink_linger(int sock)
{
	char byte;
	ssize_t got;

	do
		got = recv(sock, &byte, sizeof(byte), 0);
	while (got > 0 || (got < 0 && errno == EINTR));
}
