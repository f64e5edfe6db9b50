/* What the files that read the configuration share; libconfuse is known to them alone. */
#pragma once

#include <confuse.h>

#include "daemon/config.h"
#include "proto/base/err.h"

/* For CFG_INT_CB: a number with its unit, within the bounds of its row. */
int config_on_number(cfg_t *section, cfg_opt_t *option, const char *text, void *ret);

/* A text that must fit. */
int config_take_text(char *text, size_t size, const char *name, const char *given, struct err *err);

/* ---- config_alerts.c ------------------------------------------------------------------------ */

/* The options of a section `alert NAME { ... }`. */
extern cfg_opt_t config_alert_options[];

/* Bounds of a number there; false: there is no such number. */
bool config_alert_bounds(const char *name, uint64_t *ret_lowest, uint64_t *ret_highest);

int config_take_alerts(struct config *config, cfg_t *cfg, struct err *err);
