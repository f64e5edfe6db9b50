#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/cleanup.h"
#include "proto/internal/slotmsg.h"
#include "sandbox/zygote/opened.h"
#include "tests/check.h"

#define ROUNDS 1000 /* with four events each, of 32 bytes: far more than one buffer holds */

static struct err err;

struct jail {
	char path[64];
	int mount;
	int report; /* our end; opened.c takes the other */
	struct opened opened;
};

static bool jail_init(struct jail *jail)
{
	*jail = (struct jail){ .path = "/tmp/ced-opened-XXXXXX", .opened = OPENED_INIT };
	if (!mkdtemp(jail->path))
		return false;
	jail->mount = open(jail->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	jail->report = memfd_create("opened", MFD_CLOEXEC);
	return mkdirat(jail->mount, "work", 0700) == 0 && mkdirat(jail->mount, "tmp", 0700) == 0 &&
	       opened_start(&jail->opened, jail->mount, dup(jail->report), &err) == 0;
}

static void jail_done(struct jail *jail)
{
	opened_forget(&jail->opened);
	(void)unlinkat(jail->mount, "tmp/a", 0);
	(void)unlinkat(jail->mount, "tmp/b", 0);
	(void)unlinkat(jail->mount, "tmp", AT_REMOVEDIR);
	(void)unlinkat(jail->mount, "work", AT_REMOVEDIR);
	(void)rmdir(jail->path);
	close(jail->mount);
	close(jail->report);
}

#define auto_jail __attribute__((cleanup(jail_done)))

static bool touch(const struct jail *jail, const char *path)
{
	int fd = openat(jail->mount, path, O_CREAT | O_RDONLY | O_CLOEXEC, 0600);

	return fd >= 0 && close(fd) == 0;
}

static bool has_more(const struct jail *jail)
{
	struct pollfd fd = { .fd = jail->opened.notify, .events = POLLIN };

	return poll(&fd, 1, 0) == 1;
}

TEST(a_program_that_opens_without_end_does_not_hold_its_slot)
{
	auto_jail struct jail jail;

	CHECK(jail_init(&jail));
	CHECK(!opened_take(&jail.opened));
	for (int i = 0; i < ROUNDS; i++)
		CHECK(touch(&jail, "tmp/a") && touch(&jail, "tmp/b"));
	CHECK(opened_take(&jail.opened));
	CHECK(has_more(&jail));
}

TEST(nothing_that_was_opened_is_lost_at_the_end)
{
	auto_jail struct jail jail;
	struct slotmsg_opened_head head;
	struct slotmsg_opened row;

	CHECK(jail_init(&jail));
	for (int i = 0; i < ROUNDS; i++)
		CHECK(touch(&jail, "tmp/a") && touch(&jail, "tmp/b"));
	opened_tell(&jail.opened);
	CHECK(!has_more(&jail));
	CHECK(pread(jail.report, &head, sizeof(head), 0) == sizeof(head));
	CHECK_EQ_INT(head.count, 2);
	CHECK_EQ_INT(head.incomplete, 0);
	for (off_t i = 0; i < 2; i++) {
		CHECK(pread(jail.report, &row, sizeof(row),
			      (off_t)sizeof(head) + i * (off_t)sizeof(row)) == sizeof(row));
		CHECK_EQ_INT(row.opens, ROUNDS);
	}
}
