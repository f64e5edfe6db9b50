#include "sandbox/zygote/init.h"

#include <errno.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>

#define INIT_STACK_BYTES 16384

static _Alignas(16) char stack[INIT_STACK_BYTES];

/*
 * A system call that touches neither errno nor anything else of the C library: init runs beside
 * the slot in the same memory and with the same thread pointer.  The registers are those of x86-64.
 */
static long bare_call(long number, long a, long b, long c, long d)
{
	register long r10 __asm__("r10") = d;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10)
			 : "rcx", "r11", "memory");
	return result;
}

/* The kernel's own form of struct sigaction, which differs from the C library's. */
struct kernel_sigaction {
	void (*handler)(int);
	unsigned long flags;
	void (*restorer)(void);
	unsigned long mask;
};

/* Orphans in the namespace become init's children.  The kernel reaps them if SIGCHLD is ignored. */
static void ignore_children(void)
{
	struct kernel_sigaction ignore = { .handler = SIG_IGN };

	(void)bare_call(SYS_rt_sigaction, SIGCHLD, (long)(intptr_t)&ignore, 0, sizeof(ignore.mask));
}

__attribute__((noreturn)) static void wait_and_leave(void *argument)
{
	int lifeline = (int)(intptr_t)argument;
	char byte;

	if (lifeline > 0)
		(void)bare_call(SYS_close_range, 0, lifeline - 1, 0, 0);
	(void)bare_call(SYS_close_range, lifeline + 1, UINT32_MAX, 0, 0);
	ignore_children();

	while (bare_call(SYS_read, lifeline, (long)(intptr_t)&byte, 1, 0) == -EINTR)
		;
	for (;;)
		(void)bare_call(SYS_exit_group, 0, 0, 0, 0);
}

/*
 * clone3() for a child on a stack of its own, for which the C library has no function.  Its clone()
 * would do, but the base filter allows new namespaces only in clone3().
 */
static long clone3_call(struct clone_args *args, void (*run)(void *argument), void *argument)
{
	register void (*r8)(void *) __asm__("r8") = run;
	register void *r9 __asm__("r9") = argument;
	long result;

	__asm__ volatile("syscall\n\t"
			 "test %%rax, %%rax\n\t"
			 "jnz 1f\n\t"
			 "xor %%ebp, %%ebp\n\t"
			 "mov %%r9, %%rdi\n\t"
			 "call *%%r8\n\t"
			 "ud2\n"
			 "1:"
			 : "=a"(result)
			 : "a"(SYS_clone3), "D"(args), "S"(sizeof(*args)), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}

pid_t init_start(int lifeline, int *ret_pidfd, struct err *err)
{
	int pidfd = -1;
	struct clone_args args = {
		.flags = CLONE_NEWPID | CLONE_VM | CLONE_PIDFD,
		.pidfd = (uint64_t)(uintptr_t)&pidfd,
		.exit_signal = SIGCHLD,
		.stack = (uint64_t)(uintptr_t)stack,
		.stack_size = sizeof(stack),
	};
	long pid = clone3_call(&args, wait_and_leave, (void *)(intptr_t)lifeline);

	if (pid < 0) {
		errno = (int)-pid;
		return err_sys(err, "clone3 of init");
	}
	*ret_pidfd = pidfd;
	return (pid_t)pid;
}
