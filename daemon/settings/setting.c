#include "daemon/settings/setting.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "daemon/settings/config_numbers.h"
#include "proto/base/container.h"
#include "proto/base/nearest.h"

static const struct setting *setting_named(const struct setting *table, const char *name)
{
	for (SETTING_EACH(row, table))
		if (strcmp(row->name, name) == 0)
			return row;
	return NULL;
}

/* ---- errors --------------------------------------------------------------------------------- */

int setting_fault(struct err *err, unsigned line, const char *format, ...)
{
	char text[ERR_TEXT_MAX];
	va_list args;

	va_start(args, format);
	cut_vprintf(text, sizeof(text), format, args);
	va_end(args);
	return err_set(err, ERR_INVALID, "line %u: %s", line, text);
}

static const struct setting *find_limit(const struct setting *top, const char *name)
{
	const struct setting *limits = setting_named(top, "limits");

	return limits ? setting_named(limits->section, name) : NULL;
}

/* People write "limits.wall_ms = 5s", as reports name a setting. */
static const struct setting *section_before_dot(const struct setting *table, const char *name)
{
	const char *dot = strchr(name, '.');
	const struct setting *row;
	char section[64];

	if (!dot || !dot[1])
		return NULL;
	cut_printf(section, sizeof(section), "%.*s", (int)(dot - name), name);
	row = setting_named(table, section);
	return row && row->type == SETTING_SECTION ? row : NULL;
}

static int refuse_unknown(const struct config_item *item, const struct setting *table,
	const struct setting *top, struct err *err)
{
	struct nearest nearest = NEAREST_OF(item->name);
	const char *name = item->name;

	if (table == top && find_limit(top, name))
		return setting_fault(err, item->line,
			"%s must be in a section: limits { %s = ... } sets the limit of a run that asks for none, most { %s = ... } the highest that a run may ask for",
			name, name, name);
	if (table != top && setting_named(top, name))
		return setting_fault(err, item->line,
			"%s does not belong in this section: write it outside all sections", name);
	if (section_before_dot(table, name))
		return setting_fault(err, item->line,
			"%s: a setting of a section stands in braces: write %s { %s = ... }", name,
			section_before_dot(table, name)->name, strchr(name, '.') + 1);
	for (SETTING_EACH(row, table))
		nearest_offer(&nearest, row->name);
	return setting_fault(err, item->line, "there is no %s %s here%s",
		item->shape == CONFIG_IS_SECTION ? "section" : "setting", name,
		nearest.best ? nearest_hint(&nearest) : "; `ced --settings` lists them all");
}

/* ---- checking -------------------------------------------------------------------------------- */

static const struct {
	enum config_shape shape;
	const char *form;
} forms[SETTING_TYPES] = {
	[SETTING_NUMBER] = { CONFIG_IS_VALUE, " = NUMBER" },
	[SETTING_TEXT] = { CONFIG_IS_VALUE, " = VALUE" },
	[SETTING_CHOICE] = { CONFIG_IS_VALUE, " = VALUE" },
	[SETTING_BOOL] = { CONFIG_IS_VALUE, " = true, or false" },
	[SETTING_LIST] = { CONFIG_IS_LIST, " = {VALUE, VALUE}" },
	[SETTING_SECTION] = { CONFIG_IS_SECTION, " { ... }" },
	[SETTING_NAMED] = { CONFIG_IS_SECTION, " NAME { ... }" },
};

static int check_form(const struct config_item *item, const struct setting *row, struct err *err)
{
	const char *name = item->name;

	if (item->shape != forms[row->type].shape && row->type == SETTING_NUMBER)
		return setting_fault(err, item->line, "write %s as %s = NUMBER; it is %s", name,
			name, config_number_form(name));
	if (item->shape != forms[row->type].shape)
		return setting_fault(
			err, item->line, "write %s as %s%s", name, name, forms[row->type].form);
	if (row->type == SETTING_NAMED && !item->title[0])
		return setting_fault(
			err, item->line, "%s has no name: write %s NAME { ... }", name, name);
	if (row->type == SETTING_SECTION && item->title[0])
		return setting_fault(
			err, item->line, "%s takes no name: write %s { ... }", name, name);
	return 0;
}

static int check_range(
	uint64_t number, const char *text, const struct setting *row, struct err *err)
{
	char lowest[32];
	char highest[32];

	if (number >= row->lowest && number <= row->highest)
		return 0;
	config_number_text(lowest, sizeof(lowest), row->name, row->lowest);
	config_number_text(highest, sizeof(highest), row->name, row->highest);
	return err_set(err, ERR_INVALID, "%s = %s is outside %s to %s (%s)", row->name, text,
		lowest, highest, row->meaning);
}

/* Whether this is a number that no setting accepts: negative, or with too many digits. */
static bool is_out_of_reach(const char *text, uint64_t *ret_number)
{
	const char *digits = text + (*text == '-');

	*ret_number = UINT64_MAX;
	return *digits && digits[strspn(digits, "0123456789")] == '\0';
}

static int check_number(struct config_item *item, const struct setting *row, struct err *err)
{
	const char *text = item->values->text;

	if (config_number_lacks_unit(row->name, text))
		return setting_fault(err, item->line,
			"%s = %s has no unit: write %skb, %smb or %sgb", row->name, text, text,
			text, text);
	if (config_number_read(row->name, text, &item->number) < 0 &&
		!is_out_of_reach(text, &item->number))
		return setting_fault(err, item->line, "%s = %s is invalid: write %s", row->name,
			text, config_number_form(row->name));
	if (check_range(item->number, text, row, err) < 0)
		return err_wrap(err, "line %u", item->line);
	return 0;
}

/* Finds the value among the row's words, and stores its index. */
static int check_word(struct config_item *item, const struct setting *row, struct err *err)
{
	struct nearest nearest = NEAREST_OF(item->values->text);
	char all[128] = "";

	for (item->number = 0; row->words[item->number]; item->number++) {
		const char *word = row->words[item->number];
		size_t len = strlen(all);

		if (strcmp(nearest.word, word) == 0)
			return 0;
		nearest_offer(&nearest, word);
		cut_printf(all + len, sizeof(all) - len, "%s\"%s\"",
			!len                           ? ""
			: row->words[item->number + 1] ? ", "
						       : " or ",
			word);
	}
	return setting_fault(err, item->line, "%s = \"%s\": write %s%s", item->name, nearest.word,
		all, nearest_hint(&nearest));
}

static int check_bool(struct config_item *item, struct err *err)
{
	static const char *const words[] = { "false", "true", "no", "yes", "off", "on" };

	for (size_t i = 0; i < COUNT_OF(words); i++)
		if (strcasecmp(words[i], item->values->text) == 0) {
			item->number = i % 2;
			return 0;
		}
	return setting_fault(
		err, item->line, "%s = %s: write true or false", item->name, item->values->text);
}

static int check_item(struct config_item *item, const struct setting *row, struct err *err)
{
	if (check_form(item, row, err) < 0)
		return -1;
	if (row->type == SETTING_NUMBER)
		return check_number(item, row, err);
	if (row->type == SETTING_BOOL)
		return check_bool(item, err);
	return row->words ? check_word(item, row, err) : 0;
}

int setting_faults_add(struct setting_faults *faults, const struct err *err)
{
	if (faults->count < SETTING_FAULTS_MAX)
		faults->items[faults->count++] = *err;
	return -1;
}

static int check_second(
	const struct config_item *section, const struct config_item *item, struct err *err)
{
	const struct config_item *first = section->items;

	while (strcmp(first->name, item->name) != 0 || strcmp(first->title, item->title) != 0)
		first = first->next;
	if (first == item)
		return 0;
	return setting_fault(err, item->line, "%s%s%s is on line %u already: remove one of them",
		item->name, item->title[0] ? " " : "", item->title, first->line);
}

int setting_check(struct config_item *section, const struct setting *table,
	const struct setting *top, struct setting_faults *faults)
{
	int result = 0;

	for (struct config_item *item = section->items; item; item = item->next) {
		const struct setting *row = setting_named(table, item->name);
		struct err err = ERR_INIT;
		bool is_wrong = row ? check_item(item, row, &err) < 0 ||
						check_second(section, item, &err) < 0
				    : refuse_unknown(item, table, top, &err) < 0;

		if (is_wrong)
			result = setting_faults_add(faults, &err);
		else if (row && row->section && setting_check(item, row->section, top, faults) < 0)
			result = -1;
	}
	return result;
}

/* ---- storing --------------------------------------------------------------------------------- */

int setting_copy(
	char *text, size_t size, const struct config_item *item, const char *given, struct err *err)
{
	if (strlen(given) >= size)
		return setting_fault(err, item->line, "%s: \"%.40s...\" is longer than %zu bytes",
			item->name, given, size - 1);
	cut_printf(text, size, "%s", given);
	return 0;
}

int setting_copy_list(char *texts, size_t size, unsigned *count, unsigned most,
	const struct config_item *item, struct err *err)
{
	if (item->value_count > most - *count)
		return setting_fault(err, item->line, "%s has %u values: at most %u are possible",
			item->name, item->value_count, most - *count);
	for (const struct config_value *value = item->values; value; value = value->next)
		if (setting_copy(texts + (*count)++ * size, size, item, value->text, err) < 0)
			return -1;
	return 0;
}

static void *field_of(void *set, const struct setting *row)
{
	return (char *)set + row->offset;
}

static int take_item(
	void *set, const struct setting *row, const struct config_item *item, struct err *err)
{
	if (row->take)
		return row->take(set, row, item, err);
	switch (row->type) {
	case SETTING_NUMBER:
		*(uint64_t *)field_of(set, row) = item->number;
		return 0;
	case SETTING_CHOICE:
		*(unsigned *)field_of(set, row) = (unsigned)item->number;
		return 0;
	case SETTING_BOOL:
		*(bool *)field_of(set, row) = item->number != 0;
		return 0;
	case SETTING_TEXT:
		return setting_copy(field_of(set, row), row->size, item, item->values->text, err);
	case SETTING_SECTION:
		return setting_take(field_of(set, row), item, row->section, err);
	case SETTING_LIST:
	case SETTING_NAMED:
	case SETTING_TYPES:
		return 0;
	}
	return 0;
}

int setting_take(
	void *set, const struct config_item *section, const struct setting *table, struct err *err)
{
	for (const struct config_item *item = section->items; item; item = item->next) {
		const struct setting *row = setting_named(table, item->name);

		if (row && take_item(set, row, item, err) < 0)
			return -1;
	}
	return 0;
}

int setting_take_all(void *set, const struct config_item *section, const struct setting *table,
	struct setting_faults *faults)
{
	int result = 0;

	for (const struct config_item *item = section->items; item; item = item->next) {
		const struct setting *row = setting_named(table, item->name);
		struct err err = ERR_INIT;

		if (row && row->type == SETTING_SECTION && !row->take) {
			if (setting_take_all(field_of(set, row), item, row->section, faults) < 0)
				result = -1;
		} else if (row && take_item(set, row, item, &err) < 0) {
			result = setting_faults_add(faults, &err);
		}
	}
	return result;
}

void setting_defaults(void *set, const struct setting *table)
{
	for (SETTING_EACH(row, table))
		if (row->type == SETTING_NUMBER)
			*(uint64_t *)field_of(set, row) = row->otherwise;
		else if (row->type == SETTING_TEXT)
			cut_printf(field_of(set, row), row->size, "%s", row->text ? row->text : "");
}

uint64_t setting_number(const void *set, const struct setting *row)
{
	return *(const uint64_t *)(const void *)((const char *)set + row->offset);
}

int setting_check_numbers(const void *set, const struct setting *table, struct err *err)
{
	for (SETTING_EACH(row, table)) {
		uint64_t number = setting_number(set, row);
		char text[32];

		cut_printf(text, sizeof(text), "%" PRIu64, number);
		if (number != CONFIG_LIMIT_UNSET && check_range(number, text, row, err) < 0)
			return -1;
	}
	return 0;
}

/* ---- what was written ------------------------------------------------------------------------ */

/* "17", "{a, b}"; nothing for a section. */
static void show_value(char *text, size_t size, const struct config_item *item)
{
	bool is_list = item->shape == CONFIG_IS_LIST;
	size_t len;

	cut_printf(text, size, "%s", is_list ? "{" : "");
	for (const struct config_value *value = item->values; value; value = value->next) {
		len = strlen(text);
		cut_printf(text + len, size - len, "%s%s", value == item->values ? "" : ", ",
			value->text);
	}
	len = strlen(text);
	cut_printf(text + len, size - len, "%s", is_list ? "}" : "");
}

static void digest_values(uint8_t ret_digest[DIGEST_LEN], const struct config_item *item)
{
	struct digest digest;

	digest_start(&digest);
	for (const struct config_value *value = item->values; value; value = value->next)
		digest_add_sized(&digest, value->text, strlen(value->text));
	digest_end(&digest, ret_digest);
}

static void note_items(struct config *config, const char *prefix, const struct config_item *section,
	const struct setting *table, bool is_named)
{
	for (const struct config_item *item = section->items; item; item = item->next) {
		struct config_written *written = &config->written[config->written_count];
		const struct setting *row = table ? setting_named(table, item->name) : NULL;

		if (config->written_count == CONFIG_WRITTEN_MAX)
			return;
		cut_printf(written->key, sizeof(written->key), "%s%s%s%s", prefix, item->name,
			item->title[0] ? "." : "", item->title);
		show_value(written->value, sizeof(written->value), item);
		digest_values(written->digest, item);
		written->row = row;
		written->is_named = is_named;
		written->file = item->file;
		written->line = item->line;
		written->from_start = false;
		config->written_count++;
		if (item->shape == CONFIG_IS_SECTION) {
			char inner[CONFIG_KEY_MAX + 2];

			cut_printf(inner, sizeof(inner), "%s.", written->key);
			note_items(config, inner, item, row ? row->section : NULL,
				is_named || item->title[0]);
		}
	}
}

void setting_note_written(
	struct config *config, const struct config_item *whole, const struct setting *table)
{
	config->written_count = 0;
	note_items(config, "", whole, table, false);
}

const struct config_written *setting_written(const struct config *config, const char *key)
{
	for (unsigned i = config->written_count; i-- > 0;)
		if (strcmp(config->written[i].key, key) == 0)
			return &config->written[i];
	return NULL;
}

int setting_refuse(
	const struct config *config, struct err *err, const char *key, const char *format, ...)
{
	const struct config_written *written = setting_written(config, key);
	unsigned file = written ? written->file : 0;
	char text[ERR_TEXT_MAX];
	char place[CONFIG_TEXT_MAX + 64] = "";
	va_list args;

	va_start(args, format);
	cut_vprintf(text, sizeof(text), format, args);
	va_end(args);
	if (file < config->file_count)
		cut_printf(place, sizeof(place), "configuration %s: ", config->files[file]);
	if (written)
		return err_set(err, ERR_INVALID, "%sline %u: %s", place, written->line, text);
	return err_set(err, ERR_INVALID, "%s%s", place, text);
}
