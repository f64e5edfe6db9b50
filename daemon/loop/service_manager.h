/*
 * The host's service manager: the listening socket, readiness, the watchdog and the journal.
 *
 * libsystemd would wait for a journal or a manager that does not read, and the daemon with it.  The
 * protocols are short and stable (sd_notify(3), "Native Journal Protocol"), so they are here.
 */
#pragma once

#include <stdint.h>

#include "proto/base/err.h"

/* *ret_fd gets the listening socket that the service manager passed, or -1. */
int host_listen_fd(int *ret_fd, struct err *err);

enum host_priority {
	HOST_ALERT = 1, /* syslog's numbers */
	HOST_WARNING = 4,
	HOST_NOTICE = 5,
	HOST_INFO = 6,
};

/* A field of a journal entry.  The journal names it CED_<name>. */
struct host_field {
	const char *name;
	const char *text;
};

/*
 * Writes an entry with fields, which `journalctl CED_EVENT=...` finds, to the journal.  Does
 * nothing on a host without a journal.  Drops the entry when the journal does not take it at once.
 */
void host_journal(enum host_priority priority, const char *event, const char *message,
	const struct host_field *fields, unsigned count);

/* How many entries the journal did not take. */
uint64_t host_journal_dropped(void);

/* The MESSAGE_ID of an event's entries, or NULL.  systemd/ced.catalog explains each. */
const char *host_message_id(const char *event);

void host_ready(void);

/* The daemon reads its settings again; `now_us` is of the monotonic clock. */
void host_reloading(int64_t now_us);
void host_reloaded(void);

void host_stopping(void);
void host_alive(void);

/*
 * How often to call host_alive(), in ms: four times in the service manager's patience.  0: never.
 */
uint64_t host_watchdog_ms(void);
