#include "daemon/workers/spawner_link.h"

#include <string.h>

#include "proto/base/cleanup.h"
#include "proto/base/container.h"
#include "proto/base/fdio.h"
#include "proto/base/list.h"

#define QUESTIONS_MAX 4096

struct question {
	struct list link;
	struct priv_msg msg;
	int fds[FDIO_FDS_MAX];
	unsigned fd_count;
	spawner_answer *on_answer;
	void *context;
};

struct spawner_link {
	int sock; /* -1 once the watch owns it, or after the end */
	struct watch *watch;
	struct spawner_events events;
	struct list questions; /* the spawner has the first one while `asking` */
	unsigned question_count;
	bool asking;
	bool sending; /* ask_next() runs; an answer that it gives may ask again */
	uint32_t sequence;
};

struct spawner_link *spawner_link_new(int sock, struct err *err)
{
	struct spawner_link *link = calloc(1, sizeof(*link));

	if (!link) {
		close(sock);
		(void)err_set(err, ERR_MEMORY, "no memory for the link to the spawner");
		return NULL;
	}
	link->sock = sock;
	list_init(&link->questions);
	return link;
}

int spawner_ask_now(struct spawner_link *link, struct priv_msg *msg, struct err *err)
{
	int fds[PRIV_FDS_MAX];
	unsigned fd_count = 0;
	uint32_t op = msg->op;
	int got;

	msg->sequence = ++link->sequence;
	if (priv_send(link->sock, msg, NULL, 0, err) < 0)
		return err_wrap(err, "spawner");
	got = priv_recv(link->sock, false, msg, fds, &fd_count, err);
	if (got < 0)
		return err_wrap(err, "spawner");
	if (got == 0)
		return err_set(err, ERR_CLOSED, "the spawner has gone");
	close_fds(fds, fd_count);
	if (msg->op != op || msg->sequence != link->sequence)
		return err_set(err, ERR_PROTOCOL, "the spawner answered another question");
	if (msg->error)
		return err_set(err, (enum err_code)msg->error, "%s", msg->text);
	return 0;
}

static void question_free(struct question *question)
{
	close_fds(question->fds, question->fd_count);
	free(question);
}

static void lose(struct spawner_link *link, const char *why);
static void fail_first(struct spawner_link *link, const char *why);

static void ask(struct spawner_link *link, struct question *question)
{
	struct err err = ERR_INIT;

	question->msg.sequence = ++link->sequence;
	link->asking = true;
	if (priv_send(watch_fd(link->watch), &question->msg, question->fds, question->fd_count,
		    &err) == 0) {
		close_fds(question->fds, question->fd_count);
		question->fd_count = 0;
	} else if (err.code == ERR_CLOSED || err.code == ERR_PROTOCOL) {
		lose(link, err.text);
	} else {
		/* the spawner is still there: only this question fails */
		fail_first(link, err.text);
	}
}

/* Sends the first question unless the spawner still has one. */
static void ask_next(struct spawner_link *link)
{
	struct list *first;

	if (link->sending)
		return;
	link->sending = true;
	while (link->watch && !link->asking && (first = list_first(&link->questions)))
		ask(link, container_of(first, struct question, link));
	link->sending = false;
}

static void answer(struct question *question, const struct priv_msg *msg, int *fds, unsigned count)
{
	if (question->on_answer)
		question->on_answer(question->context, msg, fds, count);
	else
		close_fds(fds, count);
	question_free(question);
}

/* Answers every question with the error ERR_CLOSED. */
static void answer_all(struct spawner_link *link, const struct priv_msg *closed)
{
	struct list *first;

	watch_close(link->watch);
	link->watch = NULL;
	while ((first = list_first(&link->questions))) {
		list_remove(first);
		answer(container_of(first, struct question, link), closed, NULL, 0);
	}
}

static void lose(struct spawner_link *link, const char *why)
{
	struct priv_msg gone = { .error = ERR_CLOSED };

	if (!link->watch)
		return;
	cut_printf(gone.text, sizeof(gone.text), "the spawner has gone: %s", why);
	answer_all(link, &gone);
	link->events.spawner_lost(link->events.context, why);
}

/* Removes and returns the first question, which the spawner has. */
static struct question *take_first(struct spawner_link *link)
{
	struct question *question =
		container_of(list_first(&link->questions), struct question, link);

	list_remove(&question->link);
	link->question_count--;
	link->asking = false;
	return question;
}

/* Fails one question because memory or descriptors ran out, in this process or in the kernel. */
static void fail_first(struct spawner_link *link, const char *why)
{
	struct priv_msg failed = { .error = ERR_MEMORY };

	cut_printf(failed.text, sizeof(failed.text), "%s", why);
	answer(take_first(link), &failed, NULL, 0);
}

static void take_answer(
	struct spawner_link *link, const struct priv_msg *msg, int *fds, unsigned count)
{
	struct list *first = list_first(&link->questions);
	struct question *question;

	question = first ? container_of(first, struct question, link) : NULL;
	if (!link->asking || !question || msg->op != question->msg.op ||
		msg->sequence != link->sequence) {
		close_fds(fds, count);
		lose(link, "it sent an answer without a question");
		return;
	}
	answer(take_first(link), msg, fds, count);
	ask_next(link);
}

static void on_readable(void *owner, int events)
{
	struct spawner_link *link = owner;

	(void)events;
	while (link->watch) {
		struct priv_msg msg;
		int fds[PRIV_FDS_MAX];
		unsigned count = 0;
		struct err err = ERR_INIT;
		int got = priv_recv(watch_fd(link->watch), false, &msg, fds, &count, &err);

		if (got < 0 && err.code == ERR_BUSY)
			return;
		/*
		 * Only answers bring descriptors, so the receive failed for want of room for this
		 * answer's.
		 */
		if (got < 0 && err.code == ERR_MEMORY && link->asking) {
			fail_first(link, err.text);
			ask_next(link);
		} else if (got <= 0) {
			lose(link, got < 0 ? err.text : "it closed its socket");
		} else if (msg.op == PRIV_EXITED) {
			link->events.child_exited(link->events.context, msg.id, msg.status);
		} else {
			take_answer(link, &msg, fds, count);
		}
	}
}

int spawner_link_start(struct spawner_link *link, uv_loop_t *loop,
	const struct spawner_events *events, struct err *err)
{
	if (fd_set_nonblocking(link->sock, true, err) < 0)
		return -1;
	link->events = *events;
	link->watch = watch_new(loop, take_fd(&link->sock), UV_READABLE, on_readable, link);
	if (!link->watch)
		return err_set(err, ERR_MEMORY, "the daemon cannot watch the spawner's socket");
	return 0;
}

void spawner_ask(struct spawner_link *link, const struct priv_msg *msg, const int *fds,
	unsigned fd_count, spawner_answer *on_answer, void *context)
{
	struct question *question = NULL;

	if (link->watch && link->question_count < QUESTIONS_MAX)
		question = calloc(1, sizeof(*question));
	if (!question || fd_count > FDIO_FDS_MAX) {
		struct priv_msg gone = {
			.error = ERR_CLOSED,
			.text = "the daemon has lost the spawner, or too many questions to it wait"
		};

		free(question);
		for (unsigned i = 0; i < fd_count; i++)
			close(fds[i]);
		if (on_answer)
			on_answer(context, &gone, NULL, 0);
		return;
	}
	question->msg = *msg;
	if (fd_count)
		memcpy(question->fds, fds, fd_count * sizeof(*fds));
	question->fd_count = fd_count;
	question->on_answer = on_answer;
	question->context = context;
	list_append(&link->questions, &question->link);
	link->question_count++;
	ask_next(link);
}

void spawner_link_close(struct spawner_link *link)
{
	struct priv_msg closing = { .error = ERR_CLOSED, .text = "the daemon is closing" };

	if (!link)
		return;
	if (link->sock >= 0)
		close(link->sock);
	answer_all(link, &closing);
	free(link);
}
