#include "proto/base/slice.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#define RESET_ON_FORK \
	1 /* SCHED_FLAG_RESET_ON_FORK of linux/sched.h, which <sched.h> does not get along with */

/* struct sched_attr; glibc has it from 2.41 on. */
struct attributes {
	uint32_t size;
	uint32_t policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime_ns; /* of a thread with an ordinary policy: its time slice */
	uint64_t deadline_ns;
	uint64_t period_ns;
};

void slice_ask(uint64_t us)
{
	struct attributes attributes = { .size = sizeof(attributes) };

	if (syscall(SYS_sched_getattr, 0, &attributes, sizeof(attributes), 0) < 0 ||
		(attributes.policy != SCHED_OTHER && attributes.policy != SCHED_BATCH))
		return;
	attributes.size = sizeof(attributes);
	attributes.flags |= RESET_ON_FORK;
	attributes.runtime_ns = us * 1000;
	(void)syscall(SYS_sched_setattr, 0, &attributes, 0);
}
