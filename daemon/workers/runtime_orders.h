/*
 * Writes the orders for a runtime that the daemon sends to the spawner.  They say which harness
 * turns the interpreter into a zygote and which folders of the host are bound into the jail.  They
 * also hold text for the zygote itself, which sandbox/runtimes/command/orders.h and
 * sandbox/runtimes/python/zygote.py read.
 */
#pragma once

#include <stdbool.h>

#include "daemon/settings/config.h"
#include "proto/internal/privmsg.h"

/* Returns the folder of its harness, relative to the folder of all harnesses. */
const char *runtime_orders_folder(const struct config_runtime *config);

/* Returns its kind as the method `runtimes` names it. */
const char *runtime_orders_word(const struct config_runtime *config);

/* `harness` is the full path.  `is_steady`, `is_networked`: its zygotes serve only deterministic
 * runs, or only those with a network. */
void runtime_orders_write(const struct config_runtime *config, bool is_steady, bool is_networked,
	const char *harness, struct priv_runtime *ret_orders);

/* Adds the package sets of a runtime.  All of them are in sight of all its runs. */
void runtime_orders_add_sets(
	const struct config *config, const char *runtime, struct priv_runtime *body);
