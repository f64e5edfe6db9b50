/*
 * Checks all pages of the store at an interval.  Puts the result into the status, and logs damage.
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
	struct store_findings findings; /* of the current check, then of the last one */
	/* of the last check: */
	bool has_looked;
	int64_t at_wall_us, took_ms;
	uint64_t damages;
	char first[sizeof(((struct store_findings *)NULL)->first)];
	char failed[ERR_TEXT_MAX]; /* why it did not complete, or "" */
	/* found by queries since the start, which alone find damage inside a content: */
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
 * Reports damage that a query found: logs it, shows it in the status, and soon checks all pages.
 * Does so at most once a minute; further damage is only counted.
 */
void page_check_note_damage(struct page_check *check, const struct err *err);

/* {at_us, took_ms, damages, first?, failed?, met?, met_last?}; nil: no check and no damage yet. */
struct value *page_check_describe(const struct page_check *check, struct arena *arena);
