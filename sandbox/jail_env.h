/*
 * The environment of the program that the spawner starts in a jail: descriptor numbers, names of
 * variables, paths, ids.  Both sides include this header.
 *
 * A zygote finds:
 *	fd 0, 1		/dev/null
 *	fd 2		the spawner's stderr, for one line if the start fails
 *	fd 3		its end of the zygote socket (JAIL_ENV_SOCKET)
 *	fd 4		O_PATH folder: a procfs of its own pid namespace, reachable by no path.
 *			"<pid>/uid_map" of a slot is written through it.  Slots must close it.
 *	/ced		the harness folder, read-only
 *	/work, /tmp	empty folders on the read-only root, to mount on
 *	/dev/null zero full random urandom
 *	/etc/hosts	a file, only where its workers get a network
 *	uid 0 of a user namespace with all capabilities in it; no_new_privs; base filter loaded
 */
#pragma once

#include "proto/jail_dirs.h"

#define JAIL_SOCKET_FD 3
#define JAIL_PROC_FD   4

#define JAIL_ENV_SOCKET  "CED_FD"
#define JAIL_ENV_PROC    "CED_PROC_FD"
#define JAIL_ENV_PRELOAD "CED_PRELOAD" /* modules to import, separated by spaces */
#define JAIL_ENV_SLOTS   "CED_SLOTS"   /* the most slots that it may open */
#define JAIL_ENV_UIDS    "CED_UIDS" /* "block": uid 1+k is slot k's; "one": there is only uid 0 */

#define STEADY_LIBRARY   "ced-steady.so" /* in the harness folder: runtimes/steady */
#define NODE_LIBRARY     "ced-node.so"   /* beside ced-zygote: runtimes/node */
#define LIBC_LIBRARY     "ced-libc.so" /* in the harness folder: runtimes/libc, loaded before libc */
#define JAIL_SHM_DIR     "/dev/shm"
#define JAIL_HOSTNAME    "sandbox"
#define JAIL_SIGNALS_MAX 256 /* pending signals of a program, timers included */
