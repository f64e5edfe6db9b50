/*
 * Fills a store with so many runs, through the store's own code, for those who measure a large one:
 *
 *   grow_store FOLDER RUNS [SEED]      ./dev bench ask does it and measures
 */
#include <stdio.h>
#include <stdlib.h>

#include "bench/herd.h"
#include "proto/base/clock.h"

#define BATCH 512 /* runs in one transaction */
#define DAYS  90

static int die(const struct err *err)
{
	(void)fprintf(stderr, "grow_store: %s\n", err->text);
	return 1;
}

static int write_batch(struct store *store, struct herd *herd, struct err *err)
{
	if (store_begin(store, err) < 0)
		return -1;
	for (unsigned i = 0; i < BATCH && herd->number < herd->count; i++) {
		struct store_run run;

		if (herd_next(herd, &run, err) < 0 || store_put_ended(store, &run, err) < 0) {
			store_rollback(store);
			return -1;
		}
	}
	return store_commit(store, STORE_SOON, err);
}

static int tidy_all(struct store *store, struct err *err)
{
	int left;

	do {
		left = store_tidy(store, err);
	} while (left > 0);
	return left;
}

int main(int argc, char **argv)
{
	static struct herd herd;
	struct err err = ERR_INIT;
	int64_t start_us = clock_us();
	struct store *store;

	if (argc < 3 || atoll(argv[2]) < 1) {
		(void)fprintf(stderr, "usage: grow_store FOLDER RUNS [SEED]\n");
		return 2;
	}
	store = store_open(argv[1], STORE_WRITE, &err);
	if (!store)
		return die(&err);
	herd_init(&herd, argc > 3 ? (uint64_t)atoll(argv[3]) : 1, (uint64_t)atoll(argv[2]), DAYS);
	while (herd.number < herd.count) {
		if (write_batch(store, &herd, &err) < 0)
			return die(&err);
		if (herd.number % (BATCH * 100) == 0)
			(void)fprintf(stderr, "\r%llu runs, %.0f s",
				(unsigned long long)herd.number,
				(double)(clock_us() - start_us) / 1e6);
	}
	if (tidy_all(store, &err) < 0)
		return die(&err);
	(void)fprintf(stderr, "\r%llu runs in %.1f s\n", (unsigned long long)herd.number,
		(double)(clock_us() - start_us) / 1e6);
	herd_done(&herd);
	store_close(store);
	return 0;
}
