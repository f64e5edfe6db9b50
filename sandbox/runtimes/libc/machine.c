/*
 * Answers a program that asks how large the machine is (devices.c describes how this library is
 * loaded before the C library).
 *
 * sysinfo() reports the host's free memory, its load and its number of processes, so the filter
 * refuses it.  The C library then returns whatever is on its stack: sort(1) concluded that the
 * machine had no memory and wrote thousands of files.  These functions report the program's own
 * memory limit, which the slot leaves in RLIMIT_RSS, a limit that the kernel does not enforce.
 *
 * A program that calls the kernel itself, or is linked statically, is refused.
 */
#undef _FORTIFY_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <time.h>
#include <unistd.h>

#define OURS __attribute__((visibility("default")))

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): the C library's are not for readers */

#define MEMORY_BYTES ((uint64_t)256 << 20) /* where there is no limit */

static uint64_t memory_bytes(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_RSS, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY)
		return MEMORY_BYTES;
	return limit.rlim_cur;
}

/* Counts the peak memory of this process as used, without files in /work and other processes. */
static uint64_t free_bytes(void)
{
	const uint64_t all = memory_bytes();
	struct rusage usage;
	uint64_t taken = 0;

	if (getrusage(RUSAGE_SELF, &usage) == 0)
		taken = (uint64_t)usage.ru_maxrss * 1024;
	return taken < all ? all - taken : 0;
}

static long pages_of(uint64_t bytes)
{
	return (long)(bytes / (uint64_t)getpagesize());
}

OURS int sysinfo(struct sysinfo *ret_info)
{
	struct timespec up = { 0 };

	(void)clock_gettime(CLOCK_BOOTTIME, &up);
	*ret_info = (struct sysinfo){
		.uptime = up.tv_sec,
		.totalram = memory_bytes(),
		.freeram = free_bytes(),
		.procs = 1,
		.mem_unit = 1,
	};
	return 0;
}

OURS long get_phys_pages(void)
{
	return pages_of(memory_bytes());
}

OURS long get_avphys_pages(void)
{
	return pages_of(free_bytes());
}

OURS long sysconf(int name)
{
	static long (*real)(int name);

	if (name == _SC_PHYS_PAGES)
		return get_phys_pages();
	if (name == _SC_AVPHYS_PAGES)
		return get_avphys_pages();
	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "sysconf");
	return real(name);
}

/* The C library would read /proc.  Nothing else runs on the machine that a program is told of. */
OURS int getloadavg(double loads[], int count)
{
	const int most = count < 3 ? count : 3;

	for (int i = 0; i < most; i++)
		loads[i] = 0;
	return most;
}

/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */
