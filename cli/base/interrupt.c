#include "cli/base/interrupt.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>

#include "proto/base/container.h"

static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
static struct sigaction before[COUNT_OF(signals)];
static volatile sig_atomic_t noted;
static unsigned catchers; /* how many want them */

static void on_signal(int number)
{
	if (noted) {
		(void)signal(number, SIG_DFL);
		(void)raise(number); /* takes effect when this returns */
	}
	noted = number;
}

void interrupt_catch(void)
{
	/* poll() ends all the same; a write goes on. */
	const struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };

	for (size_t i = 0; i < COUNT_OF(signals) && !catchers; i++) {
		if (sigaction(signals[i], NULL, &before[i]) == 0 && before[i].sa_handler != SIG_IGN)
			(void)sigaction(signals[i], &action, NULL);
	}
	catchers++;
}

void interrupt_release(void)
{
	if (!catchers || --catchers)
		return;
	for (size_t i = 0; i < COUNT_OF(signals); i++)
		(void)sigaction(signals[i], &before[i], NULL);
}

int interrupt_noted(void)
{
	return noted;
}

/* Between the look at `noted` and the wait no signal may come, or it would not end the wait. */
int interrupt_poll(struct pollfd *fds, nfds_t count, int wait_ms)
{
	const struct timespec wait = { .tv_sec = wait_ms / 1000,
		.tv_nsec = (long)(wait_ms % 1000) * 1000000 };
	sigset_t ours;
	sigset_t usual;
	int ready = -1;
	int number = EINTR;

	(void)sigemptyset(&ours);
	for (size_t i = 0; i < COUNT_OF(signals); i++)
		(void)sigaddset(&ours, signals[i]);
	(void)sigprocmask(SIG_BLOCK, &ours, &usual);
	if (!noted) {
		ready = ppoll(fds, count, wait_ms < 0 ? NULL : &wait, &usual);
		number = errno;
	}
	(void)sigprocmask(SIG_SETMASK, &usual, NULL);
	errno = number;
	return ready;
}

void interrupt_forget(void)
{
	noted = 0;
}

void interrupt_pass_on(void)
{
	if (!noted)
		return;
	(void)fflush(stderr);
	(void)signal(noted, SIG_DFL);
	(void)raise(noted);
}
