/*
 * Describes what a runtime is made of in one digest: the bytes of its interpreter, the files of our
 * harness, and its configuration.  Two results with the same digest come from the same interpreter,
 * started in the same way.  The digest leaves out the library tree, because reading that takes
 * seconds.
 */
#pragma once

#include "daemon/settings/config.h"
#include "proto/base/err.h"
#include "proto/digest.h"

/* Reads whole files, so call it on a thread.  -1: one of them cannot be read. */
int fingerprint_runtime(const struct config_runtime *runtime, const char *harness,
	char ret_text[DIGEST_TEXT_LEN + 1], struct err *err);

/* Returns the release of the running kernel, valid for the life of the process. */
const char *fingerprint_kernel(void);
