#include <sys/resource.h>

#include "sandbox/worker/worker_limits.h"
#include "tests/check.h"
#include "tests/unit/jailing.h"

static struct err err = ERR_INIT;

static rlim_t soft(__rlimit_resource_t resource)
{
	struct rlimit limit = { 0, 0 };

	(void)getrlimit(resource, &limit);
	return limit.rlim_cur;
}

static rlim_t hard(__rlimit_resource_t resource)
{
	struct rlimit limit = { 0, 0 };

	(void)getrlimit(resource, &limit);
	return limit.rlim_max;
}

static int both_ways(void *context)
{
	struct slotmsg_limits limits = { .open_files = 50, .file_bytes = 1000, .cpu_ms = 1500 };
	rlim_t files_hard = hard(RLIMIT_NOFILE);

	(void)context;
	WANT(worker_limits_set(0, &limits, 0, 0, &err) == 0);
	WANT(soft(RLIMIT_NOFILE) == 50 && soft(RLIMIT_FSIZE) == 1000 && soft(RLIMIT_CPU) == 3);
	limits = (struct slotmsg_limits){ .open_files = 100, .file_bytes = 2000, .cpu_ms = 9999 };
	WANT(worker_limits_set(getpid(), &limits, 0, 0, &err) == 0);
	WANT(soft(RLIMIT_NOFILE) == 100 && soft(RLIMIT_FSIZE) == 2000 && soft(RLIMIT_CPU) == 11);
	WANT(hard(RLIMIT_NOFILE) == files_hard);
	return 0;
}

TEST(limits_move_down_and_up)
{
	CHECK_EQ_INT(in_child(both_ways, NULL), 0);
}

static int flagged(void *context)
{
	struct slotmsg_limits limits = { .memory_bytes = 1 << 30, .pids = 7 };
	rlim_t space = soft(RLIMIT_AS);
	rlim_t processes = soft(RLIMIT_NPROC);

	(void)context;
	WANT(worker_limits_set(0, &limits, 0, 1 << 20, &err) == 0);
	WANT(soft(RLIMIT_AS) == space && soft(RLIMIT_NPROC) == processes);
	WANT(worker_limits_set(0, &limits, SLOTMSG_FLAG_RLIMIT_PIDS, 1 << 20, &err) == 0);
	WANT(soft(RLIMIT_AS) == space && soft(RLIMIT_NPROC) == 9); /* plus slot and init */
	WANT(worker_limits_set(0, &limits, SLOTMSG_FLAG_RLIMIT_MEMORY, 1 << 20, &err) == 0);
	WANT(soft(RLIMIT_AS) == (1 << 30) + (1 << 20));
	return 0;
}

TEST(what_a_cgroup_holds_is_limited_only_where_there_is_none)
{
	CHECK_EQ_INT(in_child(flagged, NULL), 0);
}

static int profile(void *context)
{
	const struct slotmsg_limits none = { 0 };
	rlim_t cpu = soft(RLIMIT_CPU);

	(void)context;
	WANT(worker_limits_set(0, &none, 0, 0, &err) == 0);
	WANT(soft(RLIMIT_NOFILE) == 256 && soft(RLIMIT_FSIZE) == WORKER_DISK_BYTES);
	WANT(soft(RLIMIT_CPU) == cpu);
	return 0;
}

TEST(a_number_that_is_not_given_is_the_profile_s)
{
	CHECK_EQ_INT(in_child(profile, NULL), 0);
	CHECK_EQ_INT(worker_disk_inodes(&(struct slotmsg_limits){ 0 }), WORKER_DISK_INODES);
	CHECK_EQ_INT(worker_disk_bytes(&(struct slotmsg_limits){ .disk_bytes = 5 }), 5);
}

static int by_data(void *context)
{
	struct slotmsg_limits limits = { .memory_bytes = 1 << 30 };
	rlim_t space = soft(RLIMIT_AS);

	(void)context;
	worker_limits_count_data(1 << 20);
	WANT(worker_limits_set(0, &limits, 0, 1 << 25, &err) == 0);
	WANT(soft(RLIMIT_DATA) != (1 << 30) + (1 << 20));
	WANT(worker_limits_set(0, &limits, SLOTMSG_FLAG_RLIMIT_MEMORY, 1 << 25, &err) == 0);
	WANT(soft(RLIMIT_DATA) == (1 << 30) + (1 << 20) && soft(RLIMIT_AS) == space);
	return 0;
}

TEST(who_reserves_much_is_held_by_what_it_writes)
{
	CHECK_EQ_INT(in_child(by_data, NULL), 0);
}
