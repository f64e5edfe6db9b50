/*
 * The layers of a jail that a host may lack while a jail can still be made: what stands in for
 * each, how the lack is repaired, and whether the daemon may start without.  Everything else a
 * jail is made of (namespaces, mounts, filters) is needed always: without it no jail is made.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/err.h"
#include "proto/internal/privmsg.h"
#include "proto/value.h"

enum layer {
	LAYER_MEMORY,
	LAYER_PIDS,
	LAYER_CPU,
	LAYER_CGROUP_KILL,
	LAYER_LANDLOCK,
	LAYER_UIDS,
	LAYER_COUNT,
};

/* What the administrator wrote. */
struct layers_wish {
	bool cgroups;     /* cgroups = "required" */
	bool named;       /* there is a list: require = {...} */
	uint32_t require; /* its layers, one bit each */
};

const char *layer_word(enum layer layer);

/* The layer of this name, or -1. */
int layer_named(const char *word);

/* What can be known of this host without a spawner: what its kernel has built in. */
void layers_look(struct priv_host *ret_host);

bool layer_is_held(enum layer layer, const struct priv_host *host);

/*
 * Whether the daemon must not start without: memory, pids and cpu as `cgroups` says; what the list
 * names; and where there is no list, whatever this kernel has built in.
 */
bool layer_is_required(
	enum layer layer, const struct layers_wish *wish, const struct priv_host *host);

/*
 * Logs each layer that is missing, with what stands in for it and the repair.  -1 when one of them
 * is required.
 */
int layers_check(const struct layers_wish *wish, const struct priv_host *host, struct err *err);

/* The names of those that are missing. */
struct value *layers_missing(const struct priv_host *host, struct arena *arena);
