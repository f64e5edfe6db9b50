/* The host's service manager: a socket handed over, readiness, watchdog.  The only file that knows libsystemd. */
#pragma once

#include <stdint.h>

/* A listening socket handed over by the service manager, or -1. */
int host_listen_fd(void);

enum host_priority {
	HOST_ALERT = 1, /* numbers of syslog */
	HOST_WARNING = 4,
	HOST_NOTICE = 5,
};

/* A field of a journal's entry: CED_<name>. */
struct host_field {
	const char *name;
	const char *text;
};

/*
 * An entry with fields for the journal, which `journalctl CED_EVENT=...` finds.  Where there is no
 * journal nothing happens.
 */
void host_journal(enum host_priority priority, const char *event, const char *message,
	const struct host_field *fields, unsigned count);

void host_ready(void);
void host_stopping(void);
void host_alive(void);

/* How often the manager wants to hear host_alive(), in ms; 0: not at all. */
uint64_t host_watchdog_ms(void);
