/*
 * Checks all pages of the store at an interval. The result goes to the status, and damage to the log.
 */
#pragma once

#include "daemon/record/store_thread.h"
#include "proto/value.h"
#include "store/maintenance.h"

struct page_check {
	struct store_task task;
	struct store_thread *thread;
	struct timer *timer;
	uint64_t interval_ms;
	bool under_way;
	bool closing;
	int64_t begun_ms;
	struct store_findings findings; /* of the look that is under way; then of the last one */
	/* of the last one: */
	bool has_looked;
	int64_t at_wall_us, took_ms;
	uint64_t damages;
	char first[sizeof(((struct store_findings *)NULL)->first)];
	char failed[ERR_TEXT_MAX]; /* why it did not come to its end, or "" */
	/* by questions, since the start; damage in a content is found by nothing else: */
	uint64_t met;
	int64_t met_ms; /* when it was logged last */
	char met_last[ERR_TEXT_MAX];
};

/* `interval_ms` 0: never. */
void page_check_start(struct page_check *check, uv_loop_t *loop, struct store_thread *thread,
	uint64_t interval_ms);
/* Before store_thread_close(). */
void page_check_stop(struct page_check *check);

/*
 * A query found damage: it is logged and shown in the status, and all pages are checked soon. At most once a
  * minute; further damage is only counted.
 */
void page_check_note_damage(struct page_check *check, const struct err *err);

/* {at_us, took_ms, damages, first?, failed?, met?, met_last?}; nil: there was no look yet, and nothing met. */
struct value *page_check_describe(const struct page_check *check, struct arena *arena);
