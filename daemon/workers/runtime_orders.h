/*
 * What the spawner is told about a runtime, from its configuration: which harness makes zygotes of
 * the interpreter, what of the host is bound into the jail, and words for the zygote, which
 * sandbox/runtimes/command/orders.h and sandbox/runtimes/python/zygote.py read.
 */
#pragma once

#include <stdbool.h>

#include "daemon/settings/config.h"
#include "proto/internal/privmsg.h"

/* The folder of its harness, below the folder of all harnesses. */
const char *runtime_orders_folder(const struct config_runtime *config);

/* What kind of runtime it is, as `runtimes` says it. */
const char *runtime_orders_word(const struct config_runtime *config);

/* `harness` is the whole path.  `is_steady`: its zygotes serve deterministic runs and no others. */
void runtime_orders_write(const struct config_runtime *config, bool is_steady, const char *harness,
	struct priv_runtime *ret_orders);
