#include "bench/ways.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proto/base/buf.h"
#include "proto/base/cleanup.h"
#include "proto/base/fdio.h"
#include "proto/wire/rpc.h"

/* The same for everybody, whatever the shell of whoever measures has set. */
static const char *const environment[] = { "PATH=/usr/bin:/bin", "HOME=/", "LANG=C.UTF-8", NULL };

static const char *const python[] = { "/usr/bin/python3", "-c", PROGRAM, NULL };
static const char *const bare[] = { "/usr/bin/python3", "-I", "-S", "-E", "-c", PROGRAM, NULL };
static const char *const bubble[] = { "bwrap", "--unshare-all", "--ro-bind", "/usr", "/usr",
	"--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64", "--dev", "/dev",
	"--proc", "/proc", "--tmpfs", "/tmp", "--die-with-parent", "--new-session", "--clearenv",
	"/usr/bin/python3", "-c", PROGRAM, NULL };

static const struct {
	const char *name;
	const char *const *argv;
} ways[WAY_COUNT] = {
	[WAY_PYTHON] = { "python3 -c", python },
	[WAY_PYTHON_BARE] = { "python3 -I -S -E -c", bare },
	[WAY_BUBBLEWRAP] = { "bubblewrap + python3", bubble },
	[WAY_CED] = { "ced", NULL },
};

const char *way_name(enum way way)
{
	return ways[way].name;
}

/* ---- a process of its own ------------------------------------------------------------------- */

int process_run(const char *const *argv)
{
	posix_spawn_file_actions_t actions;
	char text[64];
	size_t len = 0;
	int ends[2];
	pid_t pid;
	ssize_t got;
	int status = -1;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -1;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
	if (posix_spawnp(&pid, argv[0], &actions, NULL, (char *const *)(uintptr_t)argv,
		    (char *const *)(uintptr_t)environment) != 0)
		pid = -1;
	posix_spawn_file_actions_destroy(&actions);
	close(ends[1]);
	while (pid > 0 && (got = read(ends[0], text + len, sizeof(text) - len)) > 0)
		len += (size_t)got;
	if (pid > 0)
		(void)waitpid(pid, &status, 0);
	close(ends[0]);
	return len == 2 && !memcmp(text, "1\n", 2) && status == 0 ? 0 : -1;
}

/* ---- through the socket --------------------------------------------------------------------- */

int client_open(
	struct client *client, const char *socket_path, const char *language, const char *code)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct arena arena;
	struct value *params;
	struct buf buf;
	struct err err = ERR_INIT;

	arena_init(&arena, 65536);
	buf_init(&buf, 65536);
	params = value_map(&arena);
	value_map_put(&arena, params, "language", value_text(&arena, language));
	value_map_put(&arena, params, "code", value_text(&arena, code));
	(void)rpc_write_request(&buf, 1, "run", params, &err);
	client->request = buf_take(&buf, &client->request_len);
	arena_done(&arena);
	frame_init(&client->frame, 1 << 20, WIRE_DEPTH_DEFAULT);
	cut_printf(address.sun_path, sizeof(address.sun_path), "%s", socket_path);
	client->sock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	return connect(client->sock, (struct sockaddr *)&address, sizeof(address));
}

void client_close(struct client *client)
{
	close(client->sock);
	frame_done(&client->frame);
	free(client->request);
}

/* The reply of a run that went well has these bytes in it. */
static bool went_well(const char *bytes, size_t len)
{
	static const char good[] = "\xa7outcome\xa2ok";

	return memmem(bytes, len, good, sizeof(good) - 1) != NULL;
}

/* The whole answer; the caller frees it.  NULL: there was none. */
static char *ask(struct client *client, size_t *ret_len)
{
	struct err err = ERR_INIT;
	int whole = 0;
	char *bytes = NULL;

	if (write_all(client->sock, client->request, client->request_len, &err) < 0)
		return NULL;
	while (whole == 0) {
		size_t room = 0;
		char *into = frame_room(&client->frame, &room);
		ssize_t got = into ? read(client->sock, into, room) : -1;

		if (got <= 0)
			return NULL;
		frame_filled(&client->frame, (size_t)got);
		whole = frame_next(&client->frame, &bytes, ret_len, &err);
	}
	return whole > 0 ? bytes : NULL;
}

int client_run_well(struct client *client)
{
	size_t len = 0;
	auto_free char *bytes = ask(client, &len);
	bool good = bytes && went_well(bytes, len);

	if (bytes && !good)
		fprintf(stderr, "an answer that is not ok: %.*s\n", (int)(len < 300 ? len : 300),
			bytes);
	return good ? 0 : -1;
}

const struct value *client_run(struct client *client, struct arena *arena)
{
	struct rpc_message message;
	struct rpc_fault fault;
	struct err err = ERR_INIT;
	size_t len = 0;
	auto_free char *bytes = ask(client, &len);
	char *kept = bytes ? arena_copy(arena, bytes, len + 1) : NULL;

	if (!kept || rpc_read(arena, kept, len, &message, &fault, &err) < 0 || message.error)
		return NULL;
	return message.result;
}

int way_run(enum way way, struct client *client)
{
	return ways[way].argv ? process_run(ways[way].argv) : client_run_well(client);
}
