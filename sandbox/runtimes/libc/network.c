/*
 * A better message for a program that looks for a network that its run does not have.  (devices.c
 * says how this library comes before the C library.)
 *
 * The kernel says "Operation not permitted" and the resolver "Name or service not known", which
 * does not say what to do.  So the first attempt of a process writes one sentence to its stderr.
 * In Python the sentence is in the exception instead, since Python asks the C library for the text
 * of an error.  We do not change the interpreter's own modules: a module that we import in the
 * zygote would be loaded already, and a policy's import rules would miss it.
 */
#undef _FORTIFY_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "proto/jail_network.h"
#include "sandbox/jail_env.h"
#include "sandbox/worker/files.h"

#define OURS __attribute__((visibility("default")))

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): the C library's are not for readers */

#define ASKED_WITHIN_MS 10

static bool speaks_python;

/*
 * Only a zygote that is an interpreter has the descriptor's number in its environment.  That of node has
 * its addon there too (runtimes/node).
 */
__attribute__((constructor)) static void begin(void)
{
	const char *loaded = getenv("LD_PRELOAD");

	speaks_python = getenv(JAIL_ENV_SOCKET) && !(loaded && strstr(loaded, NODE_LIBRARY));
}

/* The kernel's clock, in deterministic runs too (../steady). */
static int64_t now_ms(void)
{
	struct timespec now = { 0 };

	(void)syscall(SYS_clock_gettime, CLOCK_MONOTONIC_COARSE, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* When this thread was last refused a network socket.  Python asks for the error's text at once. */
static _Thread_local int64_t refused_ms;

/* Only a run with a network has a file of hosts. */
static char *sentence(void)
{
	static char none[] = JAIL_NO_NET;
	static char named_only[] = JAIL_NAMED_ONLY;
	int error = errno;
	bool has_network = syscall(SYS_faccessat, AT_FDCWD, FILES_HOSTS_PATH, F_OK) == 0;

	errno = error;
	return has_network ? named_only : none;
}

static void say(void)
{
	static atomic_flag said = ATOMIC_FLAG_INIT;
	int error = errno;

	if (!speaks_python && !atomic_flag_test_and_set(&said))
		(void)dprintf(STDERR_FILENO, "ced: %s\n", sentence());
	errno = error;
}

OURS int socket(int family, int type, int protocol)
{
	int fd = (int)syscall(SYS_socket, family, type, protocol);

	if (fd < 0 && errno == EPERM && (family == AF_INET || family == AF_INET6)) {
		say();
		refused_ms = now_ms();
		errno = EPERM;
	}
	return fd;
}

OURS char *strerror(int error)
{
	static char *(*real)(int error);
	bool refused = speaks_python && error == EPERM && refused_ms &&
		       now_ms() - refused_ms <= ASKED_WITHIN_MS;

	refused_ms = 0;
	if (refused)
		return sentence();
	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "strerror");
	return real(error);
}

/* Not for errors of the query itself. */
static bool is_no_network(int error)
{
	return error == EAI_NONAME || error == EAI_AGAIN || error == EAI_FAIL ||
	       error == EAI_NODATA || error == EAI_SYSTEM;
}

OURS int getaddrinfo(const char *restrict node, const char *restrict service,
	const struct addrinfo *restrict hints, struct addrinfo **restrict ret_list)
{
	static int (*real)(const char *node, const char *service, const struct addrinfo *hints,
		struct addrinfo **ret_list);
	int error;

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "getaddrinfo");
	error = real(node, service, hints, ret_list);
	if (is_no_network(error))
		say();
	return error;
}

OURS const char *gai_strerror(int error)
{
	static const char *(*real)(int error);

	if (speaks_python && is_no_network(error))
		return sentence();
	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "gai_strerror");
	return real(error);
}

/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */
