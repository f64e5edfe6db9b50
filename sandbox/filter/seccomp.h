/*
 * Makes a filter from a profile's list (syscalls.c). libseccomp builds it once, it is kept as
 * bytes, and every process that enters a jail loads it.  Building takes about a millisecond,
 * loading a tenth of that.
 */
#pragma once

#include <linux/filter.h>
#include <stddef.h>

#include "proto/base/err.h"
#include "sandbox/filter/syscalls.h"

struct filter {
	struct sock_filter *code; /* from malloc */
	size_t len;               /* in instructions */
};

/* Builds the filter of a profile.  filter_done() frees it. */
int filter_build(enum filter_profile profile, struct filter *ret_filter, struct err *err);
void filter_done(struct filter *filter);

/* Loads it for the calling thread, which must have no_new_privs. */
int filter_load(const struct filter *filter, struct err *err);
