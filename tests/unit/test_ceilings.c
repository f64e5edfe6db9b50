#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "daemon/door/ceilings.h"
#include "daemon/settings/config_file.h"
#include "tests/check.h"

static struct config config; /* too large for a stack */

static void configure(uint64_t conns, uint64_t conns_per_uid)
{
	config_init(&config);
	config.runtime_count = 1;
	config.workers_min = 1;
	config.workers_max = 1;
	config.connections_max = conns;
	config.connections_per_uid = conns_per_uid;
	config.held_bytes = 6400;
	config.held_bytes_per_uid = 4000;
}

static struct ceilings ceilings_of(uint64_t conns, uint64_t conns_per_uid)
{
	struct ceilings ceilings;
	struct err err = ERR_INIT;

	configure(conns, conns_per_uid);
	if (ceilings_init(&ceilings, &config, &err) < 0)
		abort();
	return ceilings;
}

TEST(a_user_has_so_many_connections_and_others_have_theirs)
{
	struct ceilings ceilings = ceilings_of(3, 2);

	CHECK(!ceilings_enter(&ceilings, 1, false));
	CHECK(!ceilings_enter(&ceilings, 1, false));
	CHECK(ceilings_enter(&ceilings, 1, false) != NULL);
	CHECK(!ceilings_enter(&ceilings, 2, false));
	ceilings_leave(&ceilings, 1);
	CHECK(!ceilings_enter(&ceilings, 1, false));
	CHECK_EQ_INT(ceilings.conns, 3);
	ceilings_done(&ceilings);
}

TEST(when_all_connections_are_taken_each_user_still_gets_two)
{
	struct ceilings ceilings = ceilings_of(3, 3);

	for (int i = 0; i < 3; i++)
		CHECK(!ceilings_enter(&ceilings, 1, false));
	CHECK(!ceilings_enter(&ceilings, 2, false));
	CHECK(!ceilings_enter(&ceilings, 2, false));
	CHECK(ceilings_enter(&ceilings, 2, false) != NULL);
	ceilings.conns_max = 15; /* 8 of them are for administrators */
	CHECK(!ceilings_enter(&ceilings, 3, false));
	CHECK(!ceilings_enter(&ceilings, 3, false));
	CHECK(ceilings_enter(&ceilings, 4, false) != NULL);
	ceilings_done(&ceilings);
}

TEST(an_administrator_gets_in_as_long_as_descriptors_suffice)
{
	struct ceilings ceilings = ceilings_of(1, 1);

	ceilings.conns_max = 20;
	CHECK(!ceilings_enter(&ceilings, 1, false));
	for (int i = 1; i < 20; i++)
		CHECK(!ceilings_enter(&ceilings, 0, true));
	CHECK(ceilings_enter(&ceilings, 0, true) != NULL);
	ceilings_done(&ceilings);
}

TEST(bytes_are_held_up_to_the_ceiling_of_a_uid_and_free_again)
{
	struct ceilings ceilings = ceilings_of(9, 9);

	CHECK(ceilings_hold(&ceilings, 1, 3000));
	CHECK(!ceilings_hold(&ceilings, 1, 1001));
	CHECK(ceilings_hold(&ceilings, 1, 1000));
	CHECK(!ceilings_passed(&ceilings, 1));
	ceilings_let_go(&ceilings, 1, 4000);
	CHECK_EQ_INT(ceilings.bytes, 0);
	CHECK_EQ_INT(ceilings.shares.count, 0);
	ceilings_done(&ceilings);
}

TEST(when_all_is_held_each_still_has_a_little)
{
	struct ceilings ceilings = ceilings_of(9, 9);

	CHECK(ceilings_hold(&ceilings, 1, 4000));
	CHECK(ceilings_hold(&ceilings, 2, 2400));
	CHECK(!ceilings_hold(&ceilings, 3, 101));
	CHECK(ceilings_hold(&ceilings, 3, 100));
	CHECK(!ceilings_hold(&ceilings, 2, 1));
	ceilings_done(&ceilings);
}

TEST(what_exists_already_is_counted_and_told_as_too_much)
{
	struct ceilings ceilings = ceilings_of(9, 9);

	CHECK(!ceilings_enter(&ceilings, 1, false));
	ceilings_hold_anyway(&ceilings, 1, 4001);
	CHECK(ceilings_passed(&ceilings, 1));
	CHECK(!ceilings_passed(&ceilings, 2));
	ceilings_leave(&ceilings, 1);
	ceilings_let_go(&ceilings, 1, 4001);
	CHECK_EQ_INT(ceilings.shares.count, 0);
	ceilings_done(&ceilings);
}

/* This must be the last test: it changes the process's limit for good. */
TEST(workers_that_need_more_descriptors_than_there_are_are_refused_at_the_start)
{
	struct ceilings ceilings;
	struct err err = ERR_INIT;
	struct rlimit before;
	struct rlimit small;

	configure(1, 1);
	CHECK_EQ_INT(getrlimit(RLIMIT_NOFILE, &before), 0);
	small = (struct rlimit){ 64, 64 < before.rlim_max ? 64 : before.rlim_max };
	CHECK_EQ_INT(setrlimit(RLIMIT_NOFILE, &small), 0);
	CHECK_EQ_INT(ceilings_init(&ceilings, &config, &err), -1);
	CHECK(strstr(err.text, "LimitNOFILE") != NULL);
	ceilings_done(&ceilings);
}
