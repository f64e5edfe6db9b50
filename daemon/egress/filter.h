/* The last filter of ced-egress: sockets and what is already open; no files, no programs. */
#pragma once

#include "proto/base/err.h"

int filter_load(struct err *err);
