/* Checks a configuration after it was read: settings against each other, and against the host. */
#pragma once

#include "daemon/settings/config.h"
#include "proto/base/err.h"

/* Replaces each "depends on the processors" by a number, and checks settings against each other. */
int config_finish(struct config *config, struct err *err);

/*
 * Checks that this host has everything that the settings name, and that paths of sockets are short
 * enough.  Call it after config_finish().
 */
int config_check_host(const struct config *config, struct err *err);
