/* Checks a configuration after it was read: settings against each other, and against the host. */
#pragma once

#include "daemon/settings/config.h"
#include "daemon/settings/setting.h"
#include "proto/base/err.h"

/* Replaces each "depends on the processors" by a number, and checks settings against each other. */
int config_finish_all(struct config *config, struct setting_faults *faults);

/*
 * Checks that this host has everything that the settings name, and that paths of sockets are short
 * enough.  Call it after config_finish_all().
 */
int config_check_host_all(const struct config *config, struct setting_faults *faults);

/* The same, for those who need only the first fault. */
int config_finish(struct config *config, struct err *err);
int config_check_host(const struct config *config, struct err *err);
