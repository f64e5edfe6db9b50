#include "sandbox/zygote/states.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proto/base/cleanup.h"
#include "proto/base/fdio.h"

/* ---- making --------------------------------------------------------------------------------- */

int states_begin(struct states *states, uint32_t number, int *fds, unsigned count, struct err *err)
{
	if (states->count == STATES_PROCESSES_MAX || states->hello >= 0) {
		close_fds(fds, count);
		return err_set(err, ERR_PROTOCOL, "keep is out of turn");
	}
	states->hello = take_fd(&fds[0]);
	states->join_count = count - 1;
	for (unsigned i = 0; i < states->join_count; i++)
		states->joins[i] = take_fd(&fds[1 + i]);
	states->making = number;
	return 0;
}

static void forget_joins(struct states *states)
{
	close_fds(states->joins, states->join_count);
	states->join_count = 0;
}

/* The kernel says who has sent the byte.  0: all who could have closed it; -1: nobody it can name. */
static pid_t who_says_hello(int sock)
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(struct ucred))];
	} control;
	char byte;
	struct iovec part = { &byte, 1 };
	struct msghdr message = { .msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes) };
	const struct cmsghdr *head;
	struct ucred who;

	ssize_t got = recvmsg(sock, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

	if (got <= 0)
		return got < 0 ? -1 : 0;
	head = CMSG_FIRSTHDR(&message);
	if (!head || head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_CREDENTIALS ||
		head->cmsg_len != CMSG_LEN(sizeof(who)))
		return -1;
	memcpy(&who, CMSG_DATA(head), sizeof(who));
	return who.pid;
}

static bool is_known(const struct states *states, pid_t worker, pid_t pid)
{
	bool known = pid == worker;

	for (unsigned i = 0; i < states->count; i++)
		known = known || states->list[i].pid == pid;
	return known;
}

/* A child of ours that lives. */
static bool is_child(pid_t pid)
{
	siginfo_t info;

	memset(&info, 0, sizeof(info));
	return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0 &&
	       info.si_pid == 0;
}

static int join(const struct states *states, pid_t pid, struct err *err)
{
	char text[16];

	(void)snprintf(text, sizeof(text), "%d", pid);
	for (unsigned i = 0; i < states->join_count; i++)
		if (pwrite(states->joins[i], text, strlen(text), 0) < 0)
			return err_sys(err, "procs file %u of %u", i + 1, states->join_count);
	return 0;
}

static int hear(struct states *states, pid_t worker, struct state *ret_state, struct err *err)
{
	auto_fd int hello = take_fd(&states->hello);
	struct state state = { .number = states->making, .pid = who_says_hello(hello) };

	if (state.pid == 0)
		return err_set(err, ERR_CLOSED, "the worker has not forked") + 1;
	if (state.pid < 0 || is_known(states, worker, state.pid) || !is_child(state.pid))
		return err_set(err, ERR_PROTOCOL, "another process than a new one says hello");
	if (join(states, state.pid, err) < 0)
		return -1;
	state.pidfd = (int)syscall(SYS_pidfd_open, state.pid, 0);
	if (state.pidfd < 0)
		return err_sys(err, "pidfd of a state");
	states->list[states->count++] = state;
	*ret_state = state;
	return 1;
}

int states_hear(struct states *states, pid_t worker, struct state *ret_state, struct err *err)
{
	int heard = hear(states, worker, ret_state, err);

	forget_joins(states);
	return heard;
}

/* ---- ending --------------------------------------------------------------------------------- */

static struct state *find(struct states *states, uint32_t number)
{
	for (unsigned i = 0; i < states->count; i++)
		if (states->list[i].number == number)
			return &states->list[i];
	return NULL;
}

static void take_out(struct states *states, struct state *state)
{
	*state = states->list[--states->count];
}

int states_promote(struct states *states, uint32_t number, struct state *ret_state, struct err *err)
{
	struct state *state = find(states, number);

	if (!state)
		return err_set(err, ERR_MISSING, "there is no state %u", number);
	(void)kill(state->pid, SIGCONT); /* a cell may have stopped it */
	*ret_state = *state;
	take_out(states, state);
	return 0;
}

static void reap(const struct state *state)
{
	while (waitpid(state->pid, NULL, __WALL) < 0 && errno == EINTR)
		;
	close(state->pidfd);
}

bool states_drop(struct states *states, uint32_t number)
{
	struct state *state = find(states, number);

	if (!state)
		return false;
	(void)kill(state->pid, SIGKILL);
	reap(state);
	take_out(states, state);
	return true;
}

/* The state has left a place in the list. */
void states_bury(struct states *states, pid_t worker, int pidfd)
{
	(void)kill(worker, SIGKILL);
	states->list[states->count++] = (struct state){ .pid = worker, .pidfd = pidfd };
}

bool states_reap(struct states *states, uint32_t *ret_number)
{
	for (unsigned i = 0; i < states->count; i++) {
		struct pollfd poll_fd = { .fd = states->list[i].pidfd, .events = POLLIN };

		if (poll(&poll_fd, 1, 0) != 1)
			continue;
		*ret_number = states->list[i].number;
		reap(&states->list[i]);
		take_out(states, &states->list[i]);
		return true;
	}
	return false;
}

/* The kernel tells of the first one that is dead, and of the next when that one is reaped. */
bool states_reap_stranger(const struct states *states, const pid_t *others, size_t count)
{
	siginfo_t info;

	memset(&info, 0, sizeof(info));
	if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) < 0 || info.si_pid == 0 ||
		is_known(states, 0, info.si_pid))
		return false;
	for (size_t i = 0; i < count; i++)
		if (others[i] == info.si_pid)
			return false;
	return waitpid(info.si_pid, NULL, __WALL) > 0;
}

void states_forget(struct states *states)
{
	while (states->count)
		(void)states_drop(states, states->list[0].number);
	close_fds(&states->hello, 1);
	forget_joins(states);
}
