/*
 * Any packet with any number of descriptors, to either side of the spawner's socket.  An accepted
 * message can be sent back through priv_send(), every text in it ends with a NUL, and no
 * descriptor leaks.
 */

#include <assert.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "proto/base/fdio.h"
#include "proto/internal/privmsg.h"
#include "tests/fuzz/fuzz.h"

static int sockets[2] = { -1, -1 };

static void check_texts(const struct priv_msg *msg)
{
	const struct priv_runtime *runtime = &msg->body.runtime;

	assert(strlen(msg->text) < sizeof(msg->text));
	if (msg->op != PRIV_RUNTIME || msg->is_answer)
		return;
	assert(runtime->bind_count <= PRIV_BINDS_MAX);
	assert(strlen(runtime->name) < PRIV_NAME_MAX);
	assert(strlen(runtime->preload) < PRIV_PRELOAD_MAX);
	for (size_t i = 0; i < runtime->bind_count; i++)
		assert(strlen(runtime->binds[i].path) < PRIV_PATH_MAX);
}

static void check_again(struct priv_msg *msg, bool from_daemon, int *fds, unsigned fd_count)
{
	static struct priv_msg again;
	int again_fds[PRIV_FDS_MAX];
	unsigned again_count = 0;

	assert(priv_send(sockets[0], msg, fds, fd_count, NULL) == 0);
	assert(priv_recv(sockets[1], from_daemon, &again, again_fds, &again_count, NULL) == 1);
	assert(again_count == fd_count && memcmp(&again, msg, sizeof(again)) == 0);
	close_fds(again_fds, again_count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static struct priv_msg msg;
	int many[FDIO_FDS_MAX];
	int fds[PRIV_FDS_MAX];
	unsigned fd_count = 0;
	bool from_daemon;
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

	from_daemon = data[0] & 1;
	sent_count = (size_t)(data[0] >> 1) % (FDIO_FDS_MAX + 1);
	assert(send_with_fds(sockets[0], data + 1, len - 1, many, sent_count, NULL) > 0);
	if (priv_recv(sockets[1], from_daemon, &msg, fds, &fd_count, NULL) == 1) {
		assert(fd_count == sent_count);
		check_texts(&msg);
		check_again(&msg, from_daemon, fds, fd_count);
		close_fds(fds, fd_count);
	}
	assert(fcntl(probe, F_GETFD) < 0); /* the lowest free descriptor must be free again */
	return 0;
}
