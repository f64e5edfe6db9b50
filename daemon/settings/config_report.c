#include "daemon/settings/config_report.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/settings/config_numbers.h"
#include "daemon/settings/setting.h"
#include "proto/base/container.h"
#include "proto/digest.h"
#include "proto/fill.h"

#define REMEDY_MAX 256

static const char *const change_words[] = {
	[CHANGE_RESTART] = "restart",
	[CHANGE_RELOAD] = "reload",
};

/* ---- walking the tables ---------------------------------------------------------------------- */

struct visit {
	char key[CONFIG_KEY_MAX];
	const struct setting *row;
	const void *set; /* the struct that the row's field is in; NULL within named sections */
	enum setting_change change;
};

typedef void visit_fn(void *context, const struct visit *visit);

/* Calls for each row that is no section.  `set` is NULL when there are no values. */
static void walk(const char *prefix, const struct setting *table, const void *set, visit_fn *on_row,
	void *context)
{
	for (SETTING_EACH(row, table)) {
		struct visit visit = { .row = row, .set = set, .change = row->change };
		char inner[CONFIG_KEY_MAX];

		cut_printf(visit.key, sizeof(visit.key), "%s%s", prefix, row->name);
		if (!row->section) {
			on_row(context, &visit);
			continue;
		}
		cut_printf(inner, sizeof(inner), "%s%s", visit.key,
			row->type == SETTING_NAMED ? ".NAME." : ".");
		walk(inner, row->section,
			set && row->type == SETTING_SECTION ? (const char *)set + row->offset
							    : NULL,
			on_row, context);
	}
}

/* ---- every setting --------------------------------------------------------------------------- */

static const char *form_of(const struct setting *row)
{
	switch (row->type) {
	case SETTING_NUMBER:
		return config_number_form(row->name);
	case SETTING_BOOL:
		return "true or false";
	case SETTING_LIST:
		return "a list, {a, b}";
	case SETTING_TEXT:
	case SETTING_CHOICE:
		return row->words ? "a word" : "a text";
	case SETTING_SECTION:
	case SETTING_NAMED:
	case SETTING_TYPES:
		break;
	}
	return "";
}

static void put_number(struct fill *fill, const char *key, const char *name, uint64_t number)
{
	char text[32];

	config_number_text(text, sizeof(text), name, number);
	fill_text(fill, key, text);
}

static void put_bounds(struct fill *fill, const struct setting *row)
{
	struct value *words;

	if (row->type == SETTING_NUMBER) {
		put_number(fill, "lowest", row->name, row->lowest);
		put_number(fill, "highest", row->name, row->highest);
	}
	if (!row->words)
		return;
	words = value_list(fill->arena);
	for (size_t i = 0; row->words[i]; i++)
		value_list_add(fill->arena, words, value_text(fill->arena, row->words[i]));
	fill_value(fill, "words", words);
}

struct rows {
	struct arena *arena;
	struct value *list;
	const struct config *config;
	const struct config_sources *sources;
};

static void describe_row(void *context, const struct visit *visit)
{
	const struct setting *row = visit->row;
	struct rows *rows = context;
	struct fill fill = fill_start(rows->arena);

	fill_text(&fill, "key", visit->key);
	fill_text(&fill, "form", form_of(row));
	fill_text(&fill, "meaning", row->meaning);
	fill_text(&fill, "change", change_words[visit->change]);
	if (visit->set && row->type == SETTING_NUMBER)
		put_number(&fill, "default", row->name, setting_number(visit->set, row));
	else if (visit->set && row->type == SETTING_TEXT)
		fill_text(&fill, "default", row->text);
	else if (visit->set && row->type == SETTING_LIST)
		fill_text(&fill, "default", strcmp(row->name, "require") ? "{}" : NULL);
	put_bounds(&fill, row);
	value_list_add(rows->arena, rows->list, fill_done(&fill));
}

struct value *config_describe_all(struct arena *arena)
{
	static struct config defaults; /* large */
	struct rows rows = { .arena = arena, .list = value_list(arena) };

	config_init(&defaults);
	walk("", config_settings, &defaults, describe_row, &rows);
	return rows.list;
}

/* ---- in force -------------------------------------------------------------------------------- */

static bool is_from_command_line(const struct config_sources *sources, const char *key)
{
	return (sources->socket && !strcmp(key, "socket")) ||
	       (sources->state && !strcmp(key, "state"));
}

static void put_source(struct fill *fill, const struct rows *rows, const char *key,
	const struct config_written *written)
{
	if (is_from_command_line(rows->sources, key)) {
		fill_text(fill, "source", "command line");
	} else if (!written) {
		fill_text(fill, "source", "default");
	} else if (written->from_start) {
		fill_text(fill, "source", "start");
	} else {
		fill_text(fill, "source", "file");
		fill_text(fill, "file", rows->config->files[written->file]);
		fill_uint(fill, "line", written->line);
	}
}

/* A setting outside named sections: its value in force. */
static void show_row(void *context, const struct visit *visit)
{
	const struct setting *row = visit->row;
	struct rows *rows = context;
	const struct config_written *written = setting_written(rows->config, visit->key);
	struct fill fill = fill_start(rows->arena);

	if (!visit->set)
		return;
	fill_text(&fill, "key", visit->key);
	if (row->type == SETTING_NUMBER)
		put_number(&fill, "value", row->name, setting_number(visit->set, row));
	else if (row->type == SETTING_TEXT)
		fill_text(&fill, "value", (const char *)visit->set + row->offset);
	else
		fill_text(&fill, "value", written ? written->value : "{}");
	put_source(&fill, rows, visit->key, written);
	fill_text(&fill, "change", change_words[visit->change]);
	value_list_add(rows->arena, rows->list, fill_done(&fill));
}

/* What was written in named sections: alert.x.count, for_uid.1000.limits.wall_ms. */
static void show_named(struct rows *rows)
{
	for (unsigned i = 0; i < rows->config->written_count; i++) {
		const struct config_written *written = &rows->config->written[i];
		struct fill fill = fill_start(rows->arena);

		if (!written->is_named || !written->row || written->row->section)
			continue;
		fill_text(&fill, "key", written->key);
		fill_text(&fill, "value", written->value);
		put_source(&fill, rows, written->key, written);
		fill_text(&fill, "change", change_words[written->row->change]);
		value_list_add(rows->arena, rows->list, fill_done(&fill));
	}
}

struct value *config_describe_in_force(
	const struct config *config, const struct config_sources *sources, struct arena *arena)
{
	struct rows rows = { arena, value_list(arena), config, sources };

	walk("", config_settings, config, show_row, &rows);
	show_named(&rows);
	return rows.list;
}

static void digest_row(void *context, const struct visit *visit)
{
	struct digest *digest = context;
	uint64_t number;

	if (!visit->set)
		return;
	if (visit->row->type == SETTING_NUMBER) {
		number = setting_number(visit->set, visit->row);
		digest_add_sized(digest, visit->key, strlen(visit->key));
		digest_add_u64(digest, number);
	} else if (visit->row->type == SETTING_TEXT) {
		const char *text = (const char *)visit->set + visit->row->offset;

		digest_add_sized(digest, visit->key, strlen(visit->key));
		digest_add_sized(digest, text, strlen(text));
	}
}

void config_digest(const struct config *config, char *ret_text)
{
	struct digest digest;

	digest_start(&digest);
	walk("", config_settings, config, digest_row, &digest);
	for (unsigned i = 0; i < config->written_count; i++) {
		const struct config_written *written = &config->written[i];

		digest_add_sized(&digest, written->key, strlen(written->key));
		digest_add(&digest, written->digest, sizeof(written->digest));
	}
	digest_end_text(&digest, ret_text);
}

/* ---- a fault --------------------------------------------------------------------------------- */

/* "line 7: …": behind it, and its number. */
static const char *take_line(const char *text, unsigned *ret_line)
{
	static const char front[] = "line ";
	unsigned long line;
	char *end = NULL;

	if (strncmp(text, front, strlen(front)) != 0)
		return text;
	line = strtoul(text + strlen(front), &end, 10);
	if (end == text + strlen(front) || strncmp(end, ": ", 2) != 0 || line > UINT_MAX)
		return text;
	*ret_line = (unsigned)line;
	return end + 2;
}

/* Takes "configuration FILE: line N: " from the front of a fault. */
static const char *take_place(
	const struct config *config, const char *text, unsigned *ret_file, unsigned *ret_line)
{
	static const char front[] = "configuration ";

	*ret_file = config->file_count;
	*ret_line = 0;
	if (strncmp(text, front, strlen(front)) != 0)
		return text;
	for (unsigned i = 0; i < config->file_count; i++) {
		size_t path_len = strlen(config->files[i]);

		if (strncmp(text + strlen(front), config->files[i], path_len) != 0 ||
			strncmp(text + strlen(front) + path_len, ": ", 2) != 0)
			continue;
		*ret_file = i;
		text += strlen(front) + path_len + 2;
		return take_line(text, ret_line);
	}
	return text;
}

static const char *last_name(const char *key)
{
	const char *dot = strrchr(key, '.');

	return dot ? dot + 1 : key;
}

/* The setting on this line that the message begins with; else the one that it names; else any. */
static const struct config_written *written_on(
	const struct config *config, unsigned file, unsigned line, const char *message)
{
	const struct config_written *found = NULL;
	int best = 0;

	for (unsigned i = 0; i < config->written_count; i++) {
		const struct config_written *written = &config->written[i];
		const char *name = last_name(written->key);
		int rank = 1;

		if (written->file != file || written->line != line)
			continue;
		if (strncmp(message, name, strlen(name)) == 0)
			rank = 3;
		else if (strstr(message, name))
			rank = 2;
		if (rank >= best)
			found = written;
		if (rank > best)
			best = rank;
	}
	return found;
}

static bool is_advice(const char *text)
{
	static const char *const verbs[] = { "add ", "begin ", "correct ", "give ", "install ",
		"join ", "let ", "look ", "lower ", "make ", "name ", "raise ", "remove ",
		"rename ", "save ", "see ", "type ", "use ", "write " };

	for (size_t i = 0; i < COUNT_OF(verbs); i++)
		if (strncmp(text, verbs[i], strlen(verbs[i])) == 0)
			return true;
	return false;
}

/* What a message says behind ": write ", else advice behind its last ": ", is what to do. */
static const char *remedy_in(const char *message)
{
	const char *found = strstr(message, ": write ");
	const char *hint = strstr(message, "; did you mean ");

	if (found)
		return found + 2;
	if (hint)
		return hint + 2;
	for (const char *at = strstr(message, ": "); at; at = strstr(at + 1, ": "))
		found = at;
	return found && is_advice(found + 2) ? found + 2 : NULL;
}

static void put_remedy(struct fill *fill, const char *message, const struct setting *row)
{
	const char *remedy = remedy_in(message);
	char text[REMEDY_MAX];
	char lowest[32];
	char highest[32];

	if (row && row->type == SETTING_NUMBER && strstr(message, " is outside ")) {
		config_number_text(lowest, sizeof(lowest), row->name, row->lowest);
		config_number_text(highest, sizeof(highest), row->name, row->highest);
		cut_printf(
			text, sizeof(text), "write %s from %s to %s", row->name, lowest, highest);
		fill_text(fill, "remedy", text);
		return;
	}
	fill_optional_text(fill, "remedy", remedy);
}

struct value *config_describe_fault(
	const struct config *config, const struct err *fault, struct arena *arena)
{
	const struct config_written *written;
	const struct setting *row;
	struct fill fill = fill_start(arena);
	const char *message;
	unsigned file;
	unsigned line;

	message = take_place(config, fault->text, &file, &line);
	written = line ? written_on(config, file, line, message) : NULL;
	row = written ? written->row : NULL;
	if (file < config->file_count)
		fill_text(&fill, "file", config->files[file]);
	if (line)
		fill_uint(&fill, "line", line);
	if (written)
		fill_text(&fill, "key", written->key);
	if (written && written->value[0])
		fill_text(&fill, "value", written->value);
	if (row)
		put_bounds(&fill, row);
	fill_text(&fill, "message", message);
	put_remedy(&fill, message, row);
	return fill_done(&fill);
}
