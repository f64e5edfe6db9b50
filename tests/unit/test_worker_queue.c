#include "daemon/workers/worker_queue.h"
#include "tests/check.h"

static struct queue_shares RUNTIME_A = { .most = 10, .crowd_most = 10, .reserve = 0 };
static struct queue_shares RUNTIME_B = { .most = 10, .crowd_most = 10, .reserve = 0 };
static struct queue_entry *displaced;

TEST(callers_take_turns_however_many_runs_each_has)
{
	struct queue queue;
	struct queue_entry many[3] = { 0 };
	struct queue_entry one = { 0 };

	queue_init(&queue, 10, 10, 10);
	for (int i = 0; i < 3; i++)
		CHECK_EQ_INT(queue_enter(&queue, &many[i], 1, NULL, &RUNTIME_A, &displaced),
			QUEUE_ENTERED);
	CHECK_EQ_INT(queue_enter(&queue, &one, 2, NULL, &RUNTIME_A, &displaced), QUEUE_ENTERED);
	CHECK(queue_next(&queue, &RUNTIME_A, 9) == &many[0]);
	CHECK(queue_next(&queue, &RUNTIME_A, 9) == &one);
	CHECK(queue_next(&queue, &RUNTIME_A, 9) == &many[1]);
	CHECK(queue_next(&queue, &RUNTIME_A, 9) == &many[2]);
	CHECK(queue_next(&queue, &RUNTIME_A, 9) == NULL);
	for (int i = 0; i < 3; i++)
		queue_leave(&many[i]);
	queue_leave(&one);
	queue_done(&queue);
}

TEST(agents_of_one_user_have_lanes_of_their_own)
{
	struct queue queue;
	struct queue_entry a[2] = { 0 };
	struct queue_entry b = { 0 };

	queue_init(&queue, 10, 10, 10);
	CHECK_EQ_INT(queue_enter(&queue, &a[0], 1, "a", &RUNTIME_A, &displaced), QUEUE_ENTERED);
	CHECK_EQ_INT(queue_enter(&queue, &a[1], 1, "a", &RUNTIME_A, &displaced), QUEUE_ENTERED);
	CHECK_EQ_INT(queue_enter(&queue, &b, 1, "b", &RUNTIME_A, &displaced), QUEUE_ENTERED);
	CHECK(queue_next(&queue, &RUNTIME_A, 9) == &a[0]);
	CHECK(queue_next(&queue, &RUNTIME_A, 9) == &b);
	queue_leave(&a[0]);
	queue_leave(&a[1]);
	queue_leave(&b);
	queue_done(&queue);
}

TEST(both_ceilings_refuse_with_their_own_word)
{
	struct queue queue;
	struct queue_entry entries[4] = { 0 };

	queue_init(&queue, 3, 2, 10);
	CHECK_EQ_INT(
		queue_enter(&queue, &entries[0], 1, NULL, &RUNTIME_A, &displaced), QUEUE_ENTERED);
	CHECK_EQ_INT(
		queue_enter(&queue, &entries[1], 1, NULL, &RUNTIME_A, &displaced), QUEUE_ENTERED);
	CHECK_EQ_INT(
		queue_enter(&queue, &entries[2], 1, NULL, &RUNTIME_A, &displaced), QUEUE_USER_FULL);
	CHECK_EQ_INT(
		queue_enter(&queue, &entries[2], 2, NULL, &RUNTIME_A, &displaced), QUEUE_ENTERED);
	CHECK_EQ_INT(queue_enter(&queue, &entries[3], 2, NULL, &RUNTIME_A, &displaced), QUEUE_FULL);
	CHECK(!displaced);
	for (int i = 0; i < 3; i++)
		queue_leave(&entries[i]);
	CHECK_EQ_INT(queue_count(&queue), 0);
	queue_done(&queue);
}

TEST(a_caller_at_its_running_ceiling_waits_while_others_go_on)
{
	struct queue queue;
	struct queue_entry first[2] = { 0 };
	struct queue_entry other = { 0 };

	queue_init(&queue, 10, 10, 1);
	CHECK_EQ_INT(
		queue_enter(&queue, &first[0], 1, NULL, &RUNTIME_A, &displaced), QUEUE_ENTERED);
	CHECK_EQ_INT(
		queue_enter(&queue, &first[1], 1, NULL, &RUNTIME_A, &displaced), QUEUE_ENTERED);
	CHECK_EQ_INT(queue_enter(&queue, &other, 2, NULL, &RUNTIME_A, &displaced), QUEUE_ENTERED);
	CHECK(queue_next(&queue, &RUNTIME_A, 9) == &first[0]);
	CHECK(queue_next(&queue, &RUNTIME_A, 9) == &other);
	CHECK(queue_next(&queue, &RUNTIME_A, 9) == NULL);
	queue_leave(&first[0]);
	CHECK(queue_next(&queue, &RUNTIME_A, 9) == &first[1]);
	queue_leave(&first[1]);
	queue_leave(&other);
	queue_done(&queue);
}

TEST(a_run_waits_for_its_own_runtime_only)
{
	struct queue queue;
	struct queue_entry a = { 0 };
	struct queue_entry b = { 0 };

	queue_init(&queue, 10, 10, 10);
	CHECK_EQ_INT(queue_enter(&queue, &a, 1, NULL, &RUNTIME_A, &displaced), QUEUE_ENTERED);
	CHECK_EQ_INT(queue_enter(&queue, &b, 1, NULL, &RUNTIME_B, &displaced), QUEUE_ENTERED);
	CHECK(queue_next(&queue, &RUNTIME_B, 9) == &b);
	CHECK(queue_next(&queue, &RUNTIME_B, 9) == NULL);
	CHECK(queue_next(&queue, &RUNTIME_A, 9) == &a);
	queue_leave(&a);
	queue_leave(&b);
	queue_done(&queue);
}

TEST(leaving_twice_and_leaving_while_waiting_are_harmless)
{
	struct queue queue;
	struct queue_entry entry = { 0 };

	queue_init(&queue, 10, 10, 10);
	queue_leave(&entry);
	CHECK_EQ_INT(queue_enter(&queue, &entry, 1, NULL, &RUNTIME_A, &displaced), QUEUE_ENTERED);
	queue_leave(&entry);
	queue_leave(&entry);
	CHECK_EQ_INT(queue_count(&queue), 0);
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
		CHECK_EQ_INT(queue_enter(&queue, &many[i], 1, agents[i], &RUNTIME_A, &displaced),
			QUEUE_ENTERED);
	CHECK_EQ_INT(queue_enter(&queue, &one, 2, NULL, &RUNTIME_A, &displaced), QUEUE_ENTERED);
	CHECK(queue_next(&queue, &RUNTIME_A, 9) == &many[0]);
	CHECK(queue_next(&queue, &RUNTIME_A, 9) == &one);
	CHECK(queue_next(&queue, &RUNTIME_A, 9) == &many[1]);
	for (int i = 0; i < 5; i++)
		queue_leave(&many[i]);
	queue_leave(&one);
	CHECK(list_is_empty(&queue.users.lanes));
	queue_done(&queue);
}

TEST(other_names_of_agents_do_not_lift_the_ceilings_of_a_user)
{
	struct queue queue;
	struct queue_entry entries[3] = { 0 };

	queue_init(&queue, 10, 2, 1);
	CHECK_EQ_INT(
		queue_enter(&queue, &entries[0], 1, "a", &RUNTIME_A, &displaced), QUEUE_ENTERED);
	CHECK_EQ_INT(
		queue_enter(&queue, &entries[1], 1, "b", &RUNTIME_A, &displaced), QUEUE_ENTERED);
	CHECK_EQ_INT(
		queue_enter(&queue, &entries[2], 1, "c", &RUNTIME_A, &displaced), QUEUE_USER_FULL);
	CHECK(queue_next(&queue, &RUNTIME_A, 9) == &entries[0]);
	CHECK(queue_next(&queue, &RUNTIME_A, 9) == NULL);
	queue_leave(&entries[0]);
	CHECK(queue_next(&queue, &RUNTIME_A, 9) == &entries[1]);
	queue_leave(&entries[1]);
	CHECK(list_is_empty(&queue.users.lanes));
	queue_done(&queue);
}

TEST(in_a_full_queue_a_run_of_a_lighter_user_takes_the_place_of_the_newest_of_the_heaviest)
{
	struct queue queue;
	struct queue_entry many[3] = { 0 };
	struct queue_entry others[3] = { 0 };

	queue_init(&queue, 4, 4, 10);
	for (int i = 0; i < 3; i++)
		CHECK_EQ_INT(queue_enter(&queue, &many[i], 1, NULL, &RUNTIME_A, &displaced),
			QUEUE_ENTERED);
	CHECK_EQ_INT(
		queue_enter(&queue, &others[0], 2, NULL, &RUNTIME_A, &displaced), QUEUE_ENTERED);
	CHECK(!displaced);
	CHECK_EQ_INT(
		queue_enter(&queue, &others[1], 3, NULL, &RUNTIME_A, &displaced), QUEUE_ENTERED);
	CHECK(displaced == &many[2]);
	CHECK(!many[2].fair.lane);
	CHECK_EQ_INT(queue_count(&queue), 4);
	CHECK_EQ_INT(RUNTIME_A.waiting, 4);
	CHECK_EQ_INT(queue_enter(&queue, &others[2], 3, NULL, &RUNTIME_A, &displaced), QUEUE_FULL);
	CHECK(!displaced); /* displacing one would gain nothing: two and two instead of one and two */
	for (int i = 0; i < 3; i++) {
		queue_leave(&many[i]);
		queue_leave(&others[i]);
	}
	CHECK_EQ_INT(RUNTIME_A.waiting, 0);
	queue_done(&queue);
}

TEST(beyond_the_common_workers_a_newcomer_gets_one_and_an_administrator_the_last)
{
	struct queue_shares shares = { .most = 2, .crowd_most = 1, .reserve = 2 };
	struct queue queue;
	struct queue_entry hog[3] = { 0 };
	struct queue_entry others[3] = { 0 };

	queue_init(&queue, 10, 10, 10);
	for (int i = 0; i < 3; i++)
		(void)queue_enter(&queue, &hog[i], 1, NULL, &shares, &displaced);
	CHECK(queue_next(&queue, &shares, 4) == &hog[0]);
	CHECK(queue_next(&queue, &shares, 3) == &hog[1]); /* alone it gets all but the reserve */
	CHECK(queue_next(&queue, &shares, 2) == NULL);
	(void)queue_enter(&queue, &others[0], 2, NULL, &shares, &displaced);
	CHECK(queue_is_newcomer(&others[0]) && !queue_is_newcomer(&hog[2]));
	CHECK(queue_next(&queue, &shares, 2) == &others[0]);
	(void)queue_enter(&queue, &others[1], 3, NULL, &shares, &displaced);
	CHECK(queue_next(&queue, &shares, 1) == NULL);
	others[2].is_admin = true;
	(void)queue_enter(&queue, &others[2], 4, NULL, &shares, &displaced);
	CHECK(queue_next(&queue, &shares, 1) == &others[2]);
	CHECK_EQ_INT(shares.running, 4);
	for (int i = 0; i < 3; i++) {
		queue_leave(&hog[i]);
		queue_leave(&others[i]);
	}
	CHECK_EQ_INT(shares.running, 0);
	queue_done(&queue);
}

TEST(while_others_are_about_a_user_keeps_to_its_share_and_leaves_a_warm_worker)
{
	struct queue_shares shares = { .most = 4, .crowd_most = 2, .reserve = 1 };
	struct queue queue;
	struct queue_entry hog[4] = { 0 };
	struct queue_entry other = { 0 };

	queue_init(&queue, 10, 10, 10);
	(void)queue_enter(&queue, &other, 2, NULL, &shares, &displaced);
	CHECK(queue_next(&queue, &shares, 5) == &other);
	queue_leave(&other);
	for (int i = 0; i < 4; i++)
		(void)queue_enter(&queue, &hog[i], 1, NULL, &shares, &displaced);
	CHECK(queue_next(&queue, &shares, 5) == &hog[0]);
	CHECK(queue_next(&queue, &shares, 1) == NULL); /* the last one is kept for a newcomer */
	CHECK(queue_next(&queue, &shares, 2) == &hog[1]);
	CHECK(queue_next(&queue, &shares, 5) == NULL);
	queue.seen[1].ms -= QUEUE_CROWD_MS; /* the other user was seen long ago */
	CHECK(queue_next(&queue, &shares, 1) == &hog[2]);
	for (int i = 0; i < 4; i++)
		queue_leave(&hog[i]);
	queue_done(&queue);
}
