#include "sandbox/worker/footprint.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
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

/* When a page of a file is missing, the kernel also maps this much around it. */
#define FAULT_AROUND_BYTES ((uintptr_t)64 << 10)
#define GAP_PAGES          1 /* ranges that are so close are joined: a page costs less than a call */

struct reading {
	struct footprint *footprint;
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
	struct footprint *footprint = reading->footprint;
	struct footprint_range *last =
		footprint->count ? &footprint->ranges[footprint->count - 1] : NULL;

	if (last && advice == MADV_POPULATE_READ && last->advice == advice &&
		at / FAULT_AROUND_BYTES == last->start / FAULT_AROUND_BYTES)
		return;
	if (last && advice == MADV_POPULATE_WRITE && last->advice == advice &&
		at == last->start + last->len) {
		last->len = at + reading->page - last->start;
		return;
	}
	if (footprint->count == FOOTPRINT_RANGES_MAX)
		return;
	footprint->ranges[footprint->count++] =
		(struct footprint_range){ at, reading->page, advice };
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

/* Only the caller's own mappings count: a worker does not have what the child has mapped since. */
int footprint_read(struct footprint *footprint, int proc, pid_t child, struct err *err)
{
	struct reading reading = { .footprint = footprint, .page = (size_t)sysconf(_SC_PAGESIZE) };
	auto_fd int pagemap = -1;
	char path[64];

	footprint->count = 0;
	(void)snprintf(path, sizeof(path), "%d/pagemap", child);
	pagemap = openat(proc, path, O_RDONLY | O_CLOEXEC);
	if (pagemap < 0)
		return err_sys(err, "open %s", path);
	reading.pagemap = pagemap;
	return procfs_each_mapping(proc, read_line, &reading, err);
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

void footprint_touch(const struct footprint *footprint)
{
	for (size_t i = 0; i < footprint->count; i++) {
		const struct footprint_range *range = &footprint->ranges[i];

		/* an address of ours as a number, from our own maps */
		(void)madvise((void *)range->start, range->len, range->advice);
	}
}
