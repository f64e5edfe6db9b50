#include "daemon/egress/filter.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "proto/base/container.h"

/*
 * Written by hand, as that of the inspector (daemon/inspector/filter.c).  What is not listed kills:
 * then the daemon starts another.
 */
#define LOAD(field)         BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define RETURN(action)      BPF_STMT(BPF_RET | BPF_K, (action))
#define IF_NOT(value, skip) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, (skip))
#define ALLOW(call)         IF_NOT((call), 1), RETURN(SECCOMP_RET_ALLOW)

/* clang-format off */
static struct sock_filter code[] = {
	LOAD(arch),
	IF_NOT(AUDIT_ARCH_X86_64, 1),
	BPF_STMT(BPF_JMP | BPF_JA, 1),
	RETURN(SECCOMP_RET_KILL_PROCESS),
	LOAD(nr),
	/* moving bytes */
	ALLOW(__NR_epoll_wait),
	ALLOW(__NR_epoll_ctl),
	ALLOW(__NR_recvfrom),
	ALLOW(__NR_sendto),
	ALLOW(__NR_splice),
	ALLOW(__NR_pipe2),
	ALLOW(__NR_accept4),
	ALLOW(__NR_connect),
	ALLOW(__NR_close),
	ALLOW(__NR_write),
	ALLOW(__NR_writev), /* c-ares asks by TCP when an answer is long */
	ALLOW(__NR_shutdown),
	ALLOW(__NR_setsockopt),
	ALLOW(__NR_getsockopt),
	ALLOW(__NR_getsockname),
	/* the daemon, names, the host's routes */
	ALLOW(__NR_recvmsg),
	ALLOW(__NR_sendmsg),
	ALLOW(__NR_poll),
	ALLOW(__NR_fcntl),
	ALLOW(__NR_ioctl),
	/* memory and clocks */
	ALLOW(__NR_brk),
	ALLOW(__NR_munmap),
	ALLOW(__NR_mremap),
	ALLOW(__NR_madvise),
	ALLOW(__NR_futex),
	ALLOW(__NR_clock_gettime),
	ALLOW(__NR_gettimeofday),
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
	ALLOW(__NR_gettid),
#endif
	/* Only anonymous memory that is not executable. */
	IF_NOT(__NR_mmap, 6),
	LOAD(args[2]),
	BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 3, 0),
	LOAD(args[3]),
	BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, MAP_ANONYMOUS, 0, 1),
	RETURN(SECCOMP_RET_ALLOW),
	RETURN(SECCOMP_RET_KILL_PROCESS),
	/* Streams and datagrams of the internet; questions about the host's routes. */
	IF_NOT(__NR_socket, 11),
	LOAD(args[0]),
	IF_NOT(AF_NETLINK, 3),
	LOAD(args[2]),
	IF_NOT(NETLINK_ROUTE, 7),
	RETURN(SECCOMP_RET_ALLOW),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_INET, 1, 0),
	IF_NOT(AF_INET6, 4),
	LOAD(args[1]),
	BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xf),
	BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, SOCK_RAW, 1, 0),
	RETURN(SECCOMP_RET_ALLOW),
	RETURN(SECCOMP_RET_KILL_PROCESS),
};
/* clang-format on */

int filter_load(struct err *err)
{
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
		return err_sys(err, "the filter of ced-egress");
	return 0;
}
