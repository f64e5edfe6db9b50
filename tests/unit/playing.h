/*
 * The other side of the daemon's pipes, played by a test: spawner, zygotes, slots and workers.
 *
 * All of it is one thread.  Whoever waits here runs the daemon's loop meanwhile, so nothing
 * happens behind a test's back, and a fault that is armed hits the daemon's own calls.
 */

#ifndef CED_TESTS_PLAYING_H
#define CED_TESTS_PLAYING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <uv.h>

#include "proto/internal/privmsg.h"
#include "proto/internal/slotmsg.h"

struct playing {
	uv_loop_t *loop;
	int spawner;       /* our end, non-blocking; -1: nobody plays the spawner */
	uint32_t children; /* given out so far */
	unsigned kills;    /* heard, and answered, on the way to something else */
	uint32_t killed;   /* the last of them */
};

/* A pair of sockets of `type`: [0] for the daemon, [1] for the test; both non-blocking. */
bool playing_pair(int type, int ends[2]);

/* Runs the loop until `*flag`, or for at most five seconds. */
bool playing_until(struct playing *play, const bool *flag);

/* Runs the loop for `ms`, and at least a few times. */
void playing_turn(struct playing *play, unsigned ms);

/* Whether the daemon has closed its end of `fd`; what is still to be read there is dropped. */
bool playing_is_closed(struct playing *play, int fd);

/* Reads `len` bytes from a stream. */
bool playing_read(struct playing *play, int fd, void *bytes, size_t len);

/* ---- the spawner -------------------------------------------------------------------------- */

/* The next question that is no KILL.  Its descriptors are the caller's. */
bool playing_hear(struct playing *play, struct priv_msg *ret_msg, int *ret_fds);

/* Answers a question.  Takes `fds`. */
bool playing_answer(struct playing *play, const struct priv_msg *question,
	const struct priv_msg *answer, const int *fds, unsigned fd_count);
bool playing_refuse(struct playing *play, const struct priv_msg *question, const char *why);
bool playing_exited(struct playing *play, uint32_t child, int status);

/* ---- zygotes and slots -------------------------------------------------------------------- */

/* A zygote is asked for, given, and ready.  Gives its end of the control socket, or -1. */
int playing_zygote(struct playing *play);

/* The same with a child that has not said a word yet. */
int playing_silent_zygote(struct playing *play);

/* Hears a message on a control or slot socket.  Its descriptors are the caller's. */
bool playing_lease(struct playing *play, int sock, struct slotmsg *ret_msg, int *ret_fds);
bool playing_say(int sock, enum slotmsg_kind kind, uint32_t slot, uint32_t sequence);
bool playing_say_msg(int sock, const struct slotmsg *msg);

/* A slot is asked for and opened, with these knobs.  Gives its end of the slot socket, or -1. */
int playing_slot(struct playing *play, int control, const struct priv_knobs *knobs, const int *fds);

/* ---- workers ------------------------------------------------------------------------------ */

/* A worker's ends of what WORKER_MAKE brings. */
struct played {
	int slot; /* not owned */
	uint32_t index, sequence;
	struct slotmsg_limits limits;
	uint32_t flags;
	int job, out, errout, lifeline;
};

bool playing_make(struct playing *play, int slot, struct played *ret_worker);
bool playing_warm(const struct played *worker);
void played_close(struct played *worker);

/* What a slot says about this worker. */
bool played_says(const struct played *worker, enum slotmsg_kind kind);
bool played_ended(const struct played *worker, int wait_status);
/* The same, with what it used. */
bool played_used(const struct played *worker, int wait_status, uint64_t cpu_user_us);

/* What a worker says on its job socket. */
bool played_sends(const struct played *worker, enum job_kind kind, int exit_code, const char *body);

/* Reads a whole job; gives its body (malloc), or NULL. */
char *played_job(struct playing *play, const struct played *worker, size_t *ret_len);

#endif
