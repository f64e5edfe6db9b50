#include "daemon/workers/worker_queue.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/clock.h"

#define AGENT_LEN_MAX 128

/* One uid. */
struct user {
	struct list turn;  /* in queue->turns while a run waits */
	struct list lanes; /* with a waiting run, in turn */
	struct list runs;  /* running entries */
	uint32_t uid;
	unsigned lane_count; /* all of its lanes */
	unsigned waiting;
	unsigned running;
};

/* One agent of a user. */
struct lane {
	struct user *user;
	struct list turn;    /* in user->lanes while a run waits */
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
	list_init(&user->runs);
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

/* Takes an entry out of its lane.  If more entries wait, the lane and the user go to the end. */
static void unwait(struct queue *queue, struct queue_entry *entry)
{
	struct lane *lane = entry->lane;
	struct user *user = lane->user;

	list_remove(&entry->link);
	entry->waiting = false;
	lane->waiting--;
	user->waiting--;
	entry->want->waiting--;
	queue->count--;
	list_remove(&lane->turn);
	if (lane->waiting)
		list_append(&user->lanes, &lane->turn);
	list_remove(&user->turn);
	if (user->waiting)
		list_append(&queue->turns, &user->turn);
}

/* ---- entering ------------------------------------------------------------------------------- */

static void note_seen(struct queue *queue, uint32_t uid)
{
	struct queue_seen *seen = queue->seen;

	if (seen[0].ms && seen[0].uid != uid)
		seen[1] = seen[0];
	seen[0] = (struct queue_seen){ uid, clock_ms() };
}

/* Whether another user has come recently. */
static bool is_crowded(const struct queue *queue, uint32_t uid)
{
	const struct queue_seen *other = &queue->seen[queue->seen[0].uid == uid];

	return other->ms && clock_ms() - other->ms < QUEUE_CROWD_MS;
}

/* Returns the user with the most waiting runs. */
static struct user *heaviest(const struct queue *queue)
{
	struct user *found = NULL;

	list_for_each(at, &queue->turns) {
		struct user *user = container_of(at, struct user, turn);

		if (!found || user->waiting > found->waiting)
			found = user;
	}
	return found;
}

/* Returns the newest entry of the user's longest lane. */
static struct queue_entry *newest_of(const struct user *user)
{
	struct lane *longest = NULL;

	list_for_each(at, &user->lanes) {
		struct lane *lane = container_of(at, struct lane, turn);

		if (!longest || lane->waiting > longest->waiting)
			longest = lane;
	}
	assert(longest); /* the user has a waiting run */
	return container_of(longest->entries.prev, struct queue_entry, link);
}

/*
 * Makes room in a full queue: removes an entry of the user with the most waiting.  That user must
 * have more than `waiting` + 1.
 */
static struct queue_entry *displace(struct queue *queue, unsigned waiting)
{
	struct user *most = heaviest(queue);
	struct queue_entry *entry;

	if (!most || most->waiting <= waiting + 1)
		return NULL;
	entry = newest_of(most);
	queue_leave(queue, entry);
	return entry;
}

static void add(struct queue *queue, struct lane *lane, struct queue_entry *entry)
{
	struct user *user = lane->user;

	if (!user->waiting)
		list_append(&queue->turns, &user->turn);
	if (!lane->waiting)
		list_append(&user->lanes, &lane->turn);
	list_append(&lane->entries, &entry->link);
	lane->waiting++;
	user->waiting++;
	entry->want->waiting++;
	queue->count++;
	entry->lane = lane;
	entry->waiting = true;
}

enum queue_answer queue_enter(struct queue *queue, struct queue_entry *entry, uint32_t uid,
	const char *agent, struct queue_goods *want, struct queue_entry **ret_displaced)
{
	const struct user *known = map_get(&queue->users, &uid, sizeof(uid));
	struct user *user;
	struct lane *lane;

	*ret_displaced = NULL;
	if (known && known->waiting >= queue->user_max)
		return QUEUE_USER_FULL;
	if (queue->count >= queue->count_max) {
		*ret_displaced = displace(queue, known ? known->waiting : 0);
		if (!*ret_displaced)
			return QUEUE_FULL;
	}
	user = user_of(queue, uid);
	if (!user)
		return QUEUE_NO_MEMORY;
	lane = lane_of(queue, user, agent);
	if (!lane) {
		user_release(queue, user);
		return QUEUE_NO_MEMORY;
	}
	entry->want = want;
	add(queue, lane, entry);
	note_seen(queue, uid);
	return QUEUE_ENTERED;
}

/* ---- taking turns --------------------------------------------------------------------------- */

static unsigned running_of(const struct user *user, const struct queue_goods *want)
{
	unsigned count = 0;

	list_for_each(at, &user->runs)
		count += container_of(at, struct queue_entry, link)->want == want;
	return count;
}

static bool has_share_left(const struct queue *queue, const struct user *user,
	const struct queue_goods *want, unsigned warm)
{
	unsigned own = running_of(user, want);

	if (user->running >= queue->running_max)
		return false;
	if (own == 0)
		return true; /* except for the last worker: may_have() */
	if (want->running >= want->most)
		return false;
	return !is_crowded(queue, user->uid) || (own < want->crowd_most && warm > 1);
}

/* Where there is a reserve, the last possible worker is for administrators. */
static bool may_have(const struct queue_entry *entry, const struct queue_goods *want)
{
	return entry->want == want && (entry->is_admin || !want->reserve ||
					      want->running + 1 < want->most + want->reserve);
}

static struct queue_entry *first_wanting(const struct lane *lane, const struct queue_goods *want)
{
	list_for_each(at, &lane->entries) {
		struct queue_entry *entry = container_of(at, struct queue_entry, link);

		if (may_have(entry, want))
			return entry;
	}
	return NULL;
}

static struct queue_entry *first_of_user(const struct user *user, const struct queue_goods *want)
{
	list_for_each(at, &user->lanes) {
		struct queue_entry *entry =
			first_wanting(container_of(at, struct lane, turn), want);

		if (entry)
			return entry;
	}
	return NULL;
}

struct queue_entry *queue_next(struct queue *queue, const struct queue_goods *want, unsigned warm)
{
	list_for_each(at, &queue->turns) {
		struct user *user = container_of(at, struct user, turn);
		struct queue_entry *entry = NULL;

		if (has_share_left(queue, user, want, warm))
			entry = first_of_user(user, want);
		if (!entry)
			continue;
		unwait(queue, entry);
		entry->lane->running++;
		user->running++;
		entry->want->running++;
		list_append(&user->runs, &entry->link);
		return entry;
	}
	return NULL;
}

bool queue_is_newcomer(const struct queue_entry *entry)
{
	return running_of(entry->lane->user, entry->want) == 0;
}

void queue_leave(struct queue *queue, struct queue_entry *entry)
{
	struct lane *lane = entry->lane;

	if (!lane)
		return;
	if (entry->waiting) {
		unwait(queue, entry);
	} else {
		list_remove(&entry->link);
		entry->want->running--;
		lane->running--;
		lane->user->running--;
	}
	entry->lane = NULL;
	lane_release(queue, lane);
}
