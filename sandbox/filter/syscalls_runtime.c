#include "sandbox/filter/syscalls_runtime.h"

#include <errno.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "proto/base/container.h"

#define NR(name) ((short)__NR_##name)

static const short programs[] = { NR(execve) };
static const short copies[] = { NR(fork), NR(vfork) };
static const short groups[] = { NR(setpgid), NR(setsid) };
static const short peers[] = { NR(getpeername) };
static const short processes[] = { NR(clone) };
static const short sockets[] = { NR(socket) };

/*
 * To look up a user's name, the C library first asks nscd, by a socket that it opens with exactly
 * these flags. bash, ls, id and whoami do so at their start, so it shows no intent.  It is refused
 * like any other socket, and not reported.  (In Python the zygote tells the C library not to ask.)
 */
#define ASKS_NSCD (SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK)
static const struct arg_rule socket_rules[] = {
	{ VERDICT_DEFAULT, { { 0, UINT64_MAX, AF_UNIX }, { 1, UINT64_MAX, ASKS_NSCD } } },
};

#define END_FLAG(flag)                         \
	{                                      \
		VERDICT_END,                   \
		{                              \
			{ 0, (flag), (flag) }, \
			{                      \
				0              \
			}                      \
		}                              \
	}

#define PROCESS_FLAGS (CLONE_NEW_ANY | CLONE_PARENT | CLONE_THREAD)

/*
 * A child with CLONE_PARENT would be the slot's, which waits only for children that it made.
 * Threads share their descriptors, as in every job.
 */
static const struct arg_rule process_rules[] = {
	{ VERDICT_ALLOW, { { 0, PROCESS_FLAGS, 0 } } },
	{ VERDICT_ALLOW, { { 0, PROCESS_FLAGS | CLONE_FILES, CLONE_THREAD | CLONE_FILES } } },
	END_FLAG(CLONE_NEWNS),
	END_FLAG(CLONE_NEWCGROUP),
	END_FLAG(CLONE_NEWUTS),
	END_FLAG(CLONE_NEWIPC),
	END_FLAG(CLONE_NEWUSER),
	END_FLAG(CLONE_NEWPID),
	END_FLAG(CLONE_NEWNET),
};

#define CALLS(list) (list), COUNT_OF(list)

#define PROCESSES                                                                         \
	{ "processes and threads, no namespaces", VERDICT_DEFAULT, CALLS(processes),      \
		process_rules, COUNT_OF(process_rules) },                                 \
		{ "the same by their old names", VERDICT_ALLOW, CALLS(copies), NULL, 0 }, \
	{                                                                                 \
		"jobs of a shell, and timeout", VERDICT_ALLOW, CALLS(groups), NULL, 0     \
	}

static const struct syscall_group command[] = {
	PROCESSES,
	{ "the programs of its tree", VERDICT_ALLOW, CALLS(programs), NULL, 0 },
	{ "a library asks for nscd", VERDICT_NOTIFY(EPERM), CALLS(sockets), socket_rules,
		COUNT_OF(socket_rules) },
	{ "a shell asks whether stdin is a network's", VERDICT_ALLOW, CALLS(peers), NULL, 0 },
};
static const struct syscall_group forking[] = { PROCESSES };

const struct syscall_list SYSCALLS_COMMAND = { command, COUNT_OF(command) };
const struct syscall_list SYSCALLS_FORKING = { forking, COUNT_OF(forking) };

static const struct syscall_group ahead[] = {
	{ "the interpreter itself", VERDICT_ALLOW, CALLS(programs), NULL, 0 },
};

const struct syscall_list SYSCALLS_AHEAD = { ahead, COUNT_OF(ahead) };
