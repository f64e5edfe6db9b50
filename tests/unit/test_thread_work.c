#include <pthread.h>
#include <string.h>

#include "daemon/loop/thread_work.h"
#include "tests/check.h"
#include "tests/fault.h"

#define ALICE 1000
#define BOB   1001
#define MANY  50

/* One piece of work of the test, and the order in which it began and was reported. */
struct job {
	struct book *book;
	uint32_t uid;
	unsigned begun, told; /* from 1; 0: not at all */
};

/* Threads write `begun`, under the lock. */
struct book {
	uv_loop_t loop;
	struct thread_work work;
	pthread_mutex_t lock;
	pthread_cond_t opened;
	bool is_open; /* while it is closed, no work that has begun ends */
	unsigned begun, told;
	struct job jobs[MANY + 4];
	unsigned count;
};

static void begin(struct book *book)
{
	memset(book, 0, sizeof(*book));
	(void)uv_loop_init(&book->loop);
	(void)pthread_mutex_init(&book->lock, NULL);
	(void)pthread_cond_init(&book->opened, NULL);
	thread_work_init(&book->work, &book->loop);
}

static void finish(struct book *book)
{
	CHECK(list_is_empty(&book->work.users.lanes));
	CHECK_EQ_INT(uv_loop_close(&book->loop), 0);
	pthread_cond_destroy(&book->opened);
	pthread_mutex_destroy(&book->lock);
}

static void run(void *context)
{
	struct job *job = context;
	struct book *book = job->book;

	pthread_mutex_lock(&book->lock);
	job->begun = ++book->begun;
	while (!book->is_open)
		pthread_cond_wait(&book->opened, &book->lock);
	pthread_mutex_unlock(&book->lock);
}

static void done(void *context)
{
	struct job *job = context;

	job->told = ++job->book->told;
}

static struct job *start(struct book *book, uint32_t uid)
{
	struct job *job = &book->jobs[book->count++];

	*job = (struct job){ .book = book, .uid = uid };
	if (thread_work_start(&book->work, uid, run, done, job) < 0)
		check_failed(__FILE__, __LINE__, "thread_work_start");
	return job;
}

/* Lets work that has begun end. */
static void open_gate(struct book *book)
{
	pthread_mutex_lock(&book->lock);
	book->is_open = true;
	pthread_cond_broadcast(&book->opened);
	pthread_mutex_unlock(&book->lock);
}

static void wait_for_begun(struct book *book, unsigned count)
{
	unsigned begun = 0;

	for (int tries = 0; tries < 5000 && begun < count; tries++) {
		pthread_mutex_lock(&book->lock);
		begun = book->begun;
		pthread_mutex_unlock(&book->lock);
		uv_sleep(1);
	}
	CHECK_EQ_INT(begun, count);
}

TEST(work_is_done_on_a_thread_and_told_in_the_loop)
{
	static struct book book;
	struct job *job;

	begin(&book);
	open_gate(&book);
	job = start(&book, ALICE);
	CHECK_EQ_INT(job->told, 0);
	(void)uv_run(&book.loop, UV_RUN_DEFAULT);
	CHECK(job->begun == 1 && job->told == 1);
	finish(&book);
}

TEST(whoever_asks_for_much_leaves_a_thread_to_others)
{
	static struct book book;
	struct job *bobs;

	begin(&book);
	for (int i = 0; i < MANY; i++)
		start(&book, ALICE);
	wait_for_begun(&book, THREAD_WORK_PER_USER);
	bobs = start(&book, BOB);
	wait_for_begun(&book, THREAD_WORK_PER_USER + 1);
	CHECK_EQ_INT(bobs->begun, THREAD_WORK_PER_USER + 1);
	open_gate(&book);
	(void)uv_run(&book.loop, UV_RUN_DEFAULT);
	CHECK_EQ_INT(book.told, MANY + 1);
	finish(&book);
}

TEST(users_take_turns_however_much_each_has_asked_for)
{
	static struct book book;
	struct job *bobs[3];

	begin(&book);
	for (int i = 0; i < MANY; i++)
		start(&book, ALICE);
	for (int i = 0; i < 3; i++)
		bobs[i] = start(&book, BOB);
	open_gate(&book);
	(void)uv_run(&book.loop, UV_RUN_DEFAULT);
	CHECK_EQ_INT(book.told, MANY + 3);
	/*
	 * one begins at once, the others when two of Alice's are done; threads may overtake each
	 * other
	 */
	for (int i = 0; i < 3; i++)
		CHECK(bobs[i]->begun <= 2 * (THREAD_WORK_MOST + 3));
	finish(&book);
}

TEST(what_waits_when_it_is_stopped_is_told_and_not_done)
{
	static struct book book;
	unsigned done_ones = 0;

	begin(&book);
	for (int i = 0; i < MANY; i++)
		start(&book, i % 2 ? ALICE : BOB);
	wait_for_begun(&book, THREAD_WORK_MOST);
	thread_work_stop(&book.work);
	CHECK_EQ_INT(book.told, MANY - THREAD_WORK_MOST);
	CHECK_EQ_INT(thread_work_start(&book.work, ALICE, run, done, &book.jobs[MANY]), -1);
	open_gate(&book);
	(void)uv_run(&book.loop, UV_RUN_DEFAULT);
	CHECK_EQ_INT(book.told, MANY);
	for (int i = 0; i < MANY; i++)
		done_ones += book.jobs[i].begun > 0;
	CHECK_EQ_INT(done_ones, THREAD_WORK_MOST);
	finish(&book);
}

TEST(work_for_which_there_is_no_memory_is_refused)
{
	static struct book book;

	for (unsigned nth = 1; nth <= 2; nth++) {
		int started;

		begin(&book);
		fault_arm(FAULT_ALLOC, nth);
		started = thread_work_start(&book.work, ALICE, run, done, &book.jobs[0]);
		fault_disarm();
		CHECK_EQ_INT(started, -1);
		finish(&book);
	}
}
