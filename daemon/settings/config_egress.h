/* The section `egress`, and the lists of hosts in other sections. */
#pragma once

#include "daemon/settings/setting.h"

extern const struct setting config_egress[]; /* of struct config_egress */

/* Takes `egress_allow` of a section `for_uid`, `for_gid`, `for_policy` or `runtime`. */
int config_take_egress_allow(
	void *set, const struct setting *row, const struct config_item *item, struct err *err);

/* Whether any run may ask for a network. */
bool config_has_egress(const struct config *config);

/* Whether a connection to this port must begin with TLS that names its host, whatever a request says. */
bool config_wants_server_name(const struct config *config, uint16_t port);
