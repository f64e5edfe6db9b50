/* What `admin.metrics` answers, as Prometheus reads it: its text format, version 0.0.4. */
#pragma once

#include "proto/base/buf.h"
#include "proto/value.h"

/* Returns 0, or -1 when the buffer is full. */
int metrics_text(const struct value *result, struct buf *out);
