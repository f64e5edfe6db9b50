#include "daemon/inspector/filter.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/syscall.h>

#include "proto/base/container.h"

/*
 * Written by hand because the inspector links no libseccomp: a handful of calls and one argument
 * rule.  Numbers are unique to an architecture, so that comes first; x32 calls have numbers of
 * their own and are not among the allowed.
 */
#define ARCH AUDIT_ARCH_X86_64

#define LOAD(field)         BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define RETURN(action)      BPF_STMT(BPF_RET | BPF_K, (action))
#define IF_NOT(value, skip) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, (skip))
#define ALLOW(call)         IF_NOT((call), 1), RETURN(SECCOMP_RET_ALLOW)

/* The low half of a 64-bit argument on these little-endian machines. */
#define ARGUMENT(index) LOAD(args[index])

int filter_load(struct err *err)
{
	struct sock_filter code[] = {
		LOAD(arch),
		IF_NOT(ARCH, 1),
		BPF_STMT(BPF_JMP | BPF_JA, 1),
		RETURN(SECCOMP_RET_KILL_PROCESS),
		LOAD(nr),
		ALLOW(__NR_read),
		ALLOW(__NR_write),
		ALLOW(__NR_recvfrom),
		ALLOW(__NR_sendto),
		ALLOW(__NR_poll), /* before a line of the log is written */
		ALLOW(__NR_brk),
		ALLOW(__NR_munmap),
		ALLOW(__NR_mremap),
		ALLOW(__NR_madvise),
		ALLOW(__NR_futex),
		ALLOW(__NR_sysinfo), /* glibc's qsort() asks how much memory there is */
		ALLOW(__NR_clock_gettime),
		ALLOW(__NR_getrandom),
		ALLOW(__NR_restart_syscall),
		ALLOW(__NR_rt_sigreturn),
		ALLOW(__NR_exit),
		ALLOW(__NR_exit_group),
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
		/* Calls of the sanitizers' run time. */
		ALLOW(__NR_mprotect),
		ALLOW(__NR_sched_yield),
		ALLOW(__NR_sigaltstack),
		ALLOW(__NR_getpid),
		ALLOW(__NR_gettid),
#endif
		/* Only anonymous memory that is not executable. */
		IF_NOT(__NR_mmap, 6),
		ARGUMENT(2),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 3, 0),
		ARGUMENT(3),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, MAP_ANONYMOUS, 0, 1),
		RETURN(SECCOMP_RET_ALLOW),
		RETURN(SECCOMP_RET_KILL_PROCESS),
		RETURN(SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog program = { (unsigned short)COUNT_OF(code), code };
	char byte;

	/*
	 * From 2.41 on, glibc makes room for a thread's random numbers when it first asks for some, by
	 * calls that the filter forbids.
	 */
	if (getrandom(&byte, sizeof(byte), GRND_NONBLOCK) < 0 && errno != EAGAIN)
		return err_sys(err, "getrandom");
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return err_sys(err, "no_new_privs");
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) < 0)
		return err_sys(err, "the inspector's filter");
	return 0;
}
