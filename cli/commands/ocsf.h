/*
 * A record as an event of the Open Cybersecurity Schema Framework, version 1.3: Process Activity
 * (class 1007), Launch, with the profile security_control.
 */
#pragma once

#include "proto/base/arena.h"
#include "proto/value.h"

/* `record` as runs.get and audit.export tell it.  NULL: no memory. */
struct value *ocsf_event(struct arena *arena, const struct value *record);
