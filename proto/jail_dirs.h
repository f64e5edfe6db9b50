/* What a program in a jail sees of it: the sandbox makes it so, daemon and cectl speak of it. */
#pragma once

#define JAIL_HARNESS_DIR "/ced"
#define JAIL_WORK_DIR    "/work"
#define JAIL_TMP_DIR     "/tmp"

/* What a program hears that wants a network. */
#define JAIL_NO_NET "this run has no network; send what it needs with the run, in files or stdin"
