#include "daemon/sessions/states.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/loop/thread_work.h"
#include "daemon/sessions/sessions.h"
#include "daemon/workers/pool.h"
#include "daemon/workers/runtime.h"
#include "daemon/workers/spawner_link.h"
#include "daemon/workers/zygote.h"
#include "proto/base/cleanup.h"
#include "proto/base/clock.h"
#include "proto/base/container.h"
#include "proto/base/fdio.h"
#include "proto/base/log.h"
#include "proto/fill.h"

#define STEP_MS \
	5000 /* of one processor, for a step that takes a millisecond; then the session is lost */
#define LOOK_MS 1 /* between two looks whether the worker stands */

/* What a fork takes beside the copy of its files: page tables, and pages that both write to. */
#define FORK_BYTES ((uint64_t)4 << 20)
#define FORK_PART  256 /* ... and this part of what there is */

/* Who speaks when a state is made, or goes on. */
enum {
	SAID_WORKER = 1,
	SAID_STATE = 2,
	SAID_SLOT = 4,
	SAID_ALL = 7
};

static const char *const step_words[] = {
	[STATES_REST] = "rest",
	[STATES_SHRINK] = "shrink",
	[STATES_OPEN] = "open",
	[STATES_ROOM] = "room",
	[STATES_PERMIT] = "permit",
	[STATES_FORK] = "fork",
	[STATES_WAKE] = "wake",
	[STATES_BACK] = "back",
	[STATES_STAND] = "stand",
};

void states_init(struct states *states, unsigned most)
{
	*states = (struct states){ .most = most, .hello = -1, .state_job = -1 };
}

static void forget_made(struct states *states)
{
	watch_close(states->made.job);
	states->made.job = NULL;
	close_fds(&states->hello, 1);
	close_fds(&states->state_job, 1);
}

void states_done(struct states *states)
{
	timer_close(states->clock);
	states->clock = NULL;
	forget_made(states);
	for (unsigned i = 0; i < states->count; i++)
		watch_close(states->kept[i].job);
	states->count = 0;
}

/* states->count: it is not kept. */
static unsigned find(const struct states *states, uint32_t number)
{
	unsigned at = 0;

	while (at < states->count && states->kept[at].number != number)
		at++;
	return at;
}

bool states_have(const struct states *states, uint32_t number)
{
	return find(states, number) < states->count;
}

bool states_may_pin(const struct states *states, uint32_t number)
{
	unsigned others = 0;

	for (unsigned i = 0; i < states->count; i++)
		others += states->kept[i].is_pinned && states->kept[i].number != number;
	return others + 1 < states->most;
}

void states_pin(struct states *states, uint32_t number, const char *name)
{
	struct kept_state *state = &states->kept[find(states, number)];

	assert(states_have(states, number) && states_may_pin(states, number));

	state->is_pinned = true;
	cut_printf(state->name, sizeof(state->name), "%s", name ? name : "");
}

const char *states_reason(const struct states *states)
{
	const bool never = !states->most && states->why_not;

	return never ? " (its runtime has threads, which a state cannot hold)" : "";
}

struct value *states_to_value(const struct states *states, struct arena *arena)
{
	struct value *list = value_list(arena);

	for (unsigned i = 0; i < states->count; i++)
		value_list_add(arena, list, value_uint(arena, states->kept[i].number));
	if (states->is_back)
		value_list_add(arena, list, value_uint(arena, states->number));
	return list;
}

static void list_pinned(const struct kept_state *state, struct arena *arena, struct value *list)
{
	struct fill map = fill_start(arena);

	if (!state->is_pinned)
		return;
	fill_uint(&map, "state", state->number);
	fill_optional_text(&map, "name", state->name[0] ? state->name : NULL);
	value_list_add(arena, list, fill_done(&map));
}

struct value *states_pinned(const struct states *states, struct arena *arena)
{
	struct value *list = value_list(arena);

	for (unsigned i = 0; i < states->count; i++)
		list_pinned(&states->kept[i], arena, list);
	if (states->is_back)
		list_pinned(&states->made, arena, list);
	return list;
}

static void remove_state(struct states *states, unsigned at)
{
	watch_close(states->kept[at].job);
	memmove(&states->kept[at], &states->kept[at + 1],
		(states->count - at - 1) * sizeof(*states->kept));
	states->count--;
}

/* ---- steps ---------------------------------------------------------------------------------- */

/* Its process died in a cell, or between two. */
static void note_gone(struct session *session, struct worker *worker, uint32_t number)
{
	struct states *states = &session->states;
	const unsigned at = find(states, number);

	if (at == states->count)
		return;
	remove_state(states, at);
	worker->kept--;
}

void states_note_gone(struct session *session, struct worker *worker)
{
	for (unsigned i = 0; i < worker->gone_count; i++)
		note_gone(session, worker, worker->gone[i]);
	worker->gone_count = 0;
}

static void lose(struct session *session, const char *why)
{
	log_event(LOG_LEVEL_WARNING, "session.lost", LOG_STR("session", session->id),
		LOG_STR("step", step_words[session->states.step]), LOG_STR("why", why));
	session_end(session, SESSION_LOST);
}

/* A session that may use less of a processor gets more time. */
static uint64_t step_ms(const struct session *session)
{
	const uint64_t percent = session->limits.cpu_percent;

	return percent && percent < 100 ? (uint64_t)STEP_MS * 100 / percent : STEP_MS;
}

static void on_late(void *owner)
{
	lose(owner, "it took too long");
}

/* Begins a step, which has a time limit.  False: the session is lost. */
static bool enter(struct session *session, enum states_step step)
{
	struct states *states = &session->states;

	states->step = step;
	timer_close(states->clock);
	states->clock = timer_new(session->sessions->loop, step_ms(session), 0, on_late, session);
	if (!states->clock)
		lose(session, "no memory for a timer");
	return states->clock != NULL;
}

static void rest(struct session *session)
{
	struct states *states = &session->states;

	states->step = STATES_REST;
	states->is_back = false;
	timer_close(states->clock);
	states->clock = NULL;
	forget_made(states);
	states->made = (struct kept_state){ .number = 0 };
	session_settled(session);
}

/* The state cannot be kept, or kept again; the session goes on without it. */
static void give_up(struct session *session, const char *why)
{
	session->states.why_not = why;
	rest(session);
}

/* ---- leaves --------------------------------------------------------------------------------- */

static bool is_taken(const struct states *states, unsigned leaf)
{
	bool taken = false;

	for (unsigned i = 0; i < states->count; i++)
		taken = taken || states->kept[i].leaf == leaf;
	return taken;
}

/* -1: there is none.  A state that has died may still be known, and its leaf is its own. */
static int empty_leaf(const struct session *session)
{
	const struct worker *worker = session->worker;

	for (unsigned i = 0; i < worker->leaf_count; i++)
		if (!is_taken(&session->states, i) && worker_leaf_is_empty(worker, i))
			return (int)i;
	return -1;
}

/* ---- memory --------------------------------------------------------------------------------- */

/*
 * Makes the kernel give up what it holds for a session and can get again, such as pages of files.  It may
 * give up gigabytes of them however little is asked for, so that the loop cannot wait for it.  The thread
 * has a descriptor of its own, because the slot may be closed meanwhile.
 */
struct shrinking {
	struct session *session;
	int fd;
	uint64_t bytes;
	void (*then)(struct session *session);
};

static void shrink(void *context)
{
	const struct shrinking *shrinking = context;

	knobs_empty(shrinking->fd, shrinking->bytes);
}

static void on_shrunk(void *context)
{
	struct shrinking *shrinking = context;
	struct session *session = shrinking->session;

	if (session->end == SESSION_OPEN)
		shrinking->then(session);
	session_let_go(session);
	close_fds(&shrinking->fd, 1);
	free(shrinking);
}

/* -1: there is no knob for it, or no memory. */
static int start_shrinking(struct session *session, const struct knobs *leaf, uint64_t bytes,
	void (*then)(struct session *session))
{
	struct shrinking *shrinking = malloc(sizeof(*shrinking));

	if (!shrinking)
		return -1;
	*shrinking = (struct shrinking){ session, knobs_emptier(leaf), bytes, then };
	if (shrinking->fd < 0 || thread_work_start(session->sessions->thread_work, session->uid,
					 shrink, on_shrunk, shrinking) < 0) {
		close_fds(&shrinking->fd, 1);
		free(shrinking);
		return -1;
	}
	session_hold(session);
	return 0;
}

/* By how much `wanted` is more than the session may still take. */
static uint64_t lacking(const struct session *session, uint64_t wanted)
{
	return knobs_since(session->limits.memory_bytes, worker_memory(session->worker) + wanted);
}

/*
 * Goes on with `then`.  Before that, if the session may not take `wanted` more, what the kernel can get
 * again gives way in this leaf.
 */
static void make_room(struct session *session, const struct knobs *leaf, uint64_t wanted,
	void (*then)(struct session *session))
{
	const uint64_t bytes = lacking(session, wanted);

	timer_close(session->states.clock);
	session->states.clock = NULL;
	session->states.step = STATES_SHRINK;
	if (!bytes || start_shrinking(session, leaf, bytes, then) < 0)
		then(session);
}

/* ---- standing still ------------------------------------------------------------------------- */

static void look_again(void *owner);

static void find_leaf(struct session *session);

static void settle_back(struct session *session);

static void wake_again(struct session *session);

/* Whether the leaf of the worker before is empty.  A host without this knob kills the worker alone. */
static bool is_killed_off(const struct session *session)
{
	const struct worker *worker = session->worker;

	return !knobs_hold(&worker->knobs, KNOB_KILL) ||
	       worker_leaf_is_empty(worker, session->states.made.leaf);
}

/* Whether nothing but the state that was woken has files open. */
static bool are_others_gone(const struct session *session)
{
	const struct worker *worker = session->worker;
	bool gone = true;

	for (unsigned i = 0; i < worker->leaf_count; i++)
		gone = gone && worker_leaf_is_empty(worker, i);
	return gone;
}

/*
 * Whether what the kernel is to do has happened.  A state that made threads when it was woken can never
 * be kept again: then the session is lost after a time, since no state may be used up in silence.
 */
static bool is_due(const struct session *session)
{
	const enum states_step step = session->states.step;

	if (step == STATES_ROOM)
		return empty_leaf(session) >= 0;
	return worker_stands(session->worker) &&
	       (step != STATES_BACK ||
		       (knobs_pids_now(&session->worker->knobs) == 1 && is_killed_off(session) &&
			       (!session->states.no_room || are_others_gone(session))));
}

static void go_on(struct session *session)
{
	if (session->states.step == STATES_ROOM)
		find_leaf(session);
	else if (session->states.step == STATES_BACK && session->states.no_room)
		wake_again(session);
	else if (session->states.step == STATES_BACK)
		settle_back(session);
	else
		rest(session);
}

static void look(struct session *session)
{
	struct states *states = &session->states;

	if (is_due(session)) {
		go_on(session);
		return;
	}
	timer_close(states->clock);
	states->clock = timer_new(session->sessions->loop, LOOK_MS, 0, look_again, session);
	if (!states->clock)
		lose(session, "no memory for a timer");
}

static void look_again(void *owner)
{
	struct session *session = owner;

	session_hold(session);
	if (clock_ms() - session->states.since_ms > (int64_t)step_ms(session))
		lose(session, "the kernel takes too long");
	else
		look(session);
	session_let_go(session);
}

static void look_until(struct session *session, enum states_step step)
{
	session->states.step = step;
	session->states.since_ms = clock_ms();
	look(session);
}

static void stand(struct session *session)
{
	if (worker_hold_still(session->worker, true) < 0)
		lose(session, "its cgroup cannot be frozen");
	else
		look_until(session, STATES_STAND);
}

/*
 * The state is never used up: it is kept again under its number.  Before that, what else was in the leaf
 * of the worker before it, and stood still until now, is killed.
 */
static void be_back(struct session *session)
{
	if (worker_hold_still(session->worker, true) < 0) {
		lose(session, "its cgroup cannot be frozen");
		return;
	}
	worker_kill_leaf(session->worker, session->states.made.leaf);
	look_until(session, STATES_BACK);
}

/* ---- keeping -------------------------------------------------------------------------------- */

static void drop_state(struct session *session, unsigned at)
{
	uint32_t number = session->states.kept[at].number;

	remove_state(&session->states, at);
	session->worker->kept--;
	if (worker_send_drop(session->worker, number) < 0)
		lose(session, "no memory, or its slot does not answer");
}

void states_drop(struct session *session, uint32_t number)
{
	drop_state(session, find(&session->states, number));
}

/* There is one, since pinned ones leave a place. */
static unsigned oldest_unpinned(const struct states *states)
{
	unsigned at = 0;

	while (at + 1 < states->count && states->kept[at].is_pinned)
		at++;
	return at;
}

/* All three have spoken. */
static void look_whether_kept(struct session *session)
{
	struct states *states = &session->states;

	if (states->said != SAID_ALL)
		return;
	states->kept[states->count++] = states->made;
	states->made.job = NULL;
	states->is_back = false;
	session->worker->kept++;
	states->why_not = NULL;
	if (states->files != KEPT_WELL) {
		states->why_not = "files";
		drop_state(session, states->count - 1);
	}
	if (session->end == SESSION_OPEN)
		stand(session);
}

static void says(struct session *session, unsigned who)
{
	session->states.said |= who;
	look_whether_kept(session);
}

/* False: nothing has come yet. */
static bool hear_state(struct session *session)
{
	struct states *states = &session->states;
	struct job_head head;
	ssize_t got = recv(watch_fd(states->made.job), &head, sizeof(head), MSG_DONTWAIT);

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	watch_want(states->made.job, 0);
	if (got == 0)
		return false; /* there is none: the worker and the slot say so */
	states->files = KEPT_WHY_COUNT;
	if (got == sizeof(head) && head.magic == SLOTMSG_MAGIC && head.kind == JOB_AGREED &&
		!head.len)
		states->files = head.exit_code == KEPT_WELL ? KEPT_WELL : KEPT_NO_FILES;
	return true;
}

/* The new state says whether it has its files; an older one has nothing to say. */
static void on_state_job(void *owner, int events)
{
	struct session *session = owner;

	(void)events;
	if (!session->states.made.job || !hear_state(session))
		return;
	session_hold(session);
	if (session->states.files == KEPT_WHY_COUNT)
		lose(session, "the new state says something else");
	else
		says(session, SAID_STATE);
	session_let_go(session);
}

/* Two pairs of sockets: our ends are kept, theirs go to the worker and to the slot. */
static int make_sockets(struct session *session, int *ret_slot_end)
{
	struct states *states = &session->states;
	const int on = 1;
	int job[2];
	int hello[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, job) < 0)
		return -1;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, hello) < 0) {
		close_fds(job, 2);
		return -1;
	}
	states->state_job = job[1];
	states->hello = hello[1];
	*ret_slot_end = hello[0];
	states->made.number = states->number;
	if (fd_set_nonblocking(job[0], true, NULL) < 0 ||
		setsockopt(hello[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) < 0) {
		close(job[0]);
		return -1;
	}
	states->made.job =
		watch_new(session->sessions->loop, job[0], UV_READABLE, on_state_job, session);
	return states->made.job ? 0 : -1;
}

static void ask_permission(struct session *session, unsigned leaf)
{
	auto_fd int slot_end = -1;

	if (make_sockets(session, &slot_end) < 0) {
		give_up(session, "memory");
		return;
	}
	session->states.made.leaf = leaf;
	session->states.made.disk_bytes = session->states.disk_bytes;
	session->states.made.disk_was_full = session->states.disk_was_full;
	if (enter(session, STATES_PERMIT) &&
		worker_send_keep(session->worker, session->states.number, leaf, slot_end) < 0)
		lose(session, "no memory, or its slot does not answer");
}

static void fork_now(struct session *session)
{
	struct states *states = &session->states;
	int fds[] = { take_fd(&states->state_job), take_fd(&states->hello) };

	states->said = 0;
	states->no_fork = false;
	if (!enter(session, STATES_FORK)) {
		close_fds(fds, COUNT_OF(fds));
		return;
	}
	session->worker->job_messages = 0;
	if (worker_hold_still(session->worker, false) < 0 ||
		worker_send_word(session->worker, JOB_KEEP, fds, COUNT_OF(fds)) < 0)
		lose(session, "its cgroup cannot go on, or its job socket is closed");
}

/* The session may have ended since the question. */
static void on_leaf(void *context, const struct priv_msg *msg, int *fds, unsigned fd_count)
{
	struct session *session = context;
	struct knobs knobs;

	knobs_init(&knobs);
	if (msg->error) {
		close_fds(fds, fd_count);
		if (session->end == SESSION_OPEN)
			give_up(session, "host");
	} else if (knobs_take(&knobs, &msg->body.knobs, fds, fd_count) < 0) {
		lose(session, "the spawner sends other files");
	} else if (session->end == SESSION_OPEN) {
		worker_add_leaf(session->worker, &knobs);
		find_leaf(session);
	}
	knobs_done(&knobs);
	session_let_go(session);
}

static void open_leaf(struct session *session)
{
	const struct worker *worker = session->worker;
	const uint32_t leaf = worker->leaf_count + 1;
	struct priv_msg msg = { .op = PRIV_SLOT };

	msg.body.slot =
		(struct priv_slot){ worker->zygote->child, leaf * PRIV_SLOTS_MAX + worker->index };
	if (!enter(session, STATES_OPEN))
		return;
	session_hold(session);
	spawner_ask(worker->zygote->runtime->pool->spawner, &msg, NULL, 0, on_leaf, session);
}

/* One for each state that may be kept, and one in which something dies. */
static void find_leaf(struct session *session)
{
	const int leaf = empty_leaf(session);

	if (leaf >= 0)
		ask_permission(session, (unsigned)leaf);
	else if (session->worker->leaf_count < session->states.most + 1)
		open_leaf(session);
	else
		look_until(session, STATES_ROOM);
}

/* What a fork needs: without it, the worker runs out of memory, and the session ends. */
static uint64_t fork_bytes(const struct session *session)
{
	return session->states.disk_bytes + FORK_BYTES + worker_memory(session->worker) / FORK_PART;
}

static void keep_if_room(struct session *session)
{
	if (lacking(session, fork_bytes(session)))
		give_up(session, "memory");
	else
		find_leaf(session);
}

void states_keep(struct session *session, uint32_t number)
{
	struct states *states = &session->states;

	assert(session->worker);

	states->number = number;
	states->threads = knobs_pids_now(&session->worker->knobs);
	if (states->threads != 1) {
		give_up(session, states->threads ? "threads" : "host");
		return;
	}
	while (states->count >= states->most && states->count && session->end == SESSION_OPEN)
		drop_state(session, oldest_unpinned(states));
	if (session->end != SESSION_OPEN)
		return;
	make_room(session, &session->worker->knobs, fork_bytes(session), keep_if_room);
}

/* ---- going back ----------------------------------------------------------------------------- */

/* Its job socket becomes the worker's, with the word in it: nobody waits for a process that stands still. */
static int wake(struct session *session, unsigned at)
{
	struct states *states = &session->states;
	const int job = fcntl(watch_fd(states->kept[at].job), F_DUPFD_CLOEXEC, 0);

	states->made = states->kept[at]; /* pinned or not, under its name */
	states->disk_bytes = states->made.disk_bytes;
	/* What other states have open of deleted files may still fill it. */
	states->disk_was_full = states->disk_was_full || states->made.disk_was_full;
	states->made.job = NULL;
	remove_state(states, at);
	session->worker->kept--;
	if (job < 0 || worker_replace_job(session->worker, job) < 0)
		return -1;
	return worker_send_word(session->worker, JOB_WAKE, NULL, 0);
}

void states_go_back(struct session *session, uint32_t number)
{
	struct states *states = &session->states;

	assert(session->worker && states_have(states, number));

	states->number = number;
	states->said = 0;
	states->no_room = states->is_last_wake = false;
	if (!enter(session, STATES_WAKE))
		return;
	if (wake(session, find(states, number)) < 0 ||
		worker_send_promote(session->worker, number, states->made.leaf, &session->limits) <
			0)
		lose(session,
			"no memory, its cgroup refuses its limits, or its slot does not answer");
	if (session->end != SESSION_OPEN)
		return;
	states->is_back = true;
	session->state = number;
}

static void limit_back(struct session *session)
{
	if (lacking(session, 0))
		lose(session, "the state that was woken holds more memory than there is");
	else if (worker_limit(session->worker, &session->limits) < 0)
		lose(session, "its cgroup refuses its limits");
	else
		states_keep(session, session->states.number);
}

static void shrink_worker_back(struct session *session)
{
	make_room(session, &session->worker->knobs, 0, limit_back);
}

/*
 * While the worker before it died, the state had a limit that left out that worker's leaf.  Pages there
 * that other states share do not go with it.  So what there is now is compared.
 */
static void settle_back(struct session *session)
{
	make_room(session, &session->worker->leaves[session->states.made.leaf], 0,
		shrink_worker_back);
}

static void look_whether_back(struct session *session, unsigned who)
{
	session->states.said |= who;
	if (session->states.said == (SAID_SLOT | SAID_STATE))
		be_back(session);
}

/*
 * Deleted files that other states have open, or the worker before, leave no room on the disk for the
 * files of the state.  The session is where its client wants it, so the others are given up.
 */
static void make_room_for_files(struct session *session)
{
	struct states *states = &session->states;

	log_event(LOG_LEVEL_NOTICE, "session.states_given_up", LOG_STR("session", session->id),
		LOG_INT("states", states->count),
		LOG_STR("why", "deleted files that are open leave no room on the disk"));
	while (states->count && session->end == SESSION_OPEN)
		drop_state(session, 0);
	if (session->end != SESSION_OPEN)
		return;
	states->no_room = true;
	look_whether_back(session, SAID_STATE);
}

/* Nothing else of the session lives any more. */
static void wake_again(struct session *session)
{
	struct states *states = &session->states;

	states->said = SAID_SLOT;
	states->no_room = false;
	states->is_last_wake = true;
	if (!enter(session, STATES_WAKE))
		return;
	session->worker->job_messages = 0;
	if (worker_hold_still(session->worker, false) < 0 ||
		worker_send_word(session->worker, JOB_WAKE, NULL, 0) < 0)
		lose(session, "its cgroup cannot go on, or its job socket is closed");
}

/* If the worker before it has died meanwhile, the slot has said so before this. */
static void be_promoted(struct session *session)
{
	session->worker->ended = false;
	look_whether_back(session, SAID_SLOT);
}

/* ---- a worker that does not fork ------------------------------------------------------------- */

/* The slot has found nobody who could be the state, and the worker says that there is none. */
static void go_on_without(struct session *session)
{
	session->states.why_not = "fork";
	forget_made(&session->states);
	stand(session);
}

/* Before the worker has spoken, the slot's word may mean that it has died, or lies. */
static void not_kept(struct session *session, const char *why)
{
	session->states.said |= SAID_SLOT;
	if (session->states.no_fork)
		go_on_without(session);
	else if (session->states.said & SAID_WORKER)
		lose(session, why);
}

static void worker_has_not_forked(struct session *session)
{
	session->states.no_fork = true;
	worker_forget_refusals(session->worker);
	if (session->states.said & SAID_SLOT)
		go_on_without(session);
}

/* ---- reports -------------------------------------------------------------------------------- */

/*
 * A state has died, and the session goes on.  It does not if that is the one that is being made or gone
 * back to.  Before the fork that one does not live: an older one had its number, and was given up.
 */
static bool is_missed(const struct session *session, const struct slotmsg *msg)
{
	return msg->kind == SLOTMSG_STATE_GONE &&
	       (msg->state != session->states.number || session->states.step <= STATES_PERMIT);
}

static bool tells_that_none_was_made(const struct session *session, const struct slotmsg *msg)
{
	return msg->kind == SLOTMSG_KEPT && session->states.step == STATES_FORK &&
	       msg->state == session->states.number && msg->status;
}

void states_on_message(struct session *session, const struct slotmsg *msg)
{
	const enum states_step step = session->states.step;

	if (is_missed(session, msg))
		note_gone(session, session->worker, msg->state);
	else if (tells_that_none_was_made(session, msg))
		not_kept(session, msg->text);
	else if (msg->status || msg->state != session->states.number)
		lose(session, msg->status ? msg->text : "a message about another state");
	else if (msg->kind == SLOTMSG_PERMITTED && step == STATES_PERMIT)
		fork_now(session);
	else if (msg->kind == SLOTMSG_KEPT && step == STATES_FORK)
		says(session, SAID_SLOT);
	else if (msg->kind == SLOTMSG_PROMOTED && step == STATES_WAKE)
		be_promoted(session);
	else
		lose(session, "a message out of turn");
}

/* Not in its own words, which may be the program's and may have secrets in them. */
static const char *trouble_of(const struct job_head *head)
{
	if (head->kind == JOB_AGREED && head->exit_code == KEPT_NOT_BACK)
		return "the process says that it could not put its files back";
	if (head->kind == JOB_AGREED && head->exit_code == KEPT_NO_ROOM)
		return "the process says that the disk has no room for its files";
	return "the process says that it could not do it";
}

void states_on_job(struct session *session, const struct job_head *head)
{
	const enum states_step step = session->states.step;

	if (head->kind == JOB_AGREED && head->exit_code == KEPT_NO_FORK && step == STATES_FORK)
		worker_has_not_forked(session);
	else if (head->kind == JOB_AGREED && head->exit_code == KEPT_NO_ROOM &&
		 step == STATES_WAKE && !session->states.is_last_wake)
		make_room_for_files(session);
	else if (head->kind != JOB_AGREED || head->exit_code != KEPT_WELL)
		lose(session, trouble_of(head));
	else if (step == STATES_FORK)
		says(session, SAID_WORKER);
	else if (step == STATES_WAKE)
		look_whether_back(session, SAID_STATE);
	else
		lose(session, "a message out of turn");
}

bool states_on_worker_ended(struct session *session)
{
	return session->states.step == STATES_WAKE && !(session->states.said & SAID_SLOT);
}
