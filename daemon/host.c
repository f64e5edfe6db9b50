#include "daemon/host.h"

#include <stdlib.h>

#include <systemd/sd-daemon.h>

int host_listen_fd(void)
{
	return sd_listen_fds(0) >= 1 ? SD_LISTEN_FDS_START : -1;
}

void host_ready(void)
{
	(void)sd_notify(0, "READY=1");
}

void host_stopping(void)
{
	(void)sd_notify(0, "STOPPING=1");
}

void host_alive(void)
{
	(void)sd_notify(0, "WATCHDOG=1");
}

uint64_t host_watchdog_ms(void)
{
	uint64_t interval_us = 0;

	return sd_watchdog_enabled(0, &interval_us) > 0 ? interval_us / 2000 : 0;
}
