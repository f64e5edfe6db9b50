/*
 * Admission of new connections.  There is a limit for all connections and one for each user.  When
 * a limit is reached, the daemon closes the connection that has been idle for longest, of the user
 * with the most connections.
 */
#pragma once

#include <stdint.h>

struct caller;
struct list;
struct services;

/*
 * Adds the link of a new connection to services->conns.  Returns NULL when the connection is
 * admitted, else the reason why not.
 */
const char *admission_enter(
	struct services *services, struct list *link, const struct caller *caller);

/* Call it when a connection has closed.  Does nothing for a connection that was not admitted. */
void admission_leave(struct services *services, struct list *link, uint32_t uid);

void admission_log_refusal(struct services *services, uint32_t uid, const char *why);
