/*
 * The subcommands, one file each, and what they have in common while one of them runs.
 */
#pragma once

#include <stdbool.h>

#include "cli/client.h"
#include "cli/options.h"
#include "cli/output.h"
#include "proto/base/arena.h"
#include "proto/base/err.h"
#include "proto/value.h"

/* One call of cectl, from main() to its exit status. */
struct cli {
	const struct command *command;
	struct arena arena; /* everything lives as long as the program */
	struct output out;
	struct output err;
	bool json;
	const char *socket; /* as --socket gave it, or NULL */
	const char *store;  /* as --store gave it, or NULL: then questions go to the daemon */
	struct words operands;
	struct words rest;
	bool has_rest;
	bool has_timeout;      /* the limit "wall" was written as --timeout */
	struct client *client; /* opened by the first question */
	struct store *copy;    /* the same, of offline.c */
};

/*
 * Asks the daemon and waits.  Returns 0 and the result; else the exit status, after telling the
 * reason on stderr, and with --json as {"error": {...}} on stdout.  `watch` may be NULL.
 */
int cli_ask(struct cli *cli, const char *method, struct value *params,
	const struct client_watch *watch, const struct value **ret_result);

/* The same without a word to anybody: 0 with the result, 1 with the error, -1 when it broke. */
int cli_ask_quietly(struct cli *cli, const char *method, const struct value *params,
	const struct client_watch *watch, const struct value **ret_result, struct err *err);

/* Tells what that came to, when it was not 0, as cli_ask() does; the exit status. */
int cli_ask_failed(struct cli *cli, int status, const struct value *error, const struct err *err);

/* Tells what went wrong on our side and returns the exit status for it. */
int cli_fail(struct cli *cli, const struct err *err);
int cli_usage(struct cli *cli, const char *format, ...) __attribute__((format(printf, 2, 3)));
int cli_no_memory(struct cli *cli);

/* Prints the result as the document of --json and returns `status`. */
int cli_document(struct cli *cli, const struct value *result, int status);

/* "cectl show RUN" as the user would have to type it to reach the same daemon. */
const char *cli_more(struct cli *cli, const char *command, const char *run_id);

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
