#include "daemon/queue.h"

#include <stdlib.h>
#include <string.h>

#define AGENT_LEN_MAX 128

struct lane {
	struct list turn;    /* in queue->turns while somebody waits */
	struct list entries; /* waiting */
	unsigned waiting;
	unsigned running;
	size_t key_len;
	char key[sizeof(uint32_t) + AGENT_LEN_MAX];
};

void queue_init(struct queue *queue, unsigned count_max, unsigned lane_max, unsigned running_max)
{
	memset(queue, 0, sizeof(*queue));
	map_init(&queue->lanes);
	list_init(&queue->turns);
	queue->count_max = count_max;
	queue->lane_max = lane_max;
	queue->running_max = running_max;
}

static int free_lane(void *context, const void *key, size_t key_len, void *value)
{
	(void)context;
	(void)key;
	(void)key_len;
	free(value);
	return 0;
}

void queue_done(struct queue *queue)
{
	(void)map_each(&queue->lanes, free_lane, NULL);
	map_done(&queue->lanes);
}

static struct lane *lane_of(struct queue *queue, uint32_t uid, const char *agent)
{
	size_t agent_len = agent ? strnlen(agent, AGENT_LEN_MAX) : 0;
	char key[sizeof(uint32_t) + AGENT_LEN_MAX];
	size_t key_len = sizeof(uid) + agent_len;
	struct lane *lane;

	memcpy(key, &uid, sizeof(uid));
	if (agent_len)
		memcpy(key + sizeof(uid), agent, agent_len);
	lane = map_get(&queue->lanes, key, key_len);
	if (lane)
		return lane;
	lane = calloc(1, sizeof(*lane));
	if (!lane || map_put(&queue->lanes, key, key_len, lane, NULL) < 0) {
		free(lane);
		return NULL;
	}
	list_init(&lane->turn);
	list_init(&lane->entries);
	memcpy(lane->key, key, key_len);
	lane->key_len = key_len;
	return lane;
}

static void lane_release(struct queue *queue, struct lane *lane)
{
	if (lane->waiting || lane->running)
		return;
	list_remove(&lane->turn);
	(void)map_remove(&queue->lanes, lane->key, lane->key_len);
	free(lane);
}

enum queue_answer queue_enter(struct queue *queue, struct queue_entry *entry, uint32_t uid,
	const char *agent, const void *want)
{
	struct lane *lane;

	if (queue->count >= queue->count_max)
		return QUEUE_FULL;
	lane = lane_of(queue, uid, agent);
	if (!lane)
		return QUEUE_NO_MEMORY;
	if (lane->waiting >= queue->lane_max)
		return QUEUE_LANE_FULL;
	if (!lane->waiting)
		list_append(&queue->turns, &lane->turn);
	list_append(&lane->entries, &entry->link);
	lane->waiting++;
	queue->count++;
	entry->lane = lane;
	entry->want = want;
	entry->waiting = true;
	return QUEUE_ENTERED;
}

/* Takes an entry out of its lane's waiting part. */
static void unwait(struct queue *queue, struct queue_entry *entry)
{
	struct lane *lane = entry->lane;

	list_remove(&entry->link);
	entry->waiting = false;
	lane->waiting--;
	queue->count--;
	list_remove(&lane->turn);
	if (lane->waiting)
		list_append(&queue->turns, &lane->turn); /* it had its turn: to the end */
}

static struct queue_entry *first_wanting(const struct lane *lane, const void *want)
{
	list_for_each(at, &lane->entries) {
		struct queue_entry *entry = container_of(at, struct queue_entry, link);

		if (entry->want == want)
			return entry;
	}
	return NULL;
}

struct queue_entry *queue_next(struct queue *queue, const void *want)
{
	list_for_each(at, &queue->turns) {
		struct lane *lane = container_of(at, struct lane, turn);
		struct queue_entry *entry = first_wanting(lane, want);

		if (!entry || lane->running >= queue->running_max)
			continue;
		unwait(queue, entry);
		lane->running++;
		return entry;
	}
	return NULL;
}

void queue_leave(struct queue *queue, struct queue_entry *entry)
{
	struct lane *lane = entry->lane;

	if (!lane)
		return;
	if (entry->waiting)
		unwait(queue, entry);
	else
		lane->running--;
	entry->lane = NULL;
	lane_release(queue, lane);
}
