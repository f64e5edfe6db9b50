/* The commands, in the order of `cectl --help`; a heading is before its first one. */
#pragma once

#include "cli/session/cli.h"

// clang-format off
#define COMMANDS(X) \
	X("Programs", run) X(NULL, check) X(NULL, wait) X(NULL, cancel) X(NULL, put) \
	X(NULL, session) X(NULL, repl) X(NULL, mcp) X(NULL, call) \
	X("The record", runs) X(NULL, show) X(NULL, explain) X(NULL, trace) X(NULL, output) \
	X(NULL, replay) X(NULL, diff) X(NULL, stats) \
	X("The daemon", status) X(NULL, metrics) X(NULL, top) X(NULL, watch) X(NULL, web) X(NULL, runtimes) X(NULL, policy) \
	X(NULL, doctor) X(NULL, config_check) X(NULL, config_explain) X(NULL, config_show) \
	X("For approvers", approvals) X(NULL, approve) X(NULL, deny) X(NULL, revoke) \
	X("For administrators", reload) X(NULL, drain) X(NULL, resume) X(NULL, kill_all) X(NULL, block) \
	X(NULL, unblock) X(NULL, acts) X(NULL, budgets) X(NULL, export) X(NULL, backup) \
	X(NULL, audit_verify) X(NULL, audit_checkpoint) X(NULL, audit_key) X(NULL, gc) \
	X(NULL, packages_add) X(NULL, packages_digest) X(NULL, packages_verify) \
	X(NULL, packages_list) \
	X("To begin with", demo)
// clang-format on

#define COMMAND_EXTERN(heading, name) extern const struct command name##_command;
COMMANDS(COMMAND_EXTERN)
#undef COMMAND_EXTERN

/* Not among them, because shells type it and people do not. */
extern const struct command complete_command;
