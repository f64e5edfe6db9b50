#include "daemon/runs/queue.h"

#include <stdlib.h>
#include <string.h>

#define AGENT_LEN_MAX 128

/* One uid. */
struct user {
	struct list turn;  /* in queue->turns while somebody waits */
	struct list lanes; /* with somebody waiting, in turn */
	uint32_t uid;
	unsigned lane_count; /* all of its lanes */
	unsigned waiting;
	unsigned running;
};

/* One agent of a user. */
struct lane {
	struct user *user;
	struct list turn;    /* in user->lanes while somebody waits */
	struct list entries; /* waiting */
	unsigned waiting;
	unsigned running;
	size_t key_len;
	char key[sizeof(uint32_t) + AGENT_LEN_MAX];
};

void queue_init(struct queue *queue, unsigned count_max, unsigned user_max, unsigned running_max)
{
	memset(queue, 0, sizeof(*queue));
	map_init(&queue->users);
	map_init(&queue->lanes);
	list_init(&queue->turns);
	queue->count_max = count_max;
	queue->user_max = user_max;
	queue->running_max = running_max;
}

void queue_done(struct queue *queue)
{
	map_done_with(&queue->lanes, free);
	map_done_with(&queue->users, free);
}

static struct user *user_of(struct queue *queue, uint32_t uid)
{
	struct user *user = map_get(&queue->users, &uid, sizeof(uid));

	if (user)
		return user;
	user = calloc(1, sizeof(*user));
	if (!user || map_put(&queue->users, &uid, sizeof(uid), user, NULL) < 0) {
		free(user);
		return NULL;
	}
	list_init(&user->turn);
	list_init(&user->lanes);
	user->uid = uid;
	return user;
}

static void user_release(struct queue *queue, struct user *user)
{
	if (user->lane_count)
		return;
	list_remove(&user->turn);
	(void)map_remove(&queue->users, &user->uid, sizeof(user->uid));
	free(user);
}

static struct lane *lane_of(struct queue *queue, struct user *user, const char *agent)
{
	size_t agent_len = agent ? strnlen(agent, AGENT_LEN_MAX) : 0;
	char key[sizeof(user->uid) + AGENT_LEN_MAX];
	size_t key_len = sizeof(user->uid) + agent_len;
	struct lane *lane;

	memcpy(key, &user->uid, sizeof(user->uid));
	if (agent_len)
		memcpy(key + sizeof(user->uid), agent, agent_len);
	lane = map_get(&queue->lanes, key, key_len);
	if (lane)
		return lane;
	lane = calloc(1, sizeof(*lane));
	if (!lane || map_put(&queue->lanes, key, key_len, lane, NULL) < 0) {
		free(lane);
		return NULL;
	}
	lane->user = user;
	user->lane_count++;
	list_init(&lane->turn);
	list_init(&lane->entries);
	memcpy(lane->key, key, key_len);
	lane->key_len = key_len;
	return lane;
}

static void lane_release(struct queue *queue, struct lane *lane)
{
	struct user *user = lane->user;

	if (lane->waiting || lane->running)
		return;
	list_remove(&lane->turn);
	(void)map_remove(&queue->lanes, lane->key, lane->key_len);
	free(lane);
	user->lane_count--;
	user_release(queue, user);
}

enum queue_answer queue_enter(struct queue *queue, struct queue_entry *entry, uint32_t uid,
	const char *agent, const void *want)
{
	struct user *user;
	struct lane *lane;

	if (queue->count >= queue->count_max)
		return QUEUE_FULL;
	user = user_of(queue, uid);
	if (!user)
		return QUEUE_NO_MEMORY;
	if (user->waiting >= queue->user_max)
		return QUEUE_USER_FULL; /* so it has a lane and stays */
	lane = lane_of(queue, user, agent);
	if (!lane) {
		user_release(queue, user);
		return QUEUE_NO_MEMORY;
	}
	if (!user->waiting)
		list_append(&queue->turns, &user->turn);
	if (!lane->waiting)
		list_append(&user->lanes, &lane->turn);
	list_append(&lane->entries, &entry->link);
	lane->waiting++;
	user->waiting++;
	queue->count++;
	entry->lane = lane;
	entry->want = want;
	entry->waiting = true;
	return QUEUE_ENTERED;
}

/* Takes an entry out of its lane's waiting part; who still waits behind it goes to the end. */
static void unwait(struct queue *queue, struct queue_entry *entry)
{
	struct lane *lane = entry->lane;
	struct user *user = lane->user;

	list_remove(&entry->link);
	entry->waiting = false;
	lane->waiting--;
	user->waiting--;
	queue->count--;
	list_remove(&lane->turn);
	if (lane->waiting)
		list_append(&user->lanes, &lane->turn);
	list_remove(&user->turn);
	if (user->waiting)
		list_append(&queue->turns, &user->turn);
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

static struct queue_entry *first_of_user(const struct user *user, const void *want)
{
	list_for_each(at, &user->lanes) {
		struct queue_entry *entry =
			first_wanting(container_of(at, struct lane, turn), want);

		if (entry)
			return entry;
	}
	return NULL;
}

struct queue_entry *queue_next(struct queue *queue, const void *want)
{
	list_for_each(at, &queue->turns) {
		struct user *user = container_of(at, struct user, turn);
		struct queue_entry *entry = NULL;

		if (user->running < queue->running_max)
			entry = first_of_user(user, want);
		if (!entry)
			continue;
		unwait(queue, entry);
		entry->lane->running++;
		user->running++;
		return entry;
	}
	return NULL;
}

void queue_leave(struct queue *queue, struct queue_entry *entry)
{
	struct lane *lane = entry->lane;

	if (!lane)
		return;
	if (entry->waiting) {
		unwait(queue, entry);
	} else {
		lane->running--;
		lane->user->running--;
	}
	entry->lane = NULL;
	lane_release(queue, lane);
}
