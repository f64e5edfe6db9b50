/*
 * What it is worth that one commit takes many records: the daemon's own recorder, with as many runs
 * in flight as `clients`, each of which is begun and ended and then is the next run.  Half a second
 * with one record for each commit, half a second with as many as wait, in turn, on stores of their
 * own.
 *
 *   bench_commit [rounds [folder [clients]]]     the folder decides which disk is measured
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/record/recorder.h"
#include "proto/base/clock.h"
#include "proto/base/container.h"
#include "tests/unit/store_sample.h"

#define CLIENTS_MAX 256
#define TURN_MS     500

struct client {
	struct recording begun, ended;
	struct sample sample;
	struct side *side;
};

/* One way to commit. */
struct side {
	const char *name;
	unsigned most;
	struct shop shop;
	uv_loop_t loop;
	struct recorder *recorder;
	struct client clients[CLIENTS_MAX];
	unsigned in_flight;
	bool stopping;
	uint64_t runs;
	double *rates; /* runs a second, of each round */
};

static struct side sides[] = {
	{ .name = "a commit for each record", .most = 1 },
	{ .name = "one for all that wait", .most = RECORDER_MOST },
};

static void die(const char *what, const struct err *err)
{
	(void)fprintf(stderr, "bench_commit: %s: %s\n", what, err ? err->text : "failed");
	exit(1);
}

static void put_next(struct client *client)
{
	sample_next(&client->sample);
	client->begun.run = sample_begun(&client->sample);
	recorder_put(client->side->recorder, &client->begun);
	client->ended.run = sample_ended(&client->sample);
	recorder_put(client->side->recorder, &client->ended);
	client->side->in_flight++;
}

static void on_begun(struct recording *recording, const struct err *err)
{
	(void)recording;
	if (err)
		die("begun", err);
}

static void on_ended(struct recording *recording, const struct err *err)
{
	struct client *client = container_of(recording, struct client, ended);

	if (err)
		die("ended", err);
	client->side->in_flight--;
	client->side->runs++;
	if (!client->side->stopping)
		put_next(client);
}

static void side_open(struct side *side, unsigned clients, int rounds)
{
	shop_init(&side->shop);
	if (!side->shop.store)
		die("open", &side->shop.err);
	(void)uv_loop_init(&side->loop);
	side->recorder = recorder_start(&side->loop, side->shop.store, side->most, &side->shop.err);
	if (!side->recorder)
		die("start", &side->shop.err);
	side->shop.store = NULL; /* it is the recorder's */
	side->rates = calloc((size_t)rounds, sizeof(double));
	for (unsigned i = 0; i < clients; i++) {
		struct client *client = &side->clients[i];

		client->side = side;
		client->begun = (struct recording){
			.kind = RECORDING_BEGUN, .durability = STORE_SOON, .done = on_begun
		};
		client->ended = (struct recording){
			.kind = RECORDING_ENDED, .durability = STORE_NOW, .done = on_ended
		};
		sample_init(&client->sample);
	}
}

/* Until everybody has been told; what comes in the last moment counts with its time. */
static double take_turn(struct side *side, unsigned clients)
{
	int64_t start = clock_us();

	side->runs = 0;
	side->stopping = false;
	for (unsigned i = 0; i < clients; i++)
		put_next(&side->clients[i]);
	while (side->in_flight > 0) {
		(void)uv_run(&side->loop, UV_RUN_ONCE);
		side->stopping = clock_us() - start > (int64_t)TURN_MS * 1000;
	}
	return (double)side->runs * 1e6 / (double)(clock_us() - start);
}

static void side_close(struct side *side, unsigned clients)
{
	recorder_close(side->recorder);
	(void)uv_run(&side->loop, UV_RUN_DEFAULT);
	(void)uv_loop_close(&side->loop);
	for (unsigned i = 0; i < clients; i++)
		sample_done(&side->clients[i].sample);
	shop_done(&side->shop);
	free(side->rates);
}

static int by_size(const void *a, const void *b)
{
	double left = *(const double *)a;
	double right = *(const double *)b;

	return left < right ? -1 : left > right;
}

static double middle(struct side *side, int rounds)
{
	qsort(side->rates, (size_t)rounds, sizeof(double), by_size);
	return side->rates[rounds / 2];
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 9;
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned clients = argc > 3 ? (unsigned)atoi(argv[3]) : 4 * (unsigned)processors;
	double single;
	double group;

	if (rounds < 1 || clients < 1 || clients > CLIENTS_MAX)
		die("usage: bench_commit [rounds [folder [clients]]]", NULL);
	if (argc > 2)
		(void)setenv("TMPDIR", argv[2], 1);
	for (size_t i = 0; i < COUNT_OF(sides); i++)
		side_open(&sides[i], clients, rounds);
	for (int round = 0; round < rounds; round++)
		for (size_t i = 0; i < COUNT_OF(sides); i++)
			sides[i].rates[round] = take_turn(&sides[i], clients);
	single = middle(&sides[0], rounds);
	group = middle(&sides[1], rounds);
	(void)printf("%u runs in flight, middle of %d rounds\n", clients, rounds);
	(void)printf("%-26s %8.0f runs/s\n", sides[0].name, single);
	(void)printf("%-26s %8.0f runs/s, %.1f times\n", sides[1].name, group, group / single);
	for (size_t i = 0; i < COUNT_OF(sides); i++)
		side_close(&sides[i], clients);
	return 0;
}
