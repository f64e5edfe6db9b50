#include "daemon/record/store_thread.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "daemon/loop/bell.h"
#include "proto/base/container.h"

#define LOWEST_NICE       19
/* linux/ioprio.h is not in every distribution's headers. */
#define IOPRIO_WHO_THREAD 1
#define IOPRIO_IDLE       (3 << 13)

struct store_thread {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t work;
	struct list waiting; /* lock */
	struct list over;    /* lock */
	bool leaving;        /* lock */
	atomic_bool stop;
	char *folder;
	struct store *store; /* the thread's; opened for its first task */
	struct bell *bell;
};

/* ---- on the thread -------------------------------------------------------------------------- */

static void step_back(void)
{
	(void)setpriority(PRIO_PROCESS, 0, LOWEST_NICE); /* of this thread alone, on Linux */
	(void)syscall(SYS_ioprio_set, IOPRIO_WHO_THREAD, 0, IOPRIO_IDLE);
}

static void run_task(struct store_thread *thread, struct store_task *task)
{
	if (!thread->store)
		thread->store = store_open(thread->folder, STORE_READ, &task->err);
	if (thread->store && task->run(task, thread->store, &thread->stop, &task->err) < 0)
		return;
}

/* NULL: the thread must end.  The lock is held. */
static struct store_task *next_task(struct store_thread *thread)
{
	struct list *first;

	while (!thread->leaving && list_is_empty(&thread->waiting))
		pthread_cond_wait(&thread->work, &thread->lock);
	if (thread->leaving)
		return NULL;
	first = list_first(&thread->waiting);
	list_remove(first);
	return container_of(first, struct store_task, link);
}

static void *store_thread_run(void *context)
{
	struct store_thread *thread = context;
	struct store_task *task;

	step_back();
	pthread_mutex_lock(&thread->lock);
	while ((task = next_task(thread))) {
		pthread_mutex_unlock(&thread->lock);
		run_task(thread, task);
		pthread_mutex_lock(&thread->lock);
		list_append(&thread->over, &task->link);
		pthread_mutex_unlock(&thread->lock);
		bell_ring(thread->bell);
		pthread_mutex_lock(&thread->lock);
	}
	pthread_mutex_unlock(&thread->lock);
	store_close(thread->store);
	return NULL;
}

/* ---- in the loop ---------------------------------------------------------------------------- */

static void tasks_report(struct list *tasks)
{
	struct list *first;

	while ((first = list_first(tasks))) {
		struct store_task *task = container_of(first, struct store_task, link);

		list_remove(first);
		task->done(task, task->err.code == ERR_NONE ? NULL : &task->err);
	}
}

static void take_over(struct store_thread *thread, struct list *from, struct list *ret_chores)
{
	struct list *first;

	list_init(ret_chores);
	pthread_mutex_lock(&thread->lock);
	while ((first = list_first(from))) {
		list_remove(first);
		list_append(ret_chores, first);
	}
	pthread_mutex_unlock(&thread->lock);
}

static void on_rung(void *owner)
{
	struct store_thread *thread = owner;
	struct list tasks;

	take_over(thread, &thread->over, &tasks);
	tasks_report(&tasks);
}

static int start_thread(struct store_thread *thread)
{
	if (pthread_mutex_init(&thread->lock, NULL) != 0 ||
		pthread_cond_init(&thread->work, NULL) != 0)
		return -1;
	return pthread_create(&thread->thread, NULL, store_thread_run, thread) == 0 ? 0 : -1;
}

struct store_thread *store_thread_start(uv_loop_t *loop, const char *folder, struct err *err)
{
	struct store_thread *thread = calloc(1, sizeof(*thread));

	if (thread)
		thread->folder = strdup(folder);
	if (!thread || !thread->folder)
		(void)err_set(err, ERR_MEMORY, "no memory for the thread of the store");
	else
		thread->bell = bell_new(loop, on_rung, thread, err);
	if (!thread || !thread->bell) {
		if (thread)
			free(thread->folder);
		free(thread);
		return NULL;
	}
	list_init(&thread->waiting);
	list_init(&thread->over);
	if (start_thread(thread) < 0) {
		(void)err_set(err, ERR_SYSTEM, "the thread of the store cannot be started");
		return NULL; /* the daemon ends now; the bell goes with the loop */
	}
	return thread;
}

void store_thread_put(struct store_thread *thread, struct store_task *task)
{
	task->err = (struct err)ERR_INIT;
	list_init(&task->link);
	pthread_mutex_lock(&thread->lock);
	list_append(&thread->waiting, &task->link);
	pthread_mutex_unlock(&thread->lock);
	pthread_cond_signal(&thread->work);
}

void store_thread_close(struct store_thread *thread)
{
	struct list tasks;

	if (!thread)
		return;
	atomic_store(&thread->stop, true);
	pthread_mutex_lock(&thread->lock);
	thread->leaving = true;
	pthread_mutex_unlock(&thread->lock);
	pthread_cond_signal(&thread->work);
	pthread_join(thread->thread, NULL);
	take_over(thread, &thread->over, &tasks);
	tasks_report(&tasks);
	take_over(thread, &thread->waiting, &tasks);
	list_for_each(at, &tasks)
		(void)err_set(&container_of(at, struct store_task, link)->err, ERR_CLOSED,
			"the daemon is closing");
	tasks_report(&tasks);
	bell_close(thread->bell);
	pthread_cond_destroy(&thread->work);
	pthread_mutex_destroy(&thread->lock);
	free(thread->folder);
	free(thread);
}
