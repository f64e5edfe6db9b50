#include <fcntl.h>
#include <linux/securebits.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "proto/base/fdio.h"
#include "sandbox/jail_env.h"
#include "sandbox/slot.h"

#define SLOT_SOCK_FD 3 /* then the joins */

/* ---- becoming a slot ---------------------------------------------------------------------- */

/* First up, out of the way, then down to consecutive numbers; everything else is closed. */
static int settle_descriptors(int *fds, unsigned fd_count, struct err *err)
{
	for (unsigned i = 0; i < fd_count; i++) {
		fds[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, SLOT_SOCK_FD + (int)fd_count);
		if (fds[i] < 0)
			return err_sys(err, "dup");
	}
	for (unsigned i = 0; i < fd_count; i++) {
		fds[i] = dup3(fds[i], SLOT_SOCK_FD + (int)i, O_CLOEXEC);
		if (fds[i] < 0)
			return err_sys(err, "dup3");
	}
	if (close_range(SLOT_SOCK_FD + fd_count, ~0U, 0) < 0)
		return err_sys(err, "close_range");
	return 0;
}

/*
 * The rights over its own user namespace stay with the slot, since making a worker takes them;
 * what an exec could regain goes for good.  Locked here once, inherited by every worker.
 */
static int shed_rights(struct err *err)
{
	const unsigned long bits = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP |
				   SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_KEEP_CAPS_LOCKED |
				   SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;

	for (unsigned long cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
		if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) < 0)
			return err_sys(err, "drop capability %lu", cap);
	if (prctl(PR_SET_SECUREBITS, bits, 0, 0, 0) < 0)
		return err_sys(err, "securebits");
	if (setresgid(JAIL_USER_ID, JAIL_USER_ID, JAIL_USER_ID) < 0)
		return err_sys(err, "setresgid");
	if (setresuid(JAIL_USER_ID, JAIL_USER_ID, JAIL_USER_ID) < 0)
		return err_sys(err, "setresuid");
	return 0;
}

static int shed_the_rest(struct slot *slot, struct err *err)
{
	const struct rlimit no_core = { 0, 0 };
	const struct rlimit signals = { JAIL_SIGNALS_MAX, JAIL_SIGNALS_MAX };
	sigset_t all;

	if (setrlimit(RLIMIT_CORE, &no_core) < 0)
		return err_sys(err, "no core files");
	/* our part of what the zygote's slots have together */
	if (setrlimit(RLIMIT_SIGPENDING, &signals) < 0)
		return err_sys(err, "waiting signals");
	/* setresuid() has cleared it, so not before */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
		return err_sys(err, "parent death signal");
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return err_sys(err, "not dumpable");
	(void)umask(022);
	sigfillset(&all);
	if (sigprocmask(SIG_SETMASK, &all, NULL) < 0)
		return err_sys(err, "block signals");

	slot->own_ns = (int)syscall(SYS_pidfd_open, getpid(), 0);
	if (slot->own_ns < 0)
		return err_sys(err, "pidfd of the slot");
	if (hearing_open(&slot->hearing, err) < 0)
		return -1;
	slot->note = mmap(NULL, sizeof(*slot->note), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (slot->note == MAP_FAILED)
		return err_sys(err, "memory for notes");
	return 0;
}

static int become_slot(struct slot *slot, struct err *err)
{
	if (fd_set_nonblocking(slot->sock, false, err) < 0)
		return -1;
	if (shed_rights(err) < 0)
		return -1;
	return shed_the_rest(slot, err);
}

/* A NUL for "yes", which no text begins with. */
static int answer_ready(int ready, int result, const struct err *err)
{
	size_t len = result < 0 ? strlen(err->text) : 1;

	(void)write_all(ready, result < 0 ? err->text : "", len, NULL);
	close(ready);
	return result;
}

static unsigned count_processors(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) < 0 ? 1 : (unsigned)CPU_COUNT(&set);
}

int slot_init(struct slot *slot, const struct slot_start *start, struct err *err)
{
	int kept[1 + SLOTMSG_JOIN_FDS_MAX + 1];
	const unsigned count = start->fd_count;

	*slot = (struct slot){
		.index = start->index,
		.join_count = count - 1,
		.own_bytes = start->house->own_bytes,
		.footprint = start->house->footprint,
		.processors = count_processors(),
		.init_fd = -1,
		.worker_fd = -1,
		.collector_fd = -1,
		.collect_fds = { -1, -1 },
		.files = FILES_INIT,
		.hearing = HEARING_INIT,
		.opened = OPENED_INIT,
	};
	memcpy(kept, start->fds, count * sizeof(*kept));
	kept[count] = start->ready;
	if (settle_descriptors(kept, count + 1, err) < 0)
		return -1;

	slot->sock = kept[0];
	memcpy(slot->joins, kept + 1, slot->join_count * sizeof(*kept));
	return answer_ready(kept[count], become_slot(slot, err), err);
}
