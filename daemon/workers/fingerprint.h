/*
 * What a runtime is made of, in one digest: the bytes of its interpreter and of the files of our
 * harness, and what is configured of it.  Two results with the same digest came from the same
 * interpreter, started in the same way.  Its library tree is not part of it: reading that takes
 * seconds.
 */
#pragma once

#include "daemon/settings/config.h"
#include "proto/base/err.h"
#include "proto/digest.h"

/* Reads whole files: for threads.  -1 when one of them cannot be read. */
int fingerprint_runtime(const struct config_runtime *runtime, const char *harness,
	char ret_text[DIGEST_TEXT_LEN + 1], struct err *err);

/* The release of the kernel that runs here, for as long as the process lives. */
const char *fingerprint_kernel(void);
