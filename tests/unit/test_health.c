#include <string.h>

#include "daemon/methods/health.h"
#include "proto/fill.h"
#include "proto/store_room.h"
#include "tests/check.h"

/* The status of a daemon that has no fault but perhaps on its disk, and perhaps in its settings. */
static const struct value *status_with(struct arena *arena, int64_t free_bytes, const char *trouble)
{
	struct fill status = fill_start(arena);
	struct fill store = fill_start(arena);
	struct fill reload = fill_start(arena);

	fill_int(&store, "free_bytes", free_bytes);
	fill_optional_text(&reload, "trouble", trouble);
	fill_bool(&status, "ready", true);
	fill_value(&status, "store", fill_done(&store));
	fill_value(&status, "reload", fill_done(&reload));
	return fill_done(&status);
}

static const struct value *first_fault(
	struct health *health, const struct value *status, struct arena *arena)
{
	return value_at(value_get(health_look(health, status, arena), "faults"), 0);
}

TEST(a_fault_that_gets_worse_begins_anew)
{
	struct health health;
	struct arena arena;
	const struct value *fault;

	arena_init(&arena, 1 << 20);
	health_init(&health);
	fault = first_fault(&health, status_with(&arena, STORE_ROOM_NEAR - 1, NULL), &arena);
	CHECK_STR(value_as_text(value_get(fault, "level")), "degraded");
	health.faults[0].since_us = 5;
	fault = first_fault(&health, status_with(&arena, STORE_ROOM_NEAR - 2, NULL), &arena);
	CHECK_EQ_INT(value_as_int(value_get(fault, "since_us"), 0), 5);
	fault = first_fault(&health, status_with(&arena, STORE_ROOM_LEAST - 1, NULL), &arena);
	CHECK_STR(value_as_text(value_get(fault, "level")), "failing");
	CHECK(value_as_int(value_get(fault, "since_us"), 0) > 5);
	CHECK_EQ_INT(health.count, 1);
	fault = first_fault(&health, status_with(&arena, STORE_ROOM_NEAR, NULL), &arena);
	CHECK(!fault);
	CHECK_EQ_INT(health.count, 0);
	arena_done(&arena);
}

TEST(a_refused_reload_is_a_fault)
{
	struct health health;
	struct arena arena;
	const struct value *fault;

	arena_init(&arena, 1 << 20);
	health_init(&health);
	fault = first_fault(&health, status_with(&arena, STORE_ROOM_NEAR, "line 4: no"), &arena);
	CHECK_STR(value_as_text(value_get(fault, "part")), "settings");
	CHECK_STR(value_as_text(value_get(fault, "message")), "line 4: no");
	arena_done(&arena);
}
