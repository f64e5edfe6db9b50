#include <string.h>

#include "daemon/door/turns.h"
#include "proto/base/container.h"
#include "tests/check.h"
#include "tests/fault.h"

#define ALICE 1000
#define BOB   1001

/* A connection with so many messages left. */
struct visitor {
	struct fair_entry link;
	uint32_t uid;
	unsigned left;
	unsigned ended_in; /* the turn that handled its last message */
};

static uv_loop_t loop;
static struct turns turns;
static unsigned turn;

static void visit(struct visitor *visitor)
{
	while (visitor->left) {
		if (!turns_take(&turns, visitor->uid)) {
			turns_wait(&turns, visitor->uid, &visitor->link);
			return;
		}
		visitor->left--;
	}
	visitor->ended_in = turn;
}

static void on_turn(struct fair_entry *link)
{
	visit(container_of(link, struct visitor, link));
}

static void begin(void)
{
	(void)uv_loop_init(&loop);
	turns_init(&turns, &loop, on_turn);
	turn = 0;
}

static void pass(unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		turn++;
		(void)uv_run(&loop, UV_RUN_NOWAIT);
	}
}

static void finish(void)
{
	turns_close(&turns);
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	CHECK(list_is_empty(&turns.users.lanes));
	CHECK_EQ_INT(uv_loop_close(&loop), 0);
}

static struct visitor visitor_of(uint32_t uid, unsigned left)
{
	return (struct visitor){ .uid = uid, .left = left };
}

TEST(so_many_messages_are_looked_at_in_a_turn_and_the_rest_in_the_next)
{
	struct visitor alice = visitor_of(ALICE, 2 * TURN_MESSAGES + 1);

	begin();
	visit(&alice);
	CHECK_EQ_INT(alice.left, TURN_MESSAGES + 1);
	pass(1);
	CHECK_EQ_INT(alice.left, 1);
	pass(1);
	CHECK(alice.left == 0 && alice.ended_in == 2);
	pass(1);
	CHECK(list_is_empty(&turns.users.lanes)); /* so the loop may sleep */
	CHECK(!uv_is_active((uv_handle_t *)&turns.idle));
	finish();
}

TEST(a_hundred_connections_of_one_user_have_no_more_than_one)
{
	struct visitor crowd[100];
	struct visitor bob = visitor_of(BOB, TURN_MESSAGES);
	unsigned left = 0;

	begin();
	for (unsigned i = 0; i < COUNT_OF(crowd); i++) {
		crowd[i] = visitor_of(ALICE, TURN_MESSAGES);
		visit(&crowd[i]);
		left += crowd[i].left;
	}
	CHECK_EQ_INT(left, (COUNT_OF(crowd) - 1) * TURN_MESSAGES);
	visit(&bob);
	CHECK_EQ_INT(bob.left, 0); /* although Alice waits too */
	pass(COUNT_OF(crowd) - 1);
	for (unsigned i = 0; i < COUNT_OF(crowd); i++)
		CHECK(!crowd[i].left && crowd[i].ended_in == i); /* in the order of arrival */
	finish();
}

TEST(who_leaves_while_he_waits_is_not_called)
{
	struct visitor first = visitor_of(ALICE, TURN_MESSAGES);
	struct visitor second = visitor_of(ALICE, 1);

	begin();
	visit(&first);
	visit(&second);
	fair_leave(&second.link);
	pass(3);
	CHECK_EQ_INT(second.left, 1);
	CHECK(list_is_empty(&turns.users.lanes));
	finish();
}

TEST(what_was_no_message_does_not_count)
{
	begin();
	for (unsigned i = 0; i < 3 * TURN_MESSAGES; i++) {
		CHECK(turns_take(&turns, ALICE));
		turns_give_back(&turns, ALICE);
	}
	turns_give_back(&turns, BOB);
	finish();
}

TEST(without_memory_nobody_waits)
{
	begin();
	fault_arm(FAULT_ALLOC, 1);
	CHECK(turns_take(&turns, ALICE));
	fault_disarm();
	CHECK(list_is_empty(&turns.users.lanes));
	turns_give_back(&turns, ALICE);
	finish();
}
