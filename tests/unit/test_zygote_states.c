#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proto/base/fdio.h"
#include "sandbox/zygote/states.h"
#include "tests/check.h"

/* In functions that return something. */
#define MUST(condition)           \
	do {                      \
		if (!(condition)) \
			abort();  \
	} while (0)

static struct err err = ERR_INIT;
static int procs = -1; /* stands for the "procs" file of the leaf that was used last */

static struct states made(void)
{
	return (struct states)STATES_INIT;
}

/* Begins one in a leaf of its own. */
static int begin(struct states *states, uint32_t number, int hello)
{
	char path[] = "/tmp/ced-procs.XXXXXX";
	int fds[] = { hello, mkstemp(path) };

	MUST(fds[1] >= 0 && unlink(path) == 0);
	close(procs);
	procs = dup(fds[1]);
	return states_begin(states, number, fds, 2, &err);
}

static int pid_in_leaf(void)
{
	char text[16] = "";

	return pread(procs, text, sizeof(text) - 1, 0) > 0 ? atoi(text) : 0;
}

static int hello_pair(int *ret_theirs)
{
	const int on = 1;
	int ends[2];

	MUST(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
	MUST(setsockopt(ends[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) == 0);
	*ret_theirs = ends[1];
	return ends[0];
}

/* A child that says hello and then waits to be killed. */
static pid_t state_that_says(int hello)
{
	pid_t pid = fork();

	if (pid == 0) {
		if (send(hello, "", 1, 0) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(hello);
	return pid;
}

static struct state kept(struct states *states, uint32_t number)
{
	struct state state = { .pid = 0 };
	int theirs;
	int ours = hello_pair(&theirs);

	MUST(begin(states, number, ours) == 0);
	(void)state_that_says(theirs);
	while (recv(ours, &(char){ 0 }, 1, MSG_PEEK) < 0)
		;
	MUST(states_hear(states, getpid(), &state, &err) == 1);
	MUST(states->hello == -1);
	return state;
}

TEST(a_child_that_says_hello_is_a_state_and_is_moved)
{
	struct states states = made();
	struct state state = kept(&states, 5);

	CHECK_EQ_INT(state.number, 5);
	CHECK_EQ_INT(states.count, 1);
	CHECK_EQ_INT(pid_in_leaf(), state.pid);
	CHECK_EQ_INT(states.join_count, 0);
	CHECK(states_drop(&states, 5));
	CHECK(!states_drop(&states, 5));
	CHECK(waitpid(state.pid, NULL, 0) < 0); /* it is reaped */
	states_forget(&states);
}

TEST(the_worker_itself_and_strangers_are_no_states)
{
	struct states states = made();
	struct state state;
	int theirs;
	int ours = hello_pair(&theirs);

	CHECK(begin(&states, 1, ours) == 0);
	CHECK(send(theirs, "", 1, 0) == 1); /* we are the worker */
	CHECK_EQ_INT(states_hear(&states, getpid(), &state, &err), -1);
	close(theirs);

	ours = hello_pair(&theirs);
	CHECK(begin(&states, 2, ours) == 0);
	CHECK(send(theirs, "", 1, 0) == 1); /* we are no child of ours */
	CHECK_EQ_INT(states_hear(&states, 1, &state, &err), -1);
	close(theirs);
	CHECK_EQ_INT(states.count, 0);
}

TEST(a_hello_that_nobody_can_say_any_more_is_no_breach)
{
	struct states states = made();
	struct state state;
	int theirs;
	int ours = hello_pair(&theirs);

	CHECK(begin(&states, 1, ours) == 0);
	close(theirs);
	CHECK_EQ_INT(states_hear(&states, getpid(), &state, &err), 0);
}

TEST(only_one_is_made_at_a_time_and_not_too_many)
{
	struct states states = made();
	int theirs;
	int ours = hello_pair(&theirs);

	CHECK(begin(&states, 1, ours) == 0);
	CHECK(begin(&states, 2, dup(theirs)) < 0);
	states_forget(&states);
	close(theirs);
	for (uint32_t i = 1; i <= STATES_PROCESSES_MAX; i++)
		(void)kept(&states, i);
	ours = hello_pair(&theirs);
	CHECK(begin(&states, 99, ours) < 0);
	close(theirs);
	states_forget(&states);
	CHECK_EQ_INT(states.count, 0);
}

TEST(a_worker_that_is_replaced_is_killed_and_reaped_without_a_number)
{
	struct states states = made();
	pid_t pid = fork();
	uint32_t number = 9;

	if (pid == 0)
		for (;;)
			(void)pause();
	(void)kept(&states, 7);
	states_bury(&states, pid, (int)syscall(SYS_pidfd_open, pid, 0));
	while (!states_reap(&states, &number))
		;
	CHECK_EQ_INT(number, 0);
	CHECK_EQ_INT(states.count, 1);
	CHECK(kill(pid, 0) < 0);
	states_forget(&states);
}

TEST(a_state_that_dies_is_reaped_and_named)
{
	struct states states = made();
	struct state state = kept(&states, 7);
	uint32_t number = 0;

	(void)kept(&states, 8);
	CHECK(!states_reap(&states, &number));
	CHECK(kill(state.pid, SIGKILL) == 0);
	while (!states_reap(&states, &number))
		;
	CHECK_EQ_INT(number, 7);
	CHECK_EQ_INT(states.count, 1);
	states_forget(&states);
}

TEST(each_state_is_moved_into_the_leaf_that_came_with_its_number)
{
	struct states states = made();
	struct state first = kept(&states, 1);
	struct state second;

	CHECK_EQ_INT(pid_in_leaf(), first.pid);
	second = kept(&states, 2);
	CHECK_EQ_INT(pid_in_leaf(), second.pid);
	states_forget(&states);
}

TEST(a_promoted_state_leaves_the_list_and_stays_in_its_leaf)
{
	struct states states = made();
	struct state state = kept(&states, 3);
	struct state promoted;

	CHECK(states_promote(&states, 4, &promoted, &err) < 0);
	CHECK(states_promote(&states, 3, &promoted, &err) == 0);
	CHECK_EQ_INT(promoted.pid, state.pid);
	CHECK_EQ_INT(states.count, 0);
	CHECK_EQ_INT(pid_in_leaf(), state.pid);
	CHECK(kill(state.pid, SIGKILL) == 0 && waitpid(state.pid, NULL, 0) == state.pid);
	close(promoted.pidfd);
}
