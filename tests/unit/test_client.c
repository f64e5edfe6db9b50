#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "cli/base/client.h"
#include "proto/base/buf.h"
#include "proto/base/fdio.h"
#include "proto/wire/rpc.h"
#include "tests/check.h"

/*
 * A minimal daemon: it accepts one connection, reads one piece of a request, writes its prepared
 * bytes in pieces, and closes the connection.
 */
struct fake {
	char folder[64];
	char path[80];
	int listener;
	pthread_t thread;
	struct buf answer;
	size_t piece; /* 0: all at once */
	bool silent;  /* does not answer before the client closes */
	bool greeted; /* the client sends `hello` in front of its question */
	size_t got;   /* bytes of the first piece of the request */
};

static void *serve(void *context)
{
	struct fake *fake = context;
	auto_fd int conn = accept(fake->listener, NULL, NULL);
	char request[4096];
	size_t piece = fake->piece ? fake->piece : fake->answer.len;

	ssize_t got = conn < 0 ? -1 : recv(conn, request, sizeof(request), 0);

	if (got <= 0)
		return NULL;
	fake->got = (size_t)got;
	for (size_t at = 0; at < fake->answer.len; at += piece) {
		size_t left = fake->answer.len - at;

		(void)write_all(conn, fake->answer.bytes + at, left < piece ? left : piece, NULL);
		if (fake->piece)
			(void)usleep(500);
	}
	if (fake->silent)
		(void)recv(conn, request, sizeof(request), 0);
	return NULL;
}

static void fake_init(struct fake *fake)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	memset(fake, 0, sizeof(*fake));
	buf_init(&fake->answer, 1 << 20);
	strcpy(fake->folder, "/tmp/ced-client-XXXXXX");
	if (!mkdtemp(fake->folder))
		abort();
	cut_printf(fake->path, sizeof(fake->path), "%s/ced.sock", fake->folder);
	strcpy(address.sun_path, fake->path);
	fake->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (bind(fake->listener, (const struct sockaddr *)&address, sizeof(address)) < 0 ||
		listen(fake->listener, 1) < 0)
		abort();
}

static void fake_done(struct fake *fake)
{
	(void)pthread_join(fake->thread, NULL);
	close(fake->listener);
	(void)unlink(fake->path);
	(void)rmdir(fake->folder);
	buf_done(&fake->answer);
}

/* The result of one call. */
struct asked {
	struct arena arena;
	struct err err;
	const struct value *result;
	int status;
	bool welcome;
};

static void ask(struct fake *fake, const struct client_watch *watch, struct asked *asked)
{
	const struct client_question question = { "hello", value_map(&asked->arena), watch };
	auto_of(client_close) struct client *client = NULL;

	if (pthread_create(&fake->thread, NULL, serve, fake) != 0)
		abort();
	client = client_open(fake->path, &asked->err);
	if (client && fake->greeted)
		client_greet(client, 300);
	asked->status =
		client ? client_call(client, &question, &asked->arena, &asked->result, &asked->err)
		       : -2;
	asked->welcome = client && client_is_welcome(client);
}

static void asked_init(struct asked *asked)
{
	memset(asked, 0, sizeof(*asked));
	arena_init(&asked->arena, 1 << 20);
}

TEST(an_answer_in_pieces_comes_home_whole)
{
	struct asked asked;
	struct fake fake;

	fake_init(&fake);
	asked_init(&asked);
	CHECK_EQ_INT(
		rpc_write_result(&fake.answer, 0, value_text(&asked.arena, "good day"), NULL), 0);
	fake.piece = 1;
	ask(&fake, NULL, &asked);
	CHECK_EQ_INT(asked.status, 0);
	CHECK_STR(value_as_text(asked.result), "good day");
	fake_done(&fake);
	arena_done(&asked.arena);
}

TEST(an_error_reply_is_told_apart_from_a_result)
{
	const struct rpc_error error = { .code = RPC_CODE_NOT_FOUND, .message = "no such run" };
	struct asked asked;
	struct fake fake;

	fake_init(&fake);
	asked_init(&asked);
	CHECK_EQ_INT(rpc_write_error(&fake.answer, 0, &error, NULL), 0);
	ask(&fake, NULL, &asked);
	CHECK_EQ_INT(asked.status, 1);
	CHECK_STR(value_as_text(value_get(asked.result, "code")), "not_found");
	fake_done(&fake);
	arena_done(&asked.arena);
}

static int count_notices(
	void *context, const char *method, const struct value *params, struct err *err)
{
	int *count = context;

	(void)err;
	if (strcmp(method, "run.output") == 0 &&
		value_as_int(value_get(params, "offset"), -1) == *count)
		*count += 1;
	return 0;
}

TEST(notifications_go_to_the_watch_in_order_and_answers_to_others_are_let_go)
{
	int count = 0;
	const struct client_watch watch = { .context = &count, .on_notice = count_notices };
	struct asked asked;
	struct fake fake;

	fake_init(&fake);
	asked_init(&asked);
	for (int64_t i = 0; i < 3; i++) {
		struct value *params = value_map(&asked.arena);

		CHECK_EQ_INT(
			value_map_put(&asked.arena, params, "offset", value_int(&asked.arena, i)),
			0);
		CHECK_EQ_INT(rpc_write_notification(&fake.answer, "run.output", params, NULL), 0);
	}
	CHECK_EQ_INT(rpc_write_result(&fake.answer, 7, value_nil(&asked.arena), NULL), 0);
	CHECK_EQ_INT(rpc_write_result(&fake.answer, 0, value_bool(&asked.arena, true), NULL), 0);
	ask(&fake, &watch, &asked);
	CHECK_EQ_INT(asked.status, 0);
	CHECK(value_as_bool(asked.result, false));
	CHECK_EQ_INT(count, 3);
	fake_done(&fake);
	arena_done(&asked.arena);
}

TEST(a_daemon_that_hangs_up_before_it_answers_is_an_error)
{
	struct asked asked;
	struct fake fake;

	fake_init(&fake);
	asked_init(&asked);
	CHECK_EQ_INT(rpc_write_result(&fake.answer, 0, value_text(&asked.arena, "half"), NULL), 0);
	fake.answer.len -= 2;
	ask(&fake, NULL, &asked);
	CHECK_EQ_INT(asked.status, -1);
	CHECK_EQ_INT(asked.err.code, ERR_CLOSED);
	fake_done(&fake);
	arena_done(&asked.arena);
}

TEST(garbage_ends_the_conversation)
{
	struct asked asked;
	struct fake fake;

	fake_init(&fake);
	asked_init(&asked);
	CHECK_EQ_INT(buf_append(&fake.answer, "\xc1\xc1\xc1\xc1", 4), 0);
	ask(&fake, NULL, &asked);
	CHECK_EQ_INT(asked.status, -1);
	fake_done(&fake);
	arena_done(&asked.arena);
}

/* The fake reads once: it answers both only when both are sent before an answer. */
TEST(the_first_question_is_sent_together_with_hello)
{
	struct asked asked;
	struct fake fake;

	fake_init(&fake);
	asked_init(&asked);
	CHECK_EQ_INT(rpc_write_result(&fake.answer, 0, value_text(&asked.arena, "hello"), NULL), 0);
	CHECK_EQ_INT(
		rpc_write_result(&fake.answer, 1, value_text(&asked.arena, "answer"), NULL), 0);
	fake.greeted = true;
	ask(&fake, NULL, &asked);
	CHECK_EQ_INT(asked.status, 0);
	CHECK_STR(value_as_text(asked.result), "answer");
	CHECK(asked.welcome);
	fake_done(&fake);
	CHECK(fake.got > 2 * strlen("hello"));
	arena_done(&asked.arena);
}

TEST(a_refused_hello_is_a_refused_connection)
{
	const struct rpc_error error = { .code = RPC_CODE_BUSY, .message = "too many" };
	struct asked asked;
	struct fake fake;

	fake_init(&fake);
	asked_init(&asked);
	CHECK_EQ_INT(rpc_write_error(&fake.answer, 0, &error, NULL), 0);
	fake.greeted = true;
	ask(&fake, NULL, &asked);
	CHECK_EQ_INT(asked.status, -1);
	CHECK_EQ_INT(asked.err.code, ERR_BUSY);
	CHECK_STR(asked.err.text, "too many");
	CHECK(!asked.welcome);
	fake_done(&fake);
	arena_done(&asked.arena);
}

TEST(another_error_to_hello_is_an_answer_like_that_to_the_question)
{
	const struct rpc_error error = { .code = RPC_CODE_FORBIDDEN, .message = "no role" };
	struct asked asked;
	struct fake fake;

	fake_init(&fake);
	asked_init(&asked);
	CHECK_EQ_INT(rpc_write_error(&fake.answer, 0, &error, NULL), 0);
	CHECK_EQ_INT(rpc_write_error(&fake.answer, 1, &error, NULL), 0);
	fake.greeted = true;
	ask(&fake, NULL, &asked);
	CHECK_EQ_INT(asked.status, 1);
	CHECK_STR(value_as_text(value_get(asked.result, "code")), "forbidden");
	CHECK(asked.welcome);
	fake_done(&fake);
	arena_done(&asked.arena);
}

TEST(an_unanswered_hello_ends_the_call_after_its_own_time)
{
	struct asked asked;
	struct fake fake;

	fake_init(&fake);
	asked_init(&asked);
	fake.silent = true;
	fake.greeted = true;
	ask(&fake, NULL, &asked);
	CHECK_EQ_INT(asked.status, -1);
	CHECK_EQ_INT(asked.err.code, ERR_TIMEOUT);
	CHECK(strstr(asked.err.text, "hangs or is stopped"));
	CHECK(!asked.welcome);
	fake_done(&fake);
	arena_done(&asked.arena);
}

static void count_idle(void *context, int64_t waited_ms)
{
	int *count = context;

	*count += waited_ms >= 0;
}

TEST(a_silent_daemon_is_given_up_after_the_timeout)
{
	int idle = 0;
	const struct client_watch watch = {
		.context = &idle,
		.timeout_ms = 300,
		.on_idle = count_idle,
	};
	struct asked asked;
	struct fake fake;

	fake_init(&fake);
	asked_init(&asked);
	fake.silent = true;
	ask(&fake, &watch, &asked);
	CHECK_EQ_INT(asked.status, -1);
	CHECK_EQ_INT(asked.err.code, ERR_TIMEOUT);
	CHECK(idle > 0);
	fake_done(&fake);
	arena_done(&asked.arena);
}

TEST(where_nobody_listens_the_path_is_named)
{
	struct err err = ERR_INIT;

	CHECK(client_open("/tmp/ced-nobody-listens-here", &err) == NULL);
	CHECK_EQ_INT(err.code, ERR_CLOSED);
	CHECK(strstr(err.text, "/tmp/ced-nobody-listens-here"));
}

TEST(the_socket_is_what_was_asked_for_then_ced_socket_then_the_users_own_then_the_hosts)
{
	struct arena arena;
	char folder[] = "/tmp/ced-runtime-XXXXXX";
	char path[80];

	arena_init(&arena, 1 << 16);
	CHECK(mkdtemp(folder) != NULL);
	(void)setenv("CED_SOCKET", "/from/env", 1);
	(void)setenv("XDG_RUNTIME_DIR", folder, 1);
	CHECK_STR(client_socket_path("/asked", &arena), "/asked");
	CHECK_STR(client_socket_path(NULL, &arena), "/from/env");
	(void)unsetenv("CED_SOCKET");
	CHECK_STR(client_socket_path(NULL, &arena), "/run/ced/ced.sock");
	cut_printf(path, sizeof(path), "%s/ced", folder);
	CHECK_EQ_INT(mkdir(path, 0700), 0);
	cut_printf(path, sizeof(path), "%s/ced/ced.sock", folder);
	CHECK_EQ_INT(mkdir(path, 0700), 0);
	CHECK_STR(client_socket_path(NULL, &arena), path);
	(void)rmdir(path);
	cut_printf(path, sizeof(path), "%s/ced", folder);
	(void)rmdir(path);
	(void)rmdir(folder);
	(void)unsetenv("XDG_RUNTIME_DIR");
	arena_done(&arena);
}
