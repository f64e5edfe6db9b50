/*
 * Options are written once, as rows of a table: from it come the parser and the help text.
 *
 * A row names a field of the command's own struct by its offset.  Words that are no options are
 * the operands; everything after "--" is the rest, unchanged.  Options and operands may stand
 * in any order.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "proto/base/arena.h"
#include "proto/base/buf.h"
#include "proto/base/err.h"

struct cli;

/* Several words; they point into argv, the array into the arena. */
struct words {
	const char **items;
	size_t count;
};

enum option_kind {
	OPTION_FLAG, /* bool */
	OPTION_TEXT, /* const char *; the last one counts */
	OPTION_ONCE, /* the same, and refused when it is given twice */
	OPTION_LIST, /* struct words; may be given several times */
};

struct option_row {
	char letter;          /* -l; 0: none */
	const char *name;     /* language */
	const char *argument; /* what the help calls its value; NULL for a flag */
	enum option_kind kind;
	size_t offset;
	const char *meaning;
};

struct example {
	const char *line;
	const char *meaning;
};

/* One subcommand, as main.c lists them. */
struct command {
	const char *name;
	const char *operands;             /* as the usage line shows them, "" for none */
	const char *summary;              /* one line for the list of all commands */
	const char *about;                /* paragraphs for its own help */
	const struct option_row *options; /* ended by a row without a name; or NULL */
	size_t options_size;              /* of the struct that the rows point into */
	size_t operand_least, operand_most;
	const char *instead; /* the option that can stand for the operand, such as code; or NULL */
	bool takes_rest;     /* "--" and words behind it make sense */
	const struct example *examples;     /* ended by one without a line */
	int (*print_more)(struct buf *out); /* what else its help says, or NULL */
	bool reads_copy;                    /* --store FILE makes sense */
	bool run_statuses;                  /* exits as a run does (exits.h); else 0, 1, 2 */
	int (*run)(struct cli *cli, const void *options);
};

/* Options that every command has. */
struct common_options {
	bool json;
	bool help;
	const char *socket;
	const char *store;
};

extern const struct option_row common_rows[];

struct parsed {
	struct common_options common;
	void *options; /* the command's own struct, zeroed before */
	struct words operands;
	struct words rest;
	bool has_rest; /* there was a "--" */
};

/*
 * Parses argv[0..argc) for `command`; all that it allocates lies in `arena`.  An unknown option,
 * a missing value and an extra word fail with a message that names it.
 */
int options_parse(const struct command *command, struct arena *arena, int argc, char **argv,
	struct parsed *parsed, struct err *err);

/* Common options only, up to the first other word, whose index comes back; for main(). */
int options_parse_front(int argc, char **argv, struct common_options *common, struct err *err);

/* The help page of one command, wrapped to `width` columns. */
int options_help(const struct command *command, size_t width, struct buf *out);

/* `text` wrapped to `width`, each line behind `indent` spaces; the first goes on at `column`. */
int options_wrap(const char *text, size_t indent, size_t column, size_t width, struct buf *out);
