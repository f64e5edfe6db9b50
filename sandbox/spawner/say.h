/*
 * Writes one line to stderr, in the form of all our programs: <level>ced-spawner event text="...".
 *
 * The spawner writes so little that it does not need more of proto/base/log.h.
 */
#pragma once

#define SAY_ERROR 3 /* syslog's numbers, as systemd reads them */
#define SAY_INFO  6

/* Bytes of `text` that could control a terminal or forge a line become '?'. */
void say(int level, const char *event, const char *text);
