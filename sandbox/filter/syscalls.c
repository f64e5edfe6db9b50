#include "sandbox/filter/syscalls.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "proto/base/container.h"

#ifndef __x86_64__
#error "the lists of system calls are written for x86_64"
#endif

/*
 * Calls newer than Debian 12's headers: 451 cachestat fchmodat2 map_shadow_stack futex_wake
 * futex_wait futex_requeue statmount listmount lsm_get_self_attr lsm_set_self_attr
 * lsm_list_modules mseal setxattrat getxattrat listxattrat removexattrat, 467 open_tree_attr,
 * file_getattr file_setattr listns, and what comes next.
 */
#define NR_OPEN_TREE_ATTR 467

/* clang-format off */
#define N(name)              ((short)__NR_##name)
#define LIST(...)            (const short[]){ __VA_ARGS__ }
#define CALLS(...)           LIST(__VA_ARGS__), sizeof(LIST(__VA_ARGS__)) / sizeof(short)
#define GROUP(reason, verdict, ...) { reason, verdict, CALLS(__VA_ARGS__), NULL, 0 }
#define ALLOWED(reason, ...) GROUP(reason, VERDICT_ALLOW, __VA_ARGS__)
#define NOTIFY(reason, ...)    GROUP(reason, VERDICT_NOTIFY(EPERM), __VA_ARGS__)
#define ASKED_ALL(rules, ...) VERDICT_DEFAULT, CALLS(__VA_ARGS__), THESE(rules)
#define ASKED(name, rules)   ASKED_ALL(rules, N(name))
#define THESE(list)          (list), COUNT_OF(list)
#define IS(arg, value)       { (arg), UINT64_MAX, (value) }
#define ALLOW_IF(arg, value) { VERDICT_ALLOW, { IS(arg, value) } }
#define NO_FLAG(arg, flag)   { { VERDICT_ALLOW, { { (arg), (flag), 0 } } } }
#define SOCKET_SAYS(option)  { VERDICT_ALLOW, { IS(1, SOL_SOCKET), IS(2, (option)) } }
#define ADVICE(mask, value)  { VERDICT_ALLOW, { { 2, (mask), (value) } } }
#define END_FLAG(flag)       { VERDICT_END, { { 0, (flag), (flag) } } }
/* clang-format on */

/* ---- what a program may do (SECURITY rules of the jail) ----------------------------------- */

/*
 * Memory is never writable and executable; executable memory comes from files, and /work is noexec.
 * The host's huge pages are refused, since no limit of a run counts them.
 */
static const struct arg_rule mmap_rules[] = {
	{ VERDICT_ALLOW, { { 2, PROT_EXEC, 0 }, { 3, MAP_HUGETLB, 0 } } },
	{ VERDICT_ALLOW, { { 2, PROT_EXEC | PROT_WRITE, PROT_EXEC },
				 { 3, MAP_ANONYMOUS | MAP_HUGETLB, 0 } } },
};
static const struct arg_rule code_rules[] = NO_FLAG(3, MAP_HUGETLB);
static const struct arg_rule mprotect_rules[] = NO_FLAG(2, PROT_EXEC);

/*
 * The limit of descriptors counts per table: a thread with a table of its own would have them
 * again.
 */
#define CLONE_SHARED (CLONE_THREAD | CLONE_FILES)
static const struct arg_rule close_range_rules[] = NO_FLAG(2, CLOSE_RANGE_UNSHARE);

/* A flag for a namespace has no innocent use; each of them ends the run. */
static const struct arg_rule clone_rules[] = {
	{ VERDICT_ALLOW, { { 0, CLONE_NEW_ANY | CLONE_SHARED, CLONE_SHARED } } }, /* of jobs */
	END_FLAG(CLONE_NEWNS), END_FLAG(CLONE_NEWCGROUP), END_FLAG(CLONE_NEWUTS),
	END_FLAG(CLONE_NEWIPC), END_FLAG(CLONE_NEWUSER), END_FLAG(CLONE_NEWPID),
	END_FLAG(CLONE_NEWNET), { VERDICT_ALLOW, { { 0, CLONE_NEW_ANY, 0 } } }, /* zygote */
};
#define CLONE_RULES (COUNT_OF(clone_rules) - 1)

static const struct arg_rule fcntl_rules[] = { ALLOW_IF(1, F_DUPFD), ALLOW_IF(1, F_DUPFD_CLOEXEC),
	ALLOW_IF(1, F_GETFD), ALLOW_IF(1, F_SETFD), ALLOW_IF(1, F_GETFL), ALLOW_IF(1, F_SETFL) };
static const struct arg_rule ioctl_rules[] = { ALLOW_IF(1, TCGETS), ALLOW_IF(1, TIOCGWINSZ),
	ALLOW_IF(1, FIONREAD), ALLOW_IF(1, FIONBIO), ALLOW_IF(1, FIOCLEX), ALLOW_IF(1, FIONCLEX),
	ALLOW_IF(1, SECCOMP_IOCTL_NOTIF_RECV), /* of zygote and slot, from here */
	ALLOW_IF(1, SECCOMP_IOCTL_NOTIF_SEND), ALLOW_IF(1, SIOCSIFFLAGS), ALLOW_IF(1, SIOCSIFADDR),
	ALLOW_IF(1, SIOCSIFNETMASK) };
#define IOCTL_RULES (COUNT_OF(ioctl_rules) - 5)

/* No process sets its name: the kernel's log prints names as they are, with line breaks. */
static const struct arg_rule prctl_rules[] = { ALLOW_IF(0, PR_GET_NAME) };
static const struct arg_rule prlimit_rules[] = { ALLOW_IF(2, 0) }; /* reads a limit; sets none */
static const struct arg_rule local_rules[] = { ALLOW_IF(0, AF_UNIX) };
/* A datagram socket, also one of a pair, can connect to any name that is in reach. */
static const struct arg_rule pair_rules[] = { { VERDICT_ALLOW,
	{ IS(0, AF_UNIX), { 1, SOCK_DGRAM, 0 } } } };
static const struct arg_rule getsockopt_rules[] = { SOCKET_SAYS(SO_TYPE), SOCKET_SAYS(SO_PROTOCOL),
	SOCKET_SAYS(SO_ERROR) };

/*
 * Between the two ends of a pair: no address.  Urgent bytes have caused kernel bugs, so they are
 * refused.
 */
static const struct arg_rule talk_rules[] = { { VERDICT_ALLOW, { { 3, MSG_OOB, 0 }, IS(4, 0) } } };
static const struct arg_rule recvmsg_rules[] = NO_FLAG(2, MSG_OOB);

/*
 * The page cache is shared with the host and with other runs.  So no program may drop what others
 * read (POSIX_FADV_DONTNEED) or merge its pages with equal ones (MADV_MERGEABLE, 12): the time that
 * a later write takes would tell what others have.  Allowed advice is 0 to 7 and 16 to 23, 8 to 11
 * and 24 to 27, 14 and 15.
 */
static const struct arg_rule fadvise_rules[] = NO_FLAG(3, 4);
static const struct arg_rule madvise_rules[] = { ADVICE(8, 0), ADVICE(12, 8), ADVICE(14, 14) };

/* RENAME_WHITEOUT (4) leaves a device node. */
static const struct arg_rule rename_rules[] = NO_FLAG(4, 4);

/* No honest program needs these, so the first call ends the run. */
static const short red[] = { N(ptrace), N(process_vm_readv), N(process_vm_writev), N(kcmp),
	N(pidfd_getfd), N(bpf), N(userfaultfd), N(perf_event_open), N(io_uring_enter),
	N(io_uring_register), N(keyctl), N(add_key), N(request_key), N(mount), N(umount2),
	N(pivot_root), N(chroot), N(fsopen), N(fsconfig), N(fsmount), N(fspick), N(move_mount),
	N(open_tree), N(mount_setattr), NR_OPEN_TREE_ATTR, N(setns), N(unshare),
	N(open_by_handle_at), N(init_module), N(finit_module), N(delete_module), N(kexec_load),
	N(kexec_file_load), N(reboot), N(swapon), N(swapoff), N(acct), N(iopl), N(ioperm),
	N(modify_ldt), N(personality), N(seccomp), N(fanotify_init), N(fanotify_mark), N(quotactl),
	N(quotactl_fd), N(syslog), N(sethostname), N(setdomainname), N(clock_settime),
	N(clock_adjtime), N(settimeofday), N(adjtimex) };

static const struct syscall_group job[] = {
	ALLOWED("bytes in and out of what is open", N(read), N(write), N(readv), N(writev),
		N(pread64), N(pwrite64), N(preadv), N(pwritev), N(close), N(lseek), N(dup), N(dup2),
		N(dup3), N(pipe), N(pipe2), N(fsync), N(fdatasync), N(ftruncate), N(truncate),
		N(fallocate), N(sendfile), N(copy_file_range), N(shutdown)),
	ALLOWED("files and folders by name", N(open), N(openat), N(creat), N(stat), N(fstat),
		N(lstat), N(newfstatat), N(statx), N(access), N(faccessat), N(faccessat2),
		N(readlink), N(readlinkat), N(getcwd), N(chdir), N(fchdir), N(mkdir), N(mkdirat),
		N(rmdir), N(unlink), N(unlinkat), N(rename), N(renameat), N(getdents),
		N(getdents64), N(umask), N(utime), N(utimes), N(futimesat), N(utimensat), N(statfs),
		N(fstatfs), N(chmod), N(fchmod), N(fchmodat)),
	ALLOWED("memory, without changing its protection", N(munmap), N(mremap), N(brk), N(msync),
		N(membarrier)),
	ALLOWED("clocks and timers", N(nanosleep), N(clock_nanosleep), N(clock_gettime),
		N(clock_getres), N(gettimeofday), N(time), N(times), N(getitimer), N(setitimer),
		N(alarm), N(timer_create), N(timer_settime), N(timer_gettime), N(timer_getoverrun),
		N(timer_delete), N(timerfd_create), N(timerfd_settime), N(timerfd_gettime)),
	ALLOWED("waiting for descriptors", N(poll), N(ppoll), N(select), N(pselect6),
		N(epoll_create), N(epoll_create1), N(epoll_ctl), N(epoll_wait), N(epoll_pwait),
		N(epoll_pwait2), N(eventfd), N(eventfd2)),
	ALLOWED("signals inside the pid namespace", N(rt_sigaction), N(rt_sigprocmask),
		N(rt_sigpending), N(rt_sigtimedwait), N(rt_sigsuspend), N(rt_sigreturn),
		N(rt_sigqueueinfo), N(rt_tgsigqueueinfo), N(sigaltstack), N(pause), N(kill),
		N(tkill), N(tgkill), N(signalfd), N(signalfd4)),
	ALLOWED("threads, exit and children", N(futex), N(futex_waitv), N(set_robust_list), N(rseq),
		N(set_tid_address), N(arch_prctl), N(sched_yield), N(sched_getaffinity), N(getcpu),
		N(exit), N(exit_group), N(restart_syscall), N(wait4), N(waitid)),
	ALLOWED("ids and the working directory", N(getpid), N(getppid), N(gettid), N(getpgid),
		N(getpgrp), N(getsid), N(getuid), N(geteuid), N(getgid), N(getegid), N(getresuid),
		N(getresgid), N(getgroups), N(getsockname), N(uname), N(getrlimit), N(getrusage),
		N(capget), N(getrandom)),
	{ "the worker takes stdin with its job", ASKED(recvmsg, recvmsg_rules) },
	{ "the page cache of others stays", ASKED(fadvise64, fadvise_rules) },
	{ "no page is merged with others'", ASKED(madvise, madvise_rules) },
	{ "no file becomes a device", ASKED(renameat2, rename_rules) },
	{ "never writable and executable", ASKED(mmap, mmap_rules) },
	{ "never made executable", ASKED(mprotect, mprotect_rules) },
	{ "one table of descriptors", ASKED(close_range, close_range_rules) },
	{ "threads only", VERDICT_NOTIFY(EPERM), CALLS(N(clone)), clone_rules, CLONE_RULES },
	{ "no locks, no pipe sizes", ASKED(fcntl, fcntl_rules) },
	{ "no terminals", VERDICT_DEFAULT, CALLS(N(ioctl)), ioctl_rules, IOCTL_RULES },
	{ "a thread reads its name", ASKED(prctl, prctl_rules) },
	{ "limits are read only", ASKED(prlimit64, prlimit_rules) },
	{ "asyncio wakes itself by a pair", ASKED(socketpair, pair_rules) },
	{ "what kind of socket", ASKED(getsockopt, getsockopt_rules) },
	{ "and sends over it", ASKED_ALL(talk_rules, N(sendto), N(recvfrom)) },
	/*
	 * Libraries try these and have another way if the kernel does not know them.  The flags of
	 * preadv2 and pwritev2 tell what others have cached.  Newer libuv asks for io_uring.
	 */
	GROUP("libraries know another way", VERDICT_ERRNO(ENOSYS), N(clone3), N(openat2),
		N(io_uring_setup), N(memfd_create), N(memfd_secret), N(pidfd_open),
		N(landlock_create_ruleset), N(landlock_add_rule), N(landlock_restrict_self),
		N(flock), N(inotify_init), N(inotify_init1), N(inotify_add_watch),
		N(inotify_rm_watch), N(pkey_alloc), N(set_mempolicy_home_node), N(preadv2),
		N(pwritev2), 451, 452, 453, 454, 455, 456, 457, 458, 459, 460, 461, 462, 463, 464,
		465, 466, 468, 469, 470, 471, 472),
	/* shutil.copy2() passes EPERM on but ignores ENOTSUP. */
	GROUP("copies go on without them", VERDICT_ERRNO(ENOTSUP), N(setxattr), N(lsetxattr),
		N(fsetxattr), N(getxattr), N(lgetxattr), N(fgetxattr), N(listxattr), N(llistxattr),
		N(flistxattr), N(removexattr), N(lremovexattr), N(fremovexattr)),
	/* Libraries try these and go on without; the record still shows the attempt. */
	NOTIFY("no network", N(socket), N(connect), N(bind), N(listen), N(accept), N(accept4)),
	NOTIFY("no other programs, no processes", N(execve), N(execveat), N(fork), N(vfork)),
	NOTIFY("nothing that outlives a process", N(shmget), N(shmat), N(semget), N(msgget),
		N(mq_open), N(mq_unlink)),
	NOTIFY("no other identity", N(setuid), N(setgid), N(setreuid), N(setregid), N(setresuid),
		N(setresgid), N(setgroups), N(capset)),
	NOTIFY("no second names", N(symlink), N(symlinkat), N(link), N(linkat)),
	NOTIFY("no devices, no handles", N(mknod), N(mknodat), N(name_to_handle_at),
		N(pidfd_send_signal)),
	{ "no innocent use", VERDICT_END, THESE(red), NULL, 0 },
};

/* ---- what zygote and slot need besides; the tiny filter takes all of it back --------------- */

/*
 * Only networked runtimes use the first group, and only those that make machine code the last two:
 * see profiles[].  syscalls_runtime.c says what of the first is left for programs.
 */
static const struct syscall_group zygote[] = {
	ALLOWED("networks: the slot listens, the program connects", N(socket), N(bind), N(listen),
		N(connect), N(setsockopt), N(getsockopt)),
	ALLOWED("the interpreter is started once", N(execve)),
	ALLOWED("slots and workers are made", N(clone3), N(setns), N(unshare), N(pidfd_open),
		N(pidfd_send_signal), N(setsid), N(setpgid), N(fork), N(vfork), N(process_madvise),
		N(get_robust_list)),
	ALLOWED("with a file system each", N(fsopen), N(fsconfig), N(fsmount), N(fspick),
		N(move_mount), N(open_tree), N(mount_setattr), N(mount), N(umount2), N(openat2),
		N(fchown), N(fchownat), N(symlinkat)),
	ALLOWED("and lose their rights", N(setresuid), N(setresgid), N(setuid), N(setgid),
		N(setgroups), N(capset), N(seccomp), N(prctl), N(prlimit64), N(setrlimit),
		N(landlock_create_ruleset), N(landlock_add_rule), N(landlock_restrict_self),
		N(setpriority), N(sched_setscheduler)),
	ALLOWED("slot messages; imports look at memory", N(sendmsg), N(fcntl), N(sysinfo),
		N(getpeername), N(inotify_init1), N(inotify_add_watch)),
	{ "plain forks", VERDICT_DEFAULT, CALLS(N(clone)), clone_rules + 1, CLONE_RULES },
	{ "the slot receives refused calls and makes networks", ASKED(ioctl, ioctl_rules) },
	{ "code is made at run time", ASKED(mmap, code_rules) },
	ALLOWED("and made executable", N(mprotect)),
};

/* ---- ced ----------------------------------------------------------------------------------- */

static const struct arg_rule own_prctl_rules[] = { ALLOW_IF(0, PR_SET_NAME),
	ALLOW_IF(0, PR_GET_NAME), ALLOW_IF(0, PR_SET_DUMPABLE), ALLOW_IF(0, PR_GET_DUMPABLE),
	ALLOW_IF(0, PR_SET_NO_NEW_PRIVS), ALLOW_IF(0, PR_SET_SECCOMP),
	ALLOW_IF(0, PR_SET_PDEATHSIG), ALLOW_IF(0, PR_CAPBSET_READ),
	ALLOW_IF(0, PR_SET_TIMERSLACK) };

static const struct syscall_group daemon_groups[] = {
#if SANITIZED
	ALLOWED("the leak checker; test builds only", N(clone), N(ptrace), N(personality),
		N(prctl)),
#endif
	/* The spawner starts it with this call; ced then forbids it by a filter of its own. */
	ALLOWED("exec happens once", N(execve), N(execveat), N(seccomp)),
	ALLOWED("the store and its locks", N(fchown), N(fchownat), N(flock), N(fcntl), N(openat2),
		N(memfd_create), N(mlock), N(munlock), N(symlink), N(symlinkat), N(link), N(linkat),
		N(syncfs), N(sync_file_range), N(sysinfo), N(prlimit64)),
	ALLOWED("clients and jails", N(bind), N(listen), N(accept), N(accept4), N(connect),
		N(getsockname), N(getpeername), N(getsockopt), N(setsockopt), N(shutdown),
		N(sendmsg), N(recvmsg), N(sendmmsg), N(recvmmsg), N(sendto), N(recvfrom)),
	ALLOWED("pidfds; the priority of the store's thread", N(pidfd_send_signal), N(pidfd_open),
		N(setpriority), N(sched_setscheduler), N(sched_getscheduler), N(sched_getparam),
		N(sched_get_priority_max), N(sched_get_priority_min), N(ioprio_set)),
	{ "local sockets only", ASKED_ALL(local_rules, N(socket), N(socketpair)) },
	{ "names, dumps, its last filter", ASKED(prctl, own_prctl_rules) },
};

/* ---- ced-inspector and ced-egress ---------------------------------------------------------- */

/*
 * Only ced-egress uses the first group.  When its libraries are loaded, it takes back files, programs
 * and other families of sockets by a filter of its own (daemon/egress/filter.c).
 */

static const struct syscall_group helper_groups[] = {
	ALLOWED("connections of ced-egress", N(socket), N(connect), N(bind), N(accept4),
		N(getsockname), N(getpeername), N(getsockopt), N(setsockopt), N(shutdown),
		N(splice), N(pipe2), N(epoll_create1), N(epoll_ctl), N(epoll_wait)),
	ALLOWED("loader and libc come up", N(execve), N(seccomp), N(openat), N(fstat),
		N(newfstatat), N(access), N(faccessat2), N(readlink), N(readlinkat), N(prlimit64),
		N(set_tid_address), N(set_robust_list), N(rseq), N(arch_prctl), N(pread64),
		N(lseek), N(sysinfo), N(uname), N(sched_getaffinity), N(fcntl), N(getrusage),
		N(getrlimit)),
	ALLOWED("questions and answers", N(read), N(write), N(readv), N(writev), N(recvfrom),
		N(sendto), N(recvmsg), N(sendmsg), N(poll), N(ppoll), N(close), N(futex), N(munmap),
		N(mremap), N(brk), N(madvise), N(exit), N(exit_group), N(getrandom),
		N(clock_gettime), N(clock_getres), N(gettimeofday), N(time), N(rt_sigaction),
		N(rt_sigprocmask), N(rt_sigreturn), N(sigaltstack), N(getpid), N(gettid), N(tgkill),
		N(restart_syscall), N(setitimer), N(close_range)),
	{ "never writable and executable", ASKED(mmap, mmap_rules) },
	{ "never made executable", ASKED(mprotect, mprotect_rules) },
	{ "no terminals", VERDICT_DEFAULT, CALLS(N(ioctl)), ioctl_rules, IOCTL_RULES },
	{ "dumps, its last filter", ASKED(prctl, own_prctl_rules) },
	{ "no innocent use", VERDICT_END, THESE(red), NULL, 0 },
};

/* ---- profiles ------------------------------------------------------------------------------ */

/* A profile has its own groups, then those of jobs for calls that its own do not decide. */
static const struct {
	const struct syscall_group *own;
	size_t own_count;
	bool then_job;
} profiles[FILTER_PROFILE_COUNT] = {
	[FILTER_JOB] = { job, COUNT_OF(job), false },
	[FILTER_ZYGOTE] = { zygote + 1, COUNT_OF(zygote) - 3, true },
	[FILTER_ZYGOTE_CODE] = { zygote + 1, COUNT_OF(zygote) - 1, true },
	[FILTER_ZYGOTE_NET] = { zygote, COUNT_OF(zygote) - 2, true },
	[FILTER_ZYGOTE_NET_CODE] = { zygote, COUNT_OF(zygote), true },
	[FILTER_DAEMON] = { daemon_groups, COUNT_OF(daemon_groups), true },
	[FILTER_INSPECTOR] = { helper_groups + 1, COUNT_OF(helper_groups) - 1, false },
	[FILTER_EGRESS] = { helper_groups, COUNT_OF(helper_groups), false },
};

const struct syscall_group *syscall_own_group_at(enum filter_profile profile, size_t index)
{
	return index < profiles[profile].own_count ? &profiles[profile].own[index] : NULL;
}

const struct syscall_group *syscall_group_at(enum filter_profile profile, size_t index)
{
	if (index < profiles[profile].own_count)
		return syscall_own_group_at(profile, index);
	index -= profiles[profile].own_count;
	return profiles[profile].then_job && index < COUNT_OF(job) ? &job[index] : NULL;
}

const struct syscall_group *syscall_group_of(enum filter_profile profile, int nr)
{
	const struct syscall_group *group;

	for (size_t i = 0; (group = syscall_group_at(profile, i)); i++)
		for (size_t k = 0; k < group->call_count; k++)
			if (group->calls[k] == nr)
				return group;
	return NULL;
}

uint32_t syscall_plain(uint32_t verdict)
{
	if ((verdict & SECCOMP_RET_ACTION_FULL) != SECCOMP_RET_USER_NOTIF)
		return verdict;
	return verdict == VERDICT_END ? VERDICT_KILL : VERDICT_ERRNO(verdict & SECCOMP_RET_DATA);
}
