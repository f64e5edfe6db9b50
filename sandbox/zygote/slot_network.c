#include "sandbox/zygote/slot_network.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "proto/base/cleanup.h"
#include "proto/base/fdio.h"
#include "proto/internal/slotmsg.h"
#include "sandbox/worker/files.h"

#define BACKLOG 128

/* ---- the namespace -------------------------------------------------------------------------- */

static int set_flags(int sock, struct err *err)
{
	struct ifreq request = { .ifr_name = "lo" };

	request.ifr_flags = IFF_UP | IFF_RUNNING;
	return ioctl(sock, SIOCSIFFLAGS, &request) < 0 ? err_sys(err, "lo up") : 0;
}

/* A second name of the interface keeps 127.0.0.1 on the first. */
static int set_address(int sock, unsigned long what, uint32_t address, struct err *err)
{
	struct ifreq request = { .ifr_name = "lo:1" };
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(address) };

	memcpy(&request.ifr_addr, &in, sizeof(in));
	return ioctl(sock, what, &request) < 0 ? err_sys(err, "address of lo") : 0;
}

int slot_network_make(struct err *err)
{
	auto_fd int sock = -1;

	if (unshare(CLONE_NEWNET) < 0)
		return err_sys(err, "unshare");
	sock = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (sock < 0)
		return err_sys(err, "socket");
	if (set_flags(sock, err) < 0 ||
		set_address(sock, SIOCSIFADDR, SLOTMSG_NET_FIRST, err) < 0 ||
		set_address(sock, SIOCSIFNETMASK, SLOTMSG_NET_MASK, err) < 0)
		return -1;
	return 0;
}

/* ---- listeners ------------------------------------------------------------------------------ */

static int listen_on(uint16_t port, int *ret_fd, struct err *err)
{
	struct sockaddr_in in = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_ANY),
	};
	const int on = 1;
	auto_fd int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	/* The proxy's port is only for those who mean the proxy. */
	if (port == SLOTMSG_NET_PROXY)
		in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	/* Connections of an earlier cell of the session may not have ended here. */
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 ||
		bind(fd, (const struct sockaddr *)&in, sizeof(in)) < 0 || listen(fd, BACKLOG) < 0)
		return err_sys(err, "listen on port %u", port);
	*ret_fd = take_fd(&fd);
	return 0;
}

static int send_listeners(const struct slotmsg_network *orders, int to, struct err *err)
{
	int fds[SLOTMSG_NET_PORTS_MAX];
	unsigned count = 0;
	int result = 0;

	while (result == 0 && count < orders->port_count) {
		result = listen_on(orders->ports[count], &fds[count], err);
		count += result == 0;
	}
	if (result == 0 && send_with_fds(to, "l", 1, fds, count, err) < 0)
		result = -1;
	close_fds(fds, count);
	return result;
}

int slot_network_open(int orders_fd, int files, int listeners, struct err *err)
{
	static struct slotmsg_network orders; /* large for a stack */
	auto_fd int hosts = -1;
	ssize_t got = pread(orders_fd, &orders, sizeof(orders), 0);

	if (got != (ssize_t)sizeof(orders) || orders.magic != SLOTMSG_MAGIC ||
		orders.port_count > SLOTMSG_NET_PORTS_MAX ||
		orders.hosts_len > sizeof(orders.hosts))
		return err_set(err, ERR_PROTOCOL, "invalid orders for a network");
	hosts = openat(files, FILES_HOSTS, O_WRONLY | O_TRUNC | O_CLOEXEC);
	if (hosts < 0)
		return err_sys(err, "open the file of hosts");
	if (write_all(hosts, orders.hosts, orders.hosts_len, err) < 0)
		return err_wrap(err, "write the file of hosts");
	return send_listeners(&orders, listeners, err);
}
