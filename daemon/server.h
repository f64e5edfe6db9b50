/*
 * The daemon as a whole: makes its parts, starts them in order and stops them in reverse order.
 *
 *     start   configuration, spawner, store, policies, pool, inspectors, listener
 *     drain   (SIGTERM) no new work; runs in progress continue, then the daemon ends
 *     stop    cancels the remaining runs, records and answers them, then closes everything
 *
 * admin.drain only stops new runs.
 */
#pragma once

#include "daemon/settings/config_file.h"
#include "proto/base/err.h"

struct server;

struct server_options {
	struct config_sources sources;
	const char *libexec; /* folder of the daemon's programs and harnesses */
	int spawner_fd;
};

/*
 * Starts every part.  Keeps the texts of options->sources.  Returns NULL with *err when one cannot start.  The process must end then,
 * since earlier parts stay allocated.  Takes over options->spawner_fd; borrows the rest.
 */
struct server *server_start(const struct server_options *options, struct err *err);

/*
 * Checks whether a daemon would start with these sources, as far as possible without a spawner.
 * Reads the settings, the files that they name, the policies and the patterns.  -1: it found faults.
 * *ret_config is what was read, and lives as long as the process.
 */
int server_check(const struct config_sources *sources, struct setting_faults *faults,
	const struct config **ret_config);

/* Runs until the daemon is asked to stop.  Frees the server; returns the exit status. */
int server_run(struct server *server);

/* Accepts no new work.  The daemon ends when no run is left, or after a grace period. */
void server_drain(struct server *server, const char *why);
