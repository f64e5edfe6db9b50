#include "daemon/workers/knobs.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proto/base/cleanup.h"
#include "proto/base/container.h"
#include "proto/base/err.h"
#include "proto/base/fdio.h"

#define KNOB_TEXT_MAX 2048
#define CPU_PERIOD_US 100000              /* the kernel's default, which ced never changes */
#define PEAK_SLACK    ((uint64_t)1 << 20) /* the most that the kernel charges at once */

void knobs_init(struct knobs *knobs)
{
	memset(knobs, 0, sizeof(*knobs));
	for (unsigned i = 0; i < KNOB_COUNT; i++)
		knobs->fds[i] = -1;
}

static int take_one(struct knobs *knobs, uint32_t which, int fd)
{
	if (which == KNOB_JOIN && knobs->join_count < COUNT_OF(knobs->join)) {
		knobs->join[knobs->join_count++] = fd;
		return 0;
	}
	if (which <= KNOB_JOIN || which >= KNOB_COUNT || knobs->fds[which] >= 0) {
		close(fd);
		return -1;
	}
	knobs->fds[which] = fd;
	return 0;
}

int knobs_take(struct knobs *knobs, const struct priv_knobs *which, int *fds, unsigned fd_count)
{
	int result = 0;

	if (which->count != fd_count || fd_count > PRIV_FDS_MAX) {
		close_fds(fds, fd_count);
		return -1;
	}
	for (unsigned i = 0; i < fd_count; i++)
		if (take_one(knobs, which->which[i], fds[i]) < 0)
			result = -1;
	return result;
}

void knobs_done(struct knobs *knobs)
{
	for (unsigned i = 0; i < KNOB_COUNT; i++)
		if (knobs->fds[i] >= 0)
			close(knobs->fds[i]);
	for (unsigned i = 0; i < knobs->join_count; i++)
		close(knobs->join[i]);
	knobs_init(knobs);
}

bool knobs_hold(const struct knobs *knobs, enum priv_knob knob)
{
	return knobs->fds[knob] >= 0;
}

static int write_number(int fd, uint64_t number)
{
	char text[24];

	if (fd < 0)
		return 0;
	cut_printf(text, sizeof(text), "%" PRIu64, number);
	return pwrite(fd, text, strlen(text), 0) < 0 ? -1 : 0;
}

static void write_once(int *fd, uint64_t number)
{
	(void)write_number(*fd, number);
	if (*fd >= 0)
		close(take_fd(fd));
}

void knobs_settle(struct knobs *knobs)
{
	write_once(&knobs->fds[KNOB_SWAP_OFF], 0);
	write_once(&knobs->fds[KNOB_OOM_GROUP], 1);
}

/* Reads a whole knob.  The text is "" when the host lacks the knob. */
static void read_text(int fd, char *text, size_t size)
{
	ssize_t len = fd < 0 ? 0 : pread(fd, text, size - 1, 0);

	text[len > 0 ? len : 0] = '\0';
}

/* Returns the text after "word " at the start of a line, or NULL. */
static const char *text_after(const char *text, const char *word)
{
	size_t len = strlen(word);

	for (const char *line = text; line && *line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, word, len) && line[len] == ' ')
			return line + len;
	}
	return NULL;
}

static uint64_t number_after(const char *text, const char *word)
{
	const char *number = text_after(text, word);

	return number ? strtoull(number, NULL, 10) : 0;
}

/*
 * In v1 the ceiling that includes swap (memsw) may never be below memory's.  It must be raised
 * before memory's and lowered after it.  Writing it both times covers both cases.
 */
static int set_memory(const struct knobs *knobs, uint64_t bytes)
{
	(void)write_number(knobs->fds[KNOB_SWAP_MAX], bytes);
	if (write_number(knobs->fds[KNOB_MEMORY_MAX], bytes) < 0)
		return -1;
	(void)write_number(knobs->fds[KNOB_SWAP_MAX], bytes);
	return 0;
}

static int set_pids(const struct knobs *knobs, uint64_t pids)
{
	return write_number(knobs->fds[KNOB_PIDS_MAX], pids);
}

/*
 * Both versions accept a number alone as the quota.  v1 rejects a quota above that of a cgroup
 * above, which then limits the run anyway.
 */
static int set_cpu(const struct knobs *knobs, uint64_t percent)
{
	int result = write_number(knobs->fds[KNOB_CPU_MAX], percent * CPU_PERIOD_US / 100);

	return result < 0 && errno == EINVAL ? 0 : result;
}

static int set_when_new(const struct knobs *knobs, uint64_t *set, uint64_t number,
	int (*write)(const struct knobs *knobs, uint64_t number))
{
	if (*set == number)
		return 0;
	if (write(knobs, number) < 0)
		return -1;
	*set = number;
	return 0;
}

/*
 * What other leaves hold is on the account of the session, too.  The kernel rejects a limit below
 * what a leaf has already; with no room left, the next page is one too many.
 */
static uint64_t memory_left(const struct knobs *knobs, uint64_t bytes)
{
	const uint64_t left = bytes > knobs->held_bytes ? bytes - knobs->held_bytes : 0;
	const uint64_t own = knobs->held_bytes ? knobs_memory_now(knobs) : 0;

	return left > own ? left : own;
}

int knobs_set(struct knobs *knobs, const struct job_limits *limits)
{
	const uint64_t memory_bytes = memory_left(knobs, limits->memory_bytes);

	if (set_when_new(knobs, &knobs->memory_set, memory_bytes, set_memory) < 0 ||
		set_when_new(knobs, &knobs->pids_set, limits->pids, set_pids) < 0 ||
		set_when_new(knobs, &knobs->cpu_set, limits->cpu_percent, set_cpu) < 0)
		return -1;
	return 0;
}

/* v2 cpu.stat has user_usec and system_usec.  v1 cpuacct.usage is one number, in ns. */
static void read_cpu(int fd, uint64_t *ret_user_us, uint64_t *ret_sys_us)
{
	char text[KNOB_TEXT_MAX];

	read_text(fd, text, sizeof(text));
	*ret_user_us = number_after(text, "user_usec");
	*ret_sys_us = number_after(text, "system_usec");
	if (!*ret_user_us && !*ret_sys_us)
		*ret_user_us = strtoull(text, NULL, 10) / 1000;
}

void knobs_count(const struct knobs *knobs, struct knob_counts *ret_counts)
{
	char text[KNOB_TEXT_MAX];

	ret_counts->memory_peak = 0;
	read_cpu(knobs->fds[KNOB_CPU_USAGE], &ret_counts->cpu_user_us, &ret_counts->cpu_sys_us);
	read_text(knobs->fds[KNOB_MEMORY_EVENTS], text, sizeof(text));
	ret_counts->oom_kills = number_after(text, "oom_kill");
	ret_counts->oom_own = number_after(text, "oom");
	ret_counts->has_oom_own = text_after(text, "oom") != NULL;
	read_text(knobs->fds[KNOB_PIDS_EVENTS], text, sizeof(text));
	ret_counts->pids_refused = number_after(text, "max");
}

uint64_t knobs_cpu_us(const struct knobs *knobs)
{
	uint64_t user_us = 0;
	uint64_t sys_us = 0;

	read_cpu(knobs->fds[KNOB_CPU_USAGE], &user_us, &sys_us);
	return user_us + sys_us;
}

static uint64_t read_number(int fd)
{
	char text[24];

	read_text(fd, text, sizeof(text));
	return strtoull(text, NULL, 10);
}

static uint64_t read_peak(const struct knobs *knobs)
{
	return read_number(knobs->fds[KNOB_MEMORY_PEAK]);
}

uint64_t knobs_memory_now(const struct knobs *knobs)
{
	return read_number(knobs->fds[KNOB_MEMORY_NOW]);
}

int knobs_emptier(const struct knobs *knobs)
{
	return fcntl(knobs->fds[KNOB_MEMORY_EMPTY], F_DUPFD_CLOEXEC, 0);
}

void knobs_empty(int fd, uint64_t bytes)
{
	(void)write_number(fd, bytes);
}

void knobs_begin(const struct knobs *knobs, struct knob_counts *ret_counts)
{
	knobs_count(knobs, ret_counts);
	if (write_number(knobs->fds[KNOB_MEMORY_PEAK], 0) < 0)
		ret_counts->memory_peak = read_peak(knobs);
}

void knobs_begin_cpu(const struct knobs *knobs, struct knob_counts *counts)
{
	read_cpu(knobs->fds[KNOB_CPU_USAGE], &counts->cpu_user_us, &counts->cpu_sys_us);
}

uint64_t knobs_memory_peak(const struct knobs *knobs, const struct knob_counts *before)
{
	uint64_t peak = read_peak(knobs);

	return peak > before->memory_peak ? peak + knobs->held_bytes : 0;
}

bool knobs_short_above(const struct knobs *knobs, const struct knob_counts *before,
	const struct knob_counts *after, uint64_t limit_bytes)
{
	if (!knobs_since(before->oom_kills, after->oom_kills))
		return false;
	if (after->has_oom_own)
		return !knobs_since(before->oom_own, after->oom_own);
	return knobs_hold(knobs, KNOB_MEMORY_PEAK) &&
	       read_peak(knobs) + knobs->held_bytes + PEAK_SLACK < limit_bytes;
}

int knobs_freeze(struct knobs *knobs, bool stand)
{
	int fd = knobs->fds[KNOB_FREEZE];

	if (fd < 0 || write_number(fd, stand) < 0)
		return -1;
	knobs->stands = stand;
	return 0;
}

uint64_t knobs_pids_now(const struct knobs *knobs)
{
	return read_number(knobs->fds[KNOB_PIDS_NOW]);
}

bool knobs_are_frozen(const struct knobs *knobs)
{
	char text[KNOB_TEXT_MAX];

	read_text(knobs->fds[KNOB_FROZEN], text, sizeof(text));
	return number_after(text, "frozen") == 1;
}

void knobs_kill(const struct knobs *knobs)
{
	(void)write_number(knobs->fds[KNOB_KILL], 1);
}
