/* Folders of a jail, as the program in it sees them: the sandbox makes them, the daemon speaks of them. */
#pragma once

#define JAIL_HARNESS_DIR "/ced"
#define JAIL_WORK_DIR    "/work"
#define JAIL_TMP_DIR     "/tmp"
