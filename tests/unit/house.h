/*
 * The whole daemon in this process.  The test turns its loop and plays everything else: the
 * spawner, an inspector, zygotes and programs (playing.h), and clients on its socket.
 */

#ifndef CED_TESTS_HOUSE_H
#define CED_TESTS_HOUSE_H

#include "daemon/server_parts.h"
#include "proto/wire/frame.h"
#include "tests/unit/playing.h"

struct house {
	struct server *server;
	struct playing play;
	char folder[64]; /* of socket, store and settings */
	char socket[96];
	int inspector; /* the test's end of the inspector's socket; -1: none yet */
	struct buf heard;
	bool denies;   /* the inspector's answer about every program */
	unsigned seen; /* how many programs the inspector has received */
	int control, slot;
	struct played worker;
	struct arena arena; /* holds replies until house_close() */
};

/* Starts a daemon with these lines added to its settings.  Answers none of its questions yet. */
bool house_open(struct house *house, const char *settings);

/* Gives the daemon its inspector, its zygote and one warm worker. */
bool house_warm(struct house *house);
bool house_ready(struct house *house, const char *settings);

/* The slot drops its worker and makes the next one. */
bool house_next(struct house *house);

/* Tells the daemon to end, waits for that and returns its exit status.  May be called once. */
int house_end(struct house *house);

/* Frees the rest, after house_end() or instead of it. */
void house_close(struct house *house);

/* Turns the loop and serves the inspector for `ms`. */
void house_turn(struct house *house, unsigned ms);

/* ---- clients ------------------------------------------------------------------------------ */

int house_connect(struct house *house);

/* Sends a request; `params` as JSON. */
bool house_send(int client, uint32_t msgid, const char *method, const char *params);

struct reply {
	uint32_t msgid;
	const char *code;          /* of an error, or NULL */
	const char *message;       /* likewise */
	const struct value *data;  /* likewise */
	const struct value *value; /* the result */
};

/* Reads the next message for this client.  False: none came, or the connection was closed. */
bool house_hear(struct house *house, int client, struct reply *ret_reply);
bool house_call(struct house *house, int client, const char *method, const char *params,
	struct reply *ret_reply);

/* The text of a key of a result, or "". */
const char *house_text(const struct reply *reply, const char *key);

/* Waits until a program has reached the worker, and serves the inspector meanwhile. */
bool house_at_worker(struct house *house);

/* Waits for a program; it then runs and ends with this output and exit code. */
bool house_program(struct house *house, const char *output, int code);

#endif
