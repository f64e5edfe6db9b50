#include "daemon/loop/service_manager.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "proto/base/buf.h"
#include "proto/base/cleanup.h"
#include "proto/base/container.h"
#include "proto/base/log.h"

#define FIRST_FD       3 /* of those that a service manager hands over */
#define FDS_MAX        1024
#define ENTRY_BYTES    ((size_t)64 << 10)
#define STATE_WAIT_S   1 /* for a service manager that does not read */
#define LOG_PER_MINUTE 4

/* ---- what the service manager handed over ---------------------------------------------------- */

/* The number in an environment variable.  -1: none, or no number up to `most`. */
static int64_t env_number(const char *name, int64_t most)
{
	const char *text = getenv(name);
	char *end = NULL;
	long long number;

	if (!text || *text < '0' || *text > '9')
		return -1;
	errno = 0;
	number = strtoll(text, &end, 10);
	return errno || *end || number > most ? -1 : number;
}

/* Children inherit the variables, so a variable names the process that they are for. */
static bool is_for_us(const char *pid_name)
{
	return env_number(pid_name, INT32_MAX) == getpid();
}

int host_listen_fd(int *ret_fd, struct err *err)
{
	int64_t count = is_for_us("LISTEN_PID") ? env_number("LISTEN_FDS", FDS_MAX) : 0;

	*ret_fd = -1;
	if (count <= 0)
		return 0;
	if (count > 1)
		return err_set(err, ERR_INVALID,
			"the service manager handed over %" PRId64
			" sockets, and ced listens on one: "
			"leave one ListenStream= in ced.socket",
			count);
	if (fcntl(FIRST_FD, F_SETFD, FD_CLOEXEC) < 0)
		return err_sys(err, "the socket of the service manager, descriptor %d", FIRST_FD);
	*ret_fd = FIRST_FD;
	return 0;
}

uint64_t host_watchdog_ms(void)
{
	int64_t interval_us;

	if (getenv("WATCHDOG_PID") && !is_for_us("WATCHDOG_PID"))
		return 0;
	interval_us = env_number("WATCHDOG_USEC", INT64_MAX);
	return interval_us > 0 ? (uint64_t)interval_us / 4000 : 0;
}

/* ---- datagrams to the host --------------------------------------------------------------------- */

/* Fills the address of a socket with a path, or with an abstract name ("@name"). 0: none. */
static socklen_t fill_address(struct sockaddr_un *address, const char *path)
{
	size_t len = strlen(path);

	*address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (len < 2 || len >= sizeof(address->sun_path) || (*path != '/' && *path != '@'))
		return 0;
	memcpy(address->sun_path, path, len);
	if (*path == '@')
		address->sun_path[0] = '\0';
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len + (*path == '/'));
}

/*
 * Sends one datagram.  Waits at most `wait_s` seconds for a receiver that does not read: the loop
 * calls this, and a journal that hangs must not stop runs.  0: does not wait.
 */
static int send_datagram(const char *path, const void *bytes, size_t len, int wait_s)
{
	struct timeval wait = { .tv_sec = wait_s };
	struct sockaddr_un address;
	socklen_t address_len = fill_address(&address, path);
	auto_fd int sock = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	ssize_t sent;

	if (!address_len)
		errno = EINVAL;
	if (!address_len || sock < 0)
		return -1;
	if (wait_s && setsockopt(sock, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait)) < 0)
		return -1;
	do
		sent = sendto(sock, bytes, len, MSG_NOSIGNAL | (wait_s ? 0 : MSG_DONTWAIT),
			(const struct sockaddr *)&address, address_len);
	while (sent < 0 && errno == EINTR);
	return sent < 0 ? -1 : 0;
}

/* ---- the journal ----------------------------------------------------------------------------- */

#define JOURNAL "/run/systemd/journal/socket"

static _Atomic uint64_t journal_dropped;

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

/*
 * Adds a field as journald reads it.  The length comes before the text, so a text with newlines
 * cannot become another field.
 */
static int add_field(struct buf *entry, const char *prefix, const char *name, const char *text)
{
	uint64_t len = strlen(text);
	uint8_t number[sizeof(len)];

	for (size_t i = 0; i < sizeof(number); i++)
		number[i] = (uint8_t)(len >> 8 * i);
	return buf_printf(entry, "%s%s\n", prefix, name) < 0 ||
			       buf_append(entry, number, sizeof(number)) < 0 ||
			       buf_append_text(entry, text) < 0 || buf_append_byte(entry, '\n') < 0
		       ? -1
		       : 0;
}

static int fill_entry(struct buf *entry, enum host_priority priority, const char *event,
	const char *message, const struct host_field *fields, unsigned count)
{
	const char *message_id = host_message_id(event);
	char number[4];
	int result;

	cut_printf(number, sizeof(number), "%u", (unsigned)priority % 10);
	result = add_field(entry, "", "MESSAGE", message);
	result |= add_field(entry, "", "PRIORITY", number);
	result |= add_field(entry, "", "SYSLOG_IDENTIFIER", "ced");
	result |= add_field(entry, "CED_", "EVENT", event);
	if (message_id)
		result |= add_field(entry, "", "MESSAGE_ID", message_id);
	for (unsigned i = 0; i < count; i++)
		result |= add_field(entry, "CED_", fields[i].name, fields[i].text);
	return result;
}

void host_journal(enum host_priority priority, const char *event, const char *message,
	const struct host_field *fields, unsigned count)
{
	static struct log_limit limit;
	struct buf entry;
	int result;

	buf_init(&entry, ENTRY_BYTES);
	result = fill_entry(&entry, priority, event, message, fields, count);
	if (result < 0)
		errno = ENOMEM;
	else
		result = send_datagram(JOURNAL, entry.bytes, entry.len, 0);
	if (result < 0 && errno != ENOENT) {
		journal_dropped++;
		log_limited(&limit, LOG_PER_MINUTE, LOG_LEVEL_WARNING, "journal.dropped",
			LOG_FIELDS(LOG_STR("event", event), LOG_STR("why", strerror(errno))), 2);
	}
	buf_done(&entry);
}

uint64_t host_journal_dropped(void)
{
	return journal_dropped;
}

/* ---- states ---------------------------------------------------------------------------------- */

/* A state is told once, so it is worth a wait.  The watchdog is told again. */
static void tell_manager(const char *state, int wait_s)
{
	static struct log_limit limit;
	const char *path = getenv("NOTIFY_SOCKET");

	if (path && send_datagram(path, state, strlen(state), wait_s) < 0)
		log_limited(&limit, LOG_PER_MINUTE, LOG_LEVEL_WARNING, "notify.failed",
			LOG_FIELDS(LOG_STR("state", state), LOG_STR("why", strerror(errno))), 2);
}

void host_ready(void)
{
	tell_manager("READY=1", STATE_WAIT_S);
}

void host_reloading(int64_t now_us)
{
	char state[64];

	cut_printf(state, sizeof(state), "RELOADING=1\nMONOTONIC_USEC=%" PRId64, now_us);
	tell_manager(state, STATE_WAIT_S);
}

void host_reloaded(void)
{
	host_ready();
}

void host_stopping(void)
{
	tell_manager("STOPPING=1", STATE_WAIT_S);
}

void host_alive(void)
{
	tell_manager("WATCHDOG=1", 0);
}
