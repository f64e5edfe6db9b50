#include "sandbox/jail/rlimits.h"

#include <sys/resource.h>

static int set_one(const struct rlimit_row *row, struct err *err)
{
	struct rlimit limit;

	if (getrlimit((__rlimit_resource_t)row->resource, &limit) < 0)
		return err_sys(err, "getrlimit %d", row->resource);
	if (limit.rlim_max > row->value)
		limit.rlim_max = row->value;
	limit.rlim_cur = limit.rlim_max;
	if (setrlimit((__rlimit_resource_t)row->resource, &limit) < 0)
		return err_sys(err, "setrlimit %d", row->resource);
	return 0;
}

int rlimits_set(const struct rlimit_row *rows, size_t count, struct err *err)
{
	for (size_t i = 0; i < count; i++)
		if (set_one(&rows[i], err) < 0)
			return -1;
	return 0;
}
