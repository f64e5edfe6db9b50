/*
 * Layers of a jail that a host may lack.  For each one this module says what replaces it, how to
 * repair the host, and whether the daemon may start without it.  The other parts of a jail
 * (namespaces, mounts, filters) are always required: without them no jail is made.
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

/* The administrator's settings. */
struct layers_wish {
	bool cgroups;     /* cgroups = "required" */
	bool named;       /* there is a list require = {...} */
	uint32_t require; /* the layers in that list, one bit each */
};

const char *layer_word(enum layer layer);

/* Returns the layer of this name, or -1. */
int layer_named(const char *word);

/* Fills in facts about this host that need no spawner: layers that its kernel has built in. */
void layers_look(struct priv_host *ret_host);

bool layer_is_held(enum layer layer, const struct priv_host *host);

/*
 * Whether the daemon must not start without this layer.  `cgroups` decides for memory, pids and
 * cpu, and the list requires the layers that it names.  Without a list, layers that this kernel has
 * built in are required.
 */
bool layer_is_required(
	enum layer layer, const struct layers_wish *wish, const struct priv_host *host);

/* Logs each missing layer with its replacement and its repair.  -1: a missing layer is required. */
int layers_check(const struct layers_wish *wish, const struct priv_host *host, struct err *err);

/* Returns the names of the missing layers. */
struct value *layers_missing(const struct priv_host *host, struct arena *arena);
