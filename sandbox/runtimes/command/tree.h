/*
 * The programs and libraries that a job of a command runtime sees.
 *
 * The spawner has bound whole folders of the host (/usr/bin, /usr/lib ...) into the zygote's tree.
 * tree_pick() copies what is listed, the tools by name and the libraries that they need, into a
 * file system of the jail's own, takes the host's folders away and puts the copies into their
 * places, read-only.  So a name that is not listed is not there, no bit of the host's files comes
 * along (setuid, attributes), and no file of the host is shared but what is kept.
 */
#pragma once

#include "proto/base/err.h"
#include "sandbox/runtimes/command/orders.h"

/* Where files of ours are inside: the script of `ahead`, or what deterministic runs begin with. */
#define TREE_AHEAD_DIR "/usr/lib/ced"
#define STEADY_SCRIPT  "steady.sh"

/* `interpreter` is bound already and stays; its libraries are picked. */
int tree_pick(const struct orders *orders, const char *interpreter, struct err *err);
