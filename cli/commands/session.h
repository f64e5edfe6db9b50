/* Opening and closing sessions, for `session` and `repl`. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "cli/base/option_values.h"
#include "cli/session/cli.h"

// clang-format off
#define SESSION_OPTION_ROWS \
	{ 'l', "language", "LANG", OPTION_TEXT, NULL, NULL, \
		"python, javascript, bash, or another runtime of Python, node or bash that the host has" }, \
	{ 'p', "policy", "NAME", OPTION_TEXT, "policy", NULL, \
		"a named policy of the host, for all cells" }, \
	{ 0, "limit", "K=V", OPTION_LIST, NULL, NULL, \
		"memory=512M, disk=64M, pids=8 ... of the session; wall=2s, cpu=500ms, stdout=1M of each cell" }, \
	{ 't', "timeout", "TIME", OPTION_TEXT, NULL, NULL, \
		"the same as --limit wall=TIME" }, \
	{ 'e', "env", "K=V", OPTION_MAP, "env", NULL, \
		"a variable of the environment" }, \
	{ 0, "packages", "NAME", OPTION_LIST, "packages", NULL, \
		"a package set of the host whose modules the cells may import; `cectl packages list`" }, \
	{ 0, "allow-host", "HOST[:PORT]", OPTION_LIST, NULL, NULL, \
		"a host that cells may connect to, as of cectl run" }, \
	{ 0, "idle", "TIME", OPTION_TEXT, "idle_ms", option_ms, \
		"the session ends after this time without a cell" }, \
	{ 0, "states", "N", OPTION_TEXT, "states", option_count, \
		"how many states are kept to go back to, 0 to 16; else 2" }, \
	{ 0, "task", "NAME", OPTION_TEXT, "task", NULL, "of cells that name no other" }, \
	{ 0, "agent", "NAME", OPTION_TEXT, "agent", NULL, "which of your agents asks" }, \
	{ 0, "label", "K=V", OPTION_MAP, "labels", NULL, "of cells that name no others" }, \
	{ 0, "secret", "NAME", OPTION_LIST, "secrets", option_secret, \
		"what this variable of cectl's own environment holds is masked in the record of each cell" }
// clang-format on

/* The params of session.open, from these options; 0 or the exit status. */
int session_params(struct cli *cli, struct value **ret_params);

struct value *session_close_params(struct cli *cli, const char *session);

/* As cli_ask(). */
int session_close(struct cli *cli, const char *session, const struct value **ret_result);

/* The row of session.list about this one; NULL: it is not open.  0, or the exit status. */
int session_find(struct cli *cli, const char *session, const struct value **ret_row);

/* Whether the session can go back to this state, by such a row. */
bool session_has_kept(const struct value *row, uint64_t state);

/* The name of a state that is pinned, or "" if it has none; NULL: it is not pinned. */
const char *session_pin(struct cli *cli, const struct value *row, uint64_t state);

/* As cli_ask().  `name` may be NULL. */
int session_keep(
	struct cli *cli, const char *session, const char *name, const struct value **ret_result);
int session_drop(
	struct cli *cli, const char *session, struct value *state, const struct value **ret_result);

/* Prints the cells of a session as the tree of its states; the exit status. */
int session_show(struct cli *cli, const char *session);

/*
 * Runs the recorded cells that led to a state again, in a new session, and compares; the exit status.
 * `state`: a word of the command line, or NULL for where the session stands or ended.
 */
int session_replay(struct cli *cli, const char *session, const char *state);
