/*
 * Each language beside its own interpreter, unjailed: the same line that prints 1, some runs of one
 * and then some of the other, by one client.
 *
 *	bench_languages SOCKET [ROUNDS]
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench/ways.h"
#include "proto/base/clock.h"
#include "proto/base/container.h"

#define ROUNDS   300
#define IN_A_ROW 20
#define WARM_UP  20

static const struct language {
	const char *name, *way, *code;
	const char *argv[4];
	double most;       /* ced's median, in medians of the other */
	unsigned pause_us; /* before each run: the next worker is made, the last one cleared away */
} languages[] = {
	{ "python", "python3 -c", PROGRAM, { "/usr/bin/python3", "-c", PROGRAM }, 1 / 20.0, 5000 },
	{ "javascript", "node -e", "console.log(1)", { "node", "-e", "console.log(1)" }, 1 / 20.0,
		100000 },
	{ "bash", "bash -c", "echo 1", { "/bin/bash", "-c", "echo 1" }, 3, 5000 },
};

struct samples {
	double *of_other, *of_ced; /* microseconds */
};

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;

	return (x > y) - (x < y);
}

/* `client` is NULL for the interpreter without a jail. */
static int measure(const struct language *language, struct client *client, double *ret_us)
{
	int64_t began_us;
	int r;

	(void)usleep(language->pause_us);
	began_us = clock_us();
	r = client ? client_run_well(client) : process_run(language->argv);
	*ret_us = (double)(clock_us() - began_us);
	if (r < 0)
		fprintf(stderr, "bench_languages: %s failed\n", client ? "ced" : language->way);
	return r;
}

/* A block of runs; those below 0 warm up and are not kept. */
static int measure_block(const struct language *language, struct client *client, double *samples,
	int from, int rounds)
{
	for (int i = from; i < from + IN_A_ROW && i < rounds; i++) {
		double us = 0;

		if (measure(language, client, &us) < 0)
			return -1;
		if (i >= 0)
			samples[i] = us;
	}
	return 0;
}

static int compare(const struct language *language, struct client *client, int rounds,
	const struct samples *samples)
{
	for (int i = -WARM_UP; i < rounds; i += IN_A_ROW)
		if (measure_block(language, NULL, samples->of_other, i, rounds) < 0 ||
			measure_block(language, client, samples->of_ced, i, rounds) < 0)
			return -1;
	qsort(samples->of_other, (size_t)rounds, sizeof(double), by_size);
	qsort(samples->of_ced, (size_t)rounds, sizeof(double), by_size);
	return 0;
}

static void print_ratio(double ratio)
{
	if (ratio < 1)
		printf("      1/%-5.1f", 1 / ratio);
	else
		printf("%8.1f     ", ratio);
}

static void print_line(const struct language *language, int rounds, const struct samples *samples)
{
	double other = samples->of_other[rounds / 2];
	double ced = samples->of_ced[rounds / 2];
	size_t high = (size_t)(rounds - 1) * 99 / 100;

	printf("%-12s %-12s %9.2f %9.2f %9.2f %9.2f ", language->name, language->way, other / 1000,
		samples->of_other[high] / 1000, ced / 1000, samples->of_ced[high] / 1000);
	print_ratio(language->most);
	print_ratio(ced / other);
	printf("\n");
}

static int compare_one(const struct language *language, const char *socket_path, int rounds)
{
	struct samples samples = { calloc((size_t)rounds, sizeof(double)),
		calloc((size_t)rounds, sizeof(double)) };
	struct client client = { .sock = -1 };
	int r = -1;

	if (!samples.of_other || !samples.of_ced)
		return -1;
	if (client_open(&client, socket_path, language->name, language->code) < 0)
		fprintf(stderr, "bench_languages: no daemon listens at %s\n", socket_path);
	else
		r = compare(language, &client, rounds, &samples);
	client_close(&client);
	if (r == 0)
		print_line(language, rounds, &samples);
	free(samples.of_other);
	free(samples.of_ced);
	return r;
}

int main(int argc, char **argv)
{
	int rounds = argc > 2 ? (int)strtol(argv[2], NULL, 10) : ROUNDS;

	if (argc < 2 || rounds < 1) {
		fprintf(stderr, "usage: bench_languages SOCKET [ROUNDS]\n");
		return EXIT_FAILURE;
	}
	printf("%-12s %-12s %9s %9s %9s %9s  %8s     %8s\n", "language", "without jail", "p50 ms",
		"p99 ms", "ced p50", "ced p99", "at most", "measured");
	for (size_t i = 0; i < COUNT_OF(languages); i++)
		if (compare_one(&languages[i], argv[1], rounds) < 0)
			return EXIT_FAILURE;
	return EXIT_SUCCESS;
}
