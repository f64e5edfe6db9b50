/*
 * A test's side of the daemon's pipes: it plays the spawner, zygotes, slots and workers.
 *
 * Everything runs in one thread.  A function that waits here runs the daemon's loop meanwhile, so
 * nothing happens unseen by the test, and an armed fault hits the daemon's own calls.
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
	int spawner;       /* our end, non-blocking; -1: the test does not play the spawner */
	uint32_t children; /* the last id that was given out */
	unsigned kills;    /* KILLs that were read and answered while waiting for something else */
	uint32_t killed;   /* the last of them */
};

/* Opens a pair of sockets of `type`: [0] for the daemon, [1] for the test; both non-blocking. */
bool playing_pair(int type, int ends[2]);

/* Runs the loop until `*flag` is set, for at most five seconds. */
bool playing_until(struct playing *play, const bool *flag);

/* Runs the loop for `ms`, and at least a few times. */
void playing_turn(struct playing *play, unsigned ms);

/* Returns whether the daemon has closed its end of `fd`.  Discards unread bytes. */
bool playing_is_closed(struct playing *play, int fd);

/* Reads `len` bytes from a stream. */
bool playing_read(struct playing *play, int fd, void *bytes, size_t len);

/* ---- the spawner -------------------------------------------------------------------------- */

/* Reads the next question that is no KILL.  The caller owns its descriptors. */
bool playing_hear(struct playing *play, struct priv_msg *ret_msg, int *ret_fds);

/* Answers a question.  Takes over `fds`. */
bool playing_answer(struct playing *play, const struct priv_msg *question,
	const struct priv_msg *answer, const int *fds, unsigned fd_count);
bool playing_refuse(struct playing *play, const struct priv_msg *question, const char *why);
bool playing_exited(struct playing *play, uint32_t child, int status);

/* ---- zygotes and slots -------------------------------------------------------------------- */

/*
 * Answers the question for a zygote and makes it ready.  Returns its end of the control socket, or
 * -1.
 */
int playing_zygote(struct playing *play);

/* The same with a child that has not sent a message yet. */
int playing_silent_zygote(struct playing *play);

/* Reads a message from a control or slot socket.  The caller owns its descriptors. */
bool playing_lease(struct playing *play, int sock, struct slotmsg *ret_msg, int *ret_fds);
bool playing_say(int sock, enum slotmsg_kind kind, uint32_t slot, uint32_t sequence);
bool playing_say_msg(int sock, const struct slotmsg *msg);

/*
 * Opens the slot that is asked for, with these knobs.  Returns its end of the slot socket, or -1.
 */
int playing_slot(struct playing *play, int control, const struct priv_knobs *knobs, const int *fds);

/* ---- workers ------------------------------------------------------------------------------ */

/* A worker's ends of the pipes that come with WORKER_MAKE. */
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

/* Sends the slot's message about this worker. */
bool played_says(const struct played *worker, enum slotmsg_kind kind);
bool played_ended(const struct played *worker, int wait_status);
/* The same, with the worker's usage. */
bool played_used(const struct played *worker, int wait_status, uint64_t cpu_user_us);

/* Sends the worker's message on its job socket. */
bool played_sends(const struct played *worker, enum job_kind kind, int exit_code, const char *body);

/* Reads a whole job.  Returns its body (malloc), or NULL. */
char *played_job(struct playing *play, const struct played *worker, size_t *ret_len);

#endif
