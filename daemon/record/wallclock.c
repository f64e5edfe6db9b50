#include "daemon/record/wallclock.h"

#include <stdlib.h>

#include "proto/base/clock.h"
#include "proto/base/log.h"
#include "proto/fill.h"

#define LOOK_MS 1000
#define JUMP_US 500000 /* slewing a clock moves it a thousandth of that in a second */
#define CALM_US (INT64_C(86400) * 1000000)
#define REST_US (INT64_C(86400) * 1000000) /* between two daemons: if longer, the clock was set */

/* Counts how far the clock was set ahead; setting it back reduces that. */
static void note_set(struct wallclock *wallclock, int64_t by_us)
{
	wallclock->set_ahead_us += by_us;
	if (wallclock->set_ahead_us < 0)
		wallclock->set_ahead_us = 0;
}

void wallclock_look(struct wallclock *wallclock, int64_t wall_us, int64_t steady_us)
{
	int64_t ahead_us = wall_us - steady_us;
	int64_t jump_us = ahead_us - wallclock->ahead_us;

	wallclock->ahead_us = ahead_us;
	if (llabs(jump_us) < JUMP_US) {
		if (steady_us - wallclock->calm_since_us >= CALM_US) {
			wallclock->believed_us = ahead_us;
			wallclock->set_ahead_us = 0;
		}
		return;
	}
	note_set(wallclock, jump_us);
	wallclock->calm_since_us = steady_us;
	wallclock->jumps++;
	wallclock->last_jump_ms = jump_us / 1000;
	log_event(LOG_LEVEL_WARNING, "clock.jumped", LOG_INT("by_ms", wallclock->last_jump_ms));
}

int64_t wallclock_surely_us(const struct wallclock *wallclock, int64_t wall_us, int64_t steady_us)
{
	int64_t by_steady_us = steady_us + wallclock->believed_us;

	return wall_us < by_steady_us ? wall_us : by_steady_us;
}

struct store_clock wallclock_worth(
	const struct wallclock *wallclock, int64_t wall_us, int64_t steady_us)
{
	return (struct store_clock){ .wall_us = wall_us,
		.surely_us = wallclock_surely_us(wallclock, wall_us, steady_us),
		.calm_us = steady_us - wallclock->calm_since_us,
		.ahead_us = wallclock->set_ahead_us };
}

void wallclock_recall(struct wallclock *wallclock, const struct store_clock *before,
	int64_t wall_us, int64_t steady_us)
{
	int64_t rest_us = wall_us - before->wall_us;
	bool passed = before->wall_us && rest_us > -JUMP_US && rest_us <= REST_US;

	wallclock->set_ahead_us = before->ahead_us;
	if (before->wall_us && !passed)
		note_set(wallclock, rest_us);
	if (rest_us < 0)
		rest_us = 0;
	wallclock->ahead_us = wall_us - steady_us;
	wallclock->believed_us = before->surely_us + (passed ? rest_us : 0) - steady_us;
	wallclock->calm_since_us = steady_us - (passed ? before->calm_us + rest_us : 0);
	if (before->wall_us && !passed && rest_us > 0)
		log_event(LOG_LEVEL_WARNING, "clock.doubted", LOG_INT("by_ms", rest_us / 1000),
			LOG_STR("so",
				"gc deletes nothing by age until the clock has not jumped for a day"));
}

static void on_look(void *owner)
{
	struct wallclock *wallclock = owner;
	int64_t wall_us = clock_wall_us();
	int64_t steady_us = clock_us();
	struct store_clock worth;

	wallclock_look(wallclock, wall_us, steady_us);
	worth = wallclock_worth(wallclock, wall_us, steady_us);
	if (wallclock->recorder)
		recorder_note_clock(wallclock->recorder, &worth);
}

static void follow(uint64_t newest_ms, uint64_t now_ms, struct ulid_source *ids)
{
	bool goes_on = newest_ms - now_ms <= WALLCLOCK_BACK_MS;

	log_event(LOG_LEVEL_WARNING, "clock.behind",
		LOG_INT("by_ms", (int64_t)(newest_ms - now_ms)),
		LOG_STR("ids", goes_on ? "go on from the newest record" : "follow the clock"));
	if (goes_on)
		ids->last_ms = newest_ms + 1; /* after each id of that millisecond */
}

void wallclock_start(struct wallclock *wallclock, uv_loop_t *loop, struct recorder *recorder,
	const struct store_clock *before, uint64_t newest_ms, struct ulid_source *ids)
{
	int64_t now_us = clock_wall_us();

	*wallclock = (struct wallclock){ .recorder = recorder };
	wallclock_recall(wallclock, before, now_us, clock_us());
	on_look(wallclock);
	if (newest_ms > (uint64_t)now_us / 1000)
		follow(newest_ms, (uint64_t)now_us / 1000, ids);
	wallclock->timer = timer_new(loop, LOOK_MS, LOOK_MS, on_look, wallclock);
}

void wallclock_stop(struct wallclock *wallclock)
{
	timer_close(wallclock->timer);
	wallclock->timer = NULL;
}

struct value *wallclock_describe(const struct wallclock *wallclock, struct arena *arena)
{
	struct fill fill = fill_start(arena);

	fill_uint(&fill, "jumps", wallclock->jumps);
	fill_int(&fill, "last_jump_ms", wallclock->last_jump_ms);
	fill_int(&fill, "doubted_ms", wallclock->set_ahead_us / 1000);
	return fill_done(&fill);
}
