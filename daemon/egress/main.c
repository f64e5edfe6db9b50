/*
 * ced-egress: makes the connections of networked runs.  It gets its settings, rules and listeners on
 * its socket (descriptor 3) and reports each connection there.  It exits when the socket is closed,
 * or at the first malformed message.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "daemon/egress/egress.h"
#include "daemon/egress/filter.h"
#include "proto/base/log.h"

#define SOCKET_FD 3

static struct egress egress;

static int serve(struct err *err)
{
	/* Splicing to a socket that was reset raises this signal. */
	if (signal(SIGPIPE, SIG_IGN) == SIG_ERR)
		return err_sys(err, "SIGPIPE");
	if (egress_init(&egress, SOCKET_FD, err) < 0 || filter_load(err) < 0)
		return -1;
	return egress_serve(&egress, err);
}

int main(void)
{
	struct err err = ERR_INIT;
	int status = EXIT_SUCCESS;

	log_start("ced-egress", LOG_LEVEL_INFO);
	/* It was executed by descriptor, under a name that says nothing to readers of ps. */
	(void)prctl(PR_SET_NAME, "ced-egress", 0, 0, 0);
	(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	if (serve(&err) < 0) {
		log_event(LOG_LEVEL_ERROR, "egress.ended", LOG_STR("why", err.text));
		status = EXIT_FAILURE;
	}
	/* exit() would run handlers that need calls which the filter forbids. */
	_exit(status);
}
