#include "sandbox/jail/profile.h"

#include <sched.h>
#include <sys/resource.h>

#include "proto/base/container.h"
#include "proto/internal/privmsg.h"
#include "sandbox/jail_env.h"

#define DEVICE(name)                                \
	{                                           \
		MOUNT_DEVICE, (name), (name), false \
	}
#define LIBRARY(path)                              \
	{                                          \
		MOUNT_TARGET, (path), (path), true \
	}

/* ---- limits -------------------------------------------------------------------------------- */

static const struct rlimit_row zygote_rlimits[] = {
	{ RLIMIT_NOFILE, 4096 }, /* a slot holds a few; a worker gets fewer */
	/* All slots of a zygote share this limit; each slot takes its own part. */
	{ RLIMIT_SIGPENDING, (rlim_t)JAIL_SIGNALS_MAX *PRIV_SLOTS_MAX },
};

static const struct rlimit_row helper_rlimits[] = {
	{ RLIMIT_FSIZE, 0 }, { RLIMIT_NOFILE, 16384 }, /* for a connection: two sockets */
	{ RLIMIT_NOFILE, 16 },                         /* the last row is not for ced-egress */
};

/* ---- zygote: an interpreter, its slots and their workers ----------------------------------- */

static const struct mount_row zygote_rows[] = { DEVICE("/dev/null"), DEVICE("/dev/zero"),
	DEVICE("/dev/full"), DEVICE("/dev/random"), DEVICE("/dev/urandom") };

static const char *const zygote_folders[] = { JAIL_WORK_DIR, JAIL_TMP_DIR, JAIL_SHM_DIR, NULL };

/*
 * Enough for pwd, grp and getaddrinfo; nothing of the host's.  runtime.c leaves the first one out
 * where workers have no network; the others see a file of their own in its place.
 */
static const struct mount_text zygote_texts[] = {
	{ "/etc/hosts", "127.0.0.1 localhost\n" },
	{ "/etc/passwd", "user:x:1000:1000:user:/work:/nonexistent\n" },
	{ "/etc/group", "user:x:1000:\n" },
	{ "/etc/ld.so.preload", JAIL_HARNESS_DIR "/" LIBC_LIBRARY "\n" },
	{ "/etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files\n" },
	{ NULL, NULL },
};

const struct jail_profile PROFILE_ZYGOTE = {
	.name = "zygote",
	.has_procfs = true,
	.keeps_caps = true,
	.rlimits = zygote_rlimits,
	.rlimit_count = COUNT_OF(zygote_rlimits),
	.rows = zygote_rows,
	.row_count = COUNT_OF(zygote_rows),
	.folders = zygote_folders,
	.texts = zygote_texts,
};

/* ---- inspector and egress: one binary and what its loader needs ----------------------------- */

/*
 * The places on Debian and others; what a host does not have is skipped.  The first row is only for
 * ced-egress: queries for names have random numbers.
 */
#define DEBIAN "/lib/x86_64-linux-gnu/"

static const struct mount_row helper_rows[] = {
	DEVICE("/dev/urandom"), DEVICE("/dev/null"), LIBRARY("/lib64/ld-linux-x86-64.so.2"),
	LIBRARY(DEBIAN "libc.so.6"), LIBRARY(DEBIAN "libm.so.6"), LIBRARY(DEBIAN "libgcc_s.so.1"),
	LIBRARY("/lib64/libc.so.6"), LIBRARY("/lib64/libm.so.6"), LIBRARY("/lib64/libgcc_s.so.1"),
#if SANITIZED
	{ MOUNT_PROC, "/proc", "/proc", false }, LIBRARY(DEBIAN "libasan.so.8"),
	LIBRARY(DEBIAN "libubsan.so.1"), LIBRARY(DEBIAN "libtsan.so.2"),
	LIBRARY(DEBIAN "libstdc++.so.6")
#endif
};

const struct jail_profile PROFILE_INSPECTOR = {
	.name = "inspector",
	.rlimits = helper_rlimits,
	.rlimit_count = COUNT_OF(helper_rlimits),
	.rows = helper_rows + 1,
	.row_count = COUNT_OF(helper_rows) - 1,
};

const struct jail_profile PROFILE_EGRESS = {
	.name = "egress",
	.shared = CLONE_NEWNET,
	.rlimits = helper_rlimits,
	.rlimit_count = COUNT_OF(helper_rlimits) - 1,
	.rows = helper_rows,
	.row_count = COUNT_OF(helper_rows),
};
