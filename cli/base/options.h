/*
 * A command is a row of tables: its options, its help, the method that it asks and how it shows the
 * answer.  The parser, the help page, the guesses at misspelt options and the request come from
 * them.
 *
 * Words that are no options are the operands; everything after "--" is the rest, unchanged.
 * Options and operands may stand in any order.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "proto/base/arena.h"
#include "proto/base/buf.h"
#include "proto/base/err.h"
#include "proto/value.h"

struct cli;

/* Several words; they point into argv, the array into the arena. */
struct words {
	const char **items;
	size_t count;
};

enum option_kind {
	OPTION_FLAG,
	OPTION_TEXT, /* the last one counts */
	OPTION_ONCE, /* refused when it is given twice */
	OPTION_LIST, /* may be given several times */
	OPTION_MAP,  /* the same, as NAME=VALUE; each name once */
};

/* What a word means for the request: NULL with *err when it means nothing. */
typedef struct value *option_value(struct arena *arena, const char *word, struct err *err);

struct option_row {
	char letter;          /* -l; 0: none */
	const char *name;     /* language */
	const char *argument; /* what the help calls its value; NULL for a flag */
	enum option_kind kind;
	const char *param;   /* the key of the request that it fills; NULL: the command reads it */
	option_value *value; /* NULL: the text itself */
	const char *meaning;
};

struct example {
	const char *line;
	const char *meaning;
};

/* Both end with an empty row. */
#define OPTIONS(...)                \
	(const struct option_row[]) \
	{                           \
		__VA_ARGS__,        \
		{                   \
			0           \
		}                   \
	}
#define EXAMPLES(...)            \
	(const struct example[]) \
	{                        \
		__VA_ARGS__,     \
		{                \
			0        \
		}                \
	}

/* One subcommand, as main.c lists them. */
struct command {
	const char *name;
	const char *operands;             /* as the usage line shows them; NULL: none */
	const char *summary;              /* one line for the list of all commands */
	const char *about;                /* paragraphs for its own help */
	const struct option_row *options; /* or NULL */
	size_t operand_least, operand_most;
	const char *instead; /* the option that can stand for the operand, such as code; or NULL */
	bool takes_rest;     /* "--" and words behind it make sense */
	const struct example *examples;
	int (*print_more)(struct buf *out); /* what else its help says, or NULL */
	bool reads_copy;                    /* --store FILE makes sense */
	bool run_statuses;                  /* exits as a run does (exits.h); else 0, 1, 2 */

	/*
	 * It asks one method with what its options and its operand give, and shows the answer ...
	 */
	const char *method;
	const char *operand_param; /* the key that the operand fills, or NULL */
	option_value *operand_value;
	bool takes_long; /* the answer may take as long as it likes */
	void (*show)(struct cli *cli, const struct value *result);
	int (*status)(const struct value *result); /* NULL: 0 */
	/* ... or, without a method, it does everything itself. */
	int (*run)(struct cli *cli);
};

/* Options that every command has. */
struct common_options {
	bool json;
	bool help;
	const char *socket;
	const char *store;
};

struct parsed {
	struct common_options common;
	const struct option_row *rows; /* the command's own */
	struct words *given;           /* for each of its rows, its values; a flag's are NULL */
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

/* The values of an option of the command; the name must be one of its rows. */
const struct words *parsed_words(const struct parsed *parsed, const char *name);

/* The last of them, or NULL. */
const char *parsed_text(const struct parsed *parsed, const char *name);

bool parsed_flag(const struct parsed *parsed, const char *name);

/* Common options only, up to the first other word, whose index comes back; for main(). */
int options_parse_front(int argc, char **argv, struct common_options *common, struct err *err);

/* The options that every command has, up to an empty row. */
const struct option_row *options_common(void);

/* Whether this one of them makes sense for the command. */
bool options_common_fits(const struct command *command, const struct option_row *row);

/* The help page of one command, wrapped to `width` columns. */
int options_help(const struct command *command, size_t width, struct buf *out);

/* `text` wrapped to `width`, each line behind `indent` spaces; the first goes on at `column`. */
int options_wrap(const char *text, size_t indent, size_t column, size_t width, struct buf *out);
