/*
 * The options that describe a job, and the params of the request that they make.  `run` and
 * `check` share them.
 */
#pragma once

#include "cli/base/option_values.h"
#include "cli/session/cli.h"

// clang-format off
#define JOB_OPTION_ROWS \
	{ 'l', "language", "LANG", OPTION_TEXT, NULL, NULL, \
		"python (or py), javascript (js, node), bash (sh) or what the host has; else told by the file's suffix or its #! line; what has no name is python" }, \
	{ 'c', "code", "CODE", OPTION_TEXT, NULL, NULL, \
		"the program itself instead of a file" }, \
	{ 0, "entrypoint", "NAME", OPTION_TEXT, "entrypoint", NULL, \
		"file name the program runs as; else the file's own name, else main.py ..." }, \
	{ 0, "session", "SESSION", OPTION_TEXT, "session", NULL, \
		"as the next cell of this session, with what its cells before left: see cectl session" }, \
	{ 0, "from", "STATE", OPTION_TEXT, "from", option_count, \
		"go back to this kept state of the session first" }, \
	{ 0, "atomic", NULL, OPTION_FLAG, "atomic", NULL, \
		"in a session: if the program does not end well, go back to where the session stood" }, \
	{ 'p', "policy", "NAME", OPTION_TEXT, "policy", NULL, \
		"a named policy of the host" }, \
	{ 0, "limit", "K=V", OPTION_LIST, NULL, NULL, \
		"wall=2s, cpu=500ms, memory=64M, disk=16M, stdout=1M, pids=8 ...; or in full: wall_ms=2000" }, \
	{ 't', "timeout", "TIME", OPTION_TEXT, NULL, NULL, \
		"the same as --limit wall=TIME: 2s, 500ms, 1m; cpu time has a limit of its own: --limit cpu=20s" }, \
	{ 'i', "input", "JSON|@FILE", OPTION_TEXT, NULL, NULL, \
		"a JSON document that the program reads from stdin" }, \
	{ 0, "stdin", "FILE", OPTION_TEXT, NULL, NULL, \
		"what the program reads from stdin; - is cectl's own, however long it takes" }, \
	{ 0, "output", "FORM", OPTION_TEXT, "output", NULL, \
		"text, or json: stdout must be one JSON document" }, \
	{ 0, "schema", "FILE|JSON", OPTION_TEXT, NULL, NULL, \
		"JSON Schema that the JSON on stdout must satisfy" }, \
	{ 'f', "file", "PATH[:DEST]", OPTION_LIST, NULL, NULL, \
		"a file for the working directory, under its own name or as DEST; or SHA256:DEST after `cectl put`" }, \
	{ 'e', "env", "K=V", OPTION_MAP, "env", NULL, \
		"a variable; the program sees no others but the runtime's fixed ones" }, \
	{ 'a', "artifact", "GLOB", OPTION_LIST, "artifacts", NULL, \
		"files to bring back: '*.png', 'out/*'; '*' for all" }, \
	{ 0, "packages", "NAME", OPTION_LIST, "packages", NULL, \
		"a package set of the host whose modules the program may import; `cectl packages list`" }, \
	{ 0, "display", NULL, OPTION_FLAG, "display", NULL, \
		"bring back the value of the last expression and what it displays (python, javascript); as text here, with --json all of it" }, \
	{ 0, "on-output-limit", "DO", OPTION_TEXT, "on_output_limit", NULL, \
		"kill (default), or truncate: run on, keep the first and the last half" }, \
	{ 0, "id", "NAME", OPTION_TEXT, "id", NULL, \
		"your own name for this action: asked for again, it is not done again" }, \
	{ 0, "cache", "MODE", OPTION_TEXT, "cache", NULL, \
		"use: accept a known result of the same run; refresh: run, and replace the known result; off (default)" }, \
	{ 0, "task", "NAME", OPTION_TEXT, "task", NULL, \
		"groups attempts at one task; after three in a row that fail the next are not let in for ten minutes, unless the settings say otherwise" }, \
	{ 0, "agent", "NAME", OPTION_TEXT, "agent", NULL, \
		"which of your agents asks" }, \
	{ 0, "label", "K=V", OPTION_MAP, "labels", NULL, \
		"found again with `cectl runs --label`" }, \
	{ 0, "secret", "NAME", OPTION_LIST, "secrets", option_secret, \
		"what this variable of cectl's own environment holds is masked in whatever is stored" }, \
	{ 0, "allow-host", "HOST[:PORT]", OPTION_LIST, NULL, NULL, \
		"a host that the program may connect to, on port 443 if none is named; '*.example.org' is a pattern; the settings say what may be asked" }, \
	{ 0, "deterministic", NULL, OPTION_FLAG, "deterministic", NULL, \
		"chance, clock and hashes begin the same in each run" }, \
	{ 0, "trace-files", NULL, OPTION_FLAG, NULL, NULL, \
		"note which files below /work and /tmp it opens" }, \
	{ 0, "no-trace", NULL, OPTION_FLAG, NULL, NULL, \
		"record no timeline" }
// clang-format on

/*
 * The params of `run`, from the options and the one operand (a file, "-", or none).  Gives them in
 * cli->arena; returns 0, or the exit status after reporting the error.
 */
int job_options_params(struct cli *cli, struct value **ret_params);

/* How --limit calls this limit: without its unit, unless two limits would have that name. */
const char *limit_word(struct cli *cli, const char *name);

/* Adds `limits`, from --limit and --timeout; as above. */
int job_options_limits(struct cli *cli, struct value *params);

/* Adds `network`, from --allow-host. */
void job_options_network(struct cli *cli, struct value *params);

/*
 * Sends cectl's own stdin as `stdin`, unless an option names the program's input or stdin is the
 * program itself (piped.h).  0, or the exit status.
 */
int job_options_piped(struct cli *cli, struct value *params);
