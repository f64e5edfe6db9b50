#include <string.h>

#include "daemon/gate/grants.h"
#include "proto/base/clock.h"
#include "tests/check.h"

#define HOUR_US (INT64_C(3600) * 1000000)

static struct store_grant grant_of(int64_t act, uint32_t uid, const char *subject)
{
	return (struct store_grant){ .act = act,
		.uid = uid,
		.subject = subject,
		.until_wall_us = clock_wall_us() + HOUR_US,
		.uses = -1,
		.by = 7 };
}

TEST(a_grant_is_for_one_user_and_one_subject)
{
	struct store_grant grant = grant_of(1, 1000, "sha256:aa");
	struct grants grants;

	grants_init(&grants);
	CHECK(!grants_find(&grants, 1000, "sha256:aa"));
	CHECK_EQ_INT(grants_add(&grants, &grant), 0);
	CHECK(grants_find(&grants, 1000, "sha256:aa"));
	CHECK_EQ_INT(grants_find(&grants, 1000, "sha256:aa")->by, 7);
	CHECK(!grants_find(&grants, 1001, "sha256:aa"));
	CHECK(!grants_find(&grants, 1000, "sha256:ab"));
	grants_done(&grants);
}

TEST(a_grant_ends_with_its_time)
{
	struct store_grant grant = grant_of(1, 1000, "sha256:aa");
	struct grants grants;

	grants_init(&grants);
	grant.until_wall_us = clock_wall_us() - 1;
	CHECK_EQ_INT(grants_add(&grants, &grant), 0);
	CHECK(!grants_find(&grants, 1000, "sha256:aa"));
	CHECK_EQ_INT(grants.count, 0);
	grants_done(&grants);
}

TEST(a_grant_without_a_use_is_found_by_nobody_and_may_get_one_back)
{
	struct store_grant grant = grant_of(1, 1000, "sha256:aa");
	struct grants grants;

	grants_init(&grants);
	grant.uses = 1;
	CHECK_EQ_INT(grants_add(&grants, &grant), 0);
	grants_find(&grants, 1000, "sha256:aa")->uses--;
	CHECK(!grants_find(&grants, 1000, "sha256:aa"));
	grants_get(&grants, 1)->uses++;
	CHECK(grants_find(&grants, 1000, "sha256:aa"));
	grants_done(&grants);
}

TEST(what_is_revoked_is_gone_and_others_stay)
{
	struct grants grants;

	grants_init(&grants);
	for (int64_t act = 1; act <= 3; act++) {
		struct store_grant grant = grant_of(act, 1000, "sha256:aa");

		CHECK_EQ_INT(grants_add(&grants, &grant), 0);
	}
	grants_remove(&grants, 2);
	grants_remove(&grants, 2);
	CHECK(!grants_get(&grants, 2));
	CHECK_EQ_INT(grants.count, 2);
	CHECK_EQ_INT(grants_find(&grants, 1000, "sha256:aa")->act, 1);
	grants_done(&grants);
}

TEST(there_are_only_so_many_and_spent_ones_make_room)
{
	struct grants grants;

	grants_init(&grants);
	for (int64_t act = 1; act <= GRANTS_MOST; act++) {
		struct store_grant grant = grant_of(act, 1000, "sha256:aa");

		CHECK(grants_have_room(&grants));
		CHECK_EQ_INT(grants_add(&grants, &grant), 0);
	}
	CHECK(!grants_have_room(&grants));
	grants_get(&grants, 5)->uses = 0;
	CHECK(grants_have_room(&grants));
	CHECK(!grants_get(&grants, 5));
	grants_done(&grants);
}
