#include <limits.h>
#include <string.h>

#include "daemon/loop/fair_queue.h"
#include "tests/check.h"
#include "tests/fault.h"

#define MANY 100

/* An entry with something that `may` looks at. */
struct item {
	struct fair_entry entry;
	int kind;
};

static struct fair_lane queue;

static struct fair_lane *lane(const char *name)
{
	return fair_make(&queue, name, strlen(name));
}

static struct fair_lane *inner_lane(const char *name, const char *inner)
{
	return fair_make(lane(name), inner, strlen(inner));
}

static struct fair_entry *run_next(unsigned most)
{
	struct fair_entry *entry = fair_next(&queue, most, NULL, NULL);

	if (entry)
		fair_run(entry);
	return entry;
}

static bool is_empty(void)
{
	return list_is_empty(&queue.lanes) && list_is_empty(&queue.turns) && !queue.waiting_count &&
	       !queue.taken;
}

TEST(users_take_turns_however_much_each_has)
{
	struct fair_entry alice[MANY] = { 0 };
	struct fair_entry bob[2] = { 0 };

	fair_init(&queue);
	for (int i = 0; i < MANY; i++)
		fair_enter(lane("alice"), &alice[i]);
	for (int i = 0; i < 2; i++)
		fair_enter(lane("bob"), &bob[i]);
	CHECK_EQ_INT(queue.waiting_count, MANY + 2);
	for (int i = 0; i < 2; i++) {
		CHECK(run_next(UINT_MAX) == &alice[i]);
		CHECK(run_next(UINT_MAX) == &bob[i]);
	}
	for (int i = 2; i < MANY; i++)
		CHECK(run_next(UINT_MAX) == &alice[i]); /* in the order in which they came */
	CHECK(run_next(UINT_MAX) == NULL);
	CHECK_EQ_INT(queue.taken, MANY + 2);
	for (int i = 0; i < MANY; i++)
		fair_leave(&alice[i]);
	for (int i = 0; i < 2; i++)
		fair_leave(&bob[i]);
	CHECK(is_empty());
}

TEST(a_user_that_comes_back_is_behind_those_who_wait)
{
	struct fair_entry alice[2] = { 0 };
	struct fair_entry bob = { 0 };

	fair_init(&queue);
	fair_enter(lane("alice"), &alice[0]);
	CHECK(run_next(UINT_MAX) == &alice[0]); /* its lane stays */
	fair_enter(lane("bob"), &bob);
	fair_enter(lane("alice"), &alice[1]);
	CHECK(run_next(UINT_MAX) == &bob);
	CHECK(run_next(UINT_MAX) == &alice[1]);
	fair_done(&queue);
}

TEST(a_user_gets_no_more_than_the_most)
{
	struct fair_entry alice[3] = { 0 };
	struct fair_entry bob = { 0 };

	fair_init(&queue);
	for (int i = 0; i < 3; i++)
		fair_enter(lane("alice"), &alice[i]);
	CHECK(run_next(2) == &alice[0]);
	CHECK(run_next(2) == &alice[1]);
	CHECK(run_next(2) == NULL);
	fair_enter(lane("bob"), &bob);
	CHECK(run_next(2) == &bob);
	fair_leave(&alice[0]);
	CHECK(run_next(2) == &alice[2]);
	CHECK_EQ_INT(lane("alice")->taken, 2);
	CHECK_EQ_INT(queue.taken, 3);
	fair_done(&queue);
}

TEST(lanes_in_a_lane_take_turns_and_count_as_one_outside)
{
	struct fair_entry many[4] = { 0 };
	struct fair_entry bob = { 0 };
	static const char *const agents[] = { "one", "two", "three", "one" };

	fair_init(&queue);
	for (int i = 0; i < 4; i++)
		fair_enter(inner_lane("alice", agents[i]), &many[i]);
	fair_enter(lane("bob"), &bob);
	CHECK_EQ_INT(lane("alice")->waiting_count, 4);
	CHECK(run_next(UINT_MAX) == &many[0]);
	CHECK(run_next(UINT_MAX) == &bob);
	CHECK(run_next(UINT_MAX) == &many[1]);
	CHECK(run_next(UINT_MAX) == &many[2]);
	CHECK_EQ_INT(lane("alice")->taken, 3);
	CHECK(run_next(3) == NULL);
	CHECK(run_next(4) == &many[3]);
	for (int i = 0; i < 4; i++)
		fair_leave(&many[i]);
	fair_leave(&bob);
	CHECK(is_empty());
}

static bool is_of_kind(const void *context, struct fair_entry *entry)
{
	return container_of(entry, struct item, entry)->kind == *(const int *)context;
}

TEST(an_entry_that_may_not_be_next_does_not_hold_up_those_behind_it)
{
	struct item items[3] = { { .kind = 1 }, { .kind = 2 }, { .kind = 3 } };
	int kind = 2;

	fair_init(&queue);
	fair_enter(lane("alice"), &items[0].entry);
	fair_enter(lane("alice"), &items[1].entry);
	fair_enter(lane("bob"), &items[2].entry);
	CHECK(fair_next(&queue, UINT_MAX, is_of_kind, &kind) == &items[1].entry);
	kind = 3;
	CHECK(fair_next(&queue, UINT_MAX, is_of_kind, &kind) == &items[2].entry);
	kind = 4;
	CHECK(fair_next(&queue, UINT_MAX, is_of_kind, &kind) == NULL);
	CHECK_EQ_INT(queue.waiting_count, 3); /* looking takes nothing out */
	fair_done(&queue);
}

TEST(an_entry_leaves_from_everywhere_and_more_than_once)
{
	struct fair_entry entry = { 0 };

	fair_init(&queue);
	fair_leave(&entry);
	fair_enter(inner_lane("alice", "one"), &entry);
	fair_leave(&entry);
	fair_leave(&entry);
	CHECK(is_empty());
	fair_enter(lane("alice"), &entry);
	CHECK(run_next(UINT_MAX) == &entry);
	fair_leave(&entry);
	fair_leave(&entry);
	CHECK(is_empty());
}

TEST(what_an_owner_counts_keeps_the_lane)
{
	fair_init(&queue);
	fair_take(lane("alice"));
	fair_take(lane("alice"));
	fair_release(lane("alice"));
	CHECK_EQ_INT(lane("alice")->taken, 2);
	CHECK_EQ_INT(queue.taken, 2);
	fair_give_back(lane("alice"), 2);
	fair_release(lane("alice"));
	CHECK(is_empty());
}

TEST(the_longest_lane_is_the_one_in_which_most_wait)
{
	struct fair_entry alice = { 0 };
	struct fair_entry bob[2] = { 0 };

	fair_init(&queue);
	CHECK(fair_longest(&queue) == NULL);
	fair_enter(lane("alice"), &alice);
	for (int i = 0; i < 2; i++)
		fair_enter(lane("bob"), &bob[i]);
	CHECK(fair_longest(&queue) == lane("bob"));
	CHECK(run_next(UINT_MAX) == &alice);
	for (int i = 0; i < 2; i++)
		CHECK(run_next(UINT_MAX) == &bob[i]);
	CHECK(fair_longest(&queue) == NULL); /* running entries do not count */
	fair_done(&queue);
}

TEST(the_end_of_a_queue_frees_lanes_and_lets_entries_go)
{
	struct fair_entry entries[3] = { 0 };

	fair_init(&queue);
	fair_enter(inner_lane("alice", "one"), &entries[0]);
	fair_enter(inner_lane("alice", "two"), &entries[1]);
	fair_enter(lane("bob"), &entries[2]);
	CHECK(run_next(UINT_MAX) == &entries[0]);
	fair_done(&queue);
	CHECK(is_empty());
	for (int i = 0; i < 3; i++) {
		CHECK(entries[i].lane == NULL);
		fair_leave(&entries[i]);
	}
}

TEST(without_memory_there_is_no_lane_and_the_queue_is_as_before)
{
	fair_init(&queue);
	fault_arm(FAULT_ALLOC, 1);
	CHECK(lane("alice") == NULL);
	fault_disarm();
	CHECK(is_empty());
	CHECK(fair_find(&queue, "alice", 5) == NULL);
}
