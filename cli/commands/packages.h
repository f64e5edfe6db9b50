/* What the commands of package sets share. */
#pragma once

#include "cli/session/cli.h"
#include "proto/package_digest.h"

/* What a folder holds. */
struct package_found {
	char digest[DIGEST_TEXT_LEN + 1];
	uint64_t entries, bytes;
};

/* As package_digest(), with the elapsed time on stderr. */
int packages_read(
	struct cli *cli, const char *path, struct package_found *ret_found, struct err *err);

/* "1,234 files and folders, 5.6 MiB", in the arena. */
const char *packages_size(struct cli *cli, const struct package_found *found);
