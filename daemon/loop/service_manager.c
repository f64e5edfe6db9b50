#include "daemon/loop/service_manager.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/uio.h>

#include <systemd/sd-daemon.h>
#include <systemd/sd-journal.h>

int host_listen_fd(void)
{
	return sd_listen_fds(0) >= 1 ? SD_LISTEN_FDS_START : -1;
}

#define FIELDS_MAX 16

/* Adds a field "NAME=text".  The caller frees its text. */
static void add_field(
	struct iovec *fields, int *count, const char *prefix, const char *name, const char *text)
{
	char *whole = NULL;
	int len = asprintf(&whole, "%s%s=%s", prefix, name, text);

	if (len >= 0)
		fields[(*count)++] = (struct iovec){ whole, (size_t)len };
}

void host_journal(enum host_priority priority, const char *event, const char *message,
	const struct host_field *fields, unsigned count)
{
	struct iovec all[FIELDS_MAX + 4];
	char number[4];
	int len = 0;

	(void)snprintf(number, sizeof(number), "%u", (unsigned)priority % 10);
	add_field(all, &len, "", "MESSAGE", message);
	add_field(all, &len, "", "PRIORITY", number);
	add_field(all, &len, "", "SYSLOG_IDENTIFIER", "ced");
	add_field(all, &len, "CED_", "EVENT", event);
	for (unsigned i = 0; i < count && i < FIELDS_MAX; i++)
		add_field(all, &len, "CED_", fields[i].name, fields[i].text);
	(void)sd_journal_sendv(all, len);
	for (int i = 0; i < len; i++)
		free(all[i].iov_base);
}

void host_ready(void)
{
	(void)sd_notify(0, "READY=1");
}

void host_reloading(int64_t now_us)
{
	(void)sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%lld", (long long)now_us);
}

void host_reloaded(void)
{
	host_ready();
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
