/*
 * Which system calls a process of ours may make: one list of groups per profile, each group with
 * its reason, as data.
 *
 * From these lists come the filters that libseccomp builds (seccomp.c), the second filter of the
 * workers (tiny_filter.c) and the tests, which hold both against it row by row.
 *
 * Verdicts are the kernel's own words (SECCOMP_RET_*).  x86_64 only: other entries into the
 * kernel (i386, x32) kill in every profile.
 */
#pragma once

#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>

/* Builds with a sanitizer, for tests: its checkers need more than our programs do. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

#define VERDICT_ALLOW        SECCOMP_RET_ALLOW
#define VERDICT_KILL         SECCOMP_RET_KILL_PROCESS
#define VERDICT_ERRNO(errno) (SECCOMP_RET_ERRNO | (uint32_t)(errno))

/*
 * What tells of intent goes to the slot, which counts it (seccomp_notify.h) and then answers with the
 * errno, or ends the run.  The kernel passes over the lower half of such an answer: here it keeps
 * what the slot says.  Where no slot listens the kernel says it (syscall_plain()).
 */
#define VERDICT_TELL(errno) (SECCOMP_RET_USER_NOTIF | (uint32_t)(errno))
#define VERDICT_END         (SECCOMP_RET_USER_NOTIF | SECCOMP_RET_DATA)

/*
 * What zygote and slot get in their place: never done, and weaker than the worker's own answer, so
 * that it counts.  "Ask the tracer": there is none, which the kernel makes ENOSYS of.
 */
#define VERDICT_HELD SECCOMP_RET_TRACE

enum filter_profile {
	FILTER_JOB,        /* a program in its jail: what base and tiny filter leave together */
	FILTER_HOUSE,      /* zygote and slot: the job's list and what making workers takes */
	FILTER_HOUSE_CODE, /* the same where jobs make machine code, as node does */
	FILTER_DAEMON,     /* ced */
	FILTER_INSPECTOR,  /* ced-inspector while it starts; it takes more away itself */
	FILTER_PROFILE_COUNT,
};

/* (args[arg] & mask) == value; a mask of 0 is no test. */
struct arg_test {
	unsigned arg;
	uint64_t mask;
	uint64_t value;
};

#define ARG_TESTS_MAX 2

struct arg_rule {
	uint32_t verdict; /* when all tests hold */
	struct arg_test tests[ARG_TESTS_MAX];
};

/*
 * A group decides about its calls: the first rule that holds, else `verdict`.  Rules of one group
 * with different verdicts exclude each other, and a group with rules falls back to
 * VERDICT_DEFAULT: libseccomp drops argument rules silently where there is an unconditional one.
 */
struct syscall_group {
	const char *reason;
	uint32_t verdict;
	const short *calls;
	size_t call_count;
	const struct arg_rule *rules;
	size_t rule_count;
};

#define VERDICT_DEFAULT VERDICT_ERRNO(1 /* EPERM */)

/*
 * The groups of a profile in order, NULL behind the last; where two name the same call, the first
 * one counts.
 */
const struct syscall_group *syscall_group_at(enum filter_profile profile, size_t index);

/*
 * The same, without the groups that a profile takes over from another one: of FILTER_HOUSE, what it
 * says differently from FILTER_JOB.
 */
const struct syscall_group *syscall_own_group_at(enum filter_profile profile, size_t index);

/* The group that decides about `nr`, or NULL: then VERDICT_DEFAULT counts. */
const struct syscall_group *syscall_group_of(enum filter_profile profile, int nr);

/* The same verdict where nobody listens: an errno, or death by SIGSYS. */
uint32_t syscall_plain(uint32_t verdict);
