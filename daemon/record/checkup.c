#include "daemon/record/checkup.h"

#include "proto/base/clock.h"
#include "proto/base/container.h"
#include "proto/base/log.h"
#include "proto/fill.h"

#define TOLD_MS  60000 /* damage that questions meet is logged so often */
#define FIRST_MS 60000 /* behind the start, when others want the disk */

static int look(struct chore *chore, struct store *store, const atomic_bool *stop, struct err *err)
{
	struct checkup *checkup = container_of(chore, struct checkup, chore);

	return store_check(store, stop, &checkup->findings, err);
}

static void tell(const struct checkup *checkup)
{
	if (checkup->failed[0])
		log_event(LOG_LEVEL_WARNING, "store.not_checked", LOG_STR("why", checkup->failed));
	else if (checkup->damages)
		log_event(LOG_LEVEL_ERROR, "store.damaged", LOG_INT("damages", checkup->damages),
			LOG_STR("first", checkup->first), LOG_INT("took_ms", checkup->took_ms));
	else
		log_event(LOG_LEVEL_INFO, "store.checked",
			LOG_INT("tables", checkup->findings.tables),
			LOG_INT("took_ms", checkup->took_ms));
}

static void looked(struct chore *chore, const struct err *err)
{
	struct checkup *checkup = container_of(chore, struct checkup, chore);

	checkup->under_way = false;
	if (checkup->closing)
		return;
	checkup->has_looked = true;
	checkup->at_wall_us = clock_wall_us();
	checkup->took_ms = clock_ms() - checkup->begun_ms;
	checkup->damages = checkup->findings.damages;
	cut_printf(checkup->first, sizeof(checkup->first), "%s", checkup->findings.first);
	cut_printf(checkup->failed, sizeof(checkup->failed), "%s", err ? err->text : "");
	tell(checkup);
	timer_set(checkup->timer, checkup->interval_ms);
}

static void begin(void *owner)
{
	struct checkup *checkup = owner;

	checkup->under_way = true;
	checkup->begun_ms = clock_ms();
	caretaker_put(checkup->caretaker, &checkup->chore);
}

void checkup_start(
	struct checkup *checkup, uv_loop_t *loop, struct caretaker *caretaker, uint64_t interval_ms)
{
	uint64_t first_ms = interval_ms < FIRST_MS ? interval_ms : FIRST_MS;

	*checkup = (struct checkup){ .caretaker = caretaker, .interval_ms = interval_ms };
	checkup->chore.run = look;
	checkup->chore.done = looked;
	if (interval_ms)
		checkup->timer = timer_new(loop, first_ms, 0, begin, checkup);
}

void checkup_stop(struct checkup *checkup)
{
	checkup->closing = true;
	timer_close(checkup->timer);
	checkup->timer = NULL;
}

void checkup_met(struct checkup *checkup, const struct err *err)
{
	int64_t now_ms = clock_ms();

	if (err->code != ERR_CORRUPT)
		return;
	cut_printf(checkup->met_last, sizeof(checkup->met_last), "%s", err->text);
	if (checkup->met++ && now_ms - checkup->met_ms < TOLD_MS)
		return;
	checkup->met_ms = now_ms;
	log_event(LOG_LEVEL_ERROR, "store.damage_met", LOG_STR("why", err->text),
		LOG_INT("times", checkup->met));
	if (checkup->timer && !checkup->under_way && !checkup->closing)
		timer_set(checkup->timer, 0);
}

struct value *checkup_describe(const struct checkup *checkup, struct arena *arena)
{
	struct fill fill = fill_start(arena);

	if (!checkup->has_looked && !checkup->met)
		return value_nil(arena);
	if (checkup->met) {
		fill_uint(&fill, "met", checkup->met);
		fill_text(&fill, "met_last", checkup->met_last);
	}
	if (!checkup->has_looked)
		return fill_done(&fill);
	fill_int(&fill, "at_us", checkup->at_wall_us);
	fill_int(&fill, "took_ms", checkup->took_ms);
	fill_uint(&fill, "damages", checkup->damages);
	if (checkup->damages)
		fill_text(&fill, "first", checkup->first);
	if (checkup->failed[0])
		fill_text(&fill, "failed", checkup->failed);
	return fill_done(&fill);
}
