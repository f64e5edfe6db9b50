/*
 * One line for the operator, as all our programs write it: <level>ced-spawner event text="...".
 *
 * The spawner says so little that it needs no more than this of proto/base/log.h.
 */
#pragma once

#define SAY_ERROR 3 /* numbers of syslog, as systemd reads them */
#define SAY_INFO  6

/* Bytes of `text` that could steer a terminal or forge a line become '?'. */
void say(int level, const char *event, const char *text);
