/*
 * The folders that a program sees in its jail.  The sandbox creates them; the daemon and cectl
 * mention them in messages.
 */
#pragma once

#define JAIL_HARNESS_DIR "/ced"
#define JAIL_WORK_DIR    "/work"
#define JAIL_TMP_DIR     "/tmp"

/* The message for a program that tries to use a network. */
#define JAIL_NO_NET "this run has no network; send what it needs with the run, in files or stdin"
