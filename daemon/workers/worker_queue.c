#include "daemon/workers/worker_queue.h"

#include <assert.h>
#include <limits.h>
#include <string.h>

#include "proto/base/clock.h"
#include "proto/base/container.h"

void queue_init(struct queue *queue, unsigned count_max, unsigned user_max, unsigned running_max)
{
	*queue = (struct queue){
		.count_max = count_max, .user_max = user_max, .running_max = running_max
	};
	fair_init(&queue->users);
}

void queue_set(struct queue *queue, unsigned count_max, unsigned user_max, unsigned running_max)
{
	queue->count_max = count_max;
	queue->user_max = user_max;
	queue->running_max = running_max;
}

void queue_done(struct queue *queue)
{
	fair_done(&queue->users);
}

static struct queue_entry *entry_of(struct fair_entry *fair)
{
	return fair ? container_of(fair, struct queue_entry, fair) : NULL;
}

/* ---- entering ------------------------------------------------------------------------------- */

static void note_seen(struct queue *queue, uint32_t uid)
{
	struct queue_seen *seen = queue->seen;

	if (seen[0].ms && seen[0].uid != uid)
		seen[1] = seen[0];
	seen[0] = (struct queue_seen){ uid, clock_ms() };
}

/*
 * Makes room in a full queue: removes the newest entry in the longest lane of the user with the
 * most waiting.  That user must have more than `waiting` + 1.
 */
static struct queue_entry *displace(struct queue *queue, unsigned waiting)
{
	struct fair_lane *most = fair_longest(&queue->users);
	struct fair_lane *longest;
	struct queue_entry *entry;

	if (!most || most->waiting_count <= waiting + 1)
		return NULL;
	longest = fair_longest(most);
	assert(longest); /* the user has a waiting run */
	entry = entry_of(container_of(longest->waiting.prev, struct fair_entry, link));
	queue_leave(entry);
	return entry;
}

static struct fair_lane *make_lane(struct queue *queue, uint32_t uid, const char *agent)
{
	struct fair_lane *user = fair_make(&queue->users, &uid, sizeof(uid));
	struct fair_lane *lane;

	if (!user)
		return NULL;
	lane = agent ? fair_make(user, agent, strnlen(agent, FAIR_KEY_MAX))
		     : fair_make(user, "", 0);
	if (!lane)
		fair_release(user);
	return lane;
}

enum queue_answer queue_enter(struct queue *queue, struct queue_entry *entry, uint32_t uid,
	const char *agent, struct queue_shares *want, struct queue_entry **ret_displaced)
{
	const struct fair_lane *known = fair_find(&queue->users, &uid, sizeof(uid));
	struct fair_lane *lane;

	*ret_displaced = NULL;
	if (known && known->waiting_count >= queue->user_max)
		return QUEUE_USER_FULL;
	if (queue_count(queue) >= queue->count_max) {
		*ret_displaced = displace(queue, known ? known->waiting_count : 0);
		if (!*ret_displaced)
			return QUEUE_FULL;
	}
	lane = make_lane(queue, uid, agent);
	if (!lane)
		return QUEUE_NO_MEMORY;
	entry->want = want;
	want->waiting++;
	fair_enter(lane, &entry->fair);
	note_seen(queue, uid);
	return QUEUE_ENTERED;
}

/* ---- taking turns --------------------------------------------------------------------------- */

/* Whether another user has come recently. */
static bool is_crowded(const struct queue *queue, const struct fair_lane *user)
{
	const struct queue_seen *other =
		&queue->seen[memcmp(user->key, &queue->seen[0].uid, sizeof(uint32_t)) == 0];

	return other->ms && clock_ms() - other->ms < QUEUE_CROWD_MS;
}

static unsigned running_of(const struct fair_lane *user, const struct queue_shares *want)
{
	unsigned count = 0;

	list_for_each(lane, &user->lanes)
		list_for_each(at, &container_of(lane, struct fair_lane, link)->running)
			count += entry_of(container_of(at, struct fair_entry, link))->want == want;
	return count;
}

static bool has_share_left(const struct queue *queue, const struct fair_lane *user,
	const struct queue_shares *want, unsigned warm)
{
	unsigned own = running_of(user, want);

	if (user->taken >= queue->running_max)
		return false;
	if (own == 0)
		return true; /* except for the last worker: may_have() */
	if (want->running >= want->most)
		return false;
	return !is_crowded(queue, user) || (own < want->crowd_most && warm > 1);
}

/* Where there is a reserve, the last possible worker is for administrators. */
static bool may_have(const void *context, struct fair_entry *fair)
{
	const struct queue_shares *want = context;
	const struct queue_entry *entry = entry_of(fair);

	return entry->want == want && (entry->is_admin || !want->reserve ||
					      want->running + 1 < want->most + want->reserve);
}

struct queue_entry *queue_next(struct queue *queue, const struct queue_shares *want, unsigned warm)
{
	list_for_each(at, &queue->users.turns) {
		const struct fair_lane *user = container_of(at, struct fair_lane, turn);
		struct queue_entry *entry = NULL;

		if (has_share_left(queue, user, want, warm))
			entry = entry_of(fair_next(user, UINT_MAX, may_have, want));
		if (!entry)
			continue;
		fair_run(&entry->fair);
		entry->want->waiting--;
		entry->want->running++;
		return entry;
	}
	return NULL;
}

bool queue_is_newcomer(const struct queue_entry *entry)
{
	return running_of(entry->fair.lane->above, entry->want) == 0;
}

void queue_hand_over(struct queue_entry *from, struct queue_entry *to)
{
	to->is_admin = from->is_admin;
	to->want = from->want;
	fair_hand_over(&from->fair, &to->fair);
}

void queue_leave(struct queue_entry *entry)
{
	if (!entry->fair.lane)
		return;
	if (entry->fair.is_running)
		entry->want->running--;
	else
		entry->want->waiting--;
	fair_leave(&entry->fair);
}
