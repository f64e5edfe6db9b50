/*
 * The daemon as a whole: it makes every part, starts them in order and stops them in the reverse
 * order.
 *
 *	start   configuration, spawner, store, policies, pool, inspectors, listener
 *	drain   no new work; what runs goes on, then it ends (SIGTERM); admin.drain only stops new runs
 *	stop    cancel what still runs, record it, answer it, then close everything
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "proto/base/err.h"

struct server;

struct server_options {
	const char *config_path; /* NULL: defaults */
	const char *socket_path; /* NULL: as configured */
	const char *state_path;
	const char *libexec; /* folder of our own programs and harnesses */
	int spawner_fd;
	bool shipped; /* also the runtimes beside python, where the host has them */
};

/*
 * Starts every part.  Returns NULL with *err when one cannot start: the process must end then, since
 * what was made stays allocated.  Takes options->spawner_fd; borrows the rest.
 */
struct server *server_start(const struct server_options *options, struct err *err);

/*
 * Whether a daemon would start with this file, as far as can be found out without a spawner: reads the
 * settings, the files that they name, the policies and the patterns.  Reports success to `out`.
 */
int server_check(const char *config_path, FILE *out, struct err *err);

/* Runs until it is told to stop.  Takes the server; returns the exit status. */
int server_run(struct server *server);

/* Accepts no new work; ends when nothing runs any more, or after a grace period. */
void server_drain(struct server *server, const char *why);
