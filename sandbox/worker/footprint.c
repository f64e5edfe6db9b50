#include "sandbox/worker/footprint.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "proto/base/cleanup.h"
#include "sandbox/worker/procfs.h"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ  22 /* Linux 5.14 */
#define MADV_POPULATE_WRITE 23
#endif
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25 /* Linux 6.1 */
#endif

/* Bits of a pagemap entry (Documentation/admin-guide/mm/pagemap.rst). */
#define ENTRY_PRESENT   (UINT64_C(1) << 63)
#define ENTRY_FILE      (UINT64_C(1) << 61)
#define ENTRY_EXCLUSIVE (UINT64_C(1) << 56)

#define MAPPING_BYTES_MAX ((uintptr_t)1 << 30) /* larger ranges are reserved, not used */
#define ENTRIES_AT_ONCE   512
#define SURVEY_PAGES_MAX  ((size_t)64 << 10) /* of all learners; later pages are not counted */

/* When a page of a file is missing, the kernel also maps this much around it. */
#define FAULT_AROUND_BYTES ((uintptr_t)64 << 10)

#ifndef PIDFD_SELF_THREAD
#define PIDFD_SELF_THREAD (-10000) /* Linux 6.14; 6.18 refuses -20000, for the process */
#endif

struct reading {
	struct footprint_survey *survey;
	size_t page;
	int pagemap;
	bool writable; /* the mapping that is being read */
};

static int advice_of(uint64_t entry, bool writable)
{
	if (!(entry & ENTRY_PRESENT))
		return 0;
	if (entry & ENTRY_FILE)
		return MADV_POPULATE_READ;
	if (writable && (entry & ENTRY_EXCLUSIVE))
		return MADV_POPULATE_WRITE;
	return 0;
}

static void add_page(struct reading *reading, uintptr_t at, int advice)
{
	struct footprint_survey *survey = reading->survey;

	if (survey->count < SURVEY_PAGES_MAX)
		survey->pages[survey->count++] = (struct footprint_page){ at, advice };
}

static int read_mapping(struct reading *reading, uintptr_t start, uintptr_t end, struct err *err)
{
	uint64_t entries[ENTRIES_AT_ONCE];

	while (start < end) {
		size_t pages = (end - start) / reading->page;
		size_t want = pages < ENTRIES_AT_ONCE ? pages : ENTRIES_AT_ONCE;
		ssize_t got = pread(reading->pagemap, entries, want * sizeof(*entries),
			(off_t)(start / reading->page * sizeof(*entries)));

		if (got <= 0)
			return err_sys(err, "pagemap");
		got /= (ssize_t)sizeof(*entries);
		for (ssize_t i = 0; i < got; i++, start += reading->page) {
			int advice = advice_of(entries[i], reading->writable);

			if (advice)
				add_page(reading, start, advice);
		}
	}
	return 0;
}

/* "start-end perms ..." */
static bool parse_line(const char *line, uintptr_t *ret_start, uintptr_t *ret_end, char perms[4])
{
	char *rest = NULL;

	*ret_start = strtoull(line, &rest, 16);
	if (*rest != '-')
		return false;
	*ret_end = strtoull(rest + 1, &rest, 16);
	if (*rest != ' ' || strlen(rest) < 5)
		return false;
	memcpy(perms, rest + 1, 4);
	return true;
}

/* Mappings of the kernel, mappings without access and shared ones are of no use here. */
static int read_line(void *context, const char *line, struct err *err)
{
	struct reading *reading = context;
	uintptr_t start = 0;
	uintptr_t end = 0;
	char perms[4];

	if (!parse_line(line, &start, &end, perms))
		return err_set(err, ERR_INVALID, "maps: a malformed line");
	if (perms[0] != 'r' || perms[3] != 'p' || strstr(line, "[v") ||
		end - start > MAPPING_BYTES_MAX)
		return 0;
	reading->writable = perms[1] == 'w';
	return read_mapping(reading, start, end, err);
}

/*
 * The pages are in a mapping of their own, so that the caller's heap, which its children inherit,
 * stays as it is.
 */
static int survey_make_room(struct footprint_survey *survey, struct err *err)
{
	if (survey->pages)
		return 0;
	survey->pages = mmap(NULL, SURVEY_PAGES_MAX * sizeof(*survey->pages),
		PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (survey->pages == MAP_FAILED) {
		survey->pages = NULL;
		return err_sys(err, "mmap");
	}
	return 0;
}

/* Only the caller's own mappings count: a worker does not have what the child has mapped since. */
int footprint_survey_add(struct footprint_survey *survey, int proc, pid_t child, struct err *err)
{
	struct reading reading = { .survey = survey, .page = (size_t)sysconf(_SC_PAGESIZE) };
	const size_t before = survey->count;
	auto_fd int pagemap = -1;
	char path[64];

	if (survey_make_room(survey, err) < 0)
		return -1;
	(void)snprintf(path, sizeof(path), "%d/pagemap", child);
	pagemap = openat(proc, path, O_RDONLY | O_CLOEXEC);
	if (pagemap < 0)
		return err_sys(err, "open %s", path);
	reading.pagemap = pagemap;
	if (procfs_each_mapping(proc, read_line, &reading, err) < 0) {
		survey->count = before;
		return -1;
	}
	survey->learners++;
	return 0;
}

static int by_address(const void *a, const void *b)
{
	const struct footprint_page *one = a;
	const struct footprint_page *other = b;

	return one->at < other->at ? -1 : one->at > other->at;
}

/* `at` is not below the last range. */
static void add_range(struct footprint_ranges *ranges, uintptr_t at, size_t page, size_t reach)
{
	struct iovec *last = ranges->count ? &ranges->ranges[ranges->count - 1] : NULL;

	if (last && at / reach == (uintptr_t)last->iov_base / reach && reach > page)
		return;
	if (last && at == (uintptr_t)last->iov_base + last->iov_len && reach == page) {
		last->iov_len += page;
		return;
	}
	if (ranges->count < FOOTPRINT_RANGES_MAX)
		/* an address of ours as a number, from our own maps */
		ranges->ranges[ranges->count++] = (struct iovec){ (void *)at, page };
}

/* Three of five: a page that fewer programs touch costs the others more than it spares these. */
static bool is_common(size_t learners, const struct footprint_survey *survey)
{
	return learners * 5 >= (size_t)survey->learners * 3;
}

static bool covers(const struct footprint_ranges *ranges, uintptr_t at)
{
	for (size_t i = 0; i < ranges->count; i++)
		if (at - (uintptr_t)ranges->ranges[i].iov_base < ranges->ranges[i].iov_len)
			return true;
	return false;
}

/* `known` are pages to leave out, or NULL. */
static void choose(struct footprint_survey *survey, const struct footprint_ranges *known,
	struct footprint_ranges *ret_writes, struct footprint_ranges *ret_reads)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);

	ret_writes->count = 0;
	ret_reads->count = 0;
	if (!survey->pages)
		return;
	qsort(survey->pages, survey->count, sizeof(*survey->pages), by_address);
	for (size_t i = 0, next; i < survey->count; i = next) {
		unsigned writes = 0;

		for (next = i;
			next < survey->count && survey->pages[next].at == survey->pages[i].at;
			next++)
			writes += survey->pages[next].advice == MADV_POPULATE_WRITE;
		if (known && covers(known, survey->pages[i].at))
			continue;
		if (is_common(writes, survey))
			add_range(ret_writes, survey->pages[i].at, page, page);
		else if (is_common(next - i, survey))
			add_range(ret_reads, survey->pages[i].at, page, FAULT_AROUND_BYTES);
	}
	(void)munmap(survey->pages, SURVEY_PAGES_MAX * sizeof(*survey->pages));
	*survey = (struct footprint_survey){ .count = 0 };
}

void footprint_choose(struct footprint *ret_footprint, struct footprint_survey *survey)
{
	choose(survey, NULL, &ret_footprint->writes, &ret_footprint->reads);
}

/* Pages of files are left out: a fork leaves them with the worker, and only the state is without. */
void footprint_choose_cells(struct footprint *footprint, struct footprint_survey *survey)
{
	static struct footprint_ranges reads;

	choose(survey, &footprint->writes, &footprint->cells, &reads);
}

/* Only anonymous memory.  A kernel that cannot do it leaves the memory as it is. */
static int collapse_line(void *context, const char *line, struct err *err)
{
	uintptr_t start = 0;
	uintptr_t end = 0;
	char perms[4];

	(void)context;
	(void)err;
	if (parse_line(line, &start, &end, perms) && memcmp(perms, "rw-p", 4) == 0 &&
		!strchr(line, '/') && end - start <= MAPPING_BYTES_MAX)
		(void)madvise((void *)start, end - start, MADV_COLLAPSE);
	return 0;
}

void footprint_collapse(int proc)
{
	(void)procfs_each_mapping(proc, collapse_line, NULL, NULL);
}

/*
 * The kernel has made the pages.  Where it keeps page tables of its own for the processor (in a virtual
 * machine without nested paging), the first access to each page still costs a trap, and the first write
 * another one.  So a page that will be written to is written to here, with the byte that it has.  An
 * exchange loses nothing that the kernel writes meanwhile.  Some of the bytes are of nobody, which
 * AddressSanitizer must not report.
 */
__attribute__((no_sanitize("address"))) static void enter(const struct iovec *range, int advice)
{
	volatile char *bytes = range->iov_base;
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);

	for (size_t at = 0; at < range->iov_len; at += page) {
		char byte = bytes[at];

		if (advice == MADV_POPULATE_WRITE)
			(void)__atomic_compare_exchange_n(
				&bytes[at], &byte, byte, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	}
}

static void touch_range(const struct iovec *range, int advice)
{
	if (madvise(range->iov_base, range->iov_len, advice) == 0)
		enter(range, advice);
}

/* One call for all ranges where the kernel can do it; it ends at the first range that fails. */
static unsigned touch_ranges(const struct footprint_ranges *ranges, int advice)
{
	unsigned calls = ranges->count > 0;
	long done = calls ? syscall(SYS_process_madvise, PIDFD_SELF_THREAD, ranges->ranges,
				    ranges->count, advice, 0)
			  : 0;

	for (size_t i = 0; i < ranges->count; i++) {
		const struct iovec *range = &ranges->ranges[i];

		if (done >= (long)range->iov_len) {
			done -= (long)range->iov_len;
			enter(range, advice);
		} else {
			touch_range(range, advice);
			calls++;
		}
	}
	return calls;
}

/* Of this worker. */
static const struct footprint *own;

bool footprint_is_known(void)
{
	return own && own->writes.count > 0;
}

static void copy_ranges(const struct footprint_ranges *ranges)
{
	for (size_t i = 0; i < ranges->count; i++)
		(void)madvise(
			ranges->ranges[i].iov_base, ranges->ranges[i].iov_len, MADV_POPULATE_WRITE);
}

void footprint_copy(void)
{
	copy_ranges(&own->writes);
	copy_ranges(&own->cells);
}

void footprint_touch_again(void)
{
	for (size_t i = 0; i < own->writes.count; i++)
		touch_range(&own->writes.ranges[i], MADV_POPULATE_WRITE);
	for (size_t i = 0; i < own->cells.count; i++)
		touch_range(&own->cells.ranges[i], MADV_POPULATE_WRITE);
	for (size_t i = 0; i < own->reads.count; i++)
		touch_range(&own->reads.ranges[i], MADV_POPULATE_READ);
}

unsigned footprint_touch(const struct footprint *footprint)
{
	own = footprint;
	return touch_ranges(&footprint->writes, MADV_POPULATE_WRITE) +
	       touch_ranges(&footprint->reads, MADV_POPULATE_READ);
}
