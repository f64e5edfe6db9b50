#include "cli/base/options.h"

#include <assert.h>
#include <string.h>

#include "proto/base/nearest.h"

#define HELP_COLUMN     26 /* where the meanings begin */
#define OPTION_NAME_MAX 64

const struct option_row common_rows[] = {
	{ 0, "json", NULL, OPTION_FLAG, offsetof(struct common_options, json),
		"answer with one JSON document" },
	{ 0, "socket", "PATH", OPTION_TEXT, offsetof(struct common_options, socket),
		"where the daemon listens; else $CED_SOCKET, $XDG_RUNTIME_DIR/ced/ced.sock, "
		"/run/ced/ced.sock" },
	{ 0, "store", "FILE", OPTION_TEXT, offsetof(struct common_options, store),
		"read a copy of a store instead of asking a daemon: its ced.db, or the folder of that" },
	{ 'h', "help", NULL, OPTION_FLAG, offsetof(struct common_options, help), "this page" },
	{ 0, NULL, NULL, OPTION_FLAG, 0, NULL },
};

/* The rest of the command line. */
struct cursor {
	int argc;
	char **argv;
	int at;
};

/* Where an option's value goes. */
struct target {
	const struct option_row *row;
	char *base;
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

/* The command would use only one of two values, and the user expects both. */
static int refuse_twice(const struct target *target, struct err *err)
{
	const struct option_row *row = target->row;

	assert(target->base); /* rows of a command come with its struct */
	if (row->kind != OPTION_ONCE || !*(const char *const *)(target->base + row->offset))
		return 0;
	return err_set(err, ERR_INVALID, "--%s is given twice", row->name);
}

static int store_value(
	const struct target *target, struct arena *arena, const char *value, int argc)
{
	void *field = target->base + target->row->offset;

	assert(target->base); /* rows of a command come with its struct */
	switch (target->row->kind) {
	case OPTION_FLAG:
		*(bool *)field = true;
		return 0;
	case OPTION_TEXT:
	case OPTION_ONCE:
		*(const char **)field = value;
		return 0;
	case OPTION_LIST:
		return words_add(field, arena, value, (size_t)argc);
	}
	return -1;
}

/* Takes the value from behind "=", from the rest of a cluster, or from the next word. */
static int take_value(struct cursor *cursor, const struct option_row *row, const char *attached,
	const char **ret_value, struct err *err)
{
	if (!row->argument && attached)
		return err_set(err, ERR_INVALID, "--%s takes no value", row->name);
	if (!row->argument || attached) {
		*ret_value = attached;
		return 0;
	}
	if (cursor->at + 1 >= cursor->argc)
		return err_set(
			err, ERR_INVALID, "--%s needs a value: %s", row->name, row->argument);
	*ret_value = cursor->argv[++cursor->at];
	return 0;
}

/* The command's own rows come first.  -1: unknown option. */
static int set_target(struct parsed *parsed, const struct option_row *own,
	const struct option_row *common, struct target *ret_target)
{
	if (own)
		*ret_target = (struct target){ own, parsed->options };
	else
		*ret_target = (struct target){ common, (char *)&parsed->common };
	return ret_target->row ? 0 : -1;
}

static const struct option_row *own_rows(const struct command *command)
{
	return command ? command->options : NULL;
}

static int parse_long(const struct command *command, struct arena *arena, struct cursor *cursor,
	struct parsed *parsed, struct err *err)
{
	const char *word = cursor->argv[cursor->at];
	const char *equals = strchr(word, '=');
	size_t name_len = equals ? (size_t)(equals - word) - 2 : strlen(word) - 2;
	const char *value = NULL;
	struct target target;

	if (set_target(parsed, find_name(own_rows(command), word + 2, name_len),
		    find_name(common_rows, word + 2, name_len), &target) < 0)
		return refuse_unknown(own_rows(command), word, whose(command, parsed), err);
	if (take_value(cursor, target.row, equals ? equals + 1 : NULL, &value, err) < 0)
		return -1;
	if (refuse_twice(&target, err) < 0)
		return -1;
	if (store_value(&target, arena, value, cursor->argc) < 0)
		return err_set(err, ERR_MEMORY, "too many words");
	return 0;
}

/* "-x", "-xVALUE", "-x VALUE"; several letters are one option with its value. */
static int parse_short(const struct command *command, struct arena *arena, struct cursor *cursor,
	struct parsed *parsed, struct err *err)
{
	const char *word = cursor->argv[cursor->at];
	const char *value = NULL;
	struct target target;

	if (set_target(parsed, find_letter(own_rows(command), word[1]),
		    find_letter(common_rows, word[1]), &target) < 0)
		return refuse_unknown(NULL, word, whose(command, parsed), err);
	if (take_value(cursor, target.row, word[2] ? word + 2 : NULL, &value, err) < 0)
		return -1;
	if (refuse_twice(&target, err) < 0)
		return -1;
	if (store_value(&target, arena, value, cursor->argc) < 0)
		return err_set(err, ERR_MEMORY, "too many words");
	return 0;
}

static int take_rest(struct cursor *cursor, struct arena *arena, struct words *rest)
{
	while (++cursor->at < cursor->argc) {
		if (words_add(rest, arena, cursor->argv[cursor->at], (size_t)cursor->argc) < 0)
			return -1;
	}
	return 0;
}

static int parse_word(const struct command *command, struct arena *arena, struct cursor *cursor,
	struct parsed *parsed, struct err *err)
{
	const char *word = cursor->argv[cursor->at];

	if (strcmp(word, "--") == 0) {
		parsed->has_rest = true;
		return take_rest(
			cursor, arena, command->takes_rest ? &parsed->rest : &parsed->operands);
	}
	if (strncmp(word, "--", 2) == 0)
		return parse_long(command, arena, cursor, parsed, err);
	if (word[0] == '-' && word[1] != '\0')
		return parse_short(command, arena, cursor, parsed, err);
	return words_add(&parsed->operands, arena, word, (size_t)cursor->argc);
}

/* The first extra word: the very first when an option replaces the operand. */
static size_t first_stray(const struct command *command, const struct parsed *parsed)
{
	const struct option_row *row =
		command->instead
			? find_name(command->options, command->instead, strlen(command->instead))
			: NULL;
	const char *given = NULL;

	if (row)
		given = *(const char *const *)((const char *)parsed->options + row->offset);
	return given ? 0 : command->operand_most;
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
	struct cursor cursor = { argc, argv, 0 };

	parsed->options = arena_alloc(arena, command->options_size);
	if (!parsed->options)
		return err_set(err, ERR_MEMORY, "no memory");
	for (; cursor.at < argc; cursor.at++) {
		if (parse_word(command, arena, &cursor, parsed, err) < 0)
			return -1;
	}
	return check_operands(command, parsed, err);
}

int options_parse_front(int argc, char **argv, struct common_options *common, struct err *err)
{
	struct cursor cursor = { argc, argv, 0 };
	struct parsed parsed = { .common = *common };

	for (; cursor.at < argc && argv[cursor.at][0] == '-'; cursor.at++) {
		int status = argv[cursor.at][1] == '-'
				     ? parse_long(NULL, NULL, &cursor, &parsed, err)
				     : parse_short(NULL, NULL, &cursor, &parsed, err);

		if (status < 0)
			return -1;
	}
	*common = parsed.common;
	return cursor.at;
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

static int help_common(const struct command *command, size_t width, struct buf *out)
{
	for (const struct option_row *row = common_rows; row->name; row++) {
		if (row->offset == offsetof(struct common_options, store) && !command->reads_copy)
			continue;
		if (help_row(row, width, out) < 0)
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
		    command->operands[0] ? " " : "", command->operands) < 0 ||
		options_wrap(command->about, 0, 0, width, out) < 0 ||
		buf_append_text(out, "\nOptions:\n") < 0 ||
		help_rows(command->options, width, out) < 0 ||
		help_common(command, width, out) < 0 ||
		help_examples(command->examples, width, out) < 0)
		return -1;
	return command->print_more ? command->print_more(out) : 0;
}
