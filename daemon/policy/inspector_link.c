#include "daemon/policy/inspector_link.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "daemon/loop/loop.h"
#include "proto/base/cleanup.h"
#include "proto/base/clock.h"
#include "proto/base/fdio.h"

/* The longest answer, after as many unread WORKING messages as possible. */
#define INBOX_BYTES   (sizeof(struct inspect_head) * (1UL + INSPECT_BEATS_MAX) + INSPECT_ANSWER_MAX)
#define LOOK_MS       150U /* between two checks of the clock while the link waits for something */
#define LOOK_LATER_MS 1500U
#define CROWD_US      (60 * 1000000L) /* how long a user counts as active after a question */

enum inspector_state {
	INSPECTOR_NONE,
	INSPECTOR_GREETING,
	INSPECTOR_FREE,
	INSPECTOR_BUSY
};

struct inspector_end {
	struct inspector_link *link;
	enum inspector_state state;
	uint32_t child;
	uint32_t ready_ms; /* how long it may take to get ready */
	struct watch *watch;
	int64_t since_us; /* when it was greeted or asked, or last sent WORKING */
	int64_t asked_us;
	uint32_t beats;  /* during its present question */
	int64_t busy_us; /* over all its questions */
	struct inspect_question *question;
	uint32_t id;
	struct inspect_check_head head;
	struct iovec out[2]; /* not sent yet */
	char *inbox;
	size_t inbox_len;
};

struct inspector_link {
	uv_loop_t *loop;
	const struct buf *rules;
	uint32_t rule_count;
	struct inspector_events events;
	struct timer *timer;
	bool timer_runs;
	struct list line; /* waiting questions */
	struct inspector_asker {
		uint32_t uid;
		int64_t us; /* 0: nobody */
	} seen[2];          /* the user who asked last, and the one before */
	uint32_t line_len;
	int64_t served_ms; /* when an inspector was last seen ready or at work */
	uint32_t last_id;
	int64_t retire_us;
	uint32_t ready_first_ms; /* the configured limit and the present one */
	uint32_t ready_ms;
	struct inspector_patience patience;
	uint64_t turn; /* of the last question */
	struct inspector_counts counts;
	struct inspector_end ends[INSPECTORS_MAX];
};

/* ---- sending ------------------------------------------------------------------------------- */

static bool is_sent(const struct inspector_end *end)
{
	return end->out[0].iov_len == 0 && end->out[1].iov_len == 0;
}

static void drop_sent(struct inspector_end *end, size_t sent)
{
	for (size_t i = 0; i < 2; i++) {
		size_t part = sent < end->out[i].iov_len ? sent : end->out[i].iov_len;

		end->out[i].iov_base = (char *)end->out[i].iov_base + part;
		end->out[i].iov_len -= part;
		sent -= part;
	}
}

/* Sends as much as the socket takes.  A broken socket is noticed at the next read. */
static void send_on(struct inspector_end *end)
{
	struct msghdr msg = { .msg_iov = end->out, .msg_iovlen = 2 };

	while (!is_sent(end)) {
		ssize_t sent = sendmsg(watch_fd(end->watch), &msg, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0)
			break;
		drop_sent(end, (size_t)sent);
	}
	if (!is_sent(end))
		watch_want(end->watch, UV_READABLE | UV_WRITABLE);
}

static void arm_timer(struct inspector_link *link, uint64_t ms)
{
	if (!link->timer_runs)
		timer_set(link->timer, ms);
	link->timer_runs = true;
}

static void ask_one(struct inspector_end *end, struct inspect_question *question)
{
	size_t code_len = question->code.len;

	end->id = ++end->link->last_id;
	end->head = inspect_check_head(end->id, question->policy, question->language, &code_len);
	end->out[0] = (struct iovec){ &end->head, sizeof(end->head) };
	/* sendmsg() does not write through this pointer. */
	memcpy(&end->out[1].iov_base, &question->code.data, sizeof(void *));
	end->out[1].iov_len = code_len;
	end->question = question;
	end->state = INSPECTOR_BUSY;
	end->since_us = clock_us();
	end->asked_us = end->since_us;
	end->beats = 0;
	end->inbox_len = 0;
	send_on(end);
}

static struct inspector_end *find_free(struct inspector_link *link)
{
	for (size_t i = 0; i < INSPECTORS_MAX; i++)
		if (link->ends[i].state == INSPECTOR_FREE)
			return &link->ends[i];
	return NULL;
}

/* The n-th waiting question of a user gets the n-th turn. */
static uint64_t turn_of(const struct inspector_link *link, const struct inspect_question *question)
{
	uint64_t turn = link->turn;

	for (size_t i = 0; i < INSPECTORS_MAX; i++) {
		const struct inspect_question *held = link->ends[i].question;

		if (held && held->uid == question->uid && held->turn >= turn)
			turn = held->turn + 1;
	}
	for (struct list *at = link->line.next; at != &link->line; at = at->next) {
		const struct inspect_question *other =
			container_of(at, struct inspect_question, link);

		if (other->uid == question->uid && other->turn >= turn)
			turn = other->turn + 1;
	}
	return turn;
}

/* Sorted by turn, then by arrival. */
static void join_line(struct inspector_link *link, struct inspect_question *question)
{
	struct list *at = link->line.prev;

	while (at != &link->line &&
		container_of(at, struct inspect_question, link)->turn > question->turn)
		at = at->prev;
	list_append(at->next, &question->link);
	link->line_len++;
}

static void leave_line(struct inspector_link *link, struct inspect_question *question)
{
	list_remove(&question->link);
	link->line_len--;
}

/* ---- shares -------------------------------------------------------------------------------- */

static void note_asker(struct inspector_link *link, uint32_t uid)
{
	struct inspector_asker *seen = link->seen;

	if (seen[0].us && seen[0].uid != uid)
		seen[1] = seen[0];
	seen[0] = (struct inspector_asker){ uid, clock_us() };
}

/* Whether another user has asked lately. */
static bool is_crowded(const struct inspector_link *link, uint32_t uid)
{
	const struct inspector_asker *other = &link->seen[link->seen[0].uid == uid];

	return other->us && clock_us() - other->us < CROWD_US;
}

/*
 * A check may take seconds and is never interrupted.  So while other users are active, the last
 * free inspector does not go to a user who already has one.
 */
static bool may_have(const struct inspector_link *link, const struct inspect_question *question)
{
	unsigned there = 0;
	unsigned held = 0;

	if (!is_crowded(link, question->uid))
		return true;
	for (size_t i = 0; i < INSPECTORS_MAX; i++) {
		const struct inspector_end *end = &link->ends[i];

		there += end->state == INSPECTOR_FREE || end->state == INSPECTOR_BUSY;
		held += end->question && end->question->uid == question->uid;
	}
	return held == 0 || held + 1 < there;
}

/* The first question whose user may have an inspector, or NULL. */
static struct inspect_question *next_in_line(struct inspector_link *link)
{
	list_for_each(at, &link->line) {
		struct inspect_question *question = container_of(at, struct inspect_question, link);

		if (may_have(link, question))
			return question;
	}
	return NULL;
}

/* Whether its process has ended and the socket was not read since; then it gets no question. */
static bool has_gone(const struct inspector_end *end)
{
	char byte;
	ssize_t got = recv(watch_fd(end->watch), &byte, 1, MSG_PEEK | MSG_DONTWAIT);

	return got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
}

static void lose(struct inspector_end *end, enum inspect_end why, const char *text, bool retired);

static void pump(struct inspector_link *link)
{
	struct inspector_end *end;

	while (link->line_len > 0 && (end = find_free(link)) != NULL) {
		struct inspect_question *question = next_in_line(link);

		if (!question)
			return;
		if (has_gone(end)) {
			lose(end, INSPECT_END_LOST, "it has gone", false);
			continue;
		}
		leave_line(link, question);
		link->turn = question->turn;
		ask_one(end, question);
	}
}

/* ---- the end of an inspector --------------------------------------------------------------- */

static void shut(struct inspector_end *end)
{
	watch_close(end->watch);
	free(end->inbox);
	*end = (struct inspector_end){ .link = end->link };
}

/* The program need not be the cause.  The question goes to another inspector, before all others. */
static void ask_again(struct inspector_link *link, struct inspect_question *question)
{
	question->again = true;
	join_line(link, question);
	pump(link);
}

static void lose(struct inspector_end *end, enum inspect_end why, const char *text, bool retired)
{
	struct inspector_link *link = end->link;
	struct inspect_question *question = end->question;
	uint32_t child = end->child;

	shut(end);
	if (!retired)
		link->counts.lost++;
	if (why == INSPECT_END_LATE)
		link->counts.late++;
	if (question && why == INSPECT_END_LOST && !question->again)
		ask_again(link, question);
	else if (question)
		question->on_answer(question, why, NULL);
	link->events.lost(link->events.context, child, text, retired);
}

/* ---- receiving ----------------------------------------------------------------------------- */

static void on_ready(struct inspector_end *end, const char *body, size_t len)
{
	struct inspector_link *link = end->link;
	uint32_t child;

	if (len > 0) {
		char why[ERR_TEXT_MAX];

		cut_printf(why, sizeof(why), "%.*s", (int)len, body);
		lose(end, INSPECT_END_LOST, why, false);
		return;
	}
	child = end->child;
	link->counts.greeted++;
	end->state = INSPECTOR_FREE;
	end->inbox_len = 0;
	pump(link);
	if (link->events.ready)
		link->events.ready(link->events.context, child);
}

static void on_findings(struct inspector_end *end, const char *body, size_t len)
{
	struct inspector_link *link = end->link;
	struct inspect_question *question = end->question;
	struct inspect_findings findings;
	struct err err = ERR_INIT;

	if (inspect_findings_decode(question->arena, body, len, link->rule_count, &findings, &err) <
		0) {
		lose(end, INSPECT_END_LOST, err.text, false);
		return;
	}
	end->question = NULL;
	end->inbox_len = 0;
	end->busy_us += clock_us() - end->asked_us;
	link->counts.answered++;
	if (end->busy_us >= link->retire_us) {
		lose(end, INSPECT_END_LOST, "it has worked long enough", true);
	} else {
		end->state = INSPECTOR_FREE;
		pump(link);
	}
	question->on_answer(question, INSPECT_END_FOUND, &findings);
}

/* Which kinds of message are expected now, as bits. */
static uint32_t kinds_now(const struct inspector_end *end)
{
	if (end->state == INSPECTOR_GREETING)
		return 1U << INSPECT_READY;
	return end->state == INSPECTOR_BUSY ? 1U << INSPECT_FINDINGS | 1U << INSPECT_WORKING : 0;
}

/* Takes a WORKING message.  The bytes after it may be the answer. */
static bool take_beat(struct inspector_end *end, const struct inspect_head *head)
{
	if (head->id != end->id || !is_sent(end)) {
		lose(end, INSPECT_END_LOST, "it speaks out of turn", false);
		return false;
	}
	if (++end->beats > INSPECT_BEATS_MAX) {
		lose(end, INSPECT_END_LATE, "it works longer than it may", false);
		return false;
	}
	end->since_us = clock_us();
	end->inbox_len -= sizeof(*head);
	memmove(end->inbox, end->inbox + sizeof(*head), end->inbox_len);
	return true;
}

static void read_message(struct inspector_end *end)
{
	struct inspect_head head;
	struct err err = ERR_INIT;
	const char *body = end->inbox + sizeof(head);

	memcpy(&head, end->inbox, sizeof(head));
	if (inspect_head_check(&head, kinds_now(end), &err) < 0) {
		lose(end, INSPECT_END_LOST, err.text, false);
		return;
	}
	if (end->inbox_len < sizeof(head) + head.len)
		return;
	if (end->inbox_len > sizeof(head) + head.len || !is_sent(end))
		lose(end, INSPECT_END_LOST, "it speaks out of turn", false);
	else if (head.kind == INSPECT_READY)
		on_ready(end, body, head.len);
	else if (head.id != end->id)
		lose(end, INSPECT_END_LOST, "it answers another question", false);
	else
		on_findings(end, body, head.len);
}

static void read_inbox(struct inspector_end *end)
{
	struct inspect_head head;
	struct err ignored = ERR_INIT;

	while (end->inbox_len >= sizeof(head)) {
		memcpy(&head, end->inbox, sizeof(head));
		if (head.kind != INSPECT_WORKING ||
			inspect_head_check(&head, kinds_now(end), &ignored) < 0) {
			read_message(end);
			return;
		}
		if (!take_beat(end, &head))
			return;
	}
}

static void on_socket(void *owner, int events)
{
	struct inspector_end *end = owner;
	ssize_t got;

	if (events & UV_WRITABLE) {
		send_on(end);
		if (is_sent(end))
			watch_want(end->watch, UV_READABLE);
	}
	if (!(events & UV_READABLE))
		return;
	got = recv(watch_fd(end->watch), end->inbox + end->inbox_len, INBOX_BYTES - end->inbox_len,
		MSG_DONTWAIT);
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got <= 0) {
		lose(end, INSPECT_END_LOST, "it has gone", false);
		return;
	}
	end->inbox_len += (size_t)got;
	read_inbox(end);
}

/* ---- the clock ----------------------------------------------------------------------------- */

/* The longest that any inspector is given to get ready. */
static uint32_t ready_most_ms(const struct inspector_link *link)
{
	return link->ready_first_ms * INSPECT_READY_TIMES_MAX;
}

/* It may need more time on this host: the next one gets it. */
static void lose_slow(struct inspector_end *end)
{
	struct inspector_link *link = end->link;
	uint32_t most_ms = ready_most_ms(link);
	uint32_t next_ms = end->ready_ms * 2 < most_ms ? end->ready_ms * 2 : most_ms;

	if (link->ready_ms < next_ms)
		link->ready_ms = next_ms;
	lose(end, INSPECT_END_LOST, "it does not get ready", false);
}

static void check_end(struct inspector_end *end, int64_t now_us)
{
	int64_t spent_ms = (now_us - end->since_us) / 1000;

	if (end->state == INSPECTOR_BUSY && spent_ms >= end->link->patience.silent_ms)
		lose(end, INSPECT_END_LOST, "it is stuck", false);
	else if (end->state == INSPECTOR_GREETING && spent_ms >= end->ready_ms)
		lose_slow(end);
}

static bool has_anybody_who(const struct inspector_link *link, uint32_t states)
{
	for (size_t i = 0; i < INSPECTORS_MAX; i++)
		if (states & (1U << link->ends[i].state))
			return true;
	return false;
}

/*
 * How long a question may stand in line, and how it then ends.  While inspectors are getting ready,
 * it waits as long as the slowest host needs: runs that came early are not denied for that.
 */
static uint32_t patience_ms(const struct inspector_link *link, enum inspect_end *ret_end)
{
	*ret_end = INSPECT_END_ABSENT;
	if (has_anybody_who(link, 1U << INSPECTOR_FREE | 1U << INSPECTOR_BUSY)) {
		*ret_end = INSPECT_END_BUSY;
		return link->patience.line_ms;
	}
	if (has_anybody_who(link, 1U << INSPECTOR_GREETING) ||
		link->ready_ms > link->ready_first_ms)
		return ready_most_ms(link);
	return link->patience.absent_ms;
}

/* The first question that has waited too long, or NULL.  Time before `from_ms` does not count. */
static struct inspect_question *find_tired(
	const struct inspector_link *link, uint32_t most_ms, int64_t from_ms)
{
	int64_t now_ms = clock_ms();

	for (struct list *at = link->line.next; at != &link->line; at = at->next) {
		struct inspect_question *question = container_of(at, struct inspect_question, link);
		int64_t since_ms = question->asked_ms > from_ms ? question->asked_ms : from_ms;

		if (now_ms - since_ms >= most_ms)
			return question;
	}
	return NULL;
}

/* Without inspectors, a question waits from the moment when the last one was there. */
static void check_line(struct inspector_link *link)
{
	for (;;) {
		enum inspect_end end;
		uint32_t most_ms = patience_ms(link, &end);
		struct inspect_question *question;

		if (end == INSPECT_END_BUSY)
			link->served_ms = clock_ms();
		question =
			find_tired(link, most_ms, end == INSPECT_END_ABSENT ? link->served_ms : 0);
		if (!question)
			return;
		leave_line(link, question);
		question->on_answer(question, end, NULL);
	}
}

static bool is_waiting(const struct inspector_link *link)
{
	return link->line_len > 0 ||
	       has_anybody_who(link, 1U << INSPECTOR_BUSY | 1U << INSPECTOR_GREETING);
}

/* Runs regularly while the link waits for something.  Deadlines are this coarse. */
static void on_tick(void *owner)
{
	struct inspector_link *link = owner;
	int64_t now_us = clock_us();

	link->timer_runs = false;
	for (size_t i = 0; i < INSPECTORS_MAX; i++)
		check_end(&link->ends[i], now_us);
	check_line(link);
	if (is_waiting(link))
		arm_timer(link, LOOK_MS);
}

/* ---- what others call ---------------------------------------------------------------------- */

void inspector_link_retire_after(struct inspector_link *link, uint32_t busy_ms)
{
	link->retire_us = (int64_t)busy_ms * 1000;
}

void inspector_link_ready_in(struct inspector_link *link, uint32_t ready_ms)
{
	link->ready_first_ms = ready_ms;
	link->ready_ms = ready_ms;
}

void inspector_link_patience(struct inspector_link *link, const struct inspector_patience *patience)
{
	link->patience = *patience;
}

struct inspector_link *inspector_link_new(uv_loop_t *loop, const struct buf *rules,
	uint32_t rule_count, const struct inspector_events *events, struct err *err)
{
	struct inspector_link *link = calloc(1, sizeof(*link));

	if (link)
		link->timer = timer_new(loop, LOOK_MS, 0, on_tick, link);
	if (!link || !link->timer) {
		free(link);
		(void)err_set(err, ERR_MEMORY, "no memory for inspectors");
		return NULL;
	}
	link->loop = loop;
	link->rules = rules;
	link->rule_count = rule_count;
	link->events = *events;
	link->timer_runs = true;
	inspector_link_retire_after(link, INSPECT_RETIRE_BUSY_MS);
	inspector_link_ready_in(link, INSPECT_READY_MS);
	inspector_link_patience(link, &(struct inspector_patience){ INSPECT_SILENT_MS,
					      INSPECT_LINE_MS, INSPECT_ABSENT_MS });
	list_init(&link->line);
	for (size_t i = 0; i < INSPECTORS_MAX; i++)
		link->ends[i].link = link;
	return link;
}

static struct inspector_end *find_empty(struct inspector_link *link)
{
	for (size_t i = 0; i < INSPECTORS_MAX; i++)
		if (link->ends[i].state == INSPECTOR_NONE)
			return &link->ends[i];
	return NULL;
}

int inspector_link_add(struct inspector_link *link, int fd, uint32_t child, struct err *err)
{
	struct inspector_end *end = find_empty(link);
	char *inbox = malloc(INBOX_BYTES);
	struct watch *watch = NULL;

	if (end && inbox)
		watch = watch_new(link->loop, fd, UV_READABLE, on_socket, end);
	else
		close(fd);
	if (!watch) {
		free(inbox);
		return err_set(err, ERR_MEMORY, "no room for another inspector");
	}
	end->state = INSPECTOR_GREETING;
	end->child = child;
	end->ready_ms = link->ready_ms;
	end->watch = watch;
	end->inbox = inbox;
	end->since_us = clock_us();
	end->out[0] = (struct iovec){ link->rules->bytes, link->rules->len };
	send_on(end);
	arm_timer(link, LOOK_MS);
	return 0;
}

int inspector_link_ask(
	struct inspector_link *link, struct inspect_question *question, struct err *err)
{
	if (link->line_len >= INSPECT_QUEUE_MAX)
		return err_set(err, ERR_BUSY, "too many programs wait to be checked");
	question->asked_ms = clock_ms();
	question->again = false;
	question->turn = turn_of(link, question);
	note_asker(link, question->uid);
	join_line(link, question);
	pump(link);
	arm_timer(link, LOOK_LATER_MS);
	return 0;
}

bool inspector_link_withdraw(struct inspector_link *link,
	bool (*is_meant)(struct inspect_question *question, const void *context),
	const void *context)
{
	list_for_each(at, &link->line) {
		struct inspect_question *question = container_of(at, struct inspect_question, link);

		if (!is_meant(question, context))
			continue;
		leave_line(link, question);
		return true;
	}
	return false;
}

struct inspector_counts inspector_link_counts(const struct inspector_link *link)
{
	struct inspector_counts counts = link->counts;

	for (size_t i = 0; i < INSPECTORS_MAX; i++) {
		enum inspector_state state = link->ends[i].state;

		counts.alive += state != INSPECTOR_NONE;
		counts.ready += state == INSPECTOR_FREE || state == INSPECTOR_BUSY;
	}
	counts.waiting = link->line_len;
	counts.ready_ms = link->ready_ms;
	return counts;
}

static void answer_absent(struct inspect_question *question)
{
	question->on_answer(question, INSPECT_END_ABSENT, NULL);
}

void inspector_link_close(struct inspector_link *link)
{
	if (!link)
		return;
	timer_close(link->timer);
	for (size_t i = 0; i < INSPECTORS_MAX; i++) {
		struct inspect_question *question = link->ends[i].question;

		if (link->ends[i].state != INSPECTOR_NONE)
			shut(&link->ends[i]);
		if (question)
			answer_absent(question);
	}
	while (link->line_len > 0) {
		struct inspect_question *question =
			container_of(link->line.next, struct inspect_question, link);

		leave_line(link, question);
		answer_absent(question);
	}
	free(link);
}
