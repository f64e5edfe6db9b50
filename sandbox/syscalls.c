#include "sandbox/syscalls.h"

#include <errno.h>
#include <fcntl.h>
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

/* Calls newer than Debian 12's headers. */
#define NR_OPEN_TREE_ATTR 467
#define NR_FIRST_NEW      451 /* cachestat */

/* clang-format off */
#define NR(name)             ((short)__NR_##name)
#define CALLS(list)          (list), COUNT_OF(list)
#define CALL(name)           (const short[]){ NR(name) }, 1
#define RULES(list)          (list), COUNT_OF(list)
#define NO_RULES             NULL, 0
#define IS(arg, value)       { (arg), UINT64_MAX, (value) }
#define ALLOW_IF(arg, value) { VERDICT_ALLOW, { IS(arg, value) } }
#define KILL_FLAG(flag)      { VERDICT_KILL, { { 0, (flag), (flag) } } }
/* clang-format on */

/* ---- what a program may do (SECURITY rules of the jail) ----------------------------------- */

static const short streams[] = { NR(read), NR(write), NR(readv), NR(writev), NR(pread64),
	NR(pwrite64), NR(preadv), NR(pwritev), NR(close), NR(close_range), NR(lseek), NR(dup),
	NR(dup2), NR(dup3), NR(pipe), NR(pipe2), NR(fsync), NR(fdatasync), NR(ftruncate),
	NR(truncate), NR(fallocate), NR(sendfile), NR(copy_file_range), NR(shutdown) };

static const short files[] = { NR(open), NR(openat), NR(creat), NR(stat), NR(fstat), NR(lstat),
	NR(newfstatat), NR(statx), NR(access), NR(faccessat), NR(faccessat2), NR(readlink),
	NR(readlinkat), NR(getcwd), NR(chdir), NR(fchdir), NR(mkdir), NR(mkdirat), NR(rmdir),
	NR(unlink), NR(unlinkat), NR(rename), NR(renameat), NR(renameat2), NR(getdents),
	NR(getdents64), NR(umask), NR(utime), NR(utimes), NR(futimesat), NR(utimensat), NR(statfs),
	NR(fstatfs), NR(chmod), NR(fchmod), NR(fchmodat) };

static const short memory[] = { NR(munmap), NR(mremap), NR(brk), NR(msync), NR(membarrier) };

static const short clocks[] = { NR(nanosleep), NR(clock_nanosleep), NR(clock_gettime),
	NR(clock_getres), NR(gettimeofday), NR(time), NR(times), NR(getitimer), NR(setitimer),
	NR(alarm), NR(timer_create), NR(timer_settime), NR(timer_gettime), NR(timer_getoverrun),
	NR(timer_delete), NR(timerfd_create), NR(timerfd_settime), NR(timerfd_gettime) };

static const short waiting[] = { NR(poll), NR(ppoll), NR(select), NR(pselect6), NR(epoll_create),
	NR(epoll_create1), NR(epoll_ctl), NR(epoll_wait), NR(epoll_pwait), NR(epoll_pwait2),
	NR(eventfd), NR(eventfd2) };

static const short signals[] = { NR(rt_sigaction), NR(rt_sigprocmask), NR(rt_sigpending),
	NR(rt_sigtimedwait), NR(rt_sigsuspend), NR(rt_sigreturn), NR(rt_sigqueueinfo),
	NR(rt_tgsigqueueinfo), NR(sigaltstack), NR(pause), NR(kill), NR(tkill), NR(tgkill),
	NR(signalfd), NR(signalfd4) };

static const short threads[] = { NR(futex), NR(futex_waitv), NR(set_robust_list), NR(rseq),
	NR(set_tid_address), NR(arch_prctl), NR(sched_yield), NR(sched_getaffinity), NR(getcpu),
	NR(exit), NR(exit_group), NR(restart_syscall), NR(wait4), NR(waitid) };

static const short identity[] = { NR(getpid), NR(getppid), NR(gettid), NR(getpgid), NR(getpgrp),
	NR(getsid), NR(getuid), NR(geteuid), NR(getgid), NR(getegid), NR(getresuid), NR(getresgid),
	NR(getgroups), NR(getsockname), NR(uname), NR(getrlimit), NR(getrusage), NR(capget),
	NR(getrandom) };

static const short talking[] = { NR(sendto), NR(recvfrom) };

/*
 * Never writable and executable; what is executable comes from a file, and /work is noexec.  The
 * host's huge pages are nobody's here: no limit of a run counts them.
 */
static const struct arg_rule mmap_rules[] = {
	{ VERDICT_ALLOW, { { 2, PROT_EXEC, 0 }, { 3, MAP_HUGETLB, 0 } } },
	{ VERDICT_ALLOW, { { 2, PROT_EXEC | PROT_WRITE, PROT_EXEC },
				 { 3, MAP_ANONYMOUS | MAP_HUGETLB, 0 } } },
};
static const struct arg_rule mprotect_rules[] = { { VERDICT_ALLOW, { { 2, PROT_EXEC, 0 } } } };

#define CLONE_NEW_ANY                                                                             \
	((uint64_t)(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | \
		    CLONE_NEWPID | CLONE_NEWNET))

/* A flag that asks for a namespace has no innocent use; any of them kills. */
#define KILL_NEW_FLAGS                                                                      \
	KILL_FLAG(CLONE_NEWNS), KILL_FLAG(CLONE_NEWCGROUP), KILL_FLAG(CLONE_NEWUTS),        \
		KILL_FLAG(CLONE_NEWIPC), KILL_FLAG(CLONE_NEWUSER), KILL_FLAG(CLONE_NEWPID), \
		KILL_FLAG(CLONE_NEWNET)

static const struct arg_rule clone_thread_rules[] = {
	{ VERDICT_ALLOW, { { 0, CLONE_NEW_ANY | CLONE_THREAD, CLONE_THREAD } } },
	KILL_NEW_FLAGS,
};
static const struct arg_rule clone_fork_rules[] = {
	{ VERDICT_ALLOW, { { 0, CLONE_NEW_ANY, 0 } } },
	KILL_NEW_FLAGS,
};

static const struct arg_rule fcntl_rules[] = { ALLOW_IF(1, F_DUPFD), ALLOW_IF(1, F_DUPFD_CLOEXEC),
	ALLOW_IF(1, F_GETFD), ALLOW_IF(1, F_SETFD), ALLOW_IF(1, F_GETFL), ALLOW_IF(1, F_SETFL) };
static const struct arg_rule ioctl_rules[] = { ALLOW_IF(1, TCGETS), ALLOW_IF(1, TIOCGWINSZ),
	ALLOW_IF(1, FIONREAD), ALLOW_IF(1, FIONBIO), ALLOW_IF(1, FIOCLEX), ALLOW_IF(1, FIONCLEX) };
static const struct arg_rule prctl_rules[] = { ALLOW_IF(0, PR_SET_NAME), ALLOW_IF(0, PR_GET_NAME) };
static const struct arg_rule prlimit_rules[] = { ALLOW_IF(2, 0) }; /* reads a limit; sets none */
static const struct arg_rule socketpair_rules[] = { ALLOW_IF(0, AF_UNIX) };
static const struct arg_rule getsockopt_rules[] = {
	{ VERDICT_ALLOW, { IS(1, SOL_SOCKET), IS(2, SO_TYPE) } },
	{ VERDICT_ALLOW, { IS(1, SOL_SOCKET), IS(2, SO_PROTOCOL) } },
	{ VERDICT_ALLOW, { IS(1, SOL_SOCKET), IS(2, SO_ERROR) } },
};

/* Between the two ends of a pair: no address.  Urgent bytes have cost the kernel bugs enough. */
static const struct arg_rule transfer_rules[] = { { VERDICT_ALLOW,
	{ { 3, MSG_OOB, 0 }, IS(4, 0) } } };
static const struct arg_rule recvmsg_rules[] = { { VERDICT_ALLOW, { { 2, MSG_OOB, 0 } } } };

/*
 * What is in the page cache is shared with the host and with other runs: nobody throws out what
 * others read (POSIX_FADV_DONTNEED), nor has his pages merged with equal ones (MADV_MERGEABLE, 12),
 * since the time that a write takes then tells what others have.
 */
static const struct arg_rule fadvise_rules[] = { { VERDICT_ALLOW, { { 3, 4, 0 } } } };
static const struct arg_rule madvise_rules[] = {
	{ VERDICT_ALLOW, { { 2, 8, 0 } } },   /* 0 to 7, 16 to 23 */
	{ VERDICT_ALLOW, { { 2, 12, 8 } } },  /* 8 to 11, 24 to 27 */
	{ VERDICT_ALLOW, { { 2, 14, 14 } } }, /* 14 and 15 */
};

/* Libraries probe for these and have another way when the kernel does not know them. */
static const short unknown[] = { NR(clone3), NR(openat2), NR(memfd_create), NR(memfd_secret),
	NR(pidfd_open), NR(landlock_create_ruleset), NR(landlock_add_rule),
	NR(landlock_restrict_self), NR(flock), NR(inotify_init), NR(inotify_init1),
	NR(inotify_add_watch), NR(inotify_rm_watch), NR(pkey_alloc), NR(set_mempolicy_home_node),
	NR(preadv2), NR(pwritev2), /* their flags ask what others have cached */
	/* cachestat fchmodat2 map_shadow_stack futex_wake futex_wait futex_requeue statmount
	 * listmount lsm_get_self_attr lsm_set_self_attr lsm_list_modules mseal */
	NR_FIRST_NEW, 452, 453, 454, 455, 456, 457, 458, 459, 460, 461, 462,
	/* setxattrat getxattrat listxattrat removexattrat; 467 is in the red list; file_getattr
	 * file_setattr */
	463, 464, 465, 466, 468, 469 };

/* shutil.copy2() raises EPERM again but swallows ENOTSUP. */
static const short xattrs[] = { NR(setxattr), NR(lsetxattr), NR(fsetxattr), NR(getxattr),
	NR(lgetxattr), NR(fgetxattr), NR(listxattr), NR(llistxattr), NR(flistxattr),
	NR(removexattr), NR(lremovexattr), NR(fremovexattr) };

/*
 * No honest program needs these: the first one ends the run, so that nothing is tried twice.
 */
static const short red[] = { NR(ptrace), NR(process_vm_readv), NR(process_vm_writev), NR(kcmp),
	NR(pidfd_getfd), NR(bpf), NR(userfaultfd), NR(perf_event_open), NR(io_uring_setup),
	NR(io_uring_enter), NR(io_uring_register), NR(keyctl), NR(add_key), NR(request_key),
	NR(mount), NR(umount2), NR(pivot_root), NR(chroot), NR(fsopen), NR(fsconfig), NR(fsmount),
	NR(fspick), NR(move_mount), NR(open_tree), NR(mount_setattr), NR_OPEN_TREE_ATTR, NR(setns),
	NR(unshare), NR(open_by_handle_at), NR(init_module), NR(finit_module), NR(delete_module),
	NR(kexec_load), NR(kexec_file_load), NR(reboot), NR(swapon), NR(swapoff), NR(acct),
	NR(iopl), NR(ioperm), NR(modify_ldt), NR(personality), NR(seccomp), NR(fanotify_init),
	NR(fanotify_mark), NR(quotactl), NR(quotactl_fd), NR(syslog), NR(sethostname),
	NR(setdomainname), NR(clock_settime), NR(clock_adjtime), NR(settimeofday), NR(adjtimex) };

static const struct syscall_group job[] = {
	{ "bytes in and out of what is open", VERDICT_ALLOW, CALLS(streams), NO_RULES },
	{ "files and folders by name", VERDICT_ALLOW, CALLS(files), NO_RULES },
	{ "memory without a say about protection", VERDICT_ALLOW, CALLS(memory), NO_RULES },
	{ "clocks and timers", VERDICT_ALLOW, CALLS(clocks), NO_RULES },
	{ "waiting for descriptors", VERDICT_ALLOW, CALLS(waiting), NO_RULES },
	{ "signals inside the pid namespace", VERDICT_ALLOW, CALLS(signals), NO_RULES },
	{ "threads, exit and children", VERDICT_ALLOW, CALLS(threads), NO_RULES },
	{ "who and where am I", VERDICT_ALLOW, CALLS(identity), NO_RULES },
	{ "the worker takes stdin with its job", VERDICT_DEFAULT, CALL(recvmsg),
		RULES(recvmsg_rules) },
	{ "what others have cached stays", VERDICT_DEFAULT, CALL(fadvise64), RULES(fadvise_rules) },
	{ "no page is merged with others'", VERDICT_DEFAULT, CALL(madvise), RULES(madvise_rules) },
	{ "never writable and executable", VERDICT_DEFAULT, CALL(mmap), RULES(mmap_rules) },
	{ "never made executable", VERDICT_DEFAULT, CALL(mprotect), RULES(mprotect_rules) },
	{ "threads, no processes", VERDICT_DEFAULT, CALL(clone), RULES(clone_thread_rules) },
	{ "no locks, no pipe sizes", VERDICT_DEFAULT, CALL(fcntl), RULES(fcntl_rules) },
	{ "no terminals", VERDICT_DEFAULT, CALL(ioctl), RULES(ioctl_rules) },
	{ "the name of a thread", VERDICT_DEFAULT, CALL(prctl), RULES(prctl_rules) },
	{ "limits are read only", VERDICT_DEFAULT, CALL(prlimit64), RULES(prlimit_rules) },
	{ "asyncio wakes itself by a pair", VERDICT_DEFAULT, CALL(socketpair),
		RULES(socketpair_rules) },
	{ "what kind of socket", VERDICT_DEFAULT, CALL(getsockopt), RULES(getsockopt_rules) },
	{ "and talks over it", VERDICT_DEFAULT, CALLS(talking), RULES(transfer_rules) },
	{ "libraries know another way", VERDICT_ERRNO(ENOSYS), CALLS(unknown), NO_RULES },
	{ "copies go on without them", VERDICT_ERRNO(ENOTSUP), CALLS(xattrs), NO_RULES },
	{ "no innocent use", VERDICT_KILL, CALLS(red), NO_RULES },
};

/* ---- what zygote and slot need beside it; the tiny filter takes all of it back ------------- */

static const short house_start[] = { NR(execve) };
static const short house_spawn[] = { NR(clone3), NR(setns), NR(unshare), NR(pidfd_open),
	NR(pidfd_send_signal), NR(setsid), NR(setpgid), NR(fork), NR(vfork) };
static const short house_mounts[] = { NR(fsopen), NR(fsconfig), NR(fsmount), NR(fspick),
	NR(move_mount), NR(open_tree), NR(mount_setattr), NR(mount), NR(umount2), NR(openat2),
	NR(fchown), NR(fchownat) };
static const short house_rights[] = { NR(setresuid), NR(setresgid), NR(setuid), NR(setgid),
	NR(setgroups), NR(capset), NR(seccomp), NR(prctl), NR(prlimit64), NR(setrlimit),
	NR(landlock_create_ruleset), NR(landlock_add_rule), NR(landlock_restrict_self),
	NR(setpriority), NR(sched_setscheduler) };
static const short house_talk[] = { NR(sendmsg), NR(fcntl), NR(sysinfo), NR(getpeername) };

static const struct syscall_group house[] = {
	{ "the interpreter is started once", VERDICT_ALLOW, CALLS(house_start), NO_RULES },
	{ "slots and workers are made", VERDICT_ALLOW, CALLS(house_spawn), NO_RULES },
	{ "with a file system each", VERDICT_ALLOW, CALLS(house_mounts), NO_RULES },
	{ "and lose their rights", VERDICT_ALLOW, CALLS(house_rights), NO_RULES },
	{ "lease messages; imports look at memory", VERDICT_ALLOW, CALLS(house_talk), NO_RULES },
	{ "plain forks", VERDICT_DEFAULT, CALL(clone), RULES(clone_fork_rules) },
};

/* ---- ced ----------------------------------------------------------------------------------- */

/* Started by this call; ced closes the door behind itself with a filter of its own. */
static const short daemon_start[] = { NR(execve), NR(execveat), NR(seccomp) };
static const short daemon_files[] = { NR(fchown), NR(fchownat), NR(flock), NR(fcntl), NR(openat2),
	NR(memfd_create), NR(mlock), NR(munlock), NR(symlink), NR(symlinkat), NR(link), NR(linkat),
	NR(syncfs), NR(sync_file_range), NR(sysinfo), NR(prlimit64) };
static const short daemon_sockets[] = { NR(bind), NR(listen), NR(accept), NR(accept4), NR(connect),
	NR(getsockname), NR(getpeername), NR(getsockopt), NR(setsockopt), NR(shutdown), NR(sendmsg),
	NR(recvmsg), NR(sendmmsg), NR(recvmmsg), NR(sendto), NR(recvfrom) };
static const short daemon_children[] = { NR(pidfd_send_signal), NR(pidfd_open), NR(setpriority),
	NR(sched_setscheduler), NR(sched_getscheduler), NR(sched_getparam),
	NR(sched_get_priority_max), NR(sched_get_priority_min), NR(ioprio_set) };

static const short pairing[] = { NR(socket), NR(socketpair) };

static const struct arg_rule own_prctl_rules[] = { ALLOW_IF(0, PR_SET_NAME),
	ALLOW_IF(0, PR_GET_NAME), ALLOW_IF(0, PR_SET_DUMPABLE), ALLOW_IF(0, PR_GET_DUMPABLE),
	ALLOW_IF(0, PR_SET_NO_NEW_PRIVS), ALLOW_IF(0, PR_SET_SECCOMP),
	ALLOW_IF(0, PR_SET_PDEATHSIG), ALLOW_IF(0, PR_CAPBSET_READ),
	ALLOW_IF(0, PR_SET_TIMERSLACK) };

#if SANITIZED
static const short sanitizer[] = { NR(clone), NR(ptrace), NR(personality), NR(prctl) };
#endif

static const struct syscall_group daemon_groups[] = {
#if SANITIZED
	{ "the leak checker; test builds only", VERDICT_ALLOW, CALLS(sanitizer), NO_RULES },
#endif
	{ "exec happens once", VERDICT_ALLOW, CALLS(daemon_start), NO_RULES },
	{ "the store and its locks", VERDICT_ALLOW, CALLS(daemon_files), NO_RULES },
	{ "clients and jails", VERDICT_ALLOW, CALLS(daemon_sockets), NO_RULES },
	{ "pidfds; the recorder's priority", VERDICT_ALLOW, CALLS(daemon_children), NO_RULES },
	{ "local sockets only", VERDICT_DEFAULT, CALLS(pairing), RULES(socketpair_rules) },
	{ "names, dumps, its last filter", VERDICT_DEFAULT, CALL(prctl), RULES(own_prctl_rules) },
};

/* ---- ced-inspector ------------------------------------------------------------------------- */

static const short inspector_start[] = { NR(execve), NR(seccomp), NR(openat), NR(fstat),
	NR(newfstatat), NR(access), NR(faccessat2), NR(readlink), NR(readlinkat), NR(prlimit64),
	NR(set_tid_address), NR(set_robust_list), NR(rseq), NR(arch_prctl), NR(pread64), NR(lseek),
	NR(sysinfo), NR(uname), NR(sched_getaffinity), NR(fcntl), NR(getrusage), NR(getrlimit) };
static const short inspector_serve[] = { NR(read), NR(write), NR(readv), NR(writev), NR(recvfrom),
	NR(sendto), NR(recvmsg), NR(sendmsg), NR(poll), NR(ppoll), NR(close), NR(futex), NR(munmap),
	NR(mremap), NR(brk), NR(madvise), NR(exit), NR(exit_group), NR(getrandom),
	NR(clock_gettime), NR(clock_getres), NR(gettimeofday), NR(time), NR(rt_sigaction),
	NR(rt_sigprocmask), NR(rt_sigreturn), NR(sigaltstack), NR(getpid), NR(gettid), NR(tgkill),
	NR(restart_syscall), NR(setitimer), NR(close_range) };

static const struct syscall_group inspector_groups[] = {
	{ "loader and libc come up", VERDICT_ALLOW, CALLS(inspector_start), NO_RULES },
	{ "questions and answers", VERDICT_ALLOW, CALLS(inspector_serve), NO_RULES },
	{ "never writable and executable", VERDICT_DEFAULT, CALL(mmap), RULES(mmap_rules) },
	{ "never made executable", VERDICT_DEFAULT, CALL(mprotect), RULES(mprotect_rules) },
	{ "no terminals", VERDICT_DEFAULT, CALL(ioctl), RULES(ioctl_rules) },
	{ "dumps, its last filter", VERDICT_DEFAULT, CALL(prctl), RULES(own_prctl_rules) },
	{ "no innocent use", VERDICT_KILL, CALLS(red), NO_RULES },
};

/* ---- profiles ------------------------------------------------------------------------------ */

/* A profile is its own groups, then another profile's where it does not say otherwise. */
static const struct {
	const struct syscall_group *own;
	size_t own_count;
	const struct syscall_group *then;
	size_t then_count;
} profiles[FILTER_PROFILE_COUNT] = {
	[FILTER_JOB] = { job, COUNT_OF(job), NULL, 0 },
	[FILTER_HOUSE] = { house, COUNT_OF(house), job, COUNT_OF(job) },
	[FILTER_DAEMON] = { daemon_groups, COUNT_OF(daemon_groups), job, COUNT_OF(job) },
	[FILTER_INSPECTOR] = { inspector_groups, COUNT_OF(inspector_groups), NULL, 0 },
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
	return index < profiles[profile].then_count ? &profiles[profile].then[index] : NULL;
}

static bool group_has(const struct syscall_group *group, int nr)
{
	for (size_t i = 0; i < group->call_count; i++)
		if (group->calls[i] == nr)
			return true;
	return false;
}

const struct syscall_group *syscall_group_of(enum filter_profile profile, int nr)
{
	const struct syscall_group *group;

	for (size_t i = 0; (group = syscall_group_at(profile, i)); i++)
		if (group_has(group, nr))
			return group;
	return NULL;
}
