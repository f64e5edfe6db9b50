#include "daemon/loop/fair_queue.h"

#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- lanes ---------------------------------------------------------------------------------- */

void fair_init(struct fair_lane *queue)
{
	*queue = (struct fair_lane){ 0 };
	list_init(&queue->link);
	list_init(&queue->turn);
	list_init(&queue->lanes);
	list_init(&queue->turns);
	list_init(&queue->waiting);
	list_init(&queue->running);
}

static void drop_entries(struct list *entries)
{
	struct list *first;

	while ((first = list_first(entries))) {
		list_remove(first);
		container_of(first, struct fair_entry, link)->lane = NULL;
	}
}

void fair_done(struct fair_lane *queue)
{
	list_for_each(at, &queue->lanes) {
		struct fair_lane *lane = container_of(at, struct fair_lane, link);

		fair_done(lane);
		free(lane);
	}
	drop_entries(&queue->waiting);
	drop_entries(&queue->running);
	fair_init(queue);
}

struct fair_lane *fair_find(const struct fair_lane *above, const void *key, size_t len)
{
	list_for_each(at, &above->lanes) {
		struct fair_lane *lane = container_of(at, struct fair_lane, link);

		if (lane->key_len == len && memcmp(lane->key, key, len) == 0)
			return lane;
	}
	return NULL;
}

struct fair_lane *fair_make(struct fair_lane *above, const void *key, size_t len)
{
	struct fair_lane *lane = fair_find(above, key, len);

	assert(len <= FAIR_KEY_MAX);
	if (lane)
		return lane;
	lane = malloc(sizeof(*lane));
	if (!lane)
		return NULL;
	fair_init(lane);
	lane->above = above;
	lane->key_len = len;
	memcpy(lane->key, key, len);
	list_append(&above->lanes, &lane->link);
	return lane;
}

void fair_release(struct fair_lane *lane)
{
	while (lane->above && !lane->waiting_count && !lane->taken && list_is_empty(&lane->lanes)) {
		struct fair_lane *above = lane->above;

		list_remove(&lane->link);
		free(lane);
		lane = above;
	}
}

void fair_take(struct fair_lane *lane)
{
	for (; lane; lane = lane->above)
		lane->taken++;
}

void fair_give_back(struct fair_lane *lane, unsigned count)
{
	for (; lane; lane = lane->above)
		lane->taken -= count;
}

struct fair_lane *fair_longest(const struct fair_lane *above)
{
	struct fair_lane *longest = NULL;

	list_for_each(at, &above->turns) {
		struct fair_lane *lane = container_of(at, struct fair_lane, turn);

		if (!longest || lane->waiting_count > longest->waiting_count)
			longest = lane;
	}
	return longest;
}

/* ---- entries -------------------------------------------------------------------------------- */

void fair_enter(struct fair_lane *lane, struct fair_entry *entry)
{
	entry->lane = lane;
	entry->is_running = false;
	list_append(&lane->waiting, &entry->link);
	for (; lane; lane = lane->above)
		if (lane->waiting_count++ == 0 && lane->above)
			list_append(&lane->above->turns, &lane->turn);
}

/* Its lanes have had their turn: each in which more entries wait goes to the end. */
static void stop_waiting(struct fair_entry *entry)
{
	list_remove(&entry->link);
	for (struct fair_lane *lane = entry->lane; lane; lane = lane->above) {
		lane->waiting_count--;
		list_remove(&lane->turn);
		if (lane->waiting_count && lane->above)
			list_append(&lane->above->turns, &lane->turn);
	}
}

struct fair_entry *fair_next(
	const struct fair_lane *queue, unsigned most, fair_may *may, const void *context)
{
	list_for_each(at, &queue->waiting) {
		struct fair_entry *entry = container_of(at, struct fair_entry, link);

		if (!may || may(context, entry))
			return entry;
	}
	list_for_each(at, &queue->turns) {
		const struct fair_lane *lane = container_of(at, struct fair_lane, turn);
		struct fair_entry *entry =
			lane->taken < most ? fair_next(lane, UINT_MAX, may, context) : NULL;

		if (entry)
			return entry;
	}
	return NULL;
}

void fair_run(struct fair_entry *entry)
{
	stop_waiting(entry);
	entry->is_running = true;
	list_append(&entry->lane->running, &entry->link);
	fair_take(entry->lane);
}

void fair_hand_over(struct fair_entry *from, struct fair_entry *to)
{
	assert(from->is_running);

	to->lane = from->lane;
	to->is_running = true;
	list_append(&from->lane->running, &to->link);
	list_remove(&from->link);
	from->lane = NULL;
	from->is_running = false;
}

void fair_leave(struct fair_entry *entry)
{
	struct fair_lane *lane = entry->lane;

	if (!lane)
		return;
	if (entry->is_running) {
		list_remove(&entry->link);
		fair_give_back(lane, 1);
	} else {
		stop_waiting(entry);
	}
	entry->lane = NULL;
	fair_release(lane);
}
