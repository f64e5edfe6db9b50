/*
 * Shows the result of a run, for `run` and `wait`.  It passes the output through, writes the
 * files, prints one line on stderr when the run was not ok, and finds the exit status.
 */
#pragma once

#include "cli/session/cli.h"
#include "cli/terminal/passthrough.h"
#include "cli/terminal/progress.h"

/* Shows a run while it runs: its output with --stream, else that time passes. */
struct live {
	struct cli *cli;
	struct passthrough out;
	struct passthrough err;
	struct client_watch watch; /* for cli_ask() */
	struct progress progress;
	bool streams;
	bool answers; /* calls of tools, by the commands of --tool; set by its owner */
	bool cancels; /* Ctrl-C ends the run, and not only the waiting */
	bool canceling;
	bool leaves_artifacts; /* to its owner */
	bool json_is_text;     /* a value that is displayed as JSON, too, is not more than text */
	int64_t canceling_ms;  /* since when */
	char run_id[32];       /* once it is known */
	size_t displayed;      /* items of its display that were shown */
	char ended[16];        /* why the session that this connection opened has ended */
};

/* `streams` says whether run.output notifications go to stdout and stderr as they come. */
void live_init(struct live *live, struct cli *cli, bool streams);

/*
 * After live_init(): Ctrl-C cancels the run; cectl then shows its id and its output so far.  Asks
 * for the id with `announce`.
 */
void live_cancels(struct live *live, struct value *params);

/* Asks `method` and shows what happens until the answer comes; as cli_ask(). */
int live_ask(struct live *live, const char *method, struct value *params,
	const struct value **ret_result);

/*
 * Shows the result, with its artifacts below `out_dir` (NULL: a hint), and returns the exit status.
 */
int results_show(struct live *live, const struct value *result, const char *out_dir);

/* Of a cell: that it was undone, and where the session stands, on stderr. */
void results_note_undone(struct cli *cli, const struct value *result);

/* Whether it is no result yet: the run waits for a person. */
bool results_are_parked(const struct value *result);

/* "run ID waits for approval: ..." on stderr, once. */
void results_note_parked(struct cli *cli, const struct value *parked);

/*
 * Opens the folder of --out (NULL: none) before anything runs, so that a bad one is found in time.
 * 0, or the exit status after telling why.
 */
int results_prepare_out(struct cli *cli, const char *path);
