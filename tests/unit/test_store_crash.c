/*
 * The store against kill -9 at any moment.  A child writes runs and reports through a pipe what
 * the store promised it.  The parent kills the child and checks the store.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proto/base/fdio.h"
#include "tests/check.h"
#include "tests/unit/store_sample.h"

#define KILLS    120
#define KILL_US  12000
#define TOLD_MAX 20000

/* The child's report: 'b' for a run that has begun, 'e' for one that has ended, and its id. */
struct told {
	char kind;
	char run_id[RUN_ID_LEN + 1];
};

static void tell(int fd, char kind, const char *run_id)
{
	struct told told = { .kind = kind };

	memcpy(told.run_id, run_id, sizeof(told.run_id));
	if (write(fd, &told, sizeof(told)) != (ssize_t)sizeof(told))
		_exit(3);
}

static void write_for_ever(struct shop *shop, int fd)
{
	static char output[40000];

	for (unsigned i = 0;; i++) {
		struct store_run run;

		sample_next(&shop->sample);
		memset(output, 'a' + (int)(i % 26), sizeof(output));
		shop->sample.result.out.head =
			(struct bytes){ output, i % 5 ? i % 200 + 1 : sizeof(output) };
		run = sample_begun(&shop->sample);
		if (store_begin(shop->store, &shop->err) < 0 ||
			store_put_begun(shop->store, &run, &shop->err) < 0 ||
			store_commit(shop->store, STORE_SOON, &shop->err) < 0)
			_exit(4);
		tell(fd, 'b', shop->sample.run_id);
		(void)usleep(100);
		run = sample_ended(&shop->sample);
		if (store_begin(shop->store, &shop->err) < 0 ||
			store_put_ended(shop->store, &run, &shop->err) < 0 ||
			store_commit(shop->store, STORE_NOW, &shop->err) < 0)
			_exit(5);
		tell(fd, 'e', shop->sample.run_id);
		if (i % 50 == 49 && store_tidy(shop->store, &shop->err) < 0)
			_exit(6);
	}
}

/* Runs a writer for a while and kills it.  Returns its reports. */
static size_t kill_one(struct shop *shop, struct told *told, unsigned us)
{
	int fds[2];
	pid_t pid;
	size_t count = 0;
	int status = 0;

	(void)fflush(stdout);
	if (pipe(fds) < 0)
		return 0;
	pid = fork();
	if (pid == 0) {
		(void)close(fds[0]);
		shop_reopen(shop);
		if (!shop->store)
			_exit(2);
		write_for_ever(shop, fds[1]);
	}
	(void)close(fds[1]);
	/* The first report shows that the child has opened the store. */
	while (count < TOLD_MAX && read_all(fds[0], &told[count], sizeof(*told), NULL) == 0) {
		if (count++ == 0) {
			(void)usleep(us);
			(void)kill(pid, SIGKILL);
		}
	}
	(void)close(fds[0]);
	(void)waitpid(pid, &status, 0);
	return WIFSIGNALED(status) ? count : 0;
}

static void check_told(struct shop *shop, const struct told *told, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		bool ended = told[i].kind == 'e' ||
			     (i + 1 < count && strcmp(told[i].run_id, told[i + 1].run_id) == 0);
		struct value *record = NULL;
		const char *outcome;
		uint32_t uid = 0;

		arena_done(&shop->arena);
		CHECK_EQ_INT(store_get(shop->store, told[i].run_id, 100000, &shop->arena, &record,
				     &uid, &shop->err),
			0);
		outcome = value_as_text(value_get(record, "outcome"));
		CHECK(outcome);
		/* The last run may have ended before the child could report it. */
		CHECK(strcmp(outcome, "ok") == 0 || (!ended && strcmp(outcome, "lost") == 0));
		if (strcmp(outcome, "ok") == 0) {
			struct value *out = value_get(record, "stdout");

			CHECK(out && out->text.len > 0);
			CHECK(out->text.bytes[0] == out->text.bytes[out->text.len - 1]);
		}
	}
}

TEST(no_promised_run_is_missing_after_a_hundred_kills)
{
	static struct told told[TOLD_MAX];
	auto_shop struct shop shop;
	size_t runs = 0;
	unsigned lost = 0;

	shop_init(&shop);
	CHECK(shop.store);
	store_close(shop.store);
	shop.store = NULL;
	srandom(20251);
	for (unsigned i = 0; i < KILLS; i++) {
		size_t count = kill_one(&shop, told, (unsigned)random() % KILL_US);

		CHECK(count > 0);
		shop.store = store_open(shop.folder, STORE_WRITE, &shop.err);
		CHECK(shop.store);
		lost += (unsigned)store_lost_count(shop.store);
		check_told(&shop, told, count);
		CHECK(check_ok());
		store_close(shop.store);
		shop.store = NULL;
		runs += count;
	}
	(void)printf("# %u kills, %zu promises, %u runs lost\n", KILLS, runs, lost);
	CHECK(lost > 0);
}
