#include "daemon/lockdown.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DENY(call)                                              \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##call, 0, 1), \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)

static const struct sock_filter filter[] = {
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	DENY(execve),
	DENY(execveat),
/* AddressSanitizer's leak checker uses ptrace at exit */
#if !defined(__SANITIZE_ADDRESS__)
	DENY(ptrace),
#endif
	DENY(process_vm_readv),
	DENY(process_vm_writev),
	DENY(pidfd_getfd),
	DENY(mount),
	DENY(unshare),
	DENY(setns),
	DENY(bpf),
	DENY(io_uring_setup),
	DENY(userfaultfd),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};

int lockdown(struct err *err)
{
	struct sock_fprog program = { .len = sizeof(filter) / sizeof(filter[0]),
		.filter = (struct sock_filter *)(unsigned long)filter };

	if (prctl(PR_SET_DUMPABLE, 0) < 0)
		return err_sys(err, "prctl(PR_SET_DUMPABLE)");
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return err_sys(err, "prctl(PR_SET_NO_NEW_PRIVS)");
	if (syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) !=
		0)
		return err_sys(err, "seccomp");
	return 0;
}
