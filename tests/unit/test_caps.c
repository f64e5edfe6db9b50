#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>

#include "proto/base/cleanup.h"
#include "proto/base/fdio.h"
#include "sandbox/jail/caps.h"
#include "tests/check.h"
#include "tests/unit/jailing.h"

static struct err err = ERR_INIT;

/* The hexadecimal set of this name in /proc/self/status. */
static unsigned long long set_of(const char *name)
{
	auto_free char *text = NULL;
	size_t len;
	const char *at;

	if (read_file("/proc/self/status", 1 << 16, &text, &len, &err) < 0)
		return ~0ULL;
	at = strstr(text, name);
	return at ? strtoull(at + strlen(name) + 1, NULL, 16) : ~0ULL;
}

#define CAP(number) (1ULL << (number))

static int keep(void *context)
{
	const unsigned long long kept = CAP(5) | CAP(6) | CAP(7); /* kill, setgid, setuid */

	(void)context;
	WANT(caps_keep_for_spawner(&err) == 0);
	WANT(set_of("CapEff:") == kept);
	WANT(set_of("CapPrm:") == (kept | CAP(1))); /* dac_override */
	WANT(set_of("CapInh:") == 0 && set_of("CapAmb:") == 0 && set_of("CapBnd:") == 0);
	WANT(chroot("/") < 0 && errno == EPERM);
	WANT(caps_raise_at_the_end(&err) == 0);
	WANT(set_of("CapEff:") == (kept | CAP(1)));
	WANT(setuid(65534) == 0);
	WANT(caps_check_none(&err) == 0);
	return 0;
}

TEST(the_spawner_keeps_three_capabilities_and_one_for_the_end)
{
	if (geteuid() != 0)
		SKIP("not root");
	CHECK_EQ_INT(in_child(keep, NULL), 0);
}

static int open_as_nobody(void *context)
{
	char path[] = "/tmp/ced-test-XXXXXX";
	int fd = mkstemp(path);

	(void)context;
	WANT(fd >= 0 && fchmod(fd, 0600) == 0 && caps_keep_for_spawner(&err) == 0);
	errno = 0;
	WANT(caps_open_as(65534, AT_FDCWD, path, O_RDONLY | O_CLOEXEC) < 0 && errno == EACCES);
	WANT(geteuid() == 0 && getuid() == 0);
	WANT(set_of("CapEff:") == (CAP(5) | CAP(6) | CAP(7)));
	fd = caps_open_as(0, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
	WANT(fd >= 0 && unlink(path) == 0);
	WANT(set_of("CapEff:") == (CAP(5) | CAP(6) | CAP(7)));
	return 0;
}

TEST(opening_as_somebody_else_gives_and_takes_no_right)
{
	if (geteuid() != 0)
		SKIP("not root");
	CHECK_EQ_INT(in_child(open_as_nobody, NULL), 0);
}

static int drop(void *context)
{
	(void)context;
	WANT(enter_namespaces());
	WANT(set_of("CapEff:") != 0);
	WANT(caps_check_none(&err) < 0);
	WANT(caps_drop_all(&err) == 0);
	WANT(set_of("CapEff:") == 0 && set_of("CapPrm:") == 0 && set_of("CapInh:") == 0);
	WANT(set_of("CapBnd:") == 0 && set_of("CapAmb:") == 0);
	WANT(prctl(PR_GET_SECUREBITS) == 0xef);
	WANT(prctl(PR_SET_SECUREBITS, 0) < 0 && errno == EPERM);
	WANT(sethostname("x", 1) < 0 && errno == EPERM);
	return 0;
}

TEST(dropping_all_leaves_no_set_and_locks_the_door)
{
	if (!can_jail())
		SKIP("this host gives no user namespaces");
	CHECK_EQ_INT(in_child(drop, NULL), 0);
}
