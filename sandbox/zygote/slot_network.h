/*
 * The network of one networked worker: a network namespace of its own with nothing in it but `lo`,
 * the addresses 198.18.0.0/15 on it, and listening sockets.
 *
 * The slot makes the namespace before the worker, so that no connection, port or option is left for
 * the next one.  The listeners come later, when the run is known, and go to ced-egress, which
 * accepts from outside.  In a session each cell gets new ones.  There is no route and no other
 * interface: without a listener a connection is refused by this kernel, in this namespace.
 */
#pragma once

#include "proto/base/err.h"

/* Moves the caller into a new network namespace and gives it the addresses. */
int slot_network_make(struct err *err);

/*
 * Carries out the orders in `orders_fd` (struct slotmsg_network): writes the file of hosts below the
 * folder `files`, makes a listener for each port and sends all of them over `listeners`.
 */
int slot_network_open(int orders_fd, int files, int listeners, struct err *err);
