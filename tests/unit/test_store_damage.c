/*
 * The store on damaged files: whatever bytes they contain, each query gives an answer or an error,
 * and nothing crashes.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/container.h"
#include "proto/base/fdio.h"
#include "tests/check.h"
#include "tests/unit/store_sample.h"

#define RUNS     30
#define VARIANTS 150
#define PAGE     4096

/* A database and its log, as bytes to damage. */
struct files {
	char *bytes[2];
	size_t lens[2];
};

static const char *const names[2] = { "ced.db", "ced.db-wal" };

static char ids[RUNS][RUN_ID_LEN + 1];

static void path_of(const struct shop *shop, const char *name, char ret_path[128])
{
	(void)snprintf(ret_path, 128, "%s/%s", shop->folder, name);
}

static void write_runs(struct shop *shop)
{
	static char output[6000];
	static struct policy_finding finding = { "python.import.denied", "deny", 3, 1, "import x",
		"no", NULL };
	static struct job_artifact artifact = { "a.txt", { output, 900 }, 0644, "", false };
	static struct job_pair label = { "team", { "blue", 4 } };

	for (size_t i = 0; i < sizeof(output); i++)
		output[i] = (char)('a' + i * i % 23);
	shop->sample.spec.labels = &label;
	shop->sample.spec.label_count = 1;
	shop->sample.result.artifacts = &artifact;
	shop->sample.result.artifact_count = 1;
	for (unsigned i = 0; i < RUNS; i++) {
		sample_next(&shop->sample);
		memcpy(ids[i], shop->sample.run_id, sizeof(ids[i]));
		output[0]++;
		shop->sample.result.out.head =
			(struct bytes){ output, i % 3 ? 200 : sizeof(output) };
		shop->sample.result.verdict.findings = &finding;
		shop->sample.result.verdict.finding_count = i % 4 == 0;
		CHECK_EQ_INT(sample_write(shop->store, &shop->sample, &shop->err), 0);
	}
}

static bool read_files(const struct shop *shop, struct files *files)
{
	char path[128];

	for (size_t i = 0; i < COUNT_OF(names); i++) {
		path_of(shop, names[i], path);
		if (read_file(path, (size_t)64 << 20, &files->bytes[i], &files->lens[i], NULL) < 0)
			return false;
	}
	/* Most of the log is zeroes. */
	while (files->lens[1] > 0 && !files->bytes[1][files->lens[1] - 1])
		files->lens[1]--;
	return true;
}

static bool put_bytes(const struct shop *shop, const char *name, const char *bytes, size_t len)
{
	char path[128];
	bool done;
	int fd;

	path_of(shop, name, path);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	done = fd >= 0 && (len == 0 || write_all(fd, bytes, len, NULL) == 0);
	if (fd >= 0)
		(void)close(fd);
	return done;
}

/* Each applies one kind of damage; `len` may shrink. */
static void damage(char *bytes, size_t *len, unsigned kind)
{
	size_t at = *len ? (size_t)random() % *len : 0;

	if (!*len)
		return;
	switch (kind % 6) {
	case 0: /* one bit */
		bytes[at] = (char)(bytes[at] ^ (1 << (random() % 8)));
		break;
	case 1: /* a few bytes */
		for (size_t i = at; i < *len && i < at + 8; i++)
			bytes[i] = (char)random();
		break;
	case 2: /* the end is gone */
		*len = at;
		break;
	case 3: /* a page of zeroes */
		at -= at % PAGE;
		memset(bytes + at, 0, *len - at < PAGE ? *len - at : PAGE);
		break;
	case 4: /* a page in the place of another */
		at -= at % PAGE;
		if (*len >= 2 * PAGE && at + PAGE <= *len)
			memcpy(bytes + at, bytes + (size_t)random() % (*len / PAGE) * PAGE, PAGE);
		break;
	default: /* random bytes in the head of one page, which holds its structure */
		at -= at % PAGE;
		for (unsigned i = 0; i < 4; i++)
			bytes[at + (size_t)random() % (*len - at < 120 ? *len - at : 120)] =
				(char)random();
		break;
	}
}

/* Runs every query there is.  Only that each returns matters, not its answer. */
static void ask_everything(struct shop *shop, struct store *store)
{
	static const char *const streams[] = { "stdout", "code", "artifact:a.txt", "stderr" };
	static const char *const kinds[] = { "outcome", "phase" };
	struct store_filter filter = { .all_callers = true, .limit = 1000 };
	struct value *answer = NULL;
	char run_id[RUN_ID_LEN + 1];
	uint32_t uid = 0;

	for (unsigned i = 0; i < RUNS; i++) {
		(void)store_get(store, ids[i], 10000, &shop->arena, &answer, &uid, &shop->err);
		for (size_t k = 0; k < COUNT_OF(streams); k++)
			(void)store_output(store, ids[i], streams[k], 0, 10000, &shop->arena,
				&answer, &shop->err);
		arena_done(&shop->arena);
	}
	for (size_t k = 0; k < COUNT_OF(kinds); k++)
		(void)store_stats(store, &filter, kinds[k], &shop->arena, &answer, &shop->err);
	(void)store_resolve(store, &filter, "last~3", run_id, &shop->err);
	(void)store_resolve(store, &filter, "01", run_id, &shop->err);
	(void)store_status(store, &shop->arena, &answer, &shop->err);
	(void)store_list(store, &filter, &shop->arena, &answer, &shop->err);
	filter.outcome = "ok";
	filter.label_key = "team";
	(void)store_list(store, &filter, &shop->arena, &answer, &shop->err);
	arena_done(&shop->arena);
}

static void write_something(struct shop *shop, struct store *store)
{
	for (unsigned i = 0; i < 3; i++) {
		sample_next(&shop->sample);
		(void)sample_write(store, &shop->sample, &shop->err);
	}
	(void)store_tidy(store, &shop->err);
}

static void try_damaged(struct shop *shop, const struct files *files, unsigned variant)
{
	char *copies[2] = { NULL, NULL };
	size_t lens[2] = { files->lens[0], files->lens[1] };
	struct store *store;
	char shm[128];

	for (size_t i = 0; i < COUNT_OF(names); i++) {
		copies[i] = malloc(lens[i] + 1);
		CHECK(copies[i]);
		memcpy(copies[i], files->bytes[i], lens[i]);
	}
	damage(copies[variant % 3 == 0], &lens[variant % 3 == 0], variant / 3);
	for (size_t i = 0; i < COUNT_OF(names); i++) {
		CHECK(put_bytes(shop, names[i], copies[i], lens[i]));
		free(copies[i]);
	}
	path_of(shop, "ced.db-shm", shm);
	(void)unlink(shm);

	store = store_open(shop->folder, STORE_READ, &shop->err);
	if (store)
		ask_everything(shop, store);
	store_close(store);
	store = store_open(shop->folder, STORE_WRITE, &shop->err);
	if (store) {
		write_something(shop, store);
		ask_everything(shop, store);
	}
	store_close(store);
}

/* `settled`: the database contains everything; otherwise much of it is in the log. */
static void try_all(bool settled)
{
	auto_shop struct shop shop;
	struct files files = { { NULL, NULL }, { 0, 0 } };

	srandom(settled ? 99 : 100);
	shop_init(&shop);
	CHECK(shop.store);
	write_runs(&shop);
	CHECK(check_ok());
	if (settled) {
		shop_reopen(&shop);
		CHECK(shop.store);
	}
	CHECK(read_files(&shop, &files));
	store_close(shop.store);
	shop.store = NULL;
	for (unsigned i = 0; i < VARIANTS && check_ok(); i++)
		try_damaged(&shop, &files, i);
	free(files.bytes[0]);
	free(files.bytes[1]);
}

TEST(a_damaged_database_is_answered_with_errors)
{
	try_all(true);
}

TEST(a_damaged_log_is_answered_with_errors)
{
	try_all(false);
}

TEST(a_blob_that_was_changed_is_told_from_a_good_one)
{
	auto_shop struct shop shop;
	static char code[3000];
	struct files files = { { NULL, NULL }, { 0, 0 } };
	struct value *page = NULL;
	char *found;

	shop_init(&shop);
	CHECK(shop.store);
	memset(code, 'q', sizeof(code));
	shop.sample.spec.code = (struct bytes){ code, sizeof(code) };
	CHECK_EQ_INT(sample_write(shop.store, &shop.sample, &shop.err), 0);
	shop_reopen(&shop);
	CHECK(shop.store);
	store_close(shop.store);
	shop.store = NULL;
	CHECK(read_files(&shop, &files));
	/* The magic number of zstd marks the beginning of a blob's data. */
	while ((found = memmem(files.bytes[0], files.lens[0], "\x28\xb5\x2f\xfd", 4)))
		found[0] = 'x';
	CHECK(put_bytes(&shop, names[0], files.bytes[0], files.lens[0]));
	shop_reopen(&shop);
	CHECK(shop.store);
	CHECK_EQ_INT(store_output(shop.store, shop.sample.run_id, "code", 0, 10, &shop.arena, &page,
			     &shop.err),
		-1);
	CHECK_EQ_INT(shop.err.code, ERR_CORRUPT);
	CHECK(strstr(shop.err.text, "blob"));
	free(files.bytes[0]);
	free(files.bytes[1]);
}
