/*
 * The package sets of this host, and whether each is what the configuration says.
 *
 * At the start, and again every packages_check_ms, a thread computes the digest of one set after the
 * other (package_digest.h).  A set with another digest is off: runs cannot name it, and its reason
 * is in `runtimes` and admin.status.  During a later check a set keeps its state.
 *
 * Work of a thread may outlive package_sets_close(), which tells it to stop.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/loop/loop.h"
#include "daemon/settings/config.h"
#include "proto/digest.h"
#include "proto/value.h"

enum package_state {
	PACKAGE_CHECKING, /* for the first time */
	PACKAGE_READY,
	PACKAGE_OFF,
};

struct package_set {
	const struct config_package *config;
	enum package_state state;
	char found[DIGEST_TEXT_LEN + 1]; /* its digest at the last check; "": unknown */
	char why[ERR_TEXT_MAX];          /* it is off */
};

struct package_check;

struct package_sets {
	uv_loop_t *loop;
	struct package_set *items; /* in the order of the configuration */
	unsigned count;
	uint64_t check_ms;
	struct timer *timer;         /* until the next check */
	struct package_check *check; /* the work on a thread, or NULL */
};

/* Starts the first check.  Without sets it does nothing. */
int package_sets_start(
	struct package_sets *sets, uv_loop_t *loop, const struct config *config, struct err *err);
void package_sets_close(struct package_sets *sets);

/* Returns the set of this name; NULL: there is none. */
const struct package_set *package_sets_find(const struct package_sets *sets, const char *name);

/*
 * Whether a caller may use it: its section names nobody, or this user or group.  Administrators need
 * not ask.
 */
bool package_set_is_for(const struct package_set *set, uint32_t uid, uint32_t gid);

/* Whether it is ready and has a module of Python of this name at its top. */
bool package_set_has_module(const struct package_set *set, struct bytes name);

/* Returns [{name, digest, state, ...}] of a runtime; NULL: of all, with runtime and path. */
struct value *package_sets_describe(
	const struct package_sets *sets, const char *runtime, struct arena *arena);
