#include "daemon/record/caretaker.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "proto/base/container.h"

#define LOWEST_NICE       19
/* linux/ioprio.h is not in every distribution's headers. */
#define IOPRIO_WHO_THREAD 1
#define IOPRIO_IDLE       (3 << 13)

struct caretaker {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t work;
	struct list waiting; /* lock */
	struct list over;    /* lock */
	bool leaving;        /* lock */
	atomic_bool stop;
	char *folder;
	struct store *store; /* the thread's, from its first chore on */
	uv_async_t news;
};

/* ---- on the thread -------------------------------------------------------------------------- */

static void step_back(void)
{
	(void)setpriority(PRIO_PROCESS, 0, LOWEST_NICE); /* of this thread alone, on Linux */
	(void)syscall(SYS_ioprio_set, IOPRIO_WHO_THREAD, 0, IOPRIO_IDLE);
}

static void do_chore(struct caretaker *caretaker, struct chore *chore)
{
	if (!caretaker->store)
		caretaker->store = store_open(caretaker->folder, STORE_READ, &chore->err);
	if (caretaker->store &&
		chore->run(chore, caretaker->store, &caretaker->stop, &chore->err) < 0)
		return;
}

/* NULL: it is to leave.  The lock is held. */
static struct chore *next_chore(struct caretaker *caretaker)
{
	struct list *first;

	while (!caretaker->leaving && list_is_empty(&caretaker->waiting))
		pthread_cond_wait(&caretaker->work, &caretaker->lock);
	if (caretaker->leaving)
		return NULL;
	first = list_first(&caretaker->waiting);
	list_remove(first);
	return container_of(first, struct chore, link);
}

static void *run(void *context)
{
	struct caretaker *caretaker = context;
	struct chore *chore;

	step_back();
	pthread_mutex_lock(&caretaker->lock);
	while ((chore = next_chore(caretaker))) {
		pthread_mutex_unlock(&caretaker->lock);
		do_chore(caretaker, chore);
		pthread_mutex_lock(&caretaker->lock);
		list_append(&caretaker->over, &chore->link);
		(void)uv_async_send(&caretaker->news);
	}
	pthread_mutex_unlock(&caretaker->lock);
	store_close(caretaker->store);
	return NULL;
}

/* ---- in the loop ---------------------------------------------------------------------------- */

static void tell(struct list *chores)
{
	struct list *first;

	while ((first = list_first(chores))) {
		struct chore *chore = container_of(first, struct chore, link);

		list_remove(first);
		chore->done(chore, chore->err.code == ERR_NONE ? NULL : &chore->err);
	}
}

static void take_over(struct caretaker *caretaker, struct list *from, struct list *ret_chores)
{
	struct list *first;

	list_init(ret_chores);
	pthread_mutex_lock(&caretaker->lock);
	while ((first = list_first(from))) {
		list_remove(first);
		list_append(ret_chores, first);
	}
	pthread_mutex_unlock(&caretaker->lock);
}

static void on_news(uv_async_t *news)
{
	struct caretaker *caretaker = news->data;
	struct list chores;

	take_over(caretaker, &caretaker->over, &chores);
	tell(&chores);
}

static int start_thread(struct caretaker *caretaker)
{
	if (pthread_mutex_init(&caretaker->lock, NULL) != 0 ||
		pthread_cond_init(&caretaker->work, NULL) != 0)
		return -1;
	return pthread_create(&caretaker->thread, NULL, run, caretaker) == 0 ? 0 : -1;
}

struct caretaker *caretaker_start(uv_loop_t *loop, const char *folder, struct err *err)
{
	struct caretaker *caretaker = calloc(1, sizeof(*caretaker));

	if (caretaker)
		caretaker->folder = strdup(folder);
	if (!caretaker || !caretaker->folder ||
		uv_async_init(loop, &caretaker->news, on_news) < 0) {
		if (caretaker)
			free(caretaker->folder);
		free(caretaker);
		(void)err_set(err, ERR_MEMORY, "no memory for the caretaker");
		return NULL;
	}
	caretaker->news.data = caretaker;
	list_init(&caretaker->waiting);
	list_init(&caretaker->over);
	if (start_thread(caretaker) < 0) {
		(void)err_set(err, ERR_SYSTEM, "no thread for the caretaker");
		return NULL; /* the daemon ends now; the async handle goes with the loop */
	}
	return caretaker;
}

void caretaker_put(struct caretaker *caretaker, struct chore *chore)
{
	chore->err = (struct err)ERR_INIT;
	list_init(&chore->link);
	pthread_mutex_lock(&caretaker->lock);
	list_append(&caretaker->waiting, &chore->link);
	pthread_mutex_unlock(&caretaker->lock);
	pthread_cond_signal(&caretaker->work);
}

static void on_news_closed(uv_handle_t *handle)
{
	struct caretaker *caretaker = handle->data;

	pthread_cond_destroy(&caretaker->work);
	pthread_mutex_destroy(&caretaker->lock);
	free(caretaker->folder);
	free(caretaker);
}

void caretaker_close(struct caretaker *caretaker)
{
	struct list chores;

	if (!caretaker)
		return;
	atomic_store(&caretaker->stop, true);
	pthread_mutex_lock(&caretaker->lock);
	caretaker->leaving = true;
	pthread_mutex_unlock(&caretaker->lock);
	pthread_cond_signal(&caretaker->work);
	pthread_join(caretaker->thread, NULL);
	take_over(caretaker, &caretaker->over, &chores);
	tell(&chores);
	take_over(caretaker, &caretaker->waiting, &chores);
	list_for_each(at, &chores)
		(void)err_set(&container_of(at, struct chore, link)->err, ERR_CLOSED,
			"the daemon is closing");
	tell(&chores);
	uv_close((uv_handle_t *)&caretaker->news, on_news_closed);
}
