/*
 * Side by side, in one run and in turn: what it takes to have `print(1)` run by an unjailed
 * interpreter, by one in bubblewrap, and by ced through its socket with every layer on and the
 * record on the disk before the answer.
 *
 *	bench_run --socket PATH --spawner PID [--rounds N] [--seconds S] [--json FILE]
 *
 * The machines this runs on are shared: absolute times say little, the ratios in one run do.
 */
#include <getopt.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "bench/tree.h"
#include "bench/ways.h"
#include "proto/base/clock.h"
#include "proto/base/container.h"

#define SLICES      5
#define WARM_UP     20
#define CLIENTS_MAX 256
#define PAUSE_US    5000 /* before each run: what the one before left is cleared away */

/*
 * How the ways follow each other: each several times in a row, as an agent asks, or strictly in turn,
 * where each finds the caches full of what the others left.
 */
enum order {
	ORDER_BLOCKS,
	ORDER_TURNS,
	ORDER_COUNT,
};

static const int in_a_row[ORDER_COUNT] = { [ORDER_BLOCKS] = 20, [ORDER_TURNS] = 1 };

struct result {
	double *samples[ORDER_COUNT]; /* microseconds, of one run after the other */
	double runs_per_s[2];         /* with one client, with many */
	double cpu_ms;                /* per run, with many clients */
};

static struct result results[WAY_COUNT];

#define WHOLE "" /* not among ced's metrics */

/* What ced says itself of where the time of a lone run goes. */
static struct phase {
	const char *name, *what;
	double *samples;
} phases[] = {
	{ "policy_us", "the verdict (remembered)", NULL },
	{ "queue_us", "waiting for a worker", NULL },
	{ "start_us", "to the worker and into the program", NULL },
	{ "exec_us", "the program, to its last word", NULL },
	{ "collect_us", "pipes drained, counters read", NULL },
	{ "record_us", "the record, on the disk", NULL },
	{ "total_us", "from the request to the record", NULL },
	{ WHOLE, "the whole, as the client sees it", NULL },
};

static struct {
	const char *socket, *json;
	pid_t spawner;
	int rounds, clients;
	double slice_s;
} plan = { .rounds = 300, .slice_s = 1 };

static double workers_kib;

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;

	return (x > y) - (x < y);
}

static double part_of(const double *samples, double part)
{
	return samples[(size_t)((double)(plan.rounds - 1) * part + 0.5)];
}

static double percentile(enum way way, double part)
{
	return part_of(results[way].samples[ORDER_BLOCKS], part);
}

static double p50_in_turn(enum way way)
{
	return part_of(results[way].samples[ORDER_TURNS], 0.5);
}

/* ---- one after the other --------------------------------------------------------------------- */

static int measure_one(enum way way, struct client *client, double *ret_us)
{
	int64_t began_us;

	(void)usleep(PAUSE_US);
	began_us = clock_us();
	if (way_run(way, client) < 0) {
		fprintf(stderr, "bench_run: %s failed\n", way_name(way));
		return -1;
	}
	*ret_us = (double)(clock_us() - began_us);
	return 0;
}

/* Rounds below 0 warm up and are not kept. */
static int measure_some(enum order order, int round, enum way way, struct client *client)
{
	for (int i = round; i < round + in_a_row[order] && i < plan.rounds; i++) {
		double us = 0;

		if (measure_one(way, client, &us) < 0)
			return -1;
		if (i >= 0)
			results[way].samples[order][i] = us;
	}
	return 0;
}

static int measure_latency(enum order order, struct client *client)
{
	for (int round = -WARM_UP; round < plan.rounds; round += in_a_row[order])
		for (enum way way = 0; way < WAY_COUNT; way++)
			if (measure_some(order, round, way, client) < 0)
				return -1;
	for (enum way way = 0; way < WAY_COUNT; way++)
		qsort(results[way].samples[order], (size_t)plan.rounds, sizeof(double), by_size);
	return 0;
}

static int measure_phases(struct client *client)
{
	for (int round = 0; round < plan.rounds; round++) {
		struct arena arena;
		const struct value *metrics;
		int64_t began_us;
		int64_t whole_us;

		(void)usleep(PAUSE_US);
		arena_init(&arena, 65536);
		began_us = clock_us();
		metrics = value_get(client_run(client, &arena), "metrics");
		whole_us = clock_us() - began_us;
		for (size_t i = 0; i < COUNT_OF(phases); i++)
			phases[i].samples[round] =
				(double)value_as_int(value_get(metrics, phases[i].name), whole_us);
		arena_done(&arena);
		if (!metrics)
			return -1;
	}
	for (size_t i = 0; i < COUNT_OF(phases); i++)
		qsort(phases[i].samples, (size_t)plan.rounds, sizeof(double), by_size);
	return 0;
}

/* ---- many at once ---------------------------------------------------------------------------- */

struct crowd {
	enum way way;
	int64_t until_us;
	atomic_long runs;
	atomic_long failures;
};

static void *one_of_crowd(void *context)
{
	struct crowd *crowd = context;
	struct client client = { .sock = -1 };
	bool through_socket = crowd->way == WAY_CED;

	if (through_socket && client_open(&client, plan.socket, "python", PROGRAM) < 0) {
		atomic_fetch_add(&crowd->failures, 1);
		return NULL;
	}
	while (clock_us() < crowd->until_us)
		atomic_fetch_add(
			way_run(crowd->way, &client) == 0 ? &crowd->runs : &crowd->failures, 1);
	if (through_socket)
		client_close(&client);
	return NULL;
}

/* Adds up runs and cpu. */
static int crowd_run(enum way way, int clients, double *runs, double *cpu_s)
{
	pthread_t threads[CLIENTS_MAX];
	struct crowd crowd = { .way = way, .until_us = clock_us() + (int64_t)(plan.slice_s * 1e6) };
	pid_t root = way == WAY_CED ? plan.spawner : getpid();
	double before_s = tree_cpu_s(root);
	int started = 0;

	for (; started < clients; started++)
		if (pthread_create(&threads[started], NULL, one_of_crowd, &crowd) != 0)
			break;
	for (int i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
	tree_reap();
	*runs += (double)atomic_load(&crowd.runs);
	*cpu_s += tree_cpu_s(root) - before_s;
	if (!atomic_load(&crowd.failures) && started == clients)
		return 0;
	fprintf(stderr, "bench_run: %s: %ld runs failed\n", way_name(way),
		atomic_load(&crowd.failures));
	return -1;
}

/* `which` is 0 for one client, 1 for many. */
static int measure_throughput(int which, int clients)
{
	double runs[WAY_COUNT] = { 0 };
	double cpu_s[WAY_COUNT] = { 0 };

	for (int slice = 0; slice < SLICES; slice++)
		for (enum way way = 0; way < WAY_COUNT; way++)
			if (crowd_run(way, clients, &runs[way], &cpu_s[way]) < 0)
				return -1;
	for (enum way way = 0; way < WAY_COUNT; way++) {
		results[way].runs_per_s[which] = runs[way] / (SLICES * plan.slice_s);
		results[way].cpu_ms = runs[way] > 0 ? cpu_s[way] * 1000 / runs[way] : 0;
	}
	return 0;
}

/* ---- telling --------------------------------------------------------------------------------- */

static void print_table(void)
{
	printf("%-22s %8s %8s %8s %9s %8s | %8s %8s | %7s\n", "print(1), whole", "p50 ms", "p90 ms",
		"p99 ms", "p50 is", "in turn", "runs/s 1", "many", "cpu ms");
	for (enum way way = 0; way < WAY_COUNT; way++)
		printf("%-22s %8.2f %8.2f %8.2f    1/%-5.1f  1/%-5.1f | %8.0f %8.0f | %7.2f\n",
			way_name(way), percentile(way, 0.5) / 1000, percentile(way, 0.9) / 1000,
			percentile(way, 0.99) / 1000,
			percentile(WAY_PYTHON, 0.5) / percentile(way, 0.5),
			p50_in_turn(WAY_PYTHON) / p50_in_turn(way), results[way].runs_per_s[0],
			results[way].runs_per_s[1], results[way].cpu_ms);
	printf("p50, p90, p99: %d runs of each way in a row; in turn: p50 of one of each way\n"
	       "many: %d clients on %d processors; cpu: per run with many clients, whole tree\n"
	       "memory of a warm worker, pages that are only its own: %.0f KiB\n",
		in_a_row[ORDER_BLOCKS], plan.clients, get_nprocs(), workers_kib);
}

static void print_phases(void)
{
	printf("\nwhere ced's time goes, as it says itself   p50 us   p90 us\n");
	for (size_t i = 0; i < COUNT_OF(phases); i++)
		printf("%-41s %7.0f  %7.0f\n", phases[i].what, part_of(phases[i].samples, 0.5),
			part_of(phases[i].samples, 0.9));
}

static double p50_ratio(void)
{
	return percentile(WAY_PYTHON, 0.5) / percentile(WAY_CED, 0.5);
}

static double p99_ratio(void)
{
	return percentile(WAY_PYTHON, 0.99) / percentile(WAY_CED, 0.99);
}

static double many_ratio(void)
{
	return results[WAY_CED].runs_per_s[1] / results[WAY_BUBBLEWRAP].runs_per_s[1];
}

static const struct {
	const char *name, *what;
	double wanted;
	double (*measured)(void);
} promises[] = {
	{ "p50", "p50: python3 -c takes so many times as long", 20, p50_ratio },
	{ "p99", "p99: python3 -c takes so many times as long", 4, p99_ratio },
	{ "many", "many clients: so many times bubblewrap's runs", 6, many_ratio },
};

static void print_promises(void)
{
	printf("\n%-46s %7s %9s\n", "promise", "wanted", "measured");
	for (size_t i = 0; i < COUNT_OF(promises); i++)
		printf("%-46s %7.0f %9.1f\n", promises[i].what, promises[i].wanted,
			promises[i].measured());
}

static int write_json(const char *path)
{
	struct utsname name;
	FILE *out = fopen(path, "we");

	if (!out || uname(&name) < 0)
		return -1;
	fprintf(out,
		"{\"kernel\": \"%s\", \"processors\": %d, \"rounds\": %d, \"clients\": %d, "
		"\"worker_private_kib\": %.0f,\n \"ways\": [",
		name.release, get_nprocs(), plan.rounds, plan.clients, workers_kib);
	for (enum way way = 0; way < WAY_COUNT; way++)
		fprintf(out,
			"%s\n  {\"name\": \"%s\", \"p50_us\": %.0f, \"p90_us\": %.0f, \"p99_us\": %.0f, "
			"\"p50_in_turn_us\": %.0f, "
			"\"runs_per_s_1\": %.1f, \"runs_per_s_many\": %.1f, \"cpu_ms\": %.3f}",
			way ? "," : "", way_name(way), percentile(way, 0.5), percentile(way, 0.9),
			percentile(way, 0.99), p50_in_turn(way), results[way].runs_per_s[0],
			results[way].runs_per_s[1], results[way].cpu_ms);
	fprintf(out, "],\n \"phases\": {");
	for (size_t i = 0; i < COUNT_OF(phases); i++)
		fprintf(out, "%s\"%s\": {\"p50\": %.0f, \"p90\": %.0f}", i ? ", " : "",
			phases[i].name, part_of(phases[i].samples, 0.5),
			part_of(phases[i].samples, 0.9));
	fprintf(out, "},\n \"promises\": {");
	for (size_t i = 0; i < COUNT_OF(promises); i++)
		fprintf(out, "%s\"%s\": {\"wanted\": %.0f, \"measured\": %.2f}", i ? ", " : "",
			promises[i].name, promises[i].wanted, promises[i].measured());
	fprintf(out, "}}\n");
	return fclose(out);
}

/* ---- the plan -------------------------------------------------------------------------------- */

static const struct option options[] = {
	{ "socket", required_argument, NULL, 's' },
	{ "spawner", required_argument, NULL, 'p' },
	{ "rounds", required_argument, NULL, 'r' },
	{ "seconds", required_argument, NULL, 't' },
	{ "json", required_argument, NULL, 'j' },
	{ 0 },
};

static int take_option(int letter)
{
	switch (letter) {
	case 's':
		plan.socket = optarg;
		return 0;
	case 'p':
		plan.spawner = (pid_t)strtol(optarg, NULL, 10);
		return 0;
	case 'r':
		plan.rounds = (int)strtol(optarg, NULL, 10);
		return 0;
	case 't':
		plan.slice_s = strtod(optarg, NULL);
		return 0;
	case 'j':
		plan.json = optarg;
		return 0;
	default:
		return -1;
	}
}

static int make_plan(int argc, char **argv)
{
	int letter;

	while ((letter = getopt_long(argc, argv, "", options, NULL)) != -1)
		if (take_option(letter) < 0)
			return -1;
	plan.clients = get_nprocs() * 4 < CLIENTS_MAX ? get_nprocs() * 4 : CLIENTS_MAX;
	if (!plan.socket || plan.spawner < 1 || plan.rounds < 1 || plan.slice_s <= 0)
		return -1;
	for (enum way way = 0; way < WAY_COUNT; way++)
		for (enum order order = 0; order < ORDER_COUNT; order++)
			results[way].samples[order] = calloc((size_t)plan.rounds, sizeof(double));
	for (size_t i = 0; i < COUNT_OF(phases); i++)
		phases[i].samples = calloc((size_t)plan.rounds, sizeof(double));
	return 0;
}

int main(int argc, char **argv)
{
	struct client client = { .sock = -1 };

	if (make_plan(argc, argv) < 0) {
		fprintf(stderr, "usage: bench_run --socket PATH --spawner PID [--rounds N] "
				"[--seconds S] [--json FILE]\n");
		return EXIT_FAILURE;
	}
	if (client_open(&client, plan.socket, "python", PROGRAM) < 0) {
		fprintf(stderr, "bench_run: no daemon listens at %s\n", plan.socket);
		return EXIT_FAILURE;
	}
	tree_adopt();
	if (measure_latency(ORDER_BLOCKS, &client) < 0 ||
		measure_latency(ORDER_TURNS, &client) < 0 || measure_phases(&client) < 0)
		return EXIT_FAILURE;
	workers_kib = tree_python_kib(plan.spawner);
	if (measure_throughput(0, 1) < 0 || measure_throughput(1, plan.clients) < 0)
		return EXIT_FAILURE;
	print_table();
	print_phases();
	print_promises();
	client_close(&client);
	return plan.json && write_json(plan.json) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
