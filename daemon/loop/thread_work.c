#include "daemon/loop/thread_work.h"

#include <limits.h>
#include <stdlib.h>

#include "proto/base/container.h"

struct task {
	struct fair_entry entry;
	struct thread_work *work;
	uv_work_t req; /* allocated here, so that starting it cannot fail */
	work_fn *run;
	work_fn *done;
	void *context;
};

void thread_work_init(struct thread_work *work, uv_loop_t *loop)
{
	*work = (struct thread_work){ .loop = loop };
	fair_init(&work->users);
}

static struct task *next_task(const struct thread_work *work, unsigned per_user)
{
	struct fair_entry *entry = fair_next(&work->users, per_user, NULL, NULL);

	return entry ? container_of(entry, struct task, entry) : NULL;
}

static void on_thread(uv_work_t *req)
{
	struct task *task = container_of(req, struct task, req);

	task->run(task->context);
}

static void serve(struct thread_work *work);

static void on_done(uv_work_t *req, int status)
{
	struct task *task = container_of(req, struct task, req);

	(void)status; /* work is never cancelled */
	fair_leave(&task->entry);
	serve(task->work); /* first: done() may free `work` */
	task->done(task->context);
	free(task);
}

static void serve(struct thread_work *work)
{
	struct task *task;

	while (work->users.taken < THREAD_WORK_MOST &&
		(task = next_task(work, THREAD_WORK_PER_USER))) {
		fair_run(&task->entry);
		(void)uv_queue_work(work->loop, &task->req, on_thread, on_done);
	}
}

int thread_work_start(
	struct thread_work *work, uint32_t uid, work_fn *run, work_fn *done, void *context)
{
	struct task *task = work->stopped ? NULL : calloc(1, sizeof(*task));
	struct fair_lane *lane = task ? fair_make(&work->users, &uid, sizeof(uid)) : NULL;

	if (!lane) {
		free(task);
		return -1;
	}
	*task = (struct task){ .work = work, .run = run, .done = done, .context = context };
	fair_enter(lane, &task->entry);
	serve(work);
	return 0;
}

void thread_work_stop(struct thread_work *work)
{
	struct task *task;

	work->stopped = true;
	while ((task = next_task(work, UINT_MAX))) {
		fair_leave(&task->entry);
		task->done(task->context);
		free(task);
	}
}
