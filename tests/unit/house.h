/*
 * The whole daemon in this process, its loop turned by the test, with everybody else played: the
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
	int inspector; /* the inspector's end; -1: none yet */
	struct buf heard;
	bool denies;   /* what the inspector says about every program */
	unsigned seen; /* programs that it was shown */
	int control, slot;
	struct played worker;
	struct arena arena; /* of replies, until house_close() */
};

/* A running daemon with these lines added to its settings.  Nothing is answered yet. */
bool house_open(struct house *house, const char *settings);

/* Gives it its inspector, its zygote and one warm worker. */
bool house_warm(struct house *house);
bool house_ready(struct house *house, const char *settings);

/* The slot drops its worker and makes the next one. */
bool house_next(struct house *house);

/* Tells the daemon to end, and waits; gives its exit status.  May be called once. */
int house_end(struct house *house);

/* Gives back what is left, after house_end() or instead of it. */
void house_close(struct house *house);

/* Turns the loop, and the inspector with it. */
void house_turn(struct house *house, unsigned ms);

/* ---- clients ------------------------------------------------------------------------------ */

int house_connect(struct house *house);

/* Sends a request; `params` as JSON. */
bool house_send(int client, uint32_t msgid, const char *method, const char *params);

struct reply {
	uint32_t msgid;
	const char *code;          /* of an error, or NULL */
	const char *message;       /* the same */
	const struct value *data;  /* the same */
	const struct value *value; /* the result */
};

/* The next message for this client.  False: none came, or the connection has been closed. */
bool house_hear(struct house *house, int client, struct reply *ret_reply);
bool house_call(struct house *house, int client, const char *method, const char *params,
	struct reply *ret_reply);

/* The text of a key of a result, or "". */
const char *house_text(const struct reply *reply, const char *key);

/* A program has come as far as the worker.  The inspector is turned on the way. */
bool house_at_worker(struct house *house);

/* A program is heard, runs and ends with this code and this output. */
bool house_program(struct house *house, const char *output, int code);

#endif
