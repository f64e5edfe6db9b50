/*
 * `ced --alerts`: starts the commands of alerts.  It is a service of its own, beside the daemon.
 *
 * The daemon cannot start commands: the spawner's filter forbids it to make processes, and its own
 * filter kills it when it executes a program.  A helper process made in advance would pass these
 * filters on to every command, which then could open no socket.  So the runner is a client with its
 * own unit and rights, and receives alerts as other clients do.  The runner reads the commands from
 * the configuration itself: the daemon sends which rule applied to which run, and never a command.
 *
 * A command gets:
 *
 *	- the event as JSON on stdin, /dev/null as stdout, the runner's stderr, nothing else open
 *	- an environment of four variables, no shell and no new privileges
 *	- a session of its own, and ten seconds
 *
 * At most four commands run at a time.  Further ones are dropped, which is logged.
 */
#pragma once

#include "daemon/settings/config.h"

/* Runs until SIGTERM or SIGINT; returns the exit status. */
int runner_run(const struct config *config);
