/*
 * Looks names up in the DNS, by c-ares.  Answers are kept for as long as they say, at most half a
 * minute; who asks holds each address against the closed ranges every time.
 */
#pragma once

#include "daemon/egress/addresses.h"
#include "daemon/egress/loop.h"

#define NAMES_ADDRESSES_MAX 8

struct names;

/* `count` 0: the name was not found.  The list lives for the call. */
typedef void names_answer(void *context, const struct address *list, size_t count);

/* Reads no file from here on.  NULL with *err. */
struct names *names_new(struct loop *loop, struct err *err);

/* Asks these servers from here on: "1.1.1.1:53,[::1]:53". */
int names_use(struct names *names, const char *resolvers, struct err *err);

/* Calls on_answer, perhaps before it returns. */
void names_find(struct names *names, const char *host, names_answer *on_answer, void *context);

/* For timeouts: to be called a few times a second while something is looked up. */
void names_tick(struct names *names);

void names_free(struct names *names);
