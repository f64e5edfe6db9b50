#pragma once

/*
 * Occupies each of the descriptors 0, 1 and 2 that the caller of this program closed, so that no
 * socket or file of ours gets its number.  Reads and writes there go on failing with EBADF.  Every
 * program that people start calls this before it opens anything.  0, or -1 with errno.
 */
int standard_fds_hold(void);
