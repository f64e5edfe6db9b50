/*
 * One call of cectl: its options, its output, its daemon or its copy of a store, and the ways in
 * which every command asks and fails.
 */
#pragma once

#include <stdbool.h>

#include "cli/base/client.h"
#include "cli/base/options.h"
#include "cli/terminal/output.h"
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
	const char *socket;    /* as --socket gave it, or NULL */
	const char *store;     /* as --store gave it, or NULL: then questions go to the daemon */
	struct parsed given;   /* its options and operands */
	bool has_timeout;      /* the limit "wall" was written as --timeout */
	int64_t patience_ms;   /* for the daemon's first answer; 0: CLIENT_PATIENCE_MS */
	struct client *client; /* opened by the first question */
	struct store *copy;    /* the same, of offline.c */
};

/* What the command line gives to an option of this command: see parsed_words(). */
const struct words *cli_words(const struct cli *cli, const char *option);
const char *cli_text(const struct cli *cli, const char *option);
bool cli_flag(const struct cli *cli, const char *option);

/* An operand, or NULL. */
const char *cli_operand(const struct cli *cli, size_t index);

/*
 * Adds what the options and the operand give to the request.  0, or the exit status after reporting
 * what is wrong.
 */
int cli_put_options(struct cli *cli, struct value *params);

/* Runs the command: by its method, or by itself.  Returns the exit status. */
int cli_run(struct cli *cli);

/*
 * Asks the daemon and waits.  Returns 0 and the result; else the exit status, after reporting the
 * reason on stderr, and with --json as {"error": {...}} on stdout.  `watch` may be NULL.  Fails
 * when the params, or anything else in the arena, found no memory.
 */
int cli_ask(struct cli *cli, const char *method, struct value *params,
	const struct client_watch *watch, const struct value **ret_result);

/* The same without a message: 0 with the result, 1 with the error, -1 when the connection broke. */
int cli_ask_quietly(struct cli *cli, const char *method, const struct value *params,
	const struct client_watch *watch, const struct value **ret_result, struct err *err);

/* Reports such a failure as cli_ask() does; returns the exit status. */
int cli_ask_failed(struct cli *cli, int status, const struct value *error, const struct err *err);

/* Reports an error of cectl and returns its exit status. */
int cli_fail(struct cli *cli, const struct err *err);
int cli_fail_with(struct cli *cli, enum err_code code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
int cli_usage(struct cli *cli, const char *format, ...) __attribute__((format(printf, 2, 3)));
int cli_no_memory(struct cli *cli);

/*
 * Translates a refused request into the words of the command line: "--limit memory: must be at most
 * 1 GiB" for "/limits/memory_bytes: must be at most 1073741824".  NULL when no word of this
 * command's line is meant.  All of it is safe.
 */
const char *cli_refusal(struct cli *cli, const char *pointer, const char *message);

/* A line that names the setting or person that can change it, or NULL. */
const char *cli_advice(const char *pointer, const char *message);

/* Prints the result as the document of --json and returns `status`. */
int cli_document(struct cli *cli, const struct value *result, int status);

/* "cectl show RUN" as the user would have to type it to reach the same daemon. */
const char *cli_more(struct cli *cli, const char *command, const char *run_id);
