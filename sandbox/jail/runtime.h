/* A runtime in the spawner: checked once, when the daemon configures it, and kept. */
#pragma once

#include "proto/base/err.h"
#include "proto/internal/privmsg.h"
#include "sandbox/jail/jail.h"

#define RUNTIME_ARGS_MAX 8
#define RUNTIME_ENVS_MAX 20
#define RUNTIME_ENV_LEN  (PRIV_PRELOAD_MAX + 32)

struct runtime {
	struct priv_runtime asked;
	char program[PRIV_PATH_MAX]; /* the interpreter with links resolved: bound and started */
};

/* Checks a runtime of the daemon and keeps it.  *err reports the fault. */
int runtime_check(struct runtime *runtime, const struct priv_runtime *asked, struct err *err);

/* The arguments of a zygote.  Must live as long as the spec that points to them. */
struct runtime_start {
	struct jail_spec spec;
	const char *argv[RUNTIME_ARGS_MAX];
	const char *envp[RUNTIME_ENVS_MAX];
	char slots[32];
	char preload[RUNTIME_ENV_LEN];
};

/*
 * Fills in the spec of a zygote's jail.  `uids` is the value of JAIL_ENV_UIDS; the caller sets
 * filter and socket.
 */
int runtime_start(const struct runtime *runtime, uint32_t slots, const char *uids,
	struct runtime_start *ret_start, struct err *err);
