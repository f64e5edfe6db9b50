#include "daemon/record/page_check.h"

#include "proto/base/clock.h"
#include "proto/base/container.h"
#include "proto/base/log.h"
#include "proto/fill.h"

#define TOLD_MS  60000 /* damage that queries find is logged once in this time */
#define FIRST_MS 60000 /* after the start, when other parts use the disk */

static int page_check_read(
	struct store_task *task, struct store *store, const atomic_bool *stop, struct err *err)
{
	struct page_check *check = container_of(task, struct page_check, task);

	return store_check(store, stop, &check->findings, err);
}

static void page_check_log(const struct page_check *check)
{
	if (check->failed[0])
		log_event(LOG_LEVEL_WARNING, "store.not_checked", LOG_STR("why", check->failed));
	else if (check->damages)
		log_event(LOG_LEVEL_ERROR, "store.damaged", LOG_INT("damages", check->damages),
			LOG_STR("first", check->first), LOG_INT("took_ms", check->took_ms));
	else
		log_event(LOG_LEVEL_INFO, "store.checked",
			LOG_INT("tables", check->findings.tables),
			LOG_INT("took_ms", check->took_ms));
}

static void on_page_check(struct store_task *task, const struct err *err)
{
	struct page_check *check = container_of(task, struct page_check, task);

	check->under_way = false;
	if (check->closing)
		return;
	check->has_looked = true;
	check->at_wall_us = clock_wall_us();
	check->took_ms = clock_ms() - check->begun_ms;
	check->damages = check->findings.damages;
	cut_printf(check->first, sizeof(check->first), "%s", check->findings.first);
	cut_printf(check->failed, sizeof(check->failed), "%s", err ? err->text : "");
	page_check_log(check);
	timer_set(check->timer, check->interval_ms);
}

static void begin(void *owner)
{
	struct page_check *check = owner;

	check->under_way = true;
	check->begun_ms = clock_ms();
	store_thread_put(check->thread, &check->task);
}

void page_check_start(struct page_check *check, uv_loop_t *loop, struct store_thread *thread,
	uint64_t interval_ms)
{
	uint64_t first_ms = interval_ms < FIRST_MS ? interval_ms : FIRST_MS;

	*check = (struct page_check){ .thread = thread, .interval_ms = interval_ms };
	check->task.run = page_check_read;
	check->task.done = on_page_check;
	if (interval_ms)
		check->timer = timer_new(loop, first_ms, 0, begin, check);
}

void page_check_stop(struct page_check *check)
{
	check->closing = true;
	timer_close(check->timer);
	check->timer = NULL;
}

void page_check_note_damage(struct page_check *check, const struct err *err)
{
	int64_t now_ms = clock_ms();

	if (err->code != ERR_CORRUPT)
		return;
	cut_printf(check->met_last, sizeof(check->met_last), "%s", err->text);
	if (check->met++ && now_ms - check->met_ms < TOLD_MS)
		return;
	check->met_ms = now_ms;
	log_event(LOG_LEVEL_ERROR, "store.damage_met", LOG_STR("why", err->text),
		LOG_INT("times", check->met));
	if (check->timer && !check->under_way && !check->closing)
		timer_set(check->timer, 0);
}

struct value *page_check_describe(const struct page_check *check, struct arena *arena)
{
	struct fill fill = fill_start(arena);

	if (!check->has_looked && !check->met)
		return value_nil(arena);
	if (check->met) {
		fill_uint(&fill, "met", check->met);
		fill_text(&fill, "met_last", check->met_last);
	}
	if (!check->has_looked)
		return fill_done(&fill);
	fill_int(&fill, "at_us", check->at_wall_us);
	fill_int(&fill, "took_ms", check->took_ms);
	fill_uint(&fill, "damages", check->damages);
	if (check->damages)
		fill_text(&fill, "first", check->first);
	if (check->failed[0])
		fill_text(&fill, "failed", check->failed);
	return fill_done(&fill);
}
