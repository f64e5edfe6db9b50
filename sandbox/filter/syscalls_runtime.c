#include "sandbox/filter/syscalls_runtime.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
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
 * A child with CLONE_PARENT would be the slot's, which waits only for children that it made: such a
 * call is refused, unless the slot has permitted it (sandbox/zygote/states.h).  Threads share their
 * descriptors, as in every job.
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

#define PROCESSES(verdict)                                                                  \
	{ "processes and threads, no namespaces", verdict, CALLS(processes), process_rules, \
		COUNT_OF(process_rules) },                                                  \
		{ "the same by their old names", VERDICT_ALLOW, CALLS(copies), NULL, 0 },   \
	{                                                                                   \
		"jobs of a shell, and timeout", VERDICT_ALLOW, CALLS(groups), NULL, 0       \
	}

/* The slot hears of a fork that makes a kept state, and permits it. */
static const struct syscall_group command[] = {
	PROCESSES(VERDICT_NOTIFY(EPERM)),
	{ "the programs of its tree", VERDICT_ALLOW, CALLS(programs), NULL, 0 },
	{ "a library asks for nscd", VERDICT_NOTIFY(EPERM), CALLS(sockets), socket_rules,
		COUNT_OF(socket_rules) },
	{ "a shell asks whether stdin is a network's", VERDICT_ALLOW, CALLS(peers), NULL, 0 },
};
static const struct syscall_group forking[] = { PROCESSES(VERDICT_DEFAULT) };

const struct syscall_list SYSCALLS_COMMAND = { command, COUNT_OF(command), false };
const struct syscall_list SYSCALLS_FORKING = { forking, COUNT_OF(forking), false };

/* ---- networked runs ------------------------------------------------------------------------- */

static const short connects[] = { NR(connect), NR(getpeername) };
static const short setters[] = { NR(setsockopt) };
static const short getters[] = { NR(getsockopt) };

/* The kernel reads these arguments as int. */
#define IS_INT(arg, value)                 \
	{                                  \
		(arg), UINT32_MAX, (value) \
	}
#define ONE_OF(arg, mask, value)                               \
	{                                                      \
		(arg), UINT32_MAX & ~(uint64_t)(mask), (value) \
	}
#define OPTION(level, ...)                            \
	{                                             \
		VERDICT_ALLOW,                        \
		{                                     \
			IS_INT(1, level), __VA_ARGS__ \
		}                                     \
	}

/*
 * Clients try other families (IPv6, nscd, netlink) and go on without, so these are not reported.
 * The protocol is 0 or TCP; 2 and 4 are no streams.  SCTP and MPTCP are, and the kernel loads their
 * modules.
 */
static const struct arg_rule net_socket_rules[] = {
	{ VERDICT_ALLOW,
		{ IS_INT(0, AF_INET), { 1, 0xf, SOCK_STREAM }, ONE_OF(2, IPPROTO_TCP, 0) } },
};
#define OPTIONS                                                             \
	OPTION(SOL_SOCKET, ONE_OF(2, 1, SO_RCVBUF)), /* and SO_KEEPALIVE */ \
		OPTION(SOL_SOCKET, IS_INT(2, SO_SNDBUF)),                   \
		OPTION(IPPROTO_TCP, IS_INT(2, TCP_NODELAY)),                \
		OPTION(IPPROTO_TCP, ONE_OF(2, 3, TCP_KEEPIDLE)) /* to TCP_SYNCNT */
static const struct arg_rule setsockopt_rules[] = {
	OPTIONS, OPTION(SOL_SOCKET, ONE_OF(2, 1, SO_RCVTIMEO)), /* and SO_SNDTIMEO */
};
static const struct arg_rule getsockopt_rules[] = {
	OPTIONS, OPTION(SOL_SOCKET, IS_INT(2, SO_TYPE)), OPTION(SOL_SOCKET, IS_INT(2, SO_ERROR)),
	OPTION(SOL_SOCKET, ONE_OF(2, 1, SO_PROTOCOL)), /* and SO_DOMAIN */
};

#define NETWORK                                                                                    \
	{ "streams of TCP over IPv4", VERDICT_ERRNO(EAFNOSUPPORT), CALLS(sockets),                 \
		net_socket_rules, COUNT_OF(net_socket_rules) },                                    \
		{ "to what its slot has listeners for", VERDICT_ALLOW, CALLS(connects), NULL, 0 }, \
		{ "that live and hurry", VERDICT_ERRNO(ENOPROTOOPT), CALLS(setters),               \
			setsockopt_rules, COUNT_OF(setsockopt_rules) },                            \
	{                                                                                          \
		"and tell how they are", VERDICT_ERRNO(ENOPROTOOPT), CALLS(getters),               \
			getsockopt_rules, COUNT_OF(getsockopt_rules)                               \
	}

static const struct syscall_group plain_net[] = { NETWORK };
static const struct syscall_group command_net[] = {
	NETWORK,
	PROCESSES(VERDICT_NOTIFY(EPERM)),
	{ "the programs of its tree", VERDICT_ALLOW, CALLS(programs), NULL, 0 },
};
static const struct syscall_group forking_net[] = { NETWORK, PROCESSES(VERDICT_DEFAULT) };

static const struct {
	const struct syscall_list *plain;
	struct syscall_list networked;
} networked_lists[] = {
	{ NULL, { plain_net, COUNT_OF(plain_net), true } },
	{ &SYSCALLS_COMMAND, { command_net, COUNT_OF(command_net), true } },
	{ &SYSCALLS_FORKING, { forking_net, COUNT_OF(forking_net), true } },
};

const struct syscall_list *syscalls_networked(const struct syscall_list *list)
{
	for (size_t i = 0; i < COUNT_OF(networked_lists); i++)
		if (networked_lists[i].plain == list)
			return &networked_lists[i].networked;
	return list; /* it is networked already */
}
