#include "daemon/door/turns.h"

#include <stdlib.h>

#include "proto/base/container.h"

/*
 * One user.  A lane exists from the first message of a turn until a turn in which none of the
 * user's connections waits.
 */
struct lane {
	struct list link;
	uint32_t uid;
	unsigned taken; /* in this turn */
	struct list waiting;
};

static struct lane *lane_of(const struct turns *turns, uint32_t uid)
{
	list_for_each(at, &turns->lanes) {
		struct lane *lane = container_of(at, struct lane, link);

		if (lane->uid == uid)
			return lane;
	}
	return NULL;
}

static void free_lane(struct lane *lane)
{
	list_remove(&lane->link);
	free(lane);
}

/* Resumes waiting connections in order of arrival, until the turn is used up again. */
static void serve(struct turns *turns, struct lane *lane)
{
	struct list *first;

	while (lane->taken < TURN_MESSAGES && (first = list_first(&lane->waiting))) {
		list_remove(first);
		turns->on_turn(first);
	}
}

static void on_check(uv_check_t *check)
{
	struct turns *turns = check->data;
	bool waits = false;

	list_for_each(at, &turns->lanes) {
		struct lane *lane = container_of(at, struct lane, link);

		lane->taken = 0;
		if (list_is_empty(&lane->waiting))
			free_lane(lane);
		else
			serve(turns, lane);
	}
	list_for_each(at, &turns->lanes)
		waits = waits || !list_is_empty(&container_of(at, struct lane, link)->waiting);
	if (!waits)
		(void)uv_idle_stop(&turns->idle);
	if (list_is_empty(&turns->lanes))
		(void)uv_check_stop(check);
}

/* Does nothing: an active idle handle keeps the loop from sleeping. */
static void on_idle(uv_idle_t *idle)
{
	(void)idle;
}

void turns_init(struct turns *turns, uv_loop_t *loop, void (*on_turn)(struct list *link))
{
	list_init(&turns->lanes);
	turns->on_turn = on_turn;
	(void)uv_check_init(loop, &turns->check); /* neither can fail */
	(void)uv_idle_init(loop, &turns->idle);
	turns->check.data = turns;
}

static struct lane *lane_made(struct turns *turns, uint32_t uid)
{
	struct lane *lane = lane_of(turns, uid);

	if (lane)
		return lane;
	lane = calloc(1, sizeof(*lane));
	if (!lane)
		return NULL;
	lane->uid = uid;
	list_init(&lane->waiting);
	list_append(&turns->lanes, &lane->link);
	(void)uv_check_start(&turns->check, on_check);
	return lane;
}

bool turns_take(struct turns *turns, uint32_t uid)
{
	struct lane *lane = lane_made(turns, uid);

	if (!lane)
		return true; /* without memory, fairness is dropped */
	if (lane->taken == TURN_MESSAGES)
		return false;
	lane->taken++;
	return true;
}

void turns_give_back(struct turns *turns, uint32_t uid)
{
	struct lane *lane = lane_of(turns, uid);

	if (lane && lane->taken)
		lane->taken--;
}

/* Call it only after turns_take() returned false, so the lane exists. */
void turns_wait(struct turns *turns, uint32_t uid, struct list *link)
{
	list_append(&lane_of(turns, uid)->waiting, link);
	(void)uv_idle_start(&turns->idle, on_idle);
}

/* Frees lanes from the loop, since turns_close() may be called while a lane is being served. */
static void on_closed(uv_handle_t *handle)
{
	const struct turns *turns = handle->data;

	list_for_each(at, &turns->lanes)
		free_lane(container_of(at, struct lane, link));
}

void turns_close(struct turns *turns)
{
	uv_close((uv_handle_t *)&turns->check, on_closed);
	uv_close((uv_handle_t *)&turns->idle, NULL);
}
