/*
 * A record as a span of OpenTelemetry, in a line of its JSON form (OTLP): the run is one span, and
 * the steps of its trace are events of that span.
 *
 * A client puts its context into the label `traceparent`, in the form of the W3C.  Then the span
 * belongs to that trace, below the client's span.  Otherwise the run is a trace of its own, whose
 * ids follow from the run's id.  So an export that is repeated gives the same spans.
 */
#pragma once

#include "proto/base/arena.h"
#include "proto/value.h"

#define OTLP_TRACE_LABEL "traceparent"

/* `record` as runs.get and audit.export have it.  NULL: no memory. */
struct value *otlp_line(struct arena *arena, const struct value *record);
