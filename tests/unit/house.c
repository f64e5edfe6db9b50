#include "tests/unit/house.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "proto/base/cleanup.h"
#include "proto/base/clock.h"
#include "proto/base/fdio.h"
#include "proto/internal/inspectmsg.h"
#include "proto/json.h"
#include "proto/wire/wire.h"

#define PATIENCE_MS 30000
#define PIECE_BYTES 16384U

/* ---- the inspector -------------------------------------------------------------------------- */

static int findings_of(struct house *house, uint32_t id, struct buf *out, struct err *err)
{
	struct inspect_finding finding = { INSPECT_BYTES_NUL, 2, 1, 0, "" };
	struct inspect_findings findings = { &finding, house->denies ? 1 : 0, false };

	house->seen++;
	return inspect_findings_encode(id, &findings, out, err);
}

/* Answers one message as soon as all of it has arrived. */
static bool inspect_one(struct house *house)
{
	struct inspect_head head;
	struct buf out;
	struct err err = ERR_INIT;
	bool answered;

	if (house->heard.len < sizeof(head))
		return false;
	memcpy(&head, house->heard.bytes, sizeof(head));
	if (house->heard.len < sizeof(head) + head.len)
		return false;
	buf_consume(&house->heard, sizeof(head) + head.len);
	buf_init(&out, 65536);
	answered = (head.kind == INSPECT_RULES ? inspect_ready_encode("", &out, &err)
					       : findings_of(house, head.id, &out, &err)) == 0 &&
		   write_all(house->inspector, out.bytes, out.len, &err) == 0;
	buf_done(&out);
	return answered;
}

static void inspect(struct house *house)
{
	static char bytes[65536];
	ssize_t got;

	while (house->inspector >= 0 && (got = read(house->inspector, bytes, sizeof(bytes))) > 0)
		(void)buf_append(&house->heard, bytes, (size_t)got);
	while (inspect_one(house))
		continue;
}

void house_turn(struct house *house, unsigned ms)
{
	int64_t until = clock_ms() + ms;
	unsigned turns = 0;

	/*
	 * Each turn takes some milliseconds, so a busy machine gets as many turns as an idle one.
	 */
	do {
		inspect(house);
		playing_turn(&house->play, 0);
		turns += 4;
	} while (turns < ms || clock_ms() < until);
}

/* ---- opening ------------------------------------------------------------------------------ */

static bool write_settings(const struct house *house, const char *path, const char *settings)
{
	FILE *file = fopen(path, "we");

	(void)house;
	return file &&
	       fprintf(file,
		       "cgroups = \"auto\"\nworkers_min = 1\nworkers_max = 1\ninspectors = 1\n%s",
		       settings) > 0 &&
	       fclose(file) == 0;
}

/* The files of the runtime, so that the daemon can compute its digest. */
static bool write_harness(const struct house *house)
{
	char path[128];
	FILE *file;

	(void)snprintf(path, sizeof(path), "%s/python", house->folder);
	if (mkdir(path, 0755) < 0)
		return false;
	(void)snprintf(path, sizeof(path), "%s/python/harness", house->folder);
	file = fopen(path, "we");
	return file && fputs("played\n", file) >= 0 && fclose(file) == 0;
}

static bool answer_ahead(struct house *house, uint32_t op, uint32_t sequence)
{
	static struct priv_msg question, answer;

	question = (struct priv_msg){ .op = op, .sequence = sequence };
	answer = (struct priv_msg){ .id = 1 };
	if (op == PRIV_HELLO)
		answer.body.host = (struct priv_host){ .mode = PRIV_MODE_USER, .landlock_abi = 1 };
	return playing_answer(&house->play, &question, &answer, NULL, 0);
}

static bool heard_first(struct house *house)
{
	static const uint32_t ops[] = { PRIV_HELLO, PRIV_RUNTIME, PRIV_RUNTIME, PRIV_SEAL };
	static struct priv_msg msg;
	int none[PRIV_FDS_MAX];

	for (unsigned i = 0; i < COUNT_OF(ops); i++)
		if (!playing_hear(&house->play, &msg, none) || msg.op != ops[i])
			return false;
	return true;
}

bool house_open(struct house *house, const char *settings)
{
	char path[96];
	int ends[2];
	struct err err = ERR_INIT;
	struct server_options options = { { path, house->socket, house->folder, false },
		house->folder, -1 };

	memset(house, 0, sizeof(*house));
	house->inspector = house->control = house->slot = -1;
	house->worker = (struct played){ -1, 0, 0, { 0 }, 0, -1, -1, -1, -1 };
	house->play.spawner = -1;
	arena_init(&house->arena, (size_t)64 << 20);
	buf_init(&house->heard, (size_t)8 << 20);
	(void)signal(SIGPIPE, SIG_IGN);
	(void)snprintf(house->folder, sizeof(house->folder), "/tmp/ced-house-XXXXXX");
	if (!mkdtemp(house->folder) || !playing_pair(SOCK_SEQPACKET, ends))
		return false;
	(void)snprintf(house->socket, sizeof(house->socket), "%s/sock", house->folder);
	(void)snprintf(path, sizeof(path), "%s/conf", house->folder);
	house->play.spawner = ends[1];
	options.spawner_fd = ends[0];
	(void)fcntl(ends[0], F_SETFL, 0);
	if (!write_settings(house, path, settings) || !write_harness(house) ||
		!answer_ahead(house, PRIV_HELLO, 1) ||
		!answer_ahead(house, PRIV_RUNTIME, 2) || /* and its twin */
		!answer_ahead(house, PRIV_RUNTIME, 3) || !answer_ahead(house, PRIV_SEAL, 4))
		return false;
	house->server = server_start(&options, &err);
	if (!house->server) {
		(void)fprintf(stderr, "# %s\n", err.text);
		return false;
	}
	house->play.loop = &house->server->loop;
	return heard_first(house);
}

static bool give_inspector(struct house *house)
{
	static struct priv_msg msg, answer;
	int pidfd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	answer = (struct priv_msg){ .id = ++house->play.children };
	return playing_hear(&house->play, &msg, &house->inspector) && msg.op == PRIV_INSPECTOR &&
	       fcntl(house->inspector, F_SETFL, O_NONBLOCK) == 0 &&
	       playing_answer(&house->play, &msg, &answer, &pidfd, 1);
}

bool house_warm(struct house *house)
{
	if (!give_inspector(house))
		return false;
	house->control = playing_zygote(&house->play);
	if (house->control < 0)
		return false;
	house->slot = playing_slot(&house->play, house->control, NULL, NULL);
	if (house->slot < 0 || !playing_make(&house->play, house->slot, &house->worker) ||
		!playing_warm(&house->worker))
		return false;
	house_turn(house, 20);
	return !list_is_empty(&house->server->pool.runtimes[0].warm);
}

bool house_ready(struct house *house, const char *settings)
{
	return house_open(house, settings) && house_warm(house);
}

bool house_next(struct house *house)
{
	struct slotmsg msg;
	int none[1 + SLOTMSG_JOIN_FDS_MAX];

	if (!playing_lease(&house->play, house->slot, &msg, none) ||
		msg.kind != SLOTMSG_WORKER_DROP || !played_says(&house->worker, SLOTMSG_DROPPED))
		return false;
	played_close(&house->worker);
	if (!playing_make(&house->play, house->slot, &house->worker) ||
		!playing_warm(&house->worker))
		return false;
	house_turn(house, 0);
	return true;
}

/* ---- closing ------------------------------------------------------------------------------ */

int house_end(struct house *house)
{
	struct server *server = house->server;

	house->server = NULL;
	server_drain(server, "the test is over");
	return server_run(server);
}

/* Removes a folder of files, which may contain one level of folders. */
static void remove_folder(const char *folder) /* NOLINT(misc-no-recursion): one deep */
{
	DIR *entries = opendir(folder);
	struct dirent *entry;
	char path[512];

	while (entries && (entry = readdir(entries))) {
		(void)snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		if (unlink(path) < 0 && strcmp(entry->d_name, "python") == 0)
			remove_folder(path);
	}
	if (entries)
		(void)closedir(entries);
	(void)rmdir(folder);
}

void house_close(struct house *house)
{
	int fds[] = { house->inspector, house->control, house->slot, house->play.spawner };

	if (house->server) {
		close_fds(fds, 4); /* running programs are lost at once */
		fds[0] = fds[1] = fds[2] = fds[3] = -1;
		(void)house_end(house);
	}
	played_close(&house->worker);
	close_fds(fds, 4);
	buf_done(&house->heard);
	arena_done(&house->arena);
	remove_folder(house->folder);
}

/* ---- clients ------------------------------------------------------------------------------ */

int house_connect(struct house *house)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	auto_fd int client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s", house->socket);
	if (client < 0 || connect(client, (const struct sockaddr *)&address, sizeof(address)) < 0 ||
		fcntl(client, F_SETFL, O_NONBLOCK) < 0)
		return -1;
	return take_fd(&client);
}

bool house_send(int client, uint32_t msgid, const char *method, const char *params)
{
	struct arena arena;
	struct value *value = NULL;
	struct buf buf;
	struct err err = ERR_INIT;
	bool sent;

	arena_init(&arena, (size_t)16 << 20);
	buf_init(&buf, (size_t)16 << 20);
	sent = json_parse(&arena, params, strlen(params), NULL, &value, &err) == 0 &&
	       rpc_write_request(&buf, msgid, method, value, &err) == 0 &&
	       write_all(client, buf.bytes, buf.len, &err) == 0;
	buf_done(&buf);
	arena_done(&arena);
	return sent;
}

static void read_reply(const struct rpc_message *message, struct reply *reply)
{
	const struct value *error = message->error;

	*reply = (struct reply){ message->msgid, NULL, NULL, NULL, message->result };
	if (message->kind == RPC_NOTIFICATION)
		reply->value = message->params;
	if (!error)
		return;
	reply->code = value_as_text(value_get(error, "code"));
	reply->message = value_as_text(value_get(error, "message"));
	reply->data = value_get(error, "data");
	reply->value = NULL;
}

/* Reads byte by byte: the bytes after this message belong to the next call. */
static bool hear_bytes(struct house *house, int client, char **ret_bytes, size_t *ret_len)
{
	int64_t until = clock_ms() + PATIENCE_MS;
	struct frame frame;
	struct err err = ERR_INIT;
	int got = 0;

	frame_init(&frame, (size_t)64 << 20, WIRE_DEPTH_MAX);
	while (got == 0 && clock_ms() < until) {
		size_t size = 0;
		char *room = frame_room(&frame, &size);
		ssize_t len = room ? read(client, room, 1) : -1;

		if (len == 0 || (len < 0 && errno != EAGAIN))
			break;
		if (len < 0) {
			house_turn(house, 0);
			continue;
		}
		frame_filled(&frame, 1);
		got = frame_next(&frame, ret_bytes, ret_len, &err);
	}
	frame_done(&frame);
	return got == 1;
}

bool house_hear(struct house *house, int client, struct reply *ret_reply)
{
	struct rpc_message message;
	struct rpc_fault fault = { 0 };
	struct err err = ERR_INIT;
	char *bytes = NULL;
	char *kept;
	size_t len = 0;

	if (!hear_bytes(house, client, &bytes, &len))
		return false;
	kept = arena_copy(&house->arena, bytes, len);
	free(bytes);
	if (!kept || rpc_read(&house->arena, kept, len, &message, &fault, &err) < 0)
		return false;
	read_reply(&message, ret_reply);
	return true;
}

bool house_call(struct house *house, int client, const char *method, const char *params,
	struct reply *ret_reply)
{
	static uint32_t msgid = 1000;

	return house_send(client, ++msgid, method, params) &&
	       house_hear(house, client, ret_reply) && ret_reply->msgid == msgid;
}

const char *house_text(const struct reply *reply, const char *key)
{
	const char *text = value_as_text(value_get(reply->value, key));

	return text ? text : "";
}

bool house_at_worker(struct house *house)
{
	int64_t until = clock_ms() + PATIENCE_MS;
	char byte;

	while (clock_ms() < until && recv(house->worker.job, &byte, 1, MSG_PEEK) < 0)
		house_turn(house, 0);
	return recv(house->worker.job, &byte, 1, MSG_PEEK) > 0;
}

static bool hear_job(struct house *house)
{
	size_t len = 0;

	(void)house_at_worker(house);
	free(played_job(&house->play, &house->worker, &len));
	return len > 0;
}

/* A pipe holds 64 KiB until its other end is read. */
static bool write_output(struct house *house, const char *output)
{
	size_t len = strlen(output);
	struct err err = ERR_INIT;

	for (size_t done = 0; done < len; done += PIECE_BYTES) {
		size_t piece = len - done < PIECE_BYTES ? len - done : PIECE_BYTES;

		if (write_all(house->worker.out, output + done, piece, &err) < 0)
			return false;
		if (done + piece < len)
			house_turn(house, 0);
	}
	return true;
}

bool house_program(struct house *house, const char *output, int code)
{
	if (!hear_job(house) || !played_sends(&house->worker, JOB_BEGUN, 0, "") ||
		!write_output(house, output) || !played_sends(&house->worker, JOB_DONE, code, ""))
		return false;
	house_turn(house, 0);
	return played_ended(&house->worker, SIGKILL);
}
