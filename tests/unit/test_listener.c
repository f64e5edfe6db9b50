#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/door/listener.h"
#include "tests/check.h"
#include "tests/fault.h"
#include "tests/unit/house.h"

TEST(the_socket_has_the_mode_of_the_settings_and_goes_with_the_daemon)
{
	struct house house;
	struct stat info;

	CHECK(house_open(&house, "socket_mode = \"0600\"\n"));
	CHECK_EQ_INT(stat(house.socket, &info), 0);
	CHECK(S_ISSOCK(info.st_mode));
	CHECK_EQ_INT(info.st_mode & 07777, 0600);
	CHECK_EQ_INT(house_end(&house), 0);
	CHECK(stat(house.socket, &info) < 0);
	house_close(&house);
}

static void refuses(struct house *house, const char *path, const char *why)
{
	struct err err = ERR_INIT;

	CHECK(listener_start(&house->server->services, path, &err) == NULL);
	CHECK(strstr(err.text, why) != NULL);
}

TEST(a_socket_that_somebody_answers_on_is_another_daemon)
{
	struct house house;

	CHECK(house_open(&house, ""));
	refuses(&house, house.socket, "another daemon");
	CHECK_EQ_INT(access(house.socket, F_OK), 0);
	house_close(&house);
}

TEST(what_is_no_socket_is_left_alone)
{
	struct house house;
	char path[96];
	int fd;

	CHECK(house_open(&house, ""));
	(void)snprintf(path, sizeof(path), "%s/file", house.folder);
	fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	close(fd);
	refuses(&house, path, "a file that is no socket is in its place");
	CHECK_EQ_INT(access(path, F_OK), 0);
	house_close(&house);
}

TEST(a_path_that_is_too_long_or_leads_nowhere_is_refused)
{
	struct house house;
	char path[200];

	CHECK(house_open(&house, ""));
	memset(path, 'x', sizeof(path));
	path[0] = '/';
	path[sizeof(path) - 1] = '\0';
	refuses(&house, path, "at most 107 bytes");
	refuses(&house, "/nowhere/at/all", "/nowhere/at/all");
	house_close(&house);
}

TEST(a_socket_that_nobody_listens_on_any_more_is_replaced)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct house house;
	struct listener *listener;
	struct err err = ERR_INIT;
	int sock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	CHECK(house_open(&house, ""));
	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s/old", house.folder);
	CHECK_EQ_INT(bind(sock, (const struct sockaddr *)&address, sizeof(address)), 0);
	close(sock);
	listener = listener_start(&house.server->services, address.sun_path, &err);
	CHECK(listener != NULL);
	listener_close(listener);
	listener_close(NULL);
	house_close(&house);
}

static bool comes_back(struct house *house)
{
	struct stat info;

	for (unsigned tries = 0; tries < 1000; tries++) {
		house_turn(house, 10);
		if (lstat(house->socket, &info) == 0 && S_ISSOCK(info.st_mode))
			return true;
	}
	return false;
}

TEST(a_socket_whose_file_was_deleted_is_made_again_and_who_is_connected_stays)
{
	struct house house;
	struct reply reply;
	struct stat info;
	int before, after;

	CHECK(house_open(&house, "socket_mode = \"0600\"\n"));
	before = house_connect(&house);
	CHECK(house_call(&house, before, "hello", "{}", &reply)); /* the daemon has accepted it */
	CHECK_EQ_INT(unlink(house.socket), 0);
	CHECK(comes_back(&house));
	CHECK_EQ_INT(stat(house.socket, &info), 0);
	CHECK_EQ_INT(info.st_mode & 07777, 0600);
	after = house_connect(&house);
	CHECK(house_call(&house, after, "hello", "{}", &reply));
	CHECK_STR(house_text(&reply, "server"), "ced");
	CHECK(house_call(&house, before, "admin.status", "{}", &reply));
	CHECK_EQ_INT(value_as_int(value_get(value_get(reply.value, "socket"), "remade"), 0), 1);
	CHECK(value_is(value_get(value_get(reply.value, "socket"), "trouble"), VALUE_NIL));
	close(before);
	close(after);
	house_close(&house);
}

TEST(what_took_the_socket_s_place_is_left_alone_until_it_is_gone)
{
	struct house house;
	struct reply reply;
	int client, file;

	CHECK(house_open(&house, ""));
	client = house_connect(&house);
	CHECK_EQ_INT(unlink(house.socket), 0);
	file = open(house.socket, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	close(file);
	for (unsigned tries = 0; tries < 1000; tries++) {
		CHECK(house_call(&house, client, "admin.status", "{}", &reply));
		if (value_is(value_get(value_get(reply.value, "socket"), "trouble"), VALUE_TEXT))
			break;
		house_turn(&house, 10);
	}
	CHECK(strstr(value_as_text(value_get(value_get(reply.value, "socket"), "trouble")),
		"a file that is no socket is in its place"));
	CHECK_EQ_INT(unlink(house.socket), 0);
	CHECK(comes_back(&house));
	close(client);
	house_close(&house);
}

TEST(a_daemon_that_ends_leaves_the_socket_of_another_in_its_place)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct house house;
	int other = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	CHECK(house_open(&house, ""));
	CHECK_EQ_INT(unlink(house.socket), 0);
	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s", house.socket);
	CHECK_EQ_INT(bind(other, (const struct sockaddr *)&address, sizeof(address)), 0);
	CHECK_EQ_INT(listen(other, 1), 0);
	CHECK_EQ_INT(house_end(&house), 0);
	CHECK_EQ_INT(access(house.socket, F_OK), 0);
	close(other);
	(void)unlink(house.socket);
	house_close(&house);
}

#define CROWD 200

TEST(a_crowd_that_wants_in_does_not_keep_the_loop)
{
	struct house house;
	struct reply reply;
	int crowd[CROWD];
	unsigned before;

	CHECK(house_open(&house, ""));
	house_turn(&house, 5);
	before = house.server->ceilings.conns;
	for (unsigned i = 0; i < CROWD; i++)
		crowd[i] = house_connect(&house);
	(void)uv_run(&house.server->loop, UV_RUN_NOWAIT);
	(void)uv_run(&house.server->loop, UV_RUN_NOWAIT);
	CHECK(house.server->ceilings.conns > before);
	CHECK(house.server->ceilings.conns < before + CROWD);
	for (unsigned i = 0; i < CROWD; i++) {
		CHECK(house_call(&house, crowd[i], "hello", "{}", &reply));
		close(crowd[i]);
	}
	house_close(&house);
}

TEST(a_client_for_whom_there_was_no_memory_is_let_in_later_and_so_is_who_comes_after)
{
	struct house house;
	struct reply reply;
	int first, second;

	CHECK(house_open(&house, ""));
	house_turn(&house, 5);
	first = house_connect(&house);
	fault_arm(FAULT_ALLOC, 1);
	while (!fault_hit())
		(void)uv_run(&house.server->loop, UV_RUN_NOWAIT);
	second = house_connect(&house);
	CHECK(house_call(&house, first, "hello", "{}", &reply));
	CHECK_STR(house_text(&reply, "server"), "ced");
	CHECK(house_call(&house, second, "hello", "{}", &reply));
	close(first);
	close(second);
	house_close(&house);
}
