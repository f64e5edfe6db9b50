#include <sys/resource.h>

#include "proto/base/container.h"
#include "sandbox/jail/rlimits.h"
#include "tests/check.h"
#include "tests/unit/jailing.h"

static struct err err = ERR_INIT;

static int lower(void *context)
{
	const struct rlimit_row rows[] = { { RLIMIT_CORE, 0 }, { RLIMIT_NOFILE, 100 } };
	struct rlimit limit;

	(void)context;
	WANT(rlimits_set(rows, COUNT_OF(rows), &err) == 0);
	WANT(getrlimit(RLIMIT_NOFILE, &limit) == 0);
	WANT(limit.rlim_cur == 100 && limit.rlim_max == 100);
	WANT(getrlimit(RLIMIT_CORE, &limit) == 0);
	WANT(limit.rlim_cur == 0 && limit.rlim_max == 0);
	return 0;
}

static int cut(void *context)
{
	const struct rlimit_row low = { RLIMIT_NOFILE, 50 };
	const struct rlimit_row high = { RLIMIT_NOFILE, 5000 };
	struct rlimit limit;

	(void)context;
	WANT(rlimits_set(&low, 1, &err) == 0);
	WANT(rlimits_set(&high, 1, &err) == 0);
	WANT(getrlimit(RLIMIT_NOFILE, &limit) == 0);
	WANT(limit.rlim_cur == 50 && limit.rlim_max == 50);
	return 0;
}

static int unknown(void *context)
{
	const struct rlimit_row row = { 1000, 1 };

	(void)context;
	WANT(rlimits_set(&row, 1, &err) < 0 && err.code == ERR_SYSTEM);
	return 0;
}

TEST(soft_and_hard_limits_become_the_row)
{
	CHECK_EQ_INT(in_child(lower, NULL), 0);
}

TEST(a_value_above_the_present_limit_is_cut_to_it)
{
	CHECK_EQ_INT(in_child(cut, NULL), 0);
}

TEST(an_unknown_resource_is_a_failure)
{
	CHECK_EQ_INT(in_child(unknown, NULL), 0);
}
