/*
 * Artifacts become files below a folder of the user's, whatever their paths say.
 *
 * The program in the jail chose the names.  So every part is opened beneath the folder without
 * following links (openat2).  A file is written under a temporary name and then moved into place,
 * so that nothing is written through an existing link.  Only regular files are replaced.
 */
#pragma once

#include <stddef.h>

#include "proto/base/err.h"

/* Opens `path`, making it when it does not exist.  Returns a descriptor, or -1. */
int outdir_open(const char *path, struct err *err);

/* Writes one artifact; makes the folders on its way. */
int outdir_write(int dir, const char *path, const void *bytes, size_t len, struct err *err);

/* The same, but replaces nothing. */
int outdir_write_new(int dir, const char *path, const void *bytes, size_t len, struct err *err);
