#include "daemon/record/recorder.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "daemon/loop/bell.h"
#include "proto/base/clock.h"
#include "proto/base/container.h"
#include "proto/base/log.h"

#define GATHER_MS      3    /* so long a commit that nobody waits for may wait for another record */
#define TIDY_IDLE_MS   20   /* after this time without work, move the log into the database */
#define PROBE_MS       1000 /* how often to try a store that failed */
#define LOOK_MS        1000 /* when idle: how often to check the store's files */
#define MARK_LOOKS     60   /* and after so many checks, write the mark */
#define STALLED_MS     2000 /* report a disk that has not answered for this time */
#define REFUSED_MS     10000 /* and refuse runs after this time */
#define WATCH_MS       1000
#define LOCKED_MOST_MS 2000 /* records wait this long for another program that locks the store */

/*
 * Comments say who may use a field.  `lock`: whoever holds the lock.  The thread's: only the
 * thread.  The loop's: only the loop.
 *
 * The store has three kinds of trouble here: it cannot be written (`ails`, `trouble`), its disk
 * does not answer (`stall`), or a reader keeps its log long (`held`).
 */
struct recorder {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t work;
	struct list waiting;        /* lock */
	struct list done;           /* lock */
	bool leaving;               /* lock */
	unsigned most;              /* records that one commit may take */
	uint64_t commits, records;  /* lock */
	int64_t asked_ms;           /* lock: since when the thread is in the store; 0: it is not */
	struct err ails;            /* lock: what is wrong with the store; ERR_NONE: nothing */
	struct store_long_log held; /* lock: the store's log, if a reader keeps it long */
	struct store *store;        /* the thread's */
	struct store_clock clock;   /* lock: the clock's state for the store's mark */
	unsigned looks;             /* the thread's: checks since the mark was written */
	bool untidy;                /* the thread's: has logged that tidying failed */
	bool unmarked;              /* the thread's: has logged that writing the mark failed */
	struct bell *bell;
	struct err trouble;              /* the loop's copy of `ails` */
	struct err stall;                /* the loop's: the disk does not answer */
	struct store_long_log held_told; /* the loop's copy of `held` */
	int64_t stall_ms;                /* for so long, at the last check */
	struct timer *watch;
	int64_t trouble_since_ms;
};

/* Records that are written in one transaction. */
struct batch {
	struct list records;
	unsigned count;
};

/* ---- on the thread -------------------------------------------------------------------------- */

static int recording_write(struct store *store, struct recording *recording, struct err *err)
{
	switch (recording->kind) {
	case RECORDING_BEGUN:
		return store_put_begun(store, &recording->run, err);
	case RECORDING_ENDED:
		return store_put_ended(store, &recording->run, err);
	case RECORDING_ACT:
		return store_put_act(store, &recording->act, err);
	case RECORDING_CHECKPOINT:
		return store_put_checkpoint(store, recording->checkpoint, err);
	case RECORDING_CARE:
		return recording->write(recording, store, err);
	case RECORDING_PARKED:
		return store_put_parked(store, &recording->run, &recording->parking, err);
	case RECORDING_UNPARKED:
		return store_put_unparked(store, recording->run.run_id, err);
	case RECORDING_USE:
		return store_put_use(store, recording->grant, err);
	case RECORDING_CALL:
		return store_put_call(store, recording->call, err);
	}
	return -1;
}

/* The lock is held. */
static bool is_idle(const struct recorder *recorder)
{
	return list_is_empty(&recorder->waiting) && !recorder->leaving;
}

/* Waits, and returns whether no work came for that time.  The lock is held. */
static bool stays_idle(struct recorder *recorder, int ms)
{
	struct timespec until;
	int result = 0;

	(void)clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += ms / 1000;
	until.tv_nsec += (long)(ms % 1000) * 1000000;
	if (until.tv_nsec >= 1000000000) {
		until.tv_nsec -= 1000000000;
		until.tv_sec++;
	}
	while (is_idle(recorder) && result == 0)
		result = pthread_cond_timedwait(&recorder->work, &recorder->lock, &until);
	return is_idle(recorder);
}

/* Called before and after calls of the store, which may wait for the disk.  Unlocks meanwhile. */
static void go_in(struct recorder *recorder)
{
	recorder->asked_ms = clock_ms();
	pthread_mutex_unlock(&recorder->lock);
}

static void come_back(struct recorder *recorder)
{
	pthread_mutex_lock(&recorder->lock);
	recorder->asked_ms = 0;
}

/* The loop may run at once, and takes the lock.  The lock is held, except for the ring. */
static void tell_loop(struct recorder *recorder)
{
	pthread_mutex_unlock(&recorder->lock);
	bell_ring(recorder->bell);
	pthread_mutex_lock(&recorder->lock);
}

/* Moves waiting records to the end of the batch, up to the most that one commit takes. */
static void fill_batch(struct recorder *recorder, struct batch *batch)
{
	struct list *first;

	while (batch->count < recorder->most && (first = list_first(&recorder->waiting))) {
		list_remove(first);
		list_append(&batch->records, first);
		batch->count++;
	}
}

/*
 * Waits for another record, if nobody waits for those that were written.  A short run's end then
 * comes into the transaction of its beginning: one commit instead of two.  Takes the lock.
 */
static bool gather(struct recorder *recorder, struct batch *batch, int64_t until_ms)
{
	unsigned before = batch->count;
	int64_t left_ms = until_ms - clock_ms();

	pthread_mutex_lock(&recorder->lock);
	if (batch->count < recorder->most && left_ms > 0 && !stays_idle(recorder, (int)left_ms))
		fill_batch(recorder, batch);
	pthread_mutex_unlock(&recorder->lock);
	return batch->count > before;
}

/* Writes the records behind *at, and moves it to the last one. */
static int write_more(struct store *store, const struct batch *batch, struct list **at,
	enum store_durability *durability, struct err *err)
{
	while ((*at)->next != &batch->records) {
		struct recording *recording = container_of((*at)->next, struct recording, link);

		if (recording_write(store, recording, err) < 0)
			return -1;
		if (recording->durability == STORE_NOW)
			*durability = STORE_NOW;
		*at = (*at)->next;
	}
	return 0;
}

static int write_batch(struct recorder *recorder, struct batch *batch, struct err *err)
{
	enum store_durability durability = STORE_SOON;
	struct list *at = &batch->records;
	int64_t until_ms = clock_ms() + GATHER_MS;

	if (store_begin(recorder->store, err) < 0)
		return -1;
	do {
		if (write_more(recorder->store, batch, &at, &durability, err) < 0) {
			store_rollback(recorder->store);
			return -1;
		}
	} while (durability == STORE_SOON && gather(recorder, batch, until_ms));
	return store_commit(recorder->store, durability, err);
}

static void fail_batch(struct batch *batch, const struct err *err)
{
	list_for_each(at, &batch->records) {
		struct recording *recording = container_of(at, struct recording, link);

		recording->failed = true;
		recording->err = *err;
	}
}

static int write_one(struct store *store, struct recording *recording)
{
	if (store_begin(store, &recording->err) < 0)
		return -1;
	if (recording_write(store, recording, &recording->err) < 0) {
		store_rollback(store);
		return -1;
	}
	return store_commit(store, recording->durability, &recording->err);
}

/* Acts of administrators, and records that free space, may use the reserve. */
static bool may_use_reserve(const struct recording *recording)
{
	return recording->err.code == ERR_FULL &&
	       (recording->kind == RECORDING_CARE || recording->kind == RECORDING_ACT);
}

/* Writes a failed batch again one by one, so that one bad record does not fail the others. */
static void write_singly(struct store *store, struct batch *batch)
{
	list_for_each(at, &batch->records) {
		struct recording *recording = container_of(at, struct recording, link);
		int r = write_one(store, recording);

		if (r < 0 && may_use_reserve(recording) && store_release_reserve(store)) {
			recording->err = (struct err)ERR_INIT;
			r = write_one(store, recording);
		}
		recording->failed = r < 0;
	}
}

/*
 * Retries while another program locks the store for a moment, so that no ended run is lost.
 */
static void write_all_of(struct recorder *recorder, struct batch *batch)
{
	int64_t until = clock_ms() + LOCKED_MOST_MS;
	struct err err;
	int r;

	do {
		err = (struct err)ERR_INIT;
		r = write_batch(recorder, batch, &err);
	} while (r < 0 && err.code == ERR_BUSY && clock_ms() < until);
	if (r < 0 && err.code == ERR_BUSY)
		fail_batch(batch, &err);
	else if (r < 0)
		write_singly(recorder->store, batch);
}

/* Maintenance may find damage in old runs, which does not affect new ones. */
static bool is_trouble(const struct recording *recording)
{
	return recording->kind == RECORDING_CARE ? store_is_shut(&recording->err)
						 : store_trouble(&recording->err) != NULL;
}

/*
 * Updates the state of the store after a batch: the last result counts.  If no record failed,
 * *around counts.  The lock is held.
 */
static void note_trouble(
	struct recorder *recorder, const struct batch *batch, const struct err *around)
{
	list_for_each(at, &batch->records) {
		const struct recording *recording = container_of(at, struct recording, link);

		if (!recording->failed)
			recorder->ails = (struct err)ERR_INIT;
		else if (is_trouble(recording))
			recorder->ails = recording->err;
	}
	if (recorder->ails.code == ERR_NONE)
		recorder->ails = *around;
}

/* One log line for all damage that was found. Without the lock. */
static void tell_damage(struct recorder *recorder)
{
	struct store_damage damage;

	if (store_take_damage(recorder->store, &damage))
		log_event(LOG_LEVEL_ERROR, "store.unreadable",
			LOG_INT("runs", (int64_t)damage.runs), LOG_INT("row", damage.row),
			LOG_STR("why", damage.why.text));
}

/* One piece at a time, so that a new record waits for one piece only. The lock is held. */
static void tidy(struct recorder *recorder)
{
	struct err err = ERR_INIT;
	int left;

	do {
		go_in(recorder);
		left = store_tidy(recorder->store, &err);
		if (left < 0 && !recorder->untidy)
			log_event(LOG_LEVEL_WARNING, "store.not_tidied", LOG_STR("why", err.text));
		recorder->untidy = left < 0;
		tell_damage(recorder);
		come_back(recorder);
	} while (left > 0 && is_idle(recorder));
}

static void try_again(struct store *store, struct err *err)
{
	if (store_probe(store, err) < 0 && err->code != ERR_FULL)
		return;
	*err = (struct err)ERR_INIT;
	if (store_regain_space(store, err) == 0)
		(void)store_probe(store, err);
}

/* Tries whether the store can be written again. The lock is held, except during the attempt. */
static void probe(struct recorder *recorder)
{
	struct store_long_log held;
	struct err err = ERR_INIT;

	go_in(recorder);
	/* An attempt would make the log longer, which is too long already. */
	if (store_check_log(recorder->store, &held, &err) == 0)
		try_again(recorder->store, &err);
	come_back(recorder);
	recorder->held = held;
	if (err.code == ERR_NONE || store_trouble(&err))
		recorder->ails = err;
	tell_loop(recorder);
}

/* Logs a failure once, until a write has succeeded. Without the lock. */
static void tell_mark(struct recorder *recorder, int r, const struct err *why)
{
	if (r < 0 && !recorder->unmarked)
		log_event(LOG_LEVEL_WARNING, "store.no_mark", LOG_STR("why", why->text));
	recorder->unmarked = r < 0;
}

/* What is wrong with the store although the last record was written. Without the lock. */
static void look_around(struct store *store, struct store_long_log *ret_held, struct err *err)
{
	struct err why = ERR_INIT;
	int full = store_check_space(store, err);

	if (store_check_log(store, ret_held, &why) < 0 && full == 0)
		(void)err_pass(err, &why);
}

/* Whether the loop has to report it. The lock is held. */
static bool note_held(struct recorder *recorder, const struct store_long_log *held)
{
	bool is_news = (held->bytes > 0) != (recorder->held.bytes > 0);

	recorder->held = *held;
	return is_news;
}

/* Files may be removed while nothing is written. The lock is held, except during the check. */
static void recorder_look(struct recorder *recorder)
{
	struct store_clock clock = recorder->clock;
	struct store_long_log held = recorder->held;
	struct err err = ERR_INIT;
	struct err why = ERR_INIT;
	bool is_news;

	go_in(recorder);
	if (store_check_files(recorder->store, &err) == 0)
		look_around(recorder->store, &held, &err);
	store_mark_clock(recorder->store, &clock);
	if (err.code == ERR_NONE && ++recorder->looks >= MARK_LOOKS) {
		recorder->looks = 0;
		tell_mark(recorder, store_mark_now(recorder->store, &why), &why);
	}
	come_back(recorder);
	is_news = note_held(recorder, &held) || store_trouble(&err);
	if (store_trouble(&err))
		recorder->ails = err;
	if (is_news)
		tell_loop(recorder);
}

static void wait_for_work(struct recorder *recorder)
{
	if (recorder->ails.code == ERR_NONE && stays_idle(recorder, TIDY_IDLE_MS))
		tidy(recorder);
	while (is_idle(recorder)) {
		if (recorder->ails.code != ERR_NONE && stays_idle(recorder, PROBE_MS))
			probe(recorder);
		else if (recorder->ails.code == ERR_NONE && stays_idle(recorder, LOOK_MS))
			recorder_look(recorder);
	}
}

static void give_back(struct recorder *recorder, struct batch *batch)
{
	struct list *first;

	while ((first = list_first(&batch->records))) {
		list_remove(first);
		list_append(&recorder->done, first);
	}
	recorder->commits++;
	recorder->records += batch->count;
}

static void *recorder_run(void *context)
{
	struct recorder *recorder = context;

	pthread_mutex_lock(&recorder->lock);
	for (;;) {
		struct batch batch = { .count = 0 };
		struct store_clock clock;
		struct store_long_log held;
		struct err around = ERR_INIT;

		wait_for_work(recorder);
		list_init(&batch.records);
		fill_batch(recorder, &batch);
		if (!batch.count)
			break;
		clock = recorder->clock;
		go_in(recorder);
		store_mark_clock(recorder->store, &clock);
		write_all_of(recorder, &batch);
		look_around(recorder->store, &held, &around);
		tell_damage(recorder);
		come_back(recorder);
		note_trouble(recorder, &batch, &around);
		(void)note_held(recorder, &held);
		give_back(recorder, &batch);
		tell_loop(recorder);
	}
	pthread_mutex_unlock(&recorder->lock);
	return NULL;
}

/* ---- in the loop ---------------------------------------------------------------------------- */

/* Logs once when the trouble begins and once when it ends, not for each record. */
static void tell_trouble(struct recorder *recorder, const struct err *ails)
{
	const char *word = store_trouble(ails);

	if (!word && recorder->trouble.code != ERR_NONE)
		log_event(LOG_LEVEL_NOTICE, "store.well_again",
			LOG_INT("after_ms", clock_ms() - recorder->trouble_since_ms));
	if (word && recorder->trouble.code == ERR_NONE) {
		recorder->trouble_since_ms = clock_ms();
		log_event(LOG_LEVEL_ERROR, "store.failed", LOG_STR("trouble", word),
			LOG_STR("why", ails->text));
	}
	recorder->trouble = *ails;
}

/* The same for a log that cannot be emptied. */
static void tell_held(struct recorder *recorder, const struct store_long_log *held)
{
	bool was_held = recorder->held_told.bytes > 0;

	if (held->bytes && !was_held)
		log_event(LOG_LEVEL_WARNING, "store.log_held", LOG_INT("bytes", held->bytes),
			LOG_INT("most_bytes", held->most_bytes), LOG_STR("by", held->by),
			LOG_STR("command", held->command));
	if (!held->bytes && was_held)
		log_event(LOG_LEVEL_NOTICE, "store.log_free");
	recorder->held_told = *held;
}

static void tell_done(struct recorder *recorder)
{
	struct store_long_log held;
	struct list done;
	struct list *first;
	struct err ails;

	list_init(&done);
	pthread_mutex_lock(&recorder->lock);
	ails = recorder->ails;
	held = recorder->held;
	while ((first = list_first(&recorder->done))) {
		list_remove(first);
		list_append(&done, first);
	}
	pthread_mutex_unlock(&recorder->lock);
	tell_held(recorder, &held);
	tell_trouble(recorder, &ails);
	while ((first = list_first(&done))) {
		struct recording *recording = container_of(first, struct recording, link);

		list_remove(first);
		recording->done(recording, recording->failed ? &recording->err : NULL);
	}
}

/* How long the thread has waited for the disk. */
static int64_t waited_ms(struct recorder *recorder)
{
	int64_t asked_ms;

	pthread_mutex_lock(&recorder->lock);
	asked_ms = recorder->asked_ms;
	pthread_mutex_unlock(&recorder->lock);
	return asked_ms ? clock_ms() - asked_ms : 0;
}

/* The thread itself cannot report that it waits for the disk. */
static void on_watch(void *owner)
{
	struct recorder *recorder = owner;
	bool stalled = recorder->stall.code != ERR_NONE;
	int64_t ms = waited_ms(recorder);

	if (ms < STALLED_MS) {
		if (stalled)
			log_event(LOG_LEVEL_NOTICE, "store.answers",
				LOG_INT("after_ms", recorder->stall_ms));
		recorder->stall = (struct err)ERR_INIT;
		recorder->stall_ms = 0;
		return;
	}
	if (!stalled)
		log_event(LOG_LEVEL_ERROR, "store.stalled", LOG_INT("for_ms", ms));
	recorder->stall_ms = ms;
	(void)err_set(&recorder->stall, ERR_SYSTEM,
		"the store: its disk has not answered for %lld s, so nothing can be recorded",
		(long long)ms / 1000);
	recorder->stall.sys_errno = ETIMEDOUT;
}

static void on_rung(void *owner)
{
	tell_done(owner);
}

static int start_thread(struct recorder *recorder)
{
	pthread_condattr_t monotonic;

	if (pthread_mutex_init(&recorder->lock, NULL) != 0 ||
		pthread_condattr_init(&monotonic) != 0 ||
		pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC) != 0 ||
		pthread_cond_init(&recorder->work, &monotonic) != 0)
		return -1;
	pthread_condattr_destroy(&monotonic);
	return pthread_create(&recorder->thread, NULL, recorder_run, recorder) == 0 ? 0 : -1;
}

struct recorder *recorder_start(
	uv_loop_t *loop, struct store *store, unsigned most, struct err *err)
{
	struct recorder *recorder = calloc(1, sizeof(*recorder));

	if (!recorder) {
		store_close(store);
		(void)err_set(err, ERR_MEMORY, "no memory for the recorder");
		return NULL;
	}
	recorder->store = store;
	recorder->most = most;
	list_init(&recorder->waiting);
	list_init(&recorder->done);
	recorder->bell = bell_new(loop, on_rung, recorder, err);
	if (!recorder->bell) {
		store_close(store);
		free(recorder);
		return NULL;
	}
	recorder->watch = timer_new(loop, WATCH_MS, WATCH_MS, on_watch, recorder);
	if (!recorder->watch || start_thread(recorder) < 0) {
		store_close(store);
		(void)err_set(err, ERR_SYSTEM, "no thread for the recorder");
		return NULL; /* the daemon ends now; timer and bell go with the loop */
	}
	return recorder;
}

void recorder_put(struct recorder *recorder, struct recording *recording)
{
	recording->failed = false;
	recording->err = (struct err)ERR_INIT;
	list_init(&recording->link);
	pthread_mutex_lock(&recorder->lock);
	list_append(&recorder->waiting, &recording->link);
	pthread_mutex_unlock(&recorder->lock);
	/* Signals after the unlock, or the thread would wake only to wait for the lock. */
	pthread_cond_signal(&recorder->work);
}

const struct err *recorder_trouble(const struct recorder *recorder)
{
	if (recorder->trouble.code != ERR_NONE)
		return &recorder->trouble;
	return recorder->stall_ms >= REFUSED_MS ? &recorder->stall : NULL;
}

const struct err *recorder_stall(const struct recorder *recorder)
{
	return recorder->stall.code == ERR_NONE ? NULL : &recorder->stall;
}

int64_t recorder_trouble_ms(const struct recorder *recorder)
{
	if (recorder->trouble.code == ERR_NONE)
		return recorder->stall_ms;
	return clock_ms() - recorder->trouble_since_ms;
}

const struct store_long_log *recorder_held(const struct recorder *recorder)
{
	return recorder->held_told.bytes ? &recorder->held_told : NULL;
}

void recorder_note_clock(struct recorder *recorder, const struct store_clock *clock)
{
	pthread_mutex_lock(&recorder->lock);
	recorder->clock = *clock;
	pthread_mutex_unlock(&recorder->lock);
}

void recorder_counts(const struct recorder *recorder, uint64_t *ret_commits, uint64_t *ret_records)
{
	pthread_mutex_t *lock = (pthread_mutex_t *)(uintptr_t)&recorder->lock;

	pthread_mutex_lock(lock);
	*ret_commits = recorder->commits;
	*ret_records = recorder->records;
	pthread_mutex_unlock(lock);
}

void recorder_close(struct recorder *recorder)
{
	if (!recorder)
		return;
	pthread_mutex_lock(&recorder->lock);
	recorder->leaving = true;
	pthread_cond_signal(&recorder->work);
	pthread_mutex_unlock(&recorder->lock);
	pthread_join(recorder->thread, NULL);
	timer_close(recorder->watch);
	tell_done(recorder);
	store_close(recorder->store);
	bell_close(recorder->bell);
	pthread_cond_destroy(&recorder->work);
	pthread_mutex_destroy(&recorder->lock);
	free(recorder);
}
