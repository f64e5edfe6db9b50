/* The commands, one file each.  cli/main.c holds their table. */
#pragma once

#include "cli/session/cli.h"

extern const struct command run_command;
extern const struct command check_command;
extern const struct command wait_command;
extern const struct command cancel_command;
extern const struct command put_command;
extern const struct command runs_command;
extern const struct command show_command;
extern const struct command explain_command;
extern const struct command trace_command;
extern const struct command output_command;
extern const struct command replay_command;
extern const struct command diff_command;
extern const struct command stats_command;
extern const struct command top_command;
extern const struct command watch_command;
extern const struct command runtimes_command;
extern const struct command policy_command;
extern const struct command status_command;
extern const struct command doctor_command;
extern const struct command approvals_command;
extern const struct command approve_command;
extern const struct command deny_command;
extern const struct command revoke_command;
extern const struct command drain_command;
extern const struct command resume_command;
extern const struct command kill_all_command;
extern const struct command block_command;
extern const struct command unblock_command;
extern const struct command acts_command;
extern const struct command budgets_command;
extern const struct command backup_command;
extern const struct command gc_command;
extern const struct command export_command;
extern const struct command audit_verify_command;
extern const struct command audit_checkpoint_command;
extern const struct command audit_key_command;
extern const struct command demo_command;
