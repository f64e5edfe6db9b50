/*
 * Any packet with any number of descriptors as a slot message.  An accepted message can be sent
 * back, its text ends with a NUL, and no descriptor leaks.
 */

#include <assert.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "proto/base/fdio.h"
#include "proto/internal/slotmsg.h"
#include "tests/fuzz/fuzz.h"

#define FDS_MAX (1 + SLOTMSG_JOIN_FDS_MAX)

static int sockets[2] = { -1, -1 };

static void check_again(const struct slotmsg *msg, const int *fds, unsigned fd_count)
{
	struct slotmsg again;
	int again_fds[FDS_MAX];
	unsigned again_count = 0;

	assert(slotmsg_send(sockets[0], msg, fds, fd_count, NULL) == 0);
	assert(slotmsg_recv(sockets[1], &again, again_fds, &again_count, NULL) == 1);
	assert(again_count == fd_count && memcmp(&again, msg, sizeof(again)) == 0);
	close_fds(again_fds, again_count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct slotmsg msg;
	int many[FDIO_FDS_MAX];
	int fds[FDS_MAX];
	unsigned fd_count = 0;
	size_t sent_count;
	int probe;

	if (len < 2 || len > sizeof(msg) + 8)
		return 0;
	if (sockets[0] < 0 &&
		socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, sockets) < 0)
		return 0;
	for (size_t i = 0; i < FDIO_FDS_MAX; i++)
		many[i] = STDERR_FILENO;
	probe = dup(STDERR_FILENO);
	close(probe);

	sent_count = (size_t)data[0] % (FDIO_FDS_MAX + 1);
	assert(send_with_fds(sockets[0], data + 1, len - 1, many, sent_count, NULL) > 0);
	if (slotmsg_recv(sockets[1], &msg, fds, &fd_count, NULL) == 1) {
		assert(fd_count == sent_count && strlen(msg.text) < sizeof(msg.text));
		assert(strcmp(slotmsg_kind_word(msg.kind), "unknown") != 0);
		check_again(&msg, fds, fd_count);
		close_fds(fds, fd_count);
	}
	assert(fcntl(probe, F_GETFD) < 0); /* the lowest free descriptor must be free again */
	return 0;
}
