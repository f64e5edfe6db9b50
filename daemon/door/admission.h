/*
 * Which connections are let in: bounded in all and for each user.  When there is no place left, the
 * longest idle connection of the user with most makes room.
 */
#pragma once

#include <stdint.h>

struct caller;
struct list;
struct services;

/* Puts a new connection's link among the others.  NULL: it is let in; else why not. */
const char *admission_enter(
	struct services *services, struct list *link, const struct caller *caller);

/* The connection has gone; does nothing for one that was never let in. */
void admission_leave(struct services *services, struct list *link, uint32_t uid);

void admission_log_refusal(struct services *services, uint32_t uid, const char *why);
