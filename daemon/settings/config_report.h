/*
 * Settings as values, for `ced --settings --json`, `ced --check-config --json` and config.show.
 *
 * A key is a setting with the sections around it: "queue_max", "limits.wall_ms",
 * "runtime.bash.tools".  NAME stands for the name of a section.
 */
#pragma once

#include "daemon/settings/config.h"
#include "daemon/settings/config_file.h"
#include "proto/value.h"

/*
 * Every setting: [{key, form, meaning, change, default?, lowest?, highest?, words?}].  Numbers are
 * texts with their unit.
 */
struct value *config_describe_all(struct arena *arena);

/*
 * The settings in force: [{key, value, source, change, file?, line?, was?}].  `sources` says what
 * the command line has set.
 */
struct value *config_describe_in_force(
	const struct config *config, const struct config_sources *sources, struct arena *arena);

/*
 * One fault: {file?, line?, key?, value?, lowest?, highest?, words?, message, remedy?}.  `config` is
 * what was read until the fault was found.
 */
struct value *config_describe_fault(
	const struct config *config, const struct err *fault, struct arena *arena);

/* A digest of all settings in force and of their files' names, as digest_text() writes it. */
void config_digest(const struct config *config, char *ret_text);
