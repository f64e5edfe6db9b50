/*
 * `ced --alerts`: starts the commands of alerts.  A service of its own, beside the daemon.
 *
 * The daemon cannot: the spawner's filter lets it make no process, and its own kills it when it starts
 * a program.  Both are to stay so, and a process made ahead of them would hand those filters on to
 * every command, which then could open no socket to tell anybody anything.  So whoever starts commands
 * is a client that hears the daemon's alerts as others do, in a unit of its own with rights of its own.
 * What is started stands in the configuration that it reads itself: the daemon says which rule applied
 * and to what, and never what to start.
 *
 * A command gets the event as JSON on stdin, an environment of four variables, no descriptors but
 * stderr, no shell, no new privileges, a session of its own and ten seconds.  Four run at a time; what
 * comes meanwhile is dropped, and that is logged.
 */
#pragma once

#include "daemon/settings/config.h"

/* Runs until it is told to stop; returns the exit status. */
int runner_run(const struct config *config);
