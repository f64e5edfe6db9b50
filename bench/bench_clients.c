/*
 * What the C client adds to a run over a raw socket: bench_clients [ROUNDS].  Both take turns, each on
 * a connection of its own, to the daemon at CED_SOCKET.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "clients/c/ced.h"
#include "proto/wire/wire.h"

#define WARM_UP 50
#define CODE    "print(1)"

/* [0, 1, "run", [{"language": "python", "code": "print(1)"}]] */
#define REQUEST                                                 \
	"\x94\x00\x01\xa3run\x91\x82\xa8language\xa6python\xa4" \
	"code\xa8" CODE

static void die(const char *why)
{
	(void)fprintf(stderr, "bench_clients: %s\n", why);
	exit(1);
}

static int raw_connect(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (ced_socket_path(NULL, address.sun_path, sizeof(address.sun_path)) < 0 || fd < 0 ||
		connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
		die("no daemon");
	return fd;
}

static void raw_run(int fd)
{
	static char bytes[1 << 16];
	struct wire_scanner scanner;
	size_t got = 0;
	size_t whole = 0;

	if (write(fd, REQUEST, sizeof(REQUEST) - 1) != sizeof(REQUEST) - 1)
		die("the daemon does not read");
	wire_scanner_init(&scanner, sizeof(bytes), WIRE_DEPTH_MAX);
	do {
		ssize_t more = recv(fd, bytes + got, sizeof(bytes) - got, 0);

		if (more <= 0)
			die("the daemon has gone");
		got += (size_t)more;
	} while (wire_scan(&scanner, bytes, got, &whole, NULL) == 0);
}

static void client_run(struct ced_client *client)
{
	const struct ced_job job = { .code = CODE };
	struct ced_answer answer = { 0 };
	struct ced_error error;

	if (ced_run(client, &job, NULL, &answer, &error) < 0)
		die(error.message);
	if (!ced_is(ced_get(answer.result, "stdout"), "1\n"))
		die("the program failed");
	ced_answer_done(&answer);
}

static double now_us(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static int by_time(const void *a, const void *b)
{
	double left = *(const double *)a;
	double right = *(const double *)b;

	return (left > right) - (left < right);
}

static void show(const char *name, double *times, size_t rounds, double raw)
{
	qsort(times, rounds, sizeof(*times), by_time);
	(void)printf("%-12s p50 %6.0f us   p90 %6.0f us   p50 over raw %+6.0f us\n", name,
		times[rounds / 2], times[rounds * 9 / 10], times[rounds / 2] - raw);
}

int main(int argc, char **argv)
{
	long given = argc > 1 ? strtol(argv[1], NULL, 10) : 500;
	size_t rounds = given > 0 && given < 1000000 ? (size_t)given : 500;
	double *raw = calloc(rounds + WARM_UP, sizeof(*raw));
	double *ours = calloc(rounds + WARM_UP, sizeof(*ours));
	struct ced_error error;
	struct ced_client *client = ced_connect(NULL, 15000, &error);
	int fd = raw_connect();

	if (!client || !raw || !ours)
		die(client ? "no memory" : error.message);
	for (size_t i = 0; i < rounds + WARM_UP; i++) {
		double began = now_us();
		double between;

		raw_run(fd);
		between = now_us();
		client_run(client);
		raw[i] = between - began;
		ours[i] = now_us() - between;
	}
	qsort(raw + WARM_UP, rounds, sizeof(*raw), by_time);
	show("raw", raw + WARM_UP, rounds, raw[WARM_UP + rounds / 2]);
	show("ced_run", ours + WARM_UP, rounds, raw[WARM_UP + rounds / 2]);
	ced_close(client);
	close(fd);
	free(raw);
	free(ours);
	return 0;
}
