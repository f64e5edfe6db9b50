#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proto/base/container.h"
#include "sandbox/filter/seccomp.h"
#include "sandbox/filter/syscalls_runtime.h"
#include "sandbox/filter/tiny_filter.h"
#include "tests/check.h"
#include "tests/unit/bpf.h"
#include "tests/unit/jailing.h"
#include "tests/unit/verdict.h"

#define LAST_NR    1023
#define X32_BIT    0x40000000
#define EPERM_     VERDICT_ERRNO(EPERM)
#define ENOSYS_    VERDICT_ERRNO(ENOSYS)
#define VALUES_MAX 64

static struct err err = ERR_INIT;
static struct filter filters[FILTER_PROFILE_COUNT];
static struct sock_filter tiny[TINY_PART_COUNT][TINY_FILTER_MAX];
static size_t tiny_len[TINY_PART_COUNT];

static void build_tiny(const struct syscall_list *more)
{
	for (unsigned part = 0; part < TINY_PART_COUNT; part++)
		tiny_len[part] = tiny_filter_build(part, more, tiny[part]);
}

static bool build(void)
{
	if (tiny_len[0])
		return true;
	for (unsigned profile = 0; profile < FILTER_PROFILE_COUNT; profile++)
		if (filter_build(profile, &filters[profile], &err) < 0) {
			printf("# %s\n", err.text);
			return false;
		}
	build_tiny(NULL);
	return true;
}

/* libseccomp asks the kernel which actions it knows, and an emulator answers differently. */
#define NEED_FILTERS()                                        \
	do {                                                  \
		if (is_emulated())                            \
			SKIP("the kernel is not asked here"); \
		CHECK(build());                               \
	} while (0)

/* The base filter of the workers under test. */
static enum filter_profile base = FILTER_ZYGOTE;

static uint32_t answer(enum filter_profile profile, const struct seccomp_data *data)
{
	return bpf_run(filters[profile].code, filters[profile].len, data);
}

static uint32_t answer_of_tiny(enum tiny_part part, const struct seccomp_data *data)
{
	return bpf_run(tiny[part], tiny_len[part], data);
}

/* The filters of a worker on a kernel without listeners. */
static uint32_t answer_unheard(const struct seccomp_data *data)
{
	return bpf_stricter(answer(base, data), answer_of_tiny(TINY_PLAIN, data));
}

/*
 * The filters of a worker and the slot's answer: the zygote's filter, the worker's own, and the
 * slot.
 */
static uint32_t answer_of_both(const struct seccomp_data *data)
{
	uint64_t args[6];
	uint32_t verdict = bpf_stricter(answer(base, data),
		bpf_stricter(answer_of_tiny(TINY_NOTIFY, data), answer_of_tiny(TINY_LAST, data)));

	if (verdict != SECCOMP_RET_USER_NOTIF)
		return verdict;
	for (size_t i = 0; i < COUNT_OF(args); i++)
		args[i] = data->args[i];
	return tiny_filter_verdict(data->nr, args);
}

/* ---- all numbers, with arguments around every value that a rule compares ------------------- */

struct values {
	uint64_t list[VALUES_MAX];
	size_t count;
};

static void add_value(struct values *values, uint64_t value)
{
	if (values->count < VALUES_MAX)
		values->list[values->count++] = value;
}

/* For one argument: the values its rules compare, values near them, and the upper half set. */
static void gather(struct values *values, const struct syscall_group *group, unsigned arg)
{
	*values = (struct values){ .count = 0 };
	add_value(values, 0);
	add_value(values, UINT64_MAX);
	for (size_t i = 0; group && i < group->rule_count; i++)
		for (size_t k = 0; k < ARG_TESTS_MAX; k++) {
			const struct arg_test *test = &group->rules[i].tests[k];

			if (test->mask == 0 || test->arg != arg)
				continue;
			add_value(values, test->value);
			add_value(values, test->value ^ 1);
			add_value(values, test->value | (1ULL << 32));
			add_value(values, test->mask & ~test->value);
			add_value(values, ~test->mask | test->value);
		}
}

typedef bool (*compare_fn)(int nr, const uint64_t args[6]);

/* Calls `compare` for every pair of values of two arguments. */
static bool each_pair(int nr, const struct syscall_group *group, compare_fn compare)
{
	struct values values[6];

	for (unsigned arg = 0; arg < 6; arg++)
		gather(&values[arg], group, arg);
	for (unsigned one = 0; one < 6; one++)
		for (unsigned other = one + 1; other < 6; other++)
			for (size_t i = 0; i < values[one].count; i++)
				for (size_t k = 0; k < values[other].count; k++) {
					uint64_t args[6] = { 0 };

					args[one] = values[one].list[i];
					args[other] = values[other].list[k];
					if (!compare(nr, args))
						return false;
				}
	return true;
}

static bool each_call(enum filter_profile profile, compare_fn compare)
{
	for (int nr = 0; nr <= LAST_NR; nr++)
		if (!each_pair(nr, syscall_group_of(profile, nr), compare))
			return false;
	return true;
}

static bool is_same(int nr, const uint64_t args[6], uint32_t found, uint32_t hoped)
{
	if (found == hoped)
		return true;
	printf("# call %d (%#llx %#llx %#llx): %#x, not %#x\n", nr, (unsigned long long)args[0],
		(unsigned long long)args[1], (unsigned long long)args[2], found, hoped);
	return false;
}

static enum filter_profile compared;

/*
 * The base filter holds back the calls that the listener gets.  A filter without a listener
 * returns the plain verdict itself.
 */
static uint32_t in_the_kernel(enum filter_profile profile, uint32_t verdict)
{
	bool heard = SYSCALL_IS_BASE(profile);

	if (heard && syscall_plain(verdict) != verdict)
		return VERDICT_HELD;
	return syscall_plain(verdict);
}

static bool compare_with_table(int nr, const uint64_t args[6])
{
	struct seccomp_data data = bpf_call(nr, args);

	return is_same(nr, args, answer(compared, &data),
		in_the_kernel(compared, syscall_verdict(compared, nr, args)));
}

static bool compare_both_with_job(int nr, const uint64_t args[6])
{
	struct seccomp_data data = bpf_call(nr, args);

	return is_same(nr, args, answer_of_both(&data), syscall_verdict(FILTER_JOB, nr, args));
}

static bool compare_unheard_with_job(int nr, const uint64_t args[6])
{
	struct seccomp_data data = bpf_call(nr, args);

	return is_same(nr, args, answer_unheard(&data),
		syscall_plain(syscall_verdict(FILTER_JOB, nr, args)));
}

TEST(every_exported_filter_says_what_its_table_says)
{
	NEED_FILTERS();
	for (unsigned profile = 0; profile < FILTER_PROFILE_COUNT; profile++) {
		compared = profile;
		CHECK(each_call(compared, compare_with_table));
		printf("# filter %u: %zu instructions\n", profile, filters[profile].len);
	}
}

/*
 * If two groups contain a call, only the first one counts and the second is dead.  Exception: the
 * inspector's list takes a call out of the red group this way, and test builds do so in the
 * daemon's.
 */
TEST(each_call_of_a_profiles_own_list_stands_in_one_group)
{
	for (unsigned profile = 0; profile < FILTER_DAEMON; profile++) {
		unsigned times[LAST_NR + 1] = { 0 };
		const struct syscall_group *group;

		for (size_t i = 0; (group = syscall_own_group_at(profile, i)); i++)
			for (size_t k = 0; k < group->call_count; k++)
				if (times[group->calls[k]]++ > 0)
					printf("# filter %u, call %d: \"%s\" comes too late\n",
						profile, group->calls[k], group->reason);
		for (size_t nr = 0; nr <= LAST_NR; nr++)
			CHECK(times[nr] <= 1);
	}
}

TEST(base_and_tiny_filter_together_are_exactly_the_jobs_table)
{
	NEED_FILTERS();
	CHECK(each_call(FILTER_JOB, compare_both_with_job));
	CHECK(each_call(FILTER_ZYGOTE, compare_both_with_job));
	for (unsigned part = 0; part < TINY_PART_COUNT; part++)
		printf("# tiny filter %u: %zu instructions\n", part, tiny_len[part]);
}

TEST(without_a_listener_the_same_is_refused_and_the_same_kills)
{
	NEED_FILTERS();
	CHECK(each_call(FILTER_JOB, compare_unheard_with_job));
	CHECK(each_call(FILTER_ZYGOTE, compare_unheard_with_job));
}

static bool is_of_zygote_and_slot(int nr)
{
	const struct syscall_group *group;

	for (size_t i = 0; (group = syscall_own_group_at(FILTER_ZYGOTE, i)); i++)
		for (size_t k = 0; k < group->call_count; k++)
			if (group->calls[k] == nr)
				return true;
	return false;
}

/* Without a listener, the kernel must not do the calls that the listener would get. */
TEST(nothing_that_is_told_is_allowed_by_the_base_filter)
{
	const uint64_t args[6] = { 0 };

	NEED_FILTERS();
	for (int nr = 0; nr <= LAST_NR; nr++) {
		struct seccomp_data data = bpf_call(nr, args);
		uint32_t verdict = syscall_verdict(FILTER_JOB, nr, args);

		if (syscall_plain(verdict) != verdict && !is_of_zygote_and_slot(nr))
			CHECK(answer(FILTER_ZYGOTE, &data) == VERDICT_HELD);
	}
}

/* A runtime kind's own list, which comes before the job's list. */
static const struct syscall_list *own_list;

static uint32_t own_verdict(int nr, const uint64_t args[6])
{
	for (size_t i = 0; own_list && i < own_list->count; i++)
		for (size_t k = 0; k < own_list->groups[i].call_count; k++)
			if (own_list->groups[i].calls[k] == nr)
				return group_verdict(&own_list->groups[i], args);
	if ((base == FILTER_ZYGOTE_CODE || base == FILTER_ZYGOTE_NET_CODE) &&
		(nr == __NR_mmap || nr == __NR_mprotect))
		return syscall_verdict(base, nr, args);
	return syscall_verdict(FILTER_JOB, nr, args);
}

static bool compare_both_with_own(int nr, const uint64_t args[6])
{
	struct seccomp_data data = bpf_call(nr, args);

	uint32_t hoped = own_verdict(nr, args);
	uint32_t found = bpf_stricter(answer(base, &data),
		bpf_stricter(answer_of_tiny(TINY_NOTIFY, &data), answer_of_tiny(TINY_LAST, &data)));

	/* the slot chooses the errno or the end; here it is enough that the kernel asks it */
	if (syscall_plain(hoped) != hoped)
		hoped = SECCOMP_RET_USER_NOTIF;
	return is_same(nr, args, found, hoped) &&
	       is_same(nr, args, answer_unheard(&data), syscall_plain(own_verdict(nr, args)));
}

static void check_own_list(const char *name, const struct syscall_list *list)
{
	NEED_FILTERS();
	own_list = list;
	build_tiny(list);
	CHECK(each_call(FILTER_JOB, compare_both_with_own));
	CHECK(each_call(base, compare_both_with_own));
	printf("# tiny filter of %s: %zu instructions\n", name, tiny_len[TINY_NOTIFY]);
	build_tiny(NULL);
}

TEST(base_and_tiny_filter_of_commands_are_exactly_their_tables)
{
	check_own_list("commands", &SYSCALLS_COMMAND);
}

TEST(base_and_tiny_filter_of_programs_that_fork_are_exactly_their_tables)
{
	const uint64_t fork_args[6] = { 17 };
	const uint64_t apart_args[6] = { CLONE_VM | CLONE_THREAD | CLONE_SIGHAND };
	const uint64_t thread_args[6] = { CLONE_VM | CLONE_THREAD | CLONE_SIGHAND | CLONE_FILES };
	struct seccomp_data data = bpf_call(__NR_execve, fork_args);

	check_own_list("programs that fork", &SYSCALLS_FORKING);
	CHECK_EQ_INT(own_verdict(__NR_clone, fork_args), VERDICT_ALLOW);
	CHECK_EQ_INT(own_verdict(__NR_clone, thread_args), VERDICT_ALLOW);
	CHECK_EQ_INT(own_verdict(__NR_clone, apart_args), VERDICT_DEFAULT);
	CHECK_EQ_INT(own_verdict(__NR_execve, fork_args), VERDICT_NOTIFY(EPERM));
	CHECK_EQ_INT(own_verdict(__NR_execveat, fork_args), VERDICT_NOTIFY(EPERM));
	CHECK(answer_of_both(&data) != VERDICT_ALLOW);
}

TEST(a_program_of_node_may_make_code_and_nothing_else_more_than_others)
{
	const uint64_t both[6] = { 0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
		MAP_PRIVATE | MAP_ANONYMOUS };
	const uint64_t huge[6] = { 0, 4096, PROT_READ, MAP_PRIVATE | MAP_HUGETLB };

	base = FILTER_ZYGOTE_CODE;
	check_own_list("node", NULL);
	CHECK(own_verdict(__NR_execve, both) != VERDICT_ALLOW); /* it is not started anew */
	CHECK_EQ_INT(own_verdict(__NR_mmap, both), VERDICT_ALLOW);
	CHECK_EQ_INT(own_verdict(__NR_mmap, huge), EPERM_);
	CHECK_EQ_INT(syscall_verdict(FILTER_ZYGOTE, __NR_mmap, both), EPERM_);
	base = FILTER_ZYGOTE;
}

TEST(base_and_tiny_filter_of_networked_programs_are_exactly_their_tables)
{
	static const struct {
		const char *name;
		enum filter_profile base;
		const struct syscall_list *list;
	} kinds[] = {
		{ "networked programs", FILTER_ZYGOTE_NET, NULL },
		{ "networked programs that fork", FILTER_ZYGOTE_NET, &SYSCALLS_FORKING },
		{ "networked commands", FILTER_ZYGOTE_NET, &SYSCALLS_COMMAND },
		{ "networked node", FILTER_ZYGOTE_NET_CODE, NULL },
	};

	for (size_t i = 0; i < COUNT_OF(kinds); i++) {
		base = kinds[i].base;
		check_own_list(kinds[i].name, syscalls_networked(kinds[i].list));
	}
	base = FILTER_ZYGOTE;
}

TEST(other_entries_into_the_kernel_kill_in_every_profile)
{
	static const uint32_t archs[] = { AUDIT_ARCH_I386, AUDIT_ARCH_AARCH64, 0, UINT32_MAX };
	const uint64_t args[6] = { 0 };

	NEED_FILTERS();
	for (unsigned profile = 0; profile < FILTER_PROFILE_COUNT; profile++)
		for (int nr = 0; nr <= LAST_NR; nr++) {
			struct seccomp_data data = bpf_call(nr | X32_BIT, args);

			CHECK_EQ_INT(answer(profile, &data), VERDICT_KILL);
			for (size_t i = 0; i < COUNT_OF(archs); i++) {
				data = bpf_call(nr, args);
				data.arch = archs[i];
				CHECK_EQ_INT(answer(profile, &data), VERDICT_KILL);
			}
		}
}

/* ---- rules that hold whatever the table says ----------------------------------------------- */

struct expectation {
	int nr;
	uint64_t args[6];
	uint32_t verdict;
};

static void check_job(const struct expectation *rows, size_t count)
{
	NEED_FILTERS();
	for (size_t i = 0; i < count; i++) {
		struct seccomp_data data = bpf_call(rows[i].nr, rows[i].args);

		CHECK(is_same(rows[i].nr, rows[i].args, syscall_plain(answer_of_both(&data)),
			rows[i].verdict));
		CHECK(is_same(rows[i].nr, rows[i].args, answer_unheard(&data), rows[i].verdict));
	}
}

#define CALL(name, verdict, ...)                      \
	{                                             \
		__NR_##name, { __VA_ARGS__ }, verdict \
	}

TEST(a_networked_program_connects_over_ipv4_and_does_nothing_else_with_networks)
{
#define NO_FAMILY VERDICT_ERRNO(EAFNOSUPPORT)
	static const struct expectation rows[] = {
		CALL(socket, VERDICT_ALLOW, AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK),
		CALL(connect, VERDICT_ALLOW, 3),
		CALL(setsockopt, VERDICT_ALLOW, 3, SOL_SOCKET, SO_KEEPALIVE),
		CALL(setsockopt, VERDICT_ALLOW, 3, IPPROTO_TCP, TCP_NODELAY),
		CALL(getsockopt, VERDICT_ALLOW, 3, SOL_SOCKET, SO_ERROR),
		CALL(socket, NO_FAMILY, AF_INET, SOCK_DGRAM),
		CALL(socket, NO_FAMILY, AF_INET, SOCK_RAW),
		CALL(socket, NO_FAMILY, AF_INET6, SOCK_STREAM),
		CALL(socket, NO_FAMILY, AF_UNIX, SOCK_STREAM),
		CALL(socket, NO_FAMILY, AF_NETLINK, SOCK_RAW),
		CALL(socket, NO_FAMILY, AF_PACKET, SOCK_RAW),
		CALL(socket, NO_FAMILY, AF_VSOCK, SOCK_STREAM),
		CALL(bind, EPERM_, 3),
		CALL(listen, EPERM_, 3),
		CALL(accept4, EPERM_, 3),
		CALL(sendmmsg, EPERM_, 3),
		CALL(sendto, EPERM_, 3, 0, 0, MSG_FASTOPEN, 0x1000),
		CALL(setsockopt, VERDICT_ERRNO(ENOPROTOOPT), 3, IPPROTO_TCP, TCP_ULP),
		CALL(setsockopt, VERDICT_ERRNO(ENOPROTOOPT), 3, IPPROTO_TCP, TCP_FASTOPEN_CONNECT),
		CALL(setsockopt, VERDICT_ERRNO(ENOPROTOOPT), 3, SOL_SOCKET, SO_BINDTODEVICE),
		CALL(ioctl, EPERM_, 3, SIOCSIFADDR),
		CALL(unshare, VERDICT_KILL, CLONE_NEWNET),
	};

	NEED_FILTERS();
	base = FILTER_ZYGOTE_NET;
	own_list = syscalls_networked(NULL);
	build_tiny(own_list);
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct seccomp_data data = bpf_call(rows[i].nr, rows[i].args);

		CHECK(is_same(rows[i].nr, rows[i].args, answer_unheard(&data), rows[i].verdict));
	}
	build_tiny(NULL);
	base = FILTER_ZYGOTE;
}

TEST(a_program_can_do_ordinary_work)
{
	static const struct expectation rows[] = {
		CALL(read, VERDICT_ALLOW, 0),
		CALL(write, VERDICT_ALLOW, 1),
		CALL(openat, VERDICT_ALLOW, 0),
		CALL(futex, VERDICT_ALLOW, 0),
		CALL(exit_group, VERDICT_ALLOW, 0),
		CALL(mmap, VERDICT_ALLOW, 0, 0, PROT_READ | PROT_WRITE, MAP_ANONYMOUS),
		CALL(mmap, VERDICT_ALLOW, 0, 0, PROT_READ | PROT_EXEC, MAP_PRIVATE),
		CALL(mprotect, VERDICT_ALLOW, 0, 0, PROT_READ),
		CALL(clone, VERDICT_ALLOW, CLONE_VM | CLONE_THREAD | CLONE_SIGHAND | CLONE_FILES),
		CALL(close_range, VERDICT_ALLOW, 3, 9, 0),
		CALL(close_range, VERDICT_ALLOW, 3, 9, CLOSE_RANGE_CLOEXEC),
		CALL(fcntl, VERDICT_ALLOW, 0, F_GETFL),
		CALL(ioctl, VERDICT_ALLOW, 0, TCGETS),
		CALL(prctl, VERDICT_ALLOW, PR_GET_NAME),
		CALL(prlimit64, VERDICT_ALLOW, 0, 7, 0, 1),
		CALL(socketpair, VERDICT_ALLOW, AF_UNIX, SOCK_STREAM),
		CALL(sendto, VERDICT_ALLOW, 3, 1, 1, 0, 0, 0),
		CALL(recvfrom, VERDICT_ALLOW, 3, 1, 1, 0, 0, 0),
		CALL(recvmsg, VERDICT_ALLOW, 3),
		CALL(fadvise64, VERDICT_ALLOW, 3, 0, 0, POSIX_FADV_WILLNEED),
		CALL(madvise, VERDICT_ALLOW, 0, 4096, MADV_DONTNEED),
		CALL(renameat2, VERDICT_ALLOW, 0, 0, 0, 0, 1 /* RENAME_NOREPLACE */),
		CALL(madvise, VERDICT_ALLOW, 0, 4096, MADV_FREE),
		CALL(madvise, VERDICT_ALLOW, 0, 4096, MADV_HUGEPAGE),
		CALL(madvise, VERDICT_ALLOW, 0, 4096, MADV_NOHUGEPAGE),
		CALL(madvise, VERDICT_ALLOW, 0, 4096, MADV_DONTDUMP),
		CALL(madvise, VERDICT_ALLOW, 0, 4096, 25 /* MADV_COLLAPSE */),
	};

	check_job(rows, COUNT_OF(rows));
}

TEST(a_program_is_refused_what_it_has_no_business_with)
{
	static const struct expectation rows[] = {
		CALL(execve, EPERM_, 0),
		CALL(execveat, EPERM_, 0),
		CALL(fork, EPERM_, 0),
		CALL(vfork, EPERM_, 0),
		CALL(clone, EPERM_, SIGCHLD),
		CALL(clone, EPERM_, SIGCHLD | CLONE_VM | CLONE_VFORK),
		CALL(clone, EPERM_, CLONE_VM | CLONE_THREAD | CLONE_SIGHAND),
		CALL(close_range, EPERM_, 3, 9, CLOSE_RANGE_UNSHARE),
		CALL(close_range, EPERM_, 3, 9, CLOSE_RANGE_UNSHARE | CLOSE_RANGE_CLOEXEC),
		CALL(close_range, EPERM_, 3, 9, CLOSE_RANGE_UNSHARE | 1ULL << 32),
		CALL(socket, EPERM_, AF_INET),
		CALL(socket, EPERM_, AF_UNIX),
		CALL(connect, EPERM_, 0),
		CALL(bind, EPERM_, 0),
		CALL(sendmsg, EPERM_, 0),
		CALL(sendmmsg, EPERM_, 0),
		CALL(sendto, EPERM_, 3, 1, 1, 0, 1, 16),
		CALL(sendto, EPERM_, 3, 1, 1, 0, 1ULL << 32, 16),
		CALL(socketpair, EPERM_, AF_INET),
		CALL(socketpair, EPERM_, AF_UNIX | (1ULL << 32)),
		CALL(mmap, EPERM_, 0, 0, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_ANONYMOUS),
		CALL(mmap, EPERM_, 0, 0, PROT_READ | PROT_EXEC, MAP_ANONYMOUS),
		CALL(mmap, EPERM_, 0, 0, PROT_WRITE | PROT_EXEC, MAP_PRIVATE),
		CALL(mprotect, EPERM_, 0, 0, PROT_READ | PROT_EXEC),
		CALL(mprotect, EPERM_, 0, 0, PROT_EXEC | (1ULL << 32)),
		CALL(pkey_mprotect, EPERM_, 0),
		CALL(mmap, EPERM_, 0, 0, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | MAP_HUGETLB),
		CALL(mmap, EPERM_, 0, 0, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_HUGETLB),
		CALL(madvise, EPERM_, 0, 4096, MADV_MERGEABLE),
		CALL(renameat2, EPERM_, 0, 0, 0, 0, 4 /* RENAME_WHITEOUT */),
		CALL(madvise, EPERM_, 0, 4096, MADV_UNMERGEABLE),
		CALL(fadvise64, EPERM_, 3, 0, 0, POSIX_FADV_DONTNEED),
		CALL(mincore, EPERM_, 0),
		CALL(sendto, EPERM_, 3, 1, 1, MSG_OOB, 0, 0),
		CALL(recvfrom, EPERM_, 3, 1, 1, MSG_OOB, 0, 0),
		CALL(recvmsg, EPERM_, 3, 1, MSG_OOB),
		CALL(get_robust_list, EPERM_, 1),
		CALL(shmat, EPERM_, 0),
		CALL(fcntl, EPERM_, 0, F_SETLK),
		CALL(fcntl, EPERM_, 0, F_SETPIPE_SZ),
		CALL(fcntl, EPERM_, 0, F_ADD_SEALS),
		CALL(fcntl, EPERM_, 0, F_SETOWN),
		CALL(ioctl, EPERM_, 0, TIOCSTI),
		CALL(ioctl, EPERM_, 0, TIOCSTI | (1ULL << 32)),
		CALL(ioctl, EPERM_, 0, TIOCLINUX),
		CALL(ioctl, EPERM_, 0, TCGETS | (1ULL << 32)),
		CALL(prctl, EPERM_, PR_SET_NAME),
		CALL(prctl, EPERM_, PR_SET_SECCOMP),
		CALL(prctl, EPERM_, PR_SET_MM),
		CALL(prctl, EPERM_, PR_SET_DUMPABLE),
		CALL(prctl, EPERM_, PR_CAPBSET_DROP),
		CALL(prlimit64, EPERM_, 0, 7, 1, 0),
		CALL(prlimit64, EPERM_, 0, 7, 1ULL << 32, 0),
		CALL(setrlimit, EPERM_, 0),
		CALL(setresuid, EPERM_, 0),
		CALL(setuid, EPERM_, 0),
		CALL(setgroups, EPERM_, 0),
		CALL(capset, EPERM_, 0),
		CALL(symlink, EPERM_, 0),
		CALL(linkat, EPERM_, 0),
		CALL(mknod, EPERM_, 0),
		CALL(mknodat, EPERM_, 0),
		CALL(shmget, EPERM_, 0),
		CALL(msgget, EPERM_, 0),
		CALL(mq_open, EPERM_, 0),
		CALL(sysinfo, EPERM_, 0),
		CALL(sched_setaffinity, EPERM_, 0),
		CALL(setsid, EPERM_, 0),
		CALL(fchown, EPERM_, 0),
		CALL(chown, EPERM_, 0),
		CALL(sync, EPERM_, 0),
		CALL(vmsplice, EPERM_, 0),
		CALL(process_madvise, EPERM_, 0),
		CALL(pidfd_send_signal, EPERM_, 0),
	};

	check_job(rows, COUNT_OF(rows));
}

#define TOLD VERDICT_NOTIFY(EPERM)

TEST(what_tells_of_intent_goes_to_the_slot_and_nothing_that_programs_do)
{
	static const struct expectation rows[] = {
		CALL(socket, TOLD, AF_INET),
		CALL(socket, TOLD, AF_UNIX),
		CALL(connect, TOLD, 0),
		CALL(bind, TOLD, 0),
		CALL(accept4, TOLD, 0),
		CALL(execve, TOLD, 0),
		CALL(execveat, TOLD, 0),
		CALL(fork, TOLD, 0),
		CALL(clone, TOLD, SIGCHLD),
		CALL(clone, TOLD, CLONE_VM | CLONE_THREAD | CLONE_SIGHAND),
		CALL(clone, VERDICT_ALLOW, CLONE_VM | CLONE_THREAD | CLONE_SIGHAND | CLONE_FILES),
		CALL(clone, VERDICT_END, CLONE_NEWUSER | SIGCHLD),
		CALL(clone3, ENOSYS_, 0),
		CALL(shmget, TOLD, 0),
		CALL(setuid, TOLD, 0),
		CALL(setresuid, TOLD, 0),
		CALL(capset, TOLD, 0),
		CALL(mknod, TOLD, 0),
		CALL(symlink, TOLD, 0),
		CALL(linkat, TOLD, 0),
		CALL(ptrace, VERDICT_END, 0),
		CALL(mount, VERDICT_END, 0),
		CALL(fsopen, VERDICT_END, 0),
		CALL(unshare, VERDICT_END, 0),
		CALL(setns, VERDICT_END, 0),
		CALL(seccomp, VERDICT_END, 0),
		CALL(bpf, VERDICT_END, 0),
		CALL(memfd_create, ENOSYS_, 0),
		CALL(socketpair, VERDICT_ALLOW, AF_UNIX, SOCK_STREAM),
		CALL(sendmsg, EPERM_, 0),
		CALL(prctl, EPERM_, PR_SET_SECCOMP),
	};

	NEED_FILTERS();
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct seccomp_data data = bpf_call(rows[i].nr, rows[i].args);

		CHECK(is_same(rows[i].nr, rows[i].args, answer_of_both(&data), rows[i].verdict));
	}
}

TEST(libraries_are_told_that_the_kernel_is_older_than_it_is)
{
	static const struct expectation rows[] = {
		CALL(clone3, ENOSYS_, 0),
		CALL(openat2, ENOSYS_, 0),
		CALL(io_uring_setup, ENOSYS_, 0),
		CALL(memfd_create, ENOSYS_, 0),
		CALL(pidfd_open, ENOSYS_, 0),
		CALL(landlock_create_ruleset, ENOSYS_, 0),
		CALL(flock, ENOSYS_, 0),
		CALL(inotify_init1, ENOSYS_, 0),
		CALL(pkey_alloc, ENOSYS_, 0),
		CALL(preadv2, ENOSYS_, 3, 1, 1, 0, 0, RWF_NOWAIT),
		CALL(pwritev2, ENOSYS_, 3, 1, 1, 0, 0, 0),
		CALL(setxattr, VERDICT_ERRNO(ENOTSUP), 0),
		CALL(fremovexattr, VERDICT_ERRNO(ENOTSUP), 0),
	};

	check_job(rows, COUNT_OF(rows));
}

TEST(what_has_no_innocent_use_kills)
{
	static const struct expectation rows[] = {
		CALL(ptrace, VERDICT_KILL, 0),
		CALL(process_vm_readv, VERDICT_KILL, 0),
		CALL(process_vm_writev, VERDICT_KILL, 0),
		CALL(kcmp, VERDICT_KILL, 0),
		CALL(pidfd_getfd, VERDICT_KILL, 0),
		CALL(bpf, VERDICT_KILL, 0),
		CALL(userfaultfd, VERDICT_KILL, 0),
		CALL(perf_event_open, VERDICT_KILL, 0),
		CALL(io_uring_enter, VERDICT_KILL, 0),
		CALL(io_uring_register, VERDICT_KILL, 0),
		CALL(keyctl, VERDICT_KILL, 0),
		CALL(add_key, VERDICT_KILL, 0),
		CALL(request_key, VERDICT_KILL, 0),
		CALL(mount, VERDICT_KILL, 0),
		CALL(umount2, VERDICT_KILL, 0),
		CALL(fsopen, VERDICT_KILL, 0),
		CALL(fsconfig, VERDICT_KILL, 0),
		CALL(fsmount, VERDICT_KILL, 0),
		CALL(fspick, VERDICT_KILL, 0),
		CALL(move_mount, VERDICT_KILL, 0),
		CALL(open_tree, VERDICT_KILL, 0),
		CALL(mount_setattr, VERDICT_KILL, 0),
		CALL(pivot_root, VERDICT_KILL, 0),
		CALL(chroot, VERDICT_KILL, 0),
		CALL(setns, VERDICT_KILL, 0),
		CALL(unshare, VERDICT_KILL, 0),
		CALL(open_by_handle_at, VERDICT_KILL, 0),
		CALL(init_module, VERDICT_KILL, 0),
		CALL(finit_module, VERDICT_KILL, 0),
		CALL(kexec_load, VERDICT_KILL, 0),
		CALL(reboot, VERDICT_KILL, 0),
		CALL(iopl, VERDICT_KILL, 0),
		CALL(modify_ldt, VERDICT_KILL, 0),
		CALL(personality, VERDICT_KILL, 0x0400000),
		CALL(seccomp, VERDICT_KILL, 1),
		CALL(fanotify_init, VERDICT_KILL, 0),
		CALL(quotactl, VERDICT_KILL, 0),
		CALL(syslog, VERDICT_KILL, 0),
		CALL(sethostname, VERDICT_KILL, 0),
		CALL(clock_settime, VERDICT_KILL, 0),
		CALL(adjtimex, VERDICT_KILL, 0),
		CALL(clone, VERDICT_KILL, CLONE_NEWUSER | SIGCHLD),
		CALL(clone, VERDICT_KILL, CLONE_NEWNS | CLONE_THREAD),
		CALL(clone, VERDICT_KILL, CLONE_NEWPID | CLONE_NEWNET),
		CALL(clone, VERDICT_KILL, CLONE_NEWIPC),
		CALL(clone, VERDICT_KILL, CLONE_NEWUTS),
		CALL(clone, VERDICT_KILL, CLONE_NEWCGROUP),
	};

	check_job(rows, COUNT_OF(rows));
}

/* ---- the kernel's own answer --------------------------------------------------------------- */

/*
 * Keeps allowed calls from doing anything: calls that the filters allow get "ask the tracer", and
 * without a tracer the kernel answers ENOSYS.  Only exit_group is let through, to report.
 */
static int load_probe(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_exit_group, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE),
	};
	struct sock_fprog program = { COUNT_OF(code), code };

	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

/* In the child. */
__attribute__((noreturn)) static void call_and_report(long nr)
{
	long found;

	(void)signal(SIGSEGV, SIG_DFL); /* a sanitizer would catch it and exit */
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
		filter_load(&filters[FILTER_ZYGOTE], &err) < 0)
		_exit(255);
	if (nr < 0) {
		/* The i386 entry, getpid(). */
		found = 20;
		__asm__ volatile("int $0x80" : "+a"(found) : : "memory");
		_exit(254);
	}
	if (load_probe() < 0)
		_exit(255);
	errno = 0;
	found = syscall(nr, 0, 0, 0, 0, 0, 0);
	/* A direct call: under a sanitizer _exit() makes calls of its own. */
	(void)syscall(SYS_exit_group, found < 0 ? errno : 0);
	__builtin_unreachable();
}

static int status_of(long nr)
{
	pid_t pid = fork();
	int status = -1;

	if (pid == 0)
		call_and_report(nr);
	return pid > 0 && waitpid(pid, &status, 0) == pid ? status : -1;
}

/*
 * Newer kernels let the calls of their own uprobe trampoline pass before any filter sees them.
 * From anywhere else these calls end the caller with SIGILL.
 */
static bool is_uprobe_call(int nr)
{
	return nr == 335 || nr == 336;
}

/*
 * The kernel's ENOSYS means "allowed", but may also be that errno; the simulation tells them
 * apart.
 */
static bool is_status_for(int status, uint32_t verdict)
{
	if (verdict == VERDICT_KILL)
		return WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS;
	if (!WIFEXITED(status))
		return false;
	if (verdict == VERDICT_ALLOW || verdict == VERDICT_HELD)
		return WEXITSTATUS(status) == ENOSYS;
	return WEXITSTATUS(status) == (int)(verdict & SECCOMP_RET_DATA);
}

TEST(the_kernel_answers_every_number_as_the_table_says)
{
	const uint64_t args[6] = { 0 };

	NEED_FILTERS();
	for (int nr = 0; nr <= LAST_NR; nr++) {
		uint32_t hoped;
		int status;

		if (nr == __NR_exit_group || is_uprobe_call(nr))
			continue;
		hoped = in_the_kernel(FILTER_ZYGOTE, syscall_verdict(FILTER_ZYGOTE, nr, args));
		status = status_of(nr);
		if (!is_status_for(status, hoped))
			printf("# call %d: status %#x\n", nr, (unsigned)status);
		CHECK(is_status_for(status, hoped));
		if (nr % 8 == 0) {
			status = status_of(nr | X32_BIT);
			CHECK(is_status_for(status, VERDICT_KILL));
		}
	}
}

TEST(the_i386_entry_kills)
{
	int status;

	NEED_FILTERS();
	status = status_of(-1);
	/* A kernel without the i386 entry answers with SIGSEGV, which is as good. */
	CHECK(WIFSIGNALED(status) && (WTERMSIG(status) == SIGSYS || WTERMSIG(status) == SIGSEGV));
}
