/*
 * What a durable record costs, beside what the disk itself costs, in turn in one program:
 *
 *   disk    four blocks of 4 KiB overwritten in a file that has its size, and fdatasync
 *   begun   begin, put_begun, commit(STORE_SOON): runs beside the program, nobody waits
 *   ended   begin, put_ended, commit(STORE_NOW): the client waits for this
 *   once    the same for a run that was never begun (refused, denied)
 *
 *   bench_store [rounds [folder]]     the folder decides which disk is measured
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "proto/base/cleanup.h"
#include "proto/base/clock.h"
#include "store/store.h"
#include "tests/unit/store_sample.h"

#define BLOCK       4096
#define BLOCKS      4
#define FILE_BLOCKS 2048

enum series {
	DISK,
	BEGUN,
	ENDED,
	ENDED_CPU,
	ENDED_PUT,
	ONCE,
	WHOLE,
	SERIES_COUNT
};

static const char *const names[SERIES_COUNT] = {
	[DISK] = "disk",
	[BEGUN] = "begun",
	[ENDED] = "ended",
	[ENDED_CPU] = "ended, cpu",
	[ENDED_PUT] = "ended, before commit",
	[ONCE] = "once",
	[WHOLE] = "begun + ended",
};

struct bench {
	int fd;
	off_t at;
	struct store *store;
	struct sample sample;
	double *us[SERIES_COUNT];
	int rounds;
};

static double now_us(clockid_t clock)
{
	struct timespec now;

	(void)clock_gettime(clock, &now);
	return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static void die(const char *what, const struct err *err)
{
	(void)fprintf(stderr, "bench_store: %s: %s\n", what, err ? err->text : "failed");
	exit(1);
}

/* The wait of a run between its begin and its end; also keeps rounds from running into each other. */
static void pause_us(long us)
{
	const struct timespec while_it_runs = { 0, us * 1000 };

	(void)nanosleep(&while_it_runs, NULL);
}

static void open_file(struct bench *bench, const char *folder)
{
	auto_free char *path = NULL;
	static const char block[BLOCK];

	if (asprintf(&path, "%s/blocks", folder) < 0)
		die("memory", NULL);
	bench->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	for (int i = 0; i < FILE_BLOCKS; i++) {
		if (pwrite(bench->fd, block, BLOCK, (off_t)i * BLOCK) != BLOCK)
			die(path, NULL);
	}
	if (fsync(bench->fd) < 0)
		die(path, NULL);
}

static double time_disk(struct bench *bench)
{
	static const char block[BLOCK] = { 1 };
	double start = now_us(CLOCK_MONOTONIC);

	for (int i = 0; i < BLOCKS; i++) {
		if (pwrite(bench->fd, block, BLOCK, bench->at) != BLOCK)
			die("pwrite", NULL);
		bench->at = (bench->at + BLOCK) % ((off_t)BLOCK * FILE_BLOCKS);
	}
	if (fdatasync(bench->fd) < 0)
		die("fdatasync", NULL);
	return now_us(CLOCK_MONOTONIC) - start;
}

static double time_begun(struct bench *bench)
{
	struct store_run run = sample_begun(&bench->sample);
	double start = now_us(CLOCK_MONOTONIC);
	struct err err = ERR_INIT;

	if (store_begin(bench->store, &err) < 0 || store_put_begun(bench->store, &run, &err) < 0 ||
		store_commit(bench->store, STORE_SOON, &err) < 0)
		die("begun", &err);
	return now_us(CLOCK_MONOTONIC) - start;
}

static double time_ended(struct bench *bench, double *ret_put, double *ret_cpu)
{
	struct store_run run = sample_ended(&bench->sample);
	double cpu = now_us(CLOCK_THREAD_CPUTIME_ID);
	double start = now_us(CLOCK_MONOTONIC);
	struct err err = ERR_INIT;

	if (store_begin(bench->store, &err) < 0 || store_put_ended(bench->store, &run, &err) < 0)
		die("ended", &err);
	*ret_put = now_us(CLOCK_MONOTONIC) - start;
	if (store_commit(bench->store, STORE_NOW, &err) < 0)
		die("commit", &err);
	start = now_us(CLOCK_MONOTONIC) - start;
	*ret_cpu = now_us(CLOCK_THREAD_CPUTIME_ID) - cpu;
	return start;
}

static void run_rounds(struct bench *bench)
{
	struct err err = ERR_INIT;
	double ignored = 0;

	for (int i = 0; i < bench->rounds; i++) {
		bench->us[DISK][i] = time_disk(bench);
		pause_us(100);
		sample_next(&bench->sample);
		bench->us[BEGUN][i] = time_begun(bench);
		pause_us(100);
		bench->us[ENDED][i] =
			time_ended(bench, &bench->us[ENDED_PUT][i], &bench->us[ENDED_CPU][i]);
		bench->us[WHOLE][i] = bench->us[BEGUN][i] + bench->us[ENDED][i];
		pause_us(100);
		sample_next(&bench->sample);
		bench->us[ONCE][i] = time_ended(bench, &ignored, &ignored);
		if (store_tidy(bench->store, &err) < 0)
			die("tidy", &err);
		pause_us(100);
	}
}

static int by_size(const void *a, const void *b)
{
	double left = *(const double *)a;
	double right = *(const double *)b;

	return left < right ? -1 : left > right;
}

static double at(double *us, int count, int percent)
{
	return us[(count - 1) * percent / 100];
}

static void print(struct bench *bench)
{
	double disk;

	for (int i = 0; i < SERIES_COUNT; i++)
		qsort(bench->us[i], (size_t)bench->rounds, sizeof(double), by_size);
	disk = at(bench->us[DISK], bench->rounds, 50);
	(void)printf("%-22s %8s %8s %8s %8s\n", "us", "p50", "p90", "p99", "ratio");
	for (int i = 0; i < SERIES_COUNT; i++)
		(void)printf("%-22s %8.1f %8.1f %8.1f %8.2f\n", names[i],
			at(bench->us[i], bench->rounds, 50), at(bench->us[i], bench->rounds, 90),
			at(bench->us[i], bench->rounds, 99),
			at(bench->us[i], bench->rounds, 50) / disk);
}

static void print_size(struct bench *bench)
{
	struct err err = ERR_INIT;
	struct arena arena;
	struct value *status = NULL;

	arena_init(&arena, 1 << 20);
	if (store_status(bench->store, &arena, &status, &err) < 0)
		die("status", &err);
	(void)printf("%lld runs, database %lld KiB, log %lld KiB\n",
		(long long)value_as_int(value_get(status, "runs"), 0),
		(long long)value_as_int(value_get(status, "bytes"), 0) / 1024,
		(long long)value_as_int(value_get(status, "wal_bytes"), 0) / 1024);
	if (value_as_int(value_get(status, "runs"), 0) > 0)
		(void)printf("%lld KiB for 1,000 such runs\n",
			(long long)(value_as_int(value_get(status, "bytes"), 0) * 1000 / 1024 /
				    value_as_int(value_get(status, "runs"), 1)));
	arena_done(&arena);
}

static void remove_all(const char *folder)
{
	static const char *const files[] = { "blocks", "ced.db", "ced.db-wal", "ced.db-shm",
		"ced.lock" };
	char path[4096];

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", folder, files[i]);
		(void)unlink(path);
	}
	(void)rmdir(folder);
}

int main(int argc, char **argv)
{
	struct bench bench = { .rounds = argc > 1 ? atoi(argv[1]) : 2000 };
	auto_free char *folder = NULL;
	struct err err = ERR_INIT;

	if (asprintf(&folder, "%s/bench-store-XXXXXX", argc > 2 ? argv[2] : ".") < 0 ||
		!mkdtemp(folder) || bench.rounds < 1)
		die("folder", NULL);
	for (int i = 0; i < SERIES_COUNT; i++) {
		bench.us[i] = calloc((size_t)bench.rounds, sizeof(double));
		if (!bench.us[i])
			die("memory", NULL);
	}
	open_file(&bench, folder);
	bench.store = store_open(folder, STORE_WRITE, &err);
	if (!bench.store)
		die("open", &err);
	sample_init(&bench.sample);
	run_rounds(&bench);
	print(&bench);
	print_size(&bench);
	sample_done(&bench.sample);
	store_close(bench.store);
	(void)close(bench.fd);
	for (int i = 0; i < SERIES_COUNT; i++)
		free(bench.us[i]);
	remove_all(folder);
	return 0;
}
