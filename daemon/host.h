/* The host's service manager: a socket handed over, readiness, watchdog.  The only file that knows libsystemd. */
#pragma once

#include <stdint.h>

/* A listening socket handed over by the service manager, or -1. */
int host_listen_fd(void);

void host_ready(void);
void host_stopping(void);
void host_alive(void);

/* How often the manager wants to hear host_alive(), in ms; 0: not at all. */
uint64_t host_watchdog_ms(void);
