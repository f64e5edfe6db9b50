/*
 * One run of `print(1)`, whole, one way or the other.
 */
#pragma once

#include <stddef.h>

#include "proto/base/arena.h"
#include "proto/value.h"
#include "proto/wire/frame.h"

#define PROGRAM "print(1)"

/* The last one is through the socket. */
enum way {
	WAY_PYTHON,
	WAY_PYTHON_BARE,
	WAY_BUBBLEWRAP,
	WAY_CED,
	WAY_COUNT
};

struct client {
	int sock;
	struct frame frame;
	char *request;
	size_t request_len;
};

const char *way_name(enum way way);

/* A connection that asks for this program, as often as it is told to. */
int client_open(
	struct client *client, const char *socket_path, const char *language, const char *code);
void client_close(struct client *client);

/* One run, whole: 0 when it went well. */
int client_run_well(struct client *client);

/* A process of its own, from its start to its end: 0 when it printed 1. */
int process_run(const char *const *argv);

/* 0: it printed what it should.  `client` is for WAY_CED and may else be NULL. */
int way_run(enum way way, struct client *client);

/* One run through the socket, and what ced says of it: the map of a result, in the arena.  Or NULL. */
const struct value *client_run(struct client *client, struct arena *arena);
