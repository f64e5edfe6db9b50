/*
 * Keeps as many inspectors alive as the configuration wants: asks the spawner for each, hands
 * its socket to the policy, replaces those that die or are too slow.
 */
#pragma once

#include <stdint.h>

#include "proto/base/err.h"
#include "proto/internal/privmsg.h"

struct config;
struct inspectors;
struct server;

struct inspectors *inspectors_start(struct server *server, struct err *err);
void inspectors_child_exited(struct inspectors *inspectors, uint32_t child, int status);

/* Fills in what one may use, in a PRIV_INSPECTOR. */
void inspectors_ceilings(const struct config *config, struct priv_msg *msg);

/* Asks for no more.  Free comes when neither the policies nor the spawner can call any more. */
void inspectors_closing(struct inspectors *inspectors);
void inspectors_free(struct inspectors *inspectors);
