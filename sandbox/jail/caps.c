#include "sandbox/jail/caps.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/securebits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cap-ng.h>

#include "proto/base/container.h"

/*
 * The capabilities that the spawner needs as root.  It does not need CAP_SYS_ADMIN and
 * CAP_SYS_CHROOT, because the child has these in its user namespace, where it makes namespaces and
 * mounts.  Nor does it need CAP_SYS_PTRACE, CAP_SYS_RESOURCE and CAP_CHOWN.
 */
static const struct {
	unsigned cap;
	bool at_the_end; /* permitted, but effective only when the jails are gone */
	const char *why;
} kept[] = {
	{ CAP_SETUID, false, "writes the uid maps of jails; makes ced its own user" },
	{ CAP_SETGID, false, "the same for groups" },
	{ CAP_KILL, false, "passes signals on to ced, which is another user" },
	{ CAP_DAC_OVERRIDE, true, "removes its cgroup, whose parent even root may not write to" },
};

#define LOCKED_BITS                                                       \
	(SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP |  \
		SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_KEEP_CAPS_LOCKED | \
		SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED)

/* The library remembers the pid that it was used for; a child made by clone3() has another. */
static void begin(void)
{
	capng_setpid((int)syscall(SYS_gettid));
	capng_clear(CAPNG_SELECT_ALL);
}

static int check_bounding(struct err *err)
{
	for (int cap = 0; cap <= CAP_LAST_CAP; cap++)
		if (prctl(PR_CAPBSET_READ, cap) == 1)
			return err_set(
				err, ERR_DENIED, "capability %d stayed in the bounding set", cap);
	return 0;
}

static int keep(bool at_the_end, capng_select_t which, struct err *err)
{
	begin();
	for (size_t i = 0; i < COUNT_OF(kept); i++) {
		unsigned sets = CAPNG_PERMITTED;

		if (!kept[i].at_the_end || at_the_end)
			sets |= CAPNG_EFFECTIVE;
		if (capng_update(CAPNG_ADD, sets, kept[i].cap) < 0)
			return err_set(err, ERR_SYSTEM, "capability %u is unknown", kept[i].cap);
	}
	if (capng_apply(which) < 0)
		return err_sys(err, "libcap-ng: keep the spawner's capabilities");
	return check_bounding(err);
}

int caps_keep_for_spawner(struct err *err)
{
	return keep(false, CAPNG_SELECT_ALL, err);
}

int caps_raise_at_the_end(struct err *err)
{
	return keep(true, CAPNG_SELECT_CAPS, err);
}

int caps_drop_all(struct err *err)
{
	if (prctl(PR_SET_SECUREBITS, LOCKED_BITS) < 0)
		return err_sys(err, "securebits");
	begin();
	if (capng_apply(CAPNG_SELECT_ALL) < 0)
		return err_sys(err, "libcap-ng: drop all capabilities");
	if (check_bounding(err) < 0)
		return -1;
	return caps_check_none(err);
}

int caps_check_none(struct err *err)
{
	begin();
	if (capng_get_caps_process() < 0)
		return err_sys(err, "libcap-ng: read capabilities");
	if (capng_have_capabilities(CAPNG_SELECT_CAPS) != CAPNG_NONE)
		return err_set(err, ERR_DENIED, "capabilities are left");
	return 0;
}

/* Becoming root again makes all permitted capabilities effective, so the former set is restored. */
int caps_open_as(uid_t uid, int folder, const char *name, int flags)
{
	int fd = seteuid(uid) < 0 ? -1 : openat(folder, name, flags);
	int sys_errno = errno;

	/* With another identity or more rights than before, the spawner must not go on. */
	if (seteuid(0) < 0 || keep(false, CAPNG_SELECT_CAPS, NULL) < 0)
		abort();
	errno = sys_errno;
	return fd;
}
