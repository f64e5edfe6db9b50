/*
 * Keeps as many inspectors alive as the configuration wants: asks the spawner for each, hands
 * its socket to the policy, replaces those that die or are too slow.
 */
#pragma once

#include "proto/base/err.h"

#include <stdint.h>

struct inspectors;
struct server;

struct inspectors *inspectors_start(struct server *server, struct err *err);
void inspectors_child_exited(struct inspectors *inspectors, uint32_t child, int status);
void inspectors_close(struct inspectors *inspectors);
