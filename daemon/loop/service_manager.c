#include "daemon/loop/service_manager.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include <systemd/sd-daemon.h>
#include <systemd/sd-journal.h>

#include "proto/base/container.h"

int host_listen_fd(void)
{
	return sd_listen_fds(0) >= 1 ? SD_LISTEN_FDS_START : -1;
}

#define FIELDS_MAX 16

/* The entries of systemd/ced.catalog, which `journalctl -x` prints. */
static const struct {
	const char *event;
	const char *message_id;
} messages[] = {
	{ "alert", "a4036009a9934676b9a80ff9e10deafc" },
	{ "audit.alarm", "52ee1511cf6b4cb184d993d1046b90e1" },
	{ "audit.checkpoint", "ac309f505d62495fa34a61fd74e68bf4" },
	{ "run", "ca5bf097dfb54064b3113994c48557d7" },
	{ "health.fault", "35f170f3f7964e1192d4372a33ab1199" },
};

const char *host_message_id(const char *event)
{
	for (size_t i = 0; i < COUNT_OF(messages); i++)
		if (strcmp(messages[i].event, event) == 0)
			return messages[i].message_id;
	return NULL;
}

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
	struct iovec all[FIELDS_MAX + 5];
	const char *message_id = host_message_id(event);
	char number[4];
	int len = 0;

	(void)snprintf(number, sizeof(number), "%u", (unsigned)priority % 10);
	add_field(all, &len, "", "MESSAGE", message);
	add_field(all, &len, "", "PRIORITY", number);
	add_field(all, &len, "", "SYSLOG_IDENTIFIER", "ced");
	add_field(all, &len, "CED_", "EVENT", event);
	if (message_id)
		add_field(all, &len, "", "MESSAGE_ID", message_id);
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

	return sd_watchdog_enabled(0, &interval_us) > 0 ? interval_us / 4000 : 0;
}
