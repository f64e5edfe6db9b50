/*
 * Asks inspector processes; lives in the loop.
 *
 * The owner makes inspectors and adds their sockets.  Each gets the rules, says that it is ready,
 * and then answers one question at a time; questions that find none free wait in line, in order, and
 * longer while one is getting ready: at the start of a day nobody is.
 *
 *	GREETING --READY--> FREE <--> BUSY          any of them --> lost: told once, socket closed
 *
 * Every question is answered exactly once, later, from the loop: with what was found, or with the
 * reason why there is no answer.  What an answer may cost is CPU time, which the inspector counts and
 * reports while it works (WORKING), so a busy host makes an answer slow and never another one.  An
 * inspector that dies, falls silent or breaks the conversation is lost, and the question that it held
 * goes to another one, once.  One that has worked long enough is let go between two questions, before
 * the limit on its cpu time can strike in the middle of one.
 *
 * Users take turns: whoever asks much waits behind whoever asks little.
 */
#pragma once

#include <stdbool.h>

#include <uv.h>

#include "proto/base/arena.h"
#include "proto/base/err.h"
#include "proto/base/list.h"
#include "proto/internal/inspectmsg.h"
#include "proto/job/job.h"

#define INSPECTORS_MAX    16U
#define INSPECT_QUEUE_MAX 256U
#define INSPECT_BEATS_MAX (2U * INSPECT_CHECK_US / INSPECT_BEAT_US) /* of one that counts right */
#define INSPECT_SILENT_MS 10000U /* at work without a sign of it: then it is stuck */
#define INSPECT_LINE_MS   30000U /* in line, while there are inspectors */
#define INSPECT_ABSENT_MS 5000U  /* in line, while there is none */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define INSPECT_READY_MS 60000U /* instruments are slow */
#else
#define INSPECT_READY_MS 10000U /* from the socket to READY, at first */
#endif
#define INSPECT_READY_TIMES_MAX 8U    /* so many times that, where it was not enough */
#define INSPECT_RETIRE_BUSY_MS  20000 /* all its questions together */

struct inspector_link;

enum inspect_end {
	INSPECT_END_FOUND,  /* an answer */
	INSPECT_END_LATE,   /* its inspector worked longer than it may */
	INSPECT_END_LOST,   /* two inspectors broke off over it */
	INSPECT_END_ABSENT, /* there was no inspector, or the link was closed */
	INSPECT_END_BUSY,   /* there were inspectors, and none was free in time */
};

/*
 * One question.  Lives in a struct of the asker's, as do `code` and `arena`, until it is answered;
 * findings are put into the arena.
 */
struct inspect_question {
	struct list link;
	uint32_t policy;
	uint32_t language;
	struct bytes code;
	struct arena *arena;
	uint32_t uid; /* whose it is */
	int64_t asked_ms;
	uint64_t turn; /* in the order of the line */
	bool again;    /* an inspector was lost over it already */
	void (*on_answer)(struct inspect_question *question, enum inspect_end end,
		const struct inspect_findings *findings);
};

/* What whoever adds inspectors is told of them; ready may be NULL. */
struct inspector_events {
	/* The one that was added as `child` has taken the rules and can be asked. */
	void (*ready)(void *context, uint32_t child);
	/*
	 * The one that was added as `child` is of no use any more: kill it, and add another unless
	 * the house closes.  `retired` says that it did nothing wrong.
	 */
	void (*lost)(void *context, uint32_t child, const char *why, bool retired);
	void *context;
};

/* `rules` is a whole RULES message, kept by the caller as long as the link lives. */
struct inspector_link *inspector_link_new(uv_loop_t *loop, const struct buf *rules,
	uint32_t rule_count, const struct inspector_events *events, struct err *err);

/* Takes the daemon's end of an inspector's socket on every path. */
int inspector_link_add(struct inspector_link *link, int fd, uint32_t child, struct err *err);

/* 0: it will be answered.  -1 with ERR_BUSY: the line is full; it will not. */
int inspector_link_ask(
	struct inspector_link *link, struct inspect_question *question, struct err *err);

/*
 * Takes the first question in the line that is meant out of it: true, and it will not be answered.
 * False: none is in the line; an inspector may have it.
 */
bool inspector_link_withdraw(struct inspector_link *link,
	bool (*is_meant)(struct inspect_question *question, const void *context),
	const void *context);

/* How long an inspector may work before it is let go; INSPECT_RETIRE_BUSY_MS until told otherwise. */
void inspector_link_retire_after(struct inspector_link *link, uint32_t busy_ms);

/*
 * How long one may take to get ready; INSPECT_READY_MS until told otherwise.  On a slow host whoever
 * comes after one that needed longer is given twice as long, or nobody would ever get ready.
 */
void inspector_link_ready_in(struct inspector_link *link, uint32_t ready_ms);

/* How long is waited; the INSPECT_..._MS until told otherwise. */
struct inspector_patience {
	uint32_t silent_ms;
	uint32_t line_ms;
	uint32_t absent_ms;
};

void inspector_link_patience(
	struct inspector_link *link, const struct inspector_patience *patience);

struct inspector_counts {
	uint32_t ready_ms; /* that the next one may take */
	uint32_t alive;
	uint32_t ready;
	uint32_t waiting; /* questions in line */
	uint64_t greeted; /* inspectors that ever got ready */
	uint64_t answered;
	uint64_t late;
	uint64_t lost; /* inspectors, those retired not counted */
};

struct inspector_counts inspector_link_counts(const struct inspector_link *link);

/* Answers what is open with INSPECT_END_ABSENT and closes the sockets.  Accepts NULL. */
void inspector_link_close(struct inspector_link *link);
