/*
 * The options that describe a job, and the params of the request that they make.  `run` and
 * `check` share them.
 */
#pragma once

#include "cli/base/options.h"
#include "cli/session/cli.h"

struct job_options {
	const char *language;
	const char *code;
	const char *entrypoint;
	const char *policy;
	const char *input;
	const char *stdin_file;
	const char *output;
	const char *schema;
	const char *id;
	const char *task;
	const char *agent;
	const char *on_output_limit;
	const char *cache;
	const char *timeout;
	bool no_trace;
	bool deterministic;
	bool trace_files;
	struct words limits;
	struct words files;
	struct words env;
	struct words artifacts;
	struct words labels;
	struct words secrets; /* names of variables of cectl's own environment */
};

/* The rows, for a command whose struct `type` holds a struct job_options called `job`. */
// clang-format off
#define JOB_ROW(type, letter, name, argument, kind, field, meaning) \
	{ letter, name, argument, kind, offsetof(type, job.field), meaning }
#define JOB_OPTION_ROWS(type) \
	JOB_ROW(type, 'l', "language", "LANG", OPTION_TEXT, language, \
		"python (or py), javascript (js, node), bash (sh) or what the host has; else told by the file's suffix or its #! line; what has no name is python"), \
	JOB_ROW(type, 'c', "code", "CODE", OPTION_TEXT, code, "the program itself instead of a file"), \
	JOB_ROW(type, 0, "entrypoint", "NAME", OPTION_TEXT, entrypoint, \
		"file name the program runs as; else the file's own name, else main.py ..."), \
	JOB_ROW(type, 'p', "policy", "NAME", OPTION_TEXT, policy, "a named policy of the host"), \
	JOB_ROW(type, 0, "limit", "K=V", OPTION_LIST, limits, \
		"wall=2s, cpu=500ms, memory=64M, disk=16M, stdout=1M, pids=8 ...; or in full: wall_ms=2000"), \
	JOB_ROW(type, 't', "timeout", "TIME", OPTION_TEXT, timeout, "the same as --limit wall=TIME: 2s, 500ms, 1m; cpu time has a limit of its own: --limit cpu=20s"), \
	JOB_ROW(type, 'i', "input", "JSON|@FILE", OPTION_TEXT, input, \
		"a JSON document that the program reads from stdin"), \
	JOB_ROW(type, 0, "stdin", "FILE", OPTION_TEXT, stdin_file, \
		"what the program reads from stdin; - is cectl's own, however long it takes"), \
	JOB_ROW(type, 0, "output", "FORM", OPTION_TEXT, output, \
		"text, or json: stdout must be one JSON document"), \
	JOB_ROW(type, 0, "schema", "FILE|JSON", OPTION_TEXT, schema, \
		"JSON Schema that the JSON on stdout must satisfy"), \
	JOB_ROW(type, 'f', "file", "PATH[:DEST]", OPTION_LIST, files, \
		"a file for the working directory, under its own name or as DEST; or SHA256:DEST after `cectl put`"), \
	JOB_ROW(type, 'e', "env", "K=V", OPTION_LIST, env, \
		"a variable; the program sees no others but the runtime's fixed ones"), \
	JOB_ROW(type, 'a', "artifact", "GLOB", OPTION_LIST, artifacts, \
		"files to bring back: '*.png', 'out/*'; '*' for all"), \
	JOB_ROW(type, 0, "on-output-limit", "DO", OPTION_TEXT, on_output_limit, \
		"kill (default), or truncate: run on, keep the first and the last half"), \
	JOB_ROW(type, 0, "id", "NAME", OPTION_TEXT, id, \
		"your own name for this action: asked for again, it is not done again"), \
	JOB_ROW(type, 0, "cache", "MODE", OPTION_TEXT, cache, \
		"use: accept a known result of the same run; refresh: run, and replace the known result; off (default)"), \
	JOB_ROW(type, 0, "task", "NAME", OPTION_TEXT, task, "groups attempts at one task; after three in a row that fail the next are not let in for ten minutes, unless the settings say otherwise"), \
	JOB_ROW(type, 0, "agent", "NAME", OPTION_TEXT, agent, "which of your agents asks"), \
	JOB_ROW(type, 0, "label", "K=V", OPTION_LIST, labels, "found again with `cectl runs --label`"), \
	JOB_ROW(type, 0, "secret", "NAME", OPTION_LIST, secrets, \
		"what this variable of cectl's own environment holds is masked in whatever is stored"), \
	JOB_ROW(type, 0, "deterministic", NULL, OPTION_FLAG, deterministic, \
		"chance, clock and hashes begin the same in each run"), \
	JOB_ROW(type, 0, "trace-files", NULL, OPTION_FLAG, trace_files, \
		"note which files below /work and /tmp it opens"), \
	JOB_ROW(type, 0, "no-trace", NULL, OPTION_FLAG, no_trace, "record no timeline")
// clang-format on

/*
 * The params of `run`, from the options and the one operand (a file, "-", or none).  Gives them in
 * cli->arena; returns 0, or the exit status after reporting the error.
 */
int job_options_params(
	struct cli *cli, const struct job_options *options, struct value **ret_params);

/*
 * Sends cectl's own stdin as `stdin`, unless an option names the program's input or stdin is the
 * program itself (piped.h).  0, or the exit status.
 */
int job_options_piped(struct cli *cli, const struct job_options *options, struct value *params);

/*
 * Puts `secrets` into params: what these variables of cectl's own environment hold.  The variable
 * and not its value is named, since command lines can be read by everybody.  None named: nothing
 * is put.
 */
int job_options_secrets(
	struct cli *cli, const struct words *names, struct value *params, struct err *err);
