/*
 * The programs and libraries that a job of a command runtime sees.
 *
 * The spawner has bound whole folders of the host (/usr/bin, /usr/lib ...) into the zygote's tree.
 * tree_pick() copies the listed tools and the libraries that they need into a tmpfs of the jail,
 * unmounts the host's folders and binds the copies in their places, read-only.  So a name that is
 * not listed does not exist, copies have no setuid bit and no attributes, and only files of `keep`
 * are shared with the host.
 */
#pragma once

#include "proto/base/err.h"
#include "sandbox/runtimes/command/orders.h"

/* The folder of our own files inside: the script of `ahead`, and libraries that are preloaded. */
#define TREE_AHEAD_DIR "/usr/lib/ced"
#define TREE_CALL_DIR  "/usr/bin"
#define TREE_CALL      "ced-call"    /* by which programs call tools */
#define TREE_DISPLAY   "ced-display" /* and show more than text */
#define STEADY_SCRIPT  "steady.sh"
#define AHEAD_LIBRARY  "ced-ahead.so" /* ahead.h */

/* `interpreter` is bound already and stays; its libraries are copied. */
int tree_pick(const struct orders *orders, const char *interpreter, struct err *err);
