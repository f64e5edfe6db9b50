#include "daemon/runs/queue.h"
#include "tests/check.h"

static const int RUNTIME_A, RUNTIME_B;

TEST(callers_take_turns_however_many_runs_each_has)
{
	struct queue queue;
	struct queue_entry many[3] = { 0 };
	struct queue_entry one = { 0 };

	queue_init(&queue, 10, 10, 10);
	for (int i = 0; i < 3; i++)
		CHECK_EQ_INT(queue_enter(&queue, &many[i], 1, NULL, &RUNTIME_A), QUEUE_ENTERED);
	CHECK_EQ_INT(queue_enter(&queue, &one, 2, NULL, &RUNTIME_A), QUEUE_ENTERED);
	CHECK(queue_next(&queue, &RUNTIME_A) == &many[0]);
	CHECK(queue_next(&queue, &RUNTIME_A) == &one);
	CHECK(queue_next(&queue, &RUNTIME_A) == &many[1]);
	CHECK(queue_next(&queue, &RUNTIME_A) == &many[2]);
	CHECK(queue_next(&queue, &RUNTIME_A) == NULL);
	for (int i = 0; i < 3; i++)
		queue_leave(&queue, &many[i]);
	queue_leave(&queue, &one);
	CHECK_EQ_INT(queue.lanes.count, 0);
	queue_done(&queue);
}

TEST(agents_of_one_user_have_lanes_of_their_own)
{
	struct queue queue;
	struct queue_entry a[2] = { 0 };
	struct queue_entry b = { 0 };

	queue_init(&queue, 10, 10, 10);
	CHECK_EQ_INT(queue_enter(&queue, &a[0], 1, "a", &RUNTIME_A), QUEUE_ENTERED);
	CHECK_EQ_INT(queue_enter(&queue, &a[1], 1, "a", &RUNTIME_A), QUEUE_ENTERED);
	CHECK_EQ_INT(queue_enter(&queue, &b, 1, "b", &RUNTIME_A), QUEUE_ENTERED);
	CHECK(queue_next(&queue, &RUNTIME_A) == &a[0]);
	CHECK(queue_next(&queue, &RUNTIME_A) == &b);
	queue_leave(&queue, &a[0]);
	queue_leave(&queue, &a[1]);
	queue_leave(&queue, &b);
	queue_done(&queue);
}

TEST(both_ceilings_refuse_with_their_own_word)
{
	struct queue queue;
	struct queue_entry entries[4] = { 0 };

	queue_init(&queue, 3, 2, 10);
	CHECK_EQ_INT(queue_enter(&queue, &entries[0], 1, NULL, &RUNTIME_A), QUEUE_ENTERED);
	CHECK_EQ_INT(queue_enter(&queue, &entries[1], 1, NULL, &RUNTIME_A), QUEUE_ENTERED);
	CHECK_EQ_INT(queue_enter(&queue, &entries[2], 1, NULL, &RUNTIME_A), QUEUE_USER_FULL);
	CHECK_EQ_INT(queue_enter(&queue, &entries[2], 2, NULL, &RUNTIME_A), QUEUE_ENTERED);
	CHECK_EQ_INT(queue_enter(&queue, &entries[3], 3, NULL, &RUNTIME_A), QUEUE_FULL);
	for (int i = 0; i < 3; i++)
		queue_leave(&queue, &entries[i]);
	CHECK_EQ_INT(queue.count, 0);
	queue_done(&queue);
}

TEST(a_caller_at_its_running_ceiling_waits_while_others_go_on)
{
	struct queue queue;
	struct queue_entry first[2] = { 0 };
	struct queue_entry other = { 0 };

	queue_init(&queue, 10, 10, 1);
	CHECK_EQ_INT(queue_enter(&queue, &first[0], 1, NULL, &RUNTIME_A), QUEUE_ENTERED);
	CHECK_EQ_INT(queue_enter(&queue, &first[1], 1, NULL, &RUNTIME_A), QUEUE_ENTERED);
	CHECK_EQ_INT(queue_enter(&queue, &other, 2, NULL, &RUNTIME_A), QUEUE_ENTERED);
	CHECK(queue_next(&queue, &RUNTIME_A) == &first[0]);
	CHECK(queue_next(&queue, &RUNTIME_A) == &other);
	CHECK(queue_next(&queue, &RUNTIME_A) == NULL);
	queue_leave(&queue, &first[0]);
	CHECK(queue_next(&queue, &RUNTIME_A) == &first[1]);
	queue_leave(&queue, &first[1]);
	queue_leave(&queue, &other);
	queue_done(&queue);
}

TEST(a_run_waits_for_its_own_runtime_only)
{
	struct queue queue;
	struct queue_entry a = { 0 };
	struct queue_entry b = { 0 };

	queue_init(&queue, 10, 10, 10);
	CHECK_EQ_INT(queue_enter(&queue, &a, 1, NULL, &RUNTIME_A), QUEUE_ENTERED);
	CHECK_EQ_INT(queue_enter(&queue, &b, 1, NULL, &RUNTIME_B), QUEUE_ENTERED);
	CHECK(queue_next(&queue, &RUNTIME_B) == &b);
	CHECK(queue_next(&queue, &RUNTIME_B) == NULL);
	CHECK(queue_next(&queue, &RUNTIME_A) == &a);
	queue_leave(&queue, &a);
	queue_leave(&queue, &b);
	queue_done(&queue);
}

TEST(leaving_twice_and_leaving_while_waiting_are_harmless)
{
	struct queue queue;
	struct queue_entry entry = { 0 };

	queue_init(&queue, 10, 10, 10);
	queue_leave(&queue, &entry);
	CHECK_EQ_INT(queue_enter(&queue, &entry, 1, NULL, &RUNTIME_A), QUEUE_ENTERED);
	queue_leave(&queue, &entry);
	queue_leave(&queue, &entry);
	CHECK_EQ_INT(queue.count, 0);
	CHECK_EQ_INT(queue.lanes.count, 0);
	queue_done(&queue);
}

TEST(a_user_of_many_agents_does_not_stand_before_one_of_a_single_run)
{
	struct queue queue;
	struct queue_entry many[5] = { 0 };
	struct queue_entry one = { 0 };
	static const char *const agents[] = { "a", "b", "c", "d", "e" };

	queue_init(&queue, 10, 10, 10);
	for (int i = 0; i < 5; i++)
		CHECK_EQ_INT(
			queue_enter(&queue, &many[i], 1, agents[i], &RUNTIME_A), QUEUE_ENTERED);
	CHECK_EQ_INT(queue_enter(&queue, &one, 2, NULL, &RUNTIME_A), QUEUE_ENTERED);
	CHECK(queue_next(&queue, &RUNTIME_A) == &many[0]);
	CHECK(queue_next(&queue, &RUNTIME_A) == &one);
	CHECK(queue_next(&queue, &RUNTIME_A) == &many[1]);
	for (int i = 0; i < 5; i++)
		queue_leave(&queue, &many[i]);
	queue_leave(&queue, &one);
	CHECK_EQ_INT(queue.users.count, 0);
	CHECK_EQ_INT(queue.lanes.count, 0);
	queue_done(&queue);
}

TEST(other_names_of_agents_do_not_lift_the_ceilings_of_a_user)
{
	struct queue queue;
	struct queue_entry entries[3] = { 0 };

	queue_init(&queue, 10, 2, 1);
	CHECK_EQ_INT(queue_enter(&queue, &entries[0], 1, "a", &RUNTIME_A), QUEUE_ENTERED);
	CHECK_EQ_INT(queue_enter(&queue, &entries[1], 1, "b", &RUNTIME_A), QUEUE_ENTERED);
	CHECK_EQ_INT(queue_enter(&queue, &entries[2], 1, "c", &RUNTIME_A), QUEUE_USER_FULL);
	CHECK(queue_next(&queue, &RUNTIME_A) == &entries[0]);
	CHECK(queue_next(&queue, &RUNTIME_A) == NULL);
	queue_leave(&queue, &entries[0]);
	CHECK(queue_next(&queue, &RUNTIME_A) == &entries[1]);
	queue_leave(&queue, &entries[1]);
	CHECK_EQ_INT(queue.users.count, 0);
	queue_done(&queue);
}
