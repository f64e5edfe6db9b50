#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/workers/reclaim.h"
#include "tests/check.h"

/* Records for which worker the owner's callback reported that its memory is reclaimed. */
struct owner {
	uv_loop_t loop;
	struct reclaim reclaim;
	unsigned told;
	struct worker *worker;
};

static void on_done(void *context, struct worker *worker)
{
	struct owner *owner = context;

	owner->told++;
	owner->worker = worker;
}

static void begin(struct owner *owner)
{
	memset(owner, 0, sizeof(*owner));
	(void)uv_loop_init(&owner->loop);
	owner->reclaim =
		(struct reclaim){ .loop = &owner->loop, .on_done = on_done, .context = owner };
}

static void turn(struct owner *owner)
{
	(void)uv_run(&owner->loop, UV_RUN_DEFAULT);
}

/* A slot whose cgroup is charged with so many bytes.  Only its knobs matter here. */
static struct worker slot_with(uint64_t bytes)
{
	struct worker worker = { .state = WORKER_EMPTY };
	char text[32];
	int len = snprintf(text, sizeof(text), "%llu\n", (unsigned long long)bytes);

	knobs_init(&worker.knobs);
	worker.knobs.fds[KNOB_MEMORY_NOW] = memfd_create("now", MFD_CLOEXEC);
	worker.knobs.fds[KNOB_MEMORY_EMPTY] = memfd_create("empty", MFD_CLOEXEC);
	if (write(worker.knobs.fds[KNOB_MEMORY_NOW], text, (size_t)len) != len)
		check_failed(__FILE__, __LINE__, "write");
	return worker;
}

static const char *asked_of(const struct worker *worker)
{
	static char text[32];

	memset(text, 0, sizeof(text));
	if (pread(worker->knobs.fds[KNOB_MEMORY_EMPTY], text, sizeof(text) - 1, 0) < 0)
		check_failed(__FILE__, __LINE__, "pread");
	return text;
}

TEST(what_a_plain_program_leaves_is_left_alone)
{
	static struct owner owner;
	struct worker slot = slot_with(RECLAIM_ABOVE);

	begin(&owner);
	CHECK(!reclaim_start(&owner.reclaim, &slot));
	turn(&owner);
	CHECK_EQ_INT(owner.told, 0);
	CHECK_STR(asked_of(&slot), "");
	knobs_done(&slot.knobs);
	(void)uv_loop_close(&owner.loop);
}

TEST(more_than_that_is_taken_back_and_its_owner_is_told)
{
	static struct owner owner;
	struct worker slot = slot_with(RECLAIM_ABOVE + 4096);

	begin(&owner);
	CHECK(reclaim_start(&owner.reclaim, &slot));
	turn(&owner);
	CHECK_EQ_INT(owner.told, 1);
	CHECK(owner.worker == &slot);
	CHECK_STR(asked_of(&slot), "8392704");
	knobs_done(&slot.knobs);
	(void)uv_loop_close(&owner.loop);
}

TEST(leaves_of_kept_states_are_emptied_too_and_more_thoroughly)
{
	static struct owner owner;
	struct worker slot = slot_with(RECLAIM_LEAF_ABOVE + 4096);
	struct worker little = slot_with(RECLAIM_LEAF_ABOVE);
	struct worker much = slot_with(RECLAIM_LEAF_ABOVE + 8192);

	begin(&owner);
	slot.leaves[slot.leaf_count++] = little.knobs;
	slot.leaves[slot.leaf_count++] = much.knobs;
	CHECK(reclaim_start(&owner.reclaim, &slot));
	turn(&owner);
	CHECK_EQ_INT(owner.told, 1);
	CHECK(owner.worker == &slot);
	CHECK_STR(asked_of(&much), "1056768");
	CHECK_STR(asked_of(&little), "");
	CHECK_STR(asked_of(&slot), "");
	knobs_done(&slot.knobs);
	knobs_done(&little.knobs);
	knobs_done(&much.knobs);
	(void)uv_loop_close(&owner.loop);
}

TEST(one_slot_waits_for_the_other)
{
	static struct owner owner;
	struct worker first = slot_with(64 << 20);
	struct worker second = slot_with(32 << 20);

	begin(&owner);
	CHECK(reclaim_start(&owner.reclaim, &first));
	CHECK(reclaim_start(&owner.reclaim, &second)); /* it must wait */
	turn(&owner);
	CHECK(owner.told == 1 && owner.worker == &first);
	CHECK_STR(asked_of(&second), "");
	CHECK(reclaim_start(&owner.reclaim, &second));
	turn(&owner);
	CHECK(owner.told == 2 && owner.worker == &second);
	CHECK_STR(asked_of(&second), "33554432");
	knobs_done(&first.knobs);
	knobs_done(&second.knobs);
	(void)uv_loop_close(&owner.loop);
}

TEST(a_slot_that_is_closed_meanwhile_is_not_spoken_of)
{
	static struct owner owner;
	struct worker slot = slot_with(64 << 20);
	struct worker other = slot_with(64 << 20);

	begin(&owner);
	CHECK(reclaim_start(&owner.reclaim, &slot));
	reclaim_forget(&owner.reclaim, &other); /* this slot has no reclaim in progress */
	CHECK(owner.reclaim.worker == &slot);
	reclaim_forget(&owner.reclaim, &slot);
	knobs_done(&slot.knobs);
	turn(&owner);
	CHECK(owner.told == 1 && owner.worker == NULL);
	knobs_done(&other.knobs);
	(void)uv_loop_close(&owner.loop);
}

TEST(where_it_cannot_be_taken_back_nobody_waits_for_it)
{
	static struct owner owner;
	struct worker slot = slot_with(64 << 20);

	begin(&owner);
	close(slot.knobs.fds[KNOB_MEMORY_EMPTY]);
	slot.knobs.fds[KNOB_MEMORY_EMPTY] = -1;
	CHECK(!reclaim_start(&owner.reclaim, &slot));
	turn(&owner);
	CHECK_EQ_INT(owner.told, 0);
	knobs_done(&slot.knobs);
	(void)uv_loop_close(&owner.loop);
}
