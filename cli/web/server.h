/*
 * `cectl web`: a small HTTP server for one person's browser, and a client of the daemon behind it.
 *
 * It gives the files of the page, answers of methods that only read, and events as they happen.  One
 * loop polls the listener, the browser's connections and the daemon.  Everything is bounded: how many
 * connections and streams there are, the length of a head, and the time for each step.
 */
#pragma once

#include "cli/web/access.h"
#include "cli/web/listen.h"

/*
 * Serves until a signal is noted (interrupt.h).  Keeps `listener`, `access` and `socket` meanwhile.
 * -1: it cannot go on.
 */
int web_serve(const struct listener *listener, const struct access *access, const char *socket,
	struct err *err);
