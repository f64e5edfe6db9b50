#include "sandbox/init.h"

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
 * the slot in the same memory and with the same thread pointer.
 */
static long bare_call(long number, long a, long b, long c, long d)
{
#if defined(__x86_64__)
	register long r10 __asm__("r10") = d;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10)
			 : "rcx", "r11", "memory");
	return result;
#elif defined(__aarch64__)
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;

	__asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
	return x0;
#else
#error "init.c knows how to call the kernel on x86-64 and aarch64"
#endif
}

/* The kernel's own form of struct sigaction, which differs from the C library's. */
struct kernel_sigaction {
	void (*handler)(int);
	unsigned long flags;
	void (*restorer)(void);
	unsigned long mask;
};

/* Orphans of the namespace become init's children; with SIGCHLD ignored the kernel reaps them. */
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
 * clone3() for a child on a stack of its own, which the C library has no name for.  (Its clone()
 * would do, but the base filter knows new namespaces only by clone3.)
 */
static long clone3_call(struct clone_args *args, void (*run)(void *argument), void *argument)
{
#if defined(__x86_64__)
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
#elif defined(__aarch64__)
	register long x8 __asm__("x8") = SYS_clone3;
	register long x0 __asm__("x0") = (long)(intptr_t)args;
	register long x1 __asm__("x1") = sizeof(*args);
	register void (*x9)(void *) __asm__("x9") = run;
	register void *x10 __asm__("x10") = argument;

	__asm__ volatile("svc 0\n\t"
			 "cbnz x0, 1f\n\t"
			 "mov x29, xzr\n\t"
			 "mov x0, x10\n\t"
			 "blr x9\n\t"
			 "brk 1\n"
			 "1:"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x9), "r"(x10)
			 : "memory");
	return x0;
#endif
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
