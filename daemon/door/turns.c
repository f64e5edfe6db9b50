#include "daemon/door/turns.h"

#include "proto/base/container.h"

/* Resumes waiting connections until their users' turns are used up again. */
static void on_check(uv_check_t *check)
{
	struct turns *turns = check->data;
	struct fair_entry *entry;

	list_for_each(at, &turns->users.lanes) {
		struct fair_lane *lane = container_of(at, struct fair_lane, link);

		fair_give_back(lane, lane->taken);
		fair_release(lane);
	}
	while ((entry = fair_next(&turns->users, TURN_MESSAGES, NULL, NULL))) {
		fair_leave(entry);
		turns->on_turn(entry);
	}
	if (!turns->users.waiting_count)
		(void)uv_idle_stop(&turns->idle);
	if (list_is_empty(&turns->users.lanes))
		(void)uv_check_stop(check);
}

/* Does nothing: an active idle handle keeps the loop from sleeping. */
static void on_idle(uv_idle_t *idle)
{
	(void)idle;
}

void turns_init(struct turns *turns, uv_loop_t *loop, void (*on_turn)(struct fair_entry *entry))
{
	fair_init(&turns->users);
	turns->on_turn = on_turn;
	(void)uv_check_init(loop, &turns->check); /* neither can fail */
	(void)uv_idle_init(loop, &turns->idle);
	turns->check.data = turns;
}

bool turns_take(struct turns *turns, uint32_t uid)
{
	bool is_first = list_is_empty(&turns->users.lanes);
	struct fair_lane *lane = fair_make(&turns->users, &uid, sizeof(uid));

	if (!lane)
		return true; /* without memory, fairness is dropped */
	if (is_first)
		(void)uv_check_start(&turns->check, on_check);
	if (lane->taken == TURN_MESSAGES)
		return false;
	fair_take(lane);
	return true;
}

void turns_give_back(struct turns *turns, uint32_t uid)
{
	struct fair_lane *lane = fair_find(&turns->users, &uid, sizeof(uid));

	if (lane && lane->taken)
		fair_give_back(lane, 1);
}

void turns_wait(struct turns *turns, uint32_t uid, struct fair_entry *entry)
{
	fair_enter(fair_find(&turns->users, &uid, sizeof(uid)), entry);
	(void)uv_idle_start(&turns->idle, on_idle);
}

/* Frees lanes from the loop, since turns_close() may be called while a lane is being served. */
static void on_closed(uv_handle_t *handle)
{
	struct turns *turns = handle->data;

	fair_done(&turns->users);
}

void turns_close(struct turns *turns)
{
	uv_close((uv_handle_t *)&turns->check, on_closed);
	uv_close((uv_handle_t *)&turns->idle, NULL);
}
