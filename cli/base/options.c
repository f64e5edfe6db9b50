#include "cli/base/options.h"

#include <assert.h>
#include <string.h>

#include "proto/base/nearest.h"

#define HELP_COLUMN     26 /* where the meanings begin */
#define OPTION_NAME_MAX 64

/* In the order of help pages. */
enum common {
	COMMON_JSON,
	COMMON_SOCKET,
	COMMON_STORE,
	COMMON_HELP,
	COMMON_COUNT
};

static const struct option_row common_rows[] = {
	[COMMON_JSON] = { 0, "json", NULL, OPTION_FLAG, NULL, NULL,
		"answer with one JSON document" },
	[COMMON_SOCKET] = { 0, "socket", "PATH", OPTION_TEXT, NULL, NULL,
		"where the daemon listens; else $CED_SOCKET, $XDG_RUNTIME_DIR/ced/ced.sock, "
		"/run/ced/ced.sock" },
	[COMMON_STORE] = { 0, "store", "FILE", OPTION_TEXT, NULL, NULL,
		"read a copy of a store instead of asking a daemon: its ced.db, or the folder of that" },
	[COMMON_HELP] = { 'h', "help", NULL, OPTION_FLAG, NULL, NULL, "this page" },
	[COMMON_COUNT] = { 0 },
};

/* One parse of a command line. */
struct parsing {
	const struct command *command; /* NULL: common options alone */
	struct arena *arena;
	int argc;
	char **argv;
	int at;
	struct parsed *parsed;
};

static int words_add(struct words *words, struct arena *arena, const char *word, size_t most)
{
	if (!words->items)
		words->items = arena_array(arena, const char *, most);
	if (!words->items)
		return -1;
	words->items[words->count++] = word;
	return 0;
}

static const struct option_row *find_letter(const struct option_row *rows, char letter)
{
	for (; rows && rows->name; rows++) {
		if (rows->letter == letter)
			return rows;
	}
	return NULL;
}

static const struct option_row *find_name(
	const struct option_row *rows, const char *name, size_t name_len)
{
	for (; rows && rows->name; rows++) {
		if (strlen(rows->name) == name_len && memcmp(rows->name, name, name_len) == 0)
			return rows;
	}
	return NULL;
}

static void offer_rows(struct nearest *nearest, const struct option_row *rows)
{
	for (; rows && rows->name; rows++)
		nearest_offer(nearest, rows->name);
}

/* Behind the program's name it may have been meant for the program. */
static const char *whose(const struct command *command, const struct parsed *parsed)
{
	return command && command->takes_rest && parsed->operands.count
		       ? "; the program's own options go behind --"
		       : "";
}

static int refuse_unknown(
	const struct option_row *own, const char *word, const char *more, struct err *err)
{
	size_t name_len = strcspn(word, "=");
	char name[OPTION_NAME_MAX];
	struct nearest nearest = NEAREST_OF(name);

	if (word[1] == '-' && name_len > 2) {
		cut_printf(name, sizeof(name), "%.*s", (int)(name_len - 2), word + 2);
		offer_rows(&nearest, own);
		offer_rows(&nearest, common_rows);
	}
	if (more[0] && nearest.distance > 1)
		nearest.best = NULL; /* then it is the program's more likely */
	if (nearest.best)
		return err_set(err, ERR_INVALID, "there is no option %.*s; did you mean --%s?%s",
			(int)name_len, word, nearest.best, more);
	return err_set(err, ERR_INVALID, "there is no option %s%s", word, more);
}

static void store_common(struct common_options *common, size_t row, const char *value)
{
	common->json = common->json || row == COMMON_JSON;
	common->help = common->help || row == COMMON_HELP;
	if (row == COMMON_SOCKET)
		common->socket = value;
	if (row == COMMON_STORE)
		common->store = value;
}

/* A command would use only one of two values, and the user expects both. */
static int store_value(
	struct parsing *parsing, const struct option_row *row, const char *value, struct err *err)
{
	const struct option_row *own = parsing->parsed->rows;
	struct words *words;

	if (row >= common_rows && row < common_rows + COMMON_COUNT) {
		store_common(&parsing->parsed->common, (size_t)(row - common_rows), value);
		return 0;
	}
	words = &parsing->parsed->given[row - own];
	if (row->kind == OPTION_ONCE && words->count)
		return err_set(err, ERR_INVALID, "--%s is given twice", row->name);
	if (words_add(words, parsing->arena, value, (size_t)parsing->argc) < 0)
		return err_set(err, ERR_MEMORY, "too many words");
	return 0;
}

/* Takes the value from behind "=", from the rest of a cluster, or from the next word. */
static int take_value(struct parsing *parsing, const struct option_row *row, const char *attached,
	const char **ret_value, struct err *err)
{
	if (!row->argument && attached)
		return err_set(err, ERR_INVALID, "--%s takes no value", row->name);
	if (!row->argument || attached) {
		*ret_value = attached;
		return 0;
	}
	if (parsing->at + 1 >= parsing->argc)
		return err_set(
			err, ERR_INVALID, "--%s needs a value: %s", row->name, row->argument);
	*ret_value = parsing->argv[++parsing->at];
	return 0;
}

/* "--name", "--name=VALUE", "--name VALUE"; "-x", "-xVALUE", "-x VALUE". */
static int parse_option(struct parsing *parsing, struct err *err)
{
	const char *word = parsing->argv[parsing->at];
	bool is_long = word[1] == '-';
	size_t name_len = is_long ? strcspn(word, "=") - 2 : 1;
	const char *attached = is_long ? word + 2 + name_len : word + 2;
	const struct option_row *own = parsing->parsed->rows;
	const struct option_row *row =
		is_long ? find_name(own, word + 2, name_len) : find_letter(own, word[1]);
	const char *value = NULL;

	if (!row) /* the command's own rows come first */
		row = is_long ? find_name(common_rows, word + 2, name_len)
			      : find_letter(common_rows, word[1]);
	if (!row)
		return refuse_unknown(
			is_long ? own : NULL, word, whose(parsing->command, parsing->parsed), err);
	if (take_value(parsing, row, !*attached ? NULL : attached + is_long, &value, err) < 0)
		return -1;
	return store_value(parsing, row, value, err);
}

static int take_rest(struct parsing *parsing, struct words *rest)
{
	while (++parsing->at < parsing->argc) {
		if (words_add(rest, parsing->arena, parsing->argv[parsing->at],
			    (size_t)parsing->argc) < 0)
			return -1;
	}
	return 0;
}

static int parse_word(struct parsing *parsing, struct err *err)
{
	struct parsed *parsed = parsing->parsed;
	const char *word = parsing->argv[parsing->at];

	if (strcmp(word, "--") == 0) {
		parsed->has_rest = true;
		return take_rest(
			parsing, parsing->command->takes_rest ? &parsed->rest : &parsed->operands);
	}
	if (word[0] == '-' && word[1] != '\0')
		return parse_option(parsing, err);
	return words_add(&parsed->operands, parsing->arena, word, (size_t)parsing->argc);
}

/* The first extra word: the very first when an option replaces the operand. */
static size_t first_stray(const struct command *command, const struct parsed *parsed)
{
	return command->instead && parsed_text(parsed, command->instead) ? 0
									 : command->operand_most;
}

static int check_operands(
	const struct command *command, const struct parsed *parsed, struct err *err)
{
	const struct words *operands = &parsed->operands;

	if (parsed->common.help)
		return 0;
	if (operands->count < command->operand_least)
		return err_set(err, ERR_INVALID, operands->count ? "it needs %s" : "%s is missing",
			command->operands);
	if (operands->count > command->operand_most)
		return err_set(err, ERR_INVALID, "\"%s\" is one word too many%s",
			operands->items[first_stray(command, parsed)],
			command->takes_rest ? "; the program's own arguments go behind --" : "");
	return 0;
}

int options_parse(const struct command *command, struct arena *arena, int argc, char **argv,
	struct parsed *parsed, struct err *err)
{
	struct parsing parsing = { command, arena, argc, argv, 0, parsed };
	size_t count = 0;

	parsed->rows = command->options;
	while (parsed->rows && parsed->rows[count].name)
		count++;
	parsed->given = arena_array(arena, struct words, count + 1);
	if (!parsed->given)
		return err_set(err, ERR_MEMORY, "no memory");
	for (; parsing.at < argc; parsing.at++) {
		if (parse_word(&parsing, err) < 0)
			return -1;
	}
	return check_operands(command, parsed, err);
}

int options_parse_front(int argc, char **argv, struct common_options *common, struct err *err)
{
	struct parsed parsed = { .common = *common };
	struct parsing parsing = { NULL, NULL, argc, argv, 0, &parsed };

	for (; parsing.at < argc && argv[parsing.at][0] == '-'; parsing.at++) {
		if (parse_option(&parsing, err) < 0)
			return -1;
	}
	*common = parsed.common;
	return parsing.at;
}

const struct words *parsed_words(const struct parsed *parsed, const char *name)
{
	const struct option_row *row = find_name(parsed->rows, name, strlen(name));

	assert(row); /* a row of the command */
	return &parsed->given[row - parsed->rows];
}

const char *parsed_text(const struct parsed *parsed, const char *name)
{
	const struct words *words = parsed_words(parsed, name);

	return words->count ? words->items[words->count - 1] : NULL;
}

bool parsed_flag(const struct parsed *parsed, const char *name)
{
	return parsed_words(parsed, name)->count > 0;
}

/* ---- help ---------------------------------------------------------------------------------- */

static int put_indent(struct buf *out, size_t count)
{
	return buf_printf(out, "%*s", (int)count, "");
}

/* One word of a paragraph; starts a new line when it would not fit. */
static int put_word(
	struct buf *out, const char *word, size_t len, size_t indent, size_t width, size_t *column)
{
	if (*column > indent && *column + 1 + len > width) {
		if (buf_append_byte(out, '\n') < 0)
			return -1;
		*column = 0;
	}
	if (*column < indent) {
		if (put_indent(out, indent - *column) < 0)
			return -1;
		*column = indent;
	} else if (*column > indent) {
		if (buf_append_byte(out, ' ') < 0)
			return -1;
		*column += 1;
	}
	*column += len;
	return buf_append(out, word, len);
}

int options_wrap(const char *text, size_t indent, size_t column, size_t width, struct buf *out)
{
	while (*text) {
		size_t len = strcspn(text, " \n");

		if (len > 0 && put_word(out, text, len, indent, width, &column) < 0)
			return -1;
		text += len;
		if (*text == '\n') {
			if (buf_append_byte(out, '\n') < 0)
				return -1;
			column = 0;
		}
		text += strspn(text, " ") > 0 ? strspn(text, " ") : (size_t)(*text == '\n');
	}
	return buf_append_byte(out, '\n');
}

static int help_row(const struct option_row *row, size_t width, struct buf *out)
{
	size_t start = out->len;
	size_t column;
	char letter[5];

	if (row->letter)
		cut_printf(letter, sizeof(letter), "-%c, ", row->letter);
	else
		cut_printf(letter, sizeof(letter), "    ");
	if (buf_printf(out, "  %s--%s%s%s", letter, row->name, row->argument ? " " : "",
		    row->argument ? row->argument : "") < 0)
		return -1;
	column = out->len - start;
	if (column + 2 > HELP_COLUMN) {
		if (buf_append_byte(out, '\n') < 0)
			return -1;
		column = 0;
	}
	return options_wrap(row->meaning, HELP_COLUMN, column, width, out);
}

static int help_rows(const struct option_row *rows, size_t width, struct buf *out)
{
	for (; rows && rows->name; rows++) {
		if (help_row(rows, width, out) < 0)
			return -1;
	}
	return 0;
}

const struct option_row *options_common(void)
{
	return common_rows;
}

bool options_common_fits(const struct command *command, const struct option_row *row)
{
	return row != &common_rows[COMMON_STORE] || command->reads_copy;
}

static int help_common(const struct command *command, size_t width, struct buf *out)
{
	for (const struct option_row *row = common_rows; row->name; row++) {
		if (options_common_fits(command, row) && help_row(row, width, out) < 0)
			return -1;
	}
	return 0;
}

static int help_examples(const struct example *examples, size_t width, struct buf *out)
{
	if (!examples)
		return 0;
	if (buf_append_text(out, "\nExamples:\n") < 0)
		return -1;
	for (; examples->line; examples++) {
		if (buf_printf(out, "  %s\n", examples->line) < 0 ||
			options_wrap(examples->meaning, 6, 0, width, out) < 0)
			return -1;
	}
	return 0;
}

int options_help(const struct command *command, size_t width, struct buf *out)
{
	if (buf_printf(out, "Usage: cectl %s [OPTION]...%s%s\n\n", command->name,
		    command->operands ? " " : "", command->operands ? command->operands : "") < 0 ||
		options_wrap(command->about, 0, 0, width, out) < 0 ||
		buf_append_text(out, "\nOptions:\n") < 0 ||
		help_rows(command->options, width, out) < 0 ||
		help_common(command, width, out) < 0 ||
		help_examples(command->examples, width, out) < 0)
		return -1;
	return command->print_more ? command->print_more(out) : 0;
}
