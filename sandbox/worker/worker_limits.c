#include "sandbox/worker/worker_limits.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>

#include "proto/base/container.h"

#define OWN_PROCESSES 2 /* slot and init have the same uid */

static uint64_t as_asked(uint64_t asked, uint64_t own_bytes)
{
	(void)own_bytes;
	return asked;
}

static uint64_t whole_seconds(uint64_t asked_ms, uint64_t own_bytes)
{
	(void)own_bytes;
	return asked_ms / 1000 + 2; /* the next whole second, and one for making the worker */
}

static uint64_t beside_own_bytes(uint64_t asked, uint64_t own_bytes)
{
	return asked + own_bytes;
}

static uint64_t beside_own_processes(uint64_t asked, uint64_t own_bytes)
{
	(void)own_bytes;
	return asked + OWN_PROCESSES;
}

#define ALWAYS     0
#define MEMORY     SLOTMSG_FLAG_RLIMIT_MEMORY
#define PIDS       SLOTMSG_FLAG_RLIMIT_PIDS
#define NUMBER(of) #of, offsetof(struct slotmsg_limits, of)

/* clang-format off */
static const struct row {
	const char *name;
	size_t number;      /* the offset in struct slotmsg_limits */
	uint64_t otherwise; /* if the number is 0; 0: leave the limit alone */
	__rlimit_resource_t resource;
	uint32_t flag;      /* set only with this flag */
	uint64_t (*value)(uint64_t asked, uint64_t own_bytes);
} rows[] = {
	{ NUMBER(open_files),   256,               RLIMIT_NOFILE, ALWAYS, as_asked },
	{ NUMBER(file_bytes),   WORKER_DISK_BYTES, RLIMIT_FSIZE,  ALWAYS, as_asked },
	{ NUMBER(cpu_ms),       0,                 RLIMIT_CPU,    ALWAYS, whole_seconds },
	{ NUMBER(memory_bytes), 256U << 20,        RLIMIT_AS,     MEMORY, beside_own_bytes },
	{ NUMBER(memory_bytes), 256U << 20,        RLIMIT_RSS,    ALWAYS, as_asked }, /* only told */
	{ NUMBER(pids),         64,                RLIMIT_NPROC,  PIDS,   beside_own_processes },
};
/* clang-format on */

uint64_t worker_disk_bytes(const struct slotmsg_limits *limits)
{
	return limits->disk_bytes ? limits->disk_bytes : WORKER_DISK_BYTES;
}

uint64_t worker_disk_inodes(const struct slotmsg_limits *limits)
{
	return limits->inodes ? limits->inodes : WORKER_DISK_INODES;
}

static uint64_t data_own_bytes;

void worker_limits_count_data(uint64_t own_bytes)
{
	data_own_bytes = own_bytes;
}

static uint64_t asked_in(const struct row *row, const struct slotmsg_limits *limits)
{
	const char *number = (const char *)limits + row->number;
	uint64_t asked = *(const uint64_t *)(const void *)number;

	return asked ? asked : row->otherwise;
}

static int set_row(
	pid_t pid, const struct row *row, uint64_t asked, uint64_t own_bytes, struct err *err)
{
	bool as_data = row->resource == RLIMIT_AS && data_own_bytes > 0;
	__rlimit_resource_t resource = as_data ? RLIMIT_DATA : row->resource;
	struct rlimit limit;
	rlim_t value = row->value(asked, as_data ? data_own_bytes : own_bytes);

	if (prlimit(pid, resource, NULL, &limit) < 0)
		return err_sys(err, "read limit %s", row->name);
	limit.rlim_cur = value < limit.rlim_max ? value : limit.rlim_max;
	if (prlimit(pid, resource, &limit, NULL) < 0)
		return err_sys(err, "limit %s", row->name);
	return 0;
}

int worker_limits_set(pid_t pid, const struct slotmsg_limits *limits, uint32_t flags,
	uint64_t own_bytes, struct err *err)
{
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		uint64_t asked = asked_in(&rows[i], limits);

		if (asked == 0 || (rows[i].flag && !(flags & rows[i].flag)))
			continue;
		if (set_row(pid, &rows[i], asked, own_bytes, err) < 0)
			return -1;
	}
	return 0;
}
