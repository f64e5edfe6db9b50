/*
 * Which settings each section may have, and of which type.  Every section is checked against these
 * tables before any value is taken from it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "daemon/settings/config_parts.h"
#include "proto/base/nearest.h"

enum key_type {
	KEY_TEXT,
	KEY_NUMBER, /* in the range of the general setting of this name */
	KEY_BOOL,
	KEY_LIST,
	KEY_SECTION,
	KEY_TITLED, /* a section with a title; there may be several */
};

struct key {
	const char *name;
	enum key_type type;
	const struct section_kind *section; /* for KEY_SECTION and KEY_TITLED */
};

struct section_kind {
	const struct number_table *numbers; /* or NULL */
	const struct key *keys;             /* ends with a row without a name; or NULL */
};

/* ---- the tables ------------------------------------------------------------------------------ */

static const struct section_kind limits_section = { &config_limits, NULL };
static const struct section_kind most_section = { &config_most, NULL };
static const struct section_kind budget_section = { &config_spending, NULL };

#define NUMBER_SECTIONS                                           \
	{ "budget_uid", KEY_SECTION, &budget_section },           \
		{ "budget_agent", KEY_SECTION, &budget_section }, \
		{ "budget_task", KEY_SECTION, &budget_section },  \
		{ "limits", KEY_SECTION, &limits_section },       \
	{                                                         \
		"most", KEY_SECTION, &most_section                \
	}

/* clang-format off */
static const struct key runtime_keys[] = {
	NUMBER_SECTIONS,
	{ "kind",        KEY_TEXT,   NULL },
	{ "language",    KEY_TEXT,   NULL },
	{ "interpreter", KEY_TEXT,   NULL },
	{ "file",        KEY_TEXT,   NULL },
	{ "args",        KEY_LIST,   NULL },
	{ "tools",       KEY_LIST,   NULL },
	{ "errors",      KEY_LIST,   NULL },
	{ "preload",     KEY_LIST,   NULL },
	{ "binds",       KEY_LIST,   NULL },
	{ "workers_min", KEY_NUMBER, NULL },
	{ "workers_max", KEY_NUMBER, NULL },
	{ "processes",   KEY_BOOL,   NULL },
	{ "off",         KEY_BOOL,   NULL },
	{ 0 },
};

static const struct key alert_keys[] = {
	{ "outcome",  KEY_LIST, NULL },
	{ "rule",     KEY_TEXT, NULL },
	{ "agent",    KEY_TEXT, NULL },
	{ "language", KEY_TEXT, NULL },
	{ "uid",      KEY_TEXT, NULL },
	{ "new_code", KEY_BOOL, NULL },
	{ "per",      KEY_TEXT, NULL },
	{ "command",  KEY_LIST, NULL },
	{ 0 },
};

static const struct key allowance_keys[] = { NUMBER_SECTIONS, { 0 } };

static const struct section_kind runtime_section   = { NULL, runtime_keys };
static const struct section_kind alert_section     = { &config_alert_numbers, alert_keys };
static const struct section_kind allowance_section = { NULL, allowance_keys };

#define TEXT_KEY(name, otherwise, meaning) { #name, KEY_TEXT, NULL },
static const struct key top_keys[] = {
	CONFIG_TEXTS(TEXT_KEY)
	NUMBER_SECTIONS,
	{ "users",           KEY_LIST,   NULL },
	{ "user_groups",     KEY_LIST,   NULL },
	{ "approvers",       KEY_LIST,   NULL },
	{ "approver_groups", KEY_LIST,   NULL },
	{ "admins",          KEY_LIST,   NULL },
	{ "admin_groups",    KEY_LIST,   NULL },
	{ "require",         KEY_LIST,   NULL },
	{ "runtime",         KEY_TITLED, &runtime_section },
	{ "alert",           KEY_TITLED, &alert_section },
	{ "for_policy",      KEY_TITLED, &allowance_section },
	{ "for_uid",         KEY_TITLED, &allowance_section },
	{ "for_gid",         KEY_TITLED, &allowance_section },
	{ 0 },
};
/* clang-format on */

static const struct section_kind top_section = { &config_general, top_keys };

static const struct key *key_named(const struct section_kind *kind, const char *name)
{
	for (const struct key *key = kind->keys; key && key->name; key++)
		if (strcmp(key->name, name) == 0)
			return key;
	return NULL;
}

/* ---- errors --------------------------------------------------------------------------------- */

int config_fault(struct err *err, const struct config_item *item, const char *format, ...)
{
	char text[ERR_TEXT_MAX];
	va_list args;

	va_start(args, format);
	cut_vprintf(text, sizeof(text), format, args);
	va_end(args);
	return err_set(err, ERR_INVALID, "line %u: %s", item->line, text);
}

/* Refuses a setting that exists, but not in this section.  The error says where it belongs. */
static int refuse_misplaced(
	const struct config_item *item, const struct section_kind *kind, struct err *err)
{
	if (kind != &top_section)
		return config_fault(err, item,
			"%s does not belong into this section: write it outside of any section",
			item->name);
	return config_fault(err, item,
		"%s belongs into a section: limits { %s = ... } for runs that ask for nothing, most { %s = ... } for the most that a run may ask for",
		item->name, item->name, item->name);
}

static bool is_misplaced(const struct config_item *item, const struct section_kind *kind)
{
	if (kind == &top_section)
		return number_rule_named(&config_limits, item->name) != NULL;
	return key_named(&top_section, item->name) ||
	       number_rule_named(&config_general, item->name);
}

static int refuse_unknown(
	const struct config_item *item, const struct section_kind *kind, struct err *err)
{
	const char *what = item->shape == CONFIG_IS_SECTION ? "section" : "setting";
	struct nearest nearest = NEAREST_OF(item->name);

	if (is_misplaced(item, kind))
		return refuse_misplaced(item, kind, err);
	for (const struct key *key = kind->keys; key && key->name; key++)
		nearest_offer(&nearest, key->name);
	for (size_t i = 0; kind->numbers && i < kind->numbers->count; i++)
		nearest_offer(&nearest, kind->numbers->rules[i].name);
	return config_fault(err, item, "there is no %s %s here%s", what, item->name,
		nearest.best ? nearest_hint(&nearest) : "; `ced --settings` lists them all");
}

static int refuse_second(
	const struct config_item *item, const struct config_item *first, struct err *err)
{
	bool titled = item->title[0] != '\0';

	return config_fault(err, item,
		"%s%s%s is written twice, on line %u before: keep one of them", item->name,
		titled ? " " : "", item->title, first->line);
}

static int check_second(
	const struct config_item *section, const struct config_item *item, struct err *err)
{
	for (const struct config_item *first = section->items; first != item; first = first->next)
		if (strcmp(first->name, item->name) == 0 && strcmp(first->title, item->title) == 0)
			return refuse_second(item, first, err);
	return 0;
}

/* ---- checking -------------------------------------------------------------------------------- */

static const struct {
	const char *word;
	bool is;
} bools[] = {
	{ "true", true },
	{ "false", false },
	{ "yes", true },
	{ "no", false },
	{ "on", true },
	{ "off", false },
};

static int read_bool(struct config_item *item, struct err *err)
{
	for (size_t i = 0; i < COUNT_OF(bools); i++)
		if (strcasecmp(bools[i].word, item->values->text) == 0) {
			item->number = bools[i].is;
			return 0;
		}
	return config_fault(
		err, item, "%s = %s: write true or false", item->name, item->values->text);
}

static int want_shape(
	const struct config_item *item, enum config_shape shape, const char *form, struct err *err)
{
	if (item->shape == shape)
		return 0;
	return config_fault(err, item, "%s is written as: %s%s", item->name, item->name, form);
}

static int check_section(
	struct config_item *section, const struct section_kind *kind, struct err *err);

static int check_title(const struct config_item *item, const struct key *key, struct err *err)
{
	if (key->type == KEY_TITLED && !item->title[0])
		return config_fault(
			err, item, "%s has no name: write %s NAME { ... }", item->name, item->name);
	if (key->type == KEY_SECTION && item->title[0])
		return config_fault(err, item, "%s has no name of its own: write %s { ... }",
			item->name, item->name);
	return 0;
}

static int check_key(struct config_item *item, const struct key *key, struct err *err)
{
	switch (key->type) {
	case KEY_TEXT:
		return want_shape(item, CONFIG_IS_VALUE, " = VALUE", err);
	case KEY_BOOL:
		if (want_shape(item, CONFIG_IS_VALUE, " = true, or false", err) < 0)
			return -1;
		return read_bool(item, err);
	case KEY_NUMBER:
		return config_read_item(item, number_rule_named(&config_general, key->name), err);
	case KEY_LIST:
		return want_shape(item, CONFIG_IS_LIST, " = {VALUE, VALUE}", err);
	case KEY_SECTION:
	case KEY_TITLED:
		if (want_shape(item, CONFIG_IS_SECTION,
			    key->type == KEY_TITLED ? " NAME { ... }" : " { ... }", err) < 0 ||
			check_title(item, key, err) < 0)
			return -1;
		return check_section(item, key->section, err);
	}
	return -1;
}

static int check_item(struct config_item *item, const struct section_kind *kind, struct err *err)
{
	const struct number_rule *rule =
		kind->numbers ? number_rule_named(kind->numbers, item->name) : NULL;
	const struct key *key = key_named(kind, item->name);

	if (rule)
		return config_read_item(item, rule, err);
	return key ? check_key(item, key, err) : refuse_unknown(item, kind, err);
}

static int check_section(
	struct config_item *section, const struct section_kind *kind, struct err *err)
{
	for (struct config_item *item = section->items; item; item = item->next)
		if (check_item(item, kind, err) < 0 || check_second(section, item, err) < 0)
			return -1;
	return 0;
}

int config_check_items(struct config_item *whole, struct err *err)
{
	return check_section(whole, &top_section, err);
}

const struct config_item *config_find(const struct config_item *section, const char *name)
{
	const struct config_item *item = section ? section->items : NULL;

	while (item && strcmp(item->name, name) != 0)
		item = item->next;
	return item;
}

const struct config_item *config_next(
	const struct config_item *within, const struct config_item *behind, const char *name)
{
	const struct config_item *item = behind ? behind->next : within->items;

	while (item && strcmp(item->name, name) != 0)
		item = item->next;
	return item;
}

/* ---- lines of settings ---------------------------------------------------------------------- */

static void note_items(struct config *config, const char *prefix, const struct config_item *section)
{
	for (const struct config_item *item = section->items; item; item = item->next) {
		struct config_written *written = &config->written[config->written_count];

		if (config->written_count == CONFIG_WRITTEN_MAX)
			return;
		cut_printf(written->key, sizeof(written->key), "%s%s%s%s", prefix, item->name,
			item->title[0] ? "." : "", item->title);
		written->line = item->line;
		config->written_count++;
		if (item->shape == CONFIG_IS_SECTION) {
			char inner[CONFIG_KEY_MAX + 2];

			cut_printf(inner, sizeof(inner), "%s.", written->key);
			note_items(config, inner, item);
		}
	}
}

void config_note_lines(struct config *config, const struct config_item *whole)
{
	note_items(config, "", whole);
}

static unsigned line_of(const struct config *config, const char *key)
{
	for (unsigned i = config->written_count; i-- > 0;)
		if (strcmp(config->written[i].key, key) == 0)
			return config->written[i].line;
	return 0;
}

int config_refuse(
	const struct config *config, struct err *err, const char *key, const char *format, ...)
{
	unsigned line = line_of(config, key);
	char text[ERR_TEXT_MAX];
	char place[CONFIG_TEXT_MAX + 64] = "";
	va_list args;

	va_start(args, format);
	cut_vprintf(text, sizeof(text), format, args);
	va_end(args);
	if (config->path[0])
		cut_printf(place, sizeof(place), "configuration %s: ", config->path);
	if (line)
		return err_set(err, ERR_INVALID, "%sline %u: %s", place, line, text);
	return err_set(err, ERR_INVALID, "%s%s", place, text);
}
