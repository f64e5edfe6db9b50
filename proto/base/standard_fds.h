#pragma once

/*
 * Opens a placeholder on each of the descriptors 0, 1 and 2 that is closed when the program starts.
 * Otherwise one of the program's own sockets or files would get that number.  Reads and writes on a
 * placeholder still fail with EBADF.  Every program that people start calls this before it opens
 * anything.  Returns 0, or -1 with errno.
 */
int standard_fds_hold(void);
