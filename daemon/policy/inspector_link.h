/*
 * Asks inspector processes to check programs.  It lives in the loop.
 *
 * The owner starts inspectors and adds their sockets.  An inspector gets the rules, reports READY,
 * and then answers one question at a time.  If none is free, a question waits in line.  It waits
 * longer while an inspector is getting ready, since after a start none is ready yet.
 *
 *	GREETING --READY--> FREE <--> BUSY      any of them --> lost: reported once, socket closed
 *
 * Every question gets exactly one answer, later, from the loop: the findings, or the reason why
 * there are none.  The inspector counts its own CPU time and reports WORKING messages.  So a busy
 * host makes an answer slow, but never different.  An inspector that dies, falls silent or breaks
 * the protocol is lost.  Its question goes to another inspector, once.  An inspector that has
 * worked long enough is retired between two questions, before the limit on its CPU time can kill
 * it during one.
 *
 * Users take turns: a user with many questions waits behind a user with few.
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
#define INSPECT_BEATS_MAX \
	(2U * INSPECT_CHECK_US / INSPECT_BEAT_US) /* of an inspector that counts correctly */
#define INSPECT_SILENT_MS 10000U /* at work without a WORKING message: it is stuck */
#define INSPECT_LINE_MS   30000U /* in line, while there are inspectors */
#define INSPECT_ABSENT_MS 5000U  /* in line, while there is none */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define INSPECT_READY_MS 60000U /* sanitizers are slow */
#else
#define INSPECT_READY_MS 30000U /* from the socket to READY, at first */
#endif
#define INSPECT_READY_TIMES_MAX 4U    /* the limit grows up to so many times that */
#define INSPECT_RETIRE_BUSY_MS  20000 /* all its questions together */

struct inspector_link;

enum inspect_end {
	INSPECT_END_FOUND,  /* an answer */
	INSPECT_END_LATE,   /* its inspector worked longer than allowed */
	INSPECT_END_LOST,   /* two inspectors were lost while they checked it */
	INSPECT_END_ABSENT, /* there was no inspector, or the link was closed */
	INSPECT_END_BUSY,   /* no inspector was free in time */
};

/*
 * One question.  The caller owns it, `code` and `arena`, and keeps them until the answer.  The
 * findings are allocated in the arena.
 */
struct inspect_question {
	struct list link;
	uint32_t policy;
	uint32_t language;
	struct bytes code;
	struct arena *arena;
	uint32_t uid; /* of the caller */
	int64_t asked_ms;
	uint64_t turn; /* in the order of the line */
	bool again;    /* one inspector was already lost with it */
	void (*on_answer)(struct inspect_question *question, enum inspect_end end,
		const struct inspect_findings *findings);
};

/* Callbacks to the owner of the inspectors.  `ready` may be NULL. */
struct inspector_events {
	/* The inspector `child` has accepted the rules and takes questions. */
	void (*ready)(void *context, uint32_t child);
	/*
	 * The inspector `child` is no longer used.  The owner kills it and adds another, except at
	 * shutdown.  `retired`: it did nothing wrong.
	 */
	void (*lost)(void *context, uint32_t child, const char *why, bool retired);
	void *context;
};

/* `rules` is a whole RULES message, kept by the caller as long as the link lives. */
struct inspector_link *inspector_link_new(uv_loop_t *loop, const struct buf *rules,
	uint32_t rule_count, const struct inspector_events *events, struct err *err);

/* Takes the daemon's end of an inspector's socket on every path. */
int inspector_link_add(struct inspector_link *link, int fd, uint32_t child, struct err *err);

/* 0: an answer will come.  -1 with ERR_BUSY: the line is full, and none will come. */
int inspector_link_ask(
	struct inspector_link *link, struct inspect_question *question, struct err *err);

/*
 * Removes the first question in the line for which `is_meant` returns true; it gets no answer.
 * Returns false if there is none in the line.  An inspector may have it then.
 */
bool inspector_link_withdraw(struct inspector_link *link,
	bool (*is_meant)(struct inspect_question *question, const void *context),
	const void *context);

/* How long an inspector works before it is retired.  The default is INSPECT_RETIRE_BUSY_MS. */
void inspector_link_retire_after(struct inspector_link *link, uint32_t busy_ms);

/*
 * How long an inspector may take to get ready.  The default is INSPECT_READY_MS.  If one needs
 * longer, the next one is given twice the time; else none would get ready on a slow host.
 */
void inspector_link_ready_in(struct inspector_link *link, uint32_t ready_ms);

/* How long the link waits.  The defaults are INSPECT_..._MS. */
struct inspector_patience {
	uint32_t silent_ms;
	uint32_t line_ms;
	uint32_t absent_ms;
};

void inspector_link_patience(
	struct inspector_link *link, const struct inspector_patience *patience);

struct inspector_counts {
	uint32_t ready_ms; /* how long the next one may take */
	uint32_t alive;
	uint32_t ready;
	uint32_t waiting; /* questions in line */
	uint64_t greeted; /* inspectors that got ready, ever */
	uint64_t answered;
	uint64_t late;
	uint64_t lost; /* inspectors, without the retired ones */
};

struct inspector_counts inspector_link_counts(const struct inspector_link *link);

/* Answers open questions with INSPECT_END_ABSENT and closes the sockets.  Accepts NULL. */
void inspector_link_close(struct inspector_link *link);
