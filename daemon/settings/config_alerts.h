/* Sections `alert NAME { ... }` of the configuration. */
#pragma once

#include "daemon/settings/setting.h"

extern const struct setting config_alert[]; /* of struct alert_rule */

/* Adds the alert of a section. */
int config_take_alert(void *config, const struct setting *row, const struct config_item *section,
	struct err *err);
