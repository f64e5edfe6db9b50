/*
 * The system calls that our processes may make: for each profile a list of groups, each with its
 * reason, as data.
 *
 * The lists are the source of the filters that libseccomp builds (seccomp.c) and of the workers'
 * second filter (tiny_filter.c).  Tests compare both with the lists, row by row.
 *
 * Verdicts are the kernel's numbers (SECCOMP_RET_*). x86_64 only: other entries into the kernel
 * (i386, x32) kill in every profile.
 */
#pragma once

#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>

/* Builds with a sanitizer, for tests: sanitizers need calls that our programs do not. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

/* All flags of clone() that make a namespace (<sched.h>). */
#define CLONE_NEW_ANY                                                                             \
	((uint64_t)(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | \
		    CLONE_NEWPID | CLONE_NEWNET))

#define VERDICT_ALLOW        SECCOMP_RET_ALLOW
#define VERDICT_KILL         SECCOMP_RET_KILL_PROCESS
#define VERDICT_ERRNO(errno) (SECCOMP_RET_ERRNO | (uint32_t)(errno))

/*
 * Calls that show intent go to the slot, which counts them (seccomp_notify.h) and then answers with
 * the errno or ends the run.  The kernel ignores the lower half of this verdict: it holds the
 * slot's answer.  Where no slot listens, the kernel gives that answer (syscall_plain()).
 */
#define VERDICT_NOTIFY(errno) (SECCOMP_RET_USER_NOTIF | (uint32_t)(errno))
#define VERDICT_END           (SECCOMP_RET_USER_NOTIF | SECCOMP_RET_DATA)

/*
 * The verdict for zygote and slot on these calls.  It must never pass and be weaker than the
 * worker's own verdict, so that that one counts.  "Ask the tracer" does this: without a tracer the
 * kernel returns ENOSYS.
 */
#define VERDICT_HELD SECCOMP_RET_TRACE

enum filter_profile {
	FILTER_JOB,         /* a program in its jail: base and tiny filter together */
	FILTER_ZYGOTE,      /* zygote and slot: the job's list and the calls that make workers */
	FILTER_ZYGOTE_CODE, /* the same where jobs make machine code, as node does */
	/* the same two for networked runs: slots make a network and listeners, jobs connect */
	FILTER_ZYGOTE_NET,
	FILTER_ZYGOTE_NET_CODE,
	FILTER_DAEMON,    /* ced */
	FILTER_INSPECTOR, /* ced-inspector while it starts; it then adds a stricter filter itself */
	FILTER_EGRESS,    /* ced-egress, likewise */
	FILTER_PROFILE_COUNT,
};

/* (args[arg] & mask) == value; a mask of 0 is no test. */
struct arg_test {
	unsigned arg;
	uint64_t mask;
	uint64_t value;
};

#define ARG_TESTS_MAX 3

struct arg_rule {
	uint32_t verdict; /* if all tests hold */
	struct arg_test tests[ARG_TESTS_MAX];
};

/*
 * A group decides its calls: the first rule that holds, else `verdict`.  Rules of one group with
 * different verdicts must exclude each other, and a group with rules falls back to VERDICT_DEFAULT,
 * because libseccomp drops argument rules silently where there is an unconditional one.
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
 * The groups of a profile in order, ended by NULL. If two name the same call, the first one counts.
 */
const struct syscall_group *syscall_group_at(enum filter_profile profile, size_t index);

/*
 * The same, without the groups that a profile takes over from another one: of FILTER_ZYGOTE, those
 * that differ from FILTER_JOB.
 */
const struct syscall_group *syscall_own_group_at(enum filter_profile profile, size_t index);

/* Whether a profile is a base filter, under which workers load their own. */
#define SYSCALL_IS_BASE(which) ((which) >= FILTER_ZYGOTE && (which) <= FILTER_ZYGOTE_NET_CODE)

/* The group that decides `nr`, or NULL: then VERDICT_DEFAULT counts. */
const struct syscall_group *syscall_group_of(enum filter_profile profile, int nr);

/* The same verdict where no slot listens: an errno, or death by SIGSYS. */
uint32_t syscall_plain(uint32_t verdict);
