#include "daemon/record/permissions.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/cleanup.h"
#include "proto/base/container.h"
#include "proto/base/log.h"

#define WORDS_MAX 128

/* Other users must not write to the folder, and must neither read nor write the files. */
static void look_at(const char *path, mode_t forbidden, const char *mode)
{
	auto_free char *repair = NULL;
	char why[WORDS_MAX];
	struct stat st;

	if (lstat(path, &st) < 0)
		return; /* the code that needs it reports that */
	if (st.st_uid != geteuid() && st.st_uid != 0) {
		(void)snprintf(why, sizeof(why), "it belongs to uid %u, and the daemon is uid %u",
			(unsigned)st.st_uid, (unsigned)geteuid());
		if (asprintf(&repair, "chown %u %s", (unsigned)geteuid(), path) < 0)
			repair = NULL;
	} else if (st.st_mode & forbidden) {
		(void)snprintf(why, sizeof(why),
			"its mode is %03o, so that others than the daemon's user can %s",
			(unsigned)(st.st_mode & 07777),
			S_ISDIR(st.st_mode) ? "replace what is in it" : "read it or write to it");
		if (asprintf(&repair, "chmod %s %s", mode, path) < 0)
			repair = NULL;
	} else {
		return;
	}
	log_event(LOG_LEVEL_WARNING, "store.exposed", LOG_STR("path", path), LOG_STR("why", why),
		LOG_STR("repair", repair));
}

void permissions_check(const char *folder)
{
	static const char *const names[] = { "ced.db", "ced.db-wal", "ced.db-shm" };

	look_at(folder, S_IWGRP | S_IWOTH, "700");
	for (size_t i = 0; i < COUNT_OF(names); i++) {
		auto_free char *path = NULL;

		if (asprintf(&path, "%s/%s", folder, names[i]) < 0) {
			path = NULL;
			continue;
		}
		look_at(path, S_IRWXG | S_IRWXO, "600");
	}
}

static bool is_closed_to_us(const char *path, struct stat *ret_st)
{
	return lstat(path, ret_st) == 0 && S_ISREG(ret_st->st_mode) &&
	       ret_st->st_uid != geteuid() && access(path, R_OK | W_OK) < 0;
}

void permissions_advise(const char *folder, struct err *err)
{
	static const char *const names[] = { "ced.db", "ced.db-wal", "ced.db-shm", "ced.lock",
		"ced.mark", "ced.reserve", "audit.key", "checkpoints.log", "checkpoints.told" };
	const struct err why = *err;

	for (size_t i = 0; i < COUNT_OF(names); i++) {
		auto_free char *path = NULL;
		struct stat st;

		if (asprintf(&path, "%s/%s", folder, names[i]) < 0) {
			path = NULL;
			return;
		}
		if (!is_closed_to_us(path, &st))
			continue;
		(void)err_set(err, why.code,
			"%s: it belongs to uid %u, and the daemon is uid %u: type chown %u:%u %s",
			why.text, (unsigned)st.st_uid, (unsigned)geteuid(), (unsigned)geteuid(),
			(unsigned)getegid(), path);
		return;
	}
}
